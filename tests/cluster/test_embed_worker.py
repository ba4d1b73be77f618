"""Embedding as a service of the server: the queue and its model processes, the model inside a backend,
what happens when either is overloaded, interrupted or broken, and who may choose the files.

Times here are limits with plenty of room. The long text would keep the model busy for much longer than any.
"""

import math
import os
import shutil
import signal
import time

import tiny_model
from cluster import DEFAULT_MODEL, MODEL_FOLDER, PATIENCE, Cluster, ClusterTest, eventually, meanwhile, send, \
    threads, together, under_way

TEXTS = [
    "我昨天去超市买了苹果和香蕉",
    "开车去上班，路上很堵。",
    "The quarterly report is due on Friday.",
    "把 Node.js 升到 22，部署到 www.example.com",
    "整理了數據庫性能優化的筆記。" * 120,
    "🎉 今天很开心",
]
# Hundreds of windows: a minute of work and more.
LONG = "今天把博客的订阅地址改了，顺便看了数据库慢查询。" * 6000
# A few windows: a second of work and more, time enough to do something meanwhile.
WHILE = LONG[:3000]
ALL_OF_IT = "set summer_memory.embed_max_windows = 100000"
# Within this the server must have let go of a long text.
SOON = 10

EMBED = "select memory_embed(%s::text)"
# Vectors that are not those of their text.
STRAY = """
select id from memories
where embedding is not null and (embedding <=> memory_embed(memory_whole_text(title, content))) > 1e-6
"""


def vector(text: str) -> list[float]:
    return [float(number) for number in text.strip("[]").split(",")]


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


class SamePlaceTest(ClusterTest):
    """Where the model runs makes no difference to what it says."""

    def test_worker_and_backend_give_the_same_vectors(self):
        plain = Cluster(preload=False)
        self.addCleanup(plain.remove)
        plain.start()
        plain.create_database()
        with self.connect() as worker, plain.connect() as backend:
            self.assertIn("model process", worker.value("select memory_embed_place()"))
            self.assertIn("backend", backend.value("select memory_embed_place()"))
            for kind in ("passage", "query"):
                for text in TEXTS:
                    with self.subTest(kind=kind, text=text[:20]):
                        one, other = (
                            vector(session.value("select memory_embed(%s::text, %s)::text", text, kind))
                            for session in (worker, backend))
                        self.assertEqual(len(one), 384)
                        self.assertGreater(cosine(one, other), 0.9999)
            batches = [
                [vector(v) for v in session.column("select unnest(memory_embed(%s::text[]))::text", TEXTS)]
                for session in (worker, backend)]
            for one, other in zip(*batches):
                self.assertGreater(cosine(one, other), 0.9999)
        plain.stop()
        self.assertEqual(plain.log_problems(), [])


