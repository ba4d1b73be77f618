-- Store: the tables that hold people's memories, and what keeps their derived columns in step.
--
-- The tables are ordinary tables of the user's: memory_init() makes or adopts them, and 99_init.sql takes
-- them out of the extension again, so that pg_dump saves them whole and `drop extension` cannot drop them.
-- content_hash is a generated column. search and token_count are filled by trigger like the embedding, not
-- generated: they depend on the user dictionary, and a dump must bring them back as they were, in whatever
-- order it loads its tables.

create function @extschema@.memory_whole_text(title text, content text)
returns text
language c immutable parallel safe
as 'MODULE_PATHNAME', 'memory_whole_text_wrapper';
comment on function @extschema@.memory_whole_text(text, text) is 'Title and content as they are embedded and indexed';

create function @extschema@.memory_content_hash(title text, content text)
returns bytea
language c immutable parallel safe
as 'MODULE_PATHNAME', 'memory_content_hash_wrapper';
comment on function @extschema@.memory_content_hash(text, text) is 'SHA-256 of title and content';

-- Immutable in the sense of PostgreSQL's own to_tsvector(regconfig, text).
create function @extschema@.memory_tsvector(title text, content text)
returns tsvector
language c immutable parallel safe cost 1000
as 'MODULE_PATHNAME', 'memory_tsvector_wrapper';
comment on function @extschema@.memory_tsvector(text, text) is
    'Words of a memory by configuration jieba; never fails for a long text';

create function @extschema@.memory_token_count(search tsvector)
returns integer
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'memory_token_count_wrapper';
comment on function @extschema@.memory_token_count(tsvector) is 'Number of words of a tsvector, repetitions counted: a memory''s length for BM25';

create function @extschema@.memory_default_namespace()
returns text
language sql stable parallel safe
return coalesce(nullif(pg_catalog.current_setting('summer_memory.namespace', true), ''), 'default');
comment on function @extschema@.memory_default_namespace() is 'Setting summer_memory.namespace';

create function @extschema@.memory_announce_pending()
returns void
language c volatile parallel unsafe
as 'MODULE_PATHNAME', 'memory_announce_pending_wrapper';
comment on function @extschema@.memory_announce_pending() is
    'Asks the background worker to embed pending rows of this database after the commit';

