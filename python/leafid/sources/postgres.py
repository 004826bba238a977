"""Ranges of ids from a table of PostgreSQL.

    from leafid.sources import postgres

    fetch = postgres.source("postgresql://app@db/shop")
    ids = leafid.Segments(fetch=fetch, name="shop")

By psycopg, asyncpg, or an engine of SQLAlchemy.
"""

from collections.abc import Iterable
from typing import Any, Literal

from .._databases import listed, quoted
from .._postgres import Postgres

__all__ = ["Source", "source"]

CREATE = """CREATE TABLE IF NOT EXISTS {} (
  biz_tag varchar(128) PRIMARY KEY,
  max_id  bigint NOT NULL DEFAULT 1,
  step    int NOT NULL DEFAULT 1000
)"""
ADD = "INSERT INTO {} (biz_tag) VALUES (%s) ON CONFLICT (biz_tag) DO NOTHING"
TAKE = """UPDATE {} SET max_id = greatest(max_id, %s::bigint) + %s::bigint
          WHERE biz_tag = %s RETURNING max_id"""


def source(url: Any, /, *, table: str = "leaf_alloc", driver: Literal["psycopg", "asyncpg"] = "psycopg") -> "Source":
    """A source of ranges.

    url: of the database, or an engine of SQLAlchemy with a NullPool.
    table: the name of Leaf's table.
    driver: for a URL.
    """
    return Source(Postgres(url, driver, limit_s=2), quoted(table))


class Source:
    """Takes ranges from a table. leafid calls it."""

    def __init__(self, db: Postgres, table: str) -> None:
        self._db, self._table = db, table

    def __call__(self, tag: str, step: int, *, after: int = 0) -> range | None:
        """A range that no other call gets, at or above `after`; None for an unknown tag."""
        rows = self._db.rows(TAKE.format(self._table), after, step, tag)
        if not rows:
            return None
        [(end,)] = rows
        return range(end - step, end)

    def create_tables(self, tags: Iterable[str] = ()) -> None:
        """Makes the table and the rows of these tags if they are missing. No counter is changed."""
        tags = listed(tags)
        self._db.rows(CREATE.format(self._table))
        for tag in tags:
            self._db.rows(ADD.format(self._table), tag)

    def check(self) -> list[str]:
        """What is wrong with the server and the table, each with what mends it."""
        return self._db.problems(self._table, {"biz_tag": "varchar(128)", "max_id": "bigint"})
