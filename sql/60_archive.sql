-- Archive: what was said, word for word, once, in order. Table conversations is the user's, like memories
-- (40_store.sql), and no search of memories ever reads it.
--
-- What must hold: one message is stored once, whoever delivers it and however often. conv_find() is the one
-- place that decides whether a message is there already; conv_append(), conv_import() and the trigger of
-- the table ask it, each behind conv_lock(), so that two sessions cannot both find nothing.

create function @extschema@.conv_fingerprint(content text)
returns bigint
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'conv_fingerprint_wrapper';
comment on function @extschema@.conv_fingerprint(text) is
    'Hash of a message''s text without what only some pipelines add: envelope blocks and a leading [[tag]]';

-- Sources whose message ids are unique over all sessions; elsewhere an id means something within its session.
create function @extschema@.conv_global_ids(source text)
returns boolean
language sql immutable parallel safe
return coalesce(source operator(pg_catalog.=) 'claude_code', false);
comment on function @extschema@.conv_global_ids(text) is
    'Whether message ids of a source are unique over all its sessions: a resumed Claude Code session repeats the lines of the one before';

create function @extschema@.conv_lock_numbers(session_key text, source text)
returns integer[]
language sql immutable parallel safe
return array(
    -- 1,024 locks and not one a session: an import may bring more sessions than the lock table has room for.
    select (pg_catalog.hashtextextended(k.name, 0) operator(pg_catalog.&) 1023)::pg_catalog.int4
    from (
        select session_key
        union all
        select source where @extschema@.conv_global_ids(source)
    ) k (name)
    order by 1
);
comment on function @extschema@.conv_lock_numbers(text, text) is
    'Advisory locks a writer of this session takes, ascending';

create function @extschema@.conv_lock(numbers integer[])
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
    number integer;
begin
    -- Ascending, so that two writers never wait for each other. The class number is arbitrary and ours.
    for number in select distinct n from unnest(numbers) n order by 1 loop
        perform pg_advisory_xact_lock(1936551790, number);
    end loop;
end
$$;
comment on function @extschema@.conv_lock(integer[]) is
    'Makes writers of one session take turns until their transactions end';

-- Not strict, as message_id and source may be NULL, and no `set`: both would keep it from being inlined into the
-- statement of an import. Nothing is sorted: whichever copy is found first will do. Each branch leaves one index to
-- choose: no other column is compared bare, and `coalesce` keeps from the planner that there is an id, which would
-- allow a partial index. Statistics that saw an empty table make every index look alike, and one that narrows little
-- would be walked from end to end for each message.
create function @extschema@.conv_find(
    session_key text,
    role text,
    fingerprint bigint,
    "timestamp" timestamptz,
    message_id text,
    source text,
    content text default null,
    part_of text default null,
    session_id text default null
)
returns setof bigint
language sql stable parallel safe rows 1
as $$
    -- The same id in the same session. Two pipelines may number their messages alike; then the text decides. A chat
    -- that is begun anew keeps its key and has another id.
    select c.id
    from @extschema@.conversations c
    where pg_catalog.hashtextextended(c.session_key, coalesce(pg_catalog.hashtextextended(c.message_id, 0), 0))
            operator(pg_catalog.=) pg_catalog.hashtextextended($1, pg_catalog.hashtextextended($5, 0))
        and coalesce(c.message_id, '') operator(pg_catalog.=) $5
        and (c.session_key operator(pg_catalog.||) '') operator(pg_catalog.=) $1
        and (
            $9 is null
            or c.metadata operator(pg_catalog.->>) 'session_id' is null
            or c.metadata operator(pg_catalog.->>) 'session_id' operator(pg_catalog.=) $9
        )
        and (
            c.source is null
            or $6 is null
            or c.source operator(pg_catalog.=) $6
            or c.fingerprint operator(pg_catalog.=) $3
        )
    union all
    -- The same id in any session, for sources whose ids are unique over all.
    select c.id
    from @extschema@.conversations c
    where c.message_id operator(pg_catalog.=) $5
        and @extschema@.conv_global_ids(c.source)
        and @extschema@.conv_global_ids($6)
        and (c.source operator(pg_catalog.=) $6 or c.fingerprint operator(pg_catalog.=) $3)
    union all
    -- A shorter snapshot of an API message that is there in full.
    select c.id
    from @extschema@.conversations c
    where pg_catalog.hashtextextended(c.metadata operator(pg_catalog.->>) 'api_message_id', 0)
            operator(pg_catalog.=) pg_catalog.hashtextextended($8, 0)
        and c.metadata operator(pg_catalog.->>) 'api_message_id' operator(pg_catalog.=) $8
        and c.source operator(pg_catalog.=) $6
        and pg_catalog.starts_with(c.content, $7)
    union all
    -- Without an id in common: the same words within five seconds. At the ends of time there is nothing beyond.
    select c.id
    from @extschema@.conversations c
    where pg_catalog.hashtextextended(c.session_key, c.fingerprint)
            operator(pg_catalog.=) pg_catalog.hashtextextended($1, $3)
        and pg_catalog.timezone('UTC', c."timestamp") operator(pg_catalog.>=) pg_catalog.timezone('UTC', (
            greatest($4, '4714-11-24 00:00:05+00 BC'::pg_catalog.timestamptz) operator(pg_catalog.-) interval '5 seconds'
        ))
        and pg_catalog.timezone('UTC', c."timestamp") operator(pg_catalog.<=) pg_catalog.timezone('UTC', (
            least($4, '294276-12-31 23:59:54.999999+00'::pg_catalog.timestamptz) operator(pg_catalog.+) interval '5 seconds'
        ))
        and (c.session_key operator(pg_catalog.||) '') operator(pg_catalog.=) $1
        and c.role operator(pg_catalog.=) $2
        and c.fingerprint operator(pg_catalog.=) $3
        and (
            c.message_id is null
            or $5 is null
            or not coalesce(c.source operator(pg_catalog.=) $6, c.source is null and $6 is null)
        )
    limit 1;