create function @extschema@.memory_check_dims(dims integer, model text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    expected integer;
begin
    begin
        expected := memory_check_model(model);
    exception
        when others then
            -- A vector of a model that is not installed here can still be kept.
            return;
    end;
    if dims is distinct from expected then
        raise exception 'vector has % dimensions, model "%" has %', dims, model, expected
            using errcode = '22000',
                  hint = 'Leave embedding NULL to have it computed, or set column model to the model the vector is of.';
    end if;
end
$$;
comment on function @extschema@.memory_check_dims(integer, text) is 'Refuses a vector of the wrong width for a model';

create function @extschema@.memory_document_lock(namespace text, path text)
returns integer
language c volatile strict parallel unsafe
as 'MODULE_PATHNAME', 'memory_document_lock_wrapper';
comment on function @extschema@.memory_document_lock(text, text) is
    'Key of the advisory lock of a document; NULL if this transaction has it, or has locked 500 documents';

create function @extschema@.memory_lock_document(namespace text, path text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    key integer := memory_document_lock(namespace, path);
begin
    if key is not null then
        -- The class number is arbitrary and ours.
        perform pg_advisory_xact_lock(1936551789, key);
    end if;
end
$$;
comment on function @extschema@.memory_lock_document(text, text) is
    'Makes writers of one document take turns until their transactions end';

create function @extschema@.memory_derive()
returns trigger
language plpgsql
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    text_changed boolean := true;
    vector_given boolean;
    names_changed boolean := true;
    names text[];
    found_tags text[];
begin
    if new.namespace in ('*', '') then
        raise exception 'namespace must not be "%"', new.namespace
            using errcode = '22023',
                  hint = 'A search takes * as all namespaces. Name one, or leave the column out for the setting summer_memory.namespace.';
    end if;
    -- However a row comes in, its path is spelled as functions look for it.
    new.path := nullif(memory_path(new.path), '');
    if tg_op = 'UPDATE' then
        text_changed := (new.title, new.content) is distinct from (old.title, old.content);
        -- As bytes: the operators of type vector may not be on the search path.
        vector_given := new.embedding is not null and not row(new.embedding)::record *= row(old.embedding)::record;
        if not (row(new.namespace, new.path, new.chunk_index, new.title, new.content, new.metadata, new.tags,
                new.entities, new.occurred_at, new.expires_at)::record
            *= row(old.namespace, old.path, old.chunk_index, old.title, old.content, old.metadata, old.tags,
                old.entities, old.occurred_at, old.expires_at)::record) then
            new.updated_at := now();
        end if;
        names_changed := text_changed or new.search is null
            or (new.given_tags, new.given_entities) is distinct from (old.given_tags, old.given_entities);
        -- What is added by hand is given, what is taken away is given no more.
        if new.given_tags is not distinct from old.given_tags and new.tags is distinct from old.tags then
            new.given_tags := memory_merge_names(coalesce(old.given_tags, old.tags),
                memory_merge_names(new.tags, '{}', old.tags), memory_merge_names(old.tags, '{}', new.tags));
        end if;
        if new.given_entities is not distinct from old.given_entities and new.entities is distinct from old.entities then
            new.given_entities := memory_merge_names(coalesce(old.given_entities, old.entities),
                memory_merge_names(new.entities, '{}', old.entities), memory_merge_names(old.entities, '{}', new.entities));
        end if;
        if not names_changed and not vector_given and new.chunk_index is not null then
            return new;
        end if;
    else
        vector_given := new.embedding is not null;
    end if;
    new.given_tags := coalesce(new.given_tags, new.tags);
    new.given_entities := coalesce(new.given_entities, new.entities);
    if names_changed then
        -- Names and tags of the text come and go with it; what was given by hand stays.
        select coalesce(array_agg(e.name) filter (where e.kind <> 'tag'), '{}'),
            coalesce(array_agg(e.name) filter (where e.kind = 'tag'), '{}')
        into names, found_tags
        from memory_extract(memory_whole_text(new.title, new.content)) e;
        if tg_op = 'UPDATE' then
            new.entities := new.given_entities;
            new.tags := new.given_tags;
        end if;
        new.entities := memory_merge_names(new.entities, names, '{}');
        new.tags := memory_merge_names(new.tags, found_tags, '{}');
    end if;
    if text_changed and tg_op = 'UPDATE' or new.search is null then
        new.search := memory_tsvector(new.title, new.content);
    end if;
    new.token_count := memory_token_count(new.search);
    if vector_given then
        -- An explicit vector wins over the text. It is of the store's model unless its own is given with it: the
        -- label of the vector that was there before says nothing about this one.
        if tg_op = 'UPDATE' and new.model is not distinct from old.model then
            new.model := null;
        end if;
        new.model := coalesce(new.model, memory_active_model());
        new.embed_error := null;
        -- '[1,2,3]' has one comma less than elements.
        perform memory_check_dims(length(new.embedding::text) - length(replace(new.embedding::text, ',', '')) + 1, new.model);
    elsif text_changed then
        new.embedding := null;
        new.model := null;
        new.embed_error := null;
        case current_setting('summer_memory.embed')
            when 'sync' then
                new.embedding := memory_try_embed(memory_whole_text(new.title, new.content));
                if new.embedding is not null then
                    new.model := memory_active_model();
                end if;
            when 'async' then
                perform memory_announce_pending();
            else
                null;
        end case;
    end if;
    if new.path is not null and new.occurred_at is null and (tg_op = 'INSERT' or new.path is distinct from old.path) then
        new.occurred_at := (memory_path_date(new.path) + time '12:00') at time zone 'UTC';
    end if;
    if new.path is not null and new.chunk_index is null then
        -- After the model, so that nobody waits for it.
        perform memory_lock_document(new.namespace, new.path);
        select coalesce(max(m.chunk_index) + 1, 0)
        into new.chunk_index
        from memories m
        where m.namespace = new.namespace
            and m.path = new.path
            and m.id <> new.id;
    end if;
    new.chunk_index := coalesce(new.chunk_index, 0);
    return new;
end
$$;
comment on function @extschema@.memory_derive() is
    'Trigger of memories: words, names, tags, embedding, model, date and place of a new or changed text unless they are given, and updated_at';

create function @extschema@.memory_index_model(model text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    dims integer := memory_check_model(model);
    vector_schema name;
    kind text;
    index_name text := 'memories_embedding_' || substr(encode(sha256(convert_to(model, 'UTF8')), 'hex'), 1, 8) || '_idx';
begin
    if dims > 4000 then
        raise notice 'model "%" has % dimensions: no vector index (at most 4000), searches compare exactly', model, dims;
        return;
    end if;
    select n.nspname
    into strict vector_schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector';
    kind := case when dims > 2000 then 'halfvec' else 'vector' end;
    if to_regclass('@extschema@.' || index_name) is not null then
        return;
    end if;
    execute format(
        'create index %I on @extschema@.memories using hnsw ((embedding::%I.%I(%s)) %I.%I) where model = %L',
        index_name, vector_schema, kind, dims, vector_schema, kind || '_cosine_ops', model
    );
end
$$;
comment on function @extschema@.memory_index_model(text) is
    'Creates the HNSW index over the vectors of one model if it is not there; halfvec above 2,000 dimensions, none above 4,000';

create function @extschema@.memory_check_owner(name text)
returns void
language plpgsql stable parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    owner oid;
begin
    select c.relowner
    into owner
    from pg_class c
    where c.relnamespace = '@extschema@'::regnamespace
        and c.relname = $1;
    -- Triggers and defaults of a table run as whoever writes to it: only tables of somebody trusted are adopted.
    if not found
        or pg_has_role(current_user, owner, 'USAGE') and not (select r.rolsuper from pg_roles r where r.rolname = current_user)
        or exists (select from pg_roles r where r.oid = owner and (r.rolsuper or r.rolname = current_user))
        or owner = (select d.datdba from pg_database d where d.datname = current_database())
        or owner = (select n.nspowner from pg_namespace n where n.oid = '@extschema@'::regnamespace)
    then
        return;
    end if;
    raise exception 'table "%" belongs to role "%", which is not trusted here', $1, pg_get_userbyid(owner)
        using errcode = '42501',
              hint = 'Look at the table, its triggers and its rows, then give it to yourself with alter table … owner to, or rename it.';
end
$$;
comment on function @extschema@.memory_check_owner(text) is
    'Refuses to adopt a table of somebody who is neither a superuser nor the owner of the database or the schema';

create function @extschema@.memory_init()
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
set client_min_messages = warning
as $$
declare
    vector_schema name;
    definition text;
begin
    if getdatabaseencoding() <> 'UTF8' then
        raise exception 'summer_memory needs a database with encoding UTF8, not %', getdatabaseencoding()
            using errcode = '0A000',
                  hint = 'Create the database with: create database … encoding ''UTF8'' template template0.';
    end if;
    select n.nspname
    into strict vector_schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector';

    perform memory_check_owner(t.name) from unnest(array['memory_options', 'memory_words', 'memories']) t (name);
    if to_regclass('@extschema@.memory_options') is null then
        create table @extschema@.memory_options (
            name text not null,
            value text not null,
            constraint memory_options_pkey primary key (name)
        );
        grant select on @extschema@.memory_options to public;
    end if;
    comment on table @extschema@.memory_options is 'Choices of this store, such as its model';
    comment on column @extschema@.memory_options.name is 'What is chosen';
    comment on column @extschema@.memory_options.value is 'The choice';

    if to_regclass('@extschema@.memory_words') is null then
        create table @extschema@.memory_words (
            word text not null,
            freq integer,
            tag text,
            constraint memory_words_pkey primary key (word),
            constraint memory_words_freq_check check (freq >= 1)
        );
    end if;
    comment on table @extschema@.memory_words is
        'User dictionary of configuration jieba; a committed change reaches every session';
    comment on column @extschema@.memory_words.word is 'The word';
    comment on column @extschema@.memory_words.freq is 'Frequency; NULL lets jieba choose one that keeps the word whole';
    comment on column @extschema@.memory_words.tag is 'Part of speech, for example nz';
    if not exists (
        select from pg_constraint
        where conrelid = '@extschema@.memory_words'::regclass
            and conname = 'memory_words_word_check'
    ) then
        alter table @extschema@.memory_words
            add constraint memory_words_word_check check (@extschema@.jieba_check_word(word));
    end if;
    create or replace trigger memory_words_changed
    after insert or update or delete or truncate on @extschema@.memory_words
    for each statement execute function @extschema@.memory_words_changed();

    if to_regclass('@extschema@.memories') is null then
        create table @extschema@.memories (
            id bigint generated by default as identity,
            namespace text not null,
            path text collate "C",
            chunk_index integer not null,
            title text,
            content text not null,
            metadata jsonb not null default '{}',
            tags text[] not null default '{}',
            entities text[] not null default '{}',
            given_tags text[],
            given_entities text[],
            occurred_at timestamptz,
            created_at timestamptz not null default now(),
            updated_at timestamptz not null default now(),
            expires_at timestamptz,
            model text,
            embed_error text,
            search tsvector,
            token_count integer,
            constraint memories_pkey primary key (id),
            constraint memories_metadata_check check (jsonb_typeof(metadata) = 'object')
        );
        -- Rows up to a page stay in one piece: the arms read words and vectors of many rows.
        alter table @extschema@.memories set (toast_tuple_target = 8160);
    end if;
    alter table @extschema@.memories alter column namespace set default @extschema@.memory_default_namespace();
    execute format('alter table @extschema@.memories add column if not exists embedding %I.vector', vector_schema);
    alter table @extschema@.memories
        add column if not exists given_tags text[],
        add column if not exists given_entities text[],
        add column if not exists search tsvector,
        add column if not exists token_count integer,
        add column if not exists content_hash bytea
            generated always as (@extschema@.memory_content_hash(title, content)) stored;

    comment on table @extschema@.memories is 'Memories, one row a chunk of text';
    comment on column @extschema@.memories.id is 'Number of the row';
    comment on column @extschema@.memories.namespace is 'Whose memories: a tenant, a person, a project; default is the setting summer_memory.namespace';
    comment on column @extschema@.memories.path is 'Document the chunk belongs to, for example memory/2026-02-19.md; NULL for a memory on its own';
    comment on column @extschema@.memories.chunk_index is 'Place of the chunk in its document, from 0; given by the trigger if left out';
    comment on column @extschema@.memories.title is 'Headings above the chunk, joined by " > "';
    comment on column @extschema@.memories.content is 'The text, verbatim';
    comment on column @extschema@.memories.metadata is 'Anything else about the memory';
    comment on column @extschema@.memories.tags is 'Tags, without #: those given and the #tags of the text';
    comment on column @extschema@.memories.entities is 'Names: those given and those of the text';
    comment on column @extschema@.memories.given_tags is 'Those of tags that were given; they stay when the text changes';
    comment on column @extschema@.memories.given_entities is 'Those of entities that were given; they stay when the text changes';
    comment on column @extschema@.memories.occurred_at is 'When it happened; a date without time is noon UTC, the same day in nearly every time zone';
    comment on column @extschema@.memories.created_at is 'When the row was made';
    comment on column @extschema@.memories.updated_at is 'When the row was last changed by a user';
    comment on column @extschema@.memories.expires_at is 'From then on the memory is not found, and is removed in time';
    comment on column @extschema@.memories.model is 'Model of the embedding';
    comment on column @extschema@.memories.embed_error is 'Why the text has no embedding, if the text is the reason';
    comment on column @extschema@.memories.embedding is 'Vector of title and content, unit length; NULL while pending';
    comment on column @extschema@.memories.content_hash is 'SHA-256 of title and content';
    comment on column @extschema@.memories.search is 'Words of title and content; set to NULL to have them read again';
    comment on column @extschema@.memories.token_count is 'Number of words, the length for BM25';

    foreach definition in array array[
        'unique index memories_path_key on @extschema@.memories (namespace, path, chunk_index)',
        'index memories_path_idx on @extschema@.memories (path)',
        'index memories_search_idx on @extschema@.memories using gin (search) with (fastupdate = off)',
        'index memories_entities_idx on @extschema@.memories using gin (@extschema@.memory_entity_keys(entities, tags))',
        'index memories_tags_idx on @extschema@.memories using gin (tags)',
        'index memories_metadata_idx on @extschema@.memories using gin (metadata jsonb_path_ops)',
        'index memories_time_idx on @extschema@.memories ((coalesce(occurred_at, created_at)))',
        'index memories_length_idx on @extschema@.memories (namespace, id) include (token_count, expires_at)',
        'index memories_pending_idx on @extschema@.memories (id) where embedding is null',
        'index memories_expiry_idx on @extschema@.memories (expires_at) where expires_at is not null'
    ] loop
        -- Not `if not exists`: within `create extension` that refuses an index that is already the user's.
        if to_regclass('@extschema@.' || substring(definition from 'index (\w+)')) is null then
            execute 'create ' || definition;
        end if;
    end loop;
    begin
        perform memory_index_model(memory_active_model());
    exception
        when undefined_object or undefined_file or object_not_in_prerequisite_state then
            raise warning 'no vector index yet: %', sqlerrm
                using hint = 'Install the model, then run memory_use_model() again.';
    end;

    create or replace trigger memory_derive
    before insert or update on @extschema@.memories
    for each row execute function @extschema@.memory_derive();
    update @extschema@.memories m set search = null where m.search is null or m.token_count is null;
    if exists (select from @extschema@.memories m where m.embedding is null and m.embed_error is null) then
        perform memory_announce_pending();
    end if;
end
$$;
comment on function @extschema@.memory_init() is
    'Creates the store''s tables, or adopts those that are there: adds what is missing and changes no content';

create function @extschema@.memory_add(
    content text,
    path text default null,
    namespace text default null,
    metadata jsonb default '{}',
    occurred_at timestamptz default null,
    title text default null,
    tags text[] default '{}',
    expires_at timestamptz default null
)
returns setof bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_variable
declare
    wanted_namespace text := coalesce(namespace, memory_default_namespace());
    wanted_path text := memory_path(path);
    parts text[];
    titles text[];
    document jsonb;
    texts text[];
    vectors text[];
    first_index integer;
begin
    if content is null or jieba_fold(content) !~ '\S' then
        raise exception 'content must not be empty'
            using errcode = '22023', hint = 'A memory needs a text.';
    end if;
    if wanted_path = '' then
        raise exception 'path must not be empty'
            using errcode = '22023', hint = 'The path names a document; leave it out for a memory of its own.';
    end if;
    select array_agg(s.chunk order by s.chunk_index),
        array_agg(nullif(concat_ws(' > ', title, s.title), '') order by s.chunk_index),
        (array_agg(s.document))[1]
    into parts, titles, document
    from memory_split(content, wanted_path) s;
    if parts is null then
        -- Front matter only: no chunk for a document, but a memory all the same.
        parts := array[content];
        titles := array[title];
    end if;
    if current_setting('summer_memory.embed') = 'sync' then
        select array_agg(memory_whole_text(t.title, t.part) order by t.place)
        into texts
        from unnest(parts, titles) with ordinality t (part, title, place);
        -- All at once, before any row is written.
        vectors := memory_try_embed(texts)::text[];
    end if;
    if wanted_path is not null then
        perform memory_lock_document(wanted_namespace, wanted_path);
        select coalesce(max(m.chunk_index) + 1, 0)
        into first_index
        from memories m
        where m.namespace = wanted_namespace
            and m.path = wanted_path;
    else
        first_index := 0;
    end if;
    return query
    insert into memories as m (
        namespace, path, chunk_index, title, content, metadata, tags, occurred_at, expires_at, embedding
    )
    select wanted_namespace, wanted_path, first_index + t.place::integer - 1, t.title, t.part,
        coalesce(document, '{}') || coalesce(metadata, '{}'), coalesce(tags, '{}'),
        coalesce(occurred_at, (memory_path_date(wanted_path) + time '12:00') at time zone 'UTC'), expires_at,
        memory_vector(t.vector)
    from unnest(parts, titles, vectors) with ordinality t (part, title, vector, place)
    order by t.place
    returning m.id;
end
$$;
comment on function @extschema@.memory_add(text, text, text, jsonb, timestamptz, text, text[], timestamptz) is
    'Stores a text, split into chunks if it is long; with a path it is appended to that document. Returns the ids';

-- A cast by name would need pgvector's schema on the search path.
create function @extschema@.memory_vector(value text)
returns vector
language plpgsql immutable strict parallel safe
as $$
begin
    return value;
end
$$;
comment on function @extschema@.memory_vector(text) is 'A vector from its text form, under any search path';

-- The new state of a document, chunk by chunk. Internal to memory_import() and conv_to_memory().
create function @extschema@.memory_put_document(
    namespace text,
    path text,
    titles text[],
    contents text[],
    metadata jsonb[],
    tags text[],
    occurred_at timestamptz[]
)
returns table (added integer, updated integer, unchanged integer, removed integer)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    hashes bytea[];
    new_vectors text[];
    texts text[];
    places integer[];
    old record;
    target bigint[];
    same boolean[];
    i integer;
begin
    select array_agg(memory_content_hash(c.title, c.content) order by c.place)
    into hashes
    from unnest($3, $4) with ordinality c (title, content, place);

    -- Texts that are new here are embedded first, while nothing is locked.
    if current_setting('summer_memory.embed') = 'sync' and cardinality($4) > 0 then
        select array_agg(memory_whole_text(n.title, n.content) order by n.place), array_agg(n.place::integer order by n.place)
        into texts, places
        from unnest($3, $4, hashes) with ordinality n (title, content, hash, place)
        where not exists (
            select from memories m
            where m.namespace = $1
                and m.path = $2
                and m.content_hash = n.hash
        );
        if texts is not null then
            new_vectors := array_fill(null::text, array[cardinality($4)]);
            texts := memory_try_embed(texts)::text[];
            for i in 1..cardinality(places) loop
                new_vectors[places[i]] := texts[i];
            end loop;
        end if;
    end if;

    perform memory_lock_document($1, $2);

    -- Rows of the document that others are deleting by id are gone after this, and the rest stays.
    perform
    from memories m
    where m.namespace = $1
        and m.path = $2
    order by m.id
    for update;

    -- Which old row each new chunk is: the same text first, then the same heading, in order.
    target := array_fill(null::bigint, array[greatest(cardinality($4), 1)]);
    same := array_fill(false, array[greatest(cardinality($4), 1)]);
    for old in
        select m.id, m.content_hash
        from memories m
        where m.namespace = $1
            and m.path = $2
        order by m.chunk_index, m.id
    loop
        for i in 1..cardinality($4) loop
            if target[i] is null and hashes[i] = old.content_hash then
                target[i] := old.id;
                same[i] := true;
                exit;
            end if;
        end loop;
    end loop;
    for old in
        select m.id, m.title
        from memories m
        where m.namespace = $1
            and m.path = $2
            and not m.id = any (array_remove(target, null))
        order by m.chunk_index, m.id
    loop
        for i in 1..cardinality($4) loop
            if target[i] is null and $3[i] is not distinct from old.title then
                target[i] := old.id;
                exit;
            end if;
        end loop;
    end loop;

    delete from memories m
    where m.namespace = $1
        and m.path = $2
        and not m.id = any (array_remove(target, null));
    get diagnostics removed = row_count;

    -- Out of the way first: places may be exchanged.
    update memories m
    set chunk_index = -1 - m.chunk_index
    from unnest(target) with ordinality t (id, place)
    where m.id = t.id
        and m.chunk_index <> t.place - 1;

    -- The same text: place and properties only; its own tags stay.
    update memories m
    set chunk_index = t.place - 1,
        metadata = t.metadata,
        given_tags = $6,
        search = case when m.tags is distinct from w.tags then null else m.search end,
        occurred_at = t.occurred_at
    from unnest(target, same, $3, $4, $5, $7) with ordinality
        t (id, same, title, content, metadata, occurred_at, place)
    cross join lateral (
        select memory_merge_names(
            $6, array(select e.name from memory_extract(memory_whole_text(t.title, t.content)) e where e.kind = 'tag'), '{}'
        )
        offset 0
    ) w (tags)
    where m.id = t.id
        and t.same
        and (m.chunk_index, m.metadata, m.given_tags, m.tags, m.occurred_at)
            is distinct from (t.place::integer - 1, t.metadata, $6, w.tags, t.occurred_at);
    select count(*) filter (where t.same), count(*) filter (where t.id is not null and not t.same)
    into unchanged, updated
    from unnest(target, same) t (id, same);

    update memories m
    set chunk_index = t.place - 1,
        title = t.title,
        content = t.content,
        metadata = t.metadata,
        given_tags = $6,
        occurred_at = t.occurred_at,
        embedding = memory_vector(t.vector)
    from unnest(target, same, $3, $4, $5, $7, new_vectors) with ordinality
        t (id, same, title, content, metadata, occurred_at, vector, place)
    where m.id = t.id
        and not t.same;

    insert into memories (namespace, path, chunk_index, title, content, metadata, tags, occurred_at, embedding)
    select $1, $2, t.place - 1, t.title, t.content, t.metadata, $6, t.occurred_at, memory_vector(t.vector)
    from unnest(target, $3, $4, $5, $7, new_vectors) with ordinality
        t (id, title, content, metadata, occurred_at, vector, place)
    where t.id is null
        and t.content is not null
    order by t.place;
    get diagnostics added = row_count;
    return next;
end
$$;
comment on function @extschema@.memory_put_document(text, text, text[], text[], jsonb[], text[], timestamptz[]) is
    'Brings the memories of one document to the given chunks: embeds only what changed, keeps the ids of what did not';

create function @extschema@.memory_import(
    path text,
    content text,
    namespace text default null,
    metadata jsonb default '{}',
    occurred_at timestamptz default null,
    max_chars integer default null
)
returns table (added integer, updated integer, unchanged integer, removed integer)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    in_path text := memory_path($1);
    in_date date := memory_path_date(in_path);
    in_metadata jsonb := coalesce($4, '{}');
    in_tags text[] := '{}';
    document jsonb;
    titles text[];
    contents text[];
    chunks integer;
begin
    if in_path is null or in_path = '' then
        raise exception 'path must not be empty'
            using errcode = '22023', hint = 'The path names the document, for example memory/2026-02-19.md.';
    end if;
    if $2 is null then
        raise exception 'content must not be NULL'
            using errcode = '22023', hint = 'An empty text removes the document''s memories.';
    end if;

    select array_agg(s.title order by s.chunk_index),
        array_agg(s.chunk order by s.chunk_index),
        (array_agg(s.document))[1]
    into titles, contents, document
    from memory_split($2, in_path, $6) s;
    contents := coalesce(contents, '{}');
    chunks := cardinality(contents);
    if document is not null then
        if jsonb_typeof(document -> 'tags') = 'array' then
            select coalesce(array_agg(distinct t.tag), '{}')
            into in_tags
            from jsonb_array_elements_text(document -> 'tags') t (tag)
            where t.tag <> '';
        end if;
        in_metadata := document || in_metadata;
    end if;
    if in_date is not null then
        in_metadata := jsonb_build_object('date', in_date::text) || in_metadata;
    end if;
    return query
    select p.added, p.updated, p.unchanged, p.removed
    from memory_put_document(
        coalesce($3, memory_default_namespace()), in_path, titles, contents,
        array_fill(in_metadata, array[chunks]), in_tags,
        array_fill(coalesce($5, (in_date + time '12:00') at time zone 'UTC'), array[chunks])
    ) p;
end
$$;
comment on function @extschema@.memory_import(text, text, text, jsonb, timestamptz, integer) is
    'Imports one Markdown or text file: idempotent by content, embeds only changed chunks, keeps the ids of unchanged ones';

create function @extschema@.memory_import(
    path text,
    content bytea,
    namespace text default null,
    metadata jsonb default '{}',
    occurred_at timestamptz default null,
    max_chars integer default null
)
returns table (added integer, updated integer, unchanged integer, removed integer)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    decoded text;
begin
    if position('\x00'::bytea in $2) > 0 then
        raise exception 'file "%" holds a NUL byte', left($1, 200)
            using errcode = '22021',
                  hint = 'It is not a text file, or it is in UTF-16: convert it to UTF-8 first, for example with iconv.';
    end if;
    begin
        decoded := convert_from($2, 'UTF8');
    exception
        when character_not_in_repertoire or untranslatable_character then
            raise exception 'file "%" is not valid UTF-8', left($1, 200)
                using errcode = '22021',
                      detail = sqlerrm,
                      hint = 'Convert the file to UTF-8 first, for example with iconv.';
    end;
    return query
    select i.added, i.updated, i.unchanged, i.removed
    from memory_import($1, decoded, $3, $4, $5, $6) i;
end
$$;
comment on function @extschema@.memory_import(text, bytea, text, jsonb, timestamptz, integer) is
    'Imports the bytes of one file; an error with SQLSTATE 22021 if they are not UTF-8';

create function @extschema@.memory_forget(
    ids bigint[] default null,
    path text default null,
    namespace text default null,
    filter jsonb default null
)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    forgotten bigint;
begin
    if $1 is null and $2 is null and coalesce($4, '{}') = '{}' then
        raise exception 'memory_forget needs ids, a path or a filter'
            using errcode = '22023',
                  hint = 'To forget a whole namespace: delete from memories where namespace = ''…''.';
    end if;
    if $2 is not null and $3 is distinct from '*' then
        -- A document that is being imported is forgotten whole, before or after.
        perform memory_lock_document(coalesce($3, memory_default_namespace()), memory_path($2));
    end if;
    delete from memories m
    where ($1 is null or m.id = any ($1))
        and ($2 is null or m.path = memory_path($2))
        and (case
                when $3 = '*' or ($3 is null and $1 is not null) then true
                else m.namespace = coalesce($3, memory_default_namespace())
            end)
        and ($4 is null or m.metadata @> $4);
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
comment on function @extschema@.memory_forget(bigint[], text, text, jsonb) is
    'Deletes memories by ids, path or metadata; all that are given must hold. Returns how many';

create function @extschema@.memory_forget(id bigint)
returns bigint
language plpgsql volatile strict parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
    return memory_forget(array[$1]);
end
$$;
comment on function @extschema@.memory_forget(bigint) is 'Deletes one memory. Returns 1, or 0 if it was not there';

create function @extschema@.memory_prune(existing_paths text[], namespace text default null, path_prefix text default null)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    pruned bigint;
    kept text[];
begin
    if $1 is null then
        raise exception 'existing_paths must not be NULL'
            using errcode = '22023', hint = 'Pass the paths that still exist; an empty array removes all documents.';
    end if;
    select array_agg(memory_path(p.path)) into kept from unnest($1) p (path);
    -- A document that is being imported goes whole, before or after.
    perform memory_lock_document(d.namespace, d.path)
    from (
        select distinct m.namespace, m.path
        from memories m
        where ($2 = '*' or m.namespace = coalesce($2, memory_default_namespace()))
            and ($3 is null or starts_with(m.path, $3))
            and not exists (select from unnest(kept) k (path) where k.path = m.path)
            and m.path is not null
        order by m.namespace, m.path
    ) d;
    delete from memories m
    where m.path is not null
        and ($2 = '*' or m.namespace = coalesce($2, memory_default_namespace()))
        and ($3 is null or starts_with(m.path, $3))
        and not exists (select from unnest(kept) k (path) where k.path = m.path);
    get diagnostics pruned = row_count;
    return pruned;
end
$$;
comment on function @extschema@.memory_prune(text[], text, text) is
    'Deletes the memories of documents that no longer exist, given those that do. Rows without a path stay. Returns how many';

create function @extschema@.memory_use_model(name text)
returns bigint
language plpgsql volatile strict parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_variable
declare
    dims integer := memory_check_model(name);
    stale bigint;
begin
    perform memory_index_model(name);
    insert into memory_options as o (name, value)
    values ('model', name)
    on conflict on constraint memory_options_pkey do update
    set value = excluded.value;
    select count(*)
    into stale
    from memories m
    where m.model is distinct from name;
    update memories m set embed_error = null where m.embed_error is not null;
    if stale > 0 then
        raise notice 'model is now "%" with % dimensions; % memories are embedded again by the background worker, or at once by memory_backfill()',
            name, dims, stale;
        perform memory_announce_pending();
    end if;
    return stale;
end
$$;
comment on function @extschema@.memory_use_model(text) is
    'Changes the model of the store. Vectors of the old model are no longer compared; returns how many memories need a new one';
