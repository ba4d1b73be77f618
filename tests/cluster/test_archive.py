"""The conversation archive with many writers at once, through dump and restore, under policies, and partitioned.

What one session sees is tested by pg_regress (archive.sql). Nothing here depends on a time; where two writers must
meet, each waits until the other is there.
"""

import json

from cluster import ClusterTest, eventually, meanwhile, together

WRITERS = 10
ROWS = "select c.*::text from conversations c order by c.id"


def line(number, content, session=None, second=0):
    """A message of an OpenClaw session file."""
    time = f"2026-02-19T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
    message = {"role": "user" if number % 2 else "assistant", "content": content}
    entry = {"type": "message", "id": f"m{number}", "timestamp": time, "message": message}
    header = {"type": "session", "version": 3, "id": session, "timestamp": time}
    lines = ([header] if session else []) + [entry]
    return "".join(json.dumps(part, ensure_ascii=False) + "\n" for part in lines)


def history(session, messages):
    """A session file; its messages are far apart."""
    lines = [line(0, "0", session)]
    lines += [line(number, f"message {number}", second=20 * number) for number in range(1, messages)]
    return "".join(lines)


def zstd_frame(data):
    """A zstd frame of raw blocks (RFC 8878, 3.1.1): packed, though not smaller, and needs no program."""
    blocks = [data[start:start + 100_000] for start in range(0, len(data), 100_000)]
    frame = bytes.fromhex("28b52ffda0") + len(data).to_bytes(4, "little")
    for number, block in enumerate(blocks, 1):
        frame += (len(block) << 3 | (number == len(blocks))).to_bytes(3, "little") + block
    return frame


