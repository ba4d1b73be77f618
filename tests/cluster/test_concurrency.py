"""Many writers at once: no deadlock, no row twice, no error nobody asked for, and every row whole at the end.

No test tries again after an error. The model is a tiny one, so that writers meet in the database and do not
queue before the model.
"""

import random

import tiny_model
from cluster import PATIENCE, ClusterTest, eventually, meanwhile, together

WRITERS = 6
# Rows whose derived columns are not those of their text.
BROKEN = """
select id, namespace, path, chunk_index, content
from memories
where content_hash is distinct from memory_content_hash(title, content)
    or search is distinct from memory_tsvector(title, content)
    or token_count is distinct from memory_token_count(search)
    or model is distinct from 'tiny'
    or embedding is null
    or (embedding <=> memory_embed(memory_whole_text(title, content))) > 1e-6
"""
# Documents whose chunks are not numbered 0, 1, 2, …
GAPS = """
select namespace, path, array_agg(chunk_index order by chunk_index)
from memories
where path is not null
group by namespace, path
having count(*) <> max(chunk_index) + 1 or min(chunk_index) <> 0 or count(distinct chunk_index) <> count(*)
"""
CHUNKS = "select chunk_index, title, content from memories where path = %s order by chunk_index"
SPLIT = "select chunk_index, title, chunk from memory_split(%s, 'x.md') order by chunk_index"


def document(version: int, sections: int) -> str:
    """A Markdown file: some of its sections are those of the other versions, some are not."""
    parts = [f"## 第{number}节\n\n{'不变的文字' if number % 3 == 0 else f'第{version}版的文字'}，第{number}节。\n"
             for number in range(sections)]
    return f"# 第{version % 2}个标题\n\n" + "\n".join(parts)


class WritersTest(ClusterTest):
    conf: dict[str, str] = {}

    @classmethod
    def prepare(cls):
        tiny_model.write(cls.cluster.models / "tiny", dims=8)
        cls.conf = {"summer_memory.model_dir": str(cls.cluster.models), "deadlock_timeout": "200ms"}

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate memories, memory_words, conversations")
        self.session.run("set client_min_messages = warning")
        self.session.run("select memory_use_model('tiny')")

    def all_at_once(self, body):
        """body(session, number) in each of the writers; their results."""
        def one(number):
            with self.cluster.connect() as session:
                result = body(session, number)
                self.assertEqual(session.warnings(), [])
                return result

        return together(WRITERS, one)

    def assertWhole(self, *, gaps: bool = False):
        self.assertEqual(self.session.rows(BROKEN), [])
        if not gaps:
            self.assertEqual(self.session.rows(GAPS), [])
        # The index has what the table has.
        counts = []
        for setting in ("set enable_seqscan = off", "reset enable_seqscan; set enable_indexscan = off;"
                        " set enable_indexonlyscan = off; set enable_bitmapscan = off"):
            self.session.run(setting)
            counts.append(self.session.value("select count(*) from memories where namespace = 'default' and path >= ''"))
        self.session.run("reset enable_indexscan; reset enable_indexonlyscan; reset enable_bitmapscan")
        self.assertEqual(*counts)


