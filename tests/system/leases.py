"""Worker ids leased from one table: whatever befalls the holders, the table and the clocks, no id comes twice, and none
lies outside the spans that the table gave to the very process that made it.

Each process is a host of its own, with its own name and state directory: nothing but the table keeps them apart."""

import collections
import contextlib
import itertools
import json
import random
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from harness import EPOCH_MS, HERE, ROOT, assert_distinct, now_ms, place, test, wait_for
from makers import Maker, read_ids
from subjects import PYTHON
from tricks import faketime, offset, stopped

sys.path.insert(0, str(ROOT / "examples"))

YEARS = 3650 * 86_400
SPAWNED = itertools.count()

# In the transaction that gives, extends or takes back, whoever makes it.
ACCOUNT = """
CREATE TABLE account (number INTEGER PRIMARY KEY, id, was, holder, before_ms, until_ms);
CREATE TRIGGER keep_account AFTER UPDATE ON worker BEGIN
    INSERT INTO account (id, was, holder, before_ms, until_ms)
    VALUES (new.id, old.holder, new.holder, old.until_ms, new.until_ms);
END;
"""


class Table:
    """The table that all share, and the processes that lease from it."""

    def __init__(self, ids):
        self.where, self.lives = place(), []
        self.path = self.where.unsynced("workers.db")
        with self.open() as db:
            # As the example makes it: its own statement does nothing then.
            db.executescript("CREATE TABLE worker (id INTEGER PRIMARY KEY, holder TEXT, until_ms INTEGER);" + ACCOUNT)
        self.add(*ids)

    def open(self, timeout=5):
        return contextlib.closing(sqlite3.connect(self.path, isolation_level=None, timeout=timeout))

    def add(self, *ids):
        """Widens the pool."""
        with self.open() as db:
            db.executemany("INSERT INTO worker VALUES (?, NULL, 0)", [(id,) for id in ids])

    @contextlib.contextmanager
    def locked(self):
        """No other process reads or writes it meanwhile."""
        with self.open() as db:
            db.execute("BEGIN EXCLUSIVE")
            yield
            db.execute("ROLLBACK")

    def is_locked(self):
        with self.open(timeout=0) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        return False

    def start(self, env=None, host=None, **more):
        self.lives.append(Life(self.where, env, host, more))
        return self.lives[-1]

    def account(self):
        with self.open() as db:
            return db.execute("SELECT id, was, holder, before_ms, until_ms FROM account ORDER BY number").fetchall()

    def spans(self):
        """What was given to each holder: worker id, begin and end. A holder gives back once at most, and what is given
        lies above all that was given before."""
        spans, ends, released = {}, {}, collections.Counter()
        for id, was, holder, before_ms, until_ms in self.account():
            if holder is None:
                released[was] += 1
                assert released[was] == 1, f"{was} gave worker id {id} back {released[was]} times"
                assert until_ms <= before_ms, f"{was} gave worker id {id} back with {until_ms}, after {before_ms}"
                spans[was] = (id, spans[was][1], until_ms)
            elif holder == was:
                spans[was] = (id, spans[was][1], until_ms)
            else:
                assert holder not in spans, f"{holder} claimed twice"
                assert before_ms >= ends.get(id, 0), f"worker id {id} was given from {before_ms}, below {ends[id]}"
                spans[holder] = (id, before_ms, until_ms)
            ends[id] = until_ms
        return spans, released

    def end(self):
        """Ends all that still runs, and judges what all made."""
        for life in self.lives:
            life.close()
        return self.judge()

    def judge(self):
        spans, _ = self.spans()
        ids = {path: read_ids(path) for path in sorted(self.where.dir.glob("ids-*"))}
        assert_distinct(ids.values())
        for path, made in ids.items():
            given = collections.defaultdict(list)
            for line in read_notes(path.with_name(path.name.replace("ids-", "notes-", 1))):
                if line["what"] == "claim" and line["instance"] in spans:
                    id, *span = spans[line["instance"]]
                    given[id].append(span)
            outside(path.name, made, given)
        count = sum(map(len, ids.values()))
        assert count > 100, f"only {count} ids were made"
        return count


