-- Archive: what is stored once and what twice, every format, lists and searches, and the way to memories.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
set summer_memory.embed = 'off';

--
-- One message, once
--
-- A02: two ids of one pipeline are two messages; without ids, or from two pipelines, the words decide
select added from conv_append('a02', 'user', '+1', '2026-02-19 09:00:00', 'm1');
select added from conv_append('a02', 'user', '+1', '2026-02-19 09:00:02', 'm2');
select added from conv_append('a02 without', 'user', '+1', '2026-02-19 09:00:00');
select added from conv_append('a02 without', 'user', '+1', '2026-02-19 09:00:02');
select added from conv_append('a02 two', 'user', '+1', '2026-02-19 09:00:02', 'h1', 'openclaw_hooks');
select added from conv_append('a02 two', 'user', '+1', '2026-02-19 09:00:00', 't1', 'openclaw');
-- The window reaches five seconds both ways, and is of one role and one session
select (conv_append('window', 'user', '早', '2026-02-19 09:00:10')).added;
select t, (conv_append('window', 'user', '早', t)).added
from unnest(array['2026-02-19 09:00:05', '2026-02-19 09:00:15', '2026-02-19 09:00:04.999', '2026-02-19 09:00:20.001']::timestamptz[]) t;
select (conv_append('window', 'assistant', '早', '2026-02-19 09:00:10')).added as other_role,
    (conv_append('window 2', 'user', '早', '2026-02-19 09:00:10')).added as other_session;
-- A03: an id beats the window, within its session
select t, (conv_append('a03', 'user', '开始备份', '2026-02-19 09:00:00'::timestamptz + t * interval '1 second', '4711')).added
from unnest(array[0, 61, 122]) t;
select (conv_append('a03 other', 'user', '开始备份', '2026-02-19 09:00:00', '4711')).added;
-- Two pipelines that number alike do not swallow each other's messages
select (conv_append('alike', 'user', '第一句', '2026-02-19 09:00:00', '1', 'openai')).added;
select (conv_append('alike', 'user', '另一句', '2026-02-19 09:10:00', '1', 'chatgpt')).added;
-- The id that is returned is the stored message's
select (conv_append('ids', 'user', '同一条', '2026-02-19 09:00:00')).id
    = (conv_append('ids', 'user', '同一条', '2026-02-19 09:00:01')).id as same_id;
-- A18: what only some pipelines add does not count, and what is stored is what came first, verbatim
select (conv_append('a18', 'user', E'Conversation info (untrusted metadata):\n```json\n{"message_id": "4411"}\n```\n\n明天提醒我', '2026-02-19 09:10:00', 'b8', 'openclaw')).added;
select (conv_append('a18', 'user', '明天提醒我', '2026-02-19 09:10:01', '4411', 'openclaw_hooks')).added;
select (conv_append('a18', 'assistant', '[[reply_to_current]] 记下了', '2026-02-19 09:10:06', 'b11', 'openclaw')).added;
select (conv_append('a18', 'assistant', '记下了', '2026-02-19 09:10:05', '9002', 'openclaw_hooks')).added;
select role, content from conv_get('a18');

--
-- Plain insert and copy meet the same rules
--
insert into conversations (session_key, role, content, "timestamp", message_id, source) values
    ('plain', 'user', '一', '2026-02-19 09:00:00', '1', 'x'),
    ('plain', 'user', '一', '2026-02-19 09:00:00', '1', 'x'),
    ('plain', 'user', '一', '2026-02-19 09:00:01', '2', 'x'),
    ('plain', 'user', '二', '2026-02-19 09:00:00', null, 'x'),
    ('plain', 'user', '二', '2026-02-19 09:00:03', null, 'x');
copy conversations (session_key, role, content, "timestamp") from stdin;
plain	user	二	2026-02-19 09:00:01
plain	user	三	2026-02-19 09:00:01
\.
select content, "timestamp", message_id, fingerprint = conv_fingerprint(content) as printed,
    search = memory_tsvector(null, content) as words, token_count
from conversations
where session_key = 'plain'
order by "timestamp", id;
-- A row that brings its fingerprint is taken as it is: a dump brings back what it saved
insert into conversations (session_key, role, content, "timestamp", fingerprint)
select session_key, role, content, "timestamp", fingerprint
from conversations
where session_key = 'plain' and content = '三';
select count(*) from conversations where session_key = 'plain' and content = '三';
-- A changed text has another fingerprint and other words
update conversations set content = '四' where session_key = 'plain' and content = '三';
select distinct fingerprint = conv_fingerprint('四') as printed, search = memory_tsvector(null, '四') as words
from conversations
where session_key = 'plain' and content = '四';
-- Nothing is stored twice or lost in one statement of many rows
insert into conversations (session_key, role, content, "timestamp")
select 'many ' || s, 'user', 'message ' || m, '2026-02-19 09:00:00'::timestamptz + m * interval '1 minute'
from generate_series(1, 20) s, generate_series(1, 50) m, generate_series(1, 2);
select count(*), count(distinct session_key) from conversations where session_key like 'many %';

