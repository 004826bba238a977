"""A node of Leaf: ranges of the counters, issued one id at a time; and its snowflake."""

import random
import threading
import time
from array import array

EPOCH_MS = 1288834974657
LARGEST_STEP = 1_000_000
# A range that lasts less than this is followed by one of twice the step, one that lasts twice as long by half of it.
LASTS_SECONDS = 15 * 60
NOT_READY, UNKNOWN, BOTH_UNUSABLE = -1, -2, -3


class LeafError(Exception):
    """What Leaf answers 500 for; `number` is the id of its Result."""

    def __init__(self, number):
        super().__init__(f"Result{{id={number}, status=EXCEPTION}}")
        self.number = number


class Buffer:
    """A tag's double range. The next one is fetched when a tenth of the present one is used."""

    def __init__(self, counters, tag):
        self.counters, self.tag = counters, tag
        self.lock = threading.Lock()
        self.history = []
        self.last = None
        self.drop()

    def drop(self):
        """Forgets what it holds: the next id comes from the counter as that is now."""
        self.position = self.end = self.fetch_at = 0
        self.stride, self.following = 1, None
        self.fetches, self.fetched, self.step, self.own_step = 0, 0, 0, 0

    def next(self):
        with self.lock:
            if self.position >= self.end:
                self.turn()
            number = self.last = self.position
            self.position = self.history[-1][1] = number + self.stride
            if number >= self.fetch_at and self.following is None:
                try:
                    self.following = self.fetch()
                except LeafError:
                    # Asked for again by the next id; it matters when this range is used up.
                    pass
            return number

    def turn(self):
        start, end, stride = self.following or self.fetch()
        self.following = None
        self.position, self.end, self.stride = start, end, stride
        self.fetch_at = start + (end - start) // 10
        self.history.append([start, start, stride])

    def fetch(self):
        # The first two ranges have the tag's own step, all have it where it does not grow.
        step, now = None, time.monotonic()
        if self.fetches >= 2 and self.counters.grows(self.tag):
            step, lasted = self.step, now - self.fetched
            if lasted < LASTS_SECONDS:
                step = step * 2 if step * 2 <= LARGEST_STEP else step
            elif lasted >= 2 * LASTS_SECONDS:
                step = step // 2 if step // 2 >= self.own_step else step
        try:
            taken = self.counters.take(self.tag, step, 0)
        except IndexError:
            raise LeafError(BOTH_UNUSABLE) from None
        if taken is None:
            raise LeafError(UNKNOWN)
        start, end, stride, self.own_step = taken
        self.fetches, self.fetched, self.step = self.fetches + 1, now, step or self.own_step
        return start, end, stride


class Snowflake:
    def __init__(self, worker_id):
        self.worker_id = worker_id
        self.lock = threading.Lock()
        self.moment, self.sequence = 0, 0
        self.given = array("q")
        self.last = None

    def next(self):
        with self.lock:
            now = max(int(time.time() * 1000), self.moment)
            self.sequence = (self.sequence + 1) & 4095 if now == self.moment else random.randrange(100)
            if now == self.moment and self.sequence == 0:
                now += 1
            self.moment = now
            self.last = (now - EPOCH_MS) << 22 | self.worker_id << 12 | self.sequence
            self.given.append(self.last)
            return self.last


class Node:
    def __init__(self, counters, worker_id=0):
        self.counters = counters
        self.lock = threading.Lock()
        self.buffers = {}
        self.snowflake = Snowflake(worker_id)
        # (mode, tag or None for all) -> "off" or the number of an error.
        self.dials = {}

    def set(self, mode, dial, tag=None):
        if mode not in ("segment", "snowflake") or dial not in ("on", "off", NOT_READY, UNKNOWN, BOTH_UNUSABLE):
            raise ValueError(f"{mode} is {dial!r}, which is not on, off, -1, -2 or -3 of segment or snowflake")
        with self.lock:
            dials = {key: value for key, value in self.dials.items() if key != (mode, tag)}
            self.dials = dials if dial == "on" else {**dials, (mode, tag): dial}

    def next(self, mode, tag, again=False):
        """The next id; `again`: the last one once more. A LeafError where Leaf answers 500."""
        if self.dials:
            dial = self.dials.get((mode, tag)) or self.dials.get((mode, None))
            if dial == "off":
                return 0
            if dial:
                raise LeafError(dial)
        source = self.snowflake if mode == "snowflake" else self.buffers.get(tag) or self.buffer(tag)
        if again and source.last is not None:
            return source.last
        return source.next()

    def buffer(self, tag):
        with self.lock:
            return self.buffers.setdefault(tag, Buffer(self.counters, tag))

    def drop(self, tag):
        buffer = self.buffer(tag)
        with buffer.lock:
            buffer.drop()

    def given(self, mode="segment", tag=None):
        """What it gave, as runs [start, end, stride], end not included, in decimal text."""
        if mode == "snowflake":
            with self.snowflake.lock:
                return as_text(runs(self.snowflake.given))
        buffer = self.buffer(tag)
        with buffer.lock:
            return as_text([run for run in buffer.history if run[0] < run[1]])


def runs(ids):
    merged = []
    for number in ids:
        if merged and merged[-1][1] == number:
            merged[-1][1] += 1
        else:
            merged.append([number, number + 1, 1])
    return merged


def as_text(found):
    return [[str(start), str(end), stride] for start, end, stride in found]
