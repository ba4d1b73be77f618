"""Roles that may not see, that may not do, and one that lays traps: with connections of their own, a store in
another schema, and dumps.

pg_regress has the single cases (security.sql). Here every function of the extension is called while traps lie
everywhere, in a schema nobody searches, and by roles without rights; what one role sees is compared with what
it would see if the others had no rows at all. A function without a call in CALLS or OWNER_CALLS fails a test.
"""


from cluster import ClusterTest, eventually

# Functions as a user calls them, in an order in which they find something to do; "$" is the schema.
CALLS = {
    "memory_add": "select $memory_add('我昨天去超市买了苹果和香蕉', 'diary/2026-03-01.md', title => '购物', tags => array['吃'])",
    "memory_import": "select * from $memory_import('./a//b.md', pg_catalog.concat('# 题', pg_catalog.chr(10), '开车去上班'), metadata => '{\"a\": 1}')",
    "memory_import, again": "select * from $memory_import('a/b.md', pg_catalog.concat('# 题', pg_catalog.chr(10), '骑车去上班'), metadata => '{\"a\": 2}')",
    "memory_import, bytes": "select * from $memory_import('c.md', pg_catalog.convert_to('第三个文件', 'UTF8'))",
    "memory_put_document": "select * from $memory_put_document('default', 'd.md', '{题}', '{第四个文件}', '{\"{}\"}', '{}', '{2026-03-01}')",
    "memory_search": "select * from $memory_search('水果', 5)",
    "memory_search, filtered": "select * from $memory_search('苹果', 5, '*', '{}', '2000-01-01', '3000-01-01', 'diary/', '{吃}', 'hybrid', false, 'convex')",
    "memory_search, words": "select * from $memory_search('果', 5, mode => 'bm25')",
    "memory_search, vectors": "select * from $memory_search('水果', 5, mode => 'vector', filter => '{}')",
    "memory_explain": "select $memory_explain('水果')",
    "memory_context": "select $memory_context('水果', 200)",
    "memory_status": "select * from $memory_status",
    "memory_status_rows": "select * from $memory_status_rows()",
    "memory_models": "select * from $memory_models",
    "memory_list_models": "select * from $memory_list_models()",
    "memory_embed": "select $memory_embed('文字'), $memory_embed('文字', 'query')",
    "memory_embed, many": "select $memory_embed(array['文', '字'])",
    "memory_try_embed": "select $memory_try_embed('文字'), $memory_try_embed(array['文', '字'])",
    "memory_model_tokens": "select $memory_model_tokens('文字')",
    "memory_model_runs": "select $memory_model_runs()",
    "memory_check_model": "select $memory_check_model('multilingual-e5-small')",
    "memory_check_dims": "select $memory_check_dims(384, 'multilingual-e5-small')",
    "memory_check_owner": "select $memory_check_owner('memories')",
    "memory_active_model": "select $memory_active_model()",
    "memory_embed_place": "select $memory_embed_place()",
    "memory_vector": "select $memory_vector('[1,2,3]')",
    "memory_split": "select * from $memory_split('# 一\n\n文\n\n## 二\n\n字', 'a.md')",
    "memory_path": "select $memory_path('./a//b'), $memory_path_date('2026-03-01.md')",
    "memory_path_date": "select $memory_path_date('日记/2026年2月19日.md')",
    "memory_whole_text": "select $memory_whole_text('题', '文')",
    "memory_content_hash": "select $memory_content_hash('题', '文')",
    "memory_tsvector": "select $memory_tsvector('题', '数据库')",
    "memory_token_count": "select $memory_token_count($memory_tsvector('题', '数据库'))",
    "memory_default_namespace": "select $memory_default_namespace()",
    "memory_lock_document": "select $memory_lock_document('default', 'a.md')",
    "memory_document_lock": "select $memory_document_lock('default', 'b.md')",
    "memory_announce_pending": "select $memory_announce_pending()",
    "memory_backfill": "select $memory_backfill(), $memory_backfill(1)",
    "memory_reindex": "select $memory_reindex()",
    "memory_sweep": "select $memory_sweep()",
    "memory_forget": "select $memory_forget(-1), $memory_forget(path => 'c.md'), $memory_forget(filter => '{\"a\": 3}')",
    "memory_prune": "select $memory_prune(array['diary/2026-03-01.md'], path_prefix => 'a/')",
    "jieba_cut": "select $jieba_cut('我在清华大学学习'), $jieba_cut('我在清华大学学习', false)",
    "jieba_cut_for_search": "select $jieba_cut_for_search('我在清华大学学习')",
    "jieba_cut_all": "select $jieba_cut_all('我在清华大学学习')",
    "jieba_tag": "select * from $jieba_tag('我在清华大学学习')",
    "jieba_keywords": "select * from $jieba_keywords('我在清华大学学习', 2, 'textrank')",
    "jieba_fold": "select $jieba_fold('ＡＢＣ 繁體')",
    "jieba_check_word": "select $jieba_check_word('云原生')",
    "jieba_parse_dictionary": "select * from $jieba_parse_dictionary('云原生 5 n')",
    "jieba_add_word": "select $jieba_add_word('风禾三', 50, 'nz')",
    "jieba_load_userdict": "select $jieba_load_userdict('云原生 5 n')",
    "conv_append": "select * from $conv_append('s1', 'user', '我昨天买了什么？', '2026-03-01', 'm1', 'test')",
    "conv_import": "select * from $conv_import('[{\"role\": \"user\", \"content\": \"苹果和香蕉\", \"timestamp\": \"2026-03-02T00:00:00Z\"}]', session_key => 's2')",
    "conv_import, bytes": "select * from $conv_import(pg_catalog.convert_to('[{\"role\": \"user\", \"content\": \"苹果和香蕉\", \"timestamp\": \"2026-03-02T00:00:00Z\"}]', 'UTF8'), session_key => 's3')",
    "conv_list": "select * from $conv_list()",
    "conv_list, prefix": "select * from $conv_list(5, 's')",
    "conv_get": "select * from $conv_get('s1', 5, '2000-01-01', '3000-01-01')",
    "conv_stats": "select * from $conv_stats()",
    "conv_search": "select * from $conv_search('苹果', 5)",
    "conv_rank": "select * from $conv_rank('苹果', 5, null, null, null, null)",
    "conv_sessions": "select $conv_sessions(5, null)",
    "conv_session": "select $conv_session('s1', 's1')",
    "conv_find": "select $conv_find('s1', 'user', $conv_fingerprint('苹果和香蕉'), '2026-03-01', null, null)",
    "conv_fingerprint": "select $conv_fingerprint('苹果和香蕉')",
    "conv_global_ids": "select $conv_global_ids('claude_code')",
    "conv_indexed": "select $conv_indexed()",
    "conv_claim": "select * from $conv_claim('{s1}', '{s1}', '{openclaw}')",
    "conv_lock": "select $conv_lock($conv_lock_numbers('s1', 'claude_code'))",
    "conv_lock_numbers": "select $conv_lock_numbers('s1', 'claude_code')",
    "conv_path": "select $conv_path('a/b')",
    "conv_to_memory": "select * from $conv_to_memory('s2')",
    "conv_sources": "select c.* from $memories m cross join lateral $conv_sources(m.id) c",
    "conv_forget": "select $conv_forget('s3')",
    "memory_extract": "select * from $memory_extract('王小明在 GitHub 上发布了 Node.js 22 #开源')",
    "memory_entity_key": "select $memory_entity_key('GitHub')",
    "memory_entity_keys": "select $memory_entity_keys('{GitHub}', '{开源}')",
    "memory_entity_kind": "select $memory_entity_kind('GitHub', '在 GitHub 上')",
    "memory_merge_names": "select $memory_merge_names('{甲}', '{乙}', '{丙}')",
    "memory_preview": "select $memory_preview('很长的文字')",
    "memory_related": "select r.* from $memories m cross join lateral $memory_related(m.id) r",
    "memory_related, address": "select * from $memory_related('diary/2026-03-01.md#0', 5, '*')",
    "memory_entities": "select * from $memory_entities(1, 50, '*')",
    "memory_entities, kind": "select * from $memory_entities(1, 50, '*', 'person')",
    "memory_entity": "select * from $memory_entity('#吃', 5, '*')",
    "memory_cooccurrence": "select * from $memory_cooccurrence('吃', 5, '*')",
    "memory_graph": "select $memory_graph(0.5, '*'), $memory_graph()",
    "memory_graph_page": "select $memory_graph_page()",
    "memory_graph_html": "select $memory_graph_html('zh', 0.5, '*')",
    # Not functions, but no less in the way of a trap.
    "insert": "insert into $memories (path, title, content, metadata, expires_at) values ('e.md', '题', '把猫粮换成低敏款', '{\"a\": 1}', '2999-01-01')",
    "update": "update $memories set content = '把猫粮换成低敏款了', tags = '{猫}', search = null",
    "vector given": "update $memories set embedding = $memory_embed('文字')",
    "own table": "insert into $films (t) values ('电影')",
    "own table, update": "update $films set t = '另一部'",
    "words": "update $memory_words set freq = 60",
    "conversation": "update $conversations set content = '改过的话'",
    "jieba": "select pg_catalog.to_tsvector('$jieba', '我在清华大学学习'), pg_catalog.websearch_to_tsquery('$jieba', '大学 -学习')",
    "jieba, headline": "select pg_catalog.ts_headline('$jieba', '我在清华大学学习', pg_catalog.to_tsquery('$jieba', '清华大学'))",
}
OWNER_CALLS = {
    "memory_init": "select $memory_init()",
    "memory_index_model": "select $memory_index_model('multilingual-e5-small')",
    "memory_use_model": "select $memory_use_model('multilingual-e5-small')",
    "conv_init": "select $conv_init()",
    "conv_index": "select $conv_index(false), $conv_index(true)",
}
# Triggers, called by writing; and the parser and dictionary, called by the configuration.
NOT_CALLED = {
    "memory_derive", "memory_words_changed", "memory_embed_trigger", "conv_derive", "jieba_parser_start",
    "jieba_parser_nexttoken", "jieba_parser_end", "jieba_parser_lextype", "jieba_dictionary_init",
    "jieba_dictionary_lexize",
}
FUNCTIONS = """
select distinct p.proname
from pg_catalog.pg_proc p
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
join pg_catalog.pg_extension e on e.oid = d.refobjid and e.extname = 'summer_memory'
"""
GRANT = """
grant usage on schema {schema} to {role};
grant select, insert, update, delete on {schema}.memories, {schema}.memory_words, {schema}.conversations,
    {schema}.films to {role};
"""
# A table of a user's own with the trigger that fills a vector.
FILMS = """
create table {schema}.films (id bigint generated always as identity primary key, t text, v {vector}.vector);
create trigger films before insert or update on {schema}.films for each row
    execute function {schema}.memory_embed_trigger('t', 'v');
"""


