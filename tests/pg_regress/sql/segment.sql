-- Segment: words as functions, the text search parser, dictionary and configuration "jieba", headlines and
-- phrases, the user dictionary, and what stays usable after an error. A comment above names the case.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

-- The words of the list that a text is not found by.
create function missing(doc text, variadic words text[])
returns text[]
language sql
return (
    select coalesce(array_agg(w order by o), '{}')
    from unnest(words) with ordinality u (w, o)
    where not to_tsvector('jieba', doc) @@ plainto_tsquery('jieba', w)
);

-- The words of the list that a text is found by.
create function found(doc text, variadic words text[])
returns text[]
language sql
return (
    select coalesce(array_agg(w order by o), '{}')
    from unnest(words) with ordinality u (w, o)
    where to_tsvector('jieba', doc) @@ plainto_tsquery('jieba', w)
);

--
-- Words as functions: what python jieba 0.42.1 gives
--
-- P01, P03, P14, P15, P21, P22, P30
select jieba_cut(t)
from unnest(array[
    '周末全家去湿地公园看候鸟迁徙',
    '去中国农业发展银行办了开户',
    '凌晨批量处理自动提交超凡的 Baidu百度 𠮷',
    '她现在是CTO，负责整条产品线。',
    '𠮷野家𠀀𠀁套餐',
    '1.打开网关.2.看日志. 了解PG18.0.',
    'step1.hello.2.world.',
    '博客RSS订阅修好了',
    '買了蘋果和香蕉',
    '今天很开心🎉我们去露营',
    'AT&T 和 C# 还有 C++',
    ''
]) with ordinality u (t, o)
order by o;

-- P02: words inside long words, whatever their length
select jieba_cut_for_search(t)
from unnest(array['他心理健康', '立体仓库', '数据库性能优化', '中国农业发展银行', '云海科技发布会', '内网IP地址改了', '尾部信标紫藤'])
    with ordinality u (t, o)
order by o;

-- P31: ASCII runs and numbers, with and without HMM
select t, jieba_cut(t), jieba_cut(t, false) as without_hmm
from unnest(array['AB-7.2.1', 'BX2607-33', 'TT-QQ881', '3.14', '65%', '1,024', '10:30', '2026-04-01', 'a_b', '升到7.2.1了'])
    with ordinality u (t, o)
order by o;

select jieba_cut('他来到了网易杭研大厦') as hmm, jieba_cut('他来到了网易杭研大厦', hmm => false) as without_hmm;
select jieba_cut_for_search('小明硕士毕业于中国科学院计算所', false);
select jieba_cut_all('我来到北京清华大学');
select jieba_cut_all('IP地址 abc');
select word, tag from jieba_tag('我爱北京天安门，2026 年 hello');
select word, round(weight::numeric, 4) as weight
from jieba_keywords('数据库性能优化：数据库的慢查询要先看索引，再看数据库的参数。', 4);
select word, weight between 0 and 1 as normal
from jieba_keywords('数据库性能优化：数据库的慢查询要先看索引，再看数据库的参数。', 1, method => 'textrank');
select count(*) from jieba_keywords('数据库性能优化', 0);
select count(*) from jieba_keywords('', 5);

-- NULL in, NULL or nothing out
select jieba_cut(null) is null, jieba_cut_for_search(null) is null, jieba_cut_all(null) is null, jieba_fold(null) is null;
select count(*) from jieba_tag(null);
select count(*) from jieba_keywords(null);

-- P21: whatever the characters, the words are the text
select string_agg(w, '' order by o) = t as whole
from unnest(array[
    '𠮷野家𠀀𠀁套餐',
    '𪚥' || repeat('汉', 999) || '𪚥',
    E'\u00A0前导不换行空格',
    '👨‍👩‍👧‍👦⛺️é',
    E'\ufeff今\u200b天'
]) with ordinality u (t, n),
    lateral unnest(jieba_cut(t)) with ordinality v (w, o)
