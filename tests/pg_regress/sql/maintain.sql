-- Maintain: the state of the store, adopting its tables again, dropping and creating the extension over
-- them, and schemas other than public.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

-- The state of an empty store
select memories, pending, failed, other_model, expired, model, dims, model_problem, embedding_runs_in ~ 'model process' as in_processes
from memory_status;
select count(*) from pg_size_bytes((select table_size from memory_status)) where pg_size_bytes > 0;

-- What is counted as what
set summer_memory.embed = 'off';
insert into memories (content, expires_at) values ('一', null), ('二', '2000-01-01'), ('', null);
insert into memories (content, embedding, model) values ('三', '[1,2]', 'another');
select memories, pending, failed, other_model, expired from memory_status;
select memory_backfill(0);
select memory_backfill(1);
select memories, pending, failed, other_model, expired from memory_status;
select memory_backfill(-1);
select memory_backfill(null);
select memories, pending, failed, other_model, expired from memory_status;
select content, embed_error from memories where embed_error is not null;
select memory_sweep();
select memories, pending, failed, other_model, expired from memory_status;
reset summer_memory.embed;
-- A backfill that is rolled back leaves rows pending
update memories set embedding = null where content = '一';
begin;
select memory_backfill();
rollback;
select pending from memory_status;
select memory_backfill();
truncate memories restart identity;

-- memory_init adopts what is there and changes nothing of the user's
insert into memories (path, content) values ('keep', '留下来的紫藤');
alter table memories add column mood text default 'ok';
create index memories_mood_idx on memories (mood);
select memory_init();
select memory_init();
select path, content, mood, embedding is not null as has_vector from memories;
-- What was taken away comes back
drop trigger memory_derive on memories;
drop index memories_search_idx;
alter table memories drop column token_count;
select memory_init();
select path, token_count > 0 as counted from memories;
insert into memories (path, content) values ('after', '触发器回来了');
select path, embedding is not null as has_vector from memories order by id;
select indexname from pg_indexes where tablename = 'memories' order by indexname;

-- The tables are the user's own: no members of the extension
select c.relname, c.relkind
from pg_depend d
join pg_class c on c.oid = d.objid
join pg_extension e on e.oid = d.refobjid
where d.classid = 'pg_class'::regclass
    and d.deptype = 'e'
    and e.extname = 'summer_memory'
    and c.relkind in ('r', 'S', 'i')
order by c.relname;

-- The background worker keeps out of what follows; this session embeds as before
select format('alter database %I set summer_memory.embed = off', current_database()) as statement \gset
:statement;
-- Dropping the extension is refused while they stand on it, and with cascade they stay
\set VERBOSITY terse
drop extension summer_memory;
set client_min_messages = warning;
drop extension summer_memory cascade;
reset client_min_messages;
\set VERBOSITY default
select id, path, title, content, mood from memories order by id;
select word from memory_words;
insert into memories (namespace, path, chunk_index, content) values ('default', 'between', 0, '扩展不在时写下的丁香');
-- Created again it adopts them: words and indexes are back, vectors are kept
create extension summer_memory;
select id, path, content, mood, embedding is not null as has_vector, search = memory_tsvector(title, content) as has_words from memories order by id;
select path from memory_search('紫藤', 1, mode => 'bm25');
select path from memory_search('丁香', 1, mode => 'bm25');
select pending from memory_status;
select memory_backfill();
select path, (embedding <=> memory_embed(content)) < 1e-6 as in_step from memories order by id;
\set VERBOSITY terse
insert into memories (path, content) values ('again', '又能写了');
\set VERBOSITY default
select path, embedding is not null as has_vector from memories where path = 'again';
select jieba_add_word('又能写了');
-- Without the tables: a clear error, and a way back
alter table memories rename to memories_away;
select count(*) from memory_search('紫藤', 1);
select count(*) from memory_backfill();
alter table memories_away rename to memories;

-- pgvector cannot be taken away from under it
\set VERBOSITY terse
drop extension vector;
\set VERBOSITY default
-- The extension cannot be moved, nor made twice
alter extension summer_memory set schema pg_temp;
create extension summer_memory;
select extname, extversion, extrelocatable from pg_extension where extname = 'summer_memory';

--
-- Another schema, under any search path
--
set client_min_messages = warning;
drop extension summer_memory cascade;
drop table memories, memory_words, memory_options;
create schema ext;
create schema "Odd Schema";
create extension summer_memory schema ext;
reset client_min_messages;
set search_path = pg_catalog;
insert into ext.memories (content) values ('我昨天去超市买了苹果和香蕉'), ('我开车去上班');
select content from ext.memory_search('水果', 1);
select pg_catalog.array_length(ext.memory_embed(array['甲', '乙']), 1), ext.jieba_cut('你好世界');
select count(*) from ext.memory_add('再来一条', 'a.md');
select added from ext.memory_import('b.md', E'## 节\n文\n');
select ext.memory_context('苹果', 20) ~ '苹果' as context;
select to_tsvector('ext.jieba', '数据库性能优化');
select ext.jieba_add_word('风禾三');
select ext.jieba_cut('风禾三来电');
select ext.memory_forget(path => 'a.md'), ext.memory_prune('{}'), ext.memory_sweep(), ext.memory_backfill();
select memories, pending from ext.memory_status;
select name from ext.memory_models;
select ext.memory_explain('苹果') #>> '{results,0,path}' is null as explained;
reset search_path;
-- A schema whose name needs quotes, and pgvector in one of its own
set client_min_messages = warning;
drop extension summer_memory cascade;
drop extension vector cascade;
drop schema ext cascade;
create schema vectors;
create extension vector schema vectors;
create extension summer_memory schema "Odd Schema";
reset client_min_messages;
set search_path = pg_catalog;
insert into "Odd Schema".memories (content) values ('我昨天去超市买了苹果和香蕉'), ('我开车去上班');
select content from "Odd Schema".memory_search('水果', 1);
select count(*) from "Odd Schema".memory_add('再来一条', 'a.md');
update "Odd Schema".memories set content = '换一条' where path = 'a.md';
select added from "Odd Schema".memory_import('b.md', E'## 节\n文\n');
select "Odd Schema".memory_use_model('multilingual-e5-small');
update "Odd Schema".memories set embedding = null;
select "Odd Schema".memory_backfill();
select memories, pending from "Odd Schema".memory_status;
create table public.films (id integer, t text, v vectors.vector);
create trigger t before insert on public.films for each row execute function "Odd Schema".memory_embed_trigger('t', 'v');
insert into public.films (id, t) values (1, '电影');
select vectors.vector_dims(v) as dims from public.films;
reset search_path;
