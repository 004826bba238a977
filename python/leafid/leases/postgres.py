"""Leases of worker ids from a table of PostgreSQL.

    from leafid.leases import postgres

    flake = leafid.Snowflake(postgres.leases("postgresql://app@db/shop"), name="shop")

By psycopg, asyncpg, or an engine of SQLAlchemy.
"""

from typing import Any, Literal

from .._databases import AHEAD_MS, ids_of, new_token, quoted
from .._leafid import ClaimRequest, Lease
from .._postgres import Postgres

__all__ = ["Leases", "leases"]

CREATE = "CREATE TABLE IF NOT EXISTS {} (id int PRIMARY KEY, holder text, until_ms bigint NOT NULL DEFAULT 0)"
ADD = "INSERT INTO {} (id) SELECT unnest(%s::int[]) ON CONFLICT (id) DO NOTHING"
NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
END = f"least(%s, {NOW} + {AHEAD_MS})"
# The id that has been free for longest, by both clocks. SKIP LOCKED gives two clients two ids.
CLAIM = f"""WITH free AS (SELECT id, until_ms FROM {{0}} WHERE until_ms <= least(%s, {NOW})
                          ORDER BY until_ms LIMIT 1 FOR UPDATE SKIP LOCKED)
            UPDATE {{0}} SET holder = %s, until_ms = {END} FROM free
            WHERE {{0}}.id = free.id RETURNING free.id, free.until_ms, {{0}}.until_ms"""
RENEW = f"""UPDATE {{}} SET until_ms = greatest(until_ms, {END}), holder = %s
            WHERE id = %s AND holder = %s RETURNING until_ms"""
RELEASE = "UPDATE {} SET until_ms = least(until_ms, %s), holder = NULL WHERE id = %s AND holder = %s"


def leases(url: Any, /, *, table: str = "worker", driver: Literal["psycopg", "asyncpg"] = "psycopg") -> "Leases":
    """Leases of worker ids.

    url: of the database, or an engine of SQLAlchemy with a NullPool.
    table: the name of the table.
    driver: for a URL.
    """
    return Leases(Postgres(url, driver, limit_s=1), quoted(table))


class Leases:
    """Leases worker ids of a table. leafid calls claim, renew and release."""

    def __init__(self, db: Postgres, table: str) -> None:
        self._db, self._table = db, table

    def claim(self, request: ClaimRequest) -> Lease | None:
        """Leases the id that has been free for longest; None if none is free."""
        rows = self._rows(CLAIM, request.now_ms, request.instance, request.until_ms)
        if not rows:
            return None
        [(worker_id, from_ms, until_ms)] = rows
        return Lease(worker_id, from_ms, until_ms, token=request.instance)

    def renew(self, lease: Lease, until_ms: int) -> dict[str, Any] | None:
        """Extends a span, and changes its token; None if another one has the id."""
        token = new_token()
        for (end_ms,) in self._rows(RENEW, until_ms, token, lease.worker_id, lease.token):
            return {"until_ms": end_ms, "token": token}
        return None

    def release(self, lease: Lease, until_ms: int) -> None:
        """Gives the id back, of which no id at or after until_ms was made."""
        self._rows(RELEASE, until_ms, lease.worker_id, lease.token)

    def create_tables(self, workers: int | range = 1024) -> None:
        """Makes the table and the rows of these worker ids if they are missing. No lease is changed."""
        ids = list(ids_of(workers))
        self._rows(CREATE)
        self._rows(ADD, ids)

    def check(self) -> list[str]:
        """What is wrong with the server and the table, each with what mends it."""
        found = self._db.problems(self._table, {"id": "int", "holder": "text", "until_ms": "bigint"})
        if not found and not self._rows("SELECT id FROM {} LIMIT 1"):
            found.append(f"the table {self._table} has no worker ids: create_tables() adds them")
        return found

    def _rows(self, statement: str, *values: Any) -> Any:
        return self._db.rows(statement.format(self._table), *values)