$$;
comment on function @extschema@.conv_find(text, text, bigint, timestamptz, text, text, text, text, text) is
    'The stored message this one is a copy of: the same id, or, without an id in common, the same words within five seconds; NULL if there is none';

create function @extschema@.conv_session(session_key text, session_id text)
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    name text := coalesce($2, $1);
    known text;
begin
    -- A transcript knows the id of its session, hooks know its key, and some histories both. Of one key there are
    -- several ids when a chat was begun anew, so that a key that is there says nothing of this id.
    if name <> $1 then
        select c.session_key
        into known
        from conversations c
        where hashtextextended(c.metadata ->> 'session_id', 0) = hashtextextended(name, 0)
            and c.session_key = $1
            and c.metadata ->> 'session_id' = name
            and c.metadata ->> 'session_id' <> c.session_key
        limit 1;
    end if;
    if known is null then
        -- By its order no index but the session's will do.
        select c.session_key
        into known
        from conversations c
        where c.session_key = name
        order by c.session_key, c."timestamp", c.id
        limit 1;
    end if;
    if known is null then
        select c.session_key
        into known
        from conversations c
        where hashtextextended(c.metadata ->> 'session_id', 0) = hashtextextended(name, 0)
            and c.metadata ->> 'session_id' = name
            and c.metadata ->> 'session_id' <> c.session_key
        order by c.session_key
        limit 1;
    end if;
    return coalesce(known, $1);
end
$$;
comment on function @extschema@.conv_session(text, text) is
    'The key a session is stored under: its key, or another one if messages of the same session id are there under it';

create function @extschema@.conv_claim(keys text[], ids text[], sources text[])
returns table (session_key text, session_id text, stored_key text)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    wanted integer[] := '{}';
    needed integer[];
begin
    -- All locks at once and ascending, those of the keys that sessions are stored under too. Whoever was waited for
    -- may have stored one under yet another key: then everything is let go, which the end of the block does, and
    -- taken anew.
    loop
        select array_agg(distinct l.number)
        into needed
        from unnest($1, $2) s (key, id)
        cross join unnest(array[s.key, s.id, conv_session(s.key, s.id)]) k (name)
        cross join unnest($3 || null::text) o (source)
        cross join unnest(conv_lock_numbers(k.name, o.source)) l (number)
        where k.name is not null;
        wanted := wanted || needed;
        begin
            perform conv_lock(wanted);
            select array_agg(distinct l.number)
            into needed
            from unnest($1, $2) s (key, id)
            cross join unnest(conv_lock_numbers(conv_session(s.key, s.id), null)) l (number);
            if needed is null or needed <@ wanted then
                return query select s.key, s.id, conv_session(s.key, s.id) from unnest($1, $2) s (key, id);
                return;
            end if;
            raise exception using errcode = 'SM001';
        exception
            when sqlstate 'SM001' then
                wanted := wanted || needed;
        end;
    end loop;
end
$$;
comment on function @extschema@.conv_claim(text[], text[], text[]) is
    'Takes the locks of all sessions of a history, and tells under which keys they are stored';

