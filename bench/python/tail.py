"""The tail: how long next takes while the source is slow and fails, beside an empty loop at the same pace.

One thread asks for 50,000 ids a second, in bursts between which it sleeps a millisecond. A call's time begins when it is due,
one every 20 microseconds, whether those before have ended or not: what these were over is carried to the next ones, until
short calls have made up for it, as in a queue. How late the pacing itself is counts for nobody.
"""

import array
import itertools
import logging
import os
import time

import leafid
from harness import measured

RATE = 50_000
INTERVAL_NS = 1_000_000_000 // RATE
BURSTS_NS = 1_000_000
SOURCE_TAKES = 0.2
IN_A_ROW = 256
# A tag is warm when it has ids for this many seconds at hand.
WARM_SECONDS = 4
WARM_UP_AT_MOST = 60
PERCENTILES = dict(p50=0.5, p99=0.99, p99_9=0.999, p99_99=0.9999, max=1)


class Queue:
    def __init__(self):
        self.over = 0
        self.times = array.array("q")

    def made(self, clocks, n):
        over, add = self.over, self.times.append
        for at in range(n):
            spent = over + clocks[at + 1] - clocks[at]
            add(spent)
            over = spent - INTERVAL_NS
            if over < 0:
                over = 0
        self.over = over

    def percentiles(self):
        times = sorted(self.times)
        return {name: times[max(0, int(share * len(times) + 0.999999) - 1)] for name, share in PERCENTILES.items()}


def failing():
    """Answers after 200 ms, one time in five with an error: spread evenly, and alike in every run."""
    asked, end = itertools.count(1), 1

    def fetch(tag, step):
        nonlocal end
        time.sleep(SOURCE_TAKES)
        if next(asked) * 0x9E3779B97F4A7C15 % 2**64 < 2**64 // 5:
            raise RuntimeError("the source fails")
        start, end = end, end + step
        return range(start, end)

    return leafid.Segments(fetch=fetch, persist=False, name="bench-tail").tag("tail")


def measure():
    # That the source fails is known.
    logging.getLogger("leafid").setLevel(logging.CRITICAL)
    seconds = int(os.environ.get("BENCH_SECONDS") or 10)
    tag = failing()
    ids, empty = Queue(), Queue()
    clocks = [0] * (IN_A_ROW + 1)
    errors = made = bursts = 0
    errors_before = waited = end = None
    clock, step = time.perf_counter_ns, tag.next

    def timed_ids(n):
        nonlocal errors
        clocks[0] = clock()
        for at in range(1, n + 1):
            try:
                step()
            except leafid.Error:
                errors += 1
            clocks[at] = clock()
        ids.made(clocks, n)

    def timed_nothing(n):
        clocks[0] = clock()
        for at in range(1, n + 1):
            clocks[at] = clock()
        empty.made(clocks, n)

    turns = [timed_ids, timed_nothing]
    begun = clock()
    while end is None or clock() < end:
        bursts += 1
        pause = begun + BURSTS_NS * bursts - clock()
        if pause > 0:
            time.sleep(pause / 1e9)
        now = clock()
        if end is None and bursts % 50 == 0:
            if tag.stats().left >= WARM_SECONDS * RATE or now - begun > WARM_UP_AT_MOST * 1_000_000_000:
                measured("tail_warm_up", (now - begun) / 1e9, 0)
                errors_before, waited, end = errors, tag.stats().waits, now + seconds * 1_000_000_000
                ids.times, empty.times = array.array("q"), array.array("q")
        due = (now - begun) // INTERVAL_NS
        # In turn which of them finds the thread just woken.
        turns.reverse()
        while made < due:
            n = min(IN_A_ROW, due - made)
            for turn in turns:
                turn(n)
            made += n
    figures, floors = ids.percentiles(), empty.percentiles()
    for name in PERCENTILES:
        measured(f"tail_{name}", figures[name] / 1e3, floors[name] / 1e3)
    # What is due is made: if not, the machine is too slow for the pace.
    measured("tail_rate", len(ids.times) / seconds, RATE)
    stats = tag.stats()
    measured("tail_errors_warm_up", errors_before, 0)
    measured("tail_errors", errors - errors_before, 0)
    measured("tail_waits", stats.waits - waited, 0)
    measured("tail_failed_fetches", stats.failures, stats.fetches)
