-- Search: both arms and their fusion, filters, odd questions, and what explains a result. Each case has a
-- namespace of its own, named after it. Where only words matter the BM25 arm is asked alone; where the
-- vectors matter they are given, so that ranks do not depend on the processor.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

-- Paths in the order of the result.
create function hits(query text, namespace text, mode text default 'bm25', k integer default 10)
returns text[]
language sql
return (
    select coalesce(array_agg(s.path order by s.ordinality), '{}')
    from memory_search(query, k, namespace, mode => mode) with ordinality s
);

-- A vector at an angle to the query's: 0 is the query itself, 1 is far off.
create function near(query text, away double precision)
returns vector
language sql
return l2_normalize(memory_embed(query, 'query') + (array_fill(0::real, array[383]) || (away * 10)::real)::vector);

--
-- The promise
--
insert into memories (namespace, path, content) values
    ('promise', 'fruit', '我昨天去超市买了苹果和香蕉'),
    ('promise', 'drive', '我开车去上班'),
    ('promise', 'blog', '博客的 RSS 订阅地址改成了 https://blog.example.com/index.xml'),
    ('promise', 'vue', '前端从 React 换成了 Vue 3 和 Vite');
select q, hits(q, 'promise', 'hybrid', 1)
from unnest(array['水果', '通勤', '我之前买了什么水果？', '我最近使用的前端技术', '博客RSS配置']) with ordinality u (q, o)
order by o;

--
-- Words
--
insert into memories (namespace, path, content) values
    ('P05', 'd1', '用C#写的查死链工具'), ('P05', 'd2', '网关那块是C++写的'), ('P05', 'd3', '大学学过C语言'),
    ('P06', 'd2', '这个 node 服务和 js 文件'), ('P06', 'd1', '把 Node.js 升到 22'),
    ('P06', 'd4', 'www 目录，example 和 com 三个词'), ('P06', 'd3', '反代到 www.example.com'),
    ('P07', 'd2', 'GPT 分区表和 4o 号楼'), ('P07', 'd1', '用GPT-4o写周报最稳'), ('P07', 'd3', 'ＧＰＴ－４ｏ 全角写法'),
    ('P13', 'd1', '桌上有狗、猫、水'),
    ('P18', 'd1', '会议定在２０２７年１１月８日'), ('P18', 'd2', 'ＡＰＩ网关扩容'), ('P18', 'd3', '打折１００％返现'),
    ('P19', 'd1', '我買了蘋果和香蕉'), ('P19', 'd2', '資料庫效能優化筆記'), ('P19', 'd3', '数据库性能优化'),
    ('P20', 'd1', '今天很开心🎉我们去露营👨‍👩‍👧‍👦带上帐篷⛺️'), ('P20', 'd2', '今天不开心'),
    ('P28', 'd2', 'session 的 key 有 v2'), ('P28', 'd1', '字段 session_key_v2 改名'), ('P28', 'd3', '看 /srv/memory/2026-04-01.md'), ('P28', 'd4', '写信到 ops@example.org'),
    ('P30', 'd1', '内网IP地址改了'), ('P30', 'd2', '博客RSS订阅修好了'), ('P30', 'd3', '买了T恤和U盘'),
    ('S15', 'd1', '博客RSS订阅与PaperMod主题');
-- P05
select q, hits(q, 'P05') as by_words, (hits(q, 'P05', 'hybrid'))[1] as first_of_both
from unnest(array['C#', 'C++', 'c#', 'c++']) with ordinality u (q, o)
order by o;
-- P06
select q, hits(q, 'P06') as by_words, hits(q, 'P06', 'hybrid') @> hits(q, 'P06') as all_of_them
from unnest(array['Node.js', 'www.example.com']) with ordinality u (q, o)
order by o;
select hits('example', 'P06') @> '{d3,d4}' as parts_are_found;
-- P07
select q, hits(q, 'P07') as by_words
from unnest(array['gpt-4o', 'GPT-4o', 'ＧＰＴ－４ｏ']) with ordinality u (q, o)
order by o;
-- P13, P18, P19, P20, P28, P30, S15
select n, q, hits(q, n) as by_words, (hits(q, n, 'hybrid'))[1] = (hits(q, n))[1] or cardinality(hits(q, n)) > 1 as first_of_both
from (values
    ('P13', '猫'),
    ('P18', '2027'), ('P18', 'API网关'), ('P18', 'ａｐｉ'),
    ('P19', '蘋果'), ('P19', '苹果'), ('P19', '資料庫'), ('P19', '效能'),
    ('P20', '🎉'), ('P20', '露营'),
    ('P28', 'session_key_v2'), ('P28', '2026-04-01.md'), ('P28', 'ops@example.org'), ('P28', 'session'),
    ('P30', 'IP'), ('P30', 'RSS'), ('P30', '订阅'), ('P30', 'U盘'), ('P30', 'IP地址'),
    ('S15', 'rss'), ('S15', 'RSS'), ('S15', 'papermod'), ('S15', 'ＰＡＰＥＲＭＯＤ')
) v (n, q);
-- P18, P19: the text itself is as it was written
select path, content from memories where namespace in ('P18', 'P19') order by namespace, path;

