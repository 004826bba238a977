"""Clients of an existing Leaf: two nodes on one database, which give their ids in turns, and one of them dies. All ids
are the nodes' own, and nobody has one twice, whoever else asks for them."""

import contextlib
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

from balancer import Balancer
from harness import Machine, assert_distinct, place, test
from servers import Plain, FakeServer
from subjects import LANGUAGES, Stream, Tags, words

IDS = 100_000


class Nodes:
    """Of one Leaf."""

    def __init__(self, count=2, **more):
        self.where = place()
        self.database = self.where.dir / "leaf.db"
        self.all = [FakeServer(database=self.database, **more) for _ in range(count)]

    def urls(self, first=0):
        """As a client names them that prefers this one."""
        order = self.all[first:] + self.all[:first]
        return ",".join(node.url for node in order)

    def gave(self, tag="order"):
        return [run for node in self.all for run in node.gave(tag)]

    def counter(self, tag="order"):
        """The first id that was not given to a node yet."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=10)) as db:
            return db.execute("SELECT next FROM tags WHERE tag = ?", [tag]).fetchone()[0]

    def restart(self, nth):
        self.all[nth] = FakeServer(self.all[nth].port, database=self.database)


def stray(ids, runs):
    """Those of the ids that stand in none of the runs."""
    given = {an_id for run in runs for an_id in run}
    return [an_id for an_id in ids if an_id not in given]


@test("leaf: 100,000 ids for each of four languages from two nodes, beside plain clients, none twice", bound=150)
def _():
    nodes = Nodes()
    streams, begun = {}, time.monotonic()
    for nth, language in enumerate(LANGUAGES):
        options = {"servers": nodes.urls(nth % 2), "protocol": "leaf", "timeout_ms": 20_000, "request_timeout_ms": 5_000}
        more = {"count": IDS, "then": "close", "method": "take" if nth % 2 else "next"}
        # Two of them share a state directory.
        streams[language] = Stream(language, words(nodes.where, state=f"state-{nth // 2}", **options, **more))
    plain = [Plain(node.port, pause=0.002) for node in nodes.all]
    ids = {language: stream.end() for language, stream in streams.items()}
    took = time.monotonic() - begun
    ids |= {f"plain-{nth}": client.stop() for nth, client in enumerate(plain)}
    for language, stream in streams.items():
        assert stream.process.returncode == 0, f"{language} ended with {stream.process.returncode}: {stream.errors}"
        assert len(ids[language]) == IDS + 1, f"{language} has {len(ids[language])} ids"
    assert_distinct(ids.values())
    every = [an_id for of in ids.values() for an_id in of]
    assert 0 not in every and not (own := stray(every, nodes.gave())), f"given by no node: {own[:5]}"
    shares = [sum(len(run) for run in node.gave()) for node in nodes.all]
    assert min(shares) > IDS, f"the nodes gave {shares}"
    assert len(ids["plain-0"]) + len(ids["plain-1"]) > 500, "the plain clients had no ids"
    repeated = [node.report()["nonces_repeated"] for node in nodes.all]
    assert repeated == [0, 0], f"nonces were sent twice: {repeated}"
    return f"{len(every)} ids in {took:.0f} s, {shares} by node"


@test("leaf: a node behind a balancer is killed and restarted: no pause to speak of, no id twice", bound=60)
def _():
    nodes = Nodes()
    balancer = Balancer([node.port for node in nodes.all])
    options = {"servers": balancer.url, "protocol": "leaf", "timeout_ms": 8_000, "adaptive": "no", "step": 200}
    more = {"batch": 20, "pause_us": 20_000, "method": "take"}
    streams = [Stream(language, words(nodes.where, state=language, **options, **more)) for language in LANGUAGES]
    plain = Plain(balancer.port, pause=0.005)
    for stream in streams:
        stream.ready()
    time.sleep(1.0)
    had = [len(stream.bytes) for stream in streams]
    lost = nodes.all[1].gave()
    nodes.all[1].kill()
    time.sleep(1.2)
    between = [len(stream.bytes) for stream in streams]
    nodes.restart(1)
    time.sleep(1.2)
    ids = [stream.kill() for stream in streams] + [plain.stop()]
    wrong = [stream.errors for stream in streams if "error" in stream.errors or "panicked" in stream.errors]
    assert not wrong, wrong[0]
    assert_distinct(ids)
    made = [now - before for before, now in zip(had, between)]
    assert min(made) > 8 * 200, f"bytes of ids while one node was dead: {made}"
    assert nodes.all[1].gave(), "the one that was restarted gave nothing"
    # What the killed one gave last is known to nobody: it lies below the counter, and is none of the others'.
    unknown = stray([an_id for of in ids for an_id in of], nodes.gave() + lost)
    assert all(0 < an_id < nodes.counter() for an_id in unknown) and len(unknown) < 2_000, unknown[:5]
    return f"{sum(map(len, ids))} ids, {len(unknown)} of them by the killed node after it was last asked"


@test("leaf: servers of 50 ms and a stock that is right for the rate: next() does not wait for them", sleeps=True)
def _():
    nodes = Nodes()
    for node in nodes.all:
        node.fault({"delay_ms": 50})
    options = {"protocol": "leaf", "step": 40, "adaptive": "no", "timeout_ms": 5_000}

    def one(language):
        subject = Tags(language).open("a", *words(nodes.where, state=language, servers=nodes.urls(), **options))
        subject.next()
        end = time.monotonic() + 5
        while (left := subject.stats()["left"]) < 30:
            assert time.monotonic() < end, f"{left} in stock"
            time.sleep(0.02)
        # 40 ids a second; four connections bring 80.
        with Machine(nodes.where.dir) as machine:
            took = [subject.do("run", "a", "order", 250, 25_000).split()[:2] for _ in range(10)]
            bound = machine.bound(15_000)
        subject.quit()
        return language, sum(int(count) for count, _ in took), [int(slowest) for _, slowest in took], bound

    with ThreadPoolExecutor(len(LANGUAGES)) as pool:
        told = list(pool.map(one, LANGUAGES))
    for language, count, slowest, bound in told:
        assert count > 30, f"{language}: {count} ids"
        # The machine itself may be slow once.
        slow = [us for us in slowest if us > bound]
        assert len(slow) <= 1, f"{language}: calls of {slow} us where a server takes 50 ms"
    return ", ".join(f"{language} {count} ids, slowest {max(slowest)} us" for language, count, slowest, _ in told)


@test("leaf: four processes of one state directory use nearly all that they are given, and none waits long", bound=60)
def _():
    nodes, count = Nodes(), 15_000
    options = {"servers": nodes.urls(), "protocol": "leaf", "timeout_ms": 20_000, "adaptive": "no"}
    more = {"count": count, "then": "close", "method": "take", "batch": 20}
    streams = [Stream("rust", words(nodes.where, **options, **more)) for _ in range(4)]
    ids = [stream.end() for stream in streams]
    assert_distinct(ids)
    assert [len(of) for of in ids] == [count + 1] * 4, [stream.errors for stream in streams]
    gave = sum(map(len, nodes.gave()))
    # What is in stock at the end is lost.
    used = 4 * (count + 1)
    assert gave <= used * 1.02 + 4 * 1_000, f"{gave} ids were given for {used}: the others were refused"
    return f"{gave} given for {used}"
