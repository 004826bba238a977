"""What the calls of leafid.sources and leafid.leases answer, and what their check notices, in both languages."""

import contextlib
import dataclasses
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import psycopg
import pymysql
import pytest
from databases import MariaDB, Missing, PostgreSQL, free_port
from kazoo.client import KazooClient
from kazoo.security import make_acl
from leafid.leases import redis
from proxy import Proxy
from redis_server import Redis
from takers import PATIENCE, PROJECT, Recipe, open_redis
from test_leases import RECIPES as LEASES
from test_leases import started, url_of
from test_segments import RECIPES as SOURCES
from test_segments import opened

#: Above what a double has exactly.
LARGE = 2**53 + 1
SQL = ("mysql", "postgres", "sqlite")
#: Without a server.
LEASED = {
    "leases.postgres": "postgresql://127.0.0.1:1/leaf",
    "leases.redis": "redis://127.0.0.1:1/0",
    "leases.etcd": "http://127.0.0.1:1",
    "leases.zookeeper": "127.0.0.1:1",
}


@contextlib.contextmanager
def running(make, *arguments):
    try:
        store = make(*arguments)
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        yield store
    finally:
        store.remove()


def fresh(recipes, url):
    """The recipes, each with a table or keys of its own."""
    for number, recipe in enumerate(recipes):
        is_sql = recipe.module.endswith(SQL)
        named = {"table": f"Of_{number}"} if is_sql else {"prefix": f"/{{of {number}}}/"}
        yield recipe.at(url, **named)


def ranges(*starts):
    return [[str(start), str(start + 10)] for start in starts]


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "pgbouncer"])
def test_a_source(kind):
    with running(lambda: opened(kind)[0]) as store:
        for recipe in fresh(SOURCES[kind], store.url):
            take = ["take", "order", 10, "0"]
            first, nothing, *taken = recipe.call(
                ["check"], ["tags", ["order"]], take, take, ["tags", ["order", "item"]], take, ["check"],
                ["take", "item", 10, str(LARGE)], ["take", "item", 10, "5"], ["take", "unknown", 10, "0"],
            )  # fmt: skip
            missing = [text for text in first if "there is no table" in text and "Of_" in text]
            assert nothing is None and len(missing) == len(first) == (kind != "redis"), first
            if recipe.language == "py":
                _, taken_by_two = recipe.call(take, ["forked", "order"])
                assert len(set(taken_by_two)) == 40, recipe
            one, two, again, three, good, *large, unknown = taken
            assert [one, two, three, *large] == ranges(1, 11, 21, LARGE, LARGE + 10), recipe
            assert (again, good, unknown) == (None, [], None), recipe


@pytest.mark.parametrize("kind", [kind for kind in LEASES if kind != "pgbouncer"])
def test_leases(kind):
    with running(started, kind) as store:
        for recipe in fresh(LEASES[kind], url_of(kind, store)):
            first, _, *answers, good = recipe.call(
                ["check"], ["workers", 0, 0], ["claim", "one", 1000, 3000], ["claim", "two", 2000, 4000],
                ["renew", 0, "one", 5000], ["renew", 0, None, 4000], ["renew", 0, "two", 6000],
                ["renew", 0, "one", 6000], ["release", 0, "one", 2500], ["release", 0, None, 2500], ["renew", 0, None, 6000],
                ["claim", "two", 2499, 9000], ["claim", "two", 2500, 9000],
                ["workers", 6, 7], ["claim", "three", 3000, 9000], ["claim", "four", 3000, 9000], ["check"],
            )  # fmt: skip
            assert len(first) == 1 and "create" in first[0], first
            claimed, taken, renewed, not_lowered, lost, of_a_copy, _, _, released, *later, _, six, seven = answers
            assert claimed == [0, 0, 3000, "one"] and taken is None, recipe
            # Each with a new token: of two holders of one token the second cannot renew, nor release.
            assert (renewed, not_lowered) == ([5000, 1], [5000, 2]), recipe
            assert (lost, of_a_copy, released) == (None, None, None), recipe
            assert later == [None, [0, 2500, 9000, "two"]], recipe
            assert sorted([six, seven]) == sorted([[6, 0, 9000, six[3]], [7, 0, 9000, seven[3]]]), recipe
            assert good == [], recipe


