"""What a long life and unusual sizes do: a hundred thousand errors in one session, models wider than an index
may be, and a store of which nearly nothing has a vector yet.
"""

import time
from pathlib import Path

import tiny_model
from cluster import ClusterTest, eventually

MEGABYTE = 1024 * 1024


def private_memory(pid: int) -> int:
    """Bytes that only this process has: not the dictionary it shares with its parent, nor shared buffers."""
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if ":" in line)
    return 1024 * sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Private_Clean"))


class ErrorsTest(ClusterTest):
    """O03: an error that is caught leaves nothing behind, however often."""

    # What fails, and with which SQLSTATE. Together 100,000 times; those that do more before they fail less often.
    ERRORS = [
        ("jieba_check_word('a b')", "22023", 15_000),
        ("jieba_parse_dictionary(E'好 5 n\\n坏 x y z')", "22P02", 12_000),
        ("jieba_load_userdict(E'好 5 n\\n坏 x y z')", "22P02", 6_000),
        ("jieba_add_word('a b')", "22023", 6_000),
        ("jieba_keywords('文字', 1, 'magic')", "22023", 12_000),
        ("memory_embed('文字', 'magic')", "22023", 8_000),
        ("memory_embed('坏的~文字')", "22003", 1_000),
        ("memory_check_model('missing')", "42704", 5_000),
        ("memory_check_model('../x')", "22023", 8_000),
        ("memory_search('文字', -1)", "22023", 7_000),
        ("memory_search('文字', mode => 'magic')", "22023", 7_000),
        ("memory_explain('文字', fusion => 'magic')", "22023", 2_000),
        ("memory_add('')", "22023", 3_000),
        ("memory_add('能写的文字', metadata => '[]')", "23514", 500),
        ("memory_import('', '文字'::text)", "22023", 3_000),
        ("memory_import('a.md', '\\xff'::bytea)", "22021", 2_000),
        ("memory_split('文字', 'a.md', 0)", "22023", 2_000),
        ("conv_append('', 'user', '文字')", None, 500),
    ]
    LOOP = """
    do $do$
    declare
        caught text;
    begin
        for i in 1..{times} loop
            begin
                perform {call};
                raise exception 'no error';
            exception
                when others then caught := sqlstate;
            end;
        end loop;
        perform set_config('test.caught', caught, false);
    end
    $do$
    """
    # A megabyte and a half for the allocator's habits, and then less than 300 bytes an error.
    ALLOWED, ALLOWED_EACH = 1.5 * MEGABYTE, 300

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models / "tiny", dims=8, poisoned=True)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def test_memory_stays_what_it_was(self):
        self.assertEqual(sum(times for _, _, times in self.ERRORS), 100_000)
        with self.connect() as session:
            session.run("set client_min_messages = error")
            session.run("select memory_use_model('tiny')")
            for call, _, _ in self.ERRORS:
                session.run(self.LOOP.format(call=call, times=100))
            start = private_memory(session.pid)
            for call, state, times in self.ERRORS:
                with self.subTest(call=call):
                    before = private_memory(session.pid)
                    session.run(self.LOOP.format(call=call, times=times))
                    grown = private_memory(session.pid) - before
                    if state:
                        self.assertEqual(session.value("select current_setting('test.caught')"), state)
                    self.assertLess(grown, self.ALLOWED + self.ALLOWED_EACH * times)
            self.assertLess(private_memory(session.pid) - start, 16 * MEGABYTE)
            # And it still works.
            self.assertEqual(session.value("select jieba_cut('我在清华大学学习')"), ["我", "在", "清华大学", "学习"])
            session.run("insert into memories (content) values ('一切照旧')")
            self.assertEqual(
                session.rows("select content, vector_rank, degraded from memory_search('照旧', 1)"), [("一切照旧", 1, None)])
            self.assertEqual(session.value("select count(*) from memory_words"), 0)

    def test_transactions_that_fail(self):
        """Not caught: the client sees each of them."""
        with self.connect() as session:
            session.run("select memory_use_model('tiny')")
            session.run("insert into memories (content) values ('先写一条')")
            calls = [(call, state) for call, state, _ in self.ERRORS if state]
            before = 0
            for place in range(120):
                call, state = calls[place % len(calls)]
                with self.refused(state):
                    session.run(f"select {call}")
                if place == len(calls):
                    before = private_memory(session.pid)
            self.assertLess(private_memory(session.pid) - before, 4 * MEGABYTE)


