-- Surface: every object of the extension, its comment and its markings. A change here is a change users see.
\set SHOW_CONTEXT never
-- One line an object, whatever the others are like.
\pset format unaligned
\pset fieldsep ' | '

create temporary view member as
select d.classid, d.objid, i.type, i.name, i.identity
from pg_depend d
join pg_extension e on e.oid = d.refobjid
cross join lateral pg_identify_object(d.classid, d.objid, 0) i
where d.refclassid = 'pg_extension'::regclass
    and d.deptype = 'e'
    and e.extname = 'summer_memory'
    -- Row types of views and the like: members of their own from PostgreSQL 18 on.
    and i.type <> 'type';

-- What the extension is
select extname, extversion, extrelocatable, obj_description(oid, 'pg_extension') as comment from pg_extension where extname = 'summer_memory';
select trusted, superuser, relocatable, requires from pg_available_extension_versions where name = 'summer_memory' and installed;

-- Functions
select p.proname as function, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result
from pg_proc p
join member m on m.classid = 'pg_proc'::regclass and m.objid = p.oid
order by p.proname, pg_get_function_arguments(p.oid);
select p.proname as function, pg_get_function_identity_arguments(p.oid) as arguments, l.lanname as language,
    case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as volatility,
    case p.proparallel when 's' then 'safe' when 'r' then 'restricted' else 'unsafe' end as parallel,
    p.proisstrict as strict, p.prosecdef as definer, p.proretset as set, p.procost::integer as cost, p.prorows::integer as rows
from pg_proc p
join pg_language l on l.oid = p.prolang
join member m on m.classid = 'pg_proc'::regclass and m.objid = p.oid
order by p.proname, pg_get_function_identity_arguments(p.oid);
-- None has more rights than its caller
select p.oid::regprocedure::text from pg_proc p join member m on m.classid = 'pg_proc'::regclass and m.objid = p.oid where p.prosecdef order by 1;

-- Views and their columns
select c.relname as view, c.reloptions @> '{security_invoker=true}' as invoker, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum) as columns
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
join member m on m.classid = 'pg_class'::regclass and m.objid = c.oid
group by c.relname, c.reloptions
order by c.relname;

-- The user's tables
select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as not_null,
    a.attgenerated = 's' as generated, a.attidentity = 'd' as identity, pg_get_expr(d.adbin, d.adrelid) as expression
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relname in ('memories', 'memory_words', 'memory_options')
    and c.relkind = 'r'
order by c.relname, a.attname collate "C";
select tablename as table, indexname as index, replace(indexdef, 'public.', '') as definition
from pg_indexes
where tablename in ('memories', 'memory_words', 'memory_options')
order by tablename, indexname;
select tgrelid::regclass::text as table, tgname as trigger, pg_get_triggerdef(oid) as definition
from pg_trigger
where tgrelid in ('memories'::regclass, 'memory_words'::regclass)
    and not tgisinternal
order by 1, 2;
select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as definition
from pg_constraint
where conrelid in ('memories'::regclass, 'memory_words'::regclass, 'memory_options'::regclass)
    and contype <> 'n'
order by 1, 2;
select relname as table, relacl is null as of_the_owner_only, has_table_privilege('public', oid, 'select') as public_reads, has_table_privilege('public', oid, 'insert') as public_writes
from pg_class
where relname in ('memories', 'memory_words', 'memory_options')
order by relname;

-- Text search
select m.type, m.name, obj_description(m.objid, m.classid::regclass::name) as comment
from member m
where m.type like 'text search%'
order by 1, 2;
select tokid, alias, description from ts_token_type('jieba') order by tokid;
select t.alias as mapped_to_nothing
from ts_token_type('jieba') t
left join pg_ts_config_map m on m.mapcfg = 'jieba'::regconfig and m.maptokentype = t.tokid
where m.maptokentype is null
order by t.tokid;

-- Nothing else is made
select m.type, count(*) from member m group by 1 order by 1;

-- Nothing is without a comment
select m.type, m.identity
from member m
where obj_description(m.objid, m.classid::regclass::name) is null
order by 1, 2;
select a.attrelid::regclass::text as table, a.attname as column
from pg_attribute a
where a.attrelid in ('memories'::regclass, 'memory_words'::regclass, 'memory_options'::regclass)
    and a.attnum > 0
    and not a.attisdropped
    and col_description(a.attrelid, a.attnum) is null
order by 1, 2;
select c.relname from pg_class c
where c.relname in ('memories', 'memory_words', 'memory_options')
    and obj_description(c.oid, 'pg_class') is null
order by 1;

-- Settings
select name, setting, unit, vartype, context, min_val, max_val, enumvals, short_desc
from pg_settings
where name like 'summer_memory.%'
order by name;