group by n, t
order by n;

-- P23: long unbroken input takes linear time
set statement_timeout = '20s';
select length(to_tsvector('jieba', repeat('中国', 50000)));
select string_agg(w, '' order by o) = repeat('嘅喺', 50000) as whole
from unnest(jieba_cut(repeat('嘅喺', 50000))) with ordinality u (w, o);
select cardinality(jieba_cut(repeat('a', 200000)));
select cardinality(jieba_cut(repeat('1', 200000)));
reset statement_timeout;

-- Folding, for indexing only
select jieba_fold('ＡＰＩ网关 資料庫效能優化 Ⅷ ①② ｶﾞ') as folded;
select jieba_fold(E'\ufeff今\u200b天天\u200d气') = '今天天气' as zero_width_gone;

--
-- Parser
--
select t.alias, p.token
from ts_parse('jieba', '用GPT-4o写 session_key_v2、C++ 和 C#：ops@example.org https://a.example/x/y?q=1 v1.2.3 3.14 -5 🎉 2026-04-01 RSS订阅') with ordinality p (tokid, token, o)
join ts_token_type('jieba') t on t.tokid = p.tokid
order by p.o;

-- P14: no kind of word falls through; what is left out is not a word
select t.alias
from ts_token_type('jieba') t
where not exists (
    select from pg_ts_config_map m
    where m.mapcfg = 'jieba'::regconfig
        and m.maptokentype = t.tokid
)
order by t.tokid;
select t.alias, string_agg(m.mapdict::regdictionary::text, ', ' order by m.mapseqno) as dictionaries
from pg_ts_config_map m
join ts_token_type('jieba') t on t.tokid = m.maptokentype
where m.mapcfg = 'jieba'::regconfig
group by t.tokid, t.alias
order by t.tokid;

--
-- Configuration
--
-- P01
select missing('周末全家去湿地公园看候鸟迁徙', '候鸟', '湿地');
select to_tsvector('simple', '周末全家去湿地公园看候鸟迁徙') @@ plainto_tsquery('simple', '候鸟') as the_default_parser_fails;
-- P02
select missing('他心理健康', '心理', '健康', '心理健康');
select missing('立体仓库', '立体', '仓库', '立体仓库');
-- P03
select missing('去中国农业发展银行办了开户', '农业', '银行', '发展银行', '中国农业发展银行');
select found('去中国农业发展银行办了开户', '工商');
-- Inner words stand where the long word stands
select to_tsvector('jieba', '去中国农业发展银行办了开户');

-- P05
select to_tsvector('jieba', 'C#'), to_tsvector('jieba', 'C++'), to_tsvector('jieba', 'F#'), to_tsvector('jieba', 'g++');
select found('网关那块是C++写的', 'c++', 'C#', 'F#'), found('大学学过C语言', 'C++', 'C#', 'C语言', '语言', 'C'),
    found('用F#写的', 'f#', 'C#');
-- P06
select found('把 Node.js 升到 22', 'Node.js', 'node', 'js', '22'), found('这个 node 服务和 js 文件', 'node.js', 'node', 'js');
select found('反代到 www.example.com', 'www.example.com', 'example', 'EXAMPLE.com');
-- P07
select found('用GPT-4o写周报最稳', 'gpt-4o', 'GPT-4o', 'gpt', '4o', 'ＧＰＴ－４ｏ'), found('ＧＰＴ－４ｏ 全角写法', 'gpt-4o', '全角');
select found('GPT 分区表和 4o 号楼', 'gpt-4o');
-- P13: stop words go, content words stay, single characters among them
select missing('桌上有狗、猫、水', '狗', '猫', '水');
select numnode(plainto_tsquery('jieba', '的'));
select to_tsvector('jieba', '的了是 和 与 以及 the of and');
-- P14
select missing('凌晨批量处理自动提交超凡的 Baidu百度 𠮷', '凌晨', '批量', '处理', '自动', '提交', '超凡', 'baidu', '百度', '𠮷');
-- P15
select missing('她现在是CTO，负责整条产品线。', '产品', '产品线', 'cto', '负责');
-- P18
select missing('会议定在２０２７年１１月８日', '2027', '11', '8'), missing('ＡＰＩ网关扩容', 'API网关', 'ａｐｉ', 'api'), missing('打折１００％返现', '100', '返现');
-- P19
select missing('我買了蘋果和香蕉', '蘋果', '苹果', '香蕉'), missing('資料庫效能優化筆記', '資料庫', '资料库', '优化'), missing('数据库性能优化', '數據庫', '優化');
-- P20
select missing(t, '露营', '帐篷', '开心', '🎉'),
    (select count(*) from unnest(to_tsvector('jieba', t)) where lexeme ~ '[\u200d\ufe0f]') as joiners
