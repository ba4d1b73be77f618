-- Chunk: what of a Markdown or text file becomes a row of its own, under which headings, and which date and
-- normal form a path has. Pure functions; importing is in store.sql.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

--
-- Headings
--
-- M06, M05: CommonMark decides what a heading is; every text stays, under its headings
select chunk_index, title, chunk
from memory_split(
    E'## 待办\n\n- 第一条：菠萝标记\n\n## 空节一\n## 空节二\n\n## 待办\n\n- 第二条：山竹标记\n\n'
    '##没有空格的不是标题\n\n####### 七个井号不是标题\n\n  ## 缩进两格是标题\n\n正文：杨梅标记。\n\n'
    '    ## 缩进四格是代码\n\n## 带尾井号 ##\n\n正文：枇杷标记。\n\n##\n\n空标题下面的正文：橄榄标记。\n\n'
    '## `代码标题` 与 **粗体**\n\n### 三级标题\n\n三级正文：椰子标记。\n\n\\## 转义的不是标题\n\n'
    '<!--\n## 注释里的不是标题\n-->\n\n> ## 引用里的标题\n\n- ## 列表项里的标题\n\n##\t制表符也算空格\n\n正文：榴莲标记。\n',
    'headings.md'
);
-- M07: deeper headings make sections too, and the title shows the way to them
select chunk_index, title, chunk
from memory_split(
    E'# 长期记忆\n\n前言。\n\n## 项目\n\n### 博客\n\nHugo 仓库在 git 上。\n\n### 记忆系统\n\n存 PostgreSQL。\n\n## 红线\n\n不删数据。\n',
    'MEMORY.md'
);
-- M15: Setext headings; a thematic break is none, nor is what follows one
select chunk_index, title, chunk
from memory_split(E'第一个标题\n----------\n\n正文：石榴标记。\n\n---\n\n上面是分割线，不是标题。\n\n大标题\n======\n\n尾。\n', 'a.md');
-- M15: form feed, U+2028 and U+0085 begin no line
select chunk_index, title, length(chunk) as length
from memory_split(E'## 一\n\n前半\f## 换页符后面\u2028## 行分隔符后面\u0085## NEL 后面\n\n桑葚标记\n\n## 二\n\n尾\n', 'a.md');
-- M16: nothing in a code fence is a heading
select chunk_index, title, replace(chunk, E'\n', '⏎') as chunk
from memory_split(
    E'# 围栏\n\n## 反引号围栏\n\n```bash\n## 假标题一\necho\n# 也不是\n```\n\n围栏之后：蓝莓标记。\n\n'
    '## 波浪线围栏\n\n~~~yaml\n## 假标题二\n```\n## 假标题三\n~~~\n\n'
    '## 四个包三个\n\n````markdown\n```sh\n## 假标题四\n```\n## 假标题五\n````\n\n'
    '## 列表里的围栏\n\n1. 第一步\n\n   ```sql\n   -- 缩进三格\n   ## 假标题六\n   ```\n\n'
    '## 行内 ```不是围栏``` 继续\n\n正文：荔枝标记。\n\n## 没关的围栏\n\n```python\n## 假标题七\n',
    'fences.md'
);

--
-- Line ends, marks, front matter
--
-- M02: line ends do not matter, and none is left in a title or a text
select e.name, array_agg(s.title order by s.chunk_index) as titles, array_agg(s.chunk order by s.chunk_index) as chunks,
    bool_or(s.title like E'%\r%' or s.chunk like E'%\r%') as has_cr
from (values (1, 'lf', E'\n'), (2, 'crlf', E'\r\n'), (3, 'cr', E'\r')) e (n, name, line_end),
    lateral memory_split(replace(E'## 订阅\n\n- 补了链接\n- 改成摘要\n\n## 读书\n\n第 6 章。\n', E'\n', e.line_end), '2026-02-19.md') s
group by e.n, e.name
order by e.n;
-- M03: a byte order mark is no text
select title, chunk, chunk ~ '^\ufeff' as has_mark from memory_split(E'\ufeff## 甲\n一\n## 乙\n二', 'bom.md');
select title, chunk, document from memory_split(E'\ufeff---\ntitle: 标题\n---\n## 甲\n一\n', 'bom.md');
select count(*) from memory_split(E'\ufeff', 'bom.md');
-- M04: front matter is data, not text
select title, chunk, jsonb_pretty(document) as document
from memory_split(
    E'---\ntitle: "三月复盘: 订阅与搜索"\ndate: 2026-03-31\ntags: [复盘, 博客, "C#"]\nsummary: |\n  ## 不是标题\n  # 也不是\ndraft: false\n---\n\n前言。\n\n## ATX 标题\n\n正文：柚子标记。\n',
    'frontmatter.md'
);
select count(*) from memory_split(E'---\ntitle: 只有头\ntags: [甲]\n---', 'eof.md');
select title, chunk, document from memory_split(E'---\r\ntitle: 换行\r\n---\r\n\r\n## 一\r\n\r\n正文\r\n', 'crlf.md');
-- What looks like front matter and is none is text
select title, chunk, document from memory_split(E'---\n\n只有一条线\n', 'a.md');
select title, chunk from memory_split(E'---\n没有结尾: [1\n\n## 节\n\n文\n', 'a.md');
-- Front matter that is no YAML is kept
select title, chunk, document from memory_split(E'---\na: [1\n---\n\n正文\n', 'a.md');

