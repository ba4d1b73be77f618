-- Link: what is a name and what a tag, columns that follow the text, relations, and names by their memories.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
set summer_memory.embed = 'off';
set client_min_messages = error;

--
-- What is a tag (L01)
--
select string_agg(name, ' ' order by name) from memory_extract($$
# 标题
#博客 记一笔 #RSS2，还有 #中文标签。（#括号里的标签）#下划_线 #a1
C#语言 与 issue #123，颜色 #1E90FF #c0ffee，见 https://a.example/x#片段 和 a#frag \#转义的不算 &#39; `#代码里的不算`
```
#围栏里的不算
```
$$) where kind = 'tag';

--
-- Where an address ends (L02), what is a path (L03)
--
select name from memory_extract('看（https://example.com/x_(y)）、https://a.example/1，https://b.example/2。《https://c.example/3》') where kind = 'url';
select name, kind from memory_extract('日志在 /var/log/postgresql/postgresql-18-main.log，发到 X/Twitter，采用 /或 02/19 和 1/2') where kind = 'path';

--
-- Names beside Han characters (L04), code (L05), Chinese terms (L08)
--
select name, kind from memory_extract('今天用OpenClaw配置了RSS，用GPT写周报');
select count(*) from memory_extract('fooRSSbar') where name = 'RSS';
select name, kind from memory_extract('a ``x ` y`` b `z`');
select t, array(select name from memory_extract(t) where kind = 'term') as terms
from unnest(array['今天完成博客订阅优化', '再谈一谈博客订阅优化', '我们用的系统', '这是操作系统的配置优化工具', '做了博客订阅系统']) t;
-- Nothing, and things of no name
select count(*) from memory_extract('') , memory_extract(E' \n') b;
select count(*) from memory_extract(null);
-- Keys
select memory_entity_key(' ＲＳＳ '), memory_entity_key('訂閱系統'), memory_entity_keys('{RSS,rss,Vue}', '{博客,RSS}');

--
-- Columns follow the text; what was given stays
--
insert into memories (content, tags, entities) values ('讲 RSS 的 #博客', '{手写}', '{我的名字}') returning entities, tags;
update memories set content = '讲 SEO 的 #优化' returning entities, tags;
update memories set metadata = '{"a": 1}' returning entities, tags;
update memories set tags = '{}' returning tags;
update memories set content = '讲 GPT 的', tags = '{自己的}' returning entities, tags;
delete from memories;
select * from memory_import('a.md', E'---\ntags: [周记]\n---\n## 一\n\n说 RSS #博客\n');
select tags, entities from memories;
select * from memory_import('a.md', E'---\ntags: [周记]\n---\n## 一\n\n说 RSS #博客\n');
select * from memory_import('a.md', E'---\ntags: [月记]\n---\n## 一\n\n说 RSS #博客\n');
select tags from memories;
select path from memory_search('RSS', tags => '{博客}');
delete from memories;

--
-- Related (L07)
--
insert into memories (id, content) values (901, '`alpha9` 与 `beta9`'), (902, '`beta9` 与 `gamma9`'), (903, '`delta9`');
select id, round(score::numeric, 4) as score, round(overlap::numeric, 4) as overlap, shared, similarity, same_path from memory_related(901);
select id, round(score::numeric, 4) as score from memory_related(902);
select count(*) from memory_related(903);
delete from memories where id = 902;
select count(*) from memory_related(901);
select count(*) from memory_related(-1), memory_related(null::bigint) b;
delete from memories;
-- L03: two that share only a slash are not related; L08: two that speak of the same work are
insert into memories (id, content) values (911, '发到 X/Twitter，采用新方案'), (912, '从 Y/Twitter，采用旧方案');
select count(*) from memory_related(911) where 'Twitter' <> all (shared);
insert into memories (id, content) values (913, '今天完成博客订阅优化'), (914, '再谈一谈博客订阅优化');
select id, shared from memory_related(913);
delete from memories;
-- The same document makes what is related more so, and by its address
insert into memories (id, path, content) values (921, 'a.md', '说 RSS 和 Vue'), (922, 'a.md', '再说 RSS'), (923, 'b.md', '也说 RSS'), (924, 'a.md', '别的');
select id, path, chunk_index, same_path, shared from memory_related('a.md#0');
select id from memory_related('./a.md', 1);
select count(*) from memory_related('nowhere.md#3');
select count(*) from memory_related(921, namespace => 'other');
delete from memories;
-- L06: what everything has relates nothing
insert into memories (id, content)
select 1000 + i, 'row ' || i || ' `API` Topic' || i / 2 || 'X' from generate_series(0, 1999) i;
select id, score > 0.9 as close, shared from memory_related(1100);
-- Vectors: what is nearer than usual is related without a name in common
update memories set model = memory_active_model(), embedding = (
    select array_agg(case when g = id % 384 then 1 else 0.2 end order by g)::vector from generate_series(0, 383) g);