from (values ('今天很开心🎉我们去露营👨‍👩‍👧‍👦带上帐篷⛺️')) v (t);
select found('今天很开心', '🎉');
-- P22
select missing('1.打开网关.2.看日志. 了解PG18.0.', '网关', '日志', '打开'), missing('step1.hello.2.world.', 'hello', 'world');
-- P27: no blank and no punctuation among the lexemes, and places count words
select count(*) from unnest(to_tsvector('jieba', E'你好，世界！ hello\t\u3000\n—— “引号” …… ￥100')) where lexeme !~ '[[:alnum:]]';
select to_tsvector('jieba', 'hello world'), to_tsvector('jieba', E'你好，世界！ hello\t\u3000\n—— “引号” …… ￥100');
-- P28
select found('字段 session_key_v2 改名', 'session_key_v2', 'SESSION_KEY_V2', 'session', 'key', 'v2'),
    found('session 的 key 有 v2', 'session_key_v2', 'session');
select missing('看 /srv/memory/2026-04-01.md', '2026-04-01.md', '/srv/memory/2026-04-01.md', '2026-04-01'),
    missing('写信到 ops@example.org', 'ops@example.org', 'ops', 'example.org');
select missing('https://blog.example.com/index.xml?a=1', 'blog.example.com', 'example', 'index.xml', 'https://blog.example.com/index.xml?a=1');
-- P29
select missing(E'\ufeff今天写日志', '今天', '日志'), missing(E'今\u200b天下雨', '今天', '下雨'),
    (select count(*) from unnest(to_tsvector('jieba', E'\ufeff今天')) where lexeme ~ '\ufeff') as marks;
-- P30, S15: a border between Latin and Han is a border between words
select missing('内网IP地址改了', 'IP', 'IP地址', '地址'), missing('博客RSS订阅与PaperMod主题', 'RSS', 'rss', '订阅', 'RSS订阅', 'papermod', 'ＰＡＰＥＲＭＯＤ'),
    missing('买了T恤和U盘', 'U盘', 'T恤');
-- P31: text and question are cut alike
select bool_and(to_tsvector('jieba', t) @@ plainto_tsquery('jieba', t)) as agree
from unnest(array['AB-7.2.1', 'BX2607-33', 'TT-QQ881', '3.14', '65%', '1,024', '10:30', '2026-04-01', 'a_b', '升到7.2.1了', 'v1.2.3', 'C#', '-5', '+1', 'a/b', '~/x.md', '1.8MB', 'Ctrl+C', '下午3点半']) t;
-- Products whose names differ by a digit or a sign stay apart
select found('升到 v1.2.3', 'v1.2.3', 'v1.2.4', '1.2.3'), found('用 GPT-4', 'GPT-4', 'GPT-4o', 'gpt');
-- English is stemmed, and its stop words go
select to_tsvector('jieba', 'The running databases are in use');
select missing('Running databases', 'run', 'database', 'DATABASES');