class Interrupts:
    """A long text can be given up at any time, wherever the model runs."""

    def long_text(self, statement: str = EMBED, before: str = "select 1"):
        """A session, and what runs the long text in it."""
        session = self.connect()
        session.run(ALL_OF_IT)
        # The model is loaded and has answered.
        session.value(EMBED, "热身")
        session.run(before)
        return session, lambda: session.run(statement, LONG)

    def interrupted(self, session, body, how):
        """Runs body, calls how() once it is at work, and returns the error and the seconds it took to end."""
        with self.connect() as other, meanwhile(body) as future:
            eventually(lambda: other.value(
                "select state = 'active' from pg_stat_activity where pid = %s", session.pid), "it is at work")
            time.sleep(0.5)
            self.assertFalse(future.done())
            start = time.monotonic()
            how(other)
            error = future.exception(timeout=PATIENCE)
            return error, time.monotonic() - start

    def test_statement_timeout(self):
        session, body = self.long_text(before="set statement_timeout = 1000")
        start = time.monotonic()
        with self.refused("57014"):
            body()
        self.assertLess(time.monotonic() - start, SOON)
        session.run("reset statement_timeout")
        self.assertIsNotNone(session.value(EMBED, "还能用"))

    def test_cancel(self):
        session, body = self.long_text()
        error, seconds = self.interrupted(
            session, body, lambda other: other.run("select pg_cancel_backend(%s)", session.pid))
        self.assertEqual(error.sqlstate, "57014")
        self.assertLess(seconds, SOON)
        self.assertIsNotNone(session.value(EMBED, "还能用"))

    def test_cancel_while_writing(self):
        """The row is not stored: a cancelled statement is no reason to store a memory without a vector."""
        session, body = self.long_text("insert into memories (content) values (%s)")
        before = session.value("select count(*) from memories")
        error, seconds = self.interrupted(
            session, body, lambda other: other.run("select pg_cancel_backend(%s)", session.pid))
        self.assertEqual(error.sqlstate, "57014")
        self.assertLess(seconds, SOON)
        self.assertEqual(session.value("select count(*) from memories"), before)

    def test_terminate(self):
        session, body = self.long_text()
        error, seconds = self.interrupted(
            session, body, lambda other: other.run("select pg_terminate_backend(%s)", session.pid))
        self.assertEqual(error.sqlstate, "57P01")
        self.assertLess(seconds, SOON)
        with self.connect() as other:
            eventually(lambda: not other.rows("select from pg_stat_activity where pid = %s", session.pid),
                       "the backend is gone")

    def test_no_threads_are_left(self):
        with self.connect() as session:
            session.value(EMBED, "线程")
            session.value("select count(*) from unnest(memory_embed(%s::text[]))", TEXTS)
            self.assertEqual(threads(session.pid), 1)


class InBackendTest(Interrupts, ClusterTest):
    """Without preload."""

    preload = False

    def test_sessions_come_and_go(self):
        for _ in range(3):
            with self.connect() as session:
                session.value(EMBED, "你好")
                session.run("insert into memories (content) values ('来了又走')")


