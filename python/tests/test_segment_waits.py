"""Ids awaited in an event loop."""

import asyncio
import gc
import inspect
import time
import types

import pytest

import leafid
from leafid import _waiting


async def until(done):
    end = time.monotonic() + 900
    while not done():
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


def test_ids_come_in_order(order, source):
    async def main():
        source.let_go.set()
        assert [await order.next_async(), *(await order.take_async(3)), await order.next_async()] == [1, 2, 3, 4, 5]
        assert await order.take_async(500) == list(range(6, 506))
        assert await order.next_async(timeout_ms=1000) == 506 and await order.take_async(1, timeout_ms=1000) == [507]
        assert await asyncio.create_task(order.next_async()) == 508
        assert await asyncio.wait_for(order.next_async(), 900) == 509
        assert await asyncio.gather(order.next_async(), order.take_async(2)) == [510, [511, 512]]

    asyncio.run(main())
    call = order.next_async()
    assert inspect.iscoroutine(call) and asyncio.run(call) == 513


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_nothing_is_taken_before_it_is_awaited(order, source):
    source.let_go.set()
    assert order.next() == 1
    order.next_async(), order.take_async(10)
    gc.collect()
    assert order.next() == 2


def test_the_loop_runs_while_it_waits(order, source, monkeypatch):
    """And is woken when there is an id: it does not wait until it looks again."""
    monkeypatch.setattr("leafid._waiting.CALLS_AGAIN_S", 3600)

    async def main():
        waits = asyncio.create_task(order.next_async())
        await until(lambda: source.asked)
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not waits.done() and source.asked == 1
        source.let_go.set()
        assert await waits == 1

    asyncio.run(main())


def test_one_timer_polls_again_however_many_calls_have_ended():
    """A call that has its answer is there until its task runs."""

    async def main():
        waiting = _waiting.waiting_here()
        for _ in range(3):
            future = waiting.loop.create_future()
            future.set_result(None)
            waiting.futures.add(future)
        timers = []
        waiting.loop = types.SimpleNamespace(call_later=lambda *given: timers.append(given))
        waiting.call_again()
        assert len(timers) == 1

    asyncio.run(main())


@pytest.mark.parametrize("timeout_ms", [0, True, "1", 3_600_001])
def test_what_a_timeout_may_be(order, timeout_ms):
    async def main():
        for call in (order.next_async, lambda ms: order.take_async(2, ms)):
            with pytest.raises(leafid.InvalidArgumentError, match="^timeout_ms is "):
                await call(timeout_ms)

    asyncio.run(main())


def test_a_cancelled_call_loses_no_id(order, source):
    async def main():
        one, many = asyncio.create_task(order.next_async()), asyncio.create_task(order.take_async(150))
        await until(lambda: order.stats().waiting == 2)
        one.cancel()
        source.let_go.set()
        # At the same time as its ids come.
        await asyncio.sleep(0)
        many.cancel()
        results = await asyncio.gather(one, many, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        await until(lambda: not order.stats().fetching)
        assert order.stats().waiting == 0

    asyncio.run(main())
    assert sorted(order.take(300)) == list(range(1, 301))


def test_calls_cancelled_at_any_moment_lose_no_id(space, make_source):
    """What those got that were not cancelled, and what comes later, are all ids from 1 on. Each seventh call may end."""

    async def main(order):
        got, calls = [], []

        async def call(n):
            got.extend(await order.take_async(n))

        for round in range(300):
            calls.append(asyncio.create_task(call(1 + round % 17)))
            if round % 3 == 0:
                await asyncio.sleep(0)
            if round % 5 == 0:
                await asyncio.sleep(0.0007)
            if (victim := round * 7 % len(calls)) % 7:
                calls[victim].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return got

    source = make_source()
    with leafid.Segments(fetch=source.fetch, **space, step=13, adaptive=False) as ids:
        order = ids.tag("order")
        got = asyncio.run(main(order))
        rest = order.take(1000)
    every = sorted(got + rest)
    assert len(got) > 100 and every == list(range(1, len(every) + 1))


def test_errors_come_as_from_next(space, failed):
    answers = {"nonsense": "x", "unknown": None}

    def fetch(tag, step):
        if tag == "fails":
            raise LookupError("mine")
        return answers[tag]

    async def main(ids):
        with pytest.raises(leafid.UnknownTagError):
            await ids.tag("unknown").next_async()
        with pytest.raises(leafid.SourceInvalidError, match="answered 'x'"):
            await ids.tag("nonsense").take_async(3)
        with pytest.raises(leafid.SegmentUnavailableError, match="LookupError: mine") as error:
            await ids.tag("fails").next_async()
        assert isinstance(error.value.__cause__, LookupError)

    with leafid.Segments(fetch=fetch, **space | {"timeout_ms": 200}) as ids:
        for tag in ("unknown", "nonsense", "fails"):
            failed(ids.tag(tag))
        asyncio.run(main(ids))
