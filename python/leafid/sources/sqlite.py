"""Ranges of ids from a table of SQLite, for the processes of one host.

    from leafid.sources import sqlite

    fetch = sqlite.source("/var/lib/shop/ids.db")
    ids = leafid.Segments(fetch=fetch, name="shop")

By Python's own sqlite3, or an engine of SQLAlchemy.
"""

import sqlite3
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any

from .._databases import listed, opener, quoted, transaction, wrong_columns

__all__ = ["Source", "source"]

CREATE = "CREATE TABLE IF NOT EXISTS {} (biz_tag text PRIMARY KEY, max_id integer NOT NULL DEFAULT 1)"
ADD = "INSERT INTO {} (biz_tag) VALUES (?) ON CONFLICT (biz_tag) DO NOTHING"
TAKE = "UPDATE {} SET max_id = max(max_id, ?) + ? WHERE biz_tag = ? RETURNING max_id"
COLUMNS = "SELECT name, type FROM pragma_table_info(?)"


def source(path: Any, /, *, table: str = "leaf_alloc") -> "Source":
    """A source of ranges.

    path: of the file, on a local disk, or an engine of SQLAlchemy with a NullPool.
    table: the name of the table.
    """
    if not isinstance(path, str | PathLike):
        return Source(opener(path, "sqlite"), table)
    return Source(lambda: sqlite3.connect(path, timeout=2, isolation_level=None), table)


class Source:
    """Takes ranges from a table. leafid calls it."""

    def __init__(self, connect: Callable[[], Any], table: str) -> None:
        self._connect, self._name, self._table = connect, table, quoted(table)

    def __call__(self, tag: str, step: int, *, after: int = 0) -> range | None:
        """A range that no other call gets, at or above `after`; None for an unknown tag."""
        rows = self._rows(TAKE, after, step, tag)
        if not rows:
            return None
        [(end,)] = rows
        return range(end - step, end)

    def create_tables(self, tags: Iterable[str] = ()) -> None:
        """Makes the table and the rows of these tags if they are missing. No counter is changed."""
        tags = listed(tags)
        self._rows(CREATE)
        for tag in tags:
            self._rows(ADD, tag)

    def check(self) -> list[str]:
        """What is wrong with SQLite and the table, each with what mends it."""
        columns = dict(self._rows(COLUMNS, self._name))
        found = wrong_columns(self._table, columns, {"biz_tag": "text", "max_id": "integer"})
        if sqlite3.sqlite_version_info < (3, 35):
            found.append(f"SQLite is {sqlite3.sqlite_version}, without RETURNING: install 3.35 or newer")
        return found

    def _rows(self, statement: str, *values: Any) -> Any:
        with transaction(self._connect) as cursor:
            # Each commit is on the disk before it is answered, also in WAL mode.
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute(statement.format(self._table), values)
            return cursor.fetchall()  # all of them: before the last one nothing is committed
