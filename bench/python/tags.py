"""Segments in Python: a tag's ids from memory, each figure in turn with its floor."""

import array
import asyncio
import itertools

import leafid
import pyfloor
from harness import CALLS, N, WINDOWS, batch, compared, single, timed
from ours import buffers, in_two_threads, lists, stepped


def opened():
    """A tag of one range that is never used up."""
    starts = itertools.count(1, 1 << 40)

    def fetch(tag, step):
        start = next(starts)
        return range(start, start + (1 << 40))

    return leafid.Segments(fetch=fetch, persist=False).tag("order")


def measure():
    tag = opened()
    tag.next()
    floor = pyfloor.Counter().next_id
    compared("tag", WINDOWS, lambda: timed(floor, CALLS)[0], lambda: timed(tag.next, CALLS)[0])
    compared("tag_iter", WINDOWS, lambda: timed(tag.next, CALLS)[0], lambda: stepped(tag))
    compared("tag_two", 21, lambda: in_two_threads(floor), lambda: in_two_threads(tag.next))
    fill(tag)
    lists("tag_list", tag)


def subjects():
    tag = opened()
    single("leafid", "Tag.next, bound once", tag.next)
    batch("leafid", "for id in Tag", tag, 1)
    batch("leafid", "Tag.take(1000)", lambda: tag.take(1000), 1000)
    out = array.array("q", bytes(8000))
    batch("leafid", "Tag.fill(array of 1000)", lambda: tag.fill(out), 1000)

    async def awaits(n):
        return [await tag.next_async() for _ in itertools.repeat(None, n)]

    async def awaits_nothing(n):
        async def nothing():
            return 1

        return [await nothing() for _ in itertools.repeat(None, n)]

    batch("leafid", "await Tag.next_async()", lambda: asyncio.run(awaits(N // 10)), N // 10)
    batch("floor", "await of an async def", lambda: asyncio.run(awaits_nothing(N // 10)), N // 10)


def fill(tag):
    """A million ids into a buffer that was touched, beside copying as many numbers."""
    out, copy = buffers()

    def filled():
        ns = timed(lambda: tag.fill(out), 1)[0] / N
        assert out[-1] - out[0] == N - 1
        return ns

    compared("tag_fill", 25, copy, filled)