class WritersTest(ClusterTest):
    """A20: nothing doubled, nothing lost, nobody waits for ever."""

    conf = {"summer_memory.embed": "off"}

    def setUp(self):
        self.session = self.connect()
        self.session.run("truncate conversations")

    def sessions(self, count=WRITERS):
        return [self.connect() for _ in range(count)]

    def test_the_same_message(self):
        """The second writer has looked before the first commits."""
        first, second = self.sessions(2)
        append = "select added from conv_append('s', 'user', %s, '2026-02-19')"
        for number in range(5):
            first.run("begin")
            self.assertTrue(first.value(append, f"text {number}"))
            with meanwhile(second.value, append, f"text {number}") as other:
                eventually(lambda: self.session.value(
                    "select count(*) from pg_locks where locktype = 'advisory' and not granted"), "a writer waits")
                first.run("commit")
                self.assertFalse(other.result())
        self.assertEqual(self.session.value("select count(*) from conversations"), 5)

    def test_the_same_message_of_one_that_rolls_back(self):
        first, second = self.sessions(2)
        append = "select added from conv_append('s', 'user', 'text', '2026-02-19')"
        first.run("begin")
        self.assertTrue(first.value(append))
        with meanwhile(second.value, append) as other:
            eventually(lambda: self.session.value(
                "select count(*) from pg_locks where locktype = 'advisory' and not granted"), "a writer waits")
            first.run("rollback")
            self.assertTrue(other.result())

    def test_ten_writers_of_the_same_and_of_different_messages(self):
        sessions = self.sessions()

        def write(number):
            added = 0
            for place in range(100):
                # One all have, one by id that all have, one of one's own; in sessions all write to.
                same = ("select added from conv_append(%s, 'user', %s, '2026-02-19'::timestamptz + %s * interval '1 min')",
                        f"s{place % 3}", f"same {place}", place)
                by_id = ("select added from conv_append(%s, 'user', %s, clock_timestamp(), %s)",
                         f"s{place % 3}", f"by id {place}", f"id {place}")
                own = ("select added from conv_append(%s, 'user', %s)", f"s{place % 3}", f"own {number} {place}")
                added += sum(bool(sessions[number].value(*statement)) for statement in (same, by_id, own))
            return added

        added = sum(together(WRITERS, write))
        rows = self.session.rows("select session_key, content, count(*) from conversations group by 1, 2")
        self.assertEqual({count for _, _, count in rows}, {1})
        self.assertEqual(len(rows), 100 + 100 + 100 * WRITERS)
        self.assertEqual(added, len(rows))

    def test_plain_inserts_of_the_same_rows(self):
        sessions = self.sessions()
        insert = ("insert into conversations (session_key, role, content, \"timestamp\") select 's', 'user', 'message ' || n, "
                  "'2026-02-19'::timestamptz + n * interval '1 min' from generate_series(1, 200) n")
        added = together(WRITERS, lambda number: sessions[number].run(insert))
        self.assertEqual(sum(added), 200)
        self.assertEqual(self.session.value("select count(*) from conversations"), 200)

    def test_imports_of_the_same_history(self):
        sessions = self.sessions()
        data = history("s", 300)
        added = together(WRITERS, lambda number: sessions[number].value("select added from conv_import(%s::text)", data))
        self.assertEqual(sorted(added), [0] * (WRITERS - 1) + [300])

    def test_imports_of_many_sessions_in_different_orders(self):
        sessions = self.sessions()
        parts = [history(f"session {number}", 20) for number in range(30)]

        def load(number):
            order = parts[number:] + parts[:number]
            return sessions[number].value("select added from conv_import(%s::text)", "".join(order[:: (-1) ** number]))

        self.assertEqual(sum(together(WRITERS, load)), 30 * 20)
        self.assertEqual(self.session.value("select count(*) from conv_list(100) where messages = 20"), 30)

    def test_one_session_under_two_names(self):
        """A file knows the session's id, rows of the store its key: both at once must meet."""
        file = "".join(line(number, f"text {number}", "sid" if number == 0 else None, 20 * number) for number in range(50))
        rows = "".join(
            json.dumps({"session_id": "sid", "session_key": "agent:main:main", "seq": number,
                        "event_json": line(number, f"text {number}", None, 20 * number)}) + "\n"
            for number in range(50))
        for _ in range(5):
            self.session.run("truncate conversations")
            sessions = self.sessions(2)
            added = together(2, lambda n, s=sessions: s[n].value("select added from conv_import(%s::text)", (file, rows)[n]))
            self.assertEqual(sorted(added), [0, 50])
            self.assertEqual(self.session.value("select count(distinct session_key) from conversations"), 1)

    def test_locks_of_two_names_are_taken_at_once(self):
        """Each import names a session that is stored under a key of which the other writes, too."""
        def rows(key, session):
            return json.dumps({"session_id": session, "session_key": key, "event_json": line(1, session)}) + "\n"

        first, second, holder = self.sessions(3)
        for key, session in (("A", "a"), ("B", "b")):
            self.session.run("select conv_import(%s::text)", rows(key, session))
        # Both wait for a lock that comes after all others, and hold what they have by then.
        number = "(conv_lock_numbers(%s, null))[1]"
        last = self.session.value(
            f"select n::text from generate_series(1, 100000) n order by {number} desc limit 1".replace("%s", "n::text"))
        holder.run("begin")
        holder.run(f"select conv_lock(array[{number}])", last)
        loads = [line(2, "new", "a") + rows("B", "b") + rows(last, "x"), line(2, "new", "b") + rows("A", "a") + rows(last, "y")]
        load = "select added from conv_import(%s::text)"
        with meanwhile(first.value, load, loads[0]) as one, meanwhile(second.value, load, loads[1]) as other:
            eventually(lambda: self.session.value(
                "select count(*) = 2 from pg_locks where locktype = 'advisory' and not granted"), "both wait")
            holder.run("commit")
            self.assertEqual((one.result(), other.result()), (2, 2))

    def test_a_message_is_found_by_an_index_whatever_statistics_say(self):
        """Vacuum met the table while all its rows were uncommitted: every index looks alike."""
        session = self.connect()
        session.run("begin")
        session.run("select conv_import(%s::text)", history("s", 3_000))
        self.session.run("vacuum analyze conversations")
        plan = json.dumps(session.value(
            "explain (format json) select exists (select from conv_find(c.session_key, c.role, c.fingerprint, c.\"timestamp\", "
            "c.message_id, c.source, c.content, c.metadata ->> 'api_message_id', c.metadata ->> 'session_id')) "
            "from (select * from conversations offset 0) c"))
        for index in ("identity", "message_id", "api_message", "words"):
            self.assertIn(f'"conversations_{index}_idx"', plan)
        for index in ("conversations_pkey", "conversations_session_idx", "conversations_time_idx"):
            self.assertNotIn(f'"{index}"', plan)
        session.run("rollback")

    def test_resumed_sessions_at_once(self):
        """Ids of Claude Code are unique over sessions, so writers of two sessions must meet."""
        def resumed(session):
            return "".join(json.dumps({
                "type": "user", "uuid": f"u{number}", "sessionId": session, "timestamp": f"2026-02-19T01:{number:02}:00Z",
                "message": {"role": "user", "content": f"text {number}"}}) + "\n" for number in range(50))
        sessions = self.sessions()
        added = together(WRITERS, lambda n: sessions[n].value("select added from conv_import(%s::text)", resumed(f"c{n}")))
        self.assertEqual(sum(added), 50)

    def test_cancelled_import_leaves_nothing(self):
        session = self.connect()
        data = history("s", 20_000)
        with meanwhile(session.value, "select added from conv_import(%s::text)", data) as load:
            eventually(lambda: self.session.value(
                "select count(*) from pg_locks where locktype = 'advisory' and pid = %s", session.pid), "it writes")
            self.session.run("select pg_cancel_backend(%s)", session.pid)
            with self.refused("57014"):
                load.result()
        self.assertEqual(session.value("select count(*) from conversations"), 0)
        self.assertEqual(session.value("select added from conv_import(%s::text)", history("s", 10)), 10)

    def test_compressed(self):
        """What a packed history holds is read as it is unpacked."""
        packed = zstd_frame(history("z", 500).encode())
        self.assertEqual(self.session.value("select added from conv_import(%s::bytea)", packed), 500)


