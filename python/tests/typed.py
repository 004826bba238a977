"""A program of every public call, for mypy --strict: the types that users see. It is not run."""

import array
import asyncio
import datetime
import pathlib
import uuid
from collections.abc import Iterator
from typing import assert_type

import numpy

import leafid
import leafid.leases.etcd
import leafid.leases.postgres
import leafid.leases.redis
import leafid.leases.zookeeper
import leafid.sources.mysql
import leafid.sources.postgres
import leafid.sources.redis
import leafid.sources.sqlite
from leafid.testing import FakeSegments, FakeSnowflake

layout = leafid.Layout(worker_bits=3, sequence_bits=19, order="worker-sequence")
with leafid.Snowflake(
    worker=range(8),
    name="orders",
    state_dir=pathlib.Path("state"),
    layout=layout,
    epoch_ms=1_767_225_600_000,
    on_clock_backwards="continue",
    max_backwards_ms=5000,
    on_exhausted="borrow",
    random_start=0,
    timeout_ms=None,
    persist=True,
    shared_fs=False,
    shared_group=False,
    exclusive_range=True,
    no_record_wait_ms=0,
    clock_source="system",
    start_after=1169786042799259000,
    lazy=True,
    peer_times=lambda: [1_767_225_600_000],
) as flake:
    assert_type(flake, leafid.Snowflake)
    assert_type(flake.next(), int)
    assert_type(next(flake), int)
    assert_type(flake.take(numpy.int64(3)), list[int])
    ids: Iterator[int] = flake
    numbers = array.array("q", [0])
    assert_type(flake.fill(numbers), "array.array[int]")
    grid = numpy.zeros(3, numpy.int64)
    grid = flake.fill(grid)
    stats: leafid.Stats = flake.stats()
    assert_type(stats.last_error, str | None)
    assert_type(stats.lease_until_ms, int | None)
    assert_type(stats.claims + stats.clock_lag_ms + stats.ids, int)
    assert_type(flake.worker_id, int)
    assert_type(flake.layout.epoch_ms, int)

parts: leafid.Parts = leafid.decode("1169786042799259000", layout="leaf")
assert_type(leafid.Parts(parts.timestamp_ms, worker_id=7, sequence=numpy.int64(0)), leafid.Parts)
assert_type(parts.time, datetime.datetime)
assert_type(leafid.compose(parts.timestamp_ms, parts.worker_id, parts.sequence, layout), int)
assert_type(leafid.format_id(stats.worker_id, "base62"), str)
assert_type(leafid.parse_id("10EZA6N444ZBR", "base32"), int)
assert_type(leafid.id_to_uuid(parts.worker_id), uuid.UUID)
assert_type(leafid.uuid_to_id(uuid.UUID(int=0x80008400000000000000)), int)
public = leafid.PublicIds(bytes(16), 2, others={1: "env:OLD_KEY"})
assert_type(public.encrypt("7"), int)
assert_type(public.decrypt(8, public.version), int)
assert_type(public.format_id(7, "base62"), str)
assert_type(public.parse_id("2abc", "base32"), int)
with FakeSnowflake(clock=lambda: parts.time, ids=[7, leafid.ClosedError()], layout="leaf") as fake:
    assert_type(fake, FakeSnowflake)
    assert_type(fake.next() + fake.take(numpy.int64(1))[0] + next(fake), int)
    assert_type(fake.fill(numbers), "array.array[int]")
assert_type(FakeSegments(ids={"order": [1]}).tag("order").try_next(), int | None)
leafid.Snowflake(7).close()
leafid.Snowflake("0-31").close()
leafid.Snowflake("hostname:orders*8").close()
leafid.Snowflake(
    "https://ids-1:8443",
    token="secret",
    headers={"X-Team": "orders"},
    ca_file=pathlib.Path("authority.pem"),
    request_timeout_ms=1000,
    connect_timeout_ms=300,
).close()
leafid.Snowflake(["https://ids-1:8443", "https://ids-2:8443"]).close()
leafid.Snowflake(("https://ids-1:8443", "https://ids-2:8443")).close()


def claim(name: str, previous: int | None) -> int | None:
    return previous


async def claim_later(name: str, previous: int | None) -> int:
    return 7


class Leases:
    def claim(self, request: leafid.ClaimRequest) -> leafid.Lease | None:
        assert_type(request.previous, int | None)
        return leafid.Lease(7, request.now_ms, until_ms=request.until_ms, token=request.instance)

    def renew(self, lease: leafid.Lease, until_ms: int) -> int | None:
        assert_type(lease.peer_times_ms, tuple[int, ...])
        return until_ms if lease.token else None

    def release(self, lease: leafid.Lease, until_ms: int) -> None: ...


class LaterLeases:
    async def claim(self, request: leafid.ClaimRequest) -> dict[str, object]:
        return {"worker_id": 7, "from_ms": request.now_ms, "until_ms": request.until_ms}

    async def renew(self, lease: leafid.Lease, until_ms: int) -> leafid.Lease:
        return lease

    async def release(self, lease: leafid.Lease, until_ms: int) -> None: ...


leafid.Snowflake(claim)
leafid.Snowflake(claim_later)
leafid.Snowflake(Leases())
leafid.Snowflake(LaterLeases())

