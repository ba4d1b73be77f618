-- Embed: texts into vectors of the store's model, one or many, long or odd; the models; the trigger for any
-- table; changing the model. Vectors are compared with each other, never printed: they differ a little
-- between processors.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

select name, dims, max_tokens, pooling, query_prefix, passage_prefix, active, problem from memory_models;
select memory_active_model();

-- E11, E12, E09: every text has a finite vector of length 1, whatever it is made of
create table texts (n integer primary key, t text not null);
insert into texts (n, t) values
    (1, '今天天气很好'),
    (2, 'ｶﾞ行 が'),
    (3, 'naïve café ①②㈱'),
    (4, 'Ⅷ 号楼 ½'),
    (5, '混排ABCabc123，。！'),
    (6, '👨‍👩‍👧 家庭'),
    (7, E'\u200b零宽'),
    (8, '繁體字與简体字'),
    (9, '正文里写了[CLS] [SEP] [PAD] [MASK] <s> </s> <pad> 几个记号'),
    (10, '[PAD]'),
    (11, '<s>'),
    (12, repeat('═║╔🎬', 100)),
    (13, '𠮷野家'),
    (14, '。'),
    (15, E'\x01\x02');
select n, vector_dims(v) as dims, abs(vector_norm(v) - 1) < 0.001 as normal, 1 - (v <=> memory_embed(t)) > 0.99999 as same_again
from texts, lateral memory_embed(t) v
order by n;
-- Special tokens in a text are text: it has more tokens than the special ones alone would give
select memory_model_tokens('<s>') > 4 as literal, memory_model_tokens('') < memory_model_tokens('。') as counts;
-- A text and its kind matter
select memory_embed('苹果') = memory_embed('苹果', 'passage') as default_is_passage,
    memory_embed('苹果', 'query') <> memory_embed('苹果') as query_differs,
    memory_embed('苹果') <=> memory_embed('香蕉') < memory_embed('苹果') <=> memory_embed('路由器重启') as near_is_near;
select memory_embed(text => '苹果', kind => 'query') = memory_embed('苹果', 'query') as named;
-- Many at once are what each is alone
select bool_and(1 - (b.v <=> memory_embed(t.t)) > 0.99999) as same, count(*)
from texts t
join unnest((select memory_embed(array_agg(t order by n)) from texts)) with ordinality b (v, n) using (n);
select array_length(memory_embed(array['甲', null, '', '乙'], 'query'), 1) as length,
    array(select u is null from unnest(memory_embed(array['甲', null, '', '乙'])) with ordinality v (u, o) order by o) as nulls;
select memory_embed('{}'::text[]), memory_embed(null::text[]) is null as null_array;
drop table texts;

-- E13: nothing to embed is NULL
\pset format unaligned
select t, memory_embed(t) is null as no_vector, memory_embed(t, 'query') is null as no_query
from unnest(array['', '   ', E'\n', E'\u3000', E'\ufeff\u200b', null]) with ordinality u (t, o)
order by o;
\pset format aligned
select memory_embed(null::text, 'passage') is null, memory_try_embed(null::text) is null, memory_try_embed('') is null;

-- E09: a text longer than the model's window is embedded whole, in windows, up to the setting
set summer_memory.embed_max_windows = 2;
select vector_dims(v) as dims, abs(vector_norm(v) - 1) < 0.001 as normal from memory_embed(repeat('全角标点：，。；！？', 400)) v;
set client_min_messages = error;
select memory_embed(repeat('很长的文字，', 600) || '尾') = memory_embed(repeat('很长的文字，', 600) || '尾') as same_again;
reset client_min_messages;
reset summer_memory.embed_max_windows;
-- The windows are counted as model runs; a text is one run, a known query none
select md5(clock_timestamp()::text) as new \gset
select memory_model_runs() as runs \gset
select vector_dims(memory_embed('只跑一次的文字'));
select memory_model_runs() - :runs as model_runs;
select vector_dims(memory_embed(:'new', 'query')) = vector_dims(memory_embed(:'new', 'query')) as same;
select memory_model_runs() - :runs as model_runs;