def call(session, statement: str, schema: str) -> list[tuple]:
    """Runs a statement of CALLS; its rows."""
    cursor = session.connection.execute(statement.replace("$", f"{schema}.").encode())
    return cursor.fetchall() if cursor.description else []


class TrapTest(ClusterTest):
    """X01: a role that may create objects in a schema others search first gets nothing run by them.

    Its schema has a twin of every function and operator of pg_catalog, pgvector and the extension, of
    common aggregates and types, and of the tables. A trap that is stepped on counts, whatever becomes of the
    transaction, and says its name in a WARNING.
    """

    # Run by the attacker. Twins that cannot be made (types internal, polymorphic results) are left out: a
    # call that would find them finds no other either.
    TWINS = r"""
    do $do$
    declare
        f record;
        made integer := 0;
    begin
        set local check_function_bodies = off;
        for f in
            select p.proname, p.oid, pg_get_function_identity_arguments(p.oid) as arguments,
                pg_get_function_result(p.oid) as result
            from pg_proc p
            where p.pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
                and p.prokind = 'f'
            order by p.oid
        loop
            begin
                execute format(
                    'create function evil.%I(%s) returns %s language plpgsql as %L',
                    f.proname, f.arguments, f.result, format($body$begin perform evil.stepped_on(%L); return null; end$body$, f.proname));
                made := made + 1;
            exception
                when others then null;
            end;
        end loop;
        for f in
            select o.oid, o.oprname, o.oprleft::regtype as l, o.oprright::regtype as r, o.oprresult::regtype as result,
                o.oprleft = 0 as is_prefix
            from pg_operator o
            where o.oprnamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
            order by o.oid
        loop
            begin
                execute format('create function evil.op_%s(%s) returns %s language plpgsql as %L', f.oid,
                    case when f.is_prefix then f.r::text else f.l || ', ' || f.r end, f.result,
                    format($body$begin perform evil.stepped_on(%L); return null; end$body$, f.oprname));
                execute format('create operator evil.%s (%srightarg = %s, function = evil.op_%s)', f.oprname,
                    case when f.is_prefix then '' else 'leftarg = ' || f.l || ', ' end, f.r, f.oid);
                made := made + 1;
            exception
                when others then null;
            end;
        end loop;
        if made < 3000 then
            raise exception 'only % twins', made;
        end if;
    end
    $do$
    """
    MORE = """
    create function evil.stepped(bigint, text) returns bigint language plpgsql as
        $$ begin perform evil.stepped_on('aggregate'); return null; end $$;
    create function evil.stepped(text, text) returns text language plpgsql as
        $$ begin perform evil.stepped_on('aggregate'); return null; end $$;
    create aggregate evil.count(*) (sfunc = evil.stepped_count, stype = bigint);
    create aggregate evil.count(text) (sfunc = evil.stepped, stype = bigint);
    create aggregate evil.max(integer) (sfunc = evil.stepped_max, stype = integer);
    create aggregate evil.max(bigint) (sfunc = evil.stepped_sum, stype = bigint);
    create aggregate evil.sum(bigint) (sfunc = evil.stepped_sum, stype = bigint);
    create aggregate evil.min(text) (sfunc = evil.stepped, stype = text);
    create aggregate evil.string_agg(text, text) (sfunc = evil.stepped_join, stype = text);
    create aggregate evil.array_agg(text) (sfunc = evil.stepped_list, stype = text[]);
    create aggregate evil.array_agg(bytea) (sfunc = evil.stepped_bytes, stype = bytea[]);
    create domain evil.text as pg_catalog.text check (evil.stepped_on('type text') is null);
    create domain evil.jsonb as pg_catalog.jsonb check (evil.stepped_on('type jsonb') is null);
    create domain evil.vector as public.vector check (evil.stepped_on('type vector') is null);
    create domain evil.halfvec as public.halfvec check (evil.stepped_on('type halfvec') is null);
    create domain evil.tsvector as pg_catalog.tsvector check (evil.stepped_on('type tsvector') is null);
    create domain evil.regclass as pg_catalog.regclass check (evil.stepped_on('type regclass') is null);
    create domain evil.int4 as pg_catalog.int4 check (evil.stepped_on('type int4') is null);
    create domain evil.timestamptz as pg_catalog.timestamptz check (evil.stepped_on('type timestamptz') is null);
    create domain evil.bytea as pg_catalog.bytea check (evil.stepped_on('type bytea') is null);
    create text search configuration evil.jieba (copy = pg_catalog.simple);
    create text search dictionary evil.english_stem (template = pg_catalog.simple);
    create collation evil."C" (locale = 'C');
    create table evil.memories (id bigint, namespace pg_catalog.text, path pg_catalog.text, content pg_catalog.text);
    create table evil.memory_words (word pg_catalog.text, freq integer, tag pg_catalog.text);
    create table evil.memory_options (name pg_catalog.text, value pg_catalog.text);
    insert into evil.memory_options values ('model', 'evil');
    create table evil.conversations (id bigint, session_key pg_catalog.text, content pg_catalog.text);
    create view evil.memory_status as select 'evil'::pg_catalog.text as memories;
    create view evil.memory_models as select 'evil'::pg_catalog.text as name;
    create table evil.pg_class (oid oid, relname name);
    create table evil.pg_extension (oid oid, extname name);
    create table evil.pg_namespace (oid oid, nspname name);
    """
    STEP_HELPERS = """
    create sequence evil.steps;
    create function evil.stepped_on(what text) returns boolean language plpgsql as $$
        begin
            -- Not taken back with a transaction.
            perform pg_catalog.nextval('evil.steps'::pg_catalog.regclass);
            raise warning 'stepped on %', what;
            return null;
        end $$;
    create function evil.stepped_count(bigint) returns bigint language plpgsql as
        $$ begin perform evil.stepped_on('count(*)'); return 1; end $$;
    create function evil.stepped_max(integer, integer) returns integer language plpgsql as
        $$ begin perform evil.stepped_on('max'); return 1; end $$;
    create function evil.stepped_sum(bigint, bigint) returns bigint language plpgsql as
        $$ begin perform evil.stepped_on('sum or max'); return 1; end $$;
    create function evil.stepped_join(text, text, text) returns text language plpgsql as
        $$ begin perform evil.stepped_on('string_agg'); return 'x'; end $$;
    create function evil.stepped_list(text[], text) returns text[] language plpgsql as
        $$ begin perform evil.stepped_on('array_agg'); return null; end $$;
    create function evil.stepped_bytes(bytea[], bytea) returns bytea[] language plpgsql as
        $$ begin perform evil.stepped_on('array_agg'); return null; end $$;
    """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            session.run("create role mallory login")
            session.run("create role alice login")
            session.run("create schema evil authorization mallory")
            session.run("grant usage on schema evil to public")
            session.run(FILMS.format(schema="public", vector="public"))
            session.run(GRANT.format(schema="public", role="alice"))
        with cls.cluster.connect(user="mallory") as session:
            session.run(cls.STEP_HELPERS)
            session.run(cls.TWINS)
            session.run(cls.MORE)
            session.run("grant all on all tables in schema evil to public")
            session.run("grant all on all sequences in schema evil to public")

    def steps(self) -> int:
        with self.connect() as session:
            return session.value("select case when is_called then last_value else 0 end from evil.steps")

    def walk(self, session, calls: dict[str, str]):
        session.run("set search_path = evil, pg_catalog, public")
        session.warnings()
        for name, statement in calls.items():
            with self.subTest(function=name):
                before = self.steps()
                call(session, statement, "public")
                self.assertEqual([warning for warning in session.warnings() if "stepped on" in warning], [])
                self.assertEqual(self.steps(), before)

    def test_traps_are_set(self):
        with self.connect(user="alice") as session:
            session.run("set search_path = evil, pg_catalog, public")
            before = self.steps()
            session.rows("select length('文') = 1, count(*) from public.memories")
            self.assertGreater(self.steps(), before)
            self.assertGreater(len(session.warnings()), 1)

    def test_ordinary_role(self):
        with self.connect(user="alice") as session:
            self.walk(session, CALLS)

    def test_superuser(self):
        with self.connect() as session:
            self.walk(session, CALLS | OWNER_CALLS)

    def test_path_of_a_role(self):
        """Found by the connection, before anything is called."""
        with self.connect() as session:
            session.run("alter role alice set search_path = evil, pg_catalog, public")
        try:
            with self.connect(user="alice") as session:
                before = self.steps()
                call(session, "insert into $memories (content) values ('登录后第一句话')", "public")
                found = call(session, "select content from $memory_search('第一句话', 1)", "public")
                self.assertEqual(found, [("登录后第一句话",)])
                self.assertEqual(self.steps(), before)
        finally:
            with self.connect() as session:
                session.run("alter role alice reset search_path")

    def test_words_do_not_come_from_the_other_configuration(self):
        with self.connect(user="alice") as session:
            session.run("set search_path = evil, pg_catalog, public")
            call(session, "insert into $memories (namespace, content) values ('words', '部署云原生数据库')", "public")
            found = call(session, "select content from $memory_search('数据库', 1, 'words', mode => 'bm25')", "public")
            self.assertEqual(found, [("部署云原生数据库",)])
            call(session, "delete from $memories where false", "public")

    def test_temporary_objects(self):
        """What a session makes for itself is no way around the tables everybody uses."""
        with self.connect(user="alice") as session:
            with self.connect() as other:
                other.run("grant temporary on database summer to alice")
            for table in ("memories", "memory_words", "memory_options", "conversations"):
                session.run(f"create temporary table {table} (like public.{table})")
            session.run("insert into pg_temp.memory_options values ('model', 'evil')")
            session.run("create temporary view memory_status as select 'evil' as memories")
            for name, statement in CALLS.items():
                with self.subTest(function=name):
                    call(session, statement, "public")
            for table in ("memories", "memory_words", "conversations"):
                self.assertEqual(session.value(f"select count(*) from pg_temp.{table}"), 0)
            self.assertEqual(session.value("select public.memory_active_model()"), "multilingual-e5-small")
            # Words of a temporary dictionary are nobody's words.
            session.run("insert into pg_temp.memory_words (word) values ('学习了')")
            self.assertNotIn("学习了", session.value("select public.jieba_cut('我学习了')"))

    def test_created_where_traps_lie(self):
        """`create extension` itself, by a superuser who searches the schema first."""
        self.cluster.create_database("trapped", extension=False)
        with self.connect("trapped") as session:
            session.run("create extension vector")
            session.run("create schema evil authorization mallory")
            session.run("grant usage on schema evil to public")
        with self.connect("trapped", user="mallory") as mallory:
            mallory.run(self.STEP_HELPERS)
            mallory.run(self.TWINS)
        with self.connect("trapped") as session:
            session.run("set search_path = evil, pg_catalog, public")
            session.run("create extension summer_memory schema public")
            session.run("drop extension summer_memory cascade")
            session.run("create extension summer_memory schema public")
            self.assertEqual([warning for warning in session.warnings() if "stepped on" in warning], [])
            session.run("reset search_path")
            self.assertFalse(session.value("select is_called from evil.steps"))

    def test_tables_that_wait_for_their_adoption(self):
        """A role that may create in the schema makes `memories` before the extension does."""
        self.cluster.create_database("adopted", extension=False)
        with self.connect("adopted") as session:
            session.run("create extension vector")
            session.run("grant create on schema public to mallory")
            session.run("create table witness (who text)")
            session.run("grant insert on witness to public")
        with self.connect("adopted", user="mallory") as mallory:
            mallory.run("create table memories (id bigint generated by default as identity primary key, namespace text,"
                        " path text, chunk_index integer, title text, content text, metadata jsonb, tags text[],"
                        " entities text[], occurred_at timestamptz, created_at timestamptz, updated_at timestamptz,"
                        " expires_at timestamptz, model text, embed_error text, search tsvector, token_count integer)")
            mallory.run("insert into memories (namespace, content) values ('default', '诱饵')")
            mallory.run("create function spring() returns trigger language plpgsql as $$ begin"
                        " insert into public.witness values (current_user); return new; end $$")
            mallory.run("create trigger a before insert or update on memories for each row execute function spring()")
        with self.connect("adopted") as session:
            try:
                session.run("set client_min_messages = error")
                session.run("create extension summer_memory schema public")
            except session.connection.Error:
                # Refusing is right, too.
                return
            self.assertEqual(session.column("select who from witness"), [])