def outside(who, ids, given):
    for an_id in ids:
        worker, moment = an_id >> 12 & 1023, (an_id >> 22) + EPOCH_MS
        for from_ms, until_ms in given.get(worker, ()):
            if from_ms <= moment < until_ms:
                break
        else:
            raise AssertionError(
                f"{who}: {an_id} was made by worker id {worker} for {moment}, outside of the spans {given.get(worker)}"
            )


def read_notes(path):
    """What a process was asked and got. A line that it is just writing is left out."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


class Life(Maker):
    """One of a table: leases_subject.py."""

    def __init__(self, where, env, host, more):
        name, self.where = f"life{next(SPAWNED)}", where
        words = {"life": name, "host": host or f"{where.name}-{name}", "table": where.unsynced("workers.db"), **more}
        command = [PYTHON, HERE / "leases_subject.py", where.dir, *(f"{key}={value}" for key, value in words.items())]
        super().__init__(name, command, env, where.dir / f"stderr-{name}")

    def notes(self, *kinds):
        lines = read_notes(self.where.dir / f"notes-{self.name}.{self.pid}")
        return [line for line in lines if not kinds or line["what"] in kinds]

    def ids(self):
        return read_ids(self.where.dir / f"ids-{self.name}.{self.pid}")


def codes(notes):
    return {line["code"] for line in notes}


def true_ms(line):
    """When a note was made, by the clock of this process."""
    return line["at_ms"] + now_ms() - time.monotonic_ns() // 1_000_000


@test("leases: 12 processes on a pool of 8, kills and closes for 8 s: four wait, all get in, no duplicate")
def _():
    table = Table(range(8))
    # The disk may answer later than a call usually waits.
    given = {"lease_ms": 1_500, "timeout_ms": 20_000}
    alive = [table.start(**given) for _ in range(12)]

    def inside():
        return [life for life in alive if life.is_in()]

    wait_for(lambda: len(inside()) == 8, "eight processes to come in")
    outer = [life for life in alive if not life.is_in()]
    wait_for(lambda: all(life.notes("refused") for life in outer), "the other four to be refused")
    end = time.monotonic() + 8
    while time.monotonic() < end:
        time.sleep(random.uniform(0.05, 0.25))
        working = inside()
        if len(working) < 3:
            continue
        victim = random.choice(working)
        alive.remove(victim)
        random.choice((victim.kill, victim.kill, victim.close))()
        alive.append(table.start(**given))
    for life in outer:
        wait_for(life.is_in, f"{life.name}, which was refused, to come in")
    count = table.end()
    refusals = [line for life in table.lives for line in life.notes("refused")]
    # A claim that the disk kept waiting is for nothing, or too late.
    assert "worker_in_use" in codes(refusals) <= {"worker_in_use", "worker_lost", "state_io"}, codes(refusals)
    came_in = [life for life in table.lives if life.is_in()]
    assert {worker for life in came_in for worker in life.workers()} == set(range(8))
    return f"{count} ids, {len(came_in)} of {len(table.lives)} lives came in, {len(refusals)} refusals"


@test("leases: stopped for longer than its lease while another takes its id, then continued")
def _():
    table = Table([0])
    # Of 6 s, so that no process loses one to a machine that is busy.
    given = {"pause_us": 50, "lease_ms": 6_000}
    sleeper = table.start(**given)
    sleeper.await_in()
    for turn in range(3):
        # While it makes ids, somewhere in a renewal's cycle; but not with the table's lock in its hands.
        time.sleep(random.uniform(0.3, 1.8))
        while True:
            time.sleep(random.uniform(0, 0.01))
            with stopped(sleeper.pid):
                if table.is_locked():
                    continue
                taker = table.start(**given)
                taker.await_in()
                taker.await_ids()
                table.add(turn + 1)
                break
        wait_for(lambda: turn + 1 in sleeper.workers(), f"worker id {turn + 1} to be used by the one continued")
        assert taker.workers() == [turn], taker.workers()
    assert sleeper.workers() == [0, 1, 2, 3], sleeper.workers()
    assert len(sleeper.notes("claim")) >= 4
    return f"{table.end()} ids, {len(sleeper.notes('error'))} errors on the way"


@test("leases: a clock 10 s ahead, and its table cannot be reached for longer than the lease")
def _():
    table = Table([0, 1])
    fast = table.start(env=faketime(FAKETIME=offset(10)), switch="partition")
    true = table.start()
    for life in (fast, true):
        life.await_in()
    time.sleep(1.5)
    ahead = (fast.ids()[-1] >> 22) + EPOCH_MS - now_ms()
    assert 8_000 < ahead < 12_000, f"its ids are {ahead} ms ahead: the clock is not false"
    table.where.write("partition", "fail")
    # Its lease ends, and then a call waits for timeout_ms.
    wait_for(lambda: "worker_lost" in codes(fast.notes("error")), "worker_lost")
    before = len(fast.ids())
    # Whoever is at the table continues, closes and comes back meanwhile.
    true.await_ids()
    true.close()
    again = table.start()
    again.await_in()
    again.await_ids()
    time.sleep(0.5)
    assert len(fast.ids()) == before, "ids were made without a lease"
    table.where.write("partition", "")
    fast.await_ids()
    assert codes(fast.notes("error")) == {"worker_lost"}, fast.notes("error")
    assert len(fast.notes("claim")) >= 2
    time.sleep(0.8)
    return f"{table.end()} ids"


@test("leases: a clock that goes back 4 s and leaps ten years during a lease: ids go on, no wild wish")
def _():
    table = Table([0])
    clock = table.where.write("clock", "+0")
    # A renewal is due each 5 s, and has as long to be answered.
    life = table.start(env=faketime(FAKETIME_TIMESTAMP_FILE=str(clock)), lease_ms=10_000)
    life.await_in()
    moments = []
    for reading in ("+0", "-4", "+0", f"+{YEARS}", "+0"):
        table.where.write("clock", reading)
        before = len(life.notes("renew"))

        def renewed():
            life.await_ids()
            moments.append((life.ids()[-1] >> 22) + EPOCH_MS - now_ms())
            return len(life.notes("renew")) > before

        wait_for(renewed, "a renewal")
    assert -9_000 < min(moments) and max(moments) < 9_000, f"ids from {min(moments)} to {max(moments)} ms from now"
    table.end()
    wishes = [line["wish_ms"] - true_ms(line) for line in life.notes("renew")]
    assert min(wishes) > -10_000 and max(wishes) < 30_000, wishes
    assert not life.notes("error") and len(life.notes("claim")) == 1, life.notes("error", "claim")
    return f"{len(wishes)} renewals, wished for {min(wishes)} to {max(wishes)} ms from now"


@test("leases: forks three deep while renewals run, each child leases its own, all end normally")
def _():
    table = Table(range(64))
    roots = [table.start(lease_ms=600, forks=3) for _ in range(2)]
    for root in roots:
        wait_for(lambda: root.notes("descended"), "the end of all children")
    count = table.end()
    spans, released = table.spans()
    notes = {int(path.name.rpartition(".")[2]): read_notes(path) for path in table.where.dir.glob("notes-*")}
    assert len(notes) == 2 * (1 + 2 + 4 + 8), f"{len(notes)} processes"

    def of(pid, what):
        return [line for line in notes[pid] if line["what"] == what]

    for pid in notes:
        assert of(pid, "done"), f"{pid} did not end normally: {notes[pid]}"
        assert codes(of(pid, "error")) <= {"worker_lost", "worker_in_use"}, of(pid, "error")
        assert not [line for line in of(pid, "child") if line["status"]], of(pid, "child")
        claimed = [line["instance"] for line in of(pid, "claim")]
        assert {line["instance"] for line in of(pid, "release")} <= set(claimed), f"{pid} gave back what is another's"
        first = of(pid, "claim")[0]["previous"]
        parent = [line["parent"] for line in of(pid, "born")]
        if parent:
            held = {spans[line["instance"]][0] for line in of(parent[0], "claim") if line["instance"] in spans}
            assert first in held, f"{pid} claimed with previous={first}, its parent {parent[0]} had {held}"
        else:
            assert first is None, first
    # Those that ended normally with a lease in hand.
    assert sum(released.values()) >= len(notes) * 2 // 3, f"{len(released)} of {len(spans)} leases were given back"
    return f"{count} ids of {len(notes)} processes, {len(spans)} leases, {len(released)} given back"


def lock_bridged():
    table = Table([0])
    # A renewal is due after 10 s, and has as long to be answered.
    life = table.start(lease_ms=20_000)
    life.await_in()
    with table.locked():
        wait_for(lambda: life.notes("renew"), "a renewal while the table is locked")
        time.sleep(1)
        life.await_ids()
    wait_for(lambda: any(was == holder for _, was, holder, *_ in table.account()), "the renewal")
    life.await_ids()
    table.end()
    assert not life.notes("error") and len(life.notes("claim")) == 1, life.notes("error")


def lock_outlasts():
    table = Table([0])
    life = table.start(lease_ms=1000)
    life.await_in()
    time.sleep(1.5)
    with table.locked():
        # Its lease ends, and then a call waits for timeout_ms.
        wait_for(lambda: "worker_lost" in codes(life.notes("error")), "worker_lost")
        before = len(life.ids())
        time.sleep(1)
        assert len(life.ids()) == before, "ids were made without a lease"
    begun = time.monotonic()
    life.await_ids()
    took = time.monotonic() - begun
    time.sleep(1)
    table.end()
    assert codes(life.notes("error")) == {"worker_lost"}, codes(life.notes("error"))
    return took


@test("leases: a table locked during a renewal is bridged; for longer than the lease, lost and recovered")
def _():
    with ThreadPoolExecutor(2) as pool:
        bridged, lost = pool.submit(lock_bridged), pool.submit(lock_outlasts)
        bridged.result()
        return f"recovered {lost.result() * 1000:.0f} ms after the lock was gone"


@test("leases: one id, its holder killed and started again: refused until the span has passed, then in")
def _():
    table = Table([0])
    took = []
    # On the same host, and on another one.
    for host in (f"{table.where.name}-a", f"{table.where.name}-a", f"{table.where.name}-b"):
        # Longer than a start takes.
        life = table.start(lease_ms=8_000, host=host)
        life.await_in()
        if took:
            refused, entered = life.notes("refused"), life.notes("in")[0]
            assert refused and codes(refused) == {"worker_in_use"}, refused
            # The claim that it came in by was made before it was in, and the one before that before the end.
            claims = [line for line in life.notes("claim") if line["at_ms"] <= entered["at_ms"]]
            assert true_ms(claims[-1]) >= until_ms - 5, f"in {until_ms - true_ms(claims[-1])} ms before the span passed"
        life.await_ids()
        time.sleep(random.uniform(0.2, 1.2))
        life.kill()
        until_ms = table.account()[-1][-1]
        took.append(until_ms - now_ms())
    return f"{table.end()} ids; killed {took} ms before the spans ended"


@test("leases: a lease source that gives a span twice is found out, so the judge judges")
def _():
    table = Table([0])
    table.where.write("switch", "lie")
    for life in [table.start(pause_us=200) for _ in range(3)]:
        life.await_in()
    time.sleep(0.7)
    found = []
    for judged in (table.end, lambda: outside("a life", table.lives[0].ids(), {0: [(0, 1)]})):
        try:
            judged()
        except AssertionError as error:
            found.append(str(error))
    assert len(found) == 2 and "issued twice" in found[0] and "outside" in found[1], found
