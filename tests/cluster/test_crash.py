"""Nothing that was committed is lost, and nothing is half there, when the server dies in the middle of work."""

import os
import signal
import threading
import time

from cluster import ClusterTest, eventually

COMPLETE = """
select count(*) from memories
where embedding is null or search is null or token_count is null or model is null or content_hash is null
"""


class CrashTest(ClusterTest):
    def test_kill_in_the_middle_of_inserts(self):
        committed = []
        stop = threading.Event()

        def write(number: int) -> None:
            try:
                with self.cluster.connect() as session:
                    for place in range(10_000):
                        if stop.is_set():
                            return
                        path = f"w{number}/{place}"
                        session.run("insert into memories (path, content) values (%s, %s)", path, f"第{number}组的第{place}条记录")
                        committed.append(path)
            except Exception:  # noqa: BLE001 - the server is killed under it
                return

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        eventually(lambda: len(committed) >= 40, "some rows are committed")
        self.cluster.kill()
        stop.set()
        for writer in writers:
            writer.join()
        promised = list(committed)
        self.cluster.start()
        with self.cluster.connect() as session:
            present = set(session.column("select path from memories"))
            self.assertEqual(set(promised) - present, set())
            self.assertEqual(session.value(COMPLETE), 0)
            self.assertEqual(session.value("select pending from memory_status"), 0)
            # Each index finds what a scan of the table finds.
            by_index = "set enable_seqscan = off; set enable_indexscan = on; set enable_bitmapscan = on"
            by_scan = "set enable_seqscan = on; set enable_indexscan = off; set enable_bitmapscan = off"
            for query in (
                "select id from memories where search @@ '记录'::tsquery order by id",
                "select id from memories where namespace = 'default' and path >= 'w1/' and path < 'w10' order by id",
            ):
                session.run(by_index)
                indexed = session.column(query)
                session.run(by_scan)
                self.assertEqual(indexed, session.column(query))
                self.assertTrue(indexed)
            session.run("reset all")
            found = session.column("select path from memory_search('第2组的第3条记录', 50)")
            self.assertEqual(len(found), min(50, len(present)))

    def test_restart_after_a_model_process_was_asked_to_stop(self):
        with self.cluster.connect() as session:
            session.run("insert into memories (content) values ('先写一条')")
            before = self.cluster.workers("summer_memory model")
            for pid in before:
                os.kill(pid, signal.SIGTERM)
            eventually(
                lambda: self.cluster.workers("summer_memory model") not in ([], before), "the model process is back")
            time.sleep(1)
            session.run("insert into memories (content) values ('再写一条')")
            self.assertEqual(session.value(COMPLETE), 0)