leafid.Snowflake(lambda name: 7)  # type: ignore[arg-type, misc]
leafid.Snowflake(object())  # type: ignore[arg-type]
leafid.Snowflake(7, persist=0)  # type: ignore[arg-type]
leafid.Snowflake([7])  # type: ignore[list-item]
leafid.Snowflake(7, request_timeout_ms="1000")  # type: ignore[arg-type]
leafid.Snowflake(7.0)  # type: ignore[arg-type]
leafid.Snowflake(7, "orders")  # type: ignore[call-arg]
leafid.Snowflake(7, worker_id=7)  # type: ignore[call-arg]
leafid.Snowflake(7, on_exhausted="stop")  # type: ignore[arg-type]
leafid.Layout(order="worker")  # type: ignore[arg-type]
flake.worker_id = 8  # type: ignore[misc]



def fetch(tag: str, step: int) -> range | None:
    return range(1, 1 + step) if tag == "order" else None


def fetch_after(tag: str, step: int, *, after: int) -> tuple[int, int]:
    return after, after + step


async def fetch_later(tag: str, step: int, after: int) -> tuple[int, int]:
    return after, after + step


with leafid.Segments(
    fetch=fetch,
    step=1000,
    adaptive=False,
    prefetch=20,
    timeout_ms=None,
    name="orders",
    state_dir=pathlib.Path("state"),
    persist=True,
    shared_fs=False,
    shared_group=False,
    prewarm=["order"],
    keep_unused=True,
    ordered_source=False,
) as segments:
    assert_type(segments, leafid.Segments)
    assert_type(segments.name, str)
    order: leafid.Tag = segments.tag("order")
    assert_type(order.next(), int)
    assert_type(order.next(timeout_ms=50), int)
    assert_type(next(order), int)
    assert_type(order.try_next(), int | None)
    assert_type(order.take(numpy.int64(3), timeout_ms=50), list[int])
    assert_type(order.fill(numbers), "array.array[int]")
    more_ids: Iterator[int] = order
    assert_type({order: order.name}, dict[leafid.Tag, str])
    assert_type(order.stats().current, range | None)
    assert_type(segments.stats().tags, dict[str, leafid.TagStats])


async def use(tag: leafid.Tag) -> None:
    assert_type(await tag.next_async(), int)
    assert_type(await tag.take_async(10, timeout_ms=50), list[int])
    both = await asyncio.gather(tag.next_async(), tag.next_async())
    assert_type(both, tuple[int, int])
    assert_type(await asyncio.create_task(tag.next_async(50)), int)


leafid.Segments(fetch=fetch_later, prewarm="last-day").close()
leafid.Segments(fetch=lambda tag, step: (1, 1 + step)).close()
leafid.Segments(fetch=fetch_after).close()
leafid.Segments(
    ["http://leaf-1:8080", "http://leaf-2:8080"],
    protocol="range",
    request_timeout_ms=1000,
    connect_timeout_ms=300,
    connections=4,
    token="secret",
    headers={"X-Team": "orders"},
    ca_file=pathlib.Path("authority.pem"),
).close()
leafid.Segments("http://leaf-1:8080", block_size=100).close()
leafid.Segments("http://leaf-1:8080", protocol="leaf-snowflake").close()
leafid.Segments("http://tinyid-1:9999", protocol="tinyid", token="secret").close()
leafid.Segments("file:counters", tags={"order": {"start": 1, "step": 1000}, "user": {}}, create=True).close()

leafid.Segments(fetch=lambda tag: None)  # type: ignore[arg-type, misc]
leafid.Segments(fetch=lambda tag, step: "ids")  # type: ignore[arg-type, return-value]
leafid.Segments(8080)  # type: ignore[arg-type]
leafid.Segments("file:counters", protocol="http")  # type: ignore[arg-type]
leafid.Segments("file:counters", prewarm=True)  # type: ignore[arg-type]
leafid.Segments("file:counters", tags={"order": {"first": 1}})  # type: ignore[typeddict-unknown-key]
segments.tag(7)  # type: ignore[arg-type]

ranges = leafid.sources.postgres.source("postgresql://ids", table="counters", driver="asyncpg")
ranges.create_tables(tags=["order"])
assert_type(ranges.check(), list[str])
assert_type(ranges("order", 10, after=0), range | None)
leafid.Segments(fetch=ranges).close()
leafid.Segments(fetch=leafid.sources.mysql.source(host="ids", port=3306)).close()
leafid.Segments(fetch=leafid.sources.redis.source("redis://ids", prefix="of:")).close()
leafid.Segments(fetch=leafid.sources.sqlite.source(pathlib.Path("ids.db"))).close()
workers = leafid.leases.postgres.leases("postgresql://ids", table="workers")
workers.create_tables(workers=range(32))
assert_type(workers.check(), list[str])
leafid.Snowflake(workers).close()
leafid.Snowflake(leafid.leases.redis.leases("redis://ids")).close()
leafid.Snowflake(leafid.leases.etcd.leases("http://etcd:2379")).close()
leafid.Snowflake(leafid.leases.zookeeper.leases("zk:2181")).close()
leafid.sources.postgres.source("postgresql://ids", driver="pg")  # type: ignore[arg-type]

assert_type(leafid.metrics(), str)

try:
    flake.next()
except leafid.InvalidArgumentError as error:
    value_error: ValueError = error
    assert_type(error.code, str)
except leafid.Error as error:
    assert_type(error.can_retry, bool)