class Once(threading.Event):
    """Is set until it is asked."""

    def is_set(self):
        was = super().is_set()
        self.clear()
        return was


def test_a_renewal_that_a_driver_of_redis_sends_again():
    """Its connection was cut before the answer: the lease is held by the token that was made."""
    with running(open_redis) as store:
        proxy = Proxy(store.port, b"'GT'")
        recipe = Recipe("mjs", "leases.redis", f"redis://127.0.0.1:{proxy.own_port}/0", own="Redis")
        recipe.call(["workers", 0, 0], ["claim", "one", 1000, 3000])
        proxy.losing = Once()
        proxy.losing.set()
        calls = ["renew", 0, "one", 5000], ["renew", 0, "one", 6000], ["renew", 0, None, 7000]
        assert recipe.call(*calls) == [[5000, 1], None, [7000, 2]]
        assert proxy.lost == 1
        proxy.close()
        # redis-py does it where the URL has retry_on_timeout.
        recipe = Recipe("py", "leases.redis", store.url, {"prefix": "of py"})
        recipe.call(["workers", 0, 0], ["claim", "one", 1000, 3000])

        def renew(*values):
            return store.ask("EVAL", redis.RENEW, "2", "of py:until", "of py:holder", "0", *values)

        assert [renew("one", "5000", "two") for _ in range(2)] == ["5000", "5000"]
        assert renew("one", "6000", "three") == ""


def test_rights_of_zookeeper():
    """Only nodes are written: the folder may be another's."""
    with running(started, "zookeeper") as store:
        client = KazooClient(store.address)
        client.start()
        for recipe in fresh(LEASES["zookeeper"], store.address):
            recipe.call(["workers", 0, 0])
            folder = recipe.options["prefix"].rstrip("/")
            client.set(folder, b"of another")
            client.set_acls(folder, [make_acl("world", "anyone", read=True)])
            found, claimed, renewed, _, after = recipe.call(
                ["check"], ["claim", "one", 1000, 3000], ["renew", 0, "one", 5000], ["release", 0, None, 2500],
                ["claim", "two", 2500, 9000],
            )  # fmt: skip
            assert (found, claimed, renewed) == ([], [0, 0, 3000, "one"], [5000, 1]), recipe
            assert after == [0, 2500, 9000, "two"], recipe
            assert client.get(folder)[0] == b"of another", recipe
        client.stop()
        client.close()


@pytest.mark.parametrize("kind", [kind for kind in LEASES if kind != "pgbouncer"])
def test_a_clock_that_is_a_year_ahead(kind):
    """It takes no live lease, and blocks no id."""
    with running(started, kind) as store:
        for recipe in fresh(LEASES[kind], url_of(kind, store)):
            now = time.time_ns() // 1_000_000
            year = now + 365 * 86_400_000
            _, live, _, fast, third, renewed, _, slow, _, after = recipe.call(
                ["workers", 0, 0], ["claim", "live", now, now + 30_000], ["workers", 1, 1],
                ["claim", "fast", year, year + 30_000], ["claim", "third", year, year + 30_000],
                ["renew", 1, "fast", year + 30_000], ["release", 1, None, 0],
                ["claim", "slow", now - 10_000, now - 9_000], ["release", 1, "slow", year],
                ["claim", "after", now, now + 30_000],
            )  # fmt: skip
            ended = time.time_ns() // 1_000_000
            assert live == [0, 0, now + 30_000, "live"], recipe
            assert fast[:2] == [1, 0] and max(fast[2], renewed[0]) <= ended + 40_000, recipe
            # None, unless these calls took half a minute.
            assert third is None or third[1] <= ended, recipe
            assert slow == [1, 0, now - 9_000, "slow"], recipe
            assert after == [1, now - 9_000, now + 30_000, "after"], recipe


