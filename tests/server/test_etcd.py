"""Ranges and worker ids on etcd, of one node and of three, while servers and nodes die, and the network fails."""

import base64
import json
import shutil
import signal
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import test_clock
import test_leases
import test_monitor
import test_settings
import test_segments
from certificates import Authority
from databases import Missing
from etcd import Cluster, Encrypted, Network
from proxy import Proxy, SlowNetwork
from servers import Server, check, check_unique, in_threads, make_tag, until
from test_clock import clock  # noqa: F401
from test_segments import all_go_on, run_clients

# A node that is cut off answers nothing, and a server takes it for away once a call had its time.
QUICK = ("--store-timeout-ms", "3000", "--timeout-ms", "3000")

# In each write, and in no read; a server announces itself without it.
WRITE = b'"mod_revision"'


def opened(size, hosts=(), tls=None):
    try:
        return Cluster(size, hosts, tls)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def three():
    cluster = opened(3)
    yield cluster
    cluster.remove()


@pytest.fixture(scope="module")
def one():
    cluster = opened(1)
    yield cluster
    cluster.remove()


def test_a_dotted_tag_is_refused_unless_it_is_allowed(one, new_tag):
    tag = new_tag(one)
    dotted = tag + ".order"
    make_tag(one.url, dotted, options=["--allow-dotted-tags"])
    with Server(one.url) as server:
        client = server.client()
        assert client.get(f"/api/segment/get/{dotted}")[0] == 400 and client.ids(tag) == [1]
        until(lambda: f'"{dotted}"' in server.log(), "it says so")


def test_a_store_of_a_newer_server_is_refused_by_all_commands(one, tag):
    node, key = one.nodes[0], f"{urlsplit(one.url).path.strip('/') or 'leafid'}/settings"

    def settings():
        found = node.ask("/v3/kv/range", {"key": encoded(key)})["kvs"][0]["value"]
        return dict(json.loads(base64.b64decode(found)))

    def set_format(value):
        changed = {name: old for name, old in settings().items() if name != "format"}
        if value is not None:
            changed["format"] = str(value)
        node.ask("/v3/kv/put", {"key": encoded(key), "value": encoded(json.dumps(list(changed.items())))})

    test_settings.check_format(one.url, set_format, lambda: [settings()["format"]], tag)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def test_check_is_green_on_a_stock_cluster():
    cluster = opened(1)
    try:
        for _ in range(2):
            code, said = check(cluster.url)
            assert code == 0 and "WRONG" not in said, said
            with Server(cluster.url):
                pass
    finally:
        cluster.remove()


def test_a_store_that_was_empty_is_said_once():
    cluster = opened(1)
    try:
        for is_said in (True, False):
            with Server(cluster.url, "--no-snowflake") as server:
                assert ("had no settings, and new ones were made: if servers gave ids" in server.log()) is is_said
    finally:
        cluster.remove()


def test_a_node_that_is_killed_stops_nothing(three, new_tag):
    tag = new_tag(three, 50)
    servers = [Server(three.url, *QUICK) for _ in range(3)]

    def kill_each(found):
        for node in three.nodes:
            node.kill()
            all_go_on(found)
            node.start()
        all_go_on(found)

    run_clients(servers, tag, kill_each)


def test_without_a_quorum_buffered_ids_go_on_and_ready_says_so(three, new_tag):
    tag = new_tag(three, 1000)
    with Server(three.url, "--timeout-ms", "300", "--store-timeout-ms", "1500") as server:
        client = server.client()
        ids = until(lambda: client.ids(tag), "it has ids")
        for node in three.nodes[:2]:
            node.kill()
        until(lambda: client.get("/ready")[0] == 503, "the server is not ready")
        got = client.ids(tag)
        assert got
        assert client.range(tag, 10) is None
        three.start(three.nodes[:2])
        until(lambda: client.get("/ready")[0] == 200, "the server is ready")
        start, end = until(lambda: client.range(tag, 10), "ranges come again")
        check_unique([*ids, *got, *range(start, end)], 12)


