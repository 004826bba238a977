"""Segments from a callable: ids in order, and what the objects are."""

import array
import copy
import gc
import itertools
import pickle
import threading
import weakref

import numpy
import pytest

import leafid


@pytest.fixture
def counter(make_counter):
    return make_counter()


@pytest.fixture
def order(counter, space):
    with leafid.Segments(fetch=counter.fetch, **space, step=100, adaptive=False) as ids:
        yield ids.tag("order")


def test_ids_come_in_order(order, counter):
    assert [order.next(), next(order), *order.take(3), *itertools.islice(order, 2)] == [1, 2, 3, 4, 5, 6, 7]
    assert order.next(timeout_ms=50) == 8 and order.take(2, timeout_ms=50) == [9, 10]
    assert order.take(500) == list(range(11, 511))
    assert {tag for tag, _ in counter.asked} == {"order"}


def test_fill_writes_the_buffer(order):
    for buffer in (array.array("q", [0] * 5), numpy.zeros(5, numpy.uint64), numpy.zeros(250, numpy.int64)):
        before = order.next()
        assert order.fill(buffer) is buffer
        assert [int(id) for id in buffer] == list(range(before + 1, before + 1 + len(buffer)))
    for wrong in (array.array("i", [0]), b"12345678", numpy.zeros(4, numpy.int64)[::2], 7):
        with pytest.raises(leafid.InvalidArgumentError, match="^out is "):
            order.fill(wrong)


def test_ids_as_text(order):
    assert order.next_str() == "1" and order.take_strs(2) == ["2", "3"]


def test_large_takes(order, counter):
    ids = order.take(1_000_000)
    assert ids == list(range(1, 1_000_001)) and len(counter.asked) < 10
    assert order.fill(numpy.zeros(300_000, numpy.int64)).tolist() == list(range(1_000_001, 1_300_001))


@pytest.mark.parametrize("n", [-1, 2**24 + 1, 2**64, True, 1.0, "1", None])
def test_how_many_may_be_taken(order, n):
    for take in (order.take, order.take_async):
        with pytest.raises(leafid.InvalidArgumentError, match="^n is "):
            take(n)


@pytest.mark.parametrize("timeout_ms", [0, -1, 3_600_001, 2**64, True, 1.0, "1"])
def test_what_a_timeout_may_be(order, timeout_ms):
    order.next()
    for call in (order.next, lambda **ms: order.take(1, **ms), lambda **ms: order.fill(numpy.zeros(1, int), **ms)):
        with pytest.raises(leafid.InvalidArgumentError, match="^timeout_ms is "):
            call(timeout_ms=timeout_ms)
    assert order.next() == 2


def test_what_a_tag_may_be(counter, space, vectors):
    with leafid.Segments(fetch=counter.fetch, **space) as ids:
        tags = [case["tag"] for case in vectors("tags")["cases"] if "path" in case]
        for name in tags:
            tag = ids.tag(name)
            assert tag.name == name and tag.next() > 0 and counter.asked[-1][0] == name
        assert set(ids.stats().tags) == set(tags)


def test_what_a_tag_may_not_be(counter, space, vectors):
    refused = [case["tag"] for case in vectors("tags")["cases"] if case.get("refused")]
    assert refused
    with leafid.Segments(fetch=counter.fetch, **space) as ids:
        for name in [*refused, "\ud800", 7, None, b"order"]:
            with pytest.raises(leafid.InvalidArgumentError, match="^tag is "):
                ids.tag(name)
        assert counter.asked == []


def test_stats(counter, space, settle):
    with leafid.Segments(fetch=counter.fetch, **space, step=100) as ids:
        order = ids.tag("order")
        assert ids.stats().tags == {} and order.stats().left == 0
        order.take(20)
        settle(order)
        stats = order.stats()
        assert (stats.tag, stats.current, stats.next, stats.left) == ("order", range(21, 101), range(101, 201), 180)
        assert (stats.ids, stats.step, stats.fetches, stats.failures, stats.waits) == (20, 100, 2, 0, 1)
        assert (stats.waiting, stats.last_error, stats.fetching) == (0, None, False)
        assert stats == order.stats() and "current=range(21, 101)" in repr(stats)
        whole = ids.stats()
        assert (whole.name, whole.source, whole.tags) == (space["name"], "callback", {"order": stats})
        assert whole.state_dir == f"{space['state_dir']}/{space['name']}" and "source='callback'" in repr(whole)


