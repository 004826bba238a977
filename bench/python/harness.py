"""How a subject is measured, medians and minima of REPS repeats, and the line that tells of it.

sustained  ids back to back, waiting for the next tick included
burst      1024 ids right after a fresh millisecond, so nothing ever waits: the cost of a call

Figures include the loop. Every subject that makes ids is also checked: ids once more, duplicates and descents counted.
"""

import importlib.metadata
import json
import sys
import time
from itertools import repeat
from statistics import median

REPS, N, BURST = 9, 1_000_000, 1024
# Of a comparison: this many windows of this many calls, half a millisecond each.
WINDOWS, CALLS = 201, 10_000


def timed(f, n):
    """Wall ns per call of f(), and process CPU ns."""
    it = repeat(None, n)
    c, t = time.process_time_ns(), time.perf_counter_ns()
    for _ in it:
        f()
    t, c = time.perf_counter_ns() - t, time.process_time_ns() - c
    return t / n, c / n


def single(peer, what, f, n=N, reps=REPS):
    timed(f, n // 10)
    runs = [timed(f, n) for _ in range(reps)]
    cpu = sorted(c for _, c in runs)[reps // 2]
    emit(peer, what, "sustained", [t for t, _ in runs], cpu_ns=round(cpu, 1), **looked_at([f() for _ in repeat(None, n)]))


def looked_at(ids):
    """What ids are like, in the order that they were made in: fields of a line."""
    made = [i for i in ids if i is not None]
    seen = dict(dups=len(made) - len(set(made)), checked=len(ids))
    try:
        seen["descents"] = sum(b < a for a, b in zip(made, made[1:]))
    except TypeError:
        pass
    if len(made) < len(ids):
        seen["notes"] = f"{len(ids) - len(made)} were None"
    return seen


def next_tick(tick_ms=1):
    """Returns early in a fresh tick."""
    tick = time.time_ns() // (tick_ms * 1_000_000)
    while time.time_ns() // (tick_ms * 1_000_000) == tick:
        pass


def burst(peer, what, f, k=BURST, tick_ms=1, n=N // 4):
    def once():
        spent = 0
        for _ in range(n // k):
            next_tick(tick_ms)
            spent += timed(f, k)[0] * k
        return spent / (n // k * k)

    def ids():
        for _ in range(n // k):
            next_tick(tick_ms)
            yield from [f() for _ in repeat(None, k)]

    once()
    emit(peer, what, "burst", [once() for _ in range(REPS)], **looked_at(list(ids())))


def emit(peer, what, kind, ns, notes="", **seen):
    try:
        version = importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        version = sys.version.split()[0]
    ns = sorted(ns or [])

    def at(i):
        return round(ns[i], 1) if ns else None

    say(peer=peer, version=version, what=what, kind=kind, threads=1, ns_min=at(0), ns_median=at(len(ns) // 2), notes=notes, **seen)


def measured(what, figure, floor):
    """A figure that a goal is set for, beside its floor. report.py knows the goals."""
    say(measure=what, figure=round(figure, 4), floor=round(floor, 4))


def compared(what, windows, floor, *figures):
    """The same from this many windows of each, in turn, after one of each that warms up: medians, minima, and the
    median of the pairs' ratios. Each answers ns for an id; `what` may name several figures with one floor."""
    floors, all_figures = [], [[] for _ in figures]
    for window in range(windows + 1):
        row = [floor(), *(figure() for figure in figures)]
        if window > 0:
            floors.append(row[0])
            for series, ns in zip(all_figures, row[1:]):
                series.append(ns)
    for name, series in zip([what] if isinstance(what, str) else what, all_figures):
        ratios = [figure / floor for floor, figure in zip(floors, series)]
        say(
            measure=name,
            figure=round(median(series), 4),
            floor=round(median(floors), 4),
            ratio=round(median(ratios), 4),
            figure_min=round(min(series), 4),
            floor_min=round(min(floors), 4),
            repeats=windows,
        )


def say(**line):
    print(json.dumps(dict(lang="python", **line)), flush=True)
