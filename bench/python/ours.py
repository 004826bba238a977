"""leafid for Python: as the peers are measured, and the figures that have a goal, each beside its floor in the same run."""

import array
import datetime
import itertools
import math
import os

import leafid
import pyfloor
from harness import N, batch, burst, measured, next_tick, single, timed

_opened = itertools.count()


def opened(wide=False, random_start=100):
    """A generator in the bench's own state directory under a name that nobody else has.

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
    g = opened()
    single("leafid", "Snowflake.next, bound once", g.next)
    burst("leafid", "Snowflake.next, bound once", g.next)
    batch("leafid", "Snowflake.__next__ by for loop", g, 1)
    g = opened(wide=True, random_start=0)
    single("leafid", "Snowflake.next wide 5+23", g.next)
    batch("leafid", "take(1000) wide 5+23", lambda: g.take(1000), 1000)
    out = array.array("q", bytes(8000))
    batch("leafid", "fill(array of 1000) wide 5+23", lambda: g.fill(out), 1000)


def call():
    """One call where nothing waits, in turn with a counter's method: the best of 300 windows of each."""
    step, floor_step = opened(wide=True, random_start=0).next, pyfloor.Counter().next_id
    figure = floor = math.inf
    for _ in range(300):
        floor = min(floor, timed(floor_step, 10_000)[0])
        figure = min(figure, timed(step, 10_000)[0])
    measured("call", figure, floor)


def plain_loop():
    """A plain loop over next on the leaf layout: the share of all ids that 200 ticks hold, the best of 7 windows."""
    ticks, best = 200, 0
    step = opened(random_start=0).next
    for _ in range(7):
        next_tick()
        # The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
        ms = timed(step, ticks * 4096)[0] * ticks * 4096 / 1e6
        best = max(best, ticks / math.ceil(ms + 0.01))
    measured("loop", best, 1)


def fill():
    """A million ids into a buffer, in turn with copying as many numbers: ns for each, the best of 25."""
    g = opened(wide=True, random_start=0)
    out, other = array.array("q", bytes(8 * N)), memoryview(bytes(8 * N))
    target = memoryview(out).cast("B")
    figure = floor = math.inf

    def copy():
        target[:] = other

    for _ in range(25):
        floor = min(floor, timed(copy, 1)[0] / N)
        figure = min(figure, timed(lambda: g.fill(out), 1)[0] / N)
        assert all(map(int.__lt__, out[:5000], out[1:5001])) and out[0] < out[-1]
    measured("fill", figure, floor)


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
