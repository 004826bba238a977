"""leafid.sources and leafid/sources, as several processes of two languages use them at once."""

import contextlib
import sqlite3

import pytest
from databases import MariaDB, PgBouncer, PostgreSQL, SQLite
from takers import Recipe, Takers, broken, hammer, open_redis, wait_for_duplicates

OLD = "(SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order')"
# By language and module, and for an engine of its own kind where that differs.
BREAKS = {
    ("py", "sources.postgres"): [("greatest(max_id", f"greatest({OLD}")],
    ("mjs", "sources.postgres"): [("greatest(max_id", f"greatest({OLD}")],
    ("py", "sources.mysql"): [
        ("LAST_INSERT_ID(GREATEST(max_id, %s) + %s)", "GREATEST(max_id, %s) + %s"),
        ("end: int = cursor.lastrowid", f'cursor.execute("SELECT {OLD}")\n            (end,) = cursor.fetchone()'),
    ],
    # In one transaction, so the read comes first.
    ("py", "sources.mysql", "NullPool"): [
        ("GREATEST(max_id, %s)", "%s"),
        ("cursor.execute(TAKE.format(self._table), [after",
         f'cursor.execute("SELECT {OLD}")\n'
         "            cursor.execute(TAKE.format(self._table), [cursor.fetchone()[0]"),
    ],
    ("mjs", "sources.mysql"): [
        ("LAST_INSERT_ID(GREATEST(max_id, ?) + ?)", "GREATEST(max_id, ?) + ?"),
        ("if (done.affectedRows", f'done.insertId = (await run("SELECT {OLD}"))[0][0]\n    if (done.affectedRows'),
    ],
    ("py", "sources.sqlite"): [
        ("max(max_id, ?) + ?", "? + ?"),
        ("self._rows(TAKE, after", f'self._rows(TAKE, self._rows("SELECT {OLD}")[0][0]'),
    ],
    ("mjs", "sources.sqlite"): [
        ("max(max_id, ?) + ?", "? + ?"),
        (".all(BigInt(after)", f'.all(db.prepare("SELECT {OLD}").pluck().get()'),
    ],
    ("py", "sources.redis"): [
        ("self._db.run(TAKE, [self._prefix + tag], step, after)",
         "int(self._db.client.get(self._prefix + tag)) + step\n        self._db.client.set(self._prefix + tag, end)"),
    ],
    ("mjs", "sources.redis"): [
        ("await run(client => client.eval(TAKE, 1, prefix + tag, String(step), String(after)))",
         "String(BigInt(await run(client => client.get(prefix + tag))) + BigInt(step))\n"
         "    await run(client => client.set(prefix + tag, end))"),
    ],
}  # fmt: skip
POSTGRES = [
    Recipe("py", "sources.postgres"),
    Recipe("py", "sources.postgres", options={"driver": "asyncpg"}),
    Recipe("py", "sources.postgres", own="NullPool"),
    Recipe("mjs", "sources.postgres"),
]
RECIPES = {
    "postgresql": POSTGRES,
    "pgbouncer": POSTGRES,
    "mariadb": [
        Recipe("py", "sources.mysql"), Recipe("py", "sources.mysql", own="NullPool"), Recipe("mjs", "sources.mysql"),
    ],
    "sqlite": [
        Recipe("py", "sources.sqlite"), Recipe("py", "sources.sqlite", own="NullPool"), Recipe("mjs", "sources.sqlite"),
    ],
    "redis": [
        Recipe("py", "sources.redis"), Recipe("mjs", "sources.redis"), Recipe("mjs", "sources.redis", own="Redis"),
    ],
}  # fmt: skip


def opened(kind):
    """A store with a counter, and its URL."""
    makers = {"redis": open_redis, "mariadb": MariaDB, "sqlite": SQLite}
    store = makers.get(kind, PostgreSQL)()
    RECIPES[kind][0].at(store.url).call(["tags", ["order"]])
    if kind == "pgbouncer":
        store = PgBouncer(store, owns=True)
    return store, store.url


def test_no_range_is_given_twice(store):
    hammer("take_segments", store, 2_000)


def test_a_file_that_is_locked_at_the_start_ends_nobody():
    store, url = opened("sqlite")
    with contextlib.closing(sqlite3.connect(store.url, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with Takers("take_segments", [recipe.at(url) for recipe in RECIPES["sqlite"]]) as takers:
            takers.say_something()
            db.execute("ROLLBACK")
            takers.continue_all()
            takers.end()
    store.remove()


def test_a_recipe_that_reads_and_then_writes_is_noticed(store):
    _, recipes = store
    for recipe in recipes:
        with Takers("take_segments", [broken(recipe, BREAKS)]) as takers:
            wait_for_duplicates(takers)
