-- Graph: documents as nodes, what they have in common as edges, as JSON and as a page.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set summer_memory.embed = 'off';

-- Nothing to draw
select memory_graph() - 'model';
insert into memories (path, content, occurred_at) values
    ('memory/a.md', '用 Vue 写前端，订阅用 RSS #博客', '2026-02-01 12:00'), ('memory/a.md', 'Vue 升级了', '2026-02-03 12:00'),
    ('memory/b.md', '又用 Vue，还有 RSS', '2026-02-05 12:00'), ('memory/c.md', '去了盐城', null);
insert into memories (content) values ('没有路径的不是节点');
select jsonb_pretty(memory_graph() -> 'nodes' -> 0);
select n ->> 'id' as node, n -> 'chunks' as chunks, n -> 'entities' as entities from jsonb_array_elements(memory_graph() -> 'nodes') n;
select memory_graph() -> 'edges';
-- Vectors: three alike, and what is near is measured by all pairs
update memories m set model = memory_active_model(), embedding = (
    select array_agg(case when g % 7 = ascii(right(split_part(m.path, '.', 1), 1)) % 7 then 1 else 0.5 end order by g)::vector
    from generate_series(0, 383) g)
where path is not null;
select jsonb_typeof(memory_graph() -> 'similarity') as similarity, jsonb_typeof(memory_graph() -> 'threshold') as threshold;
select count(*) from jsonb_array_elements(memory_graph(0.999) -> 'edges') e where e -> 'shared' = '[]';
-- Bounds, namespaces
select jsonb_array_length(g -> 'nodes') as nodes, g -> 'total_paths' as total, g -> 'truncated' as truncated from memory_graph(max_nodes => 2) g;
select jsonb_array_length(memory_graph(namespace => 'other') -> 'nodes');
select memory_graph(namespace => '*') ->> 'namespace';
select memory_graph(max_nodes => 100000);
select memory_graph(2);
-- The page: language and data are in it, and no text can end the element it stands in
insert into memories (path, content) values ('memory/<script>.md', '</script><img src=x> __GRAPH_DATA__ __GRAPH_LANG__');
select memory_graph_html() like '%data-lang="en"%' as en, memory_graph_html('zh') like '%data-lang="zh"%' as zh;
select memory_graph_html() not like '%<script>.md%' as escaped, memory_graph_html() like '%\\u003cscript>.md%' as there;
select memory_graph_html('fr');
select memory_graph_html(null) like '%data-lang="en"%' as en;

-- Documents of different people are different ones, whatever their paths
delete from memories;
insert into memories (namespace, path, content) values ('alice', 'a.md', 'OpenClaw'), ('bob', 'a.md', 'OpenClaw RSS');
select n ->> 'id' as node, n ->> 'namespace' as namespace, n -> 'chunks' as chunks, g -> 'total_paths' as total
from memory_graph(namespace => '*') g, jsonb_array_elements(g -> 'nodes') n;
select g -> 'edges' as edges from memory_graph(namespace => '*') g;
select n ->> 'id' as node from memory_graph(namespace => 'bob') g, jsonb_array_elements(g -> 'nodes') n;
-- A given threshold joins what is that similar, whatever the others are like; what is the same is near without one
delete from memories;
create function turned(by double precision) returns vector language sql immutable
return (select array_agg(case g when 1 then cos(by) when 2 then sin(by) else 0 end order by g)::vector from generate_series(1, 384) g);
insert into memories (path, content, embedding, model) values
    ('a.md', 'a', turned(0), memory_active_model()), ('b.md', 'b', turned(0.1), memory_active_model());
select g -> 'edges' as edges, g -> 'default_weight' as weight from memory_graph(0.5) g;
select g -> 'edges' as edges from memory_graph(0.999) g;
insert into memories (path, content, embedding, model) values ('c.md', 'c', turned(0.5), memory_active_model());
select e ->> 'source' as source, e ->> 'target' as target, e -> 'weight' as weight from memory_graph(0.5) g, jsonb_array_elements(g -> 'edges') e;
update memories set embedding = turned(1);
select jsonb_array_length(memory_graph() -> 'edges') as near, jsonb_array_length(memory_graph(0.9) -> 'edges') as given;
-- What a document is called: its first heading of level 1, or what stands above all of it, else its file
delete from memories;
select count(*) from memory_import('n/h1.md', E'# 大\n\n## 一\n\n甲\n\n## 二\n\n乙') a, memory_import('n/h2.md', E'前言\n\n## 一\n\n甲\n\n## 二\n\n乙') b,
    memory_import('n/h3.md', E'## 一\n\n甲\n\n## 二\n\n乙') c, memory_add('购物', 'n/h4.md', title => '清单') d, memory_add(E'# 五\n\n甲', 'n/h5.md') e;
select n ->> 'path' as path, n ->> 'title' as title from jsonb_array_elements(memory_graph() -> 'nodes') n order by 1;
-- It can be cancelled, and names in common take no memory of their own
delete from memories;
insert into memories (path, content, entities)
select i || '.md', 'x' || i, (select array_agg('n' || i / 64 || '_' || j) from generate_series(1, 40) j) from generate_series(0, 639) i;
select jsonb_array_length(memory_graph(max_nodes => 2000) -> 'edges') between 2500 and 5120 as bounded;
