"""Ranges of ids from keys of Redis.

    from leafid.sources import redis

    fetch = redis.source("redis://ids:6379/0")
    ids = leafid.Segments(fetch=fetch, name="shop")

By redis-py.
"""

from collections.abc import Iterable

from .._databases import listed, text
from .._redis import Redis

__all__ = ["Source", "source"]

# It compares texts and lets Redis add, because numbers of Lua are exact only up to 2^53.
TAKE = """
local max, after = redis.call('GET', KEYS[1]), ARGV[2]
if not max then return false end
if #max < #after or (#max == #after and max < after) then redis.call('SET', KEYS[1], after) end
redis.call('INCRBY', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])
"""


def source(url: str, /, *, prefix: str = "segment:") -> "Source":
    """A source of ranges.

    url: of the server.
    prefix: of the keys, before the tag.
    """
    return Source(Redis(url, limit_s=2), text("prefix", prefix))


class Source:
    """Takes ranges from keys. leafid calls it."""

    def __init__(self, db: Redis, prefix: str) -> None:
        self._db, self._prefix = db, prefix

    def __call__(self, tag: str, step: int, *, after: int = 0) -> range | None:
        """A range that no other call gets, at or above `after`; None for an unknown tag, whose key is missing.

        So a Redis that lost its data gives nothing, and does not begin at 1 again.
        """
        end = self._db.run(TAKE, [self._prefix + tag], step, after)
        return None if end is None else range(int(end) - step, int(end))

    def create_tables(self, tags: Iterable[str] = ()) -> None:
        """Makes the keys of these tags if they are missing. No counter is changed."""
        for tag in listed(tags):
            self._db.client.set(self._prefix + tag, 1, nx=True)

    def check(self) -> list[str]:
        """What is wrong with the server, each with what mends it."""
        return self._db.problems()