class QueueTest(Interrupts, ClusterTest):
    """With preload: one model process for all."""

    conf = {"summer_memory.embed_workers": "1"}

    def setUp(self):
        with self.connect() as session:
            session.run("truncate memories")

    def tearDown(self):
        # Whatever a test did, it left no request behind.
        with self.connect() as session:
            eventually(lambda: under_way(session) == 0, "the queue is empty")

    def test_terminated_client_leaves_no_request(self):
        session, body = self.long_text()
        self.interrupted(session, body, lambda other: other.run("select pg_terminate_backend(%s)", session.pid))
        with self.connect() as other:
            eventually(lambda: under_way(other) == 0, "the request is gone", seconds=SOON)
            self.assertIsNotNone(other.value(EMBED, "下一个"))

    def test_twenty_connections(self):
        texts = [f"第{number}个人的第{number * 7}条记忆" for number in range(20)]
        with self.connect() as session:
            alone = session.column("select unnest(memory_embed(%s::text[]))::text", texts)

        def one(number):
            with self.cluster.connect() as mine:
                return mine.value("select memory_embed(%s::text)::text", texts[number])

        self.assertEqual(together(20, one), alone)

    def test_twenty_writers(self):
        def one(number):
            with self.cluster.connect() as mine:
                return mine.value(
                    "insert into memories (content) values (%s) returning id", f"写入者{number}买了水果")

        ids = together(20, one)
        with self.connect() as session:
            self.assertEqual(len(set(ids)), 20)
            self.assertEqual(session.value("select count(*) from memories where embedding is not null"), 20)
            self.assertEqual(session.rows(STRAY), [])

    def test_async_rows_are_filled_after_the_commit(self):
        with self.connect() as session, self.connect() as other:
            session.run("set summer_memory.embed = async")
            with session.transaction():
                session.run("insert into memories (content)"
                            " select '异步的第' || n || '条记忆' from generate_series(1, 30) n")
                self.assertEqual(session.value("select count(*) from memories where embedding is null"), 30)
            self.assertEqual(len(session.rows("select from memory_search('异步', 5)")), 5)
            eventually(lambda: other.value("select pending = 0 from memory_status"), "all rows are filled")
            self.assertEqual(other.value(
                "select count(*) from memories where embedding is not null and model = %s", DEFAULT_MODEL), 30)
            self.assertEqual(other.rows(STRAY), [])

    def test_async_rows_of_every_commit_of_a_statement_are_filled(self):
        with self.connect() as session:
            session.run("set summer_memory.embed = async")
            session.run("""
                do $$
                begin
                    for n in 1..3 loop
                        insert into memories (content) values ('第' || n || '次提交');
                        commit;
                        while exists (select from memories where embedding is null) loop
                            perform pg_sleep(0.05);
                            rollback;
                        end loop;
                    end loop;
                end
                $$
            """)
            self.assertEqual(session.value("select count(*) from memories where embedding is not null"), 3)

    def test_a_model_that_hangs_is_waited_for_once_a_statement(self):
        chapters = "".join(f"# 标题{number}\n\n内容{number}\n\n" for number in range(8))
        with self.connect() as session, self.connect() as watcher:
            [model] = self.cluster.workers("summer_memory model")
            session.run("set summer_memory.embed_timeout = 1000")
            # Far below the time it would take to wait for each chunk.
            session.run("set statement_timeout = 6000")
            send(model, signal.SIGSTOP)
            try:
                for sql in ("select * from memory_import('hung.md', %s::text)", "select memory_add(%s, 'added.md')"):
                    session.run(sql, chapters)
                    self.assertEqual(len(session.warnings()), 1)
            finally:
                send(model, signal.SIGCONT)
            self.assertEqual(watcher.value("select count(*) from memories where embedding is null"), 16)
            session.run("reset statement_timeout")
            session.run("reset summer_memory.embed_timeout")
            self.assertEqual(session.value("select memory_backfill()"), 16)

    def test_async_rollback_leaves_nothing(self):
        with self.connect() as session:
            session.run("set summer_memory.embed = async")
            session.run("begin")
            session.run("insert into memories (content) values ('不会留下')")
            session.run("rollback")
            self.assertEqual(session.value("select count(*) from memories"), 0)

    def test_async_change_of_text(self):
        with self.connect() as session:
            session.run("insert into memories (content) values ('旧的文字')")
            session.run("set summer_memory.embed = async")
            session.run("update memories set content = '新的文字'")
            eventually(lambda: session.value("select pending = 0 from memory_status"), "the row is filled again")
            self.assertEqual(session.rows(STRAY), [])

    def test_off_waits_for_backfill(self):
        with self.connect() as session:
            session.run("set summer_memory.embed = off")
            runs = session.value("select memory_model_runs()")
            session.run("insert into memories (content) select '稍后第' || n || '条' from generate_series(1, 5) n")
            self.assertEqual(session.value("select memory_model_runs()"), runs)
            self.assertEqual(session.value("select pending from memory_status"), 5)
            self.assertEqual(session.value("select memory_backfill(2)"), 2)
            self.assertEqual(session.value("select pending from memory_status"), 3)
            self.assertEqual(session.value("select memory_backfill()"), 3)
            self.assertEqual(session.value("select pending from memory_status"), 0)
            self.assertEqual(session.rows(STRAY), [])

    def test_text_changed_while_it_was_being_embedded(self):
        """A vector that comes late belongs to a text that is gone: it must not be written."""
        with self.connect() as session:
            session.run("set summer_memory.embed = async")
            row = session.value("insert into memories (content) values (%s) returning id", WHILE)
            eventually(lambda: under_way(session) > 0, "the background is at work on the row")
            session.run("set summer_memory.embed = sync")
            session.run("update memories set content = '短的新文字' where id = %s", row)
            eventually(lambda: under_way(session) == 0, "the background has ended")
            eventually(lambda: session.value("select pending = 0 from memory_status"), "nothing is pending")
            self.assertEqual(session.rows(STRAY), [])

    def test_text_changed_while_memory_backfill_was_at_work(self):
        with self.connect() as session, self.connect() as other:
            session.run("set summer_memory.embed = off")
            row = session.value("insert into memories (content) values (%s) returning id", WHILE)
            with meanwhile(session.value, "select memory_backfill()") as future:
                eventually(lambda: under_way(other) > 0, "memory_backfill is at work")
                other.run("update memories set content = '短的新文字' where id = %s", row)
                future.result(timeout=PATIENCE)
            self.assertEqual(other.value("select pending from memory_status"), 0)
            self.assertEqual(other.rows(STRAY), [])

    def test_deleted_while_it_was_being_embedded(self):
        with self.connect() as session:
            session.run("set summer_memory.embed = async")
            session.run("insert into memories (content) values (%s)", WHILE)
            eventually(lambda: under_way(session) > 0, "the background is at work on the row")
            session.run("delete from memories")
            self.assertGreater(under_way(session), 0, "it was at work until then")
            session.run("insert into memories (content) values ('另一条')")
            eventually(lambda: session.value("select pending = 0 from memory_status"), "the next row is filled")

    def test_no_lock_is_held_while_the_model_computes(self):
        with self.connect() as session, self.connect() as other:
            session.run("set summer_memory.embed = async")
            row = session.value("insert into memories (content) values (%s) returning id", WHILE)
            eventually(lambda: under_way(session) > 0, "the background is at work on the row")
            other.run("set lock_timeout = 1000")
            other.run("alter table memories add column if not exists remark text")
            other.run("delete from memories where id = %s", row)
            other.run("alter table memories drop column remark")
            self.assertGreater(under_way(session), 0, "all of it while the model was at work")

    def test_model_processes_have_one_thread(self):
        with self.connect() as session:
            session.value(EMBED, "线程")
        processes = self.cluster.workers("summer_memory model")
        self.assertEqual(len(processes), 1)
        self.assertEqual([threads(pid) for pid in processes], [1])

    def test_fast_shutdown_does_not_wait_for_a_long_text(self):
        session, body = self.long_text()
        start = []

        def shut_down(_):
            start.append(time.monotonic())
            self.cluster.process.send_signal(signal.SIGINT)
            self.cluster.process.wait(timeout=PATIENCE)

        _, seconds = self.interrupted(session, body, shut_down)
        self.assertLess(seconds, 2 * SOON)
        self.cluster.process = None
        self.cluster.sessions.clear()
        self.cluster.start()

    def test_shutdown_right_after_background_work_began(self):
        with self.connect() as session:
            session.run("set summer_memory.embed = async")
            session.run("insert into memories (content) values ('马上关机')")
        start = time.monotonic()
        self.cluster.restart()
        self.assertLess(time.monotonic() - start, 2 * SOON)