--
-- memory_embed_trigger: any table
--
create table films (
    id integer primary key,
    "片名 t" text,
    year integer,
    v vector
);
create trigger films_embed before insert or update on films for each row execute function memory_embed_trigger('片名 t', 'v');
insert into films (id, "片名 t", year) values (1, '一部关于猫的电影', 2020), (2, null, 2021), (3, '', 2022);
insert into films (id, "片名 t", v) values (4, '自带向量', memory_embed('别的'));
select id, "片名 t", year, v is null as no_vector, (v <=> memory_embed("片名 t")) < 1e-6 as in_step from films order by id;
select memory_model_runs() as runs \gset
update films set year = 2000, "片名 t" = "片名 t" where id = 1;
select memory_model_runs() - :runs as model_runs;
update films set "片名 t" = '一部关于狗的电影' where id = 1;
update films set "片名 t" = '有字了' where id = 2;
update films set "片名 t" = null where id = 4;
update films set "片名 t" = '文字', v = memory_embed('给的') where id = 3;
select id, "片名 t", year, v is null as no_vector, (v <=> memory_embed("片名 t")) < 1e-6 as in_step from films order by id;
select (v <=> memory_embed('给的')) < 1e-6 as given from films where id = 3;
-- NULL is no vector: a changed text gets its own, an unchanged one goes without
update films set "片名 t" = '换了', v = null where id = 3 returning (v <=> memory_embed('换了')) < 1e-6 as in_step;
update films set v = null where id = 3 returning v is null as no_vector;
-- A partitioned table, another schema, another search path
create schema cinema;
create table cinema.plays (id integer, t text, v vector(384)) partition by range (id);
create table cinema.plays_1 partition of cinema.plays for values from (0) to (100);
create trigger plays_embed before insert or update of t on cinema.plays for each row execute function memory_embed_trigger('t', 'v');
set search_path = pg_catalog;
insert into cinema.plays (id, t) values (1, '话剧');
reset search_path;
select (v <=> memory_embed(t)) < 1e-6 as in_step from cinema.plays;
drop schema cinema cascade;
-- What it cannot do it says
create trigger films_after after insert on films for each row execute function memory_embed_trigger('片名 t', 'v');
insert into films (id, "片名 t") values (5, 'x');
drop trigger films_after on films;
create trigger films_short before insert on films for each row execute function memory_embed_trigger('片名 t');
insert into films (id, "片名 t") values (5, 'x');
drop trigger films_short on films;
create trigger films_none before insert on films for each row execute function memory_embed_trigger('片名', 'v');
insert into films (id, "片名 t") values (5, 'x');
drop trigger films_none on films;
-- Without a model the row is stored
insert into memory_options (name, value) values ('model', 'no-such-model');
insert into films (id, "片名 t") values (6, '模型不在'), (7, '也不在');
select id, v is null as no_vector from films where id in (6, 7) order by id;
select memory_embed('模型不在');
select memory_embed(array['模型不在']);
select memory_model_tokens('模型不在') is null as no_count;
delete from memory_options where name = 'model';
drop table films;

--
-- E01, E02: the model of the store
--
insert into memories (path, content) values ('a', '我昨天去超市买了苹果和香蕉'), ('b', '我开车去上班');
-- Vectors of another model, of the same width and of another: never compared
update memories set embedding = memory_embed('完全无关'), model = 'other-same-width' where path = 'a';
insert into memories (path, content, embedding, model) values ('c', '第三条苹果', '[1,0,0]', 'other-width');
select memories, pending, other_model from memory_status;
select path, vector_rank, bm25_rank, degraded from memory_search('苹果', 5) order by path;
select path from memory_search('苹果', 5, mode => 'vector') order by path;
select memory_backfill();
select path, model, vector_dims(embedding) as dims, (embedding <=> memory_embed(content)) < 1e-6 as in_step from memories order by path;
select memories, pending, other_model from memory_status;
select memory_use_model('multilingual-e5-small');
select memory_use_model('no-such-model');
select memory_use_model('../multilingual-e5-small');
select memory_use_model('/etc');
select memory_use_model('');
select memory_use_model(null) is null;
select name, value from memory_options;
-- E15: the column takes any width, the index is the model's own
select indexdef like '%hnsw%(384)%' as hnsw, indexdef like '%model = ''multilingual-e5-small''%' as of_the_model
from pg_indexes
where tablename = 'memories'
    and indexname like 'memories_embedding_%';
-- E01: the column's type can be changed under the trigger
truncate memories;
alter table memories alter column embedding type vector(384);
insert into memories (content) values ('还能写');
select vector_dims(embedding) as dims from memories;