--
-- Keys (A12)
--
create table keys (place integer generated always as identity, key text);
insert into keys (key) values
    ('agent:main:telegram:group:-1001234567890:topic:12'), ('agent:wa:+8613800000000'), ('a/b'), ('a_b'), ('A/B'),
    ('每日早报 ☀️'), (E'tab\tkey'), ('%'), ('_'), ($$'; drop table conversations; --$$), (repeat('k', 2000)), ('..'), ('a%2Fb');
select count(*) filter (where a.added) from keys k, conv_append(k.key, 'user', 'key ' || k.place, '2026-02-19') a;
select k.place, g.content
from keys k
left join conv_get(k.key) g on true
order by k.place;
select to_regclass('conversations') is not null as still_there;
select count(*) from keys k join conv_list(1000) l on l.session_key = k.key;
select session_key from conv_list(10, '%');
select session_key from conv_list(10, 'a_');
select count(distinct conv_path(key)) = count(*) as distinct_paths from keys;

--
-- Order (A10)
--
select count(*)
from unnest(array['z', 'y', 'x']) with ordinality m (content, place), conv_append('order', 'user', m.content, '2026-02-19 09:00:00.123') a;
select (conv_append('order', 'assistant', 'later', '2099-01-01')).added, (conv_append('order', 'assistant', 'earlier', '2026-02-19 09:00:00.1')).added;
select content, "timestamp" from conv_get('order');
select content from conv_get('order', 2);
select content from conv_get('order', null, '2026-02-19 09:00:00.123', '2026-02-20');
select count(*) from conv_get('no such session');

--
-- Lists and figures
--
delete from conversations;
insert into conversations (session_key, role, content, "timestamp", source) values
    ('one', 'assistant', '你好', '2026-02-19 08:00', 'x'),
    ('one', 'user', E'第一句\n  第二行', '2026-02-19 09:00', 'x'),
    ('two', 'user', '只有一句', '2026-02-20 09:00', null),
    ('three', 'assistant', '没有人说话', '2026-02-18 09:00', 'y');
select * from conv_list();
select session_key from conv_list(2);
select session_key from conv_list(5, 't');
select count(*) from conv_list(0);
select messages, sessions, first_at, last_at, by_role, by_source from conv_stats();

--
-- Search
--
insert into conversations (session_key, role, content, "timestamp") values
    ('s', 'user', '博客的 RSS 为什么重复', '2026-02-19 09:00'),
    ('s', 'assistant', '`guid` 里拼了时间戳，RSS 阅读器以为是新文章', '2026-02-19 09:01'),
    ('s', 'user', '喝茶', '2026-02-19 09:02'),
    ('other', 'user', 'RSS', '2026-02-21 09:00');
select content from conv_search('RSS重复');
select content from conv_search('阅读器');
select content from conv_search('rss', 10, 's', 'user');
select content from conv_search('rss', 10, since => '2026-02-20');
select content from conv_search('rss', 10, until => '2026-02-20') order by id;
select content from conv_search('茶');
select count(*) from conv_search('xyzzy');
select count(*) from conv_search(' ');
select count(*) from conv_search(null);
select count(*) from conv_search('rss', 0);
select bool_and(score > 0) from conv_search('rss');
-- Off, and on again
select conv_index(false);
select to_regclass('conversations_search_idx');
select conv_search('rss');
insert into conversations (session_key, role, content, "timestamp") values ('s', 'user', 'RSS 静默期', '2026-02-22 09:00');
select count(*) from conversations where search is null;
select conv_index(true);
select content from conv_search('静默期');
-- A21: never in memory_search
select count(*) from memory_search('RSS静默期独角兽', 10);

--
-- To memories
--
select * from conv_to_memory('s');
select path, chunk_index, title, content, occurred_at, metadata ->> 'session' as session, jsonb_array_length(metadata -> 'messages') as messages
from memories
order by path, chunk_index;
select content from conv_sources((select id from memories where content like '%guid%'));
-- Again: nothing changes; grown: only the end changes
select * from conv_to_memory('s');
select (conv_append('s', 'user', repeat('很长的一段话。', 100), '2026-02-23 09:00')).added;
select * from conv_to_memory('s', max_chars => 300);
select max(length(content)) <= 300 as fits, count(*) from memories;
-- A memory outlives its messages, a message its memories
select conv_forget('s', '2026-02-20');
select count(*) from memories;
select count(*) from conv_sources((select min(id) from memories));
select memory_forget(path => 'conversation/s');
select count(*) from conv_get('s');
select * from conv_to_memory('one', namespace => 'elsewhere', path => 'talks/one.md', roles => '{user}', metadata => '{"kind": "talk"}');
select namespace, path, content, metadata - 'messages' as metadata from memories;
select conv_forget('one', memories => true);
select count(*) from memories;
select * from conv_to_memory('no such session');

--
-- Errors
--
select conv_append('', 'user', 'x');
select conv_append(null, 'user', 'x');
select conv_append(repeat('k', 2001), 'user', 'x');
select conv_append('k', '', 'x');
select conv_append('k', 'user', null);
select conv_append('k', 'user', 'x', message_id => repeat('i', 501));
select conv_append('k', 'user', 'x', '-infinity');
select conv_append('k', 'user', 'x', metadata => '[]');
select conv_list(-1);
select conv_get('k', -1);
select conv_search('x', -1);
select conv_forget('');
select conv_to_memory('');
select conv_to_memory('k', max_chars => 0);
\set VERBOSITY terse
insert into conversations (session_key, role, content) values ('', 'user', 'x');
insert into conversations (session_key, role, content) values ('k', 'user', null);
select (conv_append('k', 'user', '', message_id => '')).added;