class KeepingTest(ClusterTest):
    """Dump, restore, drop, and a server that is killed."""

    conf = {"summer_memory.embed": "off"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            session.run("select conv_import(%s::text)", history("s", 50))
            session.run("select conv_append('s', 'user', '同一句', '2026-02-20', 'a', 'x')")
            session.run("select conv_append('s', 'user', '同一句', '2026-02-20 00:00:02', 'b', 'x')")
            session.run("select conv_to_memory('s')")

    def picture(self, session):
        return (session.rows(ROWS), session.rows("select * from conv_list()"),
                session.rows("select id, score from conv_search('message 7')"),
                session.rows("select id, metadata from memories order by id"),
                session.rows("select indexdef from pg_indexes where tablename = 'conversations' order by 1"))

    def test_dump_and_restore(self):
        with self.connect() as session:
            session.run("analyze conversations")
            before = self.picture(session)
        for name, arguments in (("plain", ()), ("data", ("--data-only",))):
            with self.subTest(dump=name):
                self.cluster.create_database(name, extension=bool(arguments))
                file = self.cluster.home / f"{name}.sql"
                tables = ("-t", "conversations", "-t", "memories") if arguments else ()
                self.cluster.client("pg_dump", "-d", "summer", *arguments, *tables, "-f", file)
                self.cluster.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, "-f", file)
                with self.connect(name) as restored:
                    restored.run("analyze conversations")
                    self.assertEqual(self.picture(restored), before)
                    # It goes on where it was: what is there is known, what is new gets a new number.
                    self.assertEqual(restored.rows("select added, duplicates from conv_import(%s::text)", history("s", 51)),
                                     [(1, 50)])
                    self.assertEqual(restored.value("select count(*) = count(distinct id) from conversations"), True)

    def test_drop_and_adopt(self):
        self.cluster.create_database("dropped")
        with self.connect("dropped") as session:
            session.run("select conv_import(%s::text)", history("s", 20))
            rows = session.rows(ROWS)
            with self.refused("2BP01"):
                session.run("drop extension summer_memory")
            session.run("drop extension summer_memory cascade")
            # Meanwhile there are no rules, and no words.
            session.run("insert into conversations (session_key, role, content, \"timestamp\") values ('s', 'user', '孤儿', '2026-03-01')")
            session.run("create extension summer_memory")
            self.assertEqual(session.rows(ROWS)[:20], rows)
            self.assertEqual(session.column("select content from conv_search('孤儿')"), ["孤儿"])
            self.assertEqual(session.value("select added from conv_append('s', 'user', '孤儿', '2026-03-01 00:00:01')"), False)

    def test_killed_server(self):
        with self.connect() as session:
            rows = session.rows(ROWS)
            session.run("begin")
            session.run("select conv_append('s', 'user', 'not committed')")
            self.cluster.kill()
            self.cluster.start()
        with self.connect() as session:
            self.assertEqual(session.rows(ROWS), rows)
            self.assertEqual(session.value("select count(*) from conv_search('message')"), 10)


