"""A streaming standby: it serves searches as the primary does, learns new words, and takes over.

Nothing on the search path writes, so a read-only server must give the primary's answers to the last digit. The
standby has model processes of its own, or without preload runs the model in its backends.
"""


from cluster import DEFAULT_MODEL, Cluster, ClusterTest, eventually

NOTES = {
    "diary/2026-02-19.md": "# 周四\n\n## 购物\n\n昨天去超市买了苹果和香蕉。\n\n## 通勤\n\n开车去上班，路上很堵。\n",
    "diary/2026-02-20.md": "# 周五\n\n## 工作\n\n把 Node.js 升到 22，部署到 www.example.com。\n",
    "notes/database.md": "# 数据库\n\n整理了數據庫性能優化的筆記，慢查询从 3 秒降到 40 毫秒。\n",
}
QUESTIONS = ["水果", "通勤", "数据库性能", "node.js", "我昨天买了什么？", "堵"]
ANSWERS = [
    "select * from memory_search(%s, 10)",
    "select * from memory_search(%s, 10, '*', mode => 'bm25', collapse => false)",
    "select * from memory_search(%s, 10, mode => 'vector', fusion => 'convex')",
    "select memory_explain(%s) - 'milliseconds'",
    "select memory_context(%s, 500)",
    "select memory_embed(%s::text, 'query')::text",
    "select * from conv_search(%s)",
    "select to_tsvector('jieba', %s)::text",
]
CUT = "select jieba_cut('风禾三来电')"
WITHOUT, WITH = ["风禾", "三", "来电"], ["风禾三", "来电"]