class ImportTest(WritersTest):
    def test_same_path_same_text(self):
        text = document(1, 7)
        results = self.all_at_once(lambda session, _: session.rows(
            "select * from memory_import('same.md', %s::text)", text)[0])
        chunks = self.session.rows(SPLIT, text)
        self.assertEqual(sorted(results), [(0, 0, len(chunks), 0)] * (WRITERS - 1) + [(len(chunks), 0, 0, 0)])
        self.assertEqual(self.session.rows(CHUNKS, "same.md"), chunks)
        self.assertWhole()

    def test_same_path_other_versions(self):
        """The document is one of the versions in the end, not a mixture, and so it is at any time between."""
        versions = [document(number, 3 + number) for number in range(WRITERS)]
        expected = [self.session.rows(SPLIT, text) for text in versions]

        def write(session, number):
            for _ in range(8):
                session.rows("select * from memory_import('versions.md', %s::text)", versions[number])
                seen = session.rows(CHUNKS, "versions.md")
                self.assertIn(seen, expected)

        self.all_at_once(write)
        self.assertIn(self.session.rows(CHUNKS, "versions.md"), expected)
        self.assertWhole()

    def test_other_paths(self):
        def write(session, number):
            for place in range(10):
                text = document(number, place % 5 + 1)
                session.rows("select * from memory_import(%s, %s::text)", f"w{number}/{place}.md", text)

        self.all_at_once(write)
        self.assertEqual(self.session.value("select count(distinct path) from memories"), 10 * WRITERS)
        for number in range(WRITERS):
            self.assertEqual(self.session.rows(CHUNKS, f"w{number}/9.md"), self.session.rows(SPLIT, document(number, 5)))
        self.assertWhole()

    def test_one_transaction_the_same_paths(self):
        """A folder in one transaction, in one order: each waits for those before it."""
        def write(session, number):
            with session.transaction():
                for place in range(20):
                    session.rows("select * from memory_import(%s, %s::text)", f"{place}.md", document(number, 3))

        self.all_at_once(write)
        titles = self.session.column("select distinct content from memories where path = '0.md' and chunk_index = 1")
        for place in range(20):
            self.assertEqual(
                self.session.column("select content from memories where path = %s and chunk_index = 1", f"{place}.md"), titles)
        self.assertWhole()

    def test_one_transaction_other_paths(self):
        """A folder each in one transaction: they have nothing in common."""
        def write(session, number):
            session.run("set summer_memory.embed = off")
            with session.transaction():
                for place in range(150):
                    session.rows("select * from memory_import(%s, '文字'::text)", f"w{number}/{place}.md")

        self.all_at_once(write)

    def test_namespaces(self):
        self.all_at_once(lambda session, number: session.rows(
            "select * from memory_import('same.md', %s::text, %s)", document(0, 4), f"n{number}"))
        self.assertEqual(self.session.value("select count(distinct namespace) from memories"), WRITERS)
        self.assertEqual(self.session.rows("select count(*) from memories group by namespace, path having count(*) <> 5"), [])
        self.assertWhole()

    def test_forget_and_prune_meanwhile(self):
        def write(session, number):
            for place in range(15):
                kind = (number + place) % 3
                if kind == 0:
                    session.rows("select memory_forget(path => 'going.md')")
                elif kind == 1:
                    session.rows("select * from memory_import('going.md', %s::text)", document(number, 4))
                else:
                    session.rows("select memory_prune(array['staying.md'])")
                session.rows("select * from memory_import('staying.md', %s::text)", document(place % 2, 4))

        self.all_at_once(write)
        self.assertIn(self.session.rows(CHUNKS, "staying.md"),
                      [self.session.rows(SPLIT, document(number, 4)) for number in range(2)])
        self.assertIn(self.session.value("select count(*) from memories where path = 'going.md'"), (0, 5))
        self.assertWhole()

    def test_background_meanwhile(self):
        """The filler writes into rows that others change and delete."""
        def write(session, number):
            session.run("set summer_memory.embed = async")
            for place in range(10):
                session.rows("select * from memory_import(%s, %s::text)", f"{place % 3}.md", document(number + place, 5))
                if place % 4 == number % 4:
                    session.rows("select memory_forget(path => %s)", f"{(place + 1) % 3}.md")

        self.all_at_once(write)
        eventually(lambda: self.session.value("select pending = 0 from memory_status"), "nothing is pending")
        self.assertWhole()


