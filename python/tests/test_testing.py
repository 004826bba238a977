"""leafid.testing: the same ids in each run, with the methods of the real ones."""

import array
import asyncio
import ctypes
import datetime
import inspect
import subprocess
import sys

import numpy
import pytest

import leafid
from leafid.testing import FakeSegments, FakeSnowflake, FakeTag

NOW = 1_767_225_600_000


def composed(worker_id, sequences, now_ms=NOW):
    return [leafid.compose(now_ms, worker_id, sequence) for sequence in sequences]


def test_ids_of_the_clock_by_compose():
    flake = FakeSnowflake(clock=NOW, worker_id=3)
    ids = [flake.next(), next(flake), *flake.take(2), *flake.fill(array.array("Q", [0, 0]))]
    ids += map(int, flake.fill(numpy.zeros(2, numpy.int64)))
    ids += flake.fill((ctypes.c_int64 * 2)())
    assert ids == composed(3, range(10)) and (flake.worker_id, flake.layout) == (3, leafid.Layout())
    assert FakeSnowflake().next() == composed(0, [0])[0]
    moved = FakeSnowflake(clock=datetime.datetime.fromtimestamp(1, datetime.UTC), epoch_ms=0)
    assert moved.next() == leafid.compose(1000, 0, 0, moved.layout) and moved.layout.epoch_ms == 0


@pytest.mark.parametrize("layout", ["leaf", "sonyflake", "js-safe"])
def test_a_clock_that_stands_goes_back_or_moves(layout):
    now = [NOW]
    flake = FakeSnowflake(clock=lambda: now[0], layout=layout)
    start = leafid.decode(leafid.compose(NOW, 0, 0, layout), layout).timestamp_ms
    ids = flake.take(2**flake.layout.sequence_bits + 1)
    assert ids == sorted(set(ids)) and ids[-1] == leafid.compose(start + flake.layout.tick_ms, 0, 0, layout)
    now[0] -= 1000
    assert flake.next() == leafid.compose(start + flake.layout.tick_ms, 0, 1, layout)
    now[0] = NOW + 5000
    assert flake.next() == leafid.compose(now[0], 0, 0, layout)


def test_given_ids_errors_among_them_and_their_end():
    flake = FakeSnowflake(ids=[1, 2, leafid.WorkerLostError("lost"), 3])
    assert flake.take(2) == [1, 2]
    with pytest.raises(leafid.WorkerLostError, match="lost"):
        flake.next()
    assert flake.next() == 3
    with pytest.raises(AssertionError, match="no more ids"):
        flake.next()
    segments = FakeSegments(ids={"order": [7]})
    assert segments.tag("order").next() == 7
    for _ in range(2):
        with pytest.raises(leafid.UnknownTagError, match="'user'"):
            segments.tag("user").next()


def test_tags_count():
    async def taken(tag):
        return [await tag.next_async(), *await tag.take_async(2, timeout_ms=5)]

    with FakeSegments(first=5) as segments:
        order = segments.tag("order")
        assert segments.tag("order") is order
        assert [order.next(), order.try_next(), *order.take(2, timeout_ms=5), next(order)] == [5, 6, 7, 8, 9]
        assert order.fill(array.array("q", [0]))[0] == 10 and asyncio.run(taken(order)) == [11, 12, 13]
        assert segments.tag("user").next(timeout_ms=5) == 5
        assert order.stats().ids == 9
        assert segments.stats().tags == {"order": order.stats(), "user": segments.tag("user").stats()}
    for call in (order.next, order.stats, lambda: segments.tag("order")):
        with pytest.raises(leafid.ClosedError):
            call()


@pytest.mark.parametrize(
    ("fake", "real"),
    [(FakeSnowflake, leafid.Snowflake), (FakeSegments, leafid.Segments), (FakeTag, leafid.Tag)],
)
def test_the_same_names_and_arguments_as_the_real_ones(fake, real):
    public = {name for name in dir(real) if not name.startswith("_")}
    assert {name for name in dir(fake) if not name.startswith("_")} == public
    for name in public:
        if callable(getattr(real, name)):
            assert list(inspect.signature(getattr(fake, name)).parameters) == list(
                inspect.signature(getattr(real, name)).parameters
            )
    assert hasattr(fake, "__next__") == hasattr(real, "__next__")


def test_it_is_no_real_one_and_claims_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("LEAFID_STATE_DIR", str(tmp_path))
    with FakeSnowflake(worker_id=1023) as flake, FakeSnowflake(worker_id=1023) as other:
        assert flake.next() == other.next()
        assert not isinstance(flake, leafid.Snowflake) and "not unique" in repr(flake)
        assert "leafid-testing" not in leafid.metrics() and list(tmp_path.iterdir()) == []
        stats = flake.stats()
        assert (stats.worker_id, stats.layout, stats.state_dir, stats.ids) == (1023, "41|10|12", "", 1)
    for call in (flake.next, flake.stats, lambda: flake.worker_id, lambda: flake.take(0)):
        with pytest.raises(leafid.ClosedError):
            call()


def test_bad_arguments_are_refused():
    with pytest.raises(leafid.InvalidArgumentError, match="0 to 1023"):
        FakeSnowflake(worker_id=1024)
    for n in (-1, 2**24 + 1):
        with pytest.raises(leafid.InvalidArgumentError, match=f"n is {n}"):
            FakeSnowflake().take(n)
    # A text is not taken apart into its digits.
    for refused in (
        lambda: FakeSnowflake().take("5"),
        lambda: FakeSnowflake(worker_id="5"),
        lambda: FakeSnowflake(ids="16"),
        lambda: FakeSnowflake(ids=16),
        lambda: FakeSnowflake(ids=[1.5]).next(),
        lambda: FakeSegments(first="5"),
        lambda: FakeSegments(ids={"order": "16"}).tag("order"),
    ):
        with pytest.raises(leafid.InvalidArgumentError):
            refused()
    strided = memoryview(array.array("q", [0, 0, 0]))[::2]
    unaligned = numpy.frombuffer(bytearray(17), "i8", 2, 1)
    buffers = bytearray(8), bytes(8), array.array("i", [0, 0]), numpy.zeros(2), numpy.zeros(2, ">i8"), strided, unaligned
    for out in buffers:
        with pytest.raises(leafid.InvalidArgumentError, match="^out is"):
            FakeSnowflake().fill(out)


def test_the_page_runs(project, tmp_path):
    subprocess.run([sys.executable, project / "tests/blocks.py", project / "docs/TESTING.md", tmp_path], check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path / "test_orders.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