def noticed(recipes, url, begin):
    """Each finds one thing that is wrong, and says it with its value and what to do."""
    for recipe in recipes:
        (found,) = recipe.at(url).call(["check"])
        assert [text for text in found if text.startswith(begin)] == found and len(found) == 1, (recipe, found)


def test_settings_of_postgresql():
    both = SOURCES["postgresql"] + LEASES["postgresql"]

    def set_and_notice(name, value, wrong, right):
        for statement, text in ((f"{name} = {value}", wrong), (f"{name} = DEFAULT", None)):
            store.sql(f"ALTER SYSTEM SET {statement}")
            store.sql("SELECT pg_reload_conf()")
            deadline = time.monotonic() + PATIENCE
            while store.sql(f"SHOW {name}") != [value if text else right]:
                assert time.monotonic() < deadline, statement
            if text:
                noticed(both, store.url, text)

    with running(PostgreSQL) as store:
        SOURCES["postgresql"][0].at(store.url).call(["tags", ["order"]])
        LEASES["postgresql"][0].at(store.url).call(["workers", 0, 7])
        set_and_notice("synchronous_commit", "off", "synchronous_commit is off: ", "on")
        set_and_notice("fsync", "off", "fsync is off: ", "on")
        isolated = "default_transaction_isolation is serializable: "
        set_and_notice("default_transaction_isolation", "serializable", isolated, "read committed")
        for recipes, table, column in ((SOURCES, "leaf_alloc", "max_id"), (LEASES, "worker", "until_ms")):
            store.sql(f"ALTER TABLE {table} SET UNLOGGED")
            noticed(recipes["postgresql"], store.url, f'the table "{table}" is UNLOGGED: ')
            store.sql(f"ALTER TABLE {table} SET LOGGED; ALTER TABLE {table} ALTER {column} TYPE int")
            noticed(recipes["postgresql"], store.url, f'the column {column} of "{table}" is integer: ')
        store.sql("ALTER TABLE worker ALTER until_ms TYPE bigint; DELETE FROM worker")
        noticed(LEASES["postgresql"], store.url, 'the table "worker" has no worker ids: ')


class Logged(MariaDB):
    def command(self):
        return [*super().command(), "--log-bin=log"]


def test_settings_of_mariadb():
    recipes = SOURCES["mariadb"]

    def prepared(store):
        recipes[0].at(store.url).call(["tags", ["order"]])
        store.sql("SET GLOBAL sync_binlog = 0")

    with running(MariaDB) as store:
        prepared(store)
        for recipe in recipes:
            assert recipe.at(store.url).call(["check"]) == [[]]
        store.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
        noticed(recipes, store.url, "innodb_flush_log_at_trx_commit is 2: ")
        store.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL read_only = 1")
        noticed(recipes, store.url, "read_only is 1, ")
        store.sql("SET GLOBAL read_only = 0")
        store.sql("ALTER TABLE leaf_alloc ENGINE = MyISAM")
        noticed(recipes, store.url, "the engine of `leaf_alloc` is MyISAM: ")
        store.sql("ALTER TABLE leaf_alloc ENGINE = InnoDB, MODIFY max_id int")
        noticed(recipes, store.url, "the column max_id of `leaf_alloc` is int: ")
    with running(Logged) as store:
        prepared(store)
        noticed(recipes, store.url, "sync_binlog is 0: ")