create function @extschema@.conv_indexed()
returns boolean
language sql stable parallel safe
as $$
    select not exists (
        select from @extschema@.memory_options o
        where o.name operator(pg_catalog.=) 'conversation_search'
            and o.value operator(pg_catalog.=) 'off'
    );
$$;
comment on function @extschema@.conv_indexed() is 'Whether messages are indexed for conv_search()';

create function @extschema@.conv_derive()
returns trigger
language plpgsql
set search_path = pg_catalog, @extschema@, pg_temp
-- One statement may bring many rows into an empty table: the plan must be right for what it grows to.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
    new.fingerprint := conv_fingerprint(new.content);
    -- A NULL where there must be none is refused by its constraint, which names the column.
    if tg_op = 'INSERT' and new.session_key is not null and new.role is not null and new.content is not null
        and new."timestamp" is not null
    then
        perform conv_lock(conv_lock_numbers(new.session_key, new.source));
        if exists (
            select from conv_find(
                new.session_key, new.role, new.fingerprint, new."timestamp", new.message_id, new.source,
                session_id => new.metadata ->> 'session_id'
            )
        ) then
            return null;
        end if;
    end if;
    new.search := case when conv_indexed() then memory_tsvector(null, new.content) end;
    new.token_count := memory_token_count(new.search);
    return new;
end
$$;
comment on function @extschema@.conv_derive() is
    'Trigger of conversations for new rows without a fingerprint and for changed texts: leaves out a message that is there already, fills fingerprint and words';

create function @extschema@.conv_init()
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
set client_min_messages = warning
as $$
declare
    lacking text;
    definition text;
begin
    perform memory_check_owner('conversations');
    select string_agg(format('"%s"', c.name), ', ' order by c.place)
    into lacking
    from unnest(array[
        'id', 'session_key', 'role', 'content', 'timestamp', 'message_id', 'source', 'channel', 'sender', 'metadata',
        'raw', 'fingerprint', 'search', 'token_count'
    ]) with ordinality c (name, place)
    where not exists (
        select from pg_attribute a
        where a.attrelid = to_regclass('@extschema@.conversations')
            and a.attname = c.name
            and not a.attisdropped
    );
    if to_regclass('@extschema@.conversations') is not null and lacking is not null then
        raise exception 'table "conversations" is not the archive''s: it lacks %', lacking
            using errcode = '55000',
                  hint = 'Rename it or move it to another schema, then run this again.';
    end if;
    if to_regclass('@extschema@.conversations') is null then
        create table @extschema@.conversations (
            id bigint generated by default as identity,
            session_key text collate "C" not null,
            role text not null,
            content text not null,
            "timestamp" timestamptz not null default clock_timestamp(),
            message_id text collate "C",
            source text,
            channel text,
            sender text,
            metadata jsonb not null default '{}',
            raw text,
            fingerprint bigint,
            search tsvector,
            token_count integer,
            -- With the time, as a table partitioned by time needs it.
            constraint conversations_pkey primary key (id, "timestamp"),
            -- Bytes, for the limit of an index entry.
            constraint conversations_session_key_check check (octet_length(session_key) between 1 and 2000),
            constraint conversations_role_check check (role <> ''),
            constraint conversations_timestamp_check check (isfinite("timestamp")),
            constraint conversations_message_id_check check (octet_length(message_id) between 1 and 500),
            constraint conversations_metadata_check check (jsonb_typeof(metadata) = 'object')
        );
    end if;
    comment on table @extschema@.conversations is
        'What was said, one row a message, word for word. Not searched by memory_search()';
    comment on column @extschema@.conversations.id is 'Number of the message';
    comment on column @extschema@.conversations.session_key is 'Conversation it belongs to, at most 2,000 bytes, compared byte by byte';
    comment on column @extschema@.conversations.role is 'Who speaks: user, assistant, …';
    comment on column @extschema@.conversations.content is 'The text, verbatim';
    comment on column @extschema@.conversations."timestamp" is 'When it was said';
    comment on column @extschema@.conversations.message_id is 'Its id where it comes from; decides first whether two deliveries are one message';
    comment on column @extschema@.conversations.source is 'Pipeline it came through: openclaw, claude_code, chatgpt, …';
    comment on column @extschema@.conversations.channel is 'Where it was said: telegram, feishu, …';
    comment on column @extschema@.conversations.sender is 'Who said it, as the channel names them';
    comment on column @extschema@.conversations.metadata is 'Anything else about the message';
    comment on column @extschema@.conversations.raw is 'The line it was read from, if the import was asked to keep it';
    comment on column @extschema@.conversations.fingerprint is 'conv_fingerprint(content); a row that brings one is not compared with those that are there';
    comment on column @extschema@.conversations.search is 'Words of the text; NULL while conversation search is off';
    comment on column @extschema@.conversations.token_count is 'Number of words, the length for BM25';

    foreach definition in array array[
        'index conversations_session_idx on @extschema@.conversations (session_key, "timestamp", id)',
        'index conversations_time_idx on @extschema@.conversations ("timestamp", session_key)',
        'index conversations_message_id_idx on @extschema@.conversations (message_id, session_key) where message_id is not null',
        -- Those of conv_find() and conv_session(). Hashes, as texts may be longer than an index entry.
        'index conversations_identity_idx on @extschema@.conversations (hashtextextended(session_key, coalesce(hashtextextended(message_id, 0), 0)))',
        'index conversations_words_idx on @extschema@.conversations (hashtextextended(session_key, fingerprint), timezone(''UTC'', "timestamp"))',
        'index conversations_api_message_idx on @extschema@.conversations (hashtextextended(metadata ->> ''api_message_id'', 0)) where metadata ->> ''api_message_id'' is not null',
        'index conversations_session_name_idx on @extschema@.conversations (hashtextextended(metadata ->> ''session_id'', 0), session_key) where metadata ->> ''session_id'' <> session_key'
    ] loop
        if to_regclass('@extschema@.' || substring(definition from 'index (\w+)')) is null then
            execute 'create ' || definition;
        end if;
    end loop;
    -- Those of a table made earlier: they refuse rows with a long id.
    drop index if exists @extschema@.conversations_part_idx, @extschema@.conversations_session_id_idx;
    if conv_indexed() and to_regclass('@extschema@.conversations_search_idx') is null then
        create index conversations_search_idx on @extschema@.conversations using gin (search);
    end if;

    -- A row that brings its fingerprint is from an import or a dump, and taken as it is.
    create or replace trigger conv_derive
    before insert on @extschema@.conversations
    for each row when (new.fingerprint is null)
    execute function @extschema@.conv_derive();
    create or replace trigger conv_derive_again
    before update on @extschema@.conversations
    for each row when (new.content is distinct from old.content)
    execute function @extschema@.conv_derive();
    update @extschema@.conversations c
    set fingerprint = conv_fingerprint(c.content),
        search = w.search,
        token_count = memory_token_count(w.search)
    from @extschema@.conversations o
    cross join lateral (select case when conv_indexed() then memory_tsvector(null, o.content) end offset 0) w (search)
    where c.fingerprint is null
        and (o.id, o."timestamp") = (c.id, c."timestamp");
