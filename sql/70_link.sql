-- Link: the names and tags of a text, and the memories that share them.
--
-- Columns entities and tags of memories are kept in step with the text by memory_derive(): what a writer gives
-- stays, what the text names is added, and goes again with the text. Names are compared by their keys: without
-- case, width, traditional forms. Functions that read memories run as their caller, so a policy hides names too.

create function @extschema@.memory_extract(text text)
returns table (name text, kind text)
language c immutable strict parallel safe cost 1000 rows 10
as 'MODULE_PATHNAME', 'memory_extract_wrapper';
comment on function @extschema@.memory_extract(text) is
    'Names and tags of a text, in order: name, acronym, code, term, title, url, path, person, place, organisation, tag';

create function @extschema@.memory_entity_key(name text)
returns text
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'memory_entity_key_wrapper';
comment on function @extschema@.memory_entity_key(text) is 'The form names are compared in: without case, width, traditional forms';

-- The cost: a memory may have thousands of names, so they are looked up in the index however few rows there are.
create function @extschema@.memory_entity_keys(entities text[], tags text[])
returns text[]
language c immutable strict parallel safe cost 10000
as 'MODULE_PATHNAME', 'memory_entity_keys_wrapper';
comment on function @extschema@.memory_entity_keys(text[], text[]) is 'Keys of names and tags, sorted, each once; what the index of names holds';

create function @extschema@.memory_entity_kind(name text, text text)
returns text
language c immutable strict parallel safe cost 1000
as 'MODULE_PATHNAME', 'memory_entity_kind_wrapper';
comment on function @extschema@.memory_entity_kind(text, text) is 'The kind a text gives to a name';

create function @extschema@.memory_merge_names(given text[], found text[], stale text[])
returns text[]
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'memory_merge_names_wrapper';
comment on function @extschema@.memory_merge_names(text[], text[], text[]) is
    'The names given and those found, each once, without those that only a former text had';

create function @extschema@.memory_preview(content text)
returns text
language sql immutable strict parallel safe
return pg_catalog.left(pg_catalog.regexp_replace(pg_catalog.left(content, 400), '\s+', ' ', 'g'), 100);
comment on function @extschema@.memory_preview(text) is 'The first 100 characters on one line';

create function @extschema@.memory_related(
    id bigint,
    k integer default 5,
    namespace text default null
)
returns table (
    id bigint,
    path text,
    chunk_index integer,
    title text,
    preview text,
    score double precision,
    overlap double precision,
    shared text[],
    similarity double precision,
    same_path boolean
)
language c stable parallel restricted cost 10000 rows 5
as 'MODULE_PATHNAME', 'memory_related_wrapper';
comment on function @extschema@.memory_related(bigint, integer, text) is
    'The k memories most closely related to one: names in common weighted by their rarity, nearness of the vectors, the same document. overlap is names in common to names in all; of shared up to 5, rarest first';

create function @extschema@.memory_related(
    address text,
    k integer default 5,
    namespace text default null
)
returns table (
    id bigint,
    path text,
    chunk_index integer,
    title text,
    preview text,
    score double precision,
    overlap double precision,
    shared text[],
    similarity double precision,
    same_path boolean
)
language plpgsql stable parallel restricted rows 5
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    parts text[] := regexp_match($1, '^(.*)#(\d{1,9})$');
    source bigint;
begin
    select m.id
    into source
    from memories m
    where (m.path = memory_path(coalesce(parts[1], $1)) and m.chunk_index = coalesce(parts[2]::integer, 0)
            -- A path may itself end like an address.
            or m.path = memory_path($1) and m.chunk_index = 0)
        and ($3 = '*' or m.namespace = coalesce($3, memory_default_namespace()))
    order by m.path = memory_path($1), m.id
    limit 1;
    return query
    select r.id, r.path, r.chunk_index, r.title, r.preview, r.score, r.overlap, r.shared, r.similarity, r.same_path
    from memory_related(source, $2, $3) r;
end
$$;
comment on function @extschema@.memory_related(text, integer, text) is
    'Memories related to the chunk path#n; without #n to the first chunk of the path';

