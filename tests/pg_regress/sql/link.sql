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
-- A tag of the front matter stays when the text no longer has it, and whatever the text before was
select * from memory_import('a.md', E'---\ntags: [家]\n---\n\n下雨。 #家');
select * from memory_import('a.md', E'---\ntags: [家]\n---\n\n下雪。');
select * from memory_import('b.md', E'下雨。 #家');
select * from memory_import('b.md', E'---\ntags: [家]\n---\n\n下雪。');
select * from memory_import('b.md', E'---\ntags: []\n---\n\n下雪。');
select * from memory_import('c.md', E'---\ntags: [家]\n---\n\n下雨。 #家');
select * from memory_import('c.md', E'下雨。 #家');
select path, tags, given_tags from memories order by path;
select * from memory_import('c.md', E'没有雨。');
select tags from memories where path = 'c.md';
delete from memories;
-- What was given stays where the text had it too; what only the text had goes with it, whatever else is given then
select count(*) from memory_add('读 #读书', 'x.md', tags => array['读书']);
insert into memories (path, content, entities, tags) values ('y.md', '用 OpenClaw #a', '{OpenClaw}', '{a}');
insert into memories (path, content) values ('z.md', '用 OpenClaw #旧');
update memories set content = '用 Figma #新', tags = array_append(tags, '手'), entities = array_append(entities, 'Alice') where path = 'z.md';
select path, entities, tags, given_entities, given_tags from memories order by path;
update memories set content = '没有';
select path, entities, tags from memories order by path;
-- Taken away by hand it is given no more
update memories set tags = '{}' where path = 'z.md';
update memories set content = '还是没有';
select path, entities, tags from memories order by path;
-- Given beside the columns, and names of nothing that can be seen
update memories set given_tags = '{甲}', content = '#乙' where path = 'x.md';
update memories set given_tags = '{丙}' where path = 'x.md';
insert into memories (path, content, entities, tags) values ('u.md', 'u', array['', E'\u200b', 'Ux'], '{" "}'), ('v.md', 'v', '{""}', '{}');
update memories set entities = array[E'\u200b'], tags = '{" "}' where path = 'v.md';
select path, entities, tags, memory_entity_keys(entities, tags) as keys from memories where path in ('u.md', 'v.md', 'x.md') order by path;
select count(*) from memory_related('u.md'), memory_related('v.md') v;
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
insert into memories (id, path, content) values (925, 'issue#12', '说 Vue'), (926, 'issue#12', '说 Hugo'), (927, 'c.md', 'Hugo 和 Vue');
select r.id, r.shared from memory_related('issue#12') r;
select r.id, r.shared from memory_related('issue#12#1') r;
-- The chunk where there is one
insert into memories (id, path, chunk_index, content) values (928, 'issue', 12, '别的 Hugo');
select r.id, r.shared from memory_related('issue#12') r;
delete from memories where id >= 925;
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

-- Few of many rows, far apart or in another namespace: still measured by what is usual in this one
delete from memories;
create function vector_of(seed bigint) returns vector language sql immutable
return (select array_agg(0.8 + (hashint8(seed * 1000 + g) % 1000) / 2000.0 order by g)::vector from generate_series(1, 384) g);
insert into memories (id, namespace, content, embedding, model)
select i, 'a', 't' || i, vector_of(i), memory_active_model() from generate_series(1, 198) i;
insert into memories (id, namespace, content, path, embedding, model)
select 198 + p, 'a', 'pair' || p, 'pair' || p || '.md', vector_of(0), memory_active_model() from generate_series(1, 2) p;
select path, score from memory_related('pair1.md#0', 1, 'a');
insert into memories (id, namespace, content) select 1000 + i, 'b', 'f' || i from generate_series(1, 3000) i;
select path, score from memory_related('pair1.md#0', 1, 'a');
insert into memories (id, namespace, content) values (1000000000, 'a', 'far'), (9000000000000000000, 'a', 'farther'), (-9000000000000000000, 'a', 'behind');
select path, score from memory_related('pair1.md#0', 1, 'a');
delete from memories;
-- All alike
insert into memories (path, content, embedding, model) select 'd' || i, 'x' || i, vector_of(1), memory_active_model() from generate_series(1, 60) i;
select path, score from memory_related('d1', 2);
delete from memories;
-- More rows only add to the list: the best are found however many share more names with less in common
insert into memories (path, content, entities) values ('src.md', 'x', '{AAA1,BBB1}');
insert into memories (content, entities)
select 'noise ' || i, array['AAA1', 'BBB1'] || (select array_agg('u' || i || '_' || j) from generate_series(1, 20) j) from generate_series(1, 60) i;
insert into memories (path, content, entities) values ('best.md', 'y', '{AAA1}');
insert into memories (content) select 'f' || i from generate_series(1, 3000) i;
analyze memories;
select path, round(score::numeric, 3) as score from memory_related('src.md#0', 2);
select bool_and(l.id = s.id) as the_same
from (select id, row_number() over () as n from memory_related('src.md#0', 62)) l
join (select id, row_number() over () as n from memory_related('src.md#0', 7)) s using (n);
delete from memories;
-- Every name of a long memory counts, and none that is everywhere
insert into memories (content, entities) select 'x' || i, array['zhub'] from generate_series(1, 500) i;
insert into memories (path, content, entities)
values ('big.md', 'big', (select array_agg('a' || lpad(i::text, 3, '0')) from generate_series(1, 300) i) || array['zhub', 'zunique', '中文名']),
    ('p.md', 'p', '{zunique,zhub}'), ('q.md', 'q', '{中文名}'), ('c.md', 'c', '{a001,zhub}'), ('d.md', 'd', '{a001}');
analyze memories;
select path, round(score::numeric, 5) as score, shared from memory_related('big.md', 9);
delete from memories;

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
-- And lose it with the word
select memory_reindex() as changed;
select id, entities, given_entities from memories order by id;
select memory_reindex() as changed;

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
-- NULL is the default; a negative k and an unknown kind are refused
select name from memory_entities(null, null, null, null);
select name from memory_cooccurrence('RSS', null);
select id from memory_entity('rss', null);
select count(*) from memory_related(1, null);
select memory_entities(1, -1);
select memory_entity('x', -1);
select memory_cooccurrence('x', -1);
select memory_related(1, -1);
select memory_entities(1, 10, of_kind => 'tag');
-- A tag counts for the name it is; documents are those of their namespace, not numbers
delete from memories;
insert into memories (id, namespace, path, content, entities, tags) values
    (1, 'a', '2', 'x', '{AAA,RSS}', '{}'), (2, 'a', null, 'y', '{AAA}', '{rss,only}'), (3, 'b', '2', 'z', '{AAA}', '{}');
select * from memory_cooccurrence('AAA', namespace => 'a');
select name, memories, documents from memory_entities(1, namespace => 'a');
select name, memories, documents from memory_entities(3, namespace => '*');
