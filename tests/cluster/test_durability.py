"""What a store keeps through pg_dump and restore, and through `drop extension` and `create extension`.

Everything a user can see is compared: rows, the bytes of vectors, words, search results, added columns,
indexes, policies, the user dictionary and the chosen model. None of it may cost a model run.
"""

import signal

import tiny_model
from cluster import DEFAULT_MODEL, ClusterTest

NOTES = {
    "diary/2026-02-19.md": "# 周四\n\n## 购物\n\n昨天去超市买了苹果和香蕉。\n\n## 通勤\n\n开车去上班，路上很堵。\n",
    "diary/2026-02-20.md": "# 周五\n\n## 工作\n\n把 Node.js 升到 22，部署到 www.example.com。\n\n## 客户\n\n见了风禾三的王经理。\n",
    "notes/database.md": "# 数据库\n\n整理了數據庫性能優化的筆記，慢查询从 3 秒降到 40 毫秒。\n",
}
QUESTIONS = ["水果", "通勤", "风禾三", "数据库性能", "Node.js", "我昨天买了什么？"]

ROWS = """
select m.id, m.namespace, m.path, m.chunk_index, m.title, m.content, m.metadata, m.tags, m.occurred_at, m.created_at,
    m.updated_at, m.expires_at, m.model, m.embed_error, vector_send(m.embedding) as embedding, m.content_hash
from memories m
order by m.id
"""
WORDS = "select m.id, m.search::text, m.token_count from memories m order by m.id"
RESULTS = """
select q.question, s.id, s.score, s.vector_rank, s.bm25_rank, s.similarity, s.bm25_score, s.degraded
from unnest(%s::text[]) with ordinality q (question, place),
    memory_search(q.question, 10, namespace => '*', collapse => false) with ordinality s
order by q.place, s.ordinality
"""
COLUMNS = """
select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, a.attidentity,
    pg_get_expr(d.adbin, d.adrelid)
from pg_attribute a
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where a.attrelid = 'memories'::regclass and a.attnum > 0 and not a.attisdropped
order by a.attname
"""
INDEXES = "select indexname, indexdef from pg_indexes where tablename = 'memories' order by indexname"
POLICIES = "select policyname, cmd, roles, qual from pg_policies order by tablename, policyname"
TRIGGERS = "select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by tgname"


def fill(session):
    """A store with a bit of everything."""
    session.run("select jieba_add_word('风禾三', 50, 'nz')")
    for path, content in NOTES.items():
        session.run("select memory_import(%s, %s::text)", path, content)
    session.run(
        "select memory_add('周末全家去湿地公园看候鸟迁徙', namespace => 'family', tags => array['出游'],"
        " metadata => '{\"source\": \"chat\"}', occurred_at => '2026-02-21 09:00+08')")
    session.run("insert into memories (content, expires_at) values ('明天的临时提醒', now() + interval '1 day')")
    session.run("set summer_memory.embed = off")
    session.run("insert into memories (content) values ('这一条还没有向量')")
    session.run("reset summer_memory.embed")


def customise(session):
    """What a user adds to the table: it is theirs."""
    session.run("alter table memories add column mood text default 'calm'")
    session.run("update memories set mood = 'happy' where namespace = 'family'")
    session.run("create index memories_mood_idx on memories (mood) where mood <> 'calm'")
    session.run("alter table memories enable row level security")
    session.run("create policy family on memories to reader using (namespace = 'family')")
    session.run("grant select on memories to reader")


def picture(session) -> dict:
    """Everything that must survive."""
    return {
        "rows": session.rows(ROWS),
        "words": session.rows(WORDS),
        "results": session.rows(RESULTS, QUESTIONS),
        "columns": session.rows(COLUMNS),
        "indexes": session.rows(INDEXES),
        "policies": session.rows(POLICIES),
        "triggers": session.rows(TRIGGERS),
        "security": session.rows("select relrowsecurity from pg_class where oid = 'memories'::regclass"),
        "dictionary": session.rows("select word, freq, tag from memory_words order by word"),
        "options": session.rows("select name, value from memory_options order by name"),
        "status": session.rows("select memories, pending, failed, other_model, model, dims from memory_status"),
    }


class StoreTest(ClusterTest):
    """Comparing pictures piece by piece, so that a failure names the piece."""

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models / "tiny", dims=8)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def assertSame(self, before: dict, after: dict):
        for piece, value in before.items():
            with self.subTest(piece=piece):
                self.assertEqual(len(after[piece]), len(value))
                # Row by row: the first difference is what one wants to see.
                for now, then in zip(after[piece], value):
                    self.assertEqual(now, then)


