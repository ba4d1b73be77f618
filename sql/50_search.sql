-- Search: the two arms fused, its explanation, and a block for a prompt.

create function @extschema@.memory_search(
    query text,
    k integer default 10,
    namespace text default null,
    filter jsonb default null,
    since timestamptz default null,
    until timestamptz default null,
    path_prefix text default null,
    tags text[] default null,
    mode text default 'hybrid',
    collapse boolean default true,
    fusion text default 'rrf'
)
returns table (
    id bigint,
    path text,
    chunk_index integer,
    title text,
    content text,
    score double precision,
    vector_rank integer,
    bm25_rank integer,
    similarity double precision,
    bm25_score double precision,
    metadata jsonb,
    occurred_at timestamptz,
    degraded text
)
-- Reads tables and settings: stable. Uses the queue and SPI of its own backend: not for parallel workers.
language c stable parallel restricted cost 100000 rows 10
as 'MODULE_PATHNAME', 'memory_search_wrapper';
comment on function @extschema@.memory_search(text, integer, text, jsonb, timestamptz, timestamptz, text, text[], text, boolean, text) is
    'The k memories that answer a question best: vectors and BM25 fused by rank, one row a path unless collapse is false. since and until bound occurred_at (or created_at) as [since, until)';

create function @extschema@.memory_explain(
    query text,
    k integer default 10,
    namespace text default null,
    filter jsonb default null,
    since timestamptz default null,
    until timestamptz default null,
    path_prefix text default null,
    tags text[] default null,
    mode text default 'hybrid',
    collapse boolean default true,
    fusion text default 'rrf'
)
returns jsonb
language c stable parallel restricted cost 100000
as 'MODULE_PATHNAME', 'memory_explain_wrapper';
comment on function @extschema@.memory_explain(text, integer, text, jsonb, timestamptz, timestamptz, text, text[], text, boolean, text) is
    'How memory_search comes to its result: words with their frequency, ranks and scores of both arms, times, and why a result is empty';

create function @extschema@.memory_context(
    query text,
    max_tokens integer default 1000,
    k integer default 20,
    namespace text default null,
    filter jsonb default null
)
returns text
language plpgsql stable parallel restricted
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    hit record;
    heading text;
    entry text;
    block text := '';
begin
    if max_tokens is null or max_tokens < 0 then
        raise exception 'max_tokens must not be negative'
            using errcode = '22023', hint = 'It is the size of the block in tokens of the store''s model.';
    end if;
    for hit in
        select s.path, s.title, s.content, s.occurred_at
        from memory_search(query, k, namespace, filter) s
    loop
        heading := concat_ws(' · ', to_char(hit.occurred_at at time zone 'UTC', 'YYYY-MM-DD'), hit.path, hit.title);
        entry := concat(E'[' || nullif(heading, '') || E']\n', hit.content, E'\n\n');
        -- Without a model a character counts as a token, which is rather too many.
        continue when coalesce(memory_model_tokens(block || entry), length(block || entry)) > max_tokens;
        block := block || entry;
    end loop;
    return rtrim(block, E'\n');
end
$$;
comment on function @extschema@.memory_context(text, integer, integer, text, jsonb) is
    'The best memories for a question as one block of text of at most max_tokens tokens, each with date, path and headings';
