"""The user dictionary and the words of a text where more than one process is concerned: sessions that are
already open, prepared statements, parallel workers, restarts, and texts so long that somebody gives up.

What one session sees is tested by pg_regress. Times here are limits with plenty of room.
"""

import time
from pathlib import Path

from cluster import PATIENCE, ClusterTest, eventually, meanwhile

# No dictionary has it: jieba cuts it into 风禾 and 三.
NAME = "风禾三"
CUT = "select jieba_cut('风禾三来电')"
WITHOUT, WITH = ["风禾", "三", "来电"], ["风禾三", "来电"]
# Within this a long text must be given up.
SOON = 10


def time_at_work(pid: int) -> int:
    """What a process has used of a processor, in ticks of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class OpenSessionsTest(ClusterTest):
    """P11: a committed change reaches every open session, a change that is taken back reaches none."""

    conf = {"max_prepared_transactions": "2"}

    def setUp(self):
        self.writer, self.reader = self.connect(), self.connect()
        self.writer.run("truncate memory_words")
        # Both have read the dictionary before anything changes.
        for session in (self.writer, self.reader):
            self.assertEqual(session.value(CUT), WITHOUT)

    def test_insert_update_delete(self):
        self.writer.run("insert into memory_words (word, freq, tag) values (%s, 50, 'nz')", NAME)
        self.assertEqual(self.reader.value(CUT), WITH)
        self.assertEqual(self.reader.value("select to_tsvector('jieba', %s)::text", NAME), "'风禾三':1")
        self.assertEqual(self.reader.rows("select word, tag from jieba_tag(%s)", NAME), [(NAME, "nz")])
        self.writer.run("update memory_words set tag = 'nr'")
        self.assertEqual(self.reader.rows("select word, tag from jieba_tag(%s)", NAME), [(NAME, "nr")])
        self.writer.run("update memory_words set word = '禾三来'")
        self.assertNotEqual(self.reader.value(CUT), WITH)
        self.assertIn("禾三来", self.reader.value(CUT))
        self.writer.run("delete from memory_words")
        self.assertEqual(self.reader.value(CUT), WITHOUT)

    def test_other_ways_to_change_it(self):
        changes = [
            ("select jieba_add_word('风禾三', 50, 'nz')", WITH),
            ("truncate memory_words", WITHOUT),
            ("select jieba_load_userdict('风禾三 50 nz')", WITH),
            ("begin; delete from memory_words; insert into memory_words (word) values ('云原生'); commit", WITHOUT),
            ("merge into memory_words w using (values ('风禾三')) v (word) on w.word = v.word"
             " when not matched then insert (word) values (v.word)", WITH),
        ]
        for statement, expected in changes:
            with self.subTest(statement=statement):
                self.writer.run(statement)
                self.assertEqual(self.reader.value(CUT), expected)
                self.assertEqual(self.writer.value(CUT), expected)
        with self.writer.connection.cursor().copy("copy memory_words (word) from stdin") as copy:
            copy.write("三来电\n")
        self.writer.run("delete from memory_words where word = '风禾三'")
        self.assertIn("三来电", self.reader.value(CUT))

    def test_rollback(self):
        self.writer.run("begin")
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.assertEqual(self.writer.value(CUT), WITH, "the writer sees its own word")
        self.assertEqual(self.reader.value(CUT), WITHOUT, "nobody else does")
        self.writer.run("rollback")
        for session in (self.writer, self.reader):
            self.assertEqual(session.value(CUT), WITHOUT)

    def test_rollback_of_a_deletion(self):
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.writer.run("begin")
        self.writer.run("savepoint before")
        self.writer.run("delete from memory_words")
        self.assertEqual(self.writer.value(CUT), WITHOUT)
        self.assertEqual(self.reader.value(CUT), WITH)
        self.writer.run("rollback to before")
        self.assertEqual(self.writer.value(CUT), WITH)
        self.writer.run("commit")
        for session in (self.writer, self.reader):
            self.assertEqual(session.value(CUT), WITH)

    def test_writer_that_is_terminated(self):
        self.writer.run("begin")
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.reader.run("select pg_terminate_backend(%s)", self.writer.pid)
        eventually(lambda: not self.reader.rows("select from pg_stat_activity where pid = %s", self.writer.pid),
                   "the writer is gone")
        self.assertEqual(self.reader.value(CUT), WITHOUT)

    def test_prepared_transaction(self):
        for end, expected in (("rollback", WITHOUT), ("commit", WITH)):
            with self.subTest(end=end):
                self.writer.run("begin")
                self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
                self.writer.run("prepare transaction 'words'")
                for session in (self.writer, self.reader):
                    self.assertEqual(session.value(CUT), WITHOUT)
                with self.connect() as other:
                    other.run(f"{end} prepared 'words'")
                for session in (self.writer, self.reader):
                    self.assertEqual(session.value(CUT), expected)

    def test_reader_within_a_transaction(self):
        for isolation in ("read committed", "repeatable read"):
            with self.subTest(isolation=isolation):
                self.writer.run("truncate memory_words")
                self.reader.run(f"begin isolation level {isolation}")
                self.assertEqual(self.reader.value(CUT), WITHOUT)
                self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
                self.assertIn(self.reader.value(CUT), (WITHOUT, WITH))
                self.reader.run("commit")
                self.assertEqual(self.reader.value(CUT), WITH, "at latest in its next transaction")

    def test_next_statement_of_a_transaction(self):
        self.reader.run("begin")
        self.assertEqual(self.reader.value(CUT), WITHOUT)
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.assertEqual(self.reader.value(CUT), WITH)
        self.reader.run("commit")

    def test_prepared_statement(self):
        """A plan that is kept must not keep the words of its text."""
        self.reader.run("prepare cut (text) as select jieba_cut($1)")
        self.reader.run("prepare vector (text) as select to_tsvector('jieba', $1)::text")
        for mode in ("auto", "force_generic_plan"):
            with self.subTest(mode=mode):
                self.writer.run("truncate memory_words")
                self.reader.run(f"set plan_cache_mode = {mode}")
                for _ in range(7):
                    self.assertEqual(self.reader.value("execute cut ('风禾三来电')"), WITHOUT)
                    self.assertEqual(self.reader.value("execute vector ('风禾三')"), "'三':2 '风禾':1")
                self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
                self.assertEqual(self.reader.value("execute cut ('风禾三来电')"), WITH)
                self.assertEqual(self.reader.value("execute vector ('风禾三')"), "'风禾三':1")

    def test_prepared_statement_with_a_constant(self):
        """to_tsvector and to_tsquery of a constant are computed when the plan is made."""
        self.reader.run("prepare vector as select to_tsvector('jieba', '风禾三')::text")
        self.reader.run("prepare query as select plainto_tsquery('jieba', '风禾三')::text")
        for _ in range(7):
            self.assertEqual(self.reader.value("execute vector"), "'三':2 '风禾':1")
            self.reader.value("execute query")
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.assertEqual(self.reader.value("execute vector"), "'风禾三':1")
        self.assertEqual(self.reader.value("execute query"),
                         self.reader.value("select plainto_tsquery('jieba', '风禾三')::text"))

    def test_cached_plan_of_a_function(self):
        with self.connect() as owner:
            owner.run("create function names(body text) returns boolean language plpgsql as $$ begin"
                      " return to_tsvector('jieba', body) @@ phraseto_tsquery('jieba', '风禾三'); end $$")
            self.addCleanup(lambda: self.connect().run("drop function names(text)"))
        for _ in range(7):
            self.assertTrue(self.reader.value("select names('风禾三来电')"))
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.assertTrue(self.reader.value("select names('风禾三来电')"))
        self.writer.run("truncate memory_words")
        self.assertTrue(self.reader.value("select names('风禾三来电')"))

    def test_memories_written_and_asked_by_others(self):
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.reader.run("insert into memories (namespace, content) values ('words', '风禾三来电')")
        self.assertEqual(
            self.reader.value("select search::text from memories where namespace = 'words'"),
            "'来电':2 '风禾三':1")
        self.assertEqual(
            self.writer.column("select content from memory_search('风禾三', 1, 'words', mode => 'bm25')"),
            ["风禾三来电"])

    def test_changes_without_end(self):
        """Readers that are in the middle of a text when the dictionary changes."""
        def change():
            with self.cluster.connect() as session:
                for number in range(300):
                    session.run("insert into memory_words (word) values (%s), (%s)", NAME, f"新词{number}号")
                    session.run("delete from memory_words")
                session.run("insert into memory_words (word) values (%s)", NAME)

        with meanwhile(change) as future:
            while not future.done():
                self.assertIn(self.reader.value(CUT), (WITHOUT, WITH))
            future.result()
        self.assertEqual(self.reader.value(CUT), WITH)

    def test_restart(self):
        self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        self.cluster.restart()
        with self.connect() as session:
            self.assertEqual(session.value(CUT), WITH)
            self.assertEqual(session.value("select freq from memory_words where word = %s", NAME), 50)

    def test_databases_have_their_own(self):
        self.cluster.create_database("neighbour")
        with self.connect("neighbour") as session:
            self.assertEqual(session.value(CUT), WITHOUT)
            self.writer.run("select jieba_add_word(%s, 50, 'nz')", NAME)
            self.assertEqual(session.value(CUT), WITHOUT)
            self.assertEqual(self.reader.value(CUT), WITH)

    def test_database_without_the_table(self):
        self.cluster.create_database("bare")
        with self.connect("bare") as session, self.connect("bare") as early:
            session.run("select jieba_add_word(%s, 50, 'nz')", NAME)
            self.assertEqual(early.value(CUT), WITH)
            session.run("drop table memory_words")
            with self.connect("bare") as late:
                for reader in (session, early, late):
                    self.assertEqual(reader.value(CUT), WITHOUT)
                    self.assertEqual(reader.value("select to_tsvector('jieba', '来电')::text"), "'来电':1")
                    reader.run("insert into memories (content) values ('没有词典也能写')")
                self.assertEqual(len(late.rows("select from memory_search('词典', 5)")), 3)
                session.run("select memory_init()")
                session.run("select jieba_add_word(%s, 50, 'nz')", NAME)
                for reader in (session, early, late):
                    self.assertEqual(reader.value(CUT), WITH)


class OpenSessionsWithoutPreloadTest(OpenSessionsTest):
    """The same where each session builds the dictionary on its own."""

    preload = False


class LongTextTest(ClusterTest):
    """P23: several megabytes without a blank or a full stop take time, and may be given up at any moment."""

    TEXTS = {
        "one word again and again": "repeat('中国', 500000)",
        "unknown words": "repeat('嘅喺', 500000)",
        "Latin, digits and Han": "repeat('a1中', 500000)",
    }
    FUNCTIONS = [
        "cardinality(jieba_cut({}))",
        "cardinality(jieba_cut_for_search({}))",
        "cardinality(jieba_cut_all({}))",
        "(select count(*) from jieba_tag({}))",
        "(select count(*) from jieba_keywords({}))",
        "(select count(*) from jieba_keywords({}, 10, 'textrank'))",
        "length(to_tsvector('jieba', {}))",
        "numnode(plainto_tsquery('jieba', {}))",
        "length(memory_tsvector(null, {}))",
        "(select count(*) from memory_split({}))",
    ]

    def test_statement_timeout(self):
        with self.connect() as session:
            for kind, text in self.TEXTS.items():
                for function in self.FUNCTIONS:
                    with self.subTest(kind=kind, function=function):
                        session.run("set statement_timeout = 50")
                        start = time.monotonic()
                        try:
                            session.run("select " + function.format(text))
                        except session.connection.Error as error:
                            self.assertEqual(error.sqlstate, "57014")
                        self.assertLess(time.monotonic() - start, SOON)
                        session.run("reset statement_timeout")
                        self.assertEqual(session.value(CUT), WITHOUT)

    def cancelled(self, expression: str, rounds: int):
        """Asks for `expression` many times over, and gives up on it half a second later."""
        with self.connect() as session, self.connect() as other:
            session.value(CUT)
            statement = f"select sum({expression.format('t.body')}) from (select " \
                        f"{self.TEXTS['unknown words']} || n as body from generate_series(1, {rounds}) n offset 0) t"
            with meanwhile(session.run, statement) as future:
                eventually(lambda: other.value(
                    "select state = 'active' from pg_stat_activity where pid = %s", session.pid), "it is at work")
                time.sleep(0.5)
                self.assertFalse(future.done())
                start = time.monotonic()
                self.assertTrue(other.value("select pg_cancel_backend(%s)", session.pid))
                error = future.exception(timeout=PATIENCE)
                seconds = time.monotonic() - start
            self.assertEqual(error.sqlstate, "57014")
            self.assertLess(seconds, SOON)
            self.assertEqual(session.value(CUT), WITHOUT)

    def test_cancel_of_words(self):
        self.cancelled("cardinality(jieba_cut({}))", 100)

    def test_cancel_of_a_tsvector(self):
        self.cancelled("length(to_tsvector('jieba', {}))", 100)

    def given_up_in_the_middle(self, function: str):
        """One call, not many: a time limit must end it before it is done. Measured in time at work, for the
        machine may have other things to do."""
        statement = "select " + function.format("repeat('嘅喺', 2000000)")
        with self.connect() as session:
            session.value(CUT)
            start = time_at_work(session.pid)
            session.run(statement)
            whole = time_at_work(session.pid) - start
            session.run("set statement_timeout = 100")
            start = time_at_work(session.pid)
            with self.refused("57014"):
                session.run(statement)
            self.assertLess(time_at_work(session.pid) - start, whole / 2)

    def test_in_the_middle_of_a_tsvector(self):
        self.given_up_in_the_middle("length(to_tsvector('jieba', {}))")

    def test_in_the_middle_of_words(self):
        self.given_up_in_the_middle("cardinality(jieba_cut({}))")

    def test_terminate(self):
        with self.connect() as session, self.connect() as other:
            with meanwhile(session.run, "select cardinality(jieba_cut(repeat('嘅喺', 2000000)))"
                                        " from generate_series(1, 100)") as future:
                eventually(lambda: other.value(
                    "select state = 'active' from pg_stat_activity where pid = %s", session.pid), "it is at work")
                other.run("select pg_terminate_backend(%s)", session.pid)
                self.assertEqual(future.exception(timeout=PATIENCE).sqlstate, "57P01")
            eventually(lambda: not other.rows("select from pg_stat_activity where pid = %s", session.pid),
                       "the backend is gone", seconds=SOON)


class ParallelTest(ClusterTest):
    """O02: parallel workers cut as their leader does, user words included."""

    ROWS = 60_000
    conf = {"max_worker_processes": "16", "max_parallel_workers": "8"}
    COUNT = "select count(*) from lines where to_tsvector('jieba', body) @@ phraseto_tsquery('jieba', %s)"
    PARALLEL = [
        "set max_parallel_workers_per_gather = 3",
        "set parallel_setup_cost = 0",
        "set parallel_tuple_cost = 0",
        "set min_parallel_table_scan_size = 0",
        "set max_parallel_maintenance_workers = 3",
    ]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            session.run("create table lines (id integer primary key, body text not null)")
            session.run(
                "insert into lines select n, case n %% 7 when 0 then '风禾三第' when 1 then '三禾风第' when 2 then 'Node.js 第'"
                " when 3 then '數據庫第' else '今天下雨第' end || n || '次来电' from generate_series(1, %s) n", cls.ROWS)
            session.run("analyze lines")

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate memory_words")

    def count(self, phrase: str, parallel: bool) -> int:
        if not parallel:
            self.session.run("set max_parallel_workers_per_gather = 0")
            return self.session.value(self.COUNT, phrase)
        for setting in self.PARALLEL:
            self.session.run(setting)
        plan = "\n".join(self.session.column("explain (analyze, costs off, timing off, summary off) " + self.COUNT, phrase))
        self.assertIn("Gather", plan)
        self.assertRegex(plan, "Workers Launched: [123]")
        return self.session.value(self.COUNT, phrase)

    def test_same_count_as_serial(self):
        seventh = self.ROWS // 7
        self.session.run("select jieba_add_word(%s, 50, 'nz'), jieba_add_word('第' || 7, 50)", NAME)
        for phrase in ("风禾三", "风禾", "来电", "node.js", "数据库", "下雨", "第7", "没有这个"):
            with self.subTest(phrase=phrase):
                serial = self.count(phrase, False)
                self.assertEqual(self.count(phrase, True), serial)
        self.assertAlmostEqual(self.count(NAME, True), seventh, delta=1)
        self.assertEqual(self.count("下雨", True), self.count("今天下雨", False))

    def test_word_that_is_not_committed_yet(self):
        """Workers see what the transaction of their leader sees, and what others see once it ended."""
        alone = "select count(*) from lines where jieba_cut(body) @> array['风禾三']"
        for setting in self.PARALLEL:
            self.session.run(setting)
        with self.connect() as other:
            for setting in self.PARALLEL:
                other.run(setting)
            self.assertIn("Gather", "\n".join(self.session.column("explain " + alone)))
            self.assertEqual(self.session.value(alone), 0)
            self.session.run("begin")
            self.session.run("select jieba_add_word(%s, 50, 'nz')", NAME)
            mine = self.session.value(alone)
            self.assertAlmostEqual(mine, self.ROWS // 7, delta=1)
            self.assertEqual(other.value(alone), 0)
            self.session.run("commit")
            self.assertEqual(other.value(alone), mine)
            self.session.run("truncate memory_words")
            self.assertEqual(self.session.value(alone), 0)

    def test_index_built_by_workers(self):
        self.session.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        expected = self.count(NAME, False)
        for setting in self.PARALLEL:
            self.session.run(setting)
        self.session.run("create index lines_words_idx on lines using gin (to_tsvector('jieba', body))")
        self.addCleanup(lambda: self.connect().run("drop index lines_words_idx"))
        self.session.run("set enable_seqscan = off")
        self.assertIn("lines_words_idx", "\n".join(self.session.column("explain " + self.COUNT, NAME)))
        self.assertEqual(self.session.value(self.COUNT, NAME), expected)

    def test_generated_column(self):
        self.session.run("select jieba_add_word(%s, 50, 'nz')", NAME)
        for setting in self.PARALLEL:
            self.session.run(setting)
        self.session.run("create table kept (id integer, body text,"
                         " words tsvector generated always as (to_tsvector('jieba', body)) stored)")
        self.addCleanup(lambda: self.connect().run("drop table kept"))
        self.session.run("insert into kept (id, body) select id, body from lines where id <= 7000")
        self.session.run("analyze kept")
        found = "select count(*) from kept where words @@ to_tsquery('jieba', '风禾三')"
        self.assertIn("Gather", "\n".join(self.session.column("explain " + found)))
        self.assertEqual(self.session.value(found), 1000)
