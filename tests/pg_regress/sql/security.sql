-- Security: nobody gets in by a search path, by a policy that is not looked at, by text that is taken for
-- SQL, or by a file name. Roles are made here and dropped at the end.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
set client_min_messages = warning;
drop role if exists regress_alice, regress_bob, regress_mallory;
reset client_min_messages;
create role regress_alice login;
create role regress_bob login;
create role regress_mallory login;

--
-- X01: objects of the same name in front of the right ones
--
grant select, insert, update, delete on memories, memory_words to regress_mallory;
grant insert, update on memory_options to regress_mallory;
create schema evil authorization regress_mallory;
set session authorization regress_mallory;
create function evil.pwned() returns text language plpgsql as $$ begin raise exception 'pwned'; end $$;
create function evil.to_tsvector(regconfig, text) returns tsvector language plpgsql as $$ begin raise exception 'pwned to_tsvector'; end $$;
create function evil.to_tsvector(text) returns tsvector language plpgsql as $$ begin raise exception 'pwned to_tsvector'; end $$;
create function evil.now() returns timestamptz language plpgsql as $$ begin raise exception 'pwned now'; end $$;
create function evil.lower(text) returns text language plpgsql as $$ begin raise exception 'pwned lower'; end $$;
create function evil.length(text) returns integer language plpgsql as $$ begin raise exception 'pwned length'; end $$;
create function evil.replace(text, text, text) returns text language plpgsql as $$ begin raise exception 'pwned replace'; end $$;
create function evil.strpos(text, text) returns integer language plpgsql as $$ begin raise exception 'pwned strpos'; end $$;
create function evil.format(text, variadic text[]) returns text language plpgsql as $$ begin raise exception 'pwned format'; end $$;
create function evil.concat_ws(text, variadic text[]) returns text language plpgsql as $$ begin raise exception 'pwned concat_ws'; end $$;
create function evil.starts_with(text, text) returns boolean language plpgsql as $$ begin raise exception 'pwned starts_with'; end $$;
create function evil.current_setting(text) returns text language plpgsql as $$ begin raise exception 'pwned current_setting'; end $$;
create function evil.to_jsonb(anyelement) returns jsonb language plpgsql as $$ begin raise exception 'pwned to_jsonb'; end $$;
create function evil.count(integer) returns bigint language plpgsql as $$ begin raise exception 'pwned count'; end $$;
create function evil.equal(text, text) returns boolean language plpgsql as $$ begin raise exception 'pwned ='; end $$;
create function evil.distance(public.vector, public.vector) returns double precision language plpgsql as $$ begin raise exception 'pwned <=>'; end $$;
create function evil.matches(tsvector, tsquery) returns boolean language plpgsql as $$ begin raise exception 'pwned @@'; end $$;
create function evil.joined(text, text) returns text language plpgsql as $$ begin raise exception 'pwned ||'; end $$;
create function evil.memory_embed(text, text default 'passage') returns public.vector language plpgsql as $$ begin raise exception 'pwned memory_embed'; end $$;
create function evil.memory_try_embed(text) returns public.vector language plpgsql as $$ begin raise exception 'pwned memory_try_embed'; end $$;
create function evil.memory_path(text) returns text language plpgsql as $$ begin raise exception 'pwned memory_path'; end $$;
create function evil.vector_dims(public.vector) returns integer language plpgsql as $$ begin raise exception 'pwned vector_dims'; end $$;
create function evil.less(bigint, integer) returns boolean language plpgsql as $$ begin raise exception 'pwned <'; end $$;
create operator evil.= (leftarg = text, rightarg = text, function = evil.equal);
create operator evil.<=> (leftarg = public.vector, rightarg = public.vector, function = evil.distance);
create operator evil.@@ (leftarg = tsvector, rightarg = tsquery, function = evil.matches);
create operator evil.|| (leftarg = text, rightarg = text, function = evil.joined);
create operator evil.< (leftarg = bigint, rightarg = integer, function = evil.less);
create table evil.memories (id bigint, content text);
create table evil.memory_words (word text, freq integer, tag text);
create table evil.memory_options (name text, value text);
create text search configuration evil.jieba (copy = pg_catalog.simple);
set search_path = evil, public, pg_catalog;
insert into public.memories (path, title, content, metadata, tags, expires_at) values ('m.md', '题', '把猫粮换成低敏款', '{"a": 1}', '{t}', '2999-01-01');
update public.memories set content = '把猫粮换成低敏款了' where path operator(pg_catalog.=) 'm.md';
select content from memory_search('猫粮', 1);
select content from memory_search('粮', 1, filter => '{"a": 1}', since => '2000-01-01', until => '3000-01-01', path_prefix => 'm', tags => '{t}');
select content from memory_search('猫粮', 1, namespace => '*', mode => 'bm25', fusion => 'convex', collapse => false);
select memory_explain('猫粮') ->> 'degraded' as degraded;
select memory_context('猫粮', 100);
select added from memory_import('./i.md', E'## 节\n文\n', metadata => '{"b": 2}');
select added, updated, unchanged from memory_import('i.md', E'## 节\n文改了\n## 节二\n文\n', metadata => '{"b": 2}');
select added from memory_import('b.md', pg_catalog.convert_to('文', 'UTF8'));
select memory_add('加一条', 'j.md', title => '题') is not null as added;
select memory_forget(path => 'j.md'), memory_forget(-1), memory_forget(filter => '{"b": 3}'), memory_prune(array['m.md']), memory_sweep(), memory_backfill(10);
select jieba_add_word('风禾三', 5, 'n'), jieba_load_userdict('云海科技 5 nz'), jieba_cut('风禾三'), (jieba_tag('文')).word;
select memories, pending from public.memory_status;
select name from public.memory_models;
select public.memory_embed('文') is not null as embedded, public.memory_embed(array['文']) is not null as batch, memory_model_tokens('文') > 0 as counted;
create table evil.films (id integer, t text, v public.vector);
create trigger films before insert or update on evil.films for each row execute function public.memory_embed_trigger('t', 'v');
insert into evil.films (id, t) values (1, '电影');
update evil.films set t = '另一部' where id operator(pg_catalog.=) 1;
select v is not null as has_vector from evil.films;
delete from public.memories;
delete from public.memory_words;
reset search_path;
reset session authorization;
-- Temporary objects are no way in either
create temporary table memories (id bigint, content text);
create temporary table memory_options (name text, value text);
create function pg_temp.to_tsvector(regconfig, text) returns tsvector language plpgsql as $$ begin raise exception 'pwned'; end $$;
select public.memory_add('临时表不管用') is not null as added;
select content from public.memory_search('临时表', 1);
select memories from public.memory_status;
drop table pg_temp.memories, pg_temp.memory_options;
drop function pg_temp.to_tsvector(regconfig, text);
truncate public.memories;