def test_a_node_that_is_cut_off_stops_nothing(new_tag, name):
    """Each node in turn is cut off from the others, the leader included; servers still reach it. Then all are."""
    try:
        network = Network(3)
    except Missing as missing:
        pytest.skip(str(missing))
    cluster = servers = None
    try:
        cluster = opened(3, network.hosts)
        tag = new_tag(cluster, 50)
        servers = [Server(cluster.url, *QUICK, "--no-snowflake") for _ in range(3)]
        granted, ends = [], threading.Event()

        def claim(at):
            clients, one = [server.client() for server in servers], test_leases.instance()
            while not ends.is_set():
                at += 1
                status, lease = clients[at % 3].claim(one, name)
                assert status in (200, 503), lease
                if status == 200:
                    granted.append(lease["worker_id"])
                    one = test_leases.instance()

        def cut(found):
            for node in cluster.nodes:
                node.host.cut()
                all_go_on(found)
                before = len(granted)
                until(lambda before=before: len(granted) > before, "worker ids are claimed")
                node.host.join()
            for node in cluster.nodes:
                node.host.cut()
            client = servers[0].client()
            until(lambda: client.get("/ready")[0] == 503, "the server is not ready")
            for node in cluster.nodes:
                node.host.join()
            all_go_on(found)

        def meanwhile(found):
            def then_end():
                try:
                    cut(found)
                finally:
                    ends.set()

            in_threads(then_end, *[lambda at=at: claim(at) for at in range(2)])

        run_clients(servers, tag, meanwhile)
        check_unique(granted, 10)
    finally:
        for server in servers or ():
            server.kill()
        if cluster:
            cluster.remove()
        network.remove()


def test_writes_whose_answer_is_lost_give_nothing_twice(one, new_tag, name):
    port = one.nodes[0].port
    test_leases.check_lost_commits(one.url, port, Proxy(port, WRITE), new_tag(one, 10), name)


def test_a_counter_of_an_old_copy_is_refused(one, new_tag):
    tag = new_tag(one, 100)
    node = one.nodes[0]
    node.store_copy()
    test_segments.check_rewound(one.url, tag, node.restore, lambda: make_tag(one.url, tag, 100, 2_000_000))


def test_an_old_copy_grants_no_worker_id(one, name):
    node = one.nodes[0]
    test_leases.check_rewound(one.url, name, node.store_copy, lambda _: node.restore())


def test_a_late_write_does_not_meet_its_revision_in_another_history(new_tag):
    """A server has read. Then an old copy is restored, another server's write gets the same revision, and the first
    one's write comes: it would set the counter back."""
    one = opened(1)
    tag = new_tag(one, 10)
    node = one.nodes[0]
    node.store_copy()
    network = SlowNetwork(node.port, WRITE)

    def changed_at():
        key = f"{urlsplit(one.url).path.strip('/') or 'leafid'}/tag/{tag}"
        return int(node.ask("/v3/kv/range", {"key": encoded(key)})["kvs"][0]["mod_revision"])

    def is_announced(server):
        return server.url in [each["url"] for each in test_monitor.state(server.client())["servers"]]

    slow = Server(one.url.replace(str(node.port), str(network.own_port)), "--store-timeout-ms", "60000", "--no-snowflake")
    late = []
    try:
        until(lambda: is_announced(slow), "its own write is over")
        with Server(one.url, "--no-snowflake") as server:
            until(lambda: is_announced(server), "its own write is over")
            assert server.client().range(tag, 10) == (1, 11)
        read_at = changed_at()
        network.holding.set()
        client = slow.client()
        asking = threading.Thread(target=lambda: late.append(client.range(tag, 10)))
        asking.start()
        assert network.held.wait()
        # It announces itself no more meanwhile.
        slow.process.send_signal(signal.SIGSTOP)
        node.restore()
        with Server(one.url, "--no-snowflake") as server:
            until(lambda: is_announced(server), "its own write is over")
            while int(node.revision()) < read_at - 1:
                node.ask("/v3/kv/put", {"key": encoded("another"), "value": ""})
            given = server.client().range(tag, 100)
            assert given == (1, 101) and changed_at() == read_at
        slow.process.send_signal(signal.SIGCONT)
        network.holding.clear()
        network.go.set()
        asking.join()
        assert late == [(101, 111)]
    finally:
        network.go.set()
        slow.kill()
        network.close()
        one.remove()