--
-- Odd questions
--
insert into memories (namespace, path, content) values
    ('S', 'stop', '的了是，是一句只有虚词的话'), ('S', 'blog', '博客换了主题'), ('S', 'the', 'to be or not to be, that is the question'),
    ('S04', 'd1', '晚上喝茶'), ('S04', 'd2', '买了一斤茶叶'), ('S04', 'd3', '绿茶和红茶'), ('S04', 'd4', '咖啡'),
    ('S06', 'd1', 'auth 模块'), ('S06', 'd2', 'admin 页面'), ('S06', 'd3', 'auth|admin 写法'), ('S06', 'd4', '重要');
\pset format unaligned
-- S01: nothing asked, nothing answered
select q, (select count(*) from memory_search(q, 5, 'S')) as rows
from unnest(array['', '   ', E'\t\n\u3000', E'\u200b', null]) with ordinality u (q, o)
order by o;
\pset format aligned
select (select count(*) from memory_search('博客', 0, 'S')) as k_0, (select count(*) from memory_search('博客', null, 'S')) as k_null,
    (select count(*) from memory_search('博客', 1000000, 'S')) as k_huge, (select count(*) from memory_search('博客', 2147483647, 'S')) as k_max,
    (select count(*) from memory_search('博客', 1, 'S')) as k_1;
