"""The objects of docs/RECIPES.md that lease worker ids, as several processes of two languages use them at once."""

import os
import subprocess
import sys
import time

import pytest
from databases import Missing, PostgreSQL, need
from etcd import Cluster
from proxy import Proxy
from redis_server import Redis
from takers import PATIENCE, PROJECT, Takers, broken, hammer, wait_for_duplicates
from zookeeper import ZooKeeper

# What is free is read without a lock, the end of a span is not stored, or a write compares nothing.
BREAKS = {
    "postgresql_workers.py": [(" FOR UPDATE SKIP LOCKED", "")],
    "postgresql_workers.mjs": [(" FOR UPDATE SKIP LOCKED", "")],
    "redis_claim.lua": [("redis.call('ZADD', KEYS[1], ARGV[2], free[1])", "")],
    "etcd_workers.py": [('"compare": [unchanged]', '"compare": []')],
    "etcd_workers.mjs": [("compare: [unchanged]", "compare: []")],
    "zookeeper_workers.py": [("until_ms]).encode(), version)", "until_ms]).encode())")],
    "zookeeper_workers.mjs": [("JSON.stringify([holder, endMs]), version)", "JSON.stringify([holder, endMs]), -1)")],
}
RECIPES = {
    "postgresql": ["postgresql_workers.py", "postgresql_workers.mjs"],
    "redis": ["redis_workers.py", "redis_workers.mjs"],
    "etcd": ["etcd_workers.py", "etcd_workers.mjs"],
    "zookeeper": ["zookeeper_workers.py", "zookeeper_workers.mjs"],
}


class Proxied:
    """A server that has no command to cut connections: its clients come through a proxy."""

    def __init__(self, server):
        self.server, self.proxy = server, Proxy(server.port)
        self.address = f"127.0.0.1:{self.proxy.own_port}"
        self.start, self.kill, self.cut = server.start, server.kill, self.proxy.cut

    def remove(self):
        self.proxy.close()
        self.server.remove()


class FailOver(Proxied):
    """Three nodes of etcd, of which the leader is killed: the clients go on with another one."""

    def __init__(self):
        self.cluster = Cluster(3)
        super().__init__(self.cluster.nodes[0])
        self.kill, self.start, self.killed = self.kill_the_leader, self.start_again, None

    def kill_the_leader(self):
        nodes = self.cluster.nodes
        states = [node.ask("/v3/maintenance/status", {}) for node in nodes]
        leader = [state["header"]["member_id"] for state in states].index(states[0]["leader"])
        self.killed, other = nodes[leader], nodes[leader - 1]
        self.killed.kill()
        self.proxy.port = other.port
        deadline = time.monotonic() + PATIENCE
        while other.ask("/v3/maintenance/status", {}).get("leader", "0") in ("0", states[0]["leader"]):
            assert time.monotonic() < deadline, "no other leader"
            time.sleep(0.1)

    def start_again(self):
        self.killed.start()

    def remove(self):
        self.proxy.close()
        self.cluster.remove()


def opened(kind):
    if kind == "redis":
        store = Redis(PROJECT / "redis.conf")
        store.ask(*(PROJECT / "redis_workers.txt").read_text().split())
        return store, {"REDIS_URL": store.url}
    if kind == "etcd":
        need("etcdctl", "etcd-client")
        store = FailOver()
        environment = {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": store.address}
        subprocess.run(["sh", PROJECT / "etcd_workers.sh"], env=environment, check=True, timeout=60)
        return store, {"ETCD_URL": f"http://{store.address}"}
    if kind == "zookeeper":
        store = Proxied(ZooKeeper())
        environment = {"ZOOKEEPER_HOSTS": store.address}
        create = [sys.executable, "-c", "import zookeeper_workers; zookeeper_workers.create(range(8))"]
        subprocess.run(create, cwd=PROJECT, env={**os.environ, **environment}, check=True, timeout=60)
        return store, environment
    store = PostgreSQL()
    store.sql((PROJECT / "postgresql_workers.sql").read_text())
    return store, {"POSTGRES_URL": store.url}


@pytest.fixture(params=RECIPES)
def store(request):
    try:
        store, environment = opened(request.param)
    except Missing as missing:
        pytest.skip(str(missing))
    yield store, environment, RECIPES[request.param]
    store.remove()


@pytest.mark.timeout(300)
def test_no_span_overlaps(store):
    store, environment, recipes = store
    with Takers("take_leases", [PROJECT / recipe for recipe in recipes], environment) as takers:
        hammer(takers, store, 10_000)


@pytest.mark.timeout(300)
def test_a_recipe_that_claims_without_a_lock_is_noticed(store):
    store, environment, recipes = store
    for recipe in recipes:
        broken(recipe)
        # The scripts last: each copy brings the ones of the page.
        for name in sorted(BREAKS, key=lambda name: name.endswith(".lua")):
            folder = broken(name, *BREAKS[name]).parent
        with Takers("take_leases", [folder / recipe] * 2, environment) as takers:
            assert wait_for_duplicates(takers, 40), recipe