-- P24: a word too long to be indexed is left out, the rest is there
set client_min_messages = warning;
select missing('附件开头丁香 ' || repeat('QUJDRA', 800) || ' 附件结尾茉莉', '丁香', '茉莉');
reset client_min_messages;

--
-- Phrases and headlines
--
select t, p, to_tsvector('jieba', t) @@ phraseto_tsquery('jieba', p) as matches
from (values
    ('周末全家去湿地公园看候鸟迁徙', '候鸟迁徙'),
    ('周末全家去湿地公园看候鸟迁徙', '湿地公园'),
    ('周末全家去湿地公园看候鸟迁徙', '湿地候鸟'),
    ('周末全家去湿地公园看候鸟迁徙', '迁徙候鸟'),
    ('去中国农业发展银行办了开户', '中国农业发展银行'),
    ('去中国农业发展银行办了开户', '中国银行'),
    ('去中国农业发展银行办了开户', '银行中国'),
    ('数据库性能优化', '数据库性能'),
    ('数据库性能优化', '性能优化'),
    ('用GPT-4o写周报最稳', 'GPT-4o 写周报'),
    ('博客RSS订阅修好了', 'RSS订阅'),
    ('资料库笔记', '資料庫筆記')
) v (t, p);
select ts_headline('jieba', '周末全家去湿地公园看候鸟迁徙', plainto_tsquery('jieba', '候鸟'));
select ts_headline('jieba', '去中国农业发展银行办了开户', plainto_tsquery('jieba', '银行'));
select ts_headline('jieba', '博客RSS订阅与PaperMod主题', plainto_tsquery('jieba', 'rss'));
select ts_headline('jieba', '我買了蘋果和香蕉，還有 ＡＰＩ 網關', plainto_tsquery('jieba', '苹果 api'), 'HighlightAll=true');
select ts_headline('jieba', '看 https://a.example/x/y 和 GPT-4o、ops@example.org 再说', plainto_tsquery('jieba', 'gpt'));
select ts_headline('jieba', '今天很开心🎉我们去露营', plainto_tsquery('jieba', '露营'), 'StartSel=[, StopSel=]');

-- Stop words and synonyms by ordinary dictionaries
create text search dictionary plain (template = jieba, stopwords = none);
select ts_lexize('plain', '的'), ts_lexize('jieba', '的'), ts_lexize('jieba', '农业发展银行');
create text search configuration with_stop_words (copy = jieba);
alter text search configuration with_stop_words alter mapping replace jieba with plain;
select to_tsvector('with_stop_words', '我的书');
create text search dictionary bad (template = jieba, nonsense = 1);
create text search dictionary bad (template = jieba, stopwords = '../../etc/passwd');

-- O02: generated columns and indexes
create table notes (
    id integer primary key,
    t text,
    v tsvector generated always as (to_tsvector('public.jieba', t)) stored
);
create index on notes using gin (to_tsvector('public.jieba', t));
create index on notes using gin (v);
insert into notes (id, t)
select i, case i % 10 when 0 then '第' || i || '天去湿地公园看候鸟' else '第' || i || '天上班写周报' end
from generate_series(1, 20000) i;
analyze notes;
set enable_seqscan = off;
select count(*) from notes where to_tsvector('public.jieba', t) @@ plainto_tsquery('jieba', '候鸟');
select count(*) from notes where v @@ plainto_tsquery('jieba', '周报');
reset enable_seqscan;
-- … and parallel workers cut as the leader does
set min_parallel_table_scan_size = 0;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set enable_bitmapscan = off;
set max_parallel_workers_per_gather = 2;
explain (costs off) select count(*) from notes where to_tsvector('jieba', t) @@ '候鸟'::tsquery;
select count(*) from notes where to_tsvector('jieba', t) @@ '候鸟'::tsquery;
select count(*) from notes where '湿地' = any (jieba_cut(t));
set max_parallel_workers_per_gather = 0;
select count(*) from notes where to_tsvector('jieba', t) @@ '候鸟'::tsquery;
reset max_parallel_workers_per_gather;
reset enable_bitmapscan;
reset parallel_tuple_cost;
reset parallel_setup_cost;
reset min_parallel_table_scan_size;
drop table notes;