-- No function has more rights than its caller, and none that is not pure SQL trusts the caller's search path
select p.oid::regprocedure as function
from pg_proc p
join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
join pg_extension e on e.oid = d.refobjid and e.extname = 'summer_memory'
join pg_language l on l.oid = p.prolang
where p.prosecdef
    or l.lanname = 'plpgsql' and not coalesce(p.proconfig::text like '%search_path=pg_catalog%pg_temp%', false)
        -- Its one assignment of a value to its own return type must work under any search path.
        and p.proname <> 'memory_vector'
order by 1;

--
-- X02: row-level security
--
alter table memories add column owner text default current_user;
insert into memories (namespace, path, content, owner, tags, entities) values
    ('default', 'alice.md', '爱丽丝的秘密是紫藤花', 'regress_alice', '{紫藤}', '{Wisteria}'),
    ('default', 'bob.md', '鲍勃的秘密是丁香花', 'regress_bob', '{丁香}', '{Lilac}'),
    ('alice', null, '爱丽丝自己的秘密空间', 'regress_alice', '{}', '{}');
insert into memories (namespace, path, content, owner, embedding) values
    ('alice', 'pending.md', '爱丽丝还没有向量', 'regress_alice', null);
update memories set embedding = null where path = 'pending.md';
alter table memories enable row level security;
create policy own on memories using (owner = current_user) with check (owner = current_user);
grant select, insert, update, delete on memories to regress_alice, regress_bob;
set role regress_bob;
select path from memory_search('秘密', 10);
select path from memory_search('秘密', 10, mode => 'bm25');
select path from memory_search('紫藤花', 10, '*');
select path from memory_search('紫藤花', 10, '*', mode => 'bm25');
select path from memory_search('藤', 10, '*', mode => 'bm25');
set summer_memory.exact_rows = 0;
select path from memory_search('紫藤花', 10, '*', mode => 'vector');
reset summer_memory.exact_rows;
select e #>> '{arms,bm25,rows}' as rows, e #>> '{arms,bm25,candidates}' as candidates, e #>> '{arms,bm25,documents}' as documents, e -> 'tokens' #>> '{0,df}' as df
from memory_explain('紫藤', 10, '*') e;
select memory_explain('紫藤', 5, 'alice') ->> 'empty_because' as reason;
select memory_context('秘密', namespace => '*') !~ '爱丽丝' as nothing_of_alice;
select memories, pending from memory_status;
select memory_backfill();
-- Nothing of hers is changed, moved or forgotten
select memory_forget(path => 'alice.md'), memory_forget(path => 'alice.md', namespace => '*'), memory_forget(1), memory_prune(array['bob.md']), memory_sweep();
select added, updated, removed from memory_import('alice2.md', '鲍勃写的');
select * from memory_import('alice.md', '鲍勃想覆盖');
insert into memories (content, owner) values ('冒名', 'regress_alice');
reset role;
select namespace, path, content, owner, embedding is null as pending from memories order by id;
set role regress_alice;
select path, content from memory_search('秘密', 10, '*') order by content collate "C";
reset role;
-- Without a right to read there is nothing to search
set role regress_mallory;
select count(*) from memory_search('秘密', 10, '*');
reset role;
revoke all on memories from regress_mallory;
set role regress_mallory;
select count(*) from memory_search('秘密', 10);
select memory_add('没有权限');
select memory_import('x.md', '没有权限');
select memory_forget(1);
select memories from memory_status;
reset role;
revoke all on memory_words from regress_mallory;
revoke all on memory_options from regress_mallory;
set role regress_mallory;
select jieba_add_word('没有权限');
select jieba_load_userdict('没有权限 5');
select memory_use_model('multilingual-e5-small');
-- … but words and vectors are anybody's
select jieba_cut('没有权限'), to_tsvector('jieba', '没有权限') is not null, memory_embed('没有权限') is not null as embedded;
reset role;
-- The user dictionary cuts for everybody alike, whoever may read its table: text and question must agree
select jieba_add_word('风禾三', 50, 'nz');
\c - regress_mallory
\set SHOW_CONTEXT never
select jieba_cut('风禾三来电'), to_tsvector('jieba', '风禾三来电') @@ plainto_tsquery('jieba', '风禾三') as found;
\c - postgres
\set SHOW_CONTEXT never
truncate memory_words;
-- S14 under a policy: the index gives rows of others first, and k of one's own come back all the same
create function far(i double precision) returns vector language sql return l2_normalize((array_fill(0.1::real, array[383]) || i::real)::vector);
insert into memories (path, content, owner, embedding)
select 'f' || i, '第 ' || i || ' 行', case when i <= 500 then 'regress_alice' else 'regress_bob' end, far(case when i <= 500 then i / 1000.0 else 5 + i / 100.0 end)
from generate_series(1, 530) i;
analyze memories;
set role regress_bob;
set summer_memory.exact_rows = 0;
select count(*), count(*) filter (where path ~ '^f') >= 29 as mine from memory_search('第 1 行', 31, mode => 'vector');
reset summer_memory.exact_rows;
reset role;
drop policy own on memories;
alter table memories disable row level security;
truncate memories;

