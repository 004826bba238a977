"""Ranges and worker ids on etcd, of one node and of three, while servers and nodes die."""

import pytest
import test_leases
from databases import Missing
from etcd import Cluster
from servers import Server, check_unique, in_threads, until
from test_segments import all_go_on, run_clients

QUICK = ("--store-timeout-ms", "3000")


def opened(size):
    try:
        return Cluster(size)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module", params=[1, 3])
def etcd(request):
    cluster = opened(request.param)
    yield cluster
    cluster.remove()


@pytest.fixture(scope="module")
def three():
    cluster = opened(3)
    yield cluster
    cluster.remove()


def test_servers_that_are_killed_give_nothing_twice(etcd, new_tag):
    tag = new_tag(etcd, 50)
    servers = [Server(etcd.url, *QUICK) for _ in range(3)]

    def kill_each(found):
        for at in range(3):
            all_go_on(found)
            servers[at].kill()
            servers[at] = Server(etcd.url, *QUICK)
        all_go_on(found)

    try:
        check_unique(run_clients(servers, tag, kill_each), 2_000)
    finally:
        for server in servers:
            server.kill()


def test_a_node_that_is_killed_stops_nothing(three, new_tag):
    tag = new_tag(three, 50)
    servers = [Server(three.url, *QUICK) for _ in range(3)]

    def kill_each(found):
        for node in three.nodes:
            node.kill()
            all_go_on(found, 40)
            node.start()
        all_go_on(found)

    try:
        check_unique(run_clients(servers, tag, kill_each), 2_000)
    finally:
        for server in servers:
            server.kill()


def test_without_a_quorum_buffered_ids_go_on_and_ready_says_so(three, new_tag):
    tag = new_tag(three, 1000)
    with Server(three.url, "--timeout-ms", "300", "--store-timeout-ms", "1500") as server:
        client = server.client()
        ids = client.ids(tag)
        for node in three.nodes[:2]:
            node.kill()
        until(lambda: client.get("/ready")[0] == 503, "the server is not ready")
        got = client.ids(tag)
        assert got
        assert client.range(tag, 10) is None
        three.start(three.nodes[:2])
        until(lambda: client.get("/ready")[0] == 200, "the server is ready")
        start, end = client.range(tag, 10)
        check_unique([*ids, *got, *range(start, end)], 12)


def test_servers_never_grant_one_span_twice(etcd, name):
    test_leases.test_two_servers_never_grant_one_span_twice(etcd, name)


def test_a_worker_id_is_claimed_once(etcd, name):
    servers = [Server(etcd.url, *QUICK, "--no-snowflake") for _ in range(3)]
    granted = []

    def claim(at):
        status, lease = servers[at % 3].client().claim(test_leases.instance(), name)
        assert status == 200, lease
        granted.append(lease["worker_id"])

    try:
        in_threads(*[lambda at=at: claim(at) for at in range(12)])
        check_unique(granted, 12)
    finally:
        for server in servers:
            server.kill()