class ManyWorkersTest(ClusterTest):
    """More than one model process."""

    conf = {"summer_memory.embed_workers": "3"}

    def test_all_of_them_work(self):
        eventually(lambda: len(self.cluster.workers("summer_memory model")) == 3, "three processes are up")
        texts = [f"第{number}条" for number in range(24)]
        with self.connect() as session:
            many = session.column("select unnest(memory_embed(%s::text[]))::text", texts)
            one = [session.value("select memory_embed(%s::text)::text", text) for text in texts]
        self.assertEqual(many, one)


class OverloadTest(ClusterTest):
    """A queue with a single place."""

    conf = {"summer_memory.embed_queue": "1"}

    def test_full_queue_is_refused_with_its_own_error(self):
        with self.connect() as holder, self.connect() as watcher:
            holder.run(ALL_OF_IT)
            with meanwhile(holder.run, EMBED, LONG) as future:
                eventually(lambda: under_way(watcher) == 1, "the place is taken")

                def one(number):
                    with self.cluster.connect() as mine:
                        mine.run("set summer_memory.embed_timeout = 300")
                        with self.refused("53000") as refusal:
                            mine.run(EMBED, f"第{number}个")
                        return refusal.error.diag

                for diagnostic in together(4, one):
                    self.assertIn("summer_memory.embed_queue", diagnostic.message_hint)

                # A write goes through without a vector, a search answers by words: both say so.
                watcher.run("set summer_memory.embed_timeout = 300")
                watcher.run("insert into memories (content) values ('队列满的时候买了草莓')")
                self.assertEqual(len(watcher.warnings()), 1)
                found = watcher.rows("select content, degraded from memory_search('草莓', 3)")
                self.assertEqual([content for content, _ in found], ["队列满的时候买了草莓"])
                self.assertIsNotNone(found[0][1])
                self.assertEqual(len(watcher.warnings()), 1)

                watcher.run("select pg_cancel_backend(%s)", holder.pid)
                self.assertEqual(future.exception(timeout=PATIENCE).sqlstate, "57014")
            eventually(lambda: under_way(watcher) == 0, "the place is free", seconds=SOON)
            watcher.run("reset summer_memory.embed_timeout")
            self.assertEqual(watcher.value("select memory_backfill()"), 1)

    def test_everybody_gets_a_turn(self):
        def one(number):
            with self.cluster.connect() as mine:
                return len(mine.column("select unnest(memory_embed(%s::text[]))", [f"{number}-{n}" for n in range(5)]))

        self.assertEqual(together(8, one), [5] * 8)

    def test_waiting_for_a_place_can_be_cancelled(self):
        with self.connect() as holder, self.connect() as waiter, self.connect() as watcher:
            holder.run(ALL_OF_IT)
            with meanwhile(holder.run, EMBED, LONG) as held:
                eventually(lambda: under_way(watcher) == 1, "the place is taken")
                waiter.run("set statement_timeout = 500")
                start = time.monotonic()
                with self.refused("57014"):
                    waiter.run(EMBED, "等不到")
                self.assertLess(time.monotonic() - start, SOON)
                watcher.run("select pg_terminate_backend(%s)", holder.pid)
                self.assertIsNotNone(held.exception(timeout=PATIENCE))
            eventually(lambda: under_way(watcher) == 0, "the place is free", seconds=SOON)


