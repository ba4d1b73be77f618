-- Store: what a row has after insert, update and copy, how files are imported and imported again, what is
-- forgotten, and that none of it asks the model more often than a text changes.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

-- True where a row's derived columns are those of its text.
create function in_step(id bigint)
returns boolean
language sql stable
return (
    select m.content_hash = memory_content_hash(m.title, m.content)
        and m.search = memory_tsvector(m.title, m.content)
        and m.token_count = (select coalesce(sum(cardinality(positions)), 0) from unnest(m.search))
        and m.model = memory_active_model()
        and (m.embedding <=> memory_embed(memory_whole_text(m.title, m.content))) < 1e-6
    from memories m
    where m.id = $1
);

--
-- Plain insert, update, copy
--
insert into memories (content) values ('我昨天去超市买了苹果和香蕉'), ('我开车去上班');
select content from memory_search('水果', 1);
select content from memory_search('通勤', 1);
select id, namespace, path, chunk_index, title, content, metadata, tags, entities, occurred_at, expires_at, model, embed_error
from memories
order by id;
select bool_and(in_step(m.id)) as in_step, bool_and(created_at <= now() and updated_at = created_at) as times,
    min(vector_dims(embedding)) as dims, bool_and(abs(vector_norm(embedding) - 1) < 0.001) as normal
from memories m;
copy memories (path, title, content, metadata, tags) from stdin;
memory/2026-02-19.md	读书	《置身事内》读到第 6 章	{"source": "diary"}	{读书}
memory/2026-02-19.md	待办	给 RSS 加 WebSub	{}	{}
\N	\N	没有路径	{}	{}
\.
select path, chunk_index, title, content, metadata, tags, occurred_at, in_step(m.id) as in_step
from memories m
where id > 2
order by id;
-- A place of one's own in a document; a place is taken once
insert into memories (path, chunk_index, content) values ('memory/2026-02-19.md', 7, '第八段');
insert into memories (path, content) values ('memory/2026-02-19.md', '第九段');
select chunk_index, content from memories where path = 'memory/2026-02-19.md' order by chunk_index;
insert into memories (path, chunk_index, content) values ('memory/2026-02-19.md', 7, '又一个第八段');
\set VERBOSITY terse
insert into memories (content) values (null);
\set VERBOSITY default
-- Commit is searchable, rollback leaves nothing
begin;
insert into memories (content) values ('临时的紫藤花');
select content from memory_search('紫藤花', 1, mode => 'bm25');
rollback;
select count(*) from memory_search('紫藤花', 5, mode => 'bm25');

-- The namespace of a row that names none
set summer_memory.namespace = 'work';
insert into memories (content) values ('工作笔记');
reset summer_memory.namespace;
select namespace, content from memories where content = '工作笔记';
truncate memories restart identity;

--
-- E07: the vector follows the text, and nothing else asks the model
--
insert into memories (path, content) values ('r', '甲：把猫粮换成低敏款');
select in_step(m.id) from memories m;
update memories set content = '乙：路由器重启三次' where path = 'r';
select in_step(m.id), search @@ to_tsquery('jieba', '猫粮') as old_word, search @@ to_tsquery('jieba', '路由器') as new_word from memories m;
update memories set title = '网络' where path = 'r';
select in_step(m.id), search @@ to_tsquery('jieba', '网络') as title_word from memories m;