end
$$;
comment on function @extschema@.conv_init() is
    'Creates table conversations, or adopts the one that is there: adds what is missing and changes no content';

create function @extschema@.conv_append(
    session_key text,
    role text,
    content text,
    "timestamp" timestamptz default null,
    message_id text default null,
    source text default null,
    channel text default null,
    sender text default null,
    metadata jsonb default '{}'
)
returns table (id bigint, added boolean)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
-- As in conv_derive().
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    said_at timestamptz := coalesce($4, clock_timestamp());
    print bigint := conv_fingerprint($3);
    words tsvector;
begin
    if coalesce($1, '') = '' then
        raise exception 'session_key must not be empty'
            using errcode = '22023', hint = 'It names the conversation, for example agent:main:main.';
    end if;
    if octet_length($1) > 2000 then
        raise exception 'session_key has % bytes, the limit is 2000', octet_length($1)
            using errcode = '22023', hint = 'Use a shorter key, for example a hash of this one.';
    end if;
    if coalesce($2, '') = '' then
        raise exception 'role must not be empty'
            using errcode = '22023', hint = 'It says who speaks, for example user or assistant.';
    end if;
    if $3 is null then
        raise exception 'content must not be NULL'
            using errcode = '22023', hint = 'An empty text is kept as a message without words.';
    end if;
    if octet_length($5) > 500 then
        raise exception 'message_id has % bytes, the limit is 500', octet_length($5)
            using errcode = '22023', hint = 'Use a shorter id, for example a hash of this one.';
    end if;
    if not isfinite($4) then
        raise exception 'timestamp must be finite'
            using errcode = '22023', hint = 'Leave it out for the present time.';
    end if;
    if jsonb_typeof($9) <> 'object' then
        raise exception 'metadata must be a JSON object'
            using errcode = '22023', hint = 'For example {"lang": "zh"}.';
    end if;
    perform conv_lock(conv_lock_numbers($1, $6));
    select f
    into id
    from conv_find($1, $2, print, said_at, nullif($5, ''), $6, session_id => $9 ->> 'session_id') f;
    added := id is null;
    if added then
        if conv_indexed() then
            words := memory_tsvector(null, $3);
        end if;
        insert into conversations as c (
            session_key, role, content, "timestamp", message_id, source, channel, sender, metadata, fingerprint,
            search, token_count
        )
        values (
            $1, $2, $3, said_at, nullif($5, ''), $6, $7, $8, coalesce($9, '{}'), print,
            words, memory_token_count(words)
        )
        returning c.id into id;
    end if;
    return next;