def test_settings_of_redis(tmp_path):
    both = SOURCES["redis"] + LEASES["redis"]

    def set_and_notice(name, value, better):
        store.ask("CONFIG", "SET", name, value)
        noticed(both, store.url, f"{name} is {value}: ")
        store.ask("CONFIG", "SET", name, better)

    with running(open_redis) as store:
        noticed(LEASES["redis"], store.url, "{worker}:until has no worker ids: ")
        LEASES["redis"][0].at(store.url).call(["workers", 0, 7])
        set_and_notice("appendonly", "no", "yes")
        set_and_notice("appendfsync", "everysec", "always")
        set_and_notice("maxmemory-policy", "allkeys-lru", "volatile-lru")
        store.ask("REPLICAOF", "127.0.0.1", "1")
        noticed(both, store.url, "role is slave, ")
        store.ask("REPLICAOF", "NO", "ONE")
        store.ask("ACL", "SETUSER", "default", "-config")
        noticed(both, store.url, "appendfsync is not known, ")
    settings = tmp_path / "redis.conf"
    cluster = f"cluster-enabled yes\ncluster-port {free_port()}\n"
    settings.write_text((PROJECT / "redis.conf").read_text() + cluster)
    with running(Redis, settings) as store:
        noticed(SOURCES["redis"], store.url, "cluster_enabled is 1: ")


def test_a_table_of_sqlite(tmp_path):
    file = str(tmp_path / "ids.db")
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE leaf_alloc (biz_tag text PRIMARY KEY)")
    noticed(SOURCES["sqlite"], file, 'the column max_id of "leaf_alloc" is missing: ')


def test_each_commit_of_sqlite_is_on_the_disk(tmp_path):
    """Also in WAL mode, in which better-sqlite3 has another default."""
    file = str(tmp_path / "ids.db")
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    say = {
        "py": ("return cursor.fetchall()", "print(cursor.execute('PRAGMA synchronous').fetchone()); return cursor.fetchall()"),
        "mjs": ("return use(db)", "console.log(db.pragma('synchronous'))\n      return use(db)"),
    }
    for recipe in SOURCES["sqlite"]:
        done = dataclasses.replace(recipe.at(file), changes=(say[recipe.language],)).ended(["check"])
        assert re.match(r"\(2,\)|\[ \{ synchronous: 2n \} \]", done.stdout), (recipe, done.stdout, done.stderr)


def refused(recipe, *calls):
    answer = recipe.call(*calls)[-1]
    assert isinstance(answer, str) and answer.startswith("refused: "), answer
    return answer


@pytest.mark.parametrize("table", ['a"b', "a`b", "a b", "", "1a", "ä", "a\n", "a;--"])
def test_a_table_of_another_name_is_refused(table):
    for language in ("py", "mjs"):
        assert "table is " in refused(Recipe(language, "sources.sqlite", "/nowhere", {"table": table}))


def test_what_else_is_refused():
    for language in ("py", "mjs"):
        for module in ("sources.postgres", "sources.mysql", "leases.postgres"):
            url = f"{module.split('.')[1]}://nowhere"
            assert "table is " in refused(Recipe(language, module, url, {"table": "a b"}))
        assert "secret" not in refused(Recipe(language, "sources.sqlite", "/nowhere", {"table": "http://me:secret@nowhere"}))
        for module in ("leases.etcd", "leases.zookeeper"):
            assert "prefix is " in refused(Recipe(language, module, LEASED[module], {"prefix": "/leafid/worker"}))
    for recipe in (Recipe("py", "sources.sqlite", "/nowhere"), Recipe("mjs", "sources.sqlite", "/nowhere")):
        assert "tags is " in refused(recipe, ["tags", "order"])
        assert "tags is " in refused(recipe, ["tags", [7]])
    for language in ("py", "mjs"):
        for module, url in LEASED.items():
            # Before anything is asked of a server. A text is not taken apart into its digits.
            for workers in ("16", -1, 1.5, True, [0, 16]):
                assert "workers is " in refused(Recipe(language, module, url), ["as given", workers])
            named = "table" if module == "leases.postgres" else "prefix"
            assert f"{named} is 7; " in refused(Recipe(language, module, url, {named: 7}))
    # A forked child would have its connections, too.
    assert "QueuePool" in refused(Recipe("py", "sources.postgres", "postgres://nowhere/leaf", own="QueuePool"))
    assert "sqlite" in refused(Recipe("py", "leases.postgres", "/nowhere", own="NullPool"))
    assert "a pool" in refused(Recipe("mjs", "leases.postgres", "postgres://nowhere/leaf", own="Pool"))
    assert "driver is 'pg'" in refused(Recipe("py", "sources.postgres", "postgres://nowhere/leaf", {"driver": "pg"}))
    hidden = refused(Recipe("py", "sources.mysql", "mysql://me:secret@nowhere/leaf?ssl=1"))
    assert "url" in hidden and "secret" not in hidden


