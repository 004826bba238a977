"""A pool of worker ids at a lease server, processes in four languages that lease from it, and the judge of both.

Each process is a host of its own: it has a state directory of its own, and does not see which worker ids are taken here."""

import array
import collections
import contextlib
import itertools
import sqlite3
import subprocess
import threading
import time

from harness import BUILD, EPOCH_MS, NEVER_S, Skip, assert_distinct, place, wait_for
from servers import IdServer
from subjects import Refused, Serve

APART = BUILD / "system/apart"

# In the transaction that gives, extends or takes back; not of what is there again in a table that went back.
ACCOUNT = """
CREATE TABLE account (number INTEGER PRIMARY KEY, name, id, begins, until, token, released);
CREATE TRIGGER keep_given AFTER INSERT ON leafid_worker WHEN new.token NOT IN (SELECT token FROM account) BEGIN
    INSERT INTO account (name, id, begins, until, token, released)
    VALUES (new.name, new.worker_id, new.begins_ms, new.until_ms, new.token, new.released);
END;
CREATE TRIGGER keep_changed AFTER UPDATE ON leafid_worker BEGIN
    INSERT INTO account (name, id, begins, until, token, released)
    VALUES (new.name, new.worker_id, new.begins_ms, new.until_ms, new.token, new.released);
END;
"""
TABLES = ("leafid_space", "leafid_worker")


