"""Statements on PostgreSQL, by psycopg, asyncpg or SQLAlchemy, each in a transaction of a connection of its own."""

import asyncio
import itertools
import re
from collections.abc import Sequence
from typing import Any

from ._databases import opener, transaction, whole_url, wrong_columns
from ._leafid import refuse

SETTINGS = """SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
              current_setting('fsync'), current_setting('default_transaction_isolation'), pg_is_in_recovery()"""
COLUMNS = """SELECT attname::text, format_type(atttypid, NULL), relpersistence::text
             FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
             WHERE pg_class.oid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"""


class Postgres:
    """A database, of which each statement is limited to some seconds."""

    def __init__(self, url: Any, driver: str, limit_s: int) -> None:
        self._limit_s = limit_s
        self._asyncpg: Any = None
        if driver not in ("psycopg", "asyncpg"):
            refuse("driver", driver, "'psycopg', 'asyncpg'")
        if not isinstance(url, str):
            self._connect = opener(url, "postgresql")
            return
        url = whole_url(url, "postgres|postgresql", "postgresql://user:password@host:5432/database, percent-encoded")
        if driver == "psycopg":
            import psycopg

            # A name for the sixth call of a connection would be another client's behind a pooler.
            self._connect = lambda: psycopg.connect(url, connect_timeout=limit_s, prepare_threshold=None)
        else:
            import asyncpg

            self._asyncpg, self._url = asyncpg, url

    def rows(self, statement: str, *values: Any) -> list[Sequence[Any]]:
        """The rows of the statement, once it is committed. Its values stand for %s."""
        if self._asyncpg:
            return asyncio.run(self._rows_of_asyncpg(statement, values))
        with transaction(self._connect) as cursor:
            # SET LOCAL, because PgBouncer refuses options at the start.
            cursor.execute(f"SET LOCAL statement_timeout = {self._limit_s * 1000}")
            cursor.execute(statement, values)
            rows: list[Sequence[Any]] = cursor.fetchall() if cursor.description else []
        return rows

    async def _rows_of_asyncpg(self, statement: str, values: Sequence[Any]) -> list[Sequence[Any]]:
        numbers = itertools.count(1)
        numbered = re.sub("%s", lambda _: f"${next(numbers)}", statement)
        limits = {"timeout": self._limit_s, "command_timeout": self._limit_s}
        db = await self._asyncpg.connect(self._url, statement_cache_size=0, **limits)
        try:
            async with db.transaction():  # asyncpg prepares and runs in two steps, which a pooler may tear apart
                rows: list[Sequence[Any]] = await db.fetch(numbered, *values)
        finally:
            db.terminate()
        return rows

    def problems(self, table: str, columns: dict[str, str]) -> list[str]:
        """What is wrong with the server, and with this table's columns."""
        [(commit, standbys, fsync, isolation, follows)] = self.rows(SETTINGS)
        rows = self.rows(COLUMNS, table)
        found = wrong_columns(table, {name: kind for name, kind, _ in rows}, columns)
        if rows and rows[0][2] == "u":
            found.append(f"the table {table} is UNLOGGED: a crash empties it; ALTER TABLE {table} SET LOGGED")
        if commit == "off" or (standbys and commit in ("local", "remote_write")):
            mend = "ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf()"
            found.append(f"synchronous_commit is {commit}: a crash or a fail-over loses commits; {mend}")
        if fsync != "on":
            mend = "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"
            found.append(f"fsync is {fsync}: a crash of the machine loses commits; {mend}")
        if isolation != "read committed":
            mend = "ALTER ROLE … SET default_transaction_isolation = 'read committed'"
            found.append(f"default_transaction_isolation is {isolation}: of two calls at once one fails; {mend}")
        if follows:
            found.append("pg_is_in_recovery() is true, this is a standby: connect to the primary")
        return found