end
$$;
comment on function @extschema@.conv_append(text, text, text, timestamptz, text, text, text, text, jsonb) is
    'Stores one message, at clock_timestamp() if no time is given, unless it is there already. Returns its id and whether it is new';

create function @extschema@.conv_import(
    data bytea,
    format text default 'auto',
    session_key text default null,
    source text default null,
    time_zone text default 'UTC',
    channel text default null,
    keep_raw boolean default false,
    strict boolean default false
)
returns table (
    added bigint,
    updated bigint,
    duplicates bigint,
    skipped bigint,
    bad bigint,
    pending bigint,
    report jsonb
)
language c volatile parallel unsafe rows 1
as 'MODULE_PATHNAME', 'conv_import_wrapper';
comment on function @extschema@.conv_import(bytea, text, text, text, text, text, boolean, boolean) is
    'Reads a chat history: openclaw, openclaw_hooks, claude_code, chatgpt, openai or anthropic; zstd-compressed as well. Adds what is new; report tells what was skipped by which rule, and bad lines with number and reason';

create function @extschema@.conv_import(
    data text,
    format text default 'auto',
    session_key text default null,
    source text default null,
    time_zone text default 'UTC',
    channel text default null,
    keep_raw boolean default false,
    strict boolean default false
)
returns table (
    added bigint,
    updated bigint,
    duplicates bigint,
    skipped bigint,
    bad bigint,
    pending bigint,
    report jsonb
)
language sql volatile parallel unsafe rows 1
as $$
    select i.added, i.updated, i.duplicates, i.skipped, i.bad, i.pending, i.report
    from @extschema@.conv_import(
        pg_catalog.convert_to(data, 'UTF8'), format, session_key, source, time_zone, channel, keep_raw, strict
    ) i;
$$;
comment on function @extschema@.conv_import(text, text, text, text, text, text, boolean, boolean) is
    'Reads a chat history given as text; see the function of the same name for bytes';

create function @extschema@.conv_sessions(k integer, session_prefix text)
returns setof text
language plpgsql stable parallel restricted
set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
    reach integer;
    keys text[];
    settled boolean;
begin
    -- The newest messages name the newest sessions. Only where they are of too few is every session visited,
    -- each by one descent of the index.
    if session_prefix is null then
        foreach reach in array array[3000, 10000, 30000, 100000] loop
            with newest as materialized (
                select c.session_key, c."timestamp"
                from conversations c
                order by c."timestamp" desc, c.session_key desc
                limit reach
            )
            select array_agg(s.session_key order by s.last_at desc, s.session_key),
                -- At the time where the reach ends there may be sessions beyond it.
                min(s.last_at) > (select min(n."timestamp") from newest n)
            into keys, settled
            from (
                select n.session_key, max(n."timestamp") as last_at
                from newest n
                group by n.session_key
                order by last_at desc, n.session_key
                limit k
            ) s;
            if cardinality(keys) >= k and settled then
                return query select unnest(keys);
                return;
            end if;
        end loop;
    end if;
    return query
    with recursive walk as (
        (
            select c.session_key
            from conversations c
            where session_prefix is null or c.session_key >= session_prefix
            order by c.session_key
            limit 1
        )
        union all
        select (
            select c.session_key
            from conversations c
            where c.session_key > w.session_key
            order by c.session_key
            limit 1
        )
        from walk w
        where w.session_key is not null
            and (session_prefix is null or starts_with(w.session_key, session_prefix))
    )
    select w.session_key
    from walk w
    cross join lateral (
        select c."timestamp"
        from conversations c
        where c.session_key = w.session_key
        order by c.session_key desc, c."timestamp" desc, c.id desc
        limit 1
    ) l (last_at)
    where session_prefix is null
        or starts_with(w.session_key, session_prefix)
    order by l.last_at desc, w.session_key
    limit k;
end
$$;
comment on function @extschema@.conv_sessions(integer, text) is 'Keys of the k sessions with the newest messages, newest first';