--
-- X04: text is text
--
create table payloads (n integer primary key, p text not null);
insert into payloads (n, p) values (1, $$x'); DELETE FROM memories; --$$), (2, '%1$s %I %L'), (3, '$1'), (4, $$'; drop table memories; --$$), (5, '\'), (6, '"'), (7, $q$$$x$$$q$);
set summer_memory.embed = 'off';
insert into memories (path, content) values ('witness', '见证');
insert into memories (namespace, path, title, content, metadata, tags, entities)
select p, p, p, p, jsonb_build_object(p, p), array[p], array[p] from payloads;
select count(*) = 7 as all_there, bool_and(m.title = p.p and m.content = p.p and m.metadata = jsonb_build_object(p.p, p.p)) as as_they_were
from memories m
join payloads p on p.p = m.namespace;
select p.n,
    (select count(*) from memory_search(p.p, 5, p.p, mode => 'bm25')) as query,
    (select count(*) from memory_search(p.p, 5, p.p, jsonb_build_object(p.p, p.p), path_prefix => p.p, tags => array[p.p], mode => 'bm25')) as filters,
    memory_explain(p.p, 5, p.p, mode => 'bm25') ->> 'query' = p.p as explained,
    (select memory_add(p.p, p.p, p.p, jsonb_build_object(p.p, p.p), title => p.p, tags => array[p.p])) is not null as added,
    (select count(*) from memory_import(p.p || '.md', p.p, p.p, jsonb_build_object(p.p, p.p))) as imported
from payloads p
order by p.n;
select p.n, memory_forget(path => p.p, namespace => p.p, filter => jsonb_build_object(p.p, p.p)) as forgotten, memory_prune(array[p.p], p.p, p.p) as pruned, cardinality(jieba_cut(p.p)) > 0 as cut
from payloads p
order by p.n;
do $$
declare
    p text;
    outcome text;
begin
    for p in select w.p from payloads w order by w.n loop
        set local client_min_messages = error;
        perform set_config('summer_memory.namespace', p, true);
        insert into memories (path, content) values (p, p);
        perform count(*) from memory_search(p, 3, mode => 'bm25');
        perform set_config('summer_memory.namespace', '', true);
        foreach outcome in array array['jieba_add_word(%L)', 'jieba_load_userdict(%L)', 'memory_use_model(%L)', 'memory_check_model(%L)', 'memory_embed(''文'', %L)', 'jieba_keywords(''文'', 1, %L)'] loop
            begin
                execute 'select ' || replace(outcome, '%L', quote_literal(p));
            exception
                when others then
                    if sqlstate not in ('22023', '22P02', '42704') then
                        set local client_min_messages = notice;
                        raise notice '%: % %', outcome, sqlstate, sqlerrm;
                    end if;
            end;
        end loop;
    end loop;
end
$$;
select count(*) from memories where path = 'witness';
reset summer_memory.embed;

--
-- X03: no function reads a file that its caller names
--
select p.oid::regprocedure as function
from pg_proc p
join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
join pg_extension e on e.oid = d.refobjid and e.extname = 'summer_memory'
where p.proname ~ 'file' or p.prosrc ~* 'pg_read|lo_import|copy '
order by 1;
select name, context from pg_settings where name in ('summer_memory.model_dir', 'summer_memory.onnxruntime') order by name;
set role regress_mallory;
set summer_memory.model_dir = '/tmp';
\set VERBOSITY sqlstate
show summer_memory.model_dir;
\set VERBOSITY default
select memory_check_model('../../../../../etc');
select jieba_load_userdict('/etc/passwd') is null;
reset role;

set client_min_messages = warning;
drop schema evil cascade;
drop owned by regress_alice, regress_bob, regress_mallory;
drop role regress_alice, regress_bob, regress_mallory;