def test_a_compaction_changes_nothing(one, new_tag):
    tag = new_tag(one, 50)
    node = one.nodes[0]
    servers = [Server(one.url, *QUICK) for _ in range(2)]

    def compact(found):
        for _ in range(10):
            all_go_on(found)
            node.ask("/v3/kv/compaction", {"revision": node.revision(), "physical": True})
            node.ask("/v3/maintenance/defragment", {})
        all_go_on(found)

    run_clients(servers, tag, compact)


def test_servers_whose_clocks_are_apart_never_grant_one_span_twice(one, name):
    """Far more than they may be: a span still begins where the last one ended."""
    options = ("--workers", "0-5", "--lease-ms", "1000", "--clock-threshold-ms", "6000", "--no-snowflake")
    apart = ("-2s", "+2s")
    test_leases.check_holders(
        [Server(one.url, *options, environment=test_leases.clock_off_by(seconds)) for seconds in apart], name
    )


def test_claims_of_a_fleet_that_starts_at_once_are_all_granted(one, name):
    count, granted = 100, []
    moment = threading.Barrier(count)
    servers = [Server(one.url, *test_leases.LONG_LEASE) for _ in range(2)]

    def claim(at):
        client = servers[at % 2].client()
        client.get("/health")
        moment.wait()
        status, lease = client.claim(test_leases.instance(), name)
        assert status == 200, lease
        granted.append(lease["worker_id"])

    try:
        in_threads(*[lambda at=at: claim(at) for at in range(count)])
        assert sorted(granted) == list(range(count))
    finally:
        for server in servers:
            server.kill()


def test_tags_of_the_last_day_have_ids_when_a_server_starts(one, new_tag):
    tag = new_tag(one, 50)
    with Server(one.url, environment={"LEAFID_SERVER_WARM_TAGS": "100000"}) as server:
        until(lambda: "tags that were used within a day" in server.log(), "ids are fetched")
        assert server.client().range(tag, 1) == (51, 52)


def test_names_are_bounded(one, name):
    with Server(f"{one.url}/{name}", *test_leases.LEASE, "--max-names", "1") as server:
        client = server.client()
        assert client.claim(test_leases.instance(), name)[0] == 200
        status, answer = client.claim(test_leases.instance(), f"{name}-other")
        assert (status, answer["error"]) == (409, "worker_in_use"), answer


def test_a_cluster_with_tls_and_a_password(new_tag, name):
    folder = Path(tempfile.mkdtemp(prefix="leafid-authority-"))
    cluster = None
    try:
        authority = Authority(folder, "ours")
        pair = authority.sign("etcd", folder / "cert.pem", folder / "cert-key.pem")
        for path in (folder, *pair):
            path.chmod(0o755)
        cluster = opened(1, tls=Encrypted(pair, authority.trust()))
        node = cluster.nodes[0]
        node.ask("/v3/auth/user/add", {"name": "root", "password": "p@ss:w+rd"})
        node.ask("/v3/auth/user/grant", {"user": "root", "role": "root"})
        node.ask("/v3/auth/enable", {})
        hosts = cluster.url.removeprefix("etcd://")
        url = f"etcd://root:p%40ss:w+rd@{hosts}?ca={authority.certificate}"
        tag = new_tag(type("Store", (), {"url": url}), 10)
        with Server(url, *test_leases.LEASE) as server:
            client = server.client()
            assert client.ids(tag, 25) == list(range(1, 26))
            assert client.claim(test_leases.instance(), name)[0] == 200
            assert "p%40ss" not in server.log() and "p@ss" not in server.log()
        others = Authority(folder, "other").certificate
        for wrong, why in ((f"etcd://{hosts}?ca={authority.certificate}", "user"), (f"etcd://{hosts}?ca={others}", "TLS"),
                           (f"etcd://root:wrong@{hosts}?ca={authority.certificate}", "password")):  # fmt: skip
            with Server(wrong, "--start-timeout-ms", "300", wait=False) as server:
                assert server.process.wait() == 1
                assert why in server.log(), server.log()
    finally:
        if cluster:
            cluster.remove()
        shutil.rmtree(folder)


def test_a_leap_of_a_server_s_clock_is_not_stored(one, clock, name):  # noqa: F811
    test_clock.check_leap(one.url, clock, name, "this host", clock.environment)


def test_a_worker_id_that_a_clock_has_blocked_is_freed_by_hand(one, clock, name):  # noqa: F811
    test_clock.check_freed(one.url, clock, name, clock.environment)
