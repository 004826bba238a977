"""The callable that gives segments: where it is called, and with what."""

import asyncio
import functools
import gc
import sys
import threading

import numpy
import pytest

import leafid


async def awaited(tag):
    return await tag.next_async()


def test_it_is_called_on_threads_of_leafids(opened):
    threads = set()

    def fetch(tag, step):
        threads.add(threading.get_ident())
        return range(1, 1 + step)

    assert opened(fetch).tag("order").take(2000)[-1] == 2000
    assert threading.get_ident() not in threads


def test_a_thread_it_is_called_on_has_room(opened):
    nested = []
    for _ in range(900):
        nested = [nested]
    assert opened(lambda tag, step: (1, 1 + len(repr(nested)))).tag("order").next() == 1


def test_what_it_is_asked(opened):
    asked = []

    class Table:
        def fetch(self, tag, step):
            asked.append((tag, step))
            return range(1, 1 + step)

        __call__ = fetch

    table = Table()
    for fetch in (table, table.fetch, functools.partial(table.fetch), lambda tag, step, more=None: table(tag, step)):
        opened(fetch).tag("order").next()
        opened(fetch, step=50).tag("user").next()
        assert asked[-2:] == [("order", 1000), ("user", 50)]


def test_a_parameter_named_after_is_told_what_was_given(opened):
    asked = {}

    def keyword(tag, step, *, after):
        asked.setdefault(tag, []).append(after)
        return range(max(after, 1), max(after, 1) + step)

    def third(tag, step, after=None):
        return keyword(tag, step, after=after)

    async def later(tag, step, after):
        return keyword(tag, step, after=after)

    for fetch in (keyword, third, later):
        order = opened(fetch, step=10, adaptive=False).tag(fetch.__name__)
        assert order.take(10)[-1] == 10 and order.take(10)[-1] == 20
        assert asked[fetch.__name__][:2] == [0, 11]


def test_an_async_def_is_run(opened, failed):
    async def fetch(tag, step):
        await asyncio.sleep(0.01)
        return range(1, 1 + step)

    async def fails(tag, step):
        await asyncio.sleep(0)
        raise LookupError("mine")

    assert opened(fetch).tag("order").take(2) == [1, 2]
    order = opened(fails).tag("order")
    failed(order)
    with pytest.raises(leafid.SegmentUnavailableError, match="LookupError: mine") as error:
        order.next(timeout_ms=50)
    assert isinstance(error.value.__cause__, LookupError)


def test_it_may_use_other_generators(opened, space):
    flake = leafid.Snowflake(7, **space)
    numbers = opened(lambda tag, step: range(1, 1 + step), step=10)

    def fetch(tag, step):
        assert leafid.decode(flake.next()).worker_id == 7
        number = numbers.tag("range").next()
        return range(number * step, (number + 1) * step)

    def other_tag(tag, step):
        return range(1, 1 + step) if tag == "user" else (ids.tag("user").next(), 500)

    assert opened(fetch).tag("order").take(1500)[:2] == [1500, 1501]
    ids = opened(other_tag)
    assert ids.tag("order").next() == 1
    flake.close()


OWN = {
    "next": lambda tag: tag.next(),
    "take": lambda tag: tag.take(100_000),
    "fill": lambda tag: tag.fill(numpy.zeros(3, numpy.int64)),
    "iteration": lambda tag: next(iter(tag)),
    "next_async": lambda tag: asyncio.run(awaited(tag)),
}


@pytest.mark.parametrize("call", OWN.values(), ids=OWN)
def test_one_that_asks_its_own_tag(opened, failed, call):
    """At once: it waits for itself."""

    def fetch(tag, step):
        return call(order), 500

    order = opened(fetch, timeout_ms=3_600_000).tag("order")
    failed(order)
    with pytest.raises(leafid.SegmentUnavailableError, match='"order" asks for an id of that tag') as error:
        order.next(timeout_ms=50)
    assert isinstance(error.value.__cause__, leafid.SegmentUnavailableError)


def test_one_that_does_not_take_its_arguments_is_the_users_error(opened):
    order = opened(lambda tag: range(1, 9)).tag("order")
    call = r"fetch cannot be called as fetch\(tag, step\): TypeError: .*positional"
    with pytest.raises(leafid.InvalidArgumentError, match=call) as error:
        order.next()
    assert isinstance(error.value.__cause__, TypeError) and not error.value.can_retry


def test_one_that_has_another_thread_ask_its_own_tag(opened):
    let_go = threading.Event()

    def fetch(tag, step):
        asks = threading.Thread(target=lambda: pytest.raises(leafid.SegmentUnavailableError, order.next))
        asks.start()
        asks.join()
        let_go.wait()
        return range(1, 1 + step)

    order = opened(fetch, timeout_ms=1000).tag("order")
    with pytest.raises(leafid.SegmentUnavailableError, match="has not answered for"):
        order.next(timeout_ms=100)
    let_go.set()
    assert order.next(timeout_ms=60_000) == 1


def test_two_tags_that_ask_each_other(opened):
    def fetch(tag, step):
        other = "b" if tag == "a" else "a"
        return ids.tag(other).next(), 500

    ids = opened(fetch, timeout_ms=1000)
    with pytest.raises(leafid.SegmentUnavailableError):
        ids.tag("a").next(timeout_ms=1000)


def test_one_that_closes_its_segments(opened):
    def fetch(tag, step):
        ids.close()
        return range(1, 1 + step)

    ids = opened(fetch)
    with pytest.raises(leafid.ClosedError):
        ids.tag("order").next()


def test_opened_and_closed_many_times(space, wait):
    def fetch(tag, step):
        at[0] += step
        return at[0], at[0] + step

    def rounds(count):
        for _ in range(count):
            with leafid.Segments(fetch=fetch, **space) as ids:
                ids.tag("order").next()
        gc.collect()

    at = [0]
    rounds(30)
    references = sys.getrefcount(fetch)
    rounds(100)
    wait(lambda: sys.getrefcount(fetch) == references)