class PolicyTest(ClusterTest):
    """X02: what a role sees through any function is what it would see if the rows of others were not there."""

    QUESTIONS = ["紫藤花的秘密", "藤", "秘密", "wisteria", "lilac", "GitHub", "共同", "的", "完全无关的问题"]
    VIEWS = [
        "select id, path, content, score, vector_rank, bm25_rank, similarity, bm25_score, degraded"
        " from memory_search($1, 20, '*')",
        "select id, score, bm25_rank, bm25_score from memory_search($1, 20, '*', mode => 'bm25')",
        "select id, score, vector_rank, similarity from memory_search($1, 20, '*', mode => 'vector', collapse => false)",
        "select id, score from memory_search($1, 20, fusion => 'convex')",
        "select id, score from memory_search($1, 20, 'alice')",
        "select id, score from memory_search($1, 20, '*', path_prefix => 'alice', tags => '{紫藤}')",
        "select memory_explain($1, 20, '*') - 'milliseconds'",
        "select memory_explain($1, 20, 'alice') - 'milliseconds'",
        "select memory_context($1, 1000, 20, '*')",
        # Not the score: it takes the number of messages from the planner's statistics, which are for all to see.
        "select c.id, c.content from conv_search($1, 20) c",
        "select memories, pending, failed, other_model, expired from memory_status where $1 <> ''",
        "select messages, sessions, first_at, last_at, by_role, by_source from conv_stats() where $1 <> ''",
        "select l.* from conv_list() l where $1 <> ''",
        "select g.* from conv_get('alice', 10) g where $1 <> ''",
        "select g.* from conv_get('shared', 10) g where $1 <> ''",
        "select e.* from memory_entities(1, 100, '*') e where $1 <> ''",
        "select e.* from memory_entity($1, 20, '*') e",
        "select c.* from memory_cooccurrence($1, 20, '*') c",
        "select r.* from memory_related('bob-1.md', 20, '*') r where $1 <> ''",
        "select r.* from memory_related('alice-1.md', 20, '*') r where $1 <> ''",
        "select r.* from generate_series(1, 200) id cross join lateral memory_related(id, 20, '*') r where $1 <> ''",
        "select memory_graph(0, '*') where $1 <> ''",
        "select memory_graph(namespace => '*') where $1 <> ''",
        "select count(*), max(id), min(content) from memories where $1 <> ''",
    ]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            for role in ("alice", "bob", "nobody"):
                session.run(f"create role {role} login")
            session.run("alter table memories add column owner text default current_user")
            session.run("alter table conversations add column owner text default current_user")
            session.run("set summer_memory.embed = off")
            for table in ("memories", "conversations"):
                session.run(f"alter table {table} enable row level security")
                session.run(f"create policy own on {table} using (owner = current_user) with check (owner = current_user)")
                session.run(f"grant select, insert, update, delete on {table} to alice, bob")

    def setUp(self):
        with self.connect() as session:
            session.run("truncate memories, conversations restart identity")
        with self.connect(user="bob") as session:
            self.fill(session, "bob", "丁香花", "lilac")
        with self.connect(user="alice") as session:
            self.fill(session, "alice", "紫藤花", "wisteria")
        self.bob = self.connect(user="bob")

    @staticmethod
    def fill(session, name: str, flower: str, english: str):
        session.run(f"insert into memories (path, content, tags, entities, metadata) values"
                    f" ('{name}.md', '{name} 的秘密是{flower} {english}', '{{{flower[:2]}}}', '{{{english}}}', '{{\"of\": \"{name}\"}}')")
        session.run(f"insert into memories (namespace, content) values ('{name}', '{name} 自己的秘密空间')")
        session.run(f"insert into memories (path, content, expires_at) values"
                    f" ('old-{name}.md', '{name} 过期的秘密', now() - interval '1 day')")
        # Names and tags of one's own, and such as everybody has.
        session.run(f"insert into memories (path, content) select '{name}-' || n || '.md', '{name} 第' || n ||"
                    f" '次在 GitHub 上看 Node.js #共同 #{flower}' from generate_series(1, 2) n")
        session.run(f"insert into memories (content) select '{name} 的第' || n || '件小事' from generate_series(1, 5) n")
        session.run("set summer_memory.embed = off")
        session.run(f"insert into memories (content) values ('{name} 还没有向量的秘密')")
        session.run("reset summer_memory.embed")
        for key in (name, "shared"):
            session.run(f"select conv_append('{key}', 'user', '{name} 在 {key} 里说了{flower}的秘密', '2026-03-01', '{key}-{name}')")

    def seen(self, session) -> dict:
        found = {}
        for view in self.VIEWS:
            for question in self.QUESTIONS:
                found[view, question] = session.rows(view.replace("$1", "%s::text"), question)
        session.run("set summer_memory.exact_rows = 0")
        for question in self.QUESTIONS:
            found["hnsw", question] = session.rows(self.VIEWS[2].replace("$1", "%s::text"), question)
        session.run("reset summer_memory.exact_rows")
        found["warnings"] = session.warnings()
        return found

    def rows_of(self, name: str) -> list[tuple]:
        with self.connect() as session:
            return session.rows(
                "select id, namespace, path, chunk_index, content, tags, metadata, embedding::text, search::text, expires_at,"
                " updated_at from memories where owner = %s order by id", name) + session.rows(
                "select id, session_key, content, message_id from conversations where owner = %s order by id", name)

    def test_the_rows_of_others_make_no_difference(self):
        together = self.seen(self.bob)
        for view in self.VIEWS:
            if "alice" not in view:
                with self.subTest(view=view):
                    self.assertTrue(any(together[view, question] for question in self.QUESTIONS), "nothing is compared")
        with self.connect() as session:
            session.run("delete from memories where owner = 'alice'")
            session.run("delete from conversations where owner = 'alice'")
        with self.connect(user="bob") as session:
            alone = self.seen(session)
        for key, value in alone.items():
            with self.subTest(view=key):
                self.assertEqual(together[key], value)

    def test_nothing_of_the_others_is_named(self):
        for key, value in self.seen(self.bob).items():
            if isinstance(key, tuple):
                said = repr(value).replace(key[1], "")
                for secret in ("alice 的", "alice 自己", "alice 第", "alice.md", "alice-1.md", "alice 在", "alice 还", "花 wisteria"):
                    with self.subTest(view=key):
                        self.assertNotIn(secret, said)

    def test_one_session_many_roles(self):
        """Plans and statements that are kept do not keep the rights of whoever came first."""
        with self.connect() as session:
            expected = {}
            for name in ("alice", "bob"):
                with self.connect(user=name) as own:
                    expected[name] = own.column("select id from memory_search('秘密', 20, '*', collapse => false)")
            everything = set(expected["alice"]) | set(expected["bob"])
            for role in ("alice", "bob", "postgres", "bob", "postgres", "alice", "bob"):
                with self.subTest(role=role):
                    session.run(f"set role {role}")
                    found = session.column("select id from memory_search('秘密', 20, '*', collapse => false)")
                    if role == "postgres":
                        self.assertEqual(set(found), everything)
                    else:
                        self.assertEqual(found, expected[role])
                    session.run("reset role")
            session.run("set role nobody")
            with self.refused("42501"):
                session.rows("select id from memory_search('秘密', 20)")

    def test_row_security_off_is_an_error(self):
        self.bob.run("set row_security = off")
        for view in (self.VIEWS[0], self.VIEWS[6], self.VIEWS[8], self.VIEWS[10]):
            with self.subTest(view=view), self.refused("42501"):
                self.bob.rows(view.replace("$1", "%s::text"), "秘密")

    def test_function_of_another(self):
        """security definer of alice's own: her rows, by her choice, and only within it."""
        with self.connect() as session:
            session.run("grant create on schema public to alice")
        with self.connect(user="alice") as alice:
            alice.run("create function ask(q text) returns setof text language sql security definer"
                      " set search_path = pg_catalog, pg_temp as $$ select content from public.memory_search(q, 20, '*') $$")
        mine = set(self.bob.column("select content from memory_search('秘密', 20, '*')"))
        hers = set(self.bob.column("select public.ask('秘密')"))
        self.assertTrue(all(text.startswith("alice") for text in hers))
        self.assertEqual(set(self.bob.column("select content from memory_search('秘密', 20, '*')")), mine)
        with self.connect() as session:
            session.run("drop function ask(text)")
            session.run("revoke create on schema public from alice")

    def test_writing_reaches_own_rows_only(self):
        before = self.rows_of("alice")
        with self.connect() as session:
            ids = session.column("select id from memories where owner = 'alice'")
        bob = self.bob
        self.assertEqual(bob.value("select memory_forget(%s::bigint[])", ids), 0)
        self.assertEqual(bob.column("select memory_forget(id) from unnest(%s::bigint[]) id", ids), [0] * len(ids))
        self.assertEqual(bob.value("select memory_forget(path => 'alice.md', namespace => '*')"), 0)
        self.assertEqual(bob.value("select memory_forget(filter => '{\"of\": \"alice\"}', namespace => '*')"), 0)
        self.assertEqual(bob.value("select memory_sweep()"), 1)
        self.assertEqual(bob.value("select memory_backfill()"), 1)
        bob.run("select jieba_cut('秘密')")
        bob.run("select memory_reindex()")
        self.assertEqual(bob.value("select memory_prune('{}'::text[], 'alice')"), 0)
        # All that he sees, which are his.
        self.assertEqual(bob.value("select memory_prune('{}'::text[], '*')"), 3)
        self.assertEqual(bob.value("select conv_forget('alice')"), 0)
        self.assertEqual(bob.value("select conv_forget('shared')"), 1)
        self.assertEqual(bob.rows("select * from conv_to_memory('alice')"), [(0, 0, 0, 0)])
        with self.refused("42501"):
            bob.run("select memory_use_model('multilingual-e5-small')")
        with self.refused("42501"):
            bob.run("insert into memories (content, owner) values ('冒名', 'alice')")
        self.assertEqual(self.rows_of("alice"), before)

    def test_import_of_a_path_of_another(self):
        """Where paths are unique over all, the second writer is refused, and learns no more than that."""
        before = self.rows_of("alice")
        for statement in (
            "select memory_import('alice.md', '鲍勃想覆盖'::text)",
            "select memory_add('鲍勃想追加', 'alice.md')",
            "insert into memories (path, chunk_index, content) values ('alice.md', 0, '鲍勃想插入')",
            "insert into memories (path, chunk_index, content) values ('alice.md', 0, '鲍勃想改')"
            " on conflict (namespace, path, chunk_index) do update set content = excluded.content",
        ):
            with self.subTest(statement=statement):
                with self.refused("23505", "42501") as caught:
                    self.bob.run(statement)
                said = str(caught.error)
                for secret in ("紫藤", "wisteria", "的秘密"):
                    self.assertNotIn(secret, said)
        with self.connect() as session:
            # Names the index, but not what is in it.
            session.run("delete from memories where owner = 'bob'")
        self.assertEqual(self.rows_of("alice"), before)
        # In a namespace of one's own there is no such neighbour.
        self.assertEqual(self.bob.rows("select * from memory_import('alice.md', '鲍勃的'::text, 'bob')"), [(1, 0, 0, 0)])

    def test_dump_and_restore(self):
        """By a superuser: with policies, and each role sees there what it saw here."""
        seen = {}
        for name in ("alice", "bob"):
            with self.connect(user=name) as session:
                seen[name] = self.seen(session)
        file = self.cluster.home / "policies.dump"
        self.cluster.client("pg_dump", "-d", "summer", "-f", file)
        self.cluster.create_database("policies", extension=False)
        self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "policies", "-f", file)
        with self.connect("policies") as session:
            self.assertEqual(
                session.rows("select tablename, policyname, cmd, qual, with_check from pg_policies order by tablename"),
                [(table, "own", "ALL", "(owner = CURRENT_USER)", "(owner = CURRENT_USER)")
                 for table in ("conversations", "memories")])
        for name in ("alice", "bob"):
            with self.connect("policies", user=name) as session:
                after = self.seen(session)
                for key, value in seen[name].items():
                    with self.subTest(role=name, view=key):
                        self.assertEqual(after[key], value)
        with self.connect() as session:
            session.run("drop database policies with (force)")


