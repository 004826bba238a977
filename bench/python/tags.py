"""Segments in Python: a tag's ids from memory, each figure in turn with its floor."""

import itertools

import leafid
import pyfloor
from harness import CALLS, N, WINDOWS, compared, single, timed
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
    single("leafid", "Tag.next, bound once", opened().next)


def fill(tag):
    """A million ids into a buffer that was touched, beside copying as many numbers."""
    out, copy = buffers()

    def filled():
        ns = timed(lambda: tag.fill(out), 1)[0] / N
        assert out[-1] - out[0] == N - 1
        return ns

    compared("tag_fill", 25, copy, filled)
