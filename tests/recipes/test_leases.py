"""The objects of docs/RECIPES.md that lease worker ids, as several processes of two languages use them at once."""

import os
import subprocess
import sys

import pytest
from databases import PgBouncer, PostgreSQL, need
from fail_over import FailOver, Proxied
from takers import PROJECT, Takers, broken, hammer, open_redis, wait_for_duplicates
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
pytestmark = pytest.mark.timeout(300)
RECIPES = {
    "postgresql": ["postgresql_workers.py", "postgresql_workers.mjs"],
    "pgbouncer": ["postgresql_workers.py", "postgresql_workers.mjs"],
    "redis": ["redis_workers.py", "redis_workers.mjs"],
    "etcd": ["etcd_workers.py", "etcd_workers.mjs"],
    "zookeeper": ["zookeeper_workers.py", "zookeeper_workers.mjs"],
}


def opened(kind):
    if kind == "redis":
        return open_redis("redis_workers.txt")
    if kind == "etcd":
        need("etcdctl", "etcd-client")
        store = FailOver()
        environment = {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": store.address}
        subprocess.run(["sh", PROJECT / "etcd_workers.sh"], env=environment, check=True)
        return store, {"ETCD_URL": f"http://{store.address}"}
    if kind == "zookeeper":
        store = Proxied(ZooKeeper())
        environment = {"ZOOKEEPER_HOSTS": store.address}
        create = [sys.executable, "-c", "import zookeeper_workers; zookeeper_workers.create(range(8))"]
        subprocess.run(create, cwd=PROJECT, env={**os.environ, **environment}, check=True)
        return store, environment
    store = PostgreSQL()
    store.sql((PROJECT / "postgresql_workers.sql").read_text())
    if kind == "pgbouncer":
        store = PgBouncer(store, owns=True)
    return store, {"POSTGRES_URL": store.url}


def test_no_span_overlaps(store):
    hammer("take_leases", store, 10_000)


def test_a_recipe_that_claims_without_a_lock_is_noticed(store, folder):
    store, environment, recipes = store
    # Many claims, and spans in which two that have one worker id make the same ids.
    environment["TAKE_ROUNDS"] = "20"
    for recipe in recipes:
        broken(folder, recipe)
        # The scripts last: each copy brings the ones of the page.
        for name in sorted(BREAKS, key=lambda name: name.endswith(".lua")):
            broken(folder, name, *BREAKS[name])
        with Takers("take_leases", [folder / recipe] * 2, environment) as takers:
            wait_for_duplicates(takers)
