"""A Redis, by redis-py."""

from typing import Any

from ._databases import whole_url


class Redis:
    """A server, of which each answer is waited for some seconds."""

    def __init__(self, url: str, limit_s: int) -> None:
        url = whole_url(url, "redis|rediss|unix", "redis://user:password@host:6379/0, percent-encoded")
        import redis

        # Its pool keeps no connection over a fork.
        self.client: Any = redis.Redis.from_url(url, socket_connect_timeout=limit_s, socket_timeout=limit_s)
        self._refused = redis.ResponseError

    def run(self, script: str, keys: list[str], *values: Any) -> Any:
        """The answer of a script, which is one command."""
        return self.client.eval(script, len(keys), *keys, *values)

    def problems(self) -> list[str]:
        """What is wrong with the server, each with what mends it."""
        info = self.client.info()
        found = []
        if not info["aof_enabled"]:
            mend = "CONFIG SET appendonly yes, and CONFIG REWRITE"
            found.append(f"appendonly is no: a crash loses what came after the last snapshot; {mend}")
        try:
            fsync = self.client.config_get("appendfsync")["appendfsync"]
        except self._refused as error:
            found.append(f"appendfsync is not known, CONFIG GET answered {error}: it must be always")
        else:
            if fsync != "always":
                mend = "CONFIG SET appendfsync always, and CONFIG REWRITE"
                found.append(f"appendfsync is {fsync}: a crash of the machine loses the last commands; {mend}")
        if info["maxmemory_policy"].startswith("allkeys"):
            mend = "CONFIG SET maxmemory-policy noeviction, and CONFIG REWRITE"
            found.append(f"maxmemory-policy is {info['maxmemory_policy']}: keys can be removed; {mend}")
        if info["role"] != "master":
            found.append(f"role is {info['role']}, this is a replica: connect to its master")
        if info["cluster_enabled"]:
            mend = "set cluster-replica-no-failover on each replica"
            found.append(f"cluster_enabled is 1: a replica that lacks the last commands may be promoted; {mend}")
        return found
