"""Clients of a Leaf: two nodes on one database, which give their ids in turns, and one of them dies. All ids are the
nodes' own, and none comes twice, whoever else asks for them."""

import contextlib
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

from balancer import Balancer
from harness import NEVER_S, assert_distinct, place, test, wait_for
from servers import FakeServer, IdServer, Plain
from subjects import MIXED, Stream, Tags, words

IDS = 8_000


class Nodes:
    """Of one Leaf: leafid-server does as it did."""

    def __init__(self):
        self.where = place()
        store = self.where.unsynced("leaf.db")
        self.all = [IdServer(store) for _ in range(2)]
        with contextlib.closing(sqlite3.connect(store)) as db, db:
            db.execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 200)")

    def gave(self):
        """How many ids each of them gave."""
        return [node.metric("tag_ids_total", tag="order") for node in self.all]

    def assert_own(self, streams):
        """Below the counter, and none twice."""
        with contextlib.closing(sqlite3.connect(self.all[0].store, timeout=NEVER_S)) as db:
            (end,) = db.execute("SELECT max_id FROM leaf_alloc").fetchone()
        assert_distinct(streams)
        strange = [an_id for stream in streams for an_id in stream if not 0 < an_id < end]
        assert not strange, f"given by no node: {strange[:5]}"


def urls(nodes, first=0):
    """As a client names them that prefers this one."""
    return ",".join(node.url for node in nodes[first:] + nodes[:first])


@test("leaf: 8,000 ids for each language from two nodes, beside plain clients, none twice")
def _():
    nodes = Nodes()
    streams, begun = {}, time.monotonic()
    for nth, language in enumerate(MIXED):
        options = {"servers": urls(nodes.all, nth % 2), "request_timeout_ms": 60_000}
        more = {"protocol": "leaf", "count": IDS, "then": "close", "method": "take" if nth % 2 else "next"}
        # Two of them share a state directory.
        streams[language] = Stream(language, words(nodes.where, state=f"state-{nth // 2}", **options, **more))
    plain = [Plain(node.port, pause=0.002) for node in nodes.all]
    ids = {language: stream.end() for language, stream in streams.items()}
    took = time.monotonic() - begun
    ids |= {f"plain-{nth}": client.stop() for nth, client in enumerate(plain)}
    for language, stream in streams.items():
        assert stream.process.returncode == 0, f"{language} ended with {stream.process.returncode}: {stream.errors}"
        assert len(ids[language]) == IDS + 1, f"{language} has {len(ids[language])} ids"
    nodes.assert_own(ids.values())
    # What each node gave to leafid. How much depends on the machine: a node that is late is left for a while.
    shares = [gave - len(ids[f"plain-{nth}"]) for nth, gave in enumerate(nodes.gave())]
    assert min(shares) > 0, f"the nodes gave {shares}"
    assert ids["plain-0"] and ids["plain-1"], "the plain clients had no ids"
    return f"{sum(map(len, ids.values()))} ids in {took:.0f} s, {shares} by node"


@test("leaf: a node behind a balancer is killed and restarted: no pause to speak of, no id twice")
def _():
    nodes = Nodes()
    balancer = Balancer([node.port for node in nodes.all])
    # Who pauses for as long as a call may wait makes no ids for ever.
    options = {"servers": balancer.url, "protocol": "leaf", "adaptive": "no", "step": 50, "timeout_ms": 600_000}
    more = {"batch": 20, "pause_us": 20_000, "method": "take"}
    streams = [Stream(language, words(nodes.where, state=language, **options, **more)) for language in MIXED]
    plain = Plain(balancer.port, pause=0.005)
    for stream in streams:
        stream.ready()
    time.sleep(1.0)
    had = [len(stream.bytes) for stream in streams]
    nodes.all[1].kill()
    time.sleep(1.2)
    # More than is in stock.
    for before, stream in zip(had, streams):
        wait_for(lambda: len(stream.bytes) - before > 8 * 200, "ids while one node was dead")
    nodes.all[1].start()
    wait_for(lambda: min(nodes.gave()), "ids of the one that was restarted")
    ids = [stream.kill() for stream in streams] + [plain.stop()]
    wrong = [stream.errors for stream in streams if "error" in stream.errors or "panicked" in stream.errors]
    assert not wrong, wrong[0]
    nodes.assert_own(ids)
    return f"{sum(map(len, ids))} ids"


@test("leaf: servers of 50 ms and a stock that is there: next() does not wait for them")
def _():
    nodes, where = [FakeServer(), FakeServer(first=1_000_000_001)], place()
    for node in nodes:
        node.fault({"delay_ms": 50})
    options = {"protocol": "leaf", "step": 40, "adaptive": "no"}

    def one(language):
        subject, count = Tags(language).open("a", *words(where, state=language, servers=urls(nodes), **options)), 1
        subject.next()
        # What is in stock is used while more is asked for, and that is waited for between: however slow the machine is.
        for _ in range(8):
            wait_for(lambda: subject.stats()["left"] >= 30, "a stock of 30")
            before = subject.stats()
            count += len(subject.next(count=before["left"] - 5))
            after = subject.stats()
            assert after["waits"] == before["waits"], f"{language}: {after['waits'] - before['waits']} calls waited"
        subject.quit()
        return f"{language} {count} ids"

    with ThreadPoolExecutor(len(MIXED)) as pool:
        return ", ".join(pool.map(one, MIXED))


@test("leaf: four processes of one state directory use nearly all that they are given, and none waits long")
def _():
    nodes, count, step = Nodes(), 4_000, 250
    options = {"servers": urls(nodes.all), "protocol": "leaf", "step": step, "adaptive": "no", "request_timeout_ms": 60_000}
    more = {"count": count, "then": "close", "method": "take", "batch": 20}
    streams = [Stream("rust", words(nodes.where, **options, **more)) for _ in range(4)]
    ids = [stream.end() for stream in streams]
    assert_distinct(ids)
    assert [len(of) for of in ids] == [count + 1] * 4, [stream.errors for stream in streams]
    gave = sum(nodes.gave())
    # What is in stock at the end is lost.
    used = 4 * (count + 1)
    assert gave <= used * 1.02 + 4 * step, f"{gave} ids were given for {used}: the others were refused"
    return f"{gave} given for {used}"