select memory_model_runs() as runs \gset
create temporary table before as select id, embedding::text as vector, xmin::text as version from memories;
update memories set metadata = '{"x": 1}', tags = '{网}', occurred_at = '2026-02-19', expires_at = '2999-01-01' where path = 'r';
update memories set content = content, title = title where path = 'r';
update memories set path = 'r2', namespace = 'other' where path = 'r';
select memory_model_runs() - :runs as model_runs, m.embedding::text = b.vector as same_vector, in_step(m.id)
from memories m
join before b using (id);
-- An explicit vector wins over the text
update memories set content = '丙', embedding = memory_embed('query: 别的', 'query') where path = 'r2';
select content, (embedding <=> memory_embed('query: 别的', 'query')) < 1e-6 as given, model, search = memory_tsvector(title, content) as words_follow
from memories;
update memories set content = '丁' where path = 'r2';
select in_step(m.id) from memories m;
insert into memories (path, content, embedding) values ('given', '一', memory_embed('二'));
select (embedding <=> memory_embed('二')) < 1e-6 as given, model from memories where path = 'given';
insert into memories (path, content, embedding) values ('narrow', '一', '[1,2,3]');
insert into memories (path, content, embedding, model) values ('foreign', '一', '[1,2,3]', 'some-other-model');
select model, vector_dims(embedding) as dims from memories where path = 'foreign';
-- updated_at is the time of the last change by a user, not of a vector
insert into memories (path, content, updated_at) values ('touch', '碰一下', '2020-01-01');
update memories set embedding = null where path = 'touch';
select memory_backfill();
select updated_at = '2020-01-01' as untouched from memories where path = 'touch';
update memories set tags = '{碰}' where path = 'touch';
select updated_at > '2020-01-01' as touched from memories where path = 'touch';
-- To have it computed again, take it away
update memories set embedding = null where path = 'given';
select embedding is null as pending from memories where path = 'given';
-- Triggers of the user's are no trouble
create function users_trigger()
returns trigger
language plpgsql
as $$
begin
    new.metadata := new.metadata || jsonb_build_object('seen', coalesce((new.metadata ->> 'seen')::integer, 0) + 1);
    return new;
end
$$;
create trigger a_users before insert or update on memories for each row execute function users_trigger();
create trigger z_users before insert or update on memories for each row execute function users_trigger();
insert into memories (path, content) values ('t', '有别人的触发器');
update memories set content = '还是有' where path = 't';
select in_step(m.id), metadata from memories m where path = 't';
drop trigger a_users on memories;
drop trigger z_users on memories;
-- So is a column of the user's
alter table memories add column mood text default 'ok';
insert into memories (path, content, mood) values ('mood', '心情不错', 'good');
select content, mood from memories where path = 'mood';
alter table memories drop column mood;
drop function users_trigger();
drop table before;
-- Words that were stored before the user dictionary changed are read again when asked for, without the model
insert into memories (path, content) values ('words', '风禾三来电');
select jieba_add_word('风禾三');
select memory_model_runs() as runs \gset
select search @@ '风禾三'::tsquery as found, memory_reindex() as reindexed from memories where path = 'words';
select search @@ '风禾三'::tsquery as found, memory_reindex() as reindexed, memory_model_runs() - :runs as model_runs from memories where path = 'words';
delete from memory_words;
update memories set search = null where path = 'words';
select in_step(m.id), search @@ '风禾三'::tsquery as found from memories m where path = 'words';
truncate memories restart identity;

--
-- E06: no model, and everything is stored and found all the same
--
insert into memories (path, content) values ('old', '旧的文字');
insert into memory_options (name, value) values ('model', 'no-such-model');
insert into memories (path, content) values ('e6', '模型不在时写下的紫藤'), ('e6b', '第二行只警告一次');
update memories set content = '新的文字' where path = 'old';
select path, embedding is null as pending, model, embed_error from memories order by id;
select path, degraded from memory_search('紫藤', 1);
select memories, pending, failed, model, dims, model_problem from memory_status;
select count(*) from memory_add('模型不在时加的', 'add');
select added from memory_import('import.md', E'## 节\n模型不在时导入的\n');
select memory_backfill();
delete from memory_options where name = 'model';
select pending from memory_status;
select memory_backfill(1);
select memory_backfill();
select memory_backfill();
select path, in_step(m.id), model from memories m order by id;
select pending, failed from memory_status;
truncate memories restart identity;

