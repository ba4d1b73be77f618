-- Errors: everything a user can get wrong, once. Each error has a SQLSTATE of its own class (never XX000), a
-- message of one line without a capital and a full stop, and a hint that says what to do.
\set SHOW_CONTEXT never
set timezone = 'UTC';
set datestyle = 'ISO, YMD';

create table wrong (n integer generated always as identity, statement text not null);
create function attempt(statement text)
returns table (state text, message text, hint text)
language plpgsql
as $$
begin
    execute statement;
    state := 'ok';
    return next;
exception
    when others then
        get stacked diagnostics state = returned_sqlstate, message = message_text, hint = pg_exception_hint;
        return next;
end
$$;
set client_min_messages = error;

insert into wrong (statement) values
    -- words
    ($$select * from jieba_keywords('文', 3, 'nonsense')$$),
    ($$select jieba_add_word('')$$),
    ($$select jieba_add_word(null)$$),
    ($$select jieba_add_word('有 空格')$$),
    ($$select jieba_add_word('，。')$$),
    ($$select jieba_add_word(repeat('长', 65))$$),
    ($$select jieba_add_word('词', -1)$$),
    ($$select jieba_load_userdict('词 -1')$$),
    ($$select jieba_load_userdict('词 99999999999999999999')$$),
    ($$create text search dictionary d (template = jieba, stopwords = '../passwd')$$),
    ($$create text search dictionary d (template = jieba, other = 1)$$),
    -- embedding
    ($$select memory_embed('文', 'document')$$),
    ($$select memory_embed('文', '')$$),
    ($$select memory_embed(array['文'], 'document')$$),
    ($$select memory_use_model('no-such-model')$$),
    ($$select memory_use_model('')$$),
    ($$select memory_use_model('../x')$$),
    ($$select memory_use_model('/etc/passwd')$$),
    ($$select memory_use_model(repeat('x', 100))$$),
    ($$select memory_use_model(E'a\nb')$$),
    ($$select memory_check_model('no-such-model')$$),
    ($$set summer_memory.model_dir = '/etc'$$),
    ($$set summer_memory.onnxruntime = '/tmp/evil.so'$$),
    ($$set summer_memory.embed_workers = 8$$),
    -- settings
    ($$set summer_memory.embed = 'sometimes'$$),
    ($$set summer_memory.vector_rows = 0$$),
    ($$set summer_memory.bm25_rows = -5$$),
    ($$set summer_memory.bm25_b = 1.5$$),
    ($$set summer_memory.vector_weight = -1$$),
    ($$set summer_memory.rrf_k = -1$$),
    ($$set summer_memory.chunk_chars = 0$$),
    ($$set summer_memory.no_such_setting = 1$$),
    -- the store
    ($$insert into memories (content) values (null)$$),
    ($$insert into memories (content, embedding) values ('文', '[1,2,3]')$$),
    ($$insert into memories (content, embedding) values ('文', '[NaN]')$$),
    ($$insert into memories (content, metadata) values ('文', 'no json')$$),
    ($$insert into memories (content, metadata) values ('文', '[1]')$$),
    ($$select memory_add('文', metadata => '[1]')$$),
    ($$select * from memory_import('a.md', '文', metadata => '[1]')$$),
    ($$select * from memory_import('a.md', '文', max_chars => 0)$$),
    ($$select * from memory_import('a.md', '文', max_chars => -5)$$),
    ($$select * from memory_split('文', max_chars => 0)$$),
    ($$select memory_forget(filter => '{}')$$),
    ($$select memory_add(null)$$),
    ($$select memory_add('')$$),
    ($$select memory_add(E' \u3000\n')$$),
    ($$select * from memory_import(null, '文')$$),
    ($$select * from memory_import('', '文')$$),
    ($$select * from memory_import('./', '文')$$),
    ($$select * from memory_import('a.md', null::text)$$),
    ($$select * from memory_import('a.md', null::bytea)$$),
    ($$select * from memory_import('a.md', '\xff'::bytea)$$),
    ($$select * from memory_import('a.md', '\x00'::bytea)$$),
    ($$select * from memory_split(null)$$),
    ($$select memory_forget()$$),
    ($$select memory_forget(namespace => 'x')$$),
    ($$select memory_prune(null)$$),
    -- search
    ($$select * from memory_search('文', -1)$$),
    ($$select * from memory_search('文', -2147483648)$$),
    ($$select * from memory_search('文', filter => '[1]')$$),
    ($$select * from memory_search('文', filter => '"text"')$$),
    ($$select * from memory_search('文', filter => 'null')$$),
    ($$select * from memory_search('文', mode => 'fuzzy')$$),
    ($$select * from memory_search('文', mode => '')$$),
    ($$select * from memory_search('文', fusion => 'sum')$$),
    ($$select memory_explain('文', -1)$$),
    ($$select memory_explain('文', mode => 'HYBRID')$$),
    ($$select memory_context('文', -1)$$),
    ($$select memory_context('文', null)$$),
    ($$select memory_context('文', k => -1)$$);

\pset format unaligned
\pset tuples_only on
select format(E'%s\n    %s %s', w.statement, a.state, a.message) || coalesce(E'\n    ' || nullif(a.hint, ''), '')
from wrong w, lateral attempt(w.statement) a
order by w.n;
\pset tuples_only off
\pset format aligned

-- The rules, checked
select w.statement, a.state, a.message
from wrong w, lateral attempt(w.statement) a
where a.state in ('ok', 'XX000')
    or a.message ~ '^[A-Z][a-z]+ |\.$|\n'
    or a.hint ~ '[^.]$'
    or a.state = '22023' and a.hint = '' and w.statement ~ 'memory_|jieba_'
order by w.n;
-- None of them left anything
select (select count(*) from memories) as memories, (select count(*) from memory_words) as words, (select count(*) from memory_options) as options;

-- NULL where a value may be missing means the default
reset client_min_messages;
set summer_memory.embed = 'off';
insert into memories (content) values ('默认值');
select count(*) from memory_search('默认值', null, null, null, null, null, null, null, 'bm25', null, null);
set client_min_messages = error;
select count(*) from memory_search('默认值', mode => null);
select memory_context('默认值', k => null) ~ '默认值' as found;
select memory_embed('默认值', null) = memory_embed('默认值') as passage;
reset client_min_messages;
select memory_add('空的参数', null, null, null, null, null, null, null) is not null as added;
select namespace, metadata, tags from memories where content = '空的参数';
-- A namespace or path of odd characters is only a name
select memory_add('怪名', E'a\tb/''"%_\\.md', E'名\n空间') is not null as added;
select namespace, path from memories where content = '怪名';
select count(*) from memory_search('怪名', 5, E'名\n空间', mode => 'bm25');
-- An aborted transaction, and the next one works
begin;
select count(*) from memory_search('默认值', -1);
select 1;
rollback;
begin;
savepoint s;
select memory_add('');
rollback to s;
select memory_add('子事务之后') is not null as added;
commit;
select content from memory_search('子事务之后', 1, mode => 'bm25');
-- Interrupted by a time limit
set statement_timeout = '1ms';
select count(*) from unnest(jieba_cut(repeat('嘅喺', 500000)));
reset statement_timeout;
select jieba_cut('之后照常');