--
-- User dictionary
--
-- A word is there with the statement that adds it, and gone with the one that removes it
select jieba_cut('风禾三来电');
insert into memory_words (word, freq, tag) values ('风禾三', 50, 'nz');
select jieba_cut('风禾三来电'), to_tsvector('jieba', '风禾三');
select word, tag from jieba_tag('风禾三来电');
delete from memory_words where word = '风禾三';
select jieba_cut('风禾三来电');

-- P11 (one session): a rollback takes it back
begin;
select jieba_add_word('风禾三', 50, 'nz');
select jieba_cut('风禾三来电');
savepoint s;
select jieba_add_word('来电风禾', 50);
select jieba_cut('来电风禾');
rollback to s;
select jieba_cut('来电风禾'), jieba_cut('风禾三来电');
rollback;
select jieba_cut('风禾三来电');

-- Without a frequency the word is made whole
select jieba_add_word('风禾三');
select jieba_add_word('风禾三', tag => 'nr');
select word, freq, tag from memory_words;
select jieba_cut('风禾三来电'), missing('风禾三来电', '风禾三');
-- Words with letters and digits
select jieba_add_word('PaperMod主题', 100);
select jieba_cut('用PaperMod主题吧'), missing('用PaperMod主题吧', 'papermod', '主题', 'PaperMod主题');
truncate memory_words;
select jieba_cut('风禾三来电');

-- P08: a word with a blank is refused by name
select jieba_add_word('Blue Whale认证', 2000, 'nz');
insert into memory_words (word) values (E'制表\t符');
select jieba_cut('你好世界');

-- P09: broken lines are refused by number, and nothing is loaded
select jieba_load_userdict(E'\n云海科技 5 nz\n\n 3 n\n缺频率 nz\n只有词\n负频率 -7 n\n大频率 99999999999999999999 n\n\uFEFF带BOM 3 n\n');
select count(*) from memory_words;
select jieba_load_userdict(E'云海科技 5 nz\n大频率 99999999999999999999 n\n');
select jieba_load_userdict(E'\uFEFF云海科技 5 nz\r\n\r\n只有词\n缺频率 nz\n');
select word, freq, tag from memory_words order by word collate "C";
select jieba_cut('云海科技发布会');
select jieba_load_userdict('');
select jieba_load_userdict(null) is null;
select jieba_add_word('', 1, 'n');
select jieba_add_word(null, 1, 'n');
select jieba_add_word('，', 1, 'n');
select jieba_add_word('负频率', -7, 'n');
select jieba_add_word(repeat('长', 5000), 1, 'n');
select count(*) from memory_words;
truncate memory_words;

-- P10: a Latin word of the user's cuts no longer English word in two, in the index at least
select jieba_add_word('ens', 100, 'n');
select missing('renew the license', 'license', 'renew'), to_tsvector('jieba', 'renew the license');
select jieba_add_word('小w', 100, 'n');
select jieba_cut('wow小w来了'), missing('wow小w来了', '小w', 'wow');
truncate memory_words;

-- O03: an error is caught, and the session goes on as before
do $$
begin
    perform jieba_load_userdict('坏 -1');
exception
    when others then
        raise notice 'caught %', sqlstate;
end
$$;
do $$
begin
    for i in 1..2000 loop
        begin
            perform jieba_keywords('数据库', 1, 'nonsense');
        exception
            when invalid_parameter_value then
                null;
        end;
    end loop;
    for i in 1..1000 loop
        perform to_tsvector('jieba', '第' || i || '次切分之后一切照旧');
    end loop;
end
$$;
select jieba_cut('一切照旧');

drop text search configuration with_stop_words;
drop text search dictionary plain;