class DumpTest(StoreTest):
    """pg_dump and restore into a fresh database."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            session.run("create role reader")
            fill(session)
            customise(session)
        cls.cluster.create_database("small")
        with cls.cluster.connect("small") as session:
            session.run("select memory_use_model('tiny')")
            fill(session)
            customise(session)

    def restore(self, source: str, name: str, how: str):
        """Restores a dump of `source` as database `name`, and counts the model runs it took."""
        self.cluster.create_database(name, extension=False)
        file = self.cluster.home / f"{name}.dump"
        with self.connect(source) as session:
            # All answers are in the cache of query vectors before the count begins.
            before = picture(session)
            runs = session.value("select memory_model_runs()")
            if how.startswith("plain"):
                self.cluster.client("pg_dump", *how.split()[1:], "-d", source, "-f", file)
                self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, "-f", file)
            else:
                self.cluster.client("pg_dump", "-d", source, "-Fc", "-f", file)
                self.cluster.client("pg_restore", "--exit-on-error", *how.split(), "-d", name, file)
            with self.connect(name) as restored:
                self.assertEqual(restored.value("select memory_model_runs()"), runs, "the restore ran the model")
                after = picture(restored)
                self.assertEqual(restored.value("select memory_model_runs()"), runs, "a search ran the model again")
        return before, after

    def test_plain(self):
        self.assertSame(*self.restore("summer", "plain", "plain"))

    def test_policies_obeyed(self):
        """Such a dump leaves row_security on."""
        self.assertSame(*self.restore("summer", "obeyed", "plain --enable-row-security"))

    def test_row_security_off_is_no_restore(self):
        self.cluster.create_database("no_restore", extension=False)
        with self.connect("no_restore") as session:
            session.run("set row_security = off")
            session.run("create extension summer_memory cascade")
            session.run("select memory_add('苹果')")
            self.assertEqual(session.column("select content from memory_search('苹果')"), ["苹果"])

    def test_custom(self):
        self.assertSame(*self.restore("summer", "custom", "--clean --if-exists"))

    def test_parallel(self):
        self.assertSame(*self.restore("summer", "parallel", "--jobs=3"))

    def test_other_dimensions(self):
        before, after = self.restore("small", "small_plain", "plain")
        self.assertSame(before, after)
        self.assertIn(("model", "tiny"), after["options"])

    def test_other_dimensions_custom(self):
        self.assertSame(*self.restore("small", "small_custom", "--jobs=2"))

    def test_model_is_not_installed_where_it_is_restored(self):
        hidden = self.cluster.home / "hidden"
        with self.connect("small") as session:
            before = picture(session)
        (self.cluster.models / "tiny").rename(hidden)
        self.addCleanup(lambda: hidden.exists() and hidden.rename(self.cluster.models / "tiny"))
        self.cluster.create_database("orphan", extension=False)
        file = self.cluster.home / "orphan.dump"
        self.cluster.client("pg_dump", "-d", "small", "-f", file)
        self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "orphan", "-f", file)
        with self.connect("orphan") as session:
            self.assertEqual(session.rows(ROWS), before["rows"])
            self.assertNotEqual(session.rows("select * from memory_search('数据库', namespace => '*')"), [])
            hidden.rename(self.cluster.models / "tiny")
            self.assertSame(before, picture(session))

    def test_restored_store_goes_on(self):
        self.restore("summer", "onward", "plain")
        with self.connect("onward") as session:
            last = session.value("select max(id) from memories")
            new = session.value("insert into memories (content) values ('恢复以后买了草莓') returning id")
            self.assertGreater(new, last)
            self.assertEqual(session.value("select memory_model_runs() > 0"), True)
            self.assertIn(new, session.column("select id from memory_search('草莓', 3)"))
            again = session.rows(
                "select * from memory_import('notes/database.md', %s::text)", NOTES["notes/database.md"])
            self.assertEqual(again, [(0, 0, 1, 0)])
            self.assertEqual(session.value("select memory_backfill()"), 1)
            with session.transaction():
                session.run("set local role reader")
                self.assertEqual(session.column("select distinct namespace from memories"), ["family"])

    def test_data_only_into_a_new_store(self):
        """Triggers are there and fire: rows bring their vectors along, so they compute nothing."""
        self.cluster.create_database("data")
        file = self.cluster.home / "data.dump"
        with self.connect("summer") as session:
            before = session.rows(ROWS)
            runs = session.value("select memory_model_runs()")
        self.cluster.client("pg_dump", "-d", "summer", "-a", "-t", "memories", "-t", "memory_words", "-f", file)
        with self.connect("data") as session:
            session.run("alter table memories add column mood text default 'calm'")
        self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", "set summer_memory.embed = off",
                            "-d", "data", "-f", file)
        with self.connect("data") as session:
            after = session.rows(ROWS)
            self.assertEqual(session.value("select memory_model_runs()"), runs)
        self.assertEqual(after, before)


class DropTest(StoreTest):
    """`drop extension` while memories exist, and the way back."""

    def setUp(self):
        self.cluster.create_database("drops")
        self.addCleanup(self.forget)
        with self.connect("postgres") as session:
            # What is pending stays so, unless a test asks for it.
            session.run("alter database drops set summer_memory.embed = off")
        self.session = self.connect("drops")
        self.session.run("set summer_memory.embed = sync")
        fill(self.session)

    def forget(self):
        self.session.close()
        with self.connect("postgres") as session:
            session.run("drop database drops with (force)")

    def content(self):
        return self.session.rows(
            "select id, namespace, path, chunk_index, title, content, metadata, tags, occurred_at, created_at,"
            " updated_at, expires_at from memories order by id")

    def test_drop_is_refused(self):
        before = picture(self.session)
        with self.refused("2BP01"):
            self.session.run("drop extension summer_memory")
        self.assertSame(before, picture(self.session))

    def test_cascade_keeps_the_content_and_create_adopts_it(self):
        self.session.run("alter table memories add column mood text default 'calm'")
        before = picture(self.session)
        content = self.content()
        runs = self.session.value("select memory_model_runs()")
        self.session.run("drop extension summer_memory cascade")
        self.assertEqual(self.content(), content)
        self.assertEqual(self.session.rows("select word from memory_words"), [("风禾三",)])
        self.session.run("create extension summer_memory")
        after = picture(self.session)
        self.assertEqual(self.session.value("select memory_model_runs()"), runs)
        self.assertSame(before, after)
        # Not members, still: a second drop is refused as the first one was.
        with self.refused("2BP01"):
            self.session.run("drop extension summer_memory")

    def test_writes_while_the_extension_is_away(self):
        self.session.run("drop extension summer_memory cascade")
        self.session.run("insert into memories (namespace, content, chunk_index)"
                         " values ('default', '扩展不在时写下的草莓', 0)")
        self.session.run("create extension summer_memory")
        # Found by its words at once; its vector comes from the background or from memory_backfill().
        self.assertEqual(
            self.session.value("select content from memory_search('草莓', 1, mode => 'bm25')"), "扩展不在时写下的草莓")
        self.session.run("select memory_backfill()")
        self.assertEqual(self.session.value("select pending from memory_status"), 0)

    def test_vector_dropped_with_cascade(self):
        """The vectors are gone with their type; the content is not, and everything can be computed again."""
        content = self.content()
        self.session.run("drop extension vector cascade")
        self.assertEqual(self.content(), content)
        self.session.run("create extension summer_memory cascade")
        self.assertEqual(self.content(), content)
        self.assertEqual(self.session.value("select memory_backfill()"), len(content))
        self.assertEqual(self.session.value("select pending from memory_status"), 0)
        self.assertIn("苹果", self.session.value("select content from memory_search('水果', 1, mode => 'vector', collapse => false)"))

    def test_chosen_model_is_kept(self):
        self.session.run("select memory_use_model('tiny')")
        self.session.run("select memory_backfill()")
        before = picture(self.session)
        self.session.run("drop extension summer_memory cascade")
        self.session.run("create extension summer_memory")
        self.assertSame(before, picture(self.session))

    def test_rolled_back_drop(self):
        before = picture(self.session)
        self.session.run("begin")
        self.session.run("drop extension summer_memory cascade")
        self.session.run("rollback")
        self.assertSame(before, picture(self.session))


class RestartTest(StoreTest):
    """A restart changes nothing, whether the server had time to say goodbye or not."""

    def test_restart(self):
        with self.connect() as session:
            fill(session)
            self.assertEqual(session.value("select memory_active_model()"), DEFAULT_MODEL)
            # A server that starts fills what is pending.
            self.assertEqual(session.value("select memory_backfill()"), 1)
            before = picture(session)
        for how in (signal.SIGINT, signal.SIGQUIT):
            self.cluster.restart(how)
            with self.connect() as session:
                self.assertSame(before, picture(session))