--
-- Nearly nothing
--
-- M08
select t.name, count(s.chunk_index) as chunks
from (values (1, 'empty', ''), (2, 'newlines', E'\n\n\r\n\n'), (3, 'blanks', E' \t\u3000\n'), (4, 'zero width', E'\u200b\ufeff')) t (n, name, text)
left join lateral memory_split(t.text, 'a.md') s on true
group by t.n, t.name
order by t.n;
select chunk_index, title, chunk from memory_split(E'## 只有标题\n', 'a.md');
select chunk_index, title, chunk from memory_split(E'没有标题的一段：无花果标记。\n第二行。\n', 'a.md');

--
-- Long texts
--
-- M09, P21: pieces are small, whole characters, and together the text
create table long (name text primary key, content text not null);
insert into long (name, content) values
    ('one line', repeat('这一行没有换行，一直写到六万字才算完。', 3000) || '终点标记'),
    ('no blank', repeat('无空格长串', 960) || '火龙果标记'),
    ('table', E'| 序号 | 内容 |\n|---|---|\n' || (select string_agg(format('| %s | 第 %s 行 https://a.example/p#row-%s |', i, i, i), E'\n' order by i) from generate_series(1, 300) i)),
    ('4 bytes', repeat('𠮷', 2001)),
    ('family', repeat('👨‍👩‍👧‍👦', 400)),
    ('ascii', repeat('QUJDRA', 2000)),
    ('json', '{"a":[' || repeat('{"k":"值"},', 1500) || '0]}');
select l.name, count(*) > 1 as divided, max(length(s.chunk)) <= 800 as small,
    string_agg(regexp_replace(s.chunk, '\s', '', 'g'), '' order by s.chunk_index) = regexp_replace(l.content, '\s', '', 'g') as whole,
    bool_or(s.chunk ~ '\ufffd') as broken,
    bool_and(memory_model_tokens(s.chunk) <= 512) as fits
from long l, lateral memory_split(l.content, 'long.md') s
group by l.name, l.content
order by l.name;
drop table long;
-- A piece says what it is under
select distinct title from memory_split('## 长' || E'\n\n' || repeat('一句话。', 1000), 'a.md');
-- The limit is the caller's, or the setting's
select max(length(chunk)) <= 100 as small, count(*) > 9 as many from memory_split(repeat('一句话而已。', 200), 'a.md', 100);
set summer_memory.chunk_chars = 60;
select max(length(chunk)) <= 60 as small from memory_split(repeat('一句话而已。', 200), 'a.md');
set summer_memory.chunk_chars = 1;
reset summer_memory.chunk_chars;
-- A file that is no Markdown has no headings
select chunk_index, title, chunk, document from memory_split(E'## 日志\n\n行\n', 'server.log');
select chunk_index, title, chunk from memory_split(E'## 日志\n\n行\n', 'A.TXT');
select chunk_index, title, chunk from memory_split(E'## 节\n\n行\n');

--
-- Paths and their dates
--
-- M10
select p, memory_path(p)
from unnest(array['./memory/2026-02-19.md', 'memory//2026-02-19.md', 'memory/./a/../2026-02-19.md', '/srv/memory/a.md', 'a\b.md', '', '.', '博客/随笔 一.md']) with ordinality u (p, o)
order by o;
select memory_path(null) is null;
-- M14
select p, memory_path_date(p)
from unnest(array['2026-02-19.md', 'memory/2026-02-19-路由器.md', 'notes-2026-02-30.md', '2026-13-01.md', '2024-02-29.md', '2025-02-29.md', 'MEMORY.md', '2026/02/19.md', '20260219.md', '0000-01-01.md', '']) with ordinality u (p, o)
order by o;
set timezone = 'America/Los_Angeles';
select memory_path_date('2026-02-19.md');
set timezone = 'Asia/Shanghai';
select memory_path_date('2026-02-19.md');