insert into memories (id, content, embedding)
select 5000 + i, '没有名字 ' || i, (select array_agg(case when g = 7 then 1 else 0.2 end + i * 0.001 order by g)::vector from generate_series(0, 383) g)
from generate_series(0, 1) i;
select bool_and(overlap = 0 and shared = '{}' and similarity > 0.99) as near, count(*) > 0 as some from memory_related(5000);

-- A user's word is a name; memories that are there already get it by memory_reindex
delete from memories;
insert into memories (id, content, entities) values (1, '和风禾三开会', '{会议室}'), (2, '没有别的', '{}');
select jieba_add_word('风禾三', 50, 'nr');
select memory_reindex() as changed;
select id, entities, search::text from memories order by id;
insert into memories (id, content) values (3, '风禾三来电');
select entities, memory_entity_kind('风禾三', content) from memories where id = 3;
select memory_reindex() as changed;
truncate memory_words;

--
-- The link arm of memory_search: off unless its weight says so
--
delete from memories;
insert into memories (id, path, content, metadata) values
    (1, 'a.md', '通勤路上听了 PodcastX 的新一集', '{"kind": "day"}'), (2, 'b.md', 'PodcastX 的主播换了耳机', '{"kind": "day"}'),
    (3, 'c.md', 'PodcastX 停更了', '{"kind": "note"}'), (4, 'd.md', '什么都没有提到', '{"kind": "day"}');
insert into memories (id, namespace, content) values (5, 'other', '别处也有 PodcastX');
set client_min_messages = error;
select id, bm25_rank from memory_search('通勤');
set summer_memory.link_weight = 0.5;
select id, vector_rank, bm25_rank, round(score::numeric, 6) as score from memory_search('通勤');
select id from memory_search('通勤', filter => '{"kind": "day"}');
select id from memory_search('通勤', mode => 'bm25');
select count(*) from memory_search('通勤', 10, '*');
select e #> '{arms,link}' as arm, e #> '{results,1,link}' as link from memory_explain('通勤') e;
-- A name that is everywhere leads nowhere
insert into memories (id, content) select 100 + i, 'PodcastX 第 ' || i || ' 集' from generate_series(1, 50) i;
select id from memory_search('通勤');
reset summer_memory.link_weight;
reset client_min_messages;

--
-- Names by their memories
--
delete from memories;
insert into memories (id, path, content, occurred_at) values
    (1, 'a.md', '用 Vue 写前端，订阅用 RSS', '2026-02-01'), (2, 'a.md', 'Vue 和 RSS 都升级了', '2026-02-02'),
    (3, 'b.md', 'vue 的新写法 #前端', '2026-02-03'), (4, 'c.md', 'RSS 阅读器，盐城', '2026-02-04');
select * from memory_entities();
select name, memories from memory_entities(1, 10, of_kind => 'place');
select name from memory_entities(1, 1);
select count(*) from memory_entities(1, 10, namespace => 'other');
select id, path, preview, occurred_at from memory_entity('rss');
select id from memory_entity('#前端');
select * from memory_cooccurrence('RSS');
select count(*) from memory_entity('no such name'), memory_cooccurrence('no such name') c;
select memory_entities(1, -1);
select memory_related(1, -1);
