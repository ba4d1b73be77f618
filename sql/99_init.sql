-- Makes or adopts the store's tables, and gives them to the user: not members of the extension, so dumped
-- whole and never dropped with it. While a dump is being restored the dump brings them itself. Every dump sets
-- these two for its session, whatever it sets row_security to; of the two, nobody else has a use for xmloption here.

do $init$
declare
    member record;
begin
    if (
        select pg_catalog.count(*)
        from pg_catalog.pg_settings s
        where s.name in ('row_security', 'xmloption')
            and s.source = 'session'
    ) = 2 then
        return;
    end if;
    perform @extschema@.memory_init();
    perform @extschema@.conv_init();
    for member in
        select c.oid::pg_catalog.regclass as name, c.relkind
        from pg_catalog.pg_depend d
        join pg_catalog.pg_class c on c.oid = d.objid
        join pg_catalog.pg_extension e on e.oid = d.refobjid
        where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
            and d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
            and d.deptype = 'e'
            and e.extname = 'summer_memory'
            and c.relkind in ('r', 'S')
        order by c.relkind, c.oid
    loop
        execute pg_catalog.format(
            'alter extension summer_memory drop %s %s',
            case member.relkind when 'S' then 'sequence' else 'table' end,
            member.name
        );
    end loop;
end
$init$;
