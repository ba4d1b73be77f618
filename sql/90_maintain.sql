-- Maintain: pending embeddings, expired rows, the state of the store.

create function @extschema@.memory_backfill(max_rows bigint default null)
returns bigint
language c volatile parallel unsafe
as 'MODULE_PATHNAME', 'memory_backfill_wrapper';
comment on function @extschema@.memory_backfill(bigint) is
    'Embeds memories that have no vector of the store''s model, at most max_rows. Returns how many were filled';

create function @extschema@.memory_reindex()
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    changed bigint;
begin
    update memories m
    -- The trigger reads words and names again.
    set search = null
    from (
        select r.id, memory_tsvector(r.title, r.content) as search, f.entities, f.tags
        from memories r
        cross join lateral (
            select memory_merge_names(coalesce(r.given_entities, r.entities),
                    coalesce(array_agg(e.name) filter (where e.kind <> 'tag'), '{}'), '{}'),
                memory_merge_names(coalesce(r.given_tags, r.tags),
                    coalesce(array_agg(e.name) filter (where e.kind = 'tag'), '{}'), '{}')
            from memory_extract(memory_whole_text(r.title, r.content)) e
        ) f (entities, tags)
    ) n
    where n.id = m.id
        and (m.search, m.entities, m.tags) is distinct from (n.search, n.entities, n.tags);
    get diagnostics changed = row_count;
    return changed;
end
$$;
comment on function @extschema@.memory_reindex() is
    'Reads the words and names of all memories again, after a change of the user dictionary or the configuration. Calls no model. Returns how many changed';

create function @extschema@.memory_sweep()
returns bigint
language c volatile parallel unsafe
as 'MODULE_PATHNAME', 'memory_sweep_wrapper';
comment on function @extschema@.memory_sweep() is 'Deletes expired memories; the background worker does it too. Returns how many';

create function @extschema@.memory_status_rows()
returns table (
    memories bigint,
    pending bigint,
    failed bigint,
    other_model bigint,
    expired bigint,
    model text,
    dims integer,
    model_problem text,
    embedding_runs_in text,
    table_size text,
    index_size text
)
language plpgsql stable parallel restricted
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    current_model text := memory_active_model();
begin
    return query
    select count(*),
        count(*) filter (where m.embedding is null and m.embed_error is null),
        count(*) filter (where m.embed_error is not null),
        count(*) filter (where m.embedding is not null and m.model is distinct from current_model),
        count(*) filter (where m.expires_at <= now()),
        current_model,
        (select l.dims from memory_list_models() l where l.name = current_model),
        (select coalesce(min(l.problem), case when count(*) = 0 then 'model is not installed' end)
            from memory_list_models() l where l.name = current_model),
        memory_embed_place(),
        pg_size_pretty(pg_table_size('@extschema@.memories'::regclass)),
        pg_size_pretty(pg_indexes_size('@extschema@.memories'::regclass))
    from memories m;
end
$$;
comment on function @extschema@.memory_status_rows() is 'State of the store as the caller may see it';

create view @extschema@.memory_status
with (security_invoker = true) as
select memories, pending, failed, other_model, expired, model, dims, model_problem, embedding_runs_in, table_size, index_size
from @extschema@.memory_status_rows();
grant select on @extschema@.memory_status to public;
comment on view @extschema@.memory_status is
    'Rows, rows without an embedding, the model and where it runs, sizes; counts only rows the caller may see';
