"""leafid for Python: as the peers are measured, and the figures that have a goal, each beside its floor in the same run."""

import array
import datetime
import itertools
import math
import os
import statistics
import threading
import time

import leafid
import pyfloor
from harness import CALLS, N, WINDOWS, compared, measured, next_tick, single, timed

_opened = itertools.count()


def opened(wide=False, random_start=100):
    """A generator in the bench's own state directory under a name of its own.

    Wide is 23 bits of sequence from the first day of this year, starting at 0: a tick is never used up.
    """
    options = {}
    if wide:
        year = datetime.datetime.now(datetime.timezone.utc).year
        epoch = datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc)
        options = dict(layout="35|5|23", epoch_ms=int(epoch.timestamp()) * 1000)
    return leafid.Snowflake(
        worker=1,
        name=f"bench-py-{os.getpid()}-{next(_opened)}",
        state_dir=os.environ["BENCH_STATE"],
        random_start=random_start,
        **options,
    )


def measure():
    single("leafid", "Snowflake.next wide 5+23", opened(wide=True, random_start=0).next)


def call():
    """One call where nothing waits, in turn with a method that reads the clock and counts; and by iteration, in turn with
    calls of next."""
    g = opened(wide=True, random_start=0)
    floor = pyfloor.Counter().next_at
    compared("call", WINDOWS, lambda: timed(floor, CALLS)[0], lambda: timed(g.next, CALLS)[0])
    compared("iter", WINDOWS, lambda: timed(g.next, CALLS)[0], lambda: stepped(g))


def stepped(ids, n=CALLS):
    """Nanoseconds for an id of `for id in ids`."""
    begun = time.perf_counter_ns()
    for _ in itertools.islice(ids, n):
        pass
    return (time.perf_counter_ns() - begun) / n


def two():
    """Two Python threads with one generator, in turn with two that read the clock and count."""
    g, floor = opened(wide=True, random_start=0), pyfloor.Counter()
    compared("two", 21, lambda: in_two_threads(floor.next_at), lambda: in_two_threads(g.next))


def in_two_threads(f, n=200_000):
    """Nanoseconds for a call, of both threads together."""
    ready = threading.Barrier(3)

    def run():
        ready.wait()
        timed(f, n)

    both = [threading.Thread(target=run) for _ in range(2)]
    for one in both:
        one.start()
    ready.wait()
    begun = time.perf_counter_ns()
    for one in both:
        one.join()
    return (time.perf_counter_ns() - begun) / (2 * n)


def plain_loop():
    """A plain loop over next on the leaf layout: the share of all ids that 400 ticks hold, the median of 7 windows."""
    ticks, shares = 400, []
    step = opened(random_start=0).next
    for _ in range(7):
        next_tick()
        # The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
        ms = timed(step, ticks * 4096)[0] * ticks * 4096 / 1e6
        shares.append(ticks / math.ceil(ms + 0.01))
    measured("loop", statistics.median(shares), 1)


def fill():
    """A million ids into a buffer that was touched, in turn with copying as many numbers; lists of a thousand."""
    g = opened(wide=True, random_start=0)
    out, copy = buffers()

    def filled():
        ns = timed(lambda: g.fill(out), 1)[0] / N
        assert all(map(int.__lt__, out[:5000], out[1:5001])) and out[0] < out[-1]
        return ns

    compared("fill", 25, copy, filled)
    lists("list", g)


def buffers():
    """A touched array of a million numbers, and what copies as many into another: ns for each."""
    other, source = memoryview(bytearray(8 * N)), memoryview(bytes(8 * N))

    def copy():
        other[:] = source

    return array.array("q", bytes(8 * N)), lambda: timed(copy, 1)[0] / N


def lists(what, ids):
    """Lists of 1,000, beside the cheapest way to build a list of such ints: of an array, of a range, or of Rust's."""
    first = ids.take(1)[0]
    numbers = array.array("q", range(first, first + 1000))
    ways = [numbers.tolist, memoryview(numbers).tolist, lambda: list(range(first, first + 1000)), lambda: pyfloor.count_list(1000)]

    def window(way):
        return timed(way, 20)[0] / 1000

    best = min(ways, key=lambda way: statistics.median(window(way) for _ in range(51)))
    compared(what, WINDOWS, lambda: window(best), lambda: window(lambda: ids.take(1000)))


def footprint():
    def threads():
        return len(os.listdir("/proc/self/task"))

    if not os.path.isdir("/proc/self/task"):
        return
    before = threads()
    g = opened()
    measured("threads before the first id", threads() - before, 0)
    g.next()
    measured("threads while in use", threads() - before, 0)
    g.close()
