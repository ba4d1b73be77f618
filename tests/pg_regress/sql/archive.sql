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
-- Import: OpenClaw
--
delete from conversations;
create table histories (name text, data text);
insert into histories values ('openclaw', $h${"type":"session","version":3,"id":"s1","timestamp":"2026-02-19T01:00:00Z","cwd":"/home/x"}
{"type":"model_change","id":"x1","timestamp":"2026-02-19T01:00:01Z"}
{"type":"message","id":"m1","timestamp":"2026-02-19T01:02:05.120Z","message":{"role":"user","content":"早，看下 RSS"}}
{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-02-19T01:02:09Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"想"},{"type":"text","text":"我先看模板。"},{"type":"toolCall","id":"c","name":"read","arguments":{}}]}}
{"type":"message","id":"m3","timestamp":"2026-02-19T01:02:10Z","message":{"role":"toolResult","content":[{"type":"text","text":"文件内容"}]}}
{"type":"message","id":"m4","timestamp":"2026-02-19T01:02:11Z","message":{"role":"assistant","content":[{"type":"text","text":"改好了。"}]}}
{"type":"message","id":"m5","timestamp":"2026-02-19T01:02:20Z","message":{"role":"assistant","provider":"openclaw","model":"delivery-mirror","content":[{"type":"text","text":"改好了。"}]}}
{"type":"message","id":"m6","timestamp":"2026-02-19T01:03:00Z","message":{"role":"user","content":[{"type":"text","text":"看下这张截图"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}}
{"type":"message","id":"m7","timestamp":"2026-02-19T01:04:00Z","message":{"role":"assistant","content":[{"type":"text","text":"heartbeat_ok"}]}}
{"type":"message","id":"m8","timestamp":"2026-02-19T01:05:00Z","message":{"role":"user","content":"请不要回复 NO_REPLY 这个词"}}
{"type":"compaction","id":"x2","timestamp":"2026-02-19T01:06:00Z","summary":"摘要"}
{"type":"message","id":"m9","parentId":"m8","timestamp":"2026-02-19T01:07:00Z","message":{"role":"user","content":"花了 50 块"}}
{"type":"message","id":"m10","parentId":"m8","timestamp":"2026-02-19T01:08:00Z","message":{"role":"user","content":"花了 58 块"}}
$h$);
-- A04, A09, A19, A22: what was said and nothing else; both branches
select added, updated, duplicates, skipped, bad, pending, jsonb_pretty(report) as report from conv_import((select data from histories where name = 'openclaw'));
select role, content, "timestamp", message_id, source from conv_get('s1');
select count(*) from conversations where content ~ 'iVBOR' or content ~ '内容' or content ~ '想';
select metadata ->> 'parent_id' as parent from conversations where message_id = 'm9';
-- A17: again nothing is new, and the rows of the SQLite store are the same messages
select added, duplicates from conv_import((select data from histories where name = 'openclaw'));
select added, duplicates from conv_import('{"session_id":"s1","session_key":"agent:main:main","seq":1,"event_json":"{\"type\":\"message\",\"id\":\"m1\",\"timestamp\":\"2026-02-19T01:02:05.120Z\",\"message\":{\"role\":\"user\",\"content\":\"早，看下 RSS\"}}"}');
-- A18: hooks of the same session
select added, duplicates from conv_import('{"type":"message","action":"sent","sessionKey":"s1","timestamp":"2026-02-19T01:02:12.400Z","context":{"to":"7","content":"改好了。","success":true,"channelId":"telegram","messageId":"9001"}}
{"type":"message","action":"received","sessionKey":"s1","timestamp":"2026-02-19T01:09:00Z","context":{"from":"7","content":"<media:audio>","channelId":"telegram","messageId":"9002"}}
');
select source, channel, sender, content from conversations where channel is not null;
-- A07: a line that is still being written is pending, and comes once it is complete
select added, pending, report -> 'pending' as report from conv_import('{"type":"message","id":"t1","timestamp":"2026-02-19T02:00:00Z","message":{"role":"user","content":"完整"}}
{"type":"message","id":"t2","timestamp":"2026-02-19T02:00:01Z","message":{"role":"user","cont', session_key => 'tail');
select added, duplicates, pending from conv_import('{"type":"message","id":"t1","timestamp":"2026-02-19T02:00:00Z","message":{"role":"user","content":"完整"}}
{"type":"message","id":"t2","timestamp":"2026-02-19T02:00:01Z","message":{"role":"user","content":"写到一半的"}}', session_key => 'tail');
-- A08: a bad line is named and the rest goes on; strict refuses all
insert into histories values ('broken', $h${"type":"message","id":"b1","timestamp":"2026-02-19T03:00:00Z","message":{"role":"user","content":"坏行之前"}}
{"type":"message","id":"b2" broken}
[1,2,3]
null

{"type":"message","id":"b3","timestamp":"2026-02-19T03:00:01Z","message":{"role":"user","content":"坏行之后"}}
$h$);
select conv_import((select data from histories where name = 'broken'), session_key => 'broken', strict => true);
select count(*) from conv_get('broken');
select added, skipped, bad, report -> 'bad' as lines, report -> 'skipped' as rules from conv_import((select data from histories where name = 'broken'), session_key => 'broken');
-- A06, A23: what other readers stumble over
select added, bad from conv_import(convert_to($${"type":"message","id":"n1","timestamp":"2026-02-19T04:00:00Z","message":{"role":"user","content":"孤立 \ud83d 结束"}}
{"type":"message","id":"n2","timestamp":"2026-02-19T04:00:01Z","message":{"role":"user","content":"空字符 a\u0000b"}}
{"type":"message","id":"n3","timestamp":"2026-02-19T04:00:02Z","message":{"role":"user","content":"表情 \ud83d\ude00"}}
{"type":"message","id":"n4","timestamp":"2026-02-19T04:00:03Z","message":{"role":"user","content":"$$ || U&'\884C\2028\6BB5\2029\8FD8\0085\5728' || $$"}}
{"type":"message","id":"n5","timestamp":"2026-02-19T04:00:04Z","message":{"role":"user","content":"$$, 'UTF8') || '\xff'::bytea || convert_to($$"}}
$$, 'UTF8'), session_key => 'nasty');
select content, length(content) from conv_get('nasty') where message_id <> 'n4';
select content = U&'\884C\2028\6BB5\2029\8FD8\0085\5728' as same from conv_get('nasty') where message_id = 'n4';
-- A10, A24: times
set timezone = 'Asia/Shanghai';
select added, report -> 'times_not_their_own' as inherited from conv_import('{"type":"message","id":"z1","timestamp":"2026-02-20T00:00:00Z","message":{"role":"user","content":"时区"}}
{"type":"message","id":"z2","message":{"role":"user","content":"没有时间"}}
{"type":"message","id":"z3","timestamp":1771545608000,"message":{"role":"user","content":"毫秒"}}
{"type":"message","id":"z4","timestamp":1771545609,"message":{"role":"user","content":"秒"}}
{"type":"message","id":"z5","timestamp":"2026-02-20 08:00:09","message":{"role":"user","content":"没有时区"}}
{"type":"message","id":"z6","timestamp":"2026-02-20T08:00:10+08:00","message":{"role":"user","content":"有时区"}}
{"type":"message","id":"z7","timestamp":"2026-02-30","message":{"role":"user","content":"没有这一天"}}
', session_key => 'times');
set timezone = 'UTC';
select content, "timestamp" from conv_get('times') order by message_id;
select added from conv_import('{"type":"message","id":"z5","timestamp":"2026-02-20 08:00:09","message":{"role":"user","content":"没有时区"}}', session_key => 'zone', time_zone => 'Asia/Shanghai');
select "timestamp" from conv_get('zone');
-- A22: nothing in it
select added, skipped from conv_import('');
select added, skipped from conv_import('{"type":"session","version":3,"id":"empty","timestamp":"2026-02-19T01:00:00Z"}');
-- A16: a long message is stored whole, and again is no new one
select added from conv_import('{"type":"message","id":"h1","timestamp":"2026-02-19T05:00:00Z","message":{"role":"user","content":"' || repeat('很长的一句话。', 200000) || '"}}', session_key => 'huge');
select length(content) from conv_get('huge');
select added, duplicates from conv_import('{"type":"message","id":"h1","timestamp":"2026-02-19T05:00:00Z","message":{"role":"user","content":"' || repeat('很长的一句话。', 200000) || '"}}', session_key => 'huge');

--
-- Import: Claude Code
--
delete from conversations;
insert into histories values ('claude1', $h${"type":"summary","summary":"标题","leafUuid":"u2"}
{"type":"user","uuid":"u1","sessionId":"c1","cwd":"/home/xia/青石科技","timestamp":"2026-02-19T01:20:00Z","message":{"role":"user","content":"改成固定 id"}}
{"type":"assistant","uuid":"u2","sessionId":"c1","timestamp":"2026-02-19T01:20:03Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"想"}]}}
{"type":"assistant","uuid":"u3","sessionId":"c1","timestamp":"2026-02-19T01:20:04Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"先读模板。"}]}}
{"type":"user","uuid":"u4","sessionId":"c1","timestamp":"2026-02-19T01:20:05Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"模板"}]}}
{"type":"user","uuid":"u5","sessionId":"c1","isMeta":true,"timestamp":"2026-02-19T01:20:06Z","message":{"role":"user","content":"说明"}}
{"type":"user","uuid":"u6","sessionId":"c1","isSidechain":true,"timestamp":"2026-02-19T01:20:07Z","message":{"role":"user","content":"子代理"}}
$h$);
insert into histories values ('claude2', $h${"type":"user","uuid":"u1","sessionId":"c2","timestamp":"2026-02-19T01:20:00Z","message":{"role":"user","content":"改成固定 id"}}
{"type":"assistant","uuid":"u3","sessionId":"c2","timestamp":"2026-02-19T01:20:04Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"先读模板。"}]}}
{"type":"user","uuid":"u7","sessionId":"c2","cwd":"/home/xia/白云实业","timestamp":"2026-02-20T01:00:00Z","message":{"role":"user","content":"上线了吗"}}
{"type":"assistant","uuid":"u8","sessionId":"c2","timestamp":"2026-02-20T01:00:01Z","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"上线"}]}}
$h$);
insert into histories values ('claude3', $h${"type":"assistant","uuid":"u8","sessionId":"c2","timestamp":"2026-02-20T01:00:01Z","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"上线"}]}}
{"type":"assistant","uuid":"u9","sessionId":"c2","timestamp":"2026-02-20T01:00:02Z","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"上线了，不再重复。"}]}}
$h$);
-- A13, A14: sessions by their id; a resumed session adds what is new; a longer snapshot takes the place of a shorter one
select added, updated, duplicates, report -> 'skipped' as skipped from conv_import((select data from histories where name = 'claude1'));
select added, updated, duplicates from conv_import((select data from histories where name = 'claude2'));
select added, updated, duplicates from conv_import((select data from histories where name = 'claude3'));
select added, updated, duplicates from conv_import((select data from histories where name = 'claude2'));
select session_key, role, content, message_id, metadata ->> 'cwd' as cwd from conversations order by "timestamp", id;
delete from conversations;
select added, updated, duplicates from conv_import((select data from histories where name = 'claude3'));
select added, updated, duplicates from conv_import((select data from histories where name = 'claude2'));
select added, updated, duplicates from conv_import((select data from histories where name = 'claude1'));
select role, content from conversations order by "timestamp", id;

--
-- Import: ChatGPT, and arrays of messages
--
delete from conversations;
-- A15: the way to current_node; without times or titles; a circle; a bad conversation
select added, skipped, bad, report -> 'bad' as lines, report -> 'skipped' as rules from conv_import('[
{"title":"RSS","create_time":1771462800.5,"conversation_id":"g1","current_node":"a2","mapping":{
 "r":{"id":"r","message":null,"parent":null,"children":["s1"]},
 "s1":{"id":"s1","message":{"id":"s1","author":{"role":"system"},"content":{"content_type":"text","parts":[""]},"metadata":{"is_visually_hidden_from_conversation":true}},"parent":"r","children":["u1"]},
 "u1":{"id":"u1","message":{"id":"u1","author":{"role":"user"},"create_time":1771463000.2,"content":{"content_type":"text","parts":["为什么重复？"]}},"parent":"s1","children":["a1","a2"]},
 "a1":{"id":"a1","message":{"id":"a1","author":{"role":"assistant"},"create_time":1771463010.0,"content":{"content_type":"text","parts":["重新生成前"]}},"parent":"u1","children":[]},
 "a2":{"id":"a2","message":{"id":"a2","author":{"role":"assistant"},"create_time":1771463020.75,"content":{"content_type":"text","parts":["检查 guid。"]}},"parent":"u1","children":[]}}},
{"title":null,"conversation_id":"g2","current_node":"x1","mapping":{"x1":{"id":"x1","message":{"id":"x1","author":{"role":"user"},"create_time":null,"content":{"content_type":"text","parts":["没有时间"]}},"parent":"x1","children":["x1"]}}},
{"title":"坏","conversation_id":"g3"},
7
]');
select session_key, role, content, "timestamp" from conversations order by session_key, "timestamp", id;
delete from conversations;
select added, skipped, report -> 'skipped' as rules from conv_import('[{"role":"system","content":"你是助手"},{"role":"user","content":"杭州天气？"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c","content":"12"},{"role":"assistant","content":"12 度。"},{"role":"user","content":"好"},{"role":"assistant","content":"好"},{"role":"user","content":"好"},
{"role":"user","content":[{"type":"text","text":"那"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"text","text":"要带伞吗"}]}]',
    'openai', 'weather');
select role, content, source from conv_get('weather');
-- The same array, longer: only the growth
select added, duplicates from conv_import('[{"role":"user","content":"杭州天气？"},{"role":"assistant","content":"12 度。"},{"role":"user","content":"好"},{"role":"assistant","content":"好"},{"role":"user","content":"好"},{"role":"user","content":"新的"}]',
    'openai', 'weather');
select added, skipped from conv_import('{"role":"user","content":"读一下"}
{"role":"assistant","content":[{"type":"text","text":"好的，"},{"type":"tool_use","id":"t","name":"read","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}
', 'anthropic', 'read');
select role, content from conv_get('read');
-- A source and a channel of one's own, and the lines themselves
select added from conv_import('{"role":"user","content":"原样"}', 'openai', 'raw', source => 'mine', channel => 'terminal', keep_raw => true);
select source, channel, raw from conversations where session_key = 'raw';
-- Without a key the session is named after its first message, each time alike
select (conv_import('{"role":"user","content":"没有名字"}')).added;
select (conv_import('{"role":"user","content":"没有名字"}')).duplicates;
-- Errors
select conv_import(null::bytea);
select conv_import('', 'telegram');
select conv_import('', time_zone => 'Mars/Base');
select conv_import('', session_key => '');
select conv_import('\x1f8b08'::bytea);
select conv_import('\x504b0304'::bytea);
select conv_import('\x28b52ffd00'::bytea);

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
\set VERBOSITY default

--
-- Which message is which, again
--
delete from conversations;
-- A chat begun anew keeps its key and has another session id: each id goes where its messages are
create function rows_of(id text, key text, numbers integer[]) returns text language sql as $$
    select string_agg(json_build_object('session_id', id, 'session_key', key, 'event_json', json_build_object(
        'type', 'message', 'id', 'm' || n, 'timestamp', '2026-02-19T01:00:00Z'::timestamptz + n * interval '1 minute',
        'message', json_build_object('role', 'user', 'content', id || ' ' || n)))::text, e'\n' order by n) || e'\n'
    from unnest(numbers) n
$$;
select added from conv_import('{"type":"session","version":3,"id":"sid 1","timestamp":"2026-02-19T01:00:00Z"}
{"type":"message","id":"m1","timestamp":"2026-02-19T01:01:00Z","message":{"role":"user","content":"sid 1 1"}}
');
select added, duplicates, report -> 'sessions' as sessions from conv_import(rows_of('sid 1', 'agent:main:main', '{1,2}') || rows_of('sid 2', 'agent:main:main', '{1,3}'));
select added, duplicates from conv_import(rows_of('sid 2', 'agent:main:main', '{1,3}') || rows_of('sid 1', 'agent:main:main', '{1,2}'));
select added, duplicates from conv_import('{"type":"session","version":3,"id":"sid 2","timestamp":"2026-02-19T01:00:00Z"}
{"type":"message","id":"m1","timestamp":"2026-02-19T01:01:00Z","message":{"role":"user","content":"sid 2 1"}}
');
select session_key, metadata ->> 'session_id' as session_id, message_id, content from conversations order by 1, 2, 3;
-- The same id in two session ids of one key, in one import and after another
delete from conversations;
select added, duplicates from conv_import(rows_of('sid 3', 'k', '{1}') || rows_of('sid 4', 'k', '{1}'));
select added, duplicates from conv_import(rows_of('sid 5', 'k', '{1}'));
select added, duplicates from conv_import(rows_of('sid 4', 'k', '{1}'));
select count(*) from conv_get('k');
-- One rule whether two messages come in one batch or in two: by source and words, and by the source that is stored
delete from conversations;
insert into histories values ('alike 1', $h${"type":"message","id":"1","timestamp":"2026-02-19T01:00:00Z","message":{"role":"user","content":"从记录"}}
$h$), ('alike 2', $h${"type":"message:received","sessionKey":"k","timestamp":"2026-02-19T02:00:00Z","context":{"from":"7","content":"从钩子","messageId":"1","channelId":"x"}}
$h$);
select added, duplicates from conv_import((select string_agg(data, '' order by name) from histories where name like 'alike%'), session_key => 'one');
select added, duplicates from histories, conv_import(data, session_key => 'two') where name like 'alike%' order by name;
delete from conversations;
insert into histories values ('resumed', $h${"type":"user","uuid":"u1","sessionId":"r1","timestamp":"2026-02-19T01:20:00Z","message":{"role":"user","content":"同一行"}}
{"type":"user","uuid":"u1","sessionId":"r2","timestamp":"2026-02-19T01:20:00Z","message":{"role":"user","content":"同一行"}}
$h$);
select added, duplicates from conv_import((select data from histories where name = 'resumed'), source => 'mine');
select line, added, duplicates from regexp_split_to_table((select data from histories where name = 'resumed'), '\n') with ordinality l (line_text, line),
    conv_import(line_text, source => 'other') where line_text <> '' order by line;
-- A longer snapshot takes the place of all that are stored, and nothing else of its API message does
delete from conversations;
create function block(id text, content text, stop text default null) returns text language sql as $$
    select json_build_object('type', 'assistant', 'uuid', id, 'sessionId', 'c', 'timestamp', '2026-02-19T01:20:00Z', 'message', json_build_object(
        'id', 'msg_' || left(id, 1), 'stop_reason', stop, 'content', json_build_array(json_build_object('type', 'text', 'text', content)))) || e'\n'
$$;
select sum(i.added) from unnest(array[block('a1', '好', 'stop'), block('a2', '好的', 'stop'), block('b1', '好')]) b, conv_import(b) i;
select added, updated, duplicates from conv_import(block('a1', '好') || block('a2', '好的') || block('a3', '好的，改完了', 'end_turn'));
select message_id, content from conv_get('c') order by message_id;
select added, updated, duplicates from conv_import(block('a1', '好') || block('a2', '好的') || block('a3', '好的，改完了', 'end_turn'));
select added, updated, duplicates from conv_import(block('a4', '好', 'end_turn'));
select message_id, content from conv_get('c') order by message_id;

--
-- Long ids, ends of time, a table of somebody else's
--
delete from conversations;
select added from conv_append('long', 'user', 'x', '2026-02-19', metadata => jsonb_build_object('session_id', (select string_agg(md5(n::text), '') from generate_series(1, 2000) n)));
select added from conv_append('long', 'user', 'y', '2026-02-19', metadata => jsonb_build_object('api_message_id', (select string_agg(md5(n::text), '') from generate_series(1, 2000) n)));
select added from conv_import('{"session_id":"' || (select string_agg(md5(n::text), '') from generate_series(1, 2000) n) || '","session_key":"long","event_json":{"type":"message","id":"l1","timestamp":"2026-02-19T05:00:00Z","message":{"role":"user","content":"z"}}}');
select t, (conv_append('ends', 'user', 'x', t)).added
from unnest(array['294276-12-31 23:59:59.999999+00', '294276-12-31 23:59:56+00', '4714-11-24 00:00:00+00 BC', '4714-11-24 00:00:04+00 BC']::timestamptz[]) t;
select conv_append('ends', 'user', 'x', 'infinity');
begin;
alter table conversations rename to archived;
create table conversations (id integer, note text);
select conv_init();
rollback;

--
-- Figures and lists, again
--
delete from conversations;
insert into conversations (session_key, role, content, "timestamp", source)
select 'tie ' || n, 'user', 'x ' || n, '2026-02-19 08:00', case when n % 2 = 0 then '' end
from generate_series(1, 3500) n;
select by_source from conv_stats();
select session_key from conv_list(3);
select array_agg(session_key) from (select session_key from conv_list(3500) limit 3) l;
-- Memories: what the arguments must be, and which are the conversation's
select * from conv_to_memory('tie 1', metadata => '[1]');
select * from conv_to_memory('tie 1', path => '');
select * from conv_to_memory('tie 1', since => '2026-02-20', until => '2026-02-20');
select * from conv_to_memory('tie 1');
select memory_add('一条笔记', metadata => '{"session": "tie 1"}') is not null as noted;
select memory_add('编号', metadata => '{"messages": [1e30, 1.5, -1, 0, "1", null, 9223372036854775808]}') as numbers \gset
select count(*) from conv_sources(:numbers);
select conv_forget('tie 1', memories => true);
select content from memories where metadata ->> 'session' = 'tie 1';
