"""How a subject is measured, and the line that tells of it.

sustained  ids back to back, waiting for the next tick included
burst      1024 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
batch      one call makes many ids

Figures include the loop. Single-id subjects are also checked: duplicates, descents and None among the ids, in the notes.
"""

import importlib.metadata
import json
import sys
import time
from itertools import repeat

REPS, N, BURST = 9, 1_000_000, 1024


def timed(f, n):
    """Wall ns per call of f(), and process CPU ns."""
    it = repeat(None, n)
    c, t = time.process_time_ns(), time.perf_counter_ns()
    for _ in it:
        f()
    t, c = time.perf_counter_ns() - t, time.process_time_ns() - c
    return t / n, c / n


def raw(peer, what, f):
    timed(f, N // 10)
    emit(peer, what + " [floor]", [timed(f, N)[0] for _ in range(REPS)])


def single(peer, what, f, n=N, reps=REPS):
    timed(f, n // 10)
    runs = [timed(f, n) for _ in range(reps)]
    ids = [f() for _ in repeat(None, n)]
    none = ids.count(None)
    ids = [i for i in ids if i is not None]
    try:
        descents = sum(b < a for a, b in zip(ids, ids[1:]))
    except TypeError:
        descents = "?"
    dups = len(ids) - len(set(ids))
    cpu = sorted(c for _, c in runs)[reps // 2]
    notes = f"cpu_ns={cpu:.0f} dups={dups} descents={descents}{f' None={none}' if none else ''} of {n}"
    emit(peer, what + " [sustained]", [t for t, _ in runs], notes)


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

    once()
    emit(peer, what + " [burst]", [once() for _ in range(REPS)])


def batch(peer, what, f, per):
    """One call of f makes `per` ids. f may also be an iterator, or None for the empty loop."""

    def once():
        n = N // per
        if f is None or hasattr(f, "__next__"):
            t = time.perf_counter_ns()
            for _ in zip(repeat(None, n), f) if f else repeat(None, n):
                pass
            return (time.perf_counter_ns() - t) / n
        return timed(f, n)[0] / per

    once()
    emit(peer, what + (" [batch]" if per > 1 else " [floor]" if peer == "floor" else " [sustained]"), [once() for _ in range(REPS)])


def emit(peer, what, ns, notes=""):
    try:
        version = importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        version = sys.version.split()[0]
    ns = sorted(ns or [])

    def at(i):
        return round(ns[i], 1) if ns else None

    say(peer=peer, version=version, what=what, ns_min=at(0), ns_median=at(len(ns) // 2), notes=notes)


def measured(what, figure, floor):
    """A figure that a goal is set for, beside its floor. report.py knows the goals."""
    say(measure=what, figure=round(figure, 4), floor=round(floor, 4))


def say(**line):
    print(json.dumps(dict(lang="python", **line)), flush=True)
