"""The callbacks of docs/RECIPES.md that take ranges, as several processes of two languages use them at once."""

import contextlib
import sqlite3

import pytest
from databases import MariaDB, PgBouncer, PostgreSQL, SQLite
from takers import PROJECT, Takers, broken, hammer, open_redis, wait_for_duplicates

OLD = "(SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order')"
BREAKS = {
    "postgresql_psycopg.py": [("greatest(max_id", f"greatest({OLD}")],
    "postgresql_asyncpg.py": [("greatest(max_id", f"greatest({OLD}")],
    "postgresql_pg.mjs": [("greatest(max_id", f"greatest({OLD}")],
    "mariadb_pymysql.py": [
        ("LAST_INSERT_ID(GREATEST(max_id, %s) + %s)", "GREATEST(max_id, %s) + %s"),
        ("end = cursor.lastrowid", f"cursor.execute(\"SELECT {OLD}\")\n        (end,) = cursor.fetchone()"),
    ],
    "mariadb_mysql2.mjs": [
        ("LAST_INSERT_ID(GREATEST(max_id, ?) + ?)", "GREATEST(max_id, ?) + ?"),
        ("BigInt(done.insertId)", f"BigInt((await pool.query(\"SELECT {OLD} AS end\"))[0][0].end)"),
    ],
    "sqlite_sqlite3.py": [
        ("max(max_id, ?) + ?", "? + ?"),
        ("[after, step, tag]", f"[db.execute(\"SELECT {OLD}\").fetchone()[0], step, tag]"),
    ],
    "sqlite_better_sqlite3.mjs": [
        ("max(max_id, ?) + ?", "? + ?"),
        ("(TAKE).all(after", f"(TAKE).all(db.prepare(\"SELECT {OLD}\").pluck().get()"),
    ],
    "sqlalchemy_core.py": [("values(max_id=raised)", "values(max_id=db.scalar(select(max_id).where(this)) + step)")],
    "redis_redis.py": [
        ('CLIENT.eval(TAKE, 1, f"segment:{tag}", step, after)',
         'int(CLIENT.get(f"segment:{tag}")) + step\n    CLIENT.set(f"segment:{tag}", end)'),
    ],
    "redis_ioredis.mjs": [
        ("await redis.eval(take, 1, `segment:${tag}`, String(step), String(after))",
         "String(BigInt(await redis.get(`segment:${tag}`)) + BigInt(step))\n  await redis.set(`segment:${tag}`, end)"),
    ],
}  # fmt: skip
pytestmark = pytest.mark.timeout(300)
RECIPES = {
    "postgresql": ["postgresql_psycopg.py", "postgresql_asyncpg.py", "sqlalchemy_core.py", "postgresql_pg.mjs"],
    "pgbouncer": ["postgresql_psycopg.py", "postgresql_asyncpg.py", "sqlalchemy_core.py", "postgresql_pg.mjs"],
    "mariadb": ["mariadb_pymysql.py", "sqlalchemy_core.py", "mariadb_mysql2.mjs"],
    "sqlite": ["sqlite_sqlite3.py", "sqlalchemy_core.py", "sqlite_better_sqlite3.mjs"],
    "redis": ["redis_redis.py", "redis_ioredis.mjs"],
}


def opened(kind):
    """A store with the table of the page, and the environment of its recipes."""
    if kind == "redis":
        return open_redis("redis_segments.txt")
    store = {"postgresql": PostgreSQL, "pgbouncer": PostgreSQL, "mariadb": MariaDB, "sqlite": SQLite}[kind]()
    table = (PROJECT / f"{store.name}_segments.sql").read_text()
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect(store.url)) as db:
            db.executescript(table)
        return store, {"SQLITE_FILE": store.url, "SQLALCHEMY_URL": f"sqlite:///{store.url}"}
    store.sql(table)
    if kind == "mariadb":
        url = store.url.replace("mysql://", "mysql+pymysql://")
        return store, {"MYSQL_HOST": "127.0.0.1", "MYSQL_PORT": str(store.port), "SQLALCHEMY_URL": url}
    if kind == "pgbouncer":
        store = PgBouncer(store, owns=True)
    return store, {"POSTGRES_URL": store.url, "SQLALCHEMY_URL": store.url.replace("postgres:", "postgresql+psycopg:")}


def test_no_range_is_given_twice(store):
    hammer("take_segments", store, 2_000)


def test_a_file_that_is_locked_at_the_start_ends_nobody():
    store, environment = opened("sqlite")
    with contextlib.closing(sqlite3.connect(store.url, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        recipes = [PROJECT / recipe for recipe in RECIPES["sqlite"]]
        with Takers("take_segments", recipes, environment) as takers:
            takers.say_something()
            db.execute("ROLLBACK")
            takers.continue_all()
            takers.end()
    store.remove()


def test_a_recipe_that_reads_and_then_writes_is_noticed(store, folder):
    store, environment, recipes = store
    for recipe in recipes:
        with Takers("take_segments", [broken(folder, recipe, *BREAKS[recipe])], environment) as takers:
            wait_for_duplicates(takers)