create function @extschema@.conv_list(k integer default 50, session_prefix text default null)
returns table (
    session_key text,
    preview text,
    messages bigint,
    first_at timestamptz,
    last_at timestamptz
)
language plpgsql stable parallel restricted rows 50
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
    if $1 is null or $1 < 0 then
        raise exception 'k must not be negative or NULL'
            using errcode = '22023', hint = 'k is the number of sessions to list.';
    end if;
    return query
    select s.session_key, p.preview, n.messages, n.first_at, n.last_at
    from conv_sessions($1, $2) with ordinality s (session_key, place)
    cross join lateral (
        select count(*), min(c."timestamp"), max(c."timestamp")
        from conversations c
        where c.session_key = s.session_key
    ) n (messages, first_at, last_at)
    left join lateral (
        -- The first thing the person said, else the first thing said at all.
        select left(regexp_replace(left(o.content, 1000), '\s+', ' ', 'g'), 100)
        from (
            select f.content
            from (
                select c.role, c.content, c."timestamp", c.id
                from conversations c
                where c.session_key = s.session_key
                order by c."timestamp", c.id
                limit 20
            ) f
            order by f.role <> 'user', f."timestamp", f.id
            limit 1
        ) o
    ) p (preview) on true
    order by s.place;
end
$$;
comment on function @extschema@.conv_list(integer, text) is
    'The k sessions with the newest messages, newest first: first words of the person, number of messages, first and last time';

create function @extschema@.conv_get(
    session_key text,
    k integer default null,
    since timestamptz default null,
    until timestamptz default null
)
returns table (
    id bigint,
    role text,
    content text,
    "timestamp" timestamptz,
    message_id text,
    source text,
    channel text,
    sender text,
    metadata jsonb
)
language plpgsql stable parallel safe rows 100
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
    if $2 < 0 then
        raise exception 'k must not be negative, not %', $2
            using errcode = '22023', hint = 'k is the number of newest messages to return; NULL returns all.';
    end if;
    return query
    select m.id, m.role, m.content, m."timestamp", m.message_id, m.source, m.channel, m.sender, m.metadata
    from (
        select c.id, c.role, c.content, c."timestamp", c.message_id, c.source, c.channel, c.sender, c.metadata
        from conversations c
        where c.session_key = $1
            and c."timestamp" >= coalesce($3, '-infinity')
            and c."timestamp" < coalesce($4, 'infinity')
        order by c."timestamp" desc, c.id desc
        limit $2
    ) m
    order by m."timestamp", m.id;
end
$$;
comment on function @extschema@.conv_get(text, integer, timestamptz, timestamptz) is
    'A conversation by time, then id: all of it, the k newest messages, or those of [since, until)';

create function @extschema@.conv_stats()
returns table (
    messages bigint,
    sessions bigint,
    first_at timestamptz,
    last_at timestamptz,
    by_role jsonb,
    by_source jsonb,
    table_size text,
    index_size text
)
language sql stable parallel safe
as $$
    with counted as (
        select c.role, c.source, pg_catalog.count(*) as messages,
            pg_catalog.min(c."timestamp") as first_at, pg_catalog.max(c."timestamp") as last_at
        from @extschema@.conversations c
        group by c.role, c.source
    )
    select coalesce(pg_catalog.sum(n.messages), 0)::pg_catalog.int8,
        (select pg_catalog.count(*) from (select distinct c.session_key from @extschema@.conversations c) s),
        pg_catalog.min(n.first_at),
        pg_catalog.max(n.last_at),
        coalesce((
            select pg_catalog.jsonb_object_agg(r.role, r.messages)
            from (select c.role, pg_catalog.sum(c.messages) from counted c group by c.role) r (role, messages)
        ), '{}'),
        coalesce((
            select pg_catalog.jsonb_object_agg(r.source, r.messages)
            from (
                select coalesce(c.source, ''), pg_catalog.sum(c.messages) from counted c group by 1
            ) r (source, messages)
        ), '{}'),
        pg_catalog.pg_size_pretty(pg_catalog.pg_table_size('@extschema@.conversations'::pg_catalog.regclass)),
        pg_catalog.pg_size_pretty(pg_catalog.pg_indexes_size('@extschema@.conversations'::pg_catalog.regclass))
    from counted n;
$$;
comment on function @extschema@.conv_stats() is
    'The archive in numbers: messages, sessions, first and last time, messages by role and by source, sizes';

create function @extschema@.conv_rank(
    query text,
    k integer,
    session_key text,
    role text,
    since timestamptz,
    until timestamptz
)
returns table (id bigint, score double precision)
language c stable parallel restricted cost 10000 rows 10
as 'MODULE_PATHNAME', 'conv_rank_wrapper';
comment on function @extschema@.conv_rank(text, integer, text, text, timestamptz, timestamptz) is
    'Ids and BM25 scores of the k messages that answer a query best, best first; see conv_search()';

