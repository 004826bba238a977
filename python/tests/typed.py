"""A program of every public call, for mypy --strict: the types that users see. It is not run."""

import array
import datetime
import pathlib
from collections.abc import Iterator
from typing import assert_type

import numpy

import leafid

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
    assert_type(flake.worker_id, int)
    assert_type(flake.layout.epoch_ms, int)

parts: leafid.Parts = leafid.decode("1169786042799259000", layout="leaf")
assert_type(parts.time, datetime.datetime)
assert_type(leafid.compose(parts.timestamp_ms, parts.worker_id, parts.sequence, layout), int)
leafid.Snowflake(7).close()
leafid.Snowflake("0-31").close()

leafid.Snowflake(7.0)  # type: ignore[arg-type]
leafid.Snowflake(7, "orders")  # type: ignore[call-arg]
leafid.Snowflake(7, worker_id=7)  # type: ignore[call-arg]
leafid.Snowflake(7, on_exhausted="stop")  # type: ignore[arg-type]
leafid.Layout(order="worker")  # type: ignore[arg-type]
flake.worker_id = 8  # type: ignore[misc]

try:
    flake.next()
except leafid.InvalidArgumentError as error:
    value_error: ValueError = error
    assert_type(error.code, str)
except leafid.Error as error:
    assert_type(error.can_retry, bool)
