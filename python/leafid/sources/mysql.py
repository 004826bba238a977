"""Ranges of ids from a table of MariaDB or MySQL.

    from leafid.sources import mysql

    fetch = mysql.source("mysql://app:secret@db:3306/shop")
    ids = leafid.Segments(fetch=fetch, name="shop")

By PyMySQL, or an engine of SQLAlchemy.
"""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote, urlsplit

from .._databases import listed, opener, quoted, transaction, whole_url, wrong_columns

__all__ = ["Source", "source"]

CREATE = """CREATE TABLE IF NOT EXISTS {} (
  biz_tag varchar(128) PRIMARY KEY,
  max_id  bigint NOT NULL DEFAULT 1,
  step    int NOT NULL DEFAULT 1000
) ENGINE = InnoDB"""
ADD = "INSERT INTO {} (biz_tag) VALUES (%s) ON DUPLICATE KEY UPDATE biz_tag = biz_tag"
# One statement: its own answer has the number of rows, and the value of LAST_INSERT_ID(…).
TAKE = "UPDATE {} SET max_id = LAST_INSERT_ID(GREATEST(max_id, %s) + %s) WHERE biz_tag = %s"
SETTINGS = "SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@read_only"
COLUMNS = """SELECT column_name, data_type, engine
             FROM information_schema.tables JOIN information_schema.columns USING (table_schema, table_name)
             WHERE table_schema = DATABASE() AND table_name = %s"""
LIMITS = {"connect_timeout": 2, "read_timeout": 2, "write_timeout": 2}


def source(url: Any = "mysql://", /, *, table: str = "leaf_alloc", **settings: Any) -> "Source":
    """A source of ranges.

    url: `mysql://user:password@host:port/database`, or an engine of SQLAlchemy with a NullPool.
    table: the name of Leaf's table.
    settings: more arguments of pymysql.connect, such as `host` and `ssl`.
    """
    if not isinstance(url, str):
        return Source(opener(url, "mysql", "mariadb"), table)
    arguments = {**_settings(url), **settings}
    import pymysql

    return Source(lambda: pymysql.connect(**arguments, **LIMITS, autocommit=True), table)


def _settings(url: str) -> dict[str, Any]:
    allowed = "mysql://user:password@host:3306/database, percent-encoded; more settings are keywords, as ssl=…"
    parts = urlsplit(whole_url(url, "mysql|mariadb", allowed, without="?,"))
    texts = {"user": parts.username, "password": parts.password, "database": parts.path[1:]}
    found: dict[str, Any] = {name: unquote(text) for name, text in texts.items() if text}
    return found | {name: value for name, value in (("host", parts.hostname), ("port", parts.port)) if value}


class Source:
    """Takes ranges from a table. leafid calls it."""

    def __init__(self, connect: Callable[[], Any], table: str) -> None:
        self._connect, self._name, self._table = connect, table, quoted(table, "`")

    def __call__(self, tag: str, step: int, *, after: int = 0) -> range | None:
        """A range that no other call gets, at or above `after`; None for an unknown tag."""
        with transaction(self._connect) as cursor:
            cursor.execute(TAKE.format(self._table), [after, step, tag])
            if cursor.rowcount != 1:
                return None
            end: int = cursor.lastrowid
        return range(end - step, end)

    def create_tables(self, tags: Iterable[str] = ()) -> None:
        """Makes the table and the rows of these tags if they are missing. No counter is changed."""
        tags = listed(tags)
        with transaction(self._connect) as cursor:
            cursor.execute(CREATE.format(self._table))
            for tag in tags:
                cursor.execute(ADD.format(self._table), [tag])

    def check(self) -> list[str]:
        """What is wrong with the server and the table, each with what mends it."""
        with transaction(self._connect) as cursor:
            cursor.execute(SETTINGS)
            flush, has_binlog, sync_binlog, read_only = map(str, cursor.fetchone())
            cursor.execute(COLUMNS, [self._name])
            rows = cursor.fetchall()
        columns = {"biz_tag": "varchar(128)", "max_id": "bigint"}
        found = wrong_columns(self._table, {name: kind for name, kind, _ in rows}, columns)
        if rows and rows[0][2] != "InnoDB":
            mend = f"ALTER TABLE {self._table} ENGINE = InnoDB"
            found.append(f"the engine of {self._table} is {rows[0][2]}: a crash loses ranges; {mend}")
        if flush in ("0", "2"):
            mend = "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the settings of the server"
            found.append(f"innodb_flush_log_at_trx_commit is {flush}: a crash loses commits; {mend}")
        if has_binlog != "0" and sync_binlog != "1":
            mend = "SET GLOBAL sync_binlog = 1, and in the settings of the server"
            found.append(f"sync_binlog is {sync_binlog}: a crash of the machine loses commits; {mend}")
        if read_only not in ("0", "OFF"):
            found.append(f"read_only is {read_only}, as of a replica: connect to the primary")
        return found