class StandbyTest(ClusterTest):
    preload_standby = True
    known_problems = False
    standby: Cluster

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            for path, content in NOTES.items():
                session.run("select memory_import(%s, %s::text)", path, content)
            session.run("select conv_append('s', 'user', '我昨天去超市买了苹果', '2026-02-19')")

    def setUp(self):
        self.standby = self.copy()
        self.primary, self.reader = self.connect(), self.standby.connect()
        self.caught_up()

    def copy(self) -> Cluster:
        """A new standby of the class's server, running."""
        standby = Cluster(preload=self.preload_standby, data=self.cluster.data)
        self.addCleanup(self.stop, standby)
        self.cluster.client("pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        standby.start()
        return standby

    def stop(self, standby: Cluster):
        standby.stop()
        problems = standby.log_problems()
        standby.remove()
        if not self.known_problems:
            self.assertEqual(problems, [])

    def caught_up(self):
        end = self.primary.value("select pg_current_wal_flush_lsn()::text")
        eventually(lambda: self.reader.value("select pg_last_wal_replay_lsn() >= %s::pg_lsn", end), "the standby has it")

    def test_same_answers(self):
        self.assertTrue(self.reader.value("select pg_is_in_recovery()"))
        for exact_rows in ("2000", "0"):
            for session in (self.primary, self.reader):
                session.run(f"set summer_memory.exact_rows = {exact_rows}")
            for question in QUESTIONS:
                for answer in ANSWERS:
                    with self.subTest(question=question, answer=answer, exact_rows=exact_rows):
                        self.assertEqual(self.reader.rows(answer, question), self.primary.rows(answer, question))
        found = self.reader.rows("select content, vector_rank, degraded from memory_search('水果', 1)")
        self.assertEqual([(rank, why) for _, rank, why in found], [(1, None)])
        self.assertIn("苹果", found[0][0])
        self.assertEqual(self.reader.warnings(), [])
        self.assertEqual(
            self.reader.rows("select memories, pending, model, model_problem from memory_status"),
            self.primary.rows("select memories, pending, model, model_problem from memory_status"))

    def test_rows_follow(self):
        self.primary.run("insert into memories (path, content) values ('new.md', '在新加坡吃了海南鸡饭')")
        self.addCleanup(lambda: self.connect().run("delete from memories where path = 'new.md'"))
        self.caught_up()
        self.assertEqual(
            self.reader.rows("select content, vector_rank, degraded from memory_search('海南鸡饭', 1, collapse => false)"),
            [("在新加坡吃了海南鸡饭", 1, None)])

    def test_writing_is_refused(self):
        for statement in (
            "insert into memories (content) values ('不行')",
            "select memory_add('不行')",
            "select memory_import('no.md', '不行'::text)",
            "select memory_forget(1)",
            "select memory_reindex()",
            "select memory_init()",
            "select memory_prune('{}'::text[])",
            "select jieba_add_word('不行')",
            "select conv_append('s', 'user', '不行')",
            f"select memory_use_model('{DEFAULT_MODEL}')",
        ):
            with self.subTest(statement=statement), self.refused("25006"):
                self.reader.run(statement)

    def test_writing_by_functions_in_c_is_refused(self):
        self.primary.run("set summer_memory.embed = off")
        self.primary.run("insert into memories (path, content) values ('c.md', '等着')")
        self.addCleanup(lambda: self.connect().run("delete from memories where path = 'c.md'"))
        self.caught_up()
        # It is in the log as it is, and that is no surprise here.
        self.known_problems = True
        for statement in (
            "select memory_sweep()",
            "select memory_backfill()",
            "select conv_import('[{\"role\": \"user\", \"content\": \"不行\", \"timestamp\": \"2026-03-02T00:00:00Z\"}]'::text)",
        ):
            with self.refused("25006"):
                self.reader.run(statement)

    def test_words_reach_open_sessions(self):
        self.reader.run("prepare cut (text) as select jieba_cut($1)")
        self.assertEqual(self.reader.value(CUT), WITHOUT)
        self.primary.run("begin; select jieba_add_word('风禾三', 50, 'nz'); rollback")
        self.caught_up()
        self.assertEqual(self.reader.value(CUT), WITHOUT)
        self.primary.run("select jieba_add_word('风禾三', 50, 'nz')")
        self.addCleanup(lambda: self.connect().run("truncate memory_words"))
        self.caught_up()
        self.assertEqual(self.reader.value(CUT), WITH)
        self.assertEqual(self.reader.value("execute cut ('风禾三来电')"), WITH)
        with self.standby.connect() as late:
            self.assertEqual(late.value(CUT), WITH)
        self.primary.run("delete from memory_words")
        self.caught_up()
        self.assertEqual(self.reader.value(CUT), WITHOUT)

    def test_restart(self):
        self.reader.close()
        self.standby.restart()
        self.reader = self.standby.connect()
        self.assertTrue(self.reader.value("select pg_is_in_recovery()"))
        question, answer = QUESTIONS[0], ANSWERS[0]
        self.assertEqual(self.reader.rows(answer, question), self.primary.rows(answer, question))

    def test_promotion(self):
        """What was pending on the old primary is embedded by the new one."""
        self.primary.run("set summer_memory.embed = off")
        self.primary.run("insert into memories (path, content) values ('pending.md', '等新的主库来算')")
        self.addCleanup(lambda: self.connect().run("delete from memories where path = 'pending.md'"))
        self.caught_up()
        # A session that was there before.
        self.assertEqual(self.reader.value("select pending from memory_status"), 1)
        self.assertEqual(self.reader.value(CUT), WITHOUT)
        self.assertTrue(self.reader.value("select pg_promote()"))
        self.assertFalse(self.reader.value("select pg_is_in_recovery()"))
        self.reader.run("insert into memories (content) values ('新主库写的第一条')")
        self.assertEqual(
            self.reader.rows("select content, vector_rank, degraded from memory_search('新主库写的', 1, collapse => false)"),
            [("新主库写的第一条", 1, None)])
        self.reader.run("select jieba_add_word('风禾三', 50, 'nz')")
        self.assertEqual(self.reader.value(CUT), WITH)
        self.pending_is_filled()
        self.assertEqual(self.reader.rows(
            "select id from memories where embedding is null"
            " or (embedding <=> memory_embed(memory_whole_text(title, content))) > 1e-6"), [])
        # The old primary knows nothing of it.
        self.assertEqual(self.primary.value("select count(*) from memories where content like '新主库%'"), 0)

    def pending_is_filled(self):
        eventually(lambda: self.reader.value("select pending = 0 from memory_status"), "the background fills it",
                   on_failure=self.standby.log)


class StandbyWithoutPreloadTest(StandbyTest):
    """Of a primary with preload; there is no background worker."""

    preload_standby = False

    def pending_is_filled(self):
        self.assertEqual(self.reader.value("select memory_backfill()"), 1)
