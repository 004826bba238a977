"""Ids of an unmodified Leaf, of two nodes. What a server gets wrong, tests/system/leaf_answers.py has."""

import array
import asyncio
import http.client
import itertools
import threading

import pytest

import leafid


class Nodes:
    """Two nodes of one Leaf."""

    def __init__(self, fake_server):
        firsts = {1: 1, 2: 1_000_000_001}
        self.nodes = [fake_server("--leaf-worker-id", str(id), "--first", str(first)) for id, first in firsts.items()]
        self.urls = [node.url for node in self.nodes]

    def do(self, action, **words):
        return [node.do(action, **words) for node in self.nodes]

    def given(self, tag, mode="segment"):
        """Every id that either gave, each once."""
        runs = [run for said in self.do("given", tag=tag, mode=mode) for run in said["given"]]
        ids = [id for start, end, stride in runs for id in range(int(start), int(end), stride)]
        assert len(ids) == len(set(ids)), "the nodes gave an id twice"
        return set(ids)


@pytest.fixture
def leaf(fake_server):
    return Nodes(fake_server)


@pytest.fixture
def from_leaf(space, leaf):
    """Opens segments of the Leaf, which remember nothing."""
    opened, patient = [], dict.fromkeys(("timeout_ms", "request_timeout_ms", "connect_timeout_ms"), 60_000)

    def from_leaf(servers=None, **more):
        name = f"{space['name']}-{len(opened)}"
        opened.append(leafid.Segments(servers or leaf.urls, name=name, persist=False, **patient | more))
        return opened[-1]

    yield from_leaf
    for ids in opened:
        ids.close()


def plain_ids(node, tag, n, into):
    """As a client that knows Leaf and nothing else."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
    for _ in range(n):
        connection.request("GET", f"/api/segment/get/{tag}")
        into.append(int(connection.getresponse().read()))
    connection.close()


async def awaited(tag, into):
    into.extend(await asyncio.gather(*[tag.next_async() for _ in range(200)]))
    for _ in range(100):
        into.append(await tag.next_async())
    into.extend(await tag.take_async(300))


WAYS = {
    "next": lambda tag, into: into.extend([tag.next() for _ in range(500)]),
    "take": lambda tag, into: into.extend(tag.take(500)),
    "fill": lambda tag, into: into.extend(tag.fill(array.array("q", bytes(8 * 500)))),
    "iteration": lambda tag, into: into.extend(itertools.islice(tag, 500)),
    "async": lambda tag, into: asyncio.run(awaited(tag, into)),
}


def test_every_id_is_the_servers_own_and_none_comes_twice(leaf, from_leaf):
    # The second as another process would, and by the other node first.
    tags = [from_leaf(urls).tag("order") for urls in (leaf.urls, leaf.urls[::-1])]
    ours, theirs = [], []
    jobs = [(way, (tag, ours)) for way in WAYS.values() for tag in tags]
    jobs += [(plain_ids, (node, "order", 300, theirs)) for node in leaf.nodes]
    threads = [threading.Thread(target=way, args=arguments) for way, arguments in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ours), len(theirs)) == (2 * 2600, 2 * 300)
    assert len({*ours, *theirs}) == len(ours) + len(theirs)
    assert {*ours, *theirs} <= leaf.given("order") and min(ours) > 0
    for tag in tags:
        stats = tag.stats()
        assert stats.failures == 0 and stats.last_error is None, stats


def test_a_forked_child_fetches_its_own(leaf, run):
    """And nothing is said of threads at a fork, which Python 3.12 and later would."""
    out = run(
        """
order = leafid.Segments(space.pop("urls"), **space).tag("order")
ids = order.take(300)
for _ in range(3):
    ids += forked(lambda: order.take(200)) + order.take(300)
say(len(ids), len(set(ids)))
""",
        urls=leaf.urls,
    )
    assert out == "1800 1800\n"


def test_the_stats_tell_what_each_server_failed_with(leaf, from_leaf):
    ids = from_leaf()
    assert ids.stats().servers == dict.fromkeys(leaf.urls)
    leaf.nodes[0].do("fault", fault={"status": 503, "body": ""})
    assert ids.tag("order").next() > 0
    first, second = ids.stats().servers.items()
    assert first[0] == leaf.urls[0] and "answered 503" in first[1]
    assert second == (leaf.urls[1], None)
