-- Chunk: a file's text into the pieces that become rows. Pure functions; nothing here reads a table
-- but the store's model, which measures the pieces.

create function @extschema@.memory_split(
    content text,
    path text default null,
    max_chars integer default null
)
returns table (chunk_index integer, title text, chunk text, document jsonb)
-- Not strict: path and max_chars may be NULL. A NULL content is an error the caller checks for.
language c stable parallel safe
as 'MODULE_PATHNAME', 'memory_split_wrapper';
comment on function @extschema@.memory_split(text, text, integer) is
    'Splits Markdown (or plain text, by the path''s ending) at headings into chunks of at most max_chars characters that fit the model';

create function @extschema@.memory_path(path text)
returns text
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'memory_path_wrapper';
comment on function @extschema@.memory_path(text) is
    'Normal form of a path: "./memory/a.md" and "memory//a.md" are "memory/a.md"';

create function @extschema@.memory_path_date(path text)
returns date
language c immutable strict parallel safe
as 'MODULE_PATHNAME', 'memory_path_date_wrapper';
comment on function @extschema@.memory_path_date(text) is
    'The date a path names, as in 2026-02-19.md; NULL if it names none';