class BadTextTest(ClusterTest):
    """A text the model fails on is no reason not to serve the others. The model here fails on every "~"."""

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models / "poisoned", dims=8, poisoned=True)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate memories")
        self.session.run("select memory_use_model('poisoned')")

    TEXTS = ["第一条", "第二条", "坏的~文字", "第四条", "第五条"]

    def filled(self):
        return self.session.column("select content from memories where embedding is not null order by id")

    def test_insert(self):
        self.session.run("insert into memories (content) select unnest(%s::text[])", self.TEXTS)
        self.assertEqual(len(self.session.warnings()), 1)
        self.assertEqual(self.filled(), [text for text in self.TEXTS if "~" not in text])
        self.assertEqual(self.session.value("select count(*) from memories"), 5)
        self.assertIn("坏的~文字", self.session.column("select content from memory_search('坏的文字', 5)"))

    def test_direct_call_is_an_error(self):
        with self.refused("22003"):
            self.session.value(EMBED, "~")
        self.assertIsNotNone(self.session.value(EMBED, "好"))

    def test_async(self):
        self.session.run("set summer_memory.embed = async")
        self.session.run("insert into memories (content) select unnest(%s::text[])", self.TEXTS)
        eventually(lambda: self.session.value("select pending = 0 from memory_status"), "nothing is pending")
        self.assertEqual(self.filled(), [text for text in self.TEXTS if "~" not in text])
        self.assertEqual(self.session.value("select failed from memory_status"), 1)
        self.assertEqual(self.session.column("select content from memories where embed_error is not null"),
                         ["坏的~文字"])

    def test_backfill(self):
        self.session.run("set summer_memory.embed = off")
        self.session.run("insert into memories (content) select unnest(%s::text[])", self.TEXTS)
        self.assertEqual(self.session.value("select memory_backfill()"), 4)
        self.assertEqual(self.session.value("select failed from memory_status"), 1)
        # Another text gets another chance.
        self.session.run("update memories set content = '改好了' where embed_error is not null")
        self.assertEqual(self.session.value("select memory_backfill()"), 1)
        self.assertEqual(self.session.rows("select pending, failed from memory_status"), [(0, 0)])

    def test_import_keeps_the_other_chunks(self):
        text = "# 一\n\n第一节的文字。\n\n# 二\n\n坏的~文字。\n\n# 三\n\n第三节的文字。\n"
        self.session.run("select memory_import('坏.md', %s::text)", text)
        self.assertEqual(self.session.rows(
            "select count(*), count(embedding) from memories where path = '坏.md'"), [(3, 2)])