class Pool:
    """Servers on one database. `size` is the number of worker ids of each name."""

    def __init__(self, servers=1, size=32, lease_ms=1_200, threshold_ms=400):
        probe = subprocess.run([APART, "true"], capture_output=True, text=True)
        if probe.returncode != 0:
            raise Skip(f"the kernel does not let one leave system calls out (seccomp): {probe.stderr.strip()}")
        self.where, self.lessees = place(), []
        self.serve(servers, size, lease_ms, threshold_ms)

    def serve(self, servers, size, lease_ms, threshold_ms):
        store = self.where.unsynced("leases.db")
        dials = {"workers": f"0-{size - 1}", "lease_ms": lease_ms, "clock_threshold_ms": threshold_ms}
        self.servers = [IdServer(store, **dials) for _ in range(servers)]
        self.run(ACCOUNT)

    @property
    def server(self):
        return self.servers[0]

    def database(self):
        return contextlib.closing(sqlite3.connect(self.server.store, timeout=NEVER_S))

    def run(self, script):
        with self.database() as db:
            db.executescript(script)

    def url(self):
        return ",".join(server.url for server in self.servers)

    def start(self, language="rust", env=None, host=None, before=(APART,), **words):
        given = {"worker": self.url(), "name": self.where.name, **words}
        self.lessees.append(Lessee(self.where, language, env, host, given, before))
        return self.lessees[-1]

    def resize(self, size):
        """Kills the server, and starts it with so many worker ids."""
        self.server.kill()
        self.server.options["workers"] = f"0-{size - 1}"
        self.server.start()

    def held(self, name=None):
        """The leases of this pool, by worker id."""
        with self.database() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM leafid_worker WHERE name = ?", [name or self.where.name]).fetchall()
        return {row["worker_id"]: row for row in rows}

    def snapshot(self):
        self.run("".join(f"CREATE TABLE old_{table} AS SELECT * FROM {table};" for table in TABLES))

    def rewind(self):
        """The tables are those of the snapshot again."""
        copies = "".join(f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM old_{table};" for table in TABLES)
        self.run(f"BEGIN IMMEDIATE; {copies} COMMIT;")

    def rewind_unnoticed(self):
        """While no server is there that knows better."""
        self.server.kill()
        self.rewind()
        self.server.start()

    def spans(self):
        """What was given: of each name and worker id the begins of spans with their ends."""
        spans = collections.defaultdict(dict)
        with self.database() as db:
            rows = db.execute("SELECT name, id, begins, until, token, released FROM account ORDER BY number").fetchall()
        for name, worker, begins, until, token, released in rows:
            of = spans[name, worker]
            if released:
                of[begins] = until
            elif token:
                of[begins] = max(until, of.get(begins, 0))
        return spans

    def span_in_use(self, lessee):
        """The worker id of its last id, and where the span begins that this id lies in."""
        last = lessee.ids()[-1]
        worker, moment = last >> 12 & 1023, (last >> 22) + EPOCH_MS
        return worker, max(begins for begins in self.spans()[lessee.given["name"], worker] if begins <= moment)

    def end(self, least=100):
        """Ends all that still runs, and judges what all made."""
        for lessee in self.lessees:
            lessee.close()
        return self.judge(least)

    def judge(self, least=100):
        """No id twice, none outside what was given, and of each span those of one host at most."""
        spans = self.spans()
        for (name, worker), of in spans.items():
            for (_, until), (begins, _) in itertools.pairwise(sorted(of.items())):
                assert until <= begins, f"worker id {worker} of {name} was given from {begins}, below {until}: they overlap"
        made = {lessee: lessee.ids() for lessee in self.lessees}
        for name in {lessee.given["name"] for lessee in self.lessees}:
            assert_distinct(ids for lessee, ids in made.items() if lessee.given["name"] == name)
        users = {}
        for lessee, ids in made.items():
            for an_id in ids:
                worker, moment = an_id >> 12 & 1023, (an_id >> 22) + EPOCH_MS
                of = spans[lessee.given["name"], worker]
                begins = max((begins for begins in of if begins <= moment), default=None)
                assert begins is not None and moment < of[begins], (
                    f"{lessee.name}: {an_id} was made by worker id {worker} for {moment}, outside of {sorted(of.items())}"
                )
                # Who was killed may continue in the same directory.
                user = users.setdefault((lessee.given["name"], worker, begins), lessee.state)
                assert user == lessee.state, f"{lessee.state} and {user} both used a span of worker id {worker}: in common"
        count = sum(map(len, made.values()))
        assert count > least, f"only {count} ids were made"
        return count


class Lessee:
    """A process that opens until it succeeds, then makes ids until it is closed or killed, and continues after errors.

    Its ids are appended to a file at once, and to another one what it was told: monotonic milliseconds and `in WORKER`,
    `refused CODE: …`, `error CODE: …` or `done`."""

    numbers = itertools.count()

    def __init__(self, where, language, env, host, given, before=(APART,)):
        self.name, self.language, self.given = f"{language}-{next(self.numbers)}", language, given
        self.files = {kind: where.dir / f"{kind}-{self.name}" for kind in ("ids", "notes")}
        # A lease waits for its source, and for no disk.
        self.state, self.said = where.unsynced(host or f"host-{self.name}"), where.dir / f"said-{self.name}"
        self.subject = Serve(language, before, env, stderr=open(self.said, "w"))
        self.process, self.pid = self.subject.process, self.subject.pid
        self.killed, self.over = False, threading.Event()
        self.holding = threading.Thread(target=self.hold, daemon=True)
        self.holding.start()

    def hold(self):
        # It may be killed at any time.
        with contextlib.suppress(AssertionError, OSError):
            while (worker := self.told("refused", "open", "a", *self.words())) is None:
                if self.over.wait(0.1):
                    return
            self.note("in", worker)
            for turn in itertools.count():
                made = self.told("error", *(("take", "a", 20) if turn % 2 else ("next", "a")))
                if made is None:
                    time.sleep(0.02)
                else:
                    self.append("ids", array.array("q", map(int, made.split())).tobytes())
                if self.over.wait(self.given.get("pause_us", 2_000) / 1e6):
                    break
            if self.told("error", "close", "a") is not None:
                self.note("done", "")

    def words(self):
        return [f"{key}={value}" for key, value in {**self.given, "dir": self.state}.items()]

    def told(self, what, *words):
        """The answer, or None if it is refused. Where the JavaScript thread may not wait, it is asked again."""
        try:
            return self.subject.do(*words)
        except Refused as error:
            if error.code != "would_block":
                self.note(what, error)

    def note(self, what, text):
        self.append("notes", f"{time.monotonic_ns() // 1_000_000} {what} {text}\n".encode())

    def append(self, kind, data):
        with open(self.files[kind], "ab", buffering=0) as file:
            file.write(data)

    def notes(self, *kinds):
        """What happened: (monotonic ms, what, text). A line that is just written is left out."""
        path = self.files["notes"]
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        split = [line.split(" ", 2) for line in lines]
        return [(int(at_ms), what, text) for at_ms, what, text in split if not kinds or what in kinds]

    def codes(self, *kinds):
        """Those of its errors and refusals, without those of a disk that others kept busy."""
        texts = [text for _, _, text in self.notes(*(kinds or ("error", "refused")))]
        late = ("; see the disk, or raise timeout_ms", "was not durable in time")
        return {text.split(":")[0] for text in texts if not any(words in text for words in late)}

    def ids(self):
        ids, path = array.array("q"), self.files["ids"]
        data = path.read_bytes() if path.exists() else b""
        ids.frombytes(data[: len(data) // 8 * 8])
        return ids

    def is_in(self):
        return bool(self.notes("in"))

    def workers(self):
        """The worker ids of its ids, in the order of their first."""
        return list(dict.fromkeys(an_id >> 12 & 1023 for an_id in self.ids()))

    def await_in(self):
        wait_for(self.is_in, f"{self.name} to come in")

    def await_error(self, code):
        wait_for(lambda: code in self.codes("error"), f"{code} of {self.name}")

    def await_another_error(self):
        count = len(self.notes("error"))
        wait_for(lambda: len(self.notes("error")) > count, f"another error of {self.name}")

    def await_ids(self, worker=None):
        """Until it has made others than it had; of this worker id, if one is given."""
        count = len(self.ids())
        wait_for(
            lambda: any(worker in (None, an_id >> 12 & 1023) for an_id in self.ids()[count:]),
            f"{self.name} to make more ids {'' if worker is None else f'with worker id {worker}'}",
        )

    def kill(self):
        self.subject.kill()
        self.killed = True
        self.holding.join()

    def close(self):
        """Ends it normally."""
        if self.killed or self.process.stdin.closed:
            return
        self.over.set()
        self.holding.join()
        self.subject.quit()
        ended = f"{self.name} ended with {self.process.returncode}: {self.said.read_text()[-1500:]}"
        assert self.process.returncode == 0 and len(self.notes("in")) == len(self.notes("done")), ended