class OwnSchemaTest(ClusterTest):
    """The extension in a schema of its own, pgvector in another, and a search path with neither."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.create_database("apart", extension=False)
        with cls.cluster.connect("apart") as session:
            session.run("create role alice login")
            session.run("create schema ext")
            session.run("create schema vec")
            session.run("create extension vector schema vec")
            session.run("create extension summer_memory schema ext")
            session.run(FILMS.format(schema="ext", vector="vec"))
            session.run(GRANT.format(schema="ext", role="alice"))
            session.run("grant usage on schema vec to alice")
            session.run("alter database apart set search_path = ''")

    def setUp(self):
        with self.connect("apart") as session:
            session.run("truncate ext.memories, ext.memory_words, ext.conversations, ext.films")

    def test_every_function(self):
        for user in ("postgres", "alice"):
            with self.connect("apart", user=user) as session:
                self.assertEqual(session.value("show search_path"), '""')
                for name, statement in (CALLS | OWNER_CALLS if user == "postgres" else CALLS).items():
                    with self.subTest(user=user, function=name):
                        call(session, statement, "ext")
                self.assertEqual(session.warnings(), [])

    def test_every_function_has_a_call(self):
        called = {name.split(",")[0] for name in (*CALLS, *OWNER_CALLS)}
        with self.connect("apart") as session:
            self.assertEqual(set(session.column(FUNCTIONS)) - called - NOT_CALLED, set(), "functions without a call")

    def test_writing_and_finding(self):
        with self.connect("apart", user="alice") as session:
            session.run("insert into ext.memories (content) values ('我昨天去超市买了苹果和香蕉'), ('我开车去上班')")
            self.assertEqual(
                session.rows("select model, vec.vector_dims(embedding), search is null from ext.memories"),
                [("multilingual-e5-small", 384, False)] * 2)
            found = session.rows("select content, vector_rank, degraded from ext.memory_search('水果', 1)")
            self.assertEqual(found, [("我昨天去超市买了苹果和香蕉", 1, None)])
            session.run("set summer_memory.exact_rows = 0")
            self.assertEqual(
                session.value("select content from ext.memory_search('通勤', 1, mode => 'vector')"), "我开车去上班")
            session.run("update ext.memories set content = '我骑车去上班' where content like '我开车%'")
            self.assertEqual(session.value("select count(*) from ext.memories where embedding is null"), 0)
            with session.connection.cursor().copy("copy ext.memories (content) from stdin") as copy:
                copy.write("把猫粮换成低敏款\n")
            self.assertEqual(
                session.value("select content from ext.memory_search('低敏猫粮', 1)"), "把猫粮换成低敏款")
            session.run("insert into ext.films (t) values ('一部电影')")
            self.assertEqual(session.value("select vec.vector_dims(v) from ext.films"), 384)

    def test_background(self):
        with self.connect("apart") as session:
            session.run("set summer_memory.embed = async")
            session.run("insert into ext.memories (content) values ('后台来算')")
            eventually(lambda: session.value("select pending = 0 from ext.memory_status"), "the row is filled")

    def test_dump_and_restore(self):
        with self.connect("apart") as session:
            for statement in CALLS.values():
                call(session, statement, "ext")
            session.run("create table public.articles (id integer primary key, body text, words tsvector"
                        " generated always as (to_tsvector('ext.jieba', body)) stored)")
            session.run("create index on public.articles using gin (to_tsvector('ext.jieba', body))")
            session.run("insert into public.articles (id, body) values (1, '我在清华大学学习')")
            rows = "select m.*, vec.vector_send(m.embedding) from ext.memories m order by m.id"
            found = "select id, score, similarity, bm25_score from ext.memory_search('水果', 10, '*')"
            articles = "select id, words::text from public.articles where to_tsvector('ext.jieba', body) @@ to_tsquery('ext.jieba', '大学')"
            before = [session.rows(query) for query in (rows, found, articles)]
            self.assertTrue(all(before))
        for how in ("plain", "custom"):
            with self.subTest(how=how):
                self.cluster.create_database(how, extension=False)
                file = self.cluster.home / f"apart.{how}"
                with self.connect("apart") as session:
                    runs = session.value("select ext.memory_model_runs()")
                if how == "plain":
                    self.cluster.client("pg_dump", "-d", "apart", "-f", file)
                    self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", how, "-f", file)
                else:
                    self.cluster.client("pg_dump", "-d", "apart", "-Fc", "-f", file)
                    self.cluster.client("pg_restore", "--exit-on-error", "-d", how, file)
                with self.connect(how) as session:
                    session.run("set search_path = ''")
                    self.assertEqual([session.rows(query) for query in (rows, found, articles)], before)
                    self.assertEqual(session.value("select ext.memory_model_runs()"), runs, "the model ran")
                    session.run("insert into ext.memories (content) values ('恢复以后')")
                    self.assertEqual(session.value("select count(*) from ext.memories where embedding is null"), 0)

    def test_drop_and_create_again(self):
        with self.connect("apart") as session:
            session.run("insert into ext.memories (content) values ('扩展走了又来')")
            with self.refused("2BP01"):
                session.run("drop extension summer_memory")
            session.run("begin")
            session.run("set local client_min_messages = warning")
            session.run("drop extension summer_memory cascade")
            session.run("create extension summer_memory schema ext")
            self.assertEqual(session.value("select content from ext.memory_search('走了又来', 1)"), "扩展走了又来")
            session.run("rollback")


class NoRightsTest(ClusterTest):
    """A role without a grant gets 42501 wherever a table would be needed, and nothing else."""

    # Need no table: they work for everybody.
    FREE = {
        "memory_models", "memory_list_models", "memory_embed", "memory_try_embed", "memory_model_tokens",
        "memory_model_runs", "memory_check_model", "memory_check_dims", "memory_check_owner", "memory_active_model", "memory_embed_place",
        "memory_vector", "memory_split", "memory_path", "memory_path_date", "memory_whole_text",
        "memory_content_hash", "memory_tsvector", "memory_token_count", "memory_default_namespace",
        "memory_lock_document", "memory_document_lock", "memory_announce_pending", "jieba_cut", "jieba_cut_for_search", "jieba_cut_all",
        "jieba_tag", "jieba_keywords", "jieba_fold", "jieba_check_word", "jieba_parse_dictionary",
        "memory_extract", "memory_entity_key", "memory_entity_keys", "memory_entity_kind", "memory_merge_names",
        "memory_preview", "memory_graph_page", "conv_fingerprint", "conv_global_ids", "conv_indexed", "conv_lock", "conv_lock_numbers", "conv_path",
        "jieba", "own table, update", "own table",
        # Does nothing where the index is there already.
        "memory_index_model",
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            session.run("create role nobody login")
            session.run("create role looker login")
            session.run("grant select on memories, conversations to looker")
            session.run(FILMS.format(schema="public", vector="public"))
            session.run("grant all on films to nobody, looker")
            session.run("insert into memories (path, content) values ('diary/2026-03-01.md', '不能说的秘密')")
            session.run("select conv_append('s1', 'user', '不能说的话', '2026-02-01', 'm0', 'test')")
            # Work for memory_backfill, which no background worker takes away.
            session.run("alter database summer set summer_memory.embed = off")
            session.run("set summer_memory.embed = off")
            session.run("insert into memories (content) values ('不能说的，还没有向量')")

    def test_every_function(self):
        with self.connect(user="nobody") as session:
            for name, statement in (CALLS | OWNER_CALLS).items():
                with self.subTest(function=name):
                    if name.split(",")[0] in self.FREE or name in self.FREE:
                        call(session, statement, "public")
                        continue
                    with self.refused("42501") as caught:
                        call(session, statement, "public")
                    self.assertNotIn("不能说", str(caught.error))
            self.assertEqual(session.warnings(), [])

    def test_the_right_to_read_is_no_right_to_write(self):
        reads = {name for name in CALLS if name.split(",")[0] in {
            "memory_search", "memory_explain", "memory_context", "memory_status", "memory_status_rows", "memory_related",
            "memory_entities", "memory_entity", "memory_cooccurrence", "memory_graph", "memory_graph_html", "conv_list",
            "conv_get", "conv_stats", "conv_search", "conv_rank", "conv_sessions", "conv_session", "conv_claim", "conv_find",
            "conv_sources"}}
        with self.connect() as owner, self.connect(user="looker") as session:
            before = owner.rows("select * from memories")
            for name, statement in (CALLS | OWNER_CALLS).items():
                with self.subTest(function=name):
                    if name in reads or name.split(",")[0] in self.FREE:
                        call(session, statement, "public")
                        continue
                    with self.refused("42501"):
                        call(session, statement, "public")
            self.assertEqual(session.column("select content from memory_search('秘密', 1)"), ["不能说的秘密"])
            self.assertEqual(owner.rows("select * from memories"), before)
