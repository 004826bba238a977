"""What the modules of leafid.sources and leafid.leases share."""

import contextlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._leafid import InvalidArgumentError, refuse

#: How far the end of a span may be ahead of the database's clock: 30 s, and 10 s that a client's clock may be fast.
AHEAD_MS = 40_000
_ENCODED = "|%(?!00)[0-9A-Fa-f]{2})*"
_USER = r"(?:[^]\s/?#@%\\[<>^|]" + _ENCODED
_HOST = r"(?:\[[0-9A-Fa-f:.]*]|[^]\s/?#@:,\\[<>^|]*)(?::[0-9]+)?"
_REST = r"(?:[/?](?:[^\s#@%]" + _ENCODED + ")?"


def whole_url(url: object, schemes: str, allowed: str, without: str = "") -> str:
    """The URL, if it is whole: its user and password are percent-encoded, and none of the characters `without` is in it.

    Drivers take a part of another one for a host or a port, and name it in their errors: it may be of the password.
    """
    form = f"(?:{schemes})://(?:{_USER}@)?{_HOST}(?:,{_HOST})*{_REST}"
    if isinstance(url, str) and re.fullmatch(form, url) and not any(sign in url for sign in without):
        return url
    refuse("url", url, allowed)


def host_list(hosts: object, allowed: str) -> str:
    """Hosts with their ports, and a path: what a driver takes apart likewise."""
    if isinstance(hosts, str) and re.fullmatch(f"{_HOST}(?:, *{_HOST})*(?:/[^\\s?#@]*)?", hosts):
        return hosts
    refuse("hosts", hosts, allowed)


def quoted(table: str, quote: str = '"') -> str:
    """A table's name as statements have it."""
    if not isinstance(table, str) or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", table):
        refuse("table", table, "a letter or _, then letters, digits and _")
    return f"{quote}{table}{quote}"


def folder(prefix: str) -> str:
    """A prefix of keys that ends with a slash: without one it would be that of other keys, too."""
    if not isinstance(prefix, str) or not prefix.endswith("/"):
        refuse("prefix", prefix, "what ends with a slash, as /leafid/worker/")
    return prefix


def text(name: str, value: str) -> str:
    """A text."""
    if not isinstance(value, str):
        refuse(name, value, "a text")
    return value


def listed(tags: Iterable[str]) -> list[str]:
    """Tags. A text would be one of its letters each."""
    found: list[Any] = list(tags) if isinstance(tags, Iterable) and not isinstance(tags, str) else [None]
    if not all(isinstance(tag, str) for tag in found):
        refuse("tags", tags, "a list of tags, each a text")
    return found


def ids_of(workers: int | range) -> range:
    """Worker ids: so many from 0, or these."""
    if isinstance(workers, range) and min(workers, default=0) >= 0:
        return workers
    if isinstance(workers, int) and not isinstance(workers, bool) and workers >= 0:
        return range(workers)
    refuse("workers", workers, "how many worker ids there are, as 1024, or which, as range(512, 1024)")


def opener(engine: Any, *dialects: str) -> Callable[[], Any]:
    """What opens a connection of this engine of SQLAlchemy.

    Its pool must keep none: a forked child would share it, and a driver prepares what one connection runs often under a
    name, which is another client's behind a pooler.
    """
    from sqlalchemy.pool import NullPool

    dialect = engine.dialect
    if dialect.name not in dialects or dialect.is_async:
        allowed = f"an engine of {dialects[0]} that is not asynchronous"
        raise InvalidArgumentError(f"the engine is of {dialect.name}+{dialect.driver}; allowed: {allowed}")
    if not isinstance(engine.pool, NullPool):
        pool = type(engine.pool).__name__
        raise InvalidArgumentError(f"the engine has a {pool}; allowed: create_engine(…, poolclass=NullPool)")
    connect: Callable[[], Any] = engine.raw_connection
    return connect


def new_token() -> str:
    """What a lease has from a renewal on: of two copies of its holder one has it, and the other one cannot renew."""
    return secrets.token_hex(16)


@contextlib.contextmanager
def transaction(connect: Callable[[], Any]) -> Iterator[Any]:
    """A cursor of a new connection, which is closed after the commit, and without one after an error.

    A connection for each call: calls come from leafid's threads, and after forks. They are rare.
    """
    with contextlib.closing(connect()) as db:
        cursor = db.cursor()
        yield cursor
        db.commit()


def wrong_columns(table: str, found: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """What is wrong with a table's columns: their types by names. One that is to have 64 bits must have them."""
    if not found:
        return [f"there is no table {table}: create_tables() makes it"]
    return [
        f"the column {name} of {table} is {found.get(name, 'missing')}: ALTER TABLE, so that it is {kind}"
        for name, kind in wanted.items()
        if name not in found or (kind == "bigint" and found[name] != kind)
    ]