def end_with_a_timeout(recipes, *call):
    for recipe in recipes:
        done = recipe.ended(call)
        assert done.returncode != 0 and re.search("time|within", done.stderr, re.I), (recipe, done.stdout, done.stderr)


def test_a_call_does_not_wait_for_ever_for_postgresql():
    with running(PostgreSQL) as store:
        ranges, leases = ([recipe.at(store.url) for recipe in each["postgresql"]] for each in (SOURCES, LEASES))
        ranges[0].call(["tags", ["order"]])
        leases[0].call(["workers", 0, 0], ["claim", "one", 1000, 3000])
        with psycopg.connect(store.url) as db:
            db.execute("SELECT FROM leaf_alloc FOR UPDATE")
            end_with_a_timeout(ranges, "take", "order", 10, "0")
            db.execute("SELECT FROM worker FOR UPDATE")
            end_with_a_timeout(leases, "renew", 0, "one", 4000)


def test_a_call_does_not_wait_for_ever_for_mariadb():
    with running(MariaDB) as store:
        recipes = [recipe.at(store.url) for recipe in SOURCES["mariadb"] if not recipe.own]
        recipes[0].call(["tags", ["order"]])
        with pymysql.connect(host="127.0.0.1", port=store.port, user="root", database="leaf") as db:
            db.cursor().execute("SELECT * FROM leaf_alloc FOR UPDATE")
            end_with_a_timeout(recipes, "take", "order", 10, "0")


@pytest.mark.parametrize("kind", ["redis", "etcd", "zookeeper"])
def test_a_call_does_not_wait_for_ever_for(kind):
    with running(started, kind) as store:
        url = url_of(kind, store)
        # That of a Redis is a path.
        server = store if kind == "redis" else store.server
        server.process.send_signal(signal.SIGSTOP)
        try:
            end_with_a_timeout([recipe.at(url) for recipe in LEASES[kind]], "renew", 0, "one", 4000)
            end_with_a_timeout([recipe.at(url) for recipe in SOURCES.get(kind, [])], "take", "order", 10, "0")
        finally:
            server.process.send_signal(signal.SIGCONT)


def test_settings_instead_of_a_url():
    with running(MariaDB) as store:
        server = {"host": "127.0.0.1", "port": store.port, "user": "root", "database": "leaf"}
        calls = ["tags", ["order"]], ["take", "order", 10, "0"]
        assert Recipe("py", "sources.mysql", options=server).call(*calls)[-1] == ["1", "11"]
        assert Recipe("mjs", "sources.mysql", server).call(*calls)[-1] == ["11", "21"]
    with running(PostgreSQL) as store:
        server = {"host": "127.0.0.1", "port": store.port, "user": "leaf", "database": "leaf"}
        assert Recipe("mjs", "sources.postgres", server).call(*calls)[-1] == ["1", "11"]


def test_the_code_of_the_page(tmp_path):
    with running(PostgreSQL) as store:
        store.sql((PROJECT / "tables.sql").read_text())
        environment = {**os.environ, "DATABASE_URL": store.url, "LEAFID_STATE_DIR": str(tmp_path)}
        said = {}
        for program in ("prepare.py", "prepare.mjs", "ids.py", "ids.mjs"):
            runner = sys.executable if program.endswith(".py") else "node"
            command = [runner, str(PROJECT / program)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == 0, done.stderr
            # console.log shows a BigInt with an n.
            said[program] = done.stdout.replace("n", "").split()
        assert said["prepare.py"] == said["prepare.mjs"] == []
        # A start without a record takes a range of its own.
        assert said["ids.py"][0] == "1" and int(said["ids.mjs"][0]) > 1
        assert int(said["ids.py"][1]) < int(said["ids.mjs"][1])
