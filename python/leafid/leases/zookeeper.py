"""Leases of worker ids from ZooKeeper.

    from leafid.leases import zookeeper

    flake = leafid.Snowflake(zookeeper.leases("zk-1:2181,zk-2:2181,zk-3:2181"), name="shop")

By kazoo. A node for each worker id has the holder and the end of the span. A write compares the version that was read,
so a read from a server that is behind does no harm. Ephemeral nodes are not used: they end with a session, and say
nothing about the span of the last holder. ZooKeeper tells its clock as the time of a write: what a node has is written
once more before it is changed.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from .._databases import AHEAD_MS, folder, host_list, ids_of, new_token
from .._leafid import ClaimRequest, Lease

__all__ = ["Leases", "leases"]


def leases(hosts: str, /, *, prefix: str = "/leafid/worker/") -> "Leases":
    """Leases of worker ids.

    hosts: of the servers, as kazoo takes them.
    prefix: of the nodes, before the worker id; it ends with a slash.
    """
    return Leases(host_list(hosts, "zk-1:2181,zk-2:2181, without a user"), folder(prefix))


class Leases:
    """Leases worker ids of nodes. leafid calls claim, renew and release."""

    def __init__(self, hosts: str, prefix: str) -> None:
        import kazoo.client
        import kazoo.exceptions

        self._client, self._errors = kazoo.client.KazooClient, kazoo.exceptions
        self._hosts, self._folder = hosts, prefix.rstrip("/")

    def claim(self, request: ClaimRequest) -> Lease | None:
        """Leases the id that has been free for longest, by both clocks; None if none is free."""
        with self._session() as client:
            asked = [(id, self._ask(client, id)) for id in self._ids(client)]
            found = [(*self._read(answer), id) for id, answer in asked]
            for holder, end_ms, version, id in sorted(found, key=lambda worker: worker[1]):
                if end_ms > request.now_ms:
                    break
                with contextlib.suppress(self._errors.BadVersionError):  # another client was faster: the next id
                    now_ms, version = self._write(client, id, holder, end_ms, version)
                    if end_ms > now_ms:
                        break
                    until_ms = min(request.until_ms, now_ms + AHEAD_MS)
                    self._write(client, id, request.instance, until_ms, version)
                    return Lease(id, end_ms, until_ms, token=request.instance)
        return None

    def renew(self, lease: Lease, until_ms: int) -> dict[str, Any] | None:
        """Extends a span, and changes its token; None if another one has the id."""
        token = new_token()
        end_ms = self._change(lease, token, lambda old_ms, now_ms: max(old_ms, min(until_ms, now_ms + AHEAD_MS)))
        return None if end_ms is None else {"until_ms": end_ms, "token": token}

    def release(self, lease: Lease, until_ms: int) -> None:
        """Gives the id back, of which no id at or after until_ms was made."""
        self._change(lease, None, lambda old_ms, _: min(old_ms, until_ms))

    def create_tables(self, workers: int | range = 1024) -> None:
        """Makes the nodes of these worker ids if they are missing. No lease is changed."""
        ids = ids_of(workers)
        with self._session() as client:
            for id in ids:
                with contextlib.suppress(self._errors.NodeExistsError):
                    client.create(f"{self._folder}/{id}", json.dumps([None, 0]).encode(), makepath=True)

    def check(self) -> list[str]:
        """What is wrong with the nodes, each with what mends it. An error if ZooKeeper does not answer."""
        with self._session() as client, contextlib.suppress(self._errors.NoNodeError):
            if self._ids(client):
                return []
        return [f"there are no nodes below {self._folder}: create_tables() makes them"]

    @contextlib.contextmanager
    def _session(self) -> Iterator[Any]:
        """A session for each call: calls come from leafid's threads, and after forks. They are rare."""
        client = self._client(self._hosts, timeout=2)
        client.start(timeout=1)
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def _change(self, lease: Lease, new_holder: str | None, new_end_ms: Callable[[int, int], int]) -> int | None:
        with self._session() as client:
            holder, end_ms, version = self._read(self._ask(client, lease.worker_id))
            if holder != lease.token:
                return None  # another one has the id
            now_ms, version = self._write(client, lease.worker_id, holder, end_ms, version)
            end_ms = new_end_ms(end_ms, now_ms)
            self._write(client, lease.worker_id, new_holder, end_ms, version)
            return end_ms

    def _ids(self, client: Any) -> list[int]:
        return [int(id) for id in client.get_children_async(self._folder).get(timeout=1)]

    def _ask(self, client: Any, id: int) -> Any:
        return client.get_async(f"{self._folder}/{id}")

    def _read(self, answer: Any) -> tuple[str | None, int, int]:
        value, stat = answer.get(timeout=1)
        holder, end_ms = json.loads(value)
        return holder, end_ms, stat.version

    def _write(self, client: Any, id: int, holder: str | None, until_ms: int, version: int) -> tuple[int, int]:
        """ZooKeeper's clock, and the next version. An error if the version is no longer this one."""
        written = client.set_async(f"{self._folder}/{id}", json.dumps([holder, until_ms]).encode(), version)
        stat = written.get(timeout=1)
        return stat.mtime, stat.version