class RightsTest(ClusterTest):
    """X02, X04 for the archive: a policy holds in every function, and no argument is code."""

    conf = {"summer_memory.embed": "off"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as session:
            for role in ("alice", "bob", "nobody_special"):
                session.run(f"create role {role} login")
            session.run("grant select, insert, update, delete on conversations, memories to alice, bob")
            session.run("alter table conversations enable row level security")
            session.run("create policy own on conversations using (sender = current_user) with check (sender = current_user)")
        for role in ("alice", "bob"):
            with cls.cluster.connect(user=role) as session:
                session.run(
                    "select conv_append('shared', 'user', %s, '2026-02-19', sender => current_user)", f"{role} 的秘密")
                session.run("select conv_append(%s, 'user', '独角兽', '2026-02-19', sender => current_user)", f"only {role}")

    def test_policy(self):
        session = self.connect(user="alice")
        self.assertEqual(session.column("select session_key from conv_list() order by 1"), ["only alice", "shared"])
        self.assertEqual(session.column("select content from conv_get('shared')"), ["alice 的秘密"])
        self.assertEqual(session.rows("select * from conv_get('only bob')"), [])
        self.assertEqual(session.column("select content from conv_search('秘密')"), ["alice 的秘密"])
        self.assertEqual(session.value("select messages from conv_stats()"), 2)
        # Another's message does not count as there already, and is not told.
        self.assertTrue(session.value(
            "select added from conv_append('shared', 'user', 'bob 的秘密', '2026-02-19', sender => current_user)"))
        self.assertEqual(session.value("select conv_forget('only bob')"), 0)
        session.run("select conv_to_memory('shared')")
        self.assertEqual(session.value("select count(*) from memories where content like '%%bob 的%%' and metadata ->> 'session' = 'only bob'"), 0)
        with self.connect(user="bob") as bob:
            self.assertEqual(bob.value("select count(*) from conv_get('only bob')"), 1)
            with self.refused("42501"):
                bob.run("select conv_append('shared', 'user', 'forged', sender => 'alice')")

    def test_without_rights(self):
        session = self.connect(user="nobody_special")
        for statement in (
                "select * from conv_list()", "select * from conv_get('shared')", "select * from conv_stats()",
                "select * from conv_search('x')", "select conv_append('s', 'user', 'x')",
                "select conv_import('{\"role\":\"user\",\"content\":\"x\"}', 'openai')", "select conv_to_memory('shared')",
                "select conv_forget('shared')", "select conv_index(false)"):
            with self.subTest(statement=statement), self.refused("42501"):
                session.run(statement)

    def test_arguments_are_text(self):
        session = self.connect()
        code = "'; drop table conversations; --"
        session.run("select conv_append(%s, %s, %s, '2026-02-19', %s, %s, %s, %s)", *[code] * 3, *[code] * 4)
        for statement in (
                "select * from conv_list(5, %s)", "select * from conv_get(%s)", "select * from conv_search(%s)",
                "select * from conv_search('x', 5, %s)", "select * from conv_search('x', 5, null, %s)",
                "select conv_import('{\"role\":\"user\",\"content\":\"x\"}', 'openai', %s)",
                "select conv_import('{\"role\":\"user\",\"content\":\"y\"}', 'openai', 'k', %s)",
                "select conv_to_memory(%s)", "select conv_forget(%s)"):
            with self.subTest(statement=statement):
                session.run(statement, code)
        self.assertTrue(session.value("select to_regclass('conversations') is not null"))


class PartitionTest(ClusterTest):
    """The table works the same when it is partitioned by time."""

    conf = {"summer_memory.embed": "off"}

    def test_partitioned(self):
        session = self.connect()
        session.run("select conv_import(%s::text)", history("s", 50))
        with session.transaction():
            session.run("alter table conversations rename to conversations_before")
            session.run("create table conversations (like conversations_before including all excluding indexes, "
                        "primary key (id, \"timestamp\")) partition by range (\"timestamp\")")
            session.run("create table conversations_2026 partition of conversations for values from ('2026-01-01') to ('2027-01-01')")
            session.run("create table conversations_rest partition of conversations default")
            session.run("insert into conversations select * from conversations_before")
            session.run("select setval(pg_get_serial_sequence('conversations', 'id'), max(id)) from conversations")
            session.run("drop table conversations_before")
            session.run("select conv_init()")
        self.assertEqual(session.rows("select added, duplicates from conv_import(%s::text)", history("s", 60)), [(10, 50)])
        self.assertTrue(session.value("select added from conv_append('s', 'user', 'next year', '2027-02-19', 'x')"))
        self.assertFalse(session.value("select added from conv_append('s', 'user', 'next year', '2028-02-19', 'x')"))
        session.run("insert into conversations (session_key, role, content, \"timestamp\") values ('s', 'user', 'next year', '2027-02-19 00:00:03')")
        self.assertEqual(session.rows("select messages, preview from conv_list()"), [(61, "message 1")])
        self.assertEqual(session.value("select count(*) from conv_search('next')"), 1)
        self.assertEqual(session.value("select count(*) = count(distinct id) from conversations"), True)
