"""Leases of worker ids from Redis.

    from leafid.leases import redis

    flake = leafid.Snowflake(redis.leases("redis://ids:6379/0"), name="shop")

By redis-py. A sorted set has the end of each worker id's span, a hash the holders. A key with an expiry is no lease: it
ends by the clock of Redis, and says nothing about the span of the last holder.
"""

from typing import Any

from .._databases import AHEAD_MS, ids_of, new_token, text
from .._leafid import ClaimRequest, Lease
from .._redis import Redis

__all__ = ["Leases", "leases"]

CLOCK = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most = now + {AHEAD_MS}
"""
# The id that has been free for longest, by both clocks.
CLAIM = CLOCK + """
local free = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', math.min(ARGV[1], now), 'WITHSCORES', 'LIMIT', 0, 1)
if #free == 0 then return false end
free[3] = math.min(ARGV[2], most)
redis.call('ZADD', KEYS[1], free[3], free[1])
redis.call('HSET', KEYS[2], free[1], ARGV[3])
return free
"""
# A driver whose connection was cut sends it again, with the same new token.
RENEW = CLOCK + """
local holder = redis.call('HGET', KEYS[2], ARGV[1])
if holder ~= ARGV[2] and holder ~= ARGV[4] then return false end
redis.call('ZADD', KEYS[1], 'GT', math.min(ARGV[3], most), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return redis.call('ZSCORE', KEYS[1], ARGV[1])
"""
RELEASE = """
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return false end
redis.call('ZADD', KEYS[1], 'LT', ARGV[3], ARGV[1])
return redis.call('HDEL', KEYS[2], ARGV[1])
"""


def leases(url: str, /, *, prefix: str = "{worker}") -> "Leases":
    """Leases of worker ids.

    url: of the server.
    prefix: of the two keys; what is in braces is the same for both, for a cluster.
    """
    return Leases(Redis(url, limit_s=1), text("prefix", prefix))


class Leases:
    """Leases worker ids of a sorted set. leafid calls claim, renew and release."""

    def __init__(self, db: Redis, prefix: str) -> None:
        self._db, self._keys = db, [f"{prefix}:until", f"{prefix}:holder"]

    def claim(self, request: ClaimRequest) -> Lease | None:
        """Leases the id that has been free for longest; None if none is free."""
        free: Any = self._db.run(CLAIM, self._keys, request.now_ms, request.until_ms, request.instance)
        if not free:
            return None
        worker_id, from_ms, until_ms = map(int, free)
        return Lease(worker_id, from_ms, until_ms, token=request.instance)

    def renew(self, lease: Lease, until_ms: int) -> dict[str, Any] | None:
        """Extends a span, and changes its token; None if another one has the id."""
        token = new_token()
        end_ms = self._db.run(RENEW, self._keys, lease.worker_id, lease.token, until_ms, token)
        return {"until_ms": int(end_ms), "token": token} if end_ms else None

    def release(self, lease: Lease, until_ms: int) -> None:
        """Gives the id back, of which no id at or after until_ms was made."""
        self._db.run(RELEASE, self._keys, lease.worker_id, lease.token, until_ms)

    def create_tables(self, workers: int | range = 1024) -> None:
        """Adds these worker ids if they are missing. No lease is changed."""
        self._db.client.zadd(self._keys[0], {str(id): 0 for id in ids_of(workers)}, nx=True)

    def check(self) -> list[str]:
        """What is wrong with the server, each with what mends it."""
        found = self._db.problems()
        if not self._db.client.zcard(self._keys[0]):
            found.append(f"{self._keys[0]} has no worker ids: create_tables() adds them")
        return found