-- E05: a row whose vector is missing is found by its words, and reported
insert into memories (path, content) values ('e5', '把猫粮换成低敏款'), ('other', '今天天气很好');
update memories set embedding = null where path = 'e5';
select path, degraded from memory_search('低敏猫粮', 1);
select memories, pending from memory_status;
select memory_backfill();
select path, in_step(m.id) from memories m order by id;
truncate memories restart identity;

-- embed = off and async leave it to others
set summer_memory.embed = 'off';
insert into memories (path, content) values ('off', '不急着算向量');
select embedding is null as pending, search @@ to_tsquery('jieba', '向量') as found from memories;
select memory_backfill();
reset summer_memory.embed;
select in_step(m.id) from memories m;
set summer_memory.embed = 'sometimes';
truncate memories restart identity;

-- E13, S16: rows with nothing to embed are stored without a vector
insert into memories (path, content) values ('blank', '   '), ('empty', ''), ('ideographic', E'\u3000\n');
select path, embedding is null as no_vector, search, token_count from memories order by id;
select memory_backfill();
select pending, failed from memory_status;
update memories set content = '有字了' where path = 'blank';
select path, embedding is null as no_vector, embed_error is null as no_error from memories order by id;
truncate memories restart identity;

-- P24, P26, P21: what is too long or odd for one tsvector is stored whole and found
set client_min_messages = warning;
set summer_memory.embed = 'off';
insert into memories (path, content) values ('p24', '附件开头丁香 ' || repeat('QUJDRA', 800) || ' 附件结尾茉莉');
insert into memories (path, content) values ('p26', (select string_agg('词' || i, ' ' order by i) from generate_series(1, 20000) i) || ' 尾部信标紫藤');
insert into memories (path, content) values ('huge', (select string_agg(md5(i::text), ' ' order by i) from generate_series(1, 60000) i));
insert into memories (path, content) values ('p21', repeat('𠮷', 2001));
reset summer_memory.embed;
reset client_min_messages;
select path, length(content) as length, token_count > 0 as has_words from memories order by id;
select path from memory_search('丁香', 1, mode => 'bm25');
select path from memory_search('茉莉', 1, mode => 'bm25');
select path from memory_search('紫藤', 1, mode => 'bm25');
select path from memory_search(md5('1'), 1, mode => 'bm25');
truncate memories restart identity;

--
-- memory_add
--
select memory_add('把猫粮换成低敏款');
select memory_add('第二条', path => './notes//a.md', metadata => '{"k": 1}', tags => '{甲,乙}', title => '标题', expires_at => '2999-01-01');
select memory_add('第三条', 'notes/a.md', 'work', occurred_at => '2026-01-02 03:04:05+00');
select memory_add('第四条', 'notes/a.md');
select memory_add('日记', 'memory/2026-02-19.md');
select id, namespace, path, chunk_index, title, content, metadata, tags, occurred_at, expires_at, in_step(m.id)
from memories m
order by id;
-- A long text is split, and the pieces belong together by their path only
select count(*) > 1 as several, count(distinct id) = count(*) as ids from memory_add(repeat('一句话，说说今天的事。', 100), 'long.md') id;
select count(*) = max(chunk_index) + 1 as places, bool_and(in_step(m.id)) as in_step, string_agg(content, '' order by chunk_index) = repeat('一句话，说说今天的事。', 100) as whole
from memories m
where path = 'long.md';
select memory_add(E'# 大标题\n\n## 节\n\n文\n', title => '外');
select title, content from memories order by id desc limit 1;
-- What is no text of a section is kept with it: a heading above it, front matter
select m::text like '%大标题%' as heading_kept from memories m where m.title = '外 > 节';
select count(*) from memory_add(E'---\n配方: 秘制酱料\n---\n\n正文', 'front.md');
select m::text like '%秘制酱料%' as front_matter_kept from memories m where path = 'front.md';
select count(*) from memory_add(E'---\n配方: 秘制酱料\n---', 'only_front.md');
truncate memories restart identity;