create function @extschema@.conv_search(
    query text,
    k integer default 10,
    session_key text default null,
    role text default null,
    since timestamptz default null,
    until timestamptz default null
)
returns table (
    id bigint,
    session_key text,
    role text,
    content text,
    "timestamp" timestamptz,
    score double precision,
    source text,
    channel text,
    sender text
)
language sql stable parallel restricted rows 10
as $$
    select c.id, c.session_key, c.role, c.content, c."timestamp", r.score, c.source, c.channel, c.sender
    from @extschema@.conv_rank($1, $2, $3, $4, $5, $6) with ordinality r (id, score, place)
    join @extschema@.conversations c on c.id operator(pg_catalog.=) r.id
    order by r.place;
$$;
comment on function @extschema@.conv_search(text, integer, text, text, timestamptz, timestamptz) is
    'The k messages that answer a query best by BM25 over the words of configuration jieba; any word is enough';

create function @extschema@.conv_index(enabled boolean default true)
returns bigint
language plpgsql volatile strict parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
set client_min_messages = warning
as $$
declare
    changed bigint := 0;
begin
    insert into memory_options as o (name, value)
    values ('conversation_search', case when enabled then 'on' else 'off' end)
    on conflict on constraint memory_options_pkey do update
    set value = excluded.value;
    if enabled then
        update conversations c
        set search = w.search,
            token_count = memory_token_count(w.search)
        from conversations o
        cross join lateral (select memory_tsvector(null, o.content) offset 0) w (search)
        where (o.id, o."timestamp") = (c.id, c."timestamp")
            and c.search is distinct from w.search;
        get diagnostics changed = row_count;
        create index if not exists conversations_search_idx on @extschema@.conversations using gin (search);
    else
        drop index if exists @extschema@.conversations_search_idx;
    end if;
    return changed;
end
$$;
comment on function @extschema@.conv_index(boolean) is
    'Switches conversation search on, reading the words of all messages, or off, dropping its index. Returns how many messages were read';

create function @extschema@.conv_path(session_key text)
returns text
language sql immutable strict parallel safe
return 'conversation/' operator(pg_catalog.||) case
    when session_key in ('.', '..') then pg_catalog.replace(session_key, '.', '%2E')
    else pg_catalog.replace(pg_catalog.replace(session_key, '%', '%25'), '/', '%2F')
end;
comment on function @extschema@.conv_path(text) is 'Path of the memories made of a conversation';

create function @extschema@.conv_to_memory(
    session_key text,
    namespace text default null,
    path text default null,
    since timestamptz default null,
    until timestamptz default null,
    roles text[] default '{user,assistant}',
    max_chars integer default null,
    metadata jsonb default '{}'
)
returns table (added integer, updated integer, unchanged integer, removed integer)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    most integer := coalesce($7, current_setting('summer_memory.chunk_chars')::integer);
    message record;
    part record;
    line text;
    chunk text := '';
    chunk_ids bigint[] := '{}';
    chunk_at timestamptz;
    titles text[] := '{}';
    contents text[] := '{}';
    occurred timestamptz[] := '{}';
    properties jsonb[] := '{}';
    closing boolean;
