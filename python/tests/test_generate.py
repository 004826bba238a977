"""next, take, iteration and stats of one generator."""

import array
import asyncio
import copy
import itertools
import pickle
import threading
import time

import numpy
import pytest

import leafid


@pytest.fixture
def flake(space):
    with leafid.Snowflake(7, **space) as flake:
        yield flake


def test_ids_ascend_and_say_when_and_who(flake):
    before = time.time_ns() // 1_000_000
    ids = [flake.next() for _ in range(10_000)]
    after = time.time_ns() // 1_000_000
    assert ids == sorted(set(ids)) and all(type(id) is int for id in ids)
    parts = [leafid.decode(id) for id in ids]
    assert {p.worker_id for p in parts} == {7}
    assert before <= parts[0].timestamp_ms and parts[-1].timestamp_ms <= after


def test_next_and_take_and_fill_and_iteration_go_on_from_each_other(flake):
    ids = [flake.next(), next(flake), *flake.take(3), *flake.take(5_000), *itertools.islice(flake, 3)]
    ids += flake.fill(numpy.zeros(3, numpy.int64)).tolist()
    assert iter(flake) is flake
    ids.append(flake.next())
    assert ids == sorted(set(ids)) and len(ids) == 5_012


def test_ids_as_text(flake):
    first, others = flake.next_str(), flake.take_strs(3)
    assert all(type(text) is str for text in [first, *others])
    ids = [int(text) for text in [first, *others]]
    assert ids == sorted(set(ids)) and flake.take_strs(0) == []
    with pytest.raises(leafid.InvalidArgumentError, match="^n is -1"):
        flake.take_strs(-1)


@pytest.mark.parametrize("n", [1, 2, 1023, 1024, 1025, 100_000])
def test_take_gives_as_many_as_asked(flake, n):
    ids = flake.take(n)
    assert type(ids) is list and len(ids) == n and ids == sorted(set(ids))


@pytest.mark.parametrize("n", [-1, 2**24 + 1, 2**40, 2**64, True, 1.0, float("nan"), "5", None, [5]])
def test_a_bad_count_is_refused(flake, n):
    with pytest.raises(leafid.InvalidArgumentError, match="^n is .*; allowed: 0 to 16777216 ids a call"):
        flake.take(n)


def test_take_takes_numpys_integers(flake):
    assert len(flake.take(numpy.int64(3))) == 3


def test_threads_share_it(flake):
    made = [[] for _ in range(8)]
    barrier = threading.Barrier(8)

    def work(ids):
        barrier.wait()
        for _ in range(2_000):
            ids.append(flake.next())
        for _ in range(20):
            ids.extend(flake.take(100))
        ids.extend(flake.fill(numpy.zeros(2_000, numpy.int64)).tolist())

    threads = [threading.Thread(target=work, args=(ids,)) for ids in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
        assert not thread.is_alive()
    assert all(len(ids) == 6_000 and ids == sorted(ids) for ids in made)
    assert len(set().union(*made)) == 8 * 6_000


def test_waiting_lets_other_threads_run(on_disk):
    """A thread that waits for the next tick, 50 s from now, must not keep the interpreter to itself."""
    layout = leafid.Layout(timestamp_bits=20, sequence_bits=0, worker_bits=3, tick_ms=3_600_000)
    epoch_ms = int(time.time() * 1000) + 50_000 - 100 * layout.tick_ms
    with leafid.Snowflake(1, **on_disk, layout=layout, epoch_ms=epoch_ms) as flake:
        flake.next()
        begins = threading.Event()
        thread = threading.Thread(target=lambda: (begins.set(), pytest.raises(leafid.Error, flake.next)))
        thread.start()
        begins.wait()
        for _ in range(5):
            time.sleep(0.01)
        # Else its wait is over by now.
        assert thread.is_alive()
    thread.join()


def test_stats(flake, space):
    last_ms = leafid.decode(flake.next()).timestamp_ms
    stats = flake.stats()
    assert (stats.name, stats.worker_id, stats.layout) == (space["name"], 7, "leaf")
    assert stats.state_dir == f"{space['state_dir']}/{space['name']}"
    assert (stats.epoch_ms, stats.expires_at_ms) == (1288834974657, 3487858230209)
    assert stats.reserved_until_ms > last_ms
    assert (stats.lead_ms, stats.handles, stats.renewal_failures, stats.last_error) == (0, 1, 0, None)
    assert stats.renewals >= 0 and stats.ids >= 1
    flake.take(1000)
    assert flake.stats().ids >= stats.ids + 1000
    assert repr(stats).startswith(f"leafid.Stats(name='{space['name']}', worker_id=7, state_dir='/")
    with pytest.raises(AttributeError):
        stats.worker_id = 8


def test_stats_pickle_and_copy(flake):
    stats = flake.stats()
    for again in (pickle.loads(pickle.dumps(stats)), copy.copy(stats), copy.deepcopy(stats), eval(repr(stats))):
        assert again == stats and again.last_error is None and again.lease_until_ms is None


def test_repr_and_layout(flake, space):
    assert repr(flake) == f'<leafid.Snowflake name="{space["name"]}" worker_id=7 layout=leaf>'
    lazy = leafid.Snowflake(8, **space, lazy=True)
    assert " unclaimed " in repr(lazy)
    lazy.close()
    assert " closed " in repr(lazy)
    assert flake.layout == leafid.Layout() and flake.worker_id == 7


def test_it_cannot_be_pickled_copied_subclassed_or_set(flake):
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'leafid.Snowflake' object"):
            call(flake)
    with pytest.raises(TypeError):
        type("Mine", (leafid.Snowflake,), {})
    with pytest.raises(AttributeError):
        flake.worker_id = 8
    for made in (leafid.Parts, leafid.Stats):
        with pytest.raises(TypeError):
            made()


def test_no_ids_are_an_empty_list_and_closed_is_closed(space):
    asked = []

    def fetch(tag, step):
        asked.append(tag)
        return range(1, 5)

    flake, ids = leafid.Snowflake(7, **space), leafid.Segments(fetch=fetch, **space)
    lazy = leafid.Snowflake(lambda name, previous: pytest.fail("asked"), lazy=True, **space)
    order = ids.tag("order")
    empty = (numpy.zeros(0, numpy.int64), array.array("Q"), numpy.zeros((0, 4), numpy.int64))
    for each in (flake, lazy, order):
        assert each.take(0) == []
        for buffer in empty:
            assert each.fill(buffer) is buffer
    assert asyncio.run(order.take_async(0)) == []
    assert asked == []
    for each, end in ((flake, flake), (lazy, lazy), (order, ids)):
        end.close()
        for call in (lambda: each.take(0), lambda: each.fill(empty[0])):
            with pytest.raises(leafid.ClosedError):
                call()
    with pytest.raises(leafid.ClosedError):
        asyncio.run(order.take_async(0))