class AddTest(WritersTest):
    def test_add_to_one_path(self):
        def write(session, number):
            return [session.value("select memory_add(%s, 'log.md')", f"第{number}个人说的第{place}句话") for place in range(10)]

        ids = sum(self.all_at_once(write), [])
        self.assertEqual(len(set(ids)), 10 * WRITERS)
        self.assertEqual(self.session.value("select count(*) from memories where path = 'log.md'"), 10 * WRITERS)
        # What one writer added is in its order.
        for number in range(WRITERS):
            said = self.session.column(
                "select content from memories where content like %s order by chunk_index", f"第{number}个人%")
            self.assertEqual(said, [f"第{number}个人说的第{place}句话" for place in range(10)])
        self.assertWhole()

    def test_add_and_import(self):
        def write(session, number):
            for place in range(8):
                if number % 2:
                    session.value("select memory_add('追加的一句', 'mixed.md')")
                else:
                    session.rows("select * from memory_import('mixed.md', %s::text)", document(place, 3))

        self.all_at_once(write)
        self.assertWhole()

    def test_insert_into_a_path_that_is_there(self):
        self.session.run("insert into memories (path, content) values ('plain.md', '第一句')")
        self.all_at_once(lambda session, number: [
            session.run("insert into memories (path, content) values ('plain.md', %s)", f"{number}的第{place}句")
            for place in range(10)])
        self.assertEqual(self.session.value("select count(*) from memories"), 10 * WRITERS + 1)
        self.assertWhole()

    def test_insert_into_a_new_path(self):
        insert = "insert into memories (path, content) values ('new.md', %s)"
        with self.connect() as first, self.connect() as second:
            first.run("begin")
            first.run(insert, "第一句")
            self.commits_before(first, second, insert)
        self.assertEqual(
            self.session.column("select chunk_index from memories where path = 'new.md' order by chunk_index"), [0, 1])

    def test_lock_after_a_rollback_to_a_savepoint(self):
        """The rollback gives the document's lock back; the next row takes it again."""
        insert = "insert into memories (path, content) values ('saved.md', %s)"
        with self.connect() as first, self.connect() as second:
            first.run("begin")
            first.run("savepoint before")
            first.run(insert, "不要的一句")
            first.run("rollback to before")
            first.run(insert, "第一句")
            self.commits_before(first, second, insert)
        self.assertEqual(
            self.session.rows("select chunk_index, content from memories order by chunk_index"), [(0, "第一句"), (1, "第二句")])

    def test_more_documents_than_locks(self):
        """A transaction over thousands of documents leaves room in the server's lock table."""
        self.session.run("set summer_memory.embed = off")
        self.session.run("begin")
        self.session.run("insert into memories (path, content) select n || '.md', '文字' from generate_series(1, 3000) n, generate_series(1, 2)")
        locks = self.session.value("select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'")
        self.session.run("commit")
        self.assertEqual(locks, 500)
        self.assertEqual(self.session.rows(GAPS), [])

    def commits_before(self, first, second, insert):
        """The second inserts and waits until the first has committed."""
        with meanwhile(second.run, insert, "第二句") as future:
            self.waits(second)
            first.run("commit")
            future.result(timeout=PATIENCE)

    def waits(self, session):
        eventually(lambda: self.session.value(
            "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s", session.pid), "it waits for a lock")