class BrokenModelTest(ClusterTest):
    """The model's files are damaged or missing: everything that does not need it goes on.

    The folder is a copy of the default model that lies in model_dir and therefore comes first.
    """

    @classmethod
    def prepare(cls):
        cls.folder = cls.cluster.models / DEFAULT_MODEL
        shutil.copytree(MODEL_FOLDER, cls.folder)
        tiny_model.write(cls.cluster.models / "tiny", dims=8)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models)}

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate memories")

    def reload(self):
        """Model processes read the files again."""
        self.session.value("select pg_reload_conf()")

    def broken(self, damage, repair):
        """Nothing is lost while the model is damaged, and all of it is right after the repair."""
        session = self.session
        kept = session.value("insert into memories (content) values ('坏之前买了苹果') returning id")
        changed = session.value("insert into memories (content) values ('坏之前的旧文字') returning id")
        damage()
        self.addCleanup(repair)
        self.reload()
        try:
            def fails():
                try:
                    session.value(EMBED, "还能用吗")
                except session.connection.Error as error:
                    return error.sqlstate
                return None

            self.assertIn(eventually(fails, "the damage is noticed"), ("58P01", "XX001", "0A000", "42704"))
            session.warnings()
            session.run("insert into memories (content) select unnest(array['坏的时候买了草莓', '坏的时候开了车'])")
            self.assertEqual(len(session.warnings()), 1)
            session.run("update memories set content = '坏的时候写的新文字' where id = %s", changed)
            self.assertEqual(len(session.warnings()), 1)
            self.assertEqual(session.column("select id from memories where embedding is not null"), [kept])
            found = session.rows("select content, degraded from memory_search('草莓', 3)")
            self.assertEqual([content for content, _ in found], ["坏的时候买了草莓"])
            self.assertIsNotNone(found[0][1])
            self.assertEqual(len(session.warnings()), 1)
            self.assertIsNotNone(session.value("select memory_explain('草莓') ->> 'degraded'"))
            self.assertIn("草莓", session.value("select memory_context('草莓')"))
            self.assertEqual(session.value("select pending from memory_status"), 3)
        finally:
            repair()
        self.reload()
        eventually(lambda: not fails(), "the repair is noticed")
        session.run("select memory_backfill()")
        self.assertEqual(session.rows("select pending, failed from memory_status"), [(0, 0)])
        self.assertEqual(session.rows(STRAY), [])
        session.warnings()
        degraded = session.column("select degraded from memory_search('草莓', 3)")
        self.assertEqual(set(degraded), {None})
        self.assertEqual(session.warnings(), [])

    def damaged_file(self, name: str, change):
        """Puts other bytes in the place of a file, and back."""
        file = self.folder / name
        good = file.read_bytes()

        def put(content: bytes | None):
            # A file is replaced, never written over: a process may have it mapped.
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content)

        self.broken(lambda: put(change(good)), lambda: put(good))

    def test_weights_are_truncated(self):
        self.damaged_file("model.onnx.data", lambda good: good[: len(good) // 2])

    def test_graph_is_garbage(self):
        self.damaged_file("model.onnx", lambda good: os.urandom(len(good)))

    def test_graph_is_empty(self):
        self.damaged_file("model.onnx", lambda _: b"")

    def test_graph_is_missing(self):
        self.damaged_file("model.onnx", lambda _: None)

    def test_one_bit_of_the_weights_differs(self):
        self.damaged_file("model.onnx.data", lambda good: good[:1000] + bytes([good[1000] ^ 1]) + good[1001:])

    def test_tokenizer_is_garbage(self):
        self.damaged_file("tokenizer.json", lambda good: good[: len(good) // 3])

    def test_tokenizer_is_missing(self):
        self.damaged_file("tokenizer.json", lambda _: None)

    def test_manifest_is_garbage(self):
        self.damaged_file("manifest.json", lambda _: b"{\"pooling\": 7")

    def test_folder_is_missing(self):
        self.session.run("select memory_use_model('tiny')")
        self.addCleanup(lambda: self.session.run("select memory_use_model(%s)", DEFAULT_MODEL))
        here, away = self.cluster.models / "tiny", self.cluster.home / "away"
        self.broken(lambda: here.rename(away), lambda: away.exists() and away.rename(here))

    def test_memory_models_names_the_problem(self):
        (self.cluster.models / "half").mkdir(exist_ok=True)
        shutil.copy(self.cluster.models / "tiny" / "tokenizer.json", self.cluster.models / "half")
        problems = dict(self.session.rows("select name, problem from memory_models"))
        self.assertIsNone(problems["tiny"])
        self.assertIn("model.onnx", problems["half"])


class NoModelInBackendTest(ClusterTest):
    """The same without preload: a broken model does not stop writes or searches."""

    preload = False

    @classmethod
    def prepare(cls):
        folder = cls.cluster.models / DEFAULT_MODEL
        tiny_model.write(folder, dims=384)
        cls.cluster.conf["summer_memory.model_dir"] = str(cls.cluster.models)

    def test_missing_and_back(self):
        file = self.cluster.models / DEFAULT_MODEL / "model.onnx"
        good = file.read_bytes()
        file.unlink()
        with self.connect() as session:
            session.run("insert into memories (content) values ('坏的时候买了草莓'), ('坏的时候开了车')")
            self.assertEqual(len(session.warnings()), 1)
            found = session.rows("select content, degraded from memory_search('草莓', 3)")
            self.assertEqual([content for content, _ in found], ["坏的时候买了草莓"])
            self.assertIsNotNone(found[0][1])
            file.write_bytes(good)
            self.assertEqual(session.value("select memory_backfill()"), 2)
            self.assertEqual(session.value("select pending from memory_status"), 0)
            self.assertEqual(session.rows(STRAY), [])


class ModelFolderTest(ClusterTest):
    """Only folders below the administrator's setting are ever opened, and only the administrator sets it."""

    @classmethod
    def prepare(cls):
        inside, outside = cls.cluster.models, cls.cluster.home / "outside"
        tiny_model.write(inside / "tiny", dims=8)
        tiny_model.write(outside / "secret", dims=8)
        (inside / "link").symlink_to(outside / "secret")
        (inside / "loop").symlink_to(inside / "loop")
        # A folder that is a model but for its files, which lie elsewhere.
        (inside / "borrowed").mkdir()
        for file in (outside / "secret").iterdir():
            (inside / "borrowed" / file.name).symlink_to(file)
        cls.conf = {"summer_memory.model_dir": str(inside)}

    def setUp(self):
        with self.connect() as session:
            session.run("drop role if exists ordinary")
            session.run("create role ordinary login")
            session.run("grant select on memory_options to ordinary")

    def tearDown(self):
        with self.connect() as session:
            session.run("drop owned by ordinary")
            session.run("drop role ordinary")

    def test_names_that_lead_out(self):
        names = ["../outside/secret", "..", ".", "", "/", str(self.cluster.home / "outside" / "secret"), "link",
                 "loop", "tiny/../../outside/secret", "tiny/", "./tiny", "..\\outside", "tiny\n", " tiny", "~",
                 "$HOME", "x" * 300, "模型"]
        with self.connect() as session:
            for name in names:
                with self.subTest(name=name), self.refused("22023", "42704", "58P01"):
                    session.value("select memory_use_model(%s)", name)
                with self.subTest(name=name), self.refused("22023", "42704", "58P01"):
                    session.value("select memory_check_model(%s)", name)
            self.assertEqual(session.value("select memory_active_model()"), DEFAULT_MODEL)
            listed = session.column("select name from memory_models")
            self.assertIn("tiny", listed)
            for name in ("link", "loop", "secret"):
                self.assertNotIn(name, listed)

    def test_files_that_are_links_out_of_the_folder(self):
        with self.connect() as session:
            with self.refused("22023", "42704", "58P01", "0A000"):
                session.value("select memory_use_model('borrowed')")
                session.value(EMBED, "不该打开")
        with self.connect() as session:
            session.run("select memory_use_model(%s)", DEFAULT_MODEL)

    def test_the_setting_is_the_administrators(self):
        outside = str(self.cluster.home / "outside")
        with self.connect(user="ordinary") as session:
            for statement in (
                f"set summer_memory.model_dir = '{outside}'",
                f"set summer_memory.onnxruntime = '{outside}/evil.so'",
                f"alter system set summer_memory.model_dir = '{outside}'",
                f"alter role ordinary set summer_memory.model_dir = '{outside}'",
                "show summer_memory.model_dir",
            ):
                with self.subTest(statement=statement), self.refused("42501", "55P02"):
                    session.run(statement)

    def test_setting_of_a_connection(self):
        with self.assertRaises(Exception):
            self.connect(user="ordinary", options=f"-c summer_memory.model_dir={self.cluster.home}/outside")


class ModelFolderWithoutPreloadTest(ClusterTest):
    """A setting put before the library is loaded must not stick: then it is only a name to PostgreSQL."""

    preload = False

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.home / "outside" / "secret", dims=8)
        tiny_model.write(cls.cluster.models / "tiny", dims=8)
        cls.cluster.conf["summer_memory.model_dir"] = str(cls.cluster.models)

    def setUp(self):
        with self.connect() as session:
            session.run("drop role if exists ordinary")
            session.run("create role ordinary login")

    def seen_by(self, session) -> list[str]:
        return session.column("select name from memory_models order by name")

    def test_set_before_the_library_is_loaded(self):
        with self.connect(user="ordinary") as session:
            try:
                session.run(f"set summer_memory.model_dir = '{self.cluster.home}/outside'")
            except session.connection.Error as error:
                self.assertIn(error.sqlstate, ("42501", "55P02"))
            self.assertEqual(self.seen_by(session), [DEFAULT_MODEL, "tiny"])

    def test_setting_of_a_connection(self):
        try:
            session = self.connect(
                user="ordinary", options=f"-c summer_memory.model_dir={self.cluster.home}/outside")
        except Exception:  # noqa: BLE001 - a refused connection is right too
            return
        # A session that tries may lose sight of the administrator's folder, but sees nothing else instead.
        self.assertLessEqual(set(self.seen_by(session)), {DEFAULT_MODEL, "tiny"})

    def test_setting_of_a_role(self):
        with self.connect(user="ordinary") as session:
            try:
                session.run(f"alter role ordinary set summer_memory.model_dir = '{self.cluster.home}/outside'")
            except session.connection.Error as error:
                self.assertIn(error.sqlstate, ("42501", "55P02"))
        with self.connect(user="ordinary") as session:
            self.assertEqual(self.seen_by(session), [DEFAULT_MODEL, "tiny"])