--
-- memory_import
--
\set v1 '# 2026-02-19 星期四\n\n早上到得晚。\n\n## 订阅功能优化\n\n给博客首页补了 RSS 链接。\n\n## SEO 收尾\n\n还剩 37 个页面没有编入索引。\n\n## 读书\n\n《置身事内》读到第 6 章。\n\n## 待办\n\n- 记忆系统选型\n'
\set v2 '# 2026-02-19 星期四\n\n早上到得晚。\n\n## 晨会\n\n站着开了十分钟。\n\n## 订阅功能优化\n\n给博客首页补了 RSS 链接。\n\n## SEO 收尾\n\n还剩 12 个页面没有编入索引。\n\n## 待办\n\n- 记忆系统选型\n'
-- M10: the same file again and again
select * from memory_import('memory/2026-02-19.md', replace(:'v1', '\n', E'\n'));
create temporary table before as select id, title, created_at, updated_at, embedding::text as vector from memories;
select memory_model_runs() as runs \gset
select * from memory_import('memory/2026-02-19.md', replace(:'v1', '\n', E'\n'));
select * from memory_import('./memory//2026-02-19.md', replace(:'v1', '\n', E'\n'));
-- M02: other line ends are no change
select * from memory_import('memory/2026-02-19.md', replace(:'v1', '\n', E'\r\n'));
select * from memory_import('memory/2026-02-19.md', E'\ufeff' || replace(:'v1', '\n', E'\r'));
select * from memory_import('memory/2026-02-19.md', convert_to(replace(:'v1', '\n', E'\n'), 'UTF8'));
select memory_model_runs() - :runs as model_runs, count(*) as rows,
    bool_and(m.created_at = b.created_at and m.updated_at = b.updated_at and m.embedding::text = b.vector) as untouched
from memories m
join before b using (id, title);
select id, chunk_index, title, metadata, occurred_at, in_step(m.id) from memories m order by chunk_index;
-- M17: an edited file: a section in front, one removed, one changed; two texts are new to the model
select memory_model_runs() as runs \gset
select * from memory_import('memory/2026-02-19.md', replace(:'v2', '\n', E'\n'));
select memory_model_runs() - :runs as model_runs;
select m.chunk_index, m.title, m.content, m.id = b.id as same_row, m.embedding::text = b.vector as same_vector, in_step(m.id)
from memories m
left join before b using (id)
order by m.chunk_index;
select count(*) from memory_search('置身事内', 20) where content like '%置身事内%';
select bm25_rank from memory_search('置身事内', 20, mode => 'bm25');
-- Sections that change places
select * from memory_import('swap.md', E'## 一\n甲\n## 二\n乙\n## 三\n丙\n');
select * from memory_import('swap.md', E'## 三\n丙\n## 二\n乙\n## 一\n甲\n');
select chunk_index, title, content from memories where path = 'swap.md' order by chunk_index;
-- The same section twice
select * from memory_import('swap.md', E'## 一\n甲\n## 一\n甲\n');
select * from memory_import('swap.md', E'## 一\n甲\n## 一\n甲\n');
select chunk_index, title, content from memories where path = 'swap.md' order by chunk_index;
-- M12: a base name in two folders and in two namespaces
select added from memory_import('a/2026-02-19.md', E'## 一\n甲文件的桑葚标记\n');
select added from memory_import('b/2026-02-19.md', E'## 一\n乙文件的榴莲标记\n');
select added from memory_import('b/2026-02-19.md', E'## 一\n丙空间的榴莲标记\n', namespace => 'other');
select path from memory_search('桑葚标记', 1, mode => 'bm25');
select path, content from memory_search('榴莲标记', 5, mode => 'bm25');
select namespace, path, count(*) from memories group by namespace, path order by namespace, path collate "C";
-- M04: what the front matter says is kept, what the caller says wins
select added from memory_import('front.md', E'---\ntitle: "复盘"\ntags: [复盘, 博客, "C#"]\n---\n\n正文\n', metadata => '{"title": "另一个", "source": "手"}');
select metadata, tags, occurred_at from memories where path = 'front.md';
-- M14: the date of a daily file is the same everywhere
set timezone = 'America/Los_Angeles';
select added from memory_import('d/2026-02-20.md', '洛杉矶');
set timezone = 'Asia/Shanghai';
select added from memory_import('d/2026-02-21-上海.md', '上海');
set timezone = 'UTC';
select added from memory_import('d/2026-02-30.md', '没有这一天');
select added from memory_import('d/2026-02-22.md', '给定时间', occurred_at => '2020-01-01 00:00+00');
select path, metadata ->> 'date' as date, occurred_at, occurred_at at time zone 'America/Los_Angeles' as in_los_angeles, occurred_at at time zone 'Asia/Shanghai' as in_shanghai
from memories
where path like 'd/%'
order by path collate "C";
-- M08, M03: nearly nothing
select * from memory_import('empty.md', '');
select * from memory_import('empty.md', E'\ufeff');
select * from memory_import('empty.md', E'\n\n\r\n');
select * from memory_import('empty.md', E'---\ntitle: 只有头\n---');
select * from memory_import('heading.md', E'## 只有标题\n');
select path from memory_search('只有标题', 1, mode => 'bm25');
-- A file that became empty has no memories left
select * from memory_import('heading.md', '');
select count(*) from memories where path in ('empty.md', 'heading.md');
-- M13: a bad file is an error of its own and no other file's; all or nothing
create function import_all(names text[], files bytea[])
returns table (name text, outcome text)
language plpgsql
as $$
begin
    for i in 1..cardinality(names) loop
        name := names[i];
        begin
            select 'added ' || m.added into outcome from memory_import(names[i], files[i]) m;
        exception
            when others then
                outcome := sqlstate || ' ' || sqlerrm;
        end;
        return next;
    end loop;