class NewWordsTest(ClusterTest):
    """Words that come in one by one while sessions are open: none of these gets a dictionary of its own."""

    ALLOWED = 12 * MEGABYTE  # a dictionary is 26

    def test_memory_stays_small(self):
        with self.connect() as writer, self.connect() as reader:
            reader.run("select jieba_cut('先读词典')")
            before = private_memory(reader.pid)
            for number in range(20):
                word = "云原生苍穹外卖大模型微调知识图谱库"[number % 8:][:4] + "甲乙丙丁"[number % 4]
                writer.run("insert into memory_words (word) values (%s) on conflict do nothing", word)
                self.assertIn(word, reader.value("select jieba_cut(%s)", word + "。"))
            self.assertLess(private_memory(reader.pid) - before, self.ALLOWED)


class WideModelTest(ClusterTest):
    """E15: pgvector indexes at most 2,000 dimensions, as halfvec 4,000, and stores at most 16,000."""

    # How memory_use_model may refuse a model that is too wide.
    TOO_WIDE = ("22023", "0A000", "54000", "55000")

    TEXTS = ["apple and banana", "driving to work", "Node.js 22", "我昨天去超市买了苹果和香蕉", "开车去上班", "数据库优化"]

    @classmethod
    def prepare(cls):
        for dims in (2000, 2001, 4000, 4001, 5000, 16001):
            tiny_model.write(cls.cluster.models / f"wide-{dims}", dims=dims)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate memories")

    def use(self, dims: int) -> list[str]:
        """Makes a model the store's; definitions of its vector indexes."""
        self.session.notices.clear()
        self.session.run("select memory_use_model(%s)", f"wide-{dims}")
        return self.session.column(
            "select indexdef from pg_indexes where tablename = 'memories' and indexdef like %s", f"%wide-{dims}%")

    def found(self, dims: int):
        """For each text the row that is nearest, by an index if there is one and by comparing all."""
        session = self.session
        session.run("insert into memories (content) select unnest(%s::text[])", self.TEXTS)
        session.run("insert into memories (content) select 'filler number ' || n from generate_series(1, 60) n")
        session.run("analyze memories")
        self.assertEqual(session.rows("select pending, failed from memory_status"), [(0, 0)])
        self.assertEqual(session.column("select distinct vector_dims(embedding) from memories"), [dims])
        for exact_rows in ("1000000", "0"):
            session.run(f"set summer_memory.exact_rows = {exact_rows}")
            for text in self.TEXTS:
                with self.subTest(exact_rows=exact_rows, text=text):
                    rows = session.rows(
                        "select content, similarity, degraded from memory_search(%s, 3, mode => 'vector')", text)
                    self.assertEqual(len(rows), 3)
                    self.assertEqual((rows[0][0], rows[0][2]), (text, None))
                    # Half precision is for the index; what is returned is compared in full.
                    self.assertAlmostEqual(rows[0][1], 1.0, places=5)
        plan = session.value("select memory_explain('apple', mode => 'vector') #>> '{arms,vector,plan}'")
        session.run("reset summer_memory.exact_rows")
        return plan

    def test_as_wide_as_an_index(self):
        indexes = self.use(2000)
        self.assertEqual(len(indexes), 1)
        self.assertRegex(indexes[0], r"hnsw.*embedding\)?::vector\(2000\)")
        self.assertEqual(self.found(2000), "hnsw")

    def test_half_precision_index(self):
        for dims in (2001, 4000):
            with self.subTest(dims=dims):
                self.session.run("truncate memories")
                indexes = self.use(dims)
                self.assertEqual(len(indexes), 1)
                self.assertRegex(indexes[0], rf"hnsw.*embedding\)?::halfvec\({dims}\)")
                self.assertEqual(self.found(dims), "hnsw")

    def test_no_index(self):
        self.assertEqual(self.use(4001), [])
        self.assertTrue(any("no vector index" in message for _, message, _ in self.session.notices))
        self.assertEqual(self.found(4001), "exact")

    def test_wider_than_an_answer(self):
        """Refused, or stored whole."""
        try:
            self.use(5000)
        except self.session.connection.Error as error:
            self.assertIn(error.sqlstate, self.TOO_WIDE)
            return
        self.assertEqual(self.found(5000), "exact")

    def test_wider_than_a_vector(self):
        self.use(2000)
        with self.refused(*self.TOO_WIDE):
            self.session.run("select memory_use_model('wide-16001')")
        self.assertEqual(self.session.value("select memory_active_model()"), "wide-2000")

    def test_back_to_the_default(self):
        self.use(2001)
        self.session.run("insert into memories (content) values ('我昨天去超市买了苹果')")
        self.session.run("select memory_use_model('multilingual-e5-small')")
        self.assertEqual(self.session.value("select memory_backfill()"), 1)
        self.assertEqual(self.session.value("select content from memory_search('水果', 1)"), "我昨天去超市买了苹果")
        self.assertEqual(self.session.value("select vector_dims(embedding) from memories"), 384)