begin
    if coalesce($1, '') = '' then
        raise exception 'session_key must not be empty'
            using errcode = '22023', hint = 'conv_list() lists the conversations there are.';
    end if;
    if $7 <= 0 then
        raise exception 'max_chars must be positive, not %', $7
            using errcode = '22023', hint = 'It is the most characters a memory may have.';
    end if;
    if jsonb_typeof($8) <> 'object' then
        raise exception 'metadata must be a JSON object'
            using errcode = '22023', hint = 'For example {"lang": "zh"}.';
    end if;
    -- Without a path, conversations would take each other's place.
    if $3 is not null and coalesce(memory_path($3), '') = '' then
        raise exception 'path must not be empty'
            using errcode = '22023', hint = 'Leave it out for conversation/ and the key of the session.';
    end if;
    if $4 >= $5 then
        raise exception 'since must be before until'
            using errcode = '22023', hint = 'They name the messages from since on and before until.';
    end if;
    -- One row more than there are messages, to write the last chunk.
    for message in
        select c.id, c.role, c.content, c."timestamp" as said_at
        from conversations c
        where c.session_key = $1
            and c."timestamp" >= coalesce($4, '-infinity')
            and c."timestamp" < coalesce($5, 'infinity')
            and ($6 is null or c.role = any ($6))
            and c.content ~ '\S'
        union all
        select null, null, null, 'infinity'
        order by said_at, id nulls last
    loop
        line := message.role || ': ' || message.content;
        -- A chunk ends when it is full, and where a new question begins once it is half full.
        closing := chunk <> '' and (
            message.id is null
            or length(chunk) + length(line) + 1 > most
            or message.role = 'user' and length(chunk) > most / 2
        );
        if closing then
            titles := titles || to_char(chunk_at at time zone 'UTC', 'YYYY-MM-DD');
            contents := contents || chunk;
            occurred := occurred || chunk_at;
            properties := properties || jsonb_build_object('session', $1, 'messages', to_jsonb(chunk_ids));
            chunk := '';
            chunk_ids := '{}';
        end if;
        if message.id is null then
            exit;
        end if;
        if length(line) > most then
            -- Too long for one memory: pieces of its own.
            for part in select s.chunk from memory_split(line, 'message.txt', most) s order by s.chunk_index loop
                titles := titles || to_char(message.said_at at time zone 'UTC', 'YYYY-MM-DD');
                contents := contents || part.chunk;
                occurred := occurred || message.said_at;
                properties := properties || jsonb_build_object('session', $1, 'messages', jsonb_build_array(message.id));
            end loop;
        else
            if chunk = '' then
                chunk := line;
                chunk_at := message.said_at;
            else
                chunk := chunk || chr(10) || line;
            end if;
            chunk_ids := chunk_ids || message.id;
        end if;
    end loop;
    return query
    select p.added, p.updated, p.unchanged, p.removed
    from memory_put_document(
        coalesce($2, memory_default_namespace()), memory_path(coalesce($3, conv_path($1))), titles, contents,
        array(select coalesce($8, '{}') || e.property from unnest(properties) with ordinality e (property, place) order by e.place),
        '{}', occurred
    ) p;
end
$$;
comment on function @extschema@.conv_to_memory(text, text, text, timestamptz, timestamptz, text[], integer, jsonb) is
    'Makes memories of a conversation, or brings those made before up to date. Each names its messages in metadata: session and messages (ids)';

create function @extschema@.conv_sources(memory_id bigint)
returns table (
    id bigint,
    session_key text,
    role text,
    content text,
    "timestamp" timestamptz
)
language sql stable parallel safe rows 10
as $$
    select c.id, c.session_key, c.role, c.content, c."timestamp"
    from @extschema@.memories m
    cross join lateral pg_catalog.jsonb_array_elements(
        case
            when pg_catalog.jsonb_typeof(m.metadata operator(pg_catalog.->) 'messages') operator(pg_catalog.=) 'array'
            then m.metadata operator(pg_catalog.->) 'messages'
            else '[]'
        end
    ) e (message)
    join @extschema@.conversations c
        -- What is no id is passed over; `case`, so that nothing else is ever cast.
        on c.id operator(pg_catalog.=) case
            when pg_catalog.jsonb_typeof(e.message) operator(pg_catalog.=) 'number'
            then (
                select n.number::pg_catalog.int8
                from (select (e.message operator(pg_catalog.#>>) '{}')::pg_catalog.numeric) n (number)
                where n.number operator(pg_catalog.=) pg_catalog.trunc(n.number)
                    and n.number operator(pg_catalog.>) 0
                    and n.number operator(pg_catalog.<=) 9223372036854775807
            )
        end
    where m.id operator(pg_catalog.=) $1
    order by c."timestamp", c.id;
$$;
comment on function @extschema@.conv_sources(bigint) is
    'The messages a memory comes from, those that are still there, by time';

create function @extschema@.conv_forget(
    session_key text,
    before timestamptz default null,
    memories boolean default false
)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
    forgotten bigint;
begin
    if coalesce($1, '') = '' then
        raise exception 'session_key must not be empty'
            using errcode = '22023', hint = 'conv_list() lists the conversations there are.';
    end if;
    if $3 and $2 is not null then
        raise exception 'memories are forgotten with whole conversations only'
            using errcode = '22023', hint = 'Leave out before, or delete the memories with memory_forget().';
    end if;
    delete from conversations c
    where c.session_key = $1
        and c."timestamp" < coalesce($2, 'infinity');
    get diagnostics forgotten = row_count;
    if $3 then
        -- With the messages they were made of: a note of one's own may name a session, too.
        delete from memories m
        where m.metadata @> jsonb_build_object('session', $1)
            and jsonb_typeof(m.metadata -> 'messages') = 'array';
    end if;
    return forgotten;
end
$$;
comment on function @extschema@.conv_forget(text, timestamptz, boolean) is
    'Deletes a conversation, or its messages before a time, and with memories => true the memories made of it. Returns the number of messages';