end
$$;
select * from import_all(
    array['batch/good.md', 'batch/bad.md', 'batch/nul.md', 'batch/also_good.md'],
    array[convert_to('无花果标记', 'UTF8'), '\x232320e4b88020ff0a'::bytea, '\x61006200'::bytea, convert_to(E'## 节\n柚子标记\n', 'UTF8')]
);
select path, count(*) from memories where path like 'batch/%' group by path order by path collate "C";
drop function import_all(text[], bytea[]);
-- A plain text has no headings, and max_chars divides
select added from memory_import('log/server.log', E'## 不是标题\n第二行\n');
select title, content from memories where path = 'log/server.log';
set summer_memory.embed = 'off';
select added > 5 as divided from memory_import('log/long.log', repeat('一行日志。', 200), max_chars => 100);
-- A file imported with another size is divided anew, and no text is lost or doubled
select added > 0 or updated > 0 as changed, removed > 0 as removed from memory_import('log/long.log', repeat('一行日志。', 200));
select string_agg(content, '' order by chunk_index) = repeat('一行日志。', 200) as whole from memories where path = 'log/long.log';
drop table before;

--
-- Forgetting
--
truncate memories restart identity;
insert into memories (namespace, path, content, metadata)
select n, p, '内容', jsonb_build_object('kind', k)
from (values ('default', 'a.md', 'x'), ('default', 'b.md', 'y'), ('other', 'a.md', 'x'), ('default', 'dir/c.md', 'y'), ('default', null, 'x')) v (n, p, k);
select memory_forget(1000);
select memory_forget(2);
select memory_forget(null::bigint) is null;
select memory_forget(path => './a.md');
select memory_forget(path => 'a.md');
select memory_forget(path => 'a.md', namespace => 'other', filter => '{"kind": "y"}');
select memory_forget(path => 'a.md', namespace => '*');
select memory_forget(filter => '{"kind": "y"}');
select memory_forget(ids => array[5, 6, 7]);
select count(*) from memories;
select memory_forget();
-- memory_prune takes the paths that still exist
insert into memories (namespace, path, content)
select n, p, '内容'
from (values ('default', 'a.md'), ('default', 'b.md'), ('default', 'dir/c.md'), ('default', 'dir2/d.md'), ('other', 'a.md'), ('default', null)) v (n, p);
select memory_prune(array['./a.md', 'dir/c.md'], path_prefix => 'dir/');
select memory_prune(array['./a.md', 'dir/c.md', 'new.md', null]);
select namespace, path from memories order by namespace, path collate "C";
select memory_prune('{}', namespace => 'other');
select memory_prune('{}');
select namespace, path from memories order by namespace, path collate "C";
select memory_prune(null);
-- Expired rows are not found, and are swept
insert into memories (path, content, expires_at) values
    ('gone', '过期的杨梅', now() - interval '1 second'),
    ('soon', '没过期的杨梅', now() + interval '1 hour'),
    ('never', '不过期的杨梅', null);