select count(*) from memory_search('博客', -1, 'S');
-- S02: a question of nothing but stop words finds the texts that contain it, and nothing else
select q, hits(q, 'S') as by_words, (select bool_and(score > 0 and score < 1) from memory_search(q, 5, 'S')) as finite
from unnest(array['的了是', '的', '和 与 以及', 'the of and', 'to be or not to be']) with ordinality u (q, o)
order by o;
\pset format unaligned
-- S03: signs have no words
select q, hits(q, 'S') as by_words, (select count(*) from memory_search(q, 5, 'S')) = 3 as neighbours
from unnest(array['。，！？', '---', '😀', '👨‍👩‍👧‍👦', '()', '""']) with ordinality u (q, o)
order by o;
\pset format aligned
-- S04: a single character is looked for in words
select hits('茶', 'S04') @> '{d1,d2,d3}' and not hits('茶', 'S04') @> '{d4}' as all_with_tea, (hits('喝茶', 'S04', 'hybrid'))[1] as first;
update memories set embedding = null where namespace = 'S04';
select count(*) from memory_search('茶', 3, 'S04', mode => 'bm25');
select count(*) from memory_search('茶', 3, 'S04');
-- S05: a question of 10,000 characters; its end counts for the words
insert into memories (namespace, path, content) values ('S05', 'mark', '这一行有紫薇标记'), ('S05', 'other', '别的一行');
set client_min_messages = error;
select count(*) <= 5 as few from memory_search(repeat('今天把博客的订阅地址改了，顺便看了数据库慢查询。', 420), 5, 'S05', mode => 'bm25');
select (hits(repeat('今天把博客的订阅地址改了。', 700) || ' 紫薇标记', 'S05'))[1] as first;
set summer_memory.embed_max_windows = 1;
select 'mark' = any (hits(repeat('今天把博客的订阅地址改了。', 700) || ' 紫薇标记', 'S05', 'hybrid')) as found;
reset summer_memory.embed_max_windows;
reset client_min_messages;
-- S06: what is an operator elsewhere is text here
select q, hits(q, 'S06') as by_words
from unnest(array['team:blue', 'it''s', 'a & | ! b', 'auth|admin', '!重要', '(未闭合', '''', '\', 'a:*', 'foo <-> bar', 'U+02BC ʼ', '＇全角', '-foo', '"引号', '%s', '$1', 'E''\x41''', 'auth:A', 'auth & !admin', '''auth'':*']) with ordinality u (q, o)
order by o;
-- S07: neither are wildcards
set summer_memory.embed = 'off';
insert into memories (namespace, path, content) values
    ('S07', 'd1', '完成率100%'), ('S07', 'd2', '完成率1000'), ('S07', 'd3', 'user_name'), ('S07', 'd4', 'userXname'),
    ('S08', 'd1', '昨晚上传到 Gitea 的备份脚本失败了'), ('S08', 'd2', '口令已改'),
    ('S12', 'd2', '今天吃了面，顺便提到红烧肉，然后去散步，回来看书，早睡'), ('S12', 'd1', '红烧肉 红烧肉 红烧肉 做法'),
    ('tie', 'a', '柿子熟了'), ('tie', 'b', '柿子熟了'), ('tie', 'c', '柿子熟了');
select q, hits(q, 'S07') as by_words
from unnest(array['%', '_', '100%', '100', 'user_name', 'user%', '完成率_00']) with ordinality u (q, o)
order by o;
select path from memory_search('x', 10, 'S07', path_prefix => 'd_', mode => 'bm25');
-- S08: any word of the question is enough
select q, hits(q, 'S08') as by_words
from unnest(array['Gitea备份脚本上传失败', '口令', 'Gitea备份脚本昨天', '改口令', '完全没有的词语']) with ordinality u (q, o)
order by o;
-- S12: more is better
select hits('红烧肉', 'S12') as by_words;
select path, bm25_rank, bm25_score > 0 as positive, round(score::numeric, 10) as score, vector_rank, similarity, degraded
from memory_search('红烧肉', 2, 'S12', mode => 'bm25');
-- Equal rows in the order of their ids
select path, bm25_rank from memory_search('柿子', 5, 'tie', mode => 'bm25');
-- Real BM25: k1 1.2, b 0.75
insert into memories (namespace, path, content) values ('bm25', 'a', '芒果 芒果 荔枝'), ('bm25', 'b', '芒果 龙眼 龙眼 龙眼 龙眼'), ('bm25', 'c', '龙眼 荔枝 枇杷');
select s.path, abs(s.bm25_score - f.score) < 1e-9 as as_the_formula
from memory_search('芒果', 5, 'bm25', mode => 'bm25') s
join (
    select m.path, ln(1 + (n.docs - n.df + 0.5) / (n.df + 0.5)) * m.tf * 2.2 / (m.tf + 1.2 * (0.25 + 0.75 * m.token_count / n.average)) as score
    from (select path, token_count, case path when 'a' then 2 when 'b' then 1 end as tf from memories where namespace = 'bm25') m,
        (select count(*)::float8 as docs, 2::float8 as df, avg(token_count)::float8 as average from memories where namespace = 'bm25') n
) f using (path)
order by s.bm25_rank;
-- P26: a word is counted as often as it occurs, and more is never worse
insert into memories (namespace, path, content) values
    ('P26', 'few', repeat('芒果 ', 300) || repeat('填充 ', 900)), ('P26', 'many', repeat('芒果 ', 1200));
select hits('芒果', 'P26') as by_words;
select (a.bm25_score <= b.bm25_score) as more_is_not_worse
from memory_search('芒果', 5, 'P26', mode => 'bm25') a, memory_search('芒果', 5, 'P26', mode => 'bm25') b
where a.path = 'few' and b.path = 'many';
-- S16: rows without a word harm nobody
insert into memories (namespace, path, content) values
    ('S16', 'empty', ''), ('S16', 'signs', '……！！'), ('S16', 'emoji', '🎉🎉'), ('S16', 'stop', '的了是'), ('S16', 'cherry', '樱花开了'),
    ('S16 only', 'empty', ''), ('S16 only', 'signs', '……！！');
select path, bm25_rank, score > 0 and score < 'infinity' as finite from memory_search('樱花', 10, 'S16', mode => 'bm25');
select count(*) from memory_search('樱花', 10, 'S16 only', mode => 'bm25');
select count(*) from memory_search('樱花', 10, 'no such namespace');
reset summer_memory.embed;
set client_min_messages = error;
select path, score > 0 and score < 'infinity' as finite from memory_search('樱花', 10, 'S16');
reset client_min_messages;

--
-- Fusion. Query 柚木: the words and the vectors of the rows are made for the ranks
--
insert into memories (namespace, path, content, embedding) values
    ('S10', 'x', '柚木 柚木 柚木', near('柚木', 0)),
    ('S10', 'y', '柚木 做的家具', near('柚木', 0.1)),
    ('S10', 'z', '别的东西', near('柚木', 0.2)),
    ('S10 crossed', 'p', '柚木 做的家具', near('柚木', 0)),
    ('S10 crossed', 'q', '柚木 柚木 柚木', near('柚木', 0.1));
-- S10: 2/61, 2/62, and 1/63 for the row that only one arm has
select path, vector_rank, bm25_rank, round(score::numeric, 10) as score, round(similarity::numeric, 1) as similarity from memory_search('柚木', 5, 'S10');
-- Ranks (1, 2) and (2, 1) are a tie, and the older row wins it
select path, vector_rank, bm25_rank, round(score::numeric, 10) as score from memory_search('柚木', 5, 'S10 crossed');
-- One arm alone: its own score, direction as in the fusion
select path, vector_rank, bm25_rank, round(score::numeric, 10) as score from memory_search('柚木', 2, 'S10', mode => 'vector');
-- Weights and the constant are settings
set summer_memory.vector_weight = 0.6;
set summer_memory.bm25_weight = 0.4;
set summer_memory.rrf_k = 10;
select path, round(score::numeric, 10) as score from memory_search('柚木', 5, 'S10');
set summer_memory.bm25_weight = 0;
select path, round(score::numeric, 10) as score from memory_search('柚木', 5, 'S10');
reset summer_memory.rrf_k;
reset summer_memory.vector_weight;
reset summer_memory.bm25_weight;
-- Convex: min-max normalised scores, half of each
select path, round(score::numeric, 4) between 0 and 1 as between_0_and_1, row_number() over () as place from memory_search('柚木', 5, 'S10', fusion => 'convex');
select path, round(score::numeric, 4) as score from memory_search('柚木', 1, 'S10', fusion => 'convex');
-- How many rows an arm contributes
set summer_memory.vector_rows = 1;
select path, vector_rank, bm25_rank from memory_search('柚木', 1, 'S10');
reset summer_memory.vector_rows;

--
-- One row a path
--
insert into memories (namespace, path, chunk_index, title, content, embedding) values
    ('collapse', 'doc', 0, '甲', '柚木 柚木 柚木 柚木', near('柚木', 0.3)),
    ('collapse', 'doc', 1, '乙', '柚木 做的家具', near('柚木', 0.1)),
    ('collapse', 'single', 0, '丙', '柚木 柚木 柚木', near('柚木', 0)),
    ('collapse', null, 0, '丁', '柚木 做的一把椅子', near('柚木', 0.2)),
    ('collapse', null, 0, '戊', '柚木 做的一张很大的桌子', near('柚木', 0.4));
select path, title, vector_rank, bm25_rank, round(score::numeric, 6) as score from memory_search('柚木', 10, 'collapse', collapse => false);
select path, title, vector_rank, bm25_rank, round(score::numeric, 6) as score from memory_search('柚木', 10, 'collapse');
set summer_memory.path_score = 'sum';
select c.path, abs(c.score - s.total) < 1e-12 as is_the_sum, c.title = s.best as shows_the_best
from memory_search('柚木', 10, 'collapse') c
join (
    select path, sum(score) as total, (array_agg(title order by score desc))[1] as best
    from memory_search('柚木', 10, 'collapse', collapse => false)
    where path is not null
    group by path
) s using (path)
order by c.path;
reset summer_memory.path_score;
set summer_memory.path_score = 'mean';
-- A long document in which everything is in reach does not hide a memory that is first in both arms
insert into memories (namespace, path, content, embedding)
select 'long', 'long.md', '第' || n || '节 写的是盘点 红木 家具', near('红木', 0.5) from generate_series(1, 12) n;
insert into memories (namespace, content, embedding) values ('long', '沉香 和 红木', near('沉香', 0));
select path, content, vector_rank, bm25_rank from memory_search('沉香', 2, 'long');
select memory_context('沉香', 30, namespace => 'long');
-- A heading without text of its own finds its document, and the document answers with text
insert into memories (namespace, path, chunk_index, title, content) values
    ('heading', 'move.md', 0, '搬家笔记', '搬家笔记'),
    ('heading', 'move.md', 1, '费用', '搬家公司的定金付了三百'),
    ('heading', 'move.md', 2, '费用 > 其他', '其他'),
    ('heading', 'only.md', 0, '搬家', '搬家');
select path, title, content, bm25_rank, score > 1.0 / (60 + bm25_rank) as as_good_as_its_best
from memory_search('搬家', 5, 'heading', mode => 'bm25');
select r.value ->> 'content' as content, r.value -> 'chunks' as chunks
from jsonb_array_elements(memory_explain('搬家', 5, 'heading', mode => 'bm25') -> 'results') r;
select content from memory_search('搬家', 5, 'heading', mode => 'bm25', collapse => false);
-- Each id once, the best first
select count(*) = count(distinct id) as once, bool_and(score <= before) as falling
from (select id, score, lag(score, 1, 'infinity') over (order by ordinality) as before from memory_search('柚木', 10, 'collapse') with ordinality) s;
-- A path in two namespaces is two documents
insert into memories (namespace, path, content, embedding) values
    ('one', 'same.md', '梧桐 落叶', near('梧桐', 0)), ('two', 'same.md', '梧桐 落叶', near('梧桐', 0));
select s.path, m.namespace, s.bm25_rank, round(s.score::numeric, 6) as score
from memory_search('梧桐', 5, '*', mode => 'bm25') s
join memories m using (id)
order by s.score desc, s.id;
-- k paths where k paths match, however many chunks one of them has
set summer_memory.embed = 'off';
insert into memories (namespace, path, chunk_index, content)
select 'greedy', 'big', i, '柚木 柚木 柚木' from generate_series(0, 199) i;
insert into memories (namespace, path, content)
select 'greedy', 'small' || i, '一段长一点的话，里面提到柚木' from generate_series(1, 9) i;
select count(*) from memory_search('柚木', 10, 'greedy', mode => 'bm25');
reset summer_memory.embed;

--
-- Filters
--
set summer_memory.embed = 'off';
insert into memories (namespace, path, content, metadata, tags, occurred_at, created_at) values
    ('filter', 'dir/a.md', '芒果一', '{"source": "diary", "n": 1}', '{食,果}', '2026-01-01 00:00+00', '2026-06-01'),
    ('filter', 'dir/b.md', '芒果二', '{"source": "diary", "n": 2}', '{食}', '2026-02-01 00:00+00', '2026-06-01'),
    ('filter', 'dir2/c.md', '芒果三', '{"source": "chat"}', '{}', '2026-03-01 00:00+00', '2026-06-01'),
    ('filter', 'd%r/d.md', '芒果四', '{}', '{果}', null, '2026-04-01'),
    ('filter', null, '芒果五', '{}', '{}', null, '2026-05-01'),
    ('filter 2', 'dir/a.md', '芒果六', '{"source": "diary"}', '{食}', '2026-01-01 00:00+00', '2026-06-01');
create function filtered(filter jsonb default null, since timestamptz default null, until timestamptz default null, path_prefix text default null, tags text[] default null, namespace text default 'filter')
returns text
language sql
return (
    select string_agg(right(s.content, 1), '' order by s.id)
    from memory_search('芒果', 10, namespace, filter, since, until, path_prefix, tags, mode => 'bm25') s
);
select filtered() as everything, filtered(namespace => 'filter 2') as other, length(filtered(namespace => '*')) > 6 as all_of_them, filtered(namespace => 'nowhere') as nothing;
select filtered('{"source": "diary"}') as diary, filtered('{"source": "diary", "n": 2}') as both, filtered('{}') as no_condition, filtered('{"source": "none"}') as nothing;
select filtered(since => '2026-02-01 00:00+00') as since, filtered(until => '2026-02-01 00:00+00') as until, filtered(since => '2026-02-01 00:00+00', until => '2026-03-01 00:00:00.000001+00') as between, filtered(since => 'infinity') as nothing;
select filtered(path_prefix => 'dir/') as dir, filtered(path_prefix => 'dir') as dirs, filtered(path_prefix => 'd%') as per_cent, filtered(path_prefix => 'd_r') as underscore, filtered(path_prefix => '') as no_condition;
select filtered(tags => '{食}') as one_tag, filtered(tags => '{食,果}') as two_tags, filtered(tags => '{}') as no_condition, filtered(tags => '{茶}') as nothing;
select filtered('{"source": "diary"}', '2026-01-15', null, 'dir/', '{食}') as all_filters;
-- Filters do not change scores
select (select bm25_score from memory_search('芒果', 10, 'filter', path_prefix => 'dir/b', mode => 'bm25'))
    = (select bm25_score from memory_search('芒果', 10, 'filter', mode => 'bm25') where path = 'dir/b.md') as same_score;
-- The setting names the namespace when the call does not
set summer_memory.namespace = 'filter 2';
select content from memory_search('芒果', 10, mode => 'bm25');
set summer_memory.namespace = '';
select memory_explain('芒果') ->> 'namespace' as searched, memory_default_namespace() as written;
reset summer_memory.namespace;
reset summer_memory.embed;

-- S14: k rows whenever k rows match, whatever the index does
insert into memories (namespace, path, content, embedding)
select 'S14', case when i <= 1000 then 'other/' else 'mine/' end || i, '第 ' || i || ' 行',
    case when i <= 1000 then near('天气怎么样', i / 10000.0) else near('天气怎么样', 1 + i / 10000.0) end
from generate_series(1, 1030) i;
analyze memories;
create function counted(exact_rows integer)
returns table (what text, rows bigint)
language plpgsql
as $$
begin
    perform set_config('summer_memory.exact_rows', exact_rows::text, true);
    return query
    select 'mine', count(*) from memory_search('天气怎么样', 10, 'S14', path_prefix => 'mine/', mode => 'vector')
    union all
    select 'mine, hybrid', count(*) from memory_search('天气怎么样', 30, 'S14', path_prefix => 'mine/')
    union all
    select '50 of all', count(*) from memory_search('天气怎么样', 50, 'S14', mode => 'vector')
    union all
    select '200 of all', count(*) from memory_search('天气怎么样', 200, 'S14', mode => 'vector');
end
$$;
select * from counted(0);
select * from counted(100);
select * from counted(100000);
create function nearest(exact_rows integer)
returns setof bigint
language plpgsql
as $$
begin
    perform set_config('summer_memory.exact_rows', exact_rows::text, true);
    return query select id from memory_search('天气怎么样', 20, 'S14', mode => 'vector');
end
$$;
select count(*) >= 19 as nearly_all_the_same from (select nearest(0) intersect select nearest(100000)) s;

--
-- A search is a query like any other
--
begin transaction read only;
select path from memory_search('柚木', 1, 'S10');
commit;
begin transaction isolation level serializable read only;
select path from memory_search('柚木', 1, 'S10', mode => 'bm25');
commit;
prepare by_words (text) as select path from memory_search($1, 2, 'S10', mode => 'bm25');
execute by_words ('柚木');
execute by_words ('东西');
select q, s.path
from unnest(array['柚木', '东西', '桫椤']) with ordinality u (q, o)
left join lateral memory_search(q, 1, 'S10', mode => 'bm25') s on true
order by o;
begin;
declare c cursor for select path from memory_search('柚木', 3, 'S10', mode => 'bm25');
fetch 1 from c;
insert into memories (namespace, path, content, embedding) values ('S10', 'new', '柚木', near('柚木', 0.9));
fetch all from c;
select path from memory_search('柚木', 3, 'S10', mode => 'bm25');
rollback;
-- Without the model the words answer, and say so once
begin;
insert into memory_options (name, value) values ('model', 'no-such-model');
select path, vector_rank, bm25_rank, degraded from memory_search('柚木', 2, 'S10');
select path, degraded from memory_search('柚木', 2, 'S10', mode => 'vector');
select path, degraded from memory_search('柚木', 2, 'S10', mode => 'bm25');
rollback;

--
-- memory_explain
--
select jsonb_object_keys(memory_explain('柚木', 3, 'S10')) as key order by 1;
select jsonb_path_query(e, '$.results[*]') #- '{id}' #- '{bm25,score}' #- '{vector,similarity}' #- '{score}' #- '{bm25,term}' #- '{vector,term}' as result
from memory_explain('柚木', 3, 'S10') e;
select e ->> 'fusion' as fusion, e ->> 'model' as model, e ->> 'namespace' as namespace, e #>> '{arms,vector,plan}' as plan,
    e #>> '{arms,vector,rows}' as vector_rows, e #>> '{arms,bm25,rows}' as bm25_rows, e #>> '{arms,bm25,documents}' as documents
from memory_explain('柚木', 3, 'S10') e;
select t ->> 'word' as word, t ->> 'df' as df from memory_explain('柚木家具', 3, 'S10') e, jsonb_array_elements(e -> 'tokens') t order by 1;
-- Its terms are the score
select bool_and(abs((r ->> 'score')::float8 - coalesce((r #>> '{vector,term}')::float8, 0) - coalesce((r #>> '{bm25,term}')::float8, 0)) < 1e-12) as terms_add_up
from memory_explain('柚木', 3, 'S10') e, jsonb_array_elements(e -> 'results') r;
-- Why there is nothing
select e ->> 'empty_because' as reason
from (values
    (1, memory_explain('', 5, 'S10')),
    (2, memory_explain(null, 5, 'S10')),
    (3, memory_explain('柚木', 0, 'S10')),
    (4, memory_explain('柚木', 5, 'no such namespace')),
    (5, memory_explain('柚木', 5, 'S10', '{"no": "such"}')),
    (6, memory_explain('桫椤', 5, 'S10', mode => 'bm25')),
    (7, memory_explain('柚木', 5, 'S10'))
) v (n, e)
order by n;

--
-- memory_context
--
insert into memories (namespace, path, title, content, occurred_at) values
    ('context', 'memory/2026-02-19.md', '购物', '在超市买了苹果和香蕉。', '2026-02-19 12:00+00'),
    ('context', null, null, '苹果放在冰箱里。', null);
select memory_context('苹果', namespace => 'context') like E'%[2026-02-19 · memory/2026-02-19.md · 购物]\n在超市买了苹果和香蕉。%' as with_its_origin,
    memory_context('苹果', namespace => 'context') like '%苹果放在冰箱里。%' as both,
    memory_model_tokens(memory_context('苹果', namespace => 'context')) <= 1000 as fits;
select memory_context('苹果', 20, namespace => 'context') as small, memory_context('苹果', 0, namespace => 'context') = '' as none,
    memory_context('', namespace => 'context') = '' as no_question, memory_context(null, namespace => 'context') = '' as null_question;
select memory_context('苹果', k => 1, namespace => 'context', filter => '{"no": "such"}') = '' as filtered;

-- An empty store
truncate memories;
select count(*) from memory_search('樱花', 10);
select count(*) from memory_search('樱花', 10, '*', mode => 'vector');
select memory_explain('樱花') ->> 'empty_because' as reason;
select memory_explain('樱花', namespace => '*') ->> 'empty_because' as reason;

--
-- Metadata comes back as it is stored, whatever JSON it is
--
insert into memories (namespace, content, metadata) values
    ('json', '檀木 一', '{"n": 12345678901234567890123, "p": 0.10000000000000000001, "e": 1e400}'),
    ('json', '檀木 二', ('{"a":' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb);
select s.content, s.metadata = m.metadata as same, length(s.metadata::text)
from memory_search('檀木', namespace => 'json', mode => 'bm25') s
join memories m using (id)
order by s.id;
select content from memory_search('檀木', namespace => 'json', mode => 'bm25', filter => '{"n": 12345678901234567890123}');
select jsonb_array_length(memory_explain('檀木', namespace => 'json', mode => 'bm25') -> 'results');

--
-- A question of any length is answered
--
select count(*)
from memory_search('檀木 ' || (select string_agg(md5(g::text), ' ') from generate_series(1, 60000) g), namespace => 'json', mode => 'bm25');
select count(*)
from memory_search('檀木 ' || (select string_agg(chr(19968 + g), ' ') from generate_series(1, 20000) g), namespace => 'json', mode => 'bm25');

--
-- Equal distances come in the order of ids, at the limit of the arm too
--
insert into memories (id, namespace, content, embedding)
select 9000000 - g, 'tie', '同样', near('同样', 0) from generate_series(1, 60) g;
select array_agg(id order by vector_rank) from memory_search('同样', 5, 'tie', mode => 'vector', collapse => false);
select array_agg(id order by ordinality) from memory_search('同样', 5, 'tie', collapse => false) with ordinality;

--
-- The terms of an explanation add up to the score, whatever the fusion
--
select f, r.value ->> 'content' as content, abs((r.value -> 'score')::float8 - coalesce((r.value #> '{vector,term}')::float8, 0)
    - coalesce((r.value #> '{bm25,term}')::float8, 0)) < 1e-12 as adds_up
from unnest(array['rrf', 'convex']) f, jsonb_array_elements(memory_explain('沉香 红木', 3, 'long', fusion => f) -> 'results') r;
