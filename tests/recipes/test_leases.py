"""leafid.leases and leafid/leases, as several processes of two languages use them at once."""

import pytest
from databases import PgBouncer, PostgreSQL
from fail_over import FailOver, Proxied
from takers import Recipe, Takers, broken, hammer, open_redis, wait_for_duplicates
from zookeeper import ZooKeeper

# What is free is read without a lock, the end of a span is not stored, or a write compares nothing.
BREAKS = {
    ("py", "leases.postgres"): [(" FOR UPDATE SKIP LOCKED", "")],
    ("mjs", "leases.postgres"): [(" FOR UPDATE SKIP LOCKED", "")],
    ("py", "leases.redis"): [("redis.call('ZADD', KEYS[1], free[3], free[1])", "")],
    ("mjs", "leases.redis"): [("redis.call('ZADD', KEYS[1], free[3], free[1])", "")],
    ("py", "leases.etcd"): [('[{"key": key, "result": "EQUAL", **unchanged}]', "[]")],
    ("mjs", "leases.etcd"): [("[{ key, result: 'EQUAL', ...unchanged }]", "[]")],
    ("py", "leases.zookeeper"): [("until_ms]).encode(), version)", "until_ms]).encode())")],
    ("mjs", "leases.zookeeper"): [("JSON.stringify([holder, endMs]), version)", "JSON.stringify([holder, endMs]), -1)")],
}
POSTGRES = [
    Recipe("py", "leases.postgres"),
    Recipe("py", "leases.postgres", options={"driver": "asyncpg"}),
    Recipe("py", "leases.postgres", own="NullPool"),
    Recipe("mjs", "leases.postgres"),
]
RECIPES = {
    "postgresql": POSTGRES,
    "pgbouncer": POSTGRES,
    **{kind: [Recipe(language, f"leases.{kind}") for language in ("py", "mjs")] for kind in ("redis", "etcd", "zookeeper")},
}


def started(kind):
    """A store without worker ids."""
    if kind == "zookeeper":
        return Proxied(ZooKeeper())
    return {"redis": open_redis, "etcd": FailOver}.get(kind, PostgreSQL)()


def url_of(kind, store):
    if kind == "etcd":
        return f"http://{store.address}"
    return store.address if kind == "zookeeper" else store.url


def opened(kind):
    """A store with worker ids for the processes of all recipes, and its URL."""
    store = started(kind)
    RECIPES[kind][0].at(url_of(kind, store)).call(["workers", 0, 15])
    if kind == "pgbouncer":
        store = PgBouncer(store, owns=True)
    return store, url_of(kind, store)


def test_no_span_overlaps(store):
    hammer("take_leases", store, 10_000)


def test_a_recipe_that_claims_without_a_lock_is_noticed(store):
    # Many claims, and spans in which two that have one worker id make the same ids.
    _, recipes = store
    for recipe in recipes:
        with Takers("take_leases", [broken(recipe, BREAKS)] * 2, {"TAKE_ROUNDS": "20"}) as takers:
            wait_for_duplicates(takers)
