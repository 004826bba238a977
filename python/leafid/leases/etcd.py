"""Leases of worker ids from etcd.

    from leafid.leases import etcd

    flake = leafid.Snowflake(etcd.leases("http://etcd:2379"), name="shop")

By the JSON gateway that every etcd has, and no package. A key for each worker id has the holder and the end of the
span. A write compares the value that was read, so it fails if another client wrote meanwhile. A lease of etcd is not
used: it ends by the clock of etcd, and says nothing about the span of the last holder. etcd tells its clock as the Date
of its answers.
"""

import base64
import email.utils
import json
import urllib.request
from collections.abc import Callable
from typing import Any

from .._databases import AHEAD_MS, folder, ids_of, new_token, whole_url
from .._leafid import ClaimRequest, Lease

__all__ = ["Leases", "leases"]


def leases(url: str, /, *, prefix: str = "/leafid/worker/") -> "Leases":
    """Leases of worker ids.

    url: of the servers.
    prefix: of the keys, before the worker id; it ends with a slash.
    """
    allowed = "http://host:2379 or https://host:2379, without a user"
    return Leases(whole_url(url, "http|https", allowed, without="@?").rstrip("/"), folder(prefix))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _stored(holder: str | None, until_ms: int) -> str:
    return _encoded(json.dumps({"holder": holder, "until_ms": until_ms}))


class Leases:
    """Leases worker ids of keys. leafid calls claim, renew and release."""

    def __init__(self, url: str, prefix: str) -> None:
        self._url, self._prefix = url, prefix
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        self._all = {"key": _encoded(prefix), "range_end": _encoded(end)}

    def claim(self, request: ClaimRequest) -> Lease | None:
        """Leases the id that has been free for longest, by both clocks; None if none is free."""
        found, now_ms = self._read(self._all)
        until_ms = min(request.until_ms, now_ms + AHEAD_MS)
        for id, stored, before in found:
            free = stored["until_ms"] <= min(request.now_ms, now_ms)
            if free and self._write(id, before, request.instance, until_ms):
                return Lease(id, stored["until_ms"], until_ms, token=request.instance)
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
        """Makes the keys of these worker ids if they are missing. No lease is changed."""
        for id in ids_of(workers):
            key = _encoded(f"{self._prefix}{id}")
            self._put(key, {"target": "CREATE", "create_revision": "0"}, _stored(None, 0))

    def check(self) -> list[str]:
        """What is wrong with the keys, each with what mends it. An error if etcd does not answer."""
        return [] if self._read(self._all)[0] else [f"there are no keys {self._prefix}…: create_tables() makes them"]

    def _change(self, lease: Lease, holder: str | None, end_ms: Callable[[int, int], int]) -> int | None:
        found, now_ms = self._read({"key": _encoded(f"{self._prefix}{lease.worker_id}")})
        for id, stored, before in found:
            if stored["holder"] == lease.token:
                until_ms = end_ms(stored["until_ms"], now_ms)
                if not self._write(id, before, holder, until_ms):
                    raise RuntimeError("another client wrote meanwhile")  # leafid calls again
                return until_ms
        return None  # another one has the id

    def _read(self, keys: dict[str, str]) -> tuple[list[tuple[int, Any, str]], int]:
        """Worker id, what is stored, and its bytes, the one that has been free for longest first; and etcd's clock."""
        answer, now_ms = self._call("range", keys)
        found = []
        for row in answer.get("kvs", []):
            id = int(base64.b64decode(row["key"]).decode().removeprefix(self._prefix))
            found.append((id, json.loads(base64.b64decode(row["value"])), row["value"]))
        return sorted(found, key=lambda worker: worker[1]["until_ms"]), now_ms

    def _write(self, id: int, before: str, holder: str | None, until_ms: int) -> bool:
        """Whether the value was still `before`."""
        key = _encoded(f"{self._prefix}{id}")
        return self._put(key, {"target": "VALUE", "value": before}, _stored(holder, until_ms))

    def _put(self, key: str, unchanged: dict[str, str], value: str) -> bool:
        compare = [{"key": key, "result": "EQUAL", **unchanged}]
        done, _ = self._call("txn", {"compare": compare, "success": [{"request_put": {"key": key, "value": value}}]})
        return bool(done.get("succeeded", False))

    def _call(self, name: str, request: dict[str, Any]) -> tuple[Any, int]:
        with urllib.request.urlopen(f"{self._url}/v3/kv/{name}", json.dumps(request).encode(), timeout=1) as answer:
            if not (date := answer.headers["Date"]):
                raise RuntimeError("the answer of etcd has no Date, and its clock is not known: no proxy may remove it")
            return json.load(answer), int(email.utils.parsedate_to_datetime(date).timestamp()) * 1000