create function @extschema@.memory_entities(
    min_docs integer default 2,
    k integer default 50,
    namespace text default null,
    of_kind text default null
)
returns table (
    name text,
    kind text,
    memories bigint,
    documents bigint
)
language plpgsql stable parallel restricted rows 50
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
    if $2 < 0 then
        raise exception 'k must not be negative, not %', $2
            using errcode = '22023', hint = 'k is the number of names to return.';
    end if;
    if $4 not in ('name', 'acronym', 'code', 'term', 'title', 'url', 'path', 'person', 'place', 'organisation') then
        raise exception 'unknown kind: "%"', left($4, 20)
            using errcode = '22023',
                hint = 'Use name, acronym, code, term, title, url, path, person, place or organisation.';
    end if;
    return query
    with named as (
        select m.id, m.namespace, m.path, e.name, memory_entity_key(e.name) as key, e.is_tag
        from memories m
        cross join lateral (
            select n.name, false
            from unnest(m.entities) n (name)
            union all
            select t.name, true
            from unnest(m.tags) t (name)
        ) e (name, is_tag)
        where ($3 = '*' or m.namespace = coalesce($3, memory_default_namespace()))
            and (m.expires_at is null or m.expires_at > now())
    ),
    -- A name counts where it is a tag as well; what is a tag only is none of the names.
    counted as (
        select n.key, mode() within group (order by n.name) filter (where not n.is_tag) as name,
            count(distinct n.id) as memories,
            count(distinct (n.namespace, n.path, case when n.path is null then n.id end)) as documents,
            min(n.id) filter (where not n.is_tag) as example
        from named n
        where n.key <> ''
        group by n.key
        having bool_or(not n.is_tag)
            and count(distinct n.id) >= coalesce($1, 2)
    )
    select c.name, memory_entity_kind(c.name, memory_whole_text(m.title, m.content)), c.memories, c.documents
    from counted c
    join memories m on m.id = c.example
    where $4 is null
        or memory_entity_kind(c.name, memory_whole_text(m.title, m.content)) = $4
    order by c.memories desc, c.key
    limit coalesce($2, 50);
end
$$;
comment on function @extschema@.memory_entities(integer, integer, text, text) is
    'Core names: those in at least min_docs memories, most frequent first, with their kind and in how many memories and documents they are';

create function @extschema@.memory_entity(name text, k integer default 50, namespace text default null)
returns table (
    id bigint,
    path text,
    chunk_index integer,
    title text,
    preview text,
    occurred_at timestamptz
)
language plpgsql stable parallel restricted rows 50
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
    if $2 < 0 then
        raise exception 'k must not be negative, not %', $2
            using errcode = '22023', hint = 'k is the number of memories to return.';
    end if;
    return query
    select m.id, m.path, m.chunk_index, m.title, memory_preview(m.content), m.occurred_at
    from memories m
    where memory_entity_keys(m.entities, m.tags) @> array[memory_entity_key(ltrim($1, '#＃'))]
        and ($3 = '*' or m.namespace = coalesce($3, memory_default_namespace()))
        and (m.expires_at is null or m.expires_at > now())
    order by coalesce(m.occurred_at, m.created_at) desc, m.id desc
    limit coalesce($2, 50);
end
$$;
comment on function @extschema@.memory_entity(text, integer, text) is
    'The memories a name or a #tag occurs in, newest first';

create function @extschema@.memory_cooccurrence(entity text, k integer default 20, namespace text default null)
returns table (
    name text,
    memories bigint,
    total bigint
)
language plpgsql stable parallel restricted rows 20
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
    if $2 < 0 then
        raise exception 'k must not be negative, not %', $2
            using errcode = '22023', hint = 'k is the number of names to return.';
    end if;
    return query
    with together as (
        select e.name, memory_entity_key(e.name) as key, m.id, e.is_tag
        from memories m
        cross join lateral (
            select n.name, false
            from unnest(m.entities) n (name)
            union all
            select t.name, true
            from unnest(m.tags) t (name)
        ) e (name, is_tag)
        where memory_entity_keys(m.entities, m.tags) @> array[memory_entity_key(ltrim($1, '#＃'))]
            and ($3 = '*' or m.namespace = coalesce($3, memory_default_namespace()))
            and (m.expires_at is null or m.expires_at > now())
    ),
    best as (
        select mode() within group (order by t.name) filter (where not t.is_tag) as name, t.key,
            count(distinct t.id) as memories
        from together t
        where t.key not in ('', memory_entity_key(ltrim($1, '#＃')))
        group by t.key
        having bool_or(not t.is_tag)
        order by memories desc, t.key
        limit coalesce($2, 20)
    )
    select b.name, b.memories,
        (
            select count(*)
            from memories m
            where memory_entity_keys(m.entities, m.tags) @> array[b.key]
                and ($3 = '*' or m.namespace = coalesce($3, memory_default_namespace()))
                and (m.expires_at is null or m.expires_at > now())
        )
    from best b
    order by b.memories desc, b.key;
end
$$;
comment on function @extschema@.memory_cooccurrence(text, integer, text) is
    'Names that occur together with one, most often first: in how many memories with it, and in how many at all';