def test_stats_pickle_and_copy(order, source):
    source.let_go.set()
    assert order.next() == 1
    stats = order.stats()
    with leafid.Segments("http://127.0.0.1:9/", persist=False, name="pickled") as ids:
        whole = ids.stats()
    assert whole.servers == {"http://127.0.0.1:9": None}
    for value in (stats, whole, leafid.SegmentsStats("a", "leaf", {"http://b": "error"}, "", {"order": stats})):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert again == value and repr(again) == repr(value)
    assert pickle.loads(pickle.dumps(stats)).current == range(2, 101)
    with pytest.raises(TypeError):
        leafid.SegmentsStats("a", "leaf", {}, "", {"order": 1})


def test_tags_of_one_name_are_equal(counter, space):
    with leafid.Segments(fetch=counter.fetch, **space) as ids, leafid.Segments(fetch=counter.fetch, **space) as others:
        order, same = ids.tag("order"), ids.tag("order")
        assert order == same and hash(order) == hash(same) and (order.next(), same.next()) == (1, 2)
        assert order != ids.tag("user") and order != others.tag("order") and order != "order"
        assert repr(order) == '<leafid.Tag "order">' and space["name"] in repr(ids)
        assert len({order, same, ids.tag("user")}) == 2


def test_pickle_and_copy_are_refused(order, counter, space):
    with leafid.Segments(fetch=counter.fetch, **space) as ids:
        for value in (order, ids):
            for make in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="cannot pickle .*leafid.* each process"):
                    make(value)


def test_close_ends_tags_and_wakes_who_waits(space, wait):
    let_go = threading.Event()
    ids = leafid.Segments(fetch=lambda tag, step: let_go.wait() and None, **space | {"timeout_ms": 900_000})
    order, errors = ids.tag("order"), []
    waiter = threading.Thread(target=lambda: errors.append(pytest.raises(leafid.ClosedError, order.next)))
    waiter.start()
    wait(lambda: order.stats().waiting == 1)
    try:
        ids.close()
        waiter.join()
    finally:
        let_go.set()
    assert errors
    ids.close()
    for call in (order.next, ids.stats, lambda: order.take(1), lambda: ids.tag("user")):
        with pytest.raises(leafid.ClosedError):
            call()


def test_a_tag_keeps_its_segments_open(counter, space):
    order = leafid.Segments(fetch=counter.fetch, **space).tag("order")
    gc.collect()
    assert order.take(2000) == list(range(1, 2001))


def test_what_is_dropped_is_closed(counter, space, wait, settle):
    fetch = lambda tag, step: counter.fetch(tag, step)  # noqa: E731
    gone = weakref.ref(fetch)
    ids = leafid.Segments(fetch=fetch, **space)
    order = ids.tag("order")
    order.next()
    settle(order)
    del ids, fetch
    gc.collect()
    assert gone() is not None and order.next() == 2
    del order
    gc.collect()
    # A thread that fetched may just be leaving.
    wait(lambda: gone() is None or gc.collect() < 0)


def test_a_callable_that_holds_its_segments_is_collected(space, settle):
    class Table:
        def fetch(self, tag, step):
            return range(1, 1 + step)

    table = Table()
    table.ids = leafid.Segments(fetch=table.fetch, **space)
    table.order = table.ids.tag("order")
    assert table.order.next() == 1
    settle(table.order)
    gone = weakref.ref(table), weakref.ref(table.ids), weakref.ref(table.order)
    gc.collect()
    assert None not in [reference() for reference in gone]
    del table
    gc.collect()
    assert [reference() for reference in gone] == [None, None, None]


def test_a_tag_of_blocks_is_refused_unless_its_numbers_are_ids(counter, space):
    with leafid.Segments(fetch=counter.fetch, **space) as ids:
        with pytest.raises(leafid.InvalidArgumentError, match='^tag is "order-x100"; .* set block_size to 1'):
            ids.tag("order-x100")
    with leafid.Segments(fetch=counter.fetch, **space, block_size=1) as ids:
        assert ids.tag("order-x100").next() == 1