class RowTest(WritersTest):
    UPSERT = """
    insert into memories (path, chunk_index, content)
    values (%s, %s, %s)
    on conflict (namespace, path, chunk_index) do update
    set content = excluded.content
    """

    def test_upserts(self):
        def write(session, number):
            order = random.Random(number)
            for place in range(40):
                session.run(self.UPSERT, "keys.md", order.randrange(4), f"{number}写的第{place}次")

        self.all_at_once(write)
        self.assertEqual(
            self.session.column("select chunk_index from memories where path = 'keys.md' order by chunk_index"), [0, 1, 2, 3])
        self.assertWhole()

    def test_upserts_of_many_rows(self):
        statement = """
        insert into memories (path, chunk_index, content)
        select 'many.md', n, %s || n
        from generate_series(0, 19) n
        on conflict (namespace, path, chunk_index) do update
        set content = excluded.content
        """
        self.all_at_once(lambda session, number: [session.run(statement, f"{number}-{place}-") for place in range(5)])
        self.assertEqual(self.session.value("select count(*) from memories"), 20)
        # Each statement wrote all rows or none.
        self.assertEqual(self.session.value("select count(distinct rtrim(content, '0123456789')) from memories"), 1)
        self.assertWhole()

    def test_one_row_changed_by_many(self):
        row = self.session.value("insert into memories (content) values ('开始') returning id")
        counted = self.session.value("insert into memories (content, metadata) values ('数数', '{\"n\": 0}') returning id")

        def write(session, number):
            for place in range(15):
                session.run("update memories set content = %s, tags = %s where id = %s",
                            f"{number}改的第{place}次", [f"{number}-{place}"], row)
                session.run("update memories set metadata = jsonb_build_object('n', (metadata ->> 'n')::integer + 1)"
                            " where id = %s", counted)

        self.all_at_once(write)
        content, tags = self.session.rows("select content, tags from memories where id = %s", row)[0]
        number, place = tags[0].split("-")
        self.assertEqual(content, f"{number}改的第{place}次")
        self.assertEqual(
            self.session.value("select metadata ->> 'n' from memories where id = %s", counted), str(15 * WRITERS))
        self.assertWhole()

    def test_copy(self):
        def write(session, number):
            with session.connection.cursor().copy("copy memories (path, content) from stdin") as copy:
                for place in range(50):
                    copy.write(f"copy{number}.md\t{number}抄的第{place}行\n")

        self.all_at_once(write)
        self.assertEqual(self.session.value("select count(*) from memories"), 50 * WRITERS)
        self.assertWhole()

    def test_backfill_waits_for_nobody(self):
        self.session.run("set summer_memory.embed = off")
        ids = [self.session.value("insert into memories (content) values (%s) returning id", f"等着的第{n}条") for n in range(3)]
        with self.connect() as other:
            other.run("begin")
            other.run("update memories set tags = '{改}' where id = %s", ids[1])
            self.session.run("set lock_timeout = 2000")
            self.assertEqual(self.session.value("select memory_backfill()"), 2)
            other.run("commit")
        self.assertEqual(self.session.value("select memory_backfill()"), 1)
        self.assertWhole()

    def test_maintenance_meanwhile(self):
        """Readers and those who look after the store, among writers."""
        self.session.run("insert into memories (content) select '云原生数据库的第' || n || '条' from generate_series(1, 200) n")

        def write(session, number):
            for place in range(6):
                if number == 0:
                    session.run("select jieba_add_word('云原生数据库')" if place % 2 else "truncate memory_words")
                elif number == 1:
                    session.rows("select memory_sweep(), memory_backfill()")
                elif number == 2:
                    self.assertTrue(session.rows("select * from memory_search('云原生', 5)"))
                elif number == 3:
                    session.run("insert into memories (content, expires_at) values ('云原生过期了', now())")
                elif number == 4:
                    session.run("update memories set tags = array['改'] where id = 1 + %s", place)
                else:
                    session.rows("select * from memory_import('cloud.md', %s::text)", document(place, 6))

        self.all_at_once(write)
        self.session.run("truncate memory_words")
        self.session.run("select memory_reindex()")
        self.assertWhole()


class ConversationTest(WritersTest):
    """Memories made of a conversation; the archive itself is in test_archive.py."""

    def test_memories_of_one_conversation(self):
        self.session.run("select conv_append('s', 'user', '第' || n || '句话', '2026-03-02'::timestamptz + n * interval '1 minute')"
                         " from generate_series(1, 60) n")
        self.all_at_once(lambda session, _: session.rows("select * from conv_to_memory('s', max_chars => 100)"))
        self.assertEqual(self.session.rows("select * from conv_to_memory('s', max_chars => 100)")[0][:2], (0, 0))
        self.assertWhole()