select path from memory_search('杨梅', 5, mode => 'bm25') order by path;
select path from memory_search('梅', 5, mode => 'bm25') order by path;
select expired from memory_status;
select memory_sweep();
select memory_sweep();
select path from memories where content like '%杨梅' order by path;

--
-- A path is spelled in one way, however its row comes in
--
truncate memories restart identity;
insert into memories (path, content) values ('./a.md', '甲'), ('b//c.md', '乙'), ('d\e.md', '丙'), ('x/../f.md', '丁'), ('..', '戊'), ('', '己');
copy memories (path, content) from stdin;
./g//h.md	庚
\.
select id, path, chunk_index from memories order by id;
update memories set path = './moved.md' where id = 1 returning path;
select * from memory_import('b/./c.md', '乙');
select memory_prune(array['moved.md', './b//c.md', 'd/e.md', 'f.md', 'g/h.md']);
select memory_forget(path => './moved.md');
select memory_add('x', '');
select memory_add('x', '..');
-- A namespace that a search takes for all of them cannot be written
insert into memories (namespace, content) values ('*', 'x');
insert into memories (namespace, content) values ('', 'x');
select memory_add('x', namespace => '*');
update memories set namespace = '*';
insert into memories (namespace, path, content) values ('one', 'p.md', 'x'), ('two', 'p.md', 'x'), ('two', 'q.md', 'x');
select memory_prune(array['q.md', 'b/c.md', 'd/e.md', 'f.md', 'g/h.md'], '*');
-- An update that clears the place gets the next one
insert into memories (path, chunk_index, content) values ('n.md', 0, '一'), ('n.md', 1, '二');
update memories set chunk_index = null where path = 'n.md' and content = '一' returning chunk_index;
update memories set chunk_index = null, content = '三' where path = 'n.md' and content = '二' returning chunk_index;
-- Nothing that is seen in a text
select memory_add(U&'\200B');

--
-- A vector is of the store's model, unless another is named with it
--
truncate memories restart identity;
insert into memories (path, content, embedding, model) values ('m.md', '旧', '[1,2,3]', 'other');
set summer_memory.embed = 'sync';
select * from memory_import('m.md', '新文本 苹果');
set summer_memory.embed = 'off';
select model, vector_dims(embedding) from memories;
update memories set content = '手写', embedding = '[1,2,3]', model = 'other';
select model, vector_dims(embedding) from memories;
update memories set content = '香蕉', embedding = memory_embed('香蕉');
select model, vector_dims(embedding) from memories;
-- Without a label it is of no model, and embedded again
update memories set model = null;
select pending, other_model from memory_status;
select memory_backfill();
select model from memories;

--
-- memory_backfill(n) fills n rows, so 0 means that nothing is left
--
truncate memories restart identity;
insert into memories (content) values (''), (' '), ('  '), ('一'), ('二'), ('三');
select memory_backfill(2);
select memory_backfill(2);
select memory_backfill(2);
select pending, failed from memory_status;

reset summer_memory.embed;
drop function in_step(bigint);