class PendingTest(ClusterTest):
    """E05: ten thousand rows wait for their vectors while people search."""

    ROWS = 10_000

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models / "tiny", dims=8)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def test_searching_meanwhile(self):
        session, other = self.connect(), self.connect()
        session.run("select memory_use_model('tiny')")
        session.run("insert into memories (content) values ('有向量的苹果'), ('有向量的香蕉')")
        session.run("set summer_memory.embed = off")
        session.run("insert into memories (content) select '第' || n || '条还没有向量' from generate_series(1, %s) n", self.ROWS)
        session.run("analyze memories")
        session.run("set statement_timeout = '30s'")
        self.assertEqual(session.value("select pending from memory_status"), self.ROWS)
        for exact_rows in ("2000", "0"):
            session.run(f"set summer_memory.exact_rows = {exact_rows}")
            self.searches(session)
        # Now the background begins, and goes on while people search.
        # All are compared: an approximate index over vectors this much alike may miss one.
        session.run("set summer_memory.exact_rows = 1000000")
        session.run("reset summer_memory.embed")
        session.run("select memory_announce_pending()")
        start = time.monotonic()
        eventually(lambda: other.value("select pending < %s from memory_status", self.ROWS), "the background has begun")
        while other.value("select pending > 0 from memory_status"):
            rows = session.rows("select content from memory_search('有向量的苹果', 5, collapse => false)")
            self.assertEqual(rows[0], ("有向量的苹果",))
            self.assertEqual(len(rows), 5)
            self.assertLess(time.monotonic() - start, 240, "the background is not getting anywhere")
            time.sleep(0.2)
        session.notices.clear()
        rows = session.rows("select content, similarity, degraded from memory_search('第77条还没有向量', 5)")
        self.assertEqual((rows[0][0], {why for _, _, why in rows}), ("第77条还没有向量", {None}))
        self.assertEqual(session.warnings(), [])

    def searches(self, session):
        session.notices.clear()
        # Rows that wait are found by their words, and say that they wait; one warning a statement.
        rows = session.rows("select content, vector_rank, bm25_rank, degraded from memory_search('第77条', 5)")
        self.assertEqual(len(rows), 5)
        content, vector_rank, bm25_rank, why = next(row for row in rows if row[2] == 1)
        self.assertEqual((content, vector_rank), ("第77条还没有向量", None))
        self.assertIsNotNone(why)
        self.assertEqual(len(session.warnings()), 1)
        # Rows that have one are found by both, in front of ten thousand that share a word.
        rows = session.rows("select content, vector_rank, degraded from memory_search('有向量的苹果', 5)")
        self.assertEqual(rows[0], ("有向量的苹果", 1, None))
        # The vector arm has two rows to give.
        session.notices.clear()
        rows = session.rows("select content from memory_search('苹果', 5, mode => 'vector')")
        self.assertEqual({content for content, in rows}, {"有向量的苹果", "有向量的香蕉"})
        self.assertIn("有向量的苹果", session.value("select memory_context('苹果')"))
        self.assertIsNotNone(session.value("select memory_explain('第77条')"))
