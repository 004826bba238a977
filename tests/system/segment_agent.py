"""The subject of the system tests of segments in Python, with the protocol of the Rust one in rust/src/segments."""

import array
import asyncio
import itertools
import logging
import os
import sys
import threading
import time

import leafid

BATCH = 512
NUMBERS = ("step", "timeout_ms", "request_timeout_ms", "connect_timeout_ms", "connections", "block_size")


class Counting:
    """A source that gives each tag what comes next, and watches how it is called."""

    # Of all openings: as a database, it goes on.
    ends = {}

    def __init__(self, delay_ms=0):
        self.delay = delay_ms / 1000
        self.calls = self.now = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, tag, step):
        with self.lock:
            self.calls += 1
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.delay)
        with self.lock:
            start = self.ends.get(tag, 1)
            self.ends[tag] = start + step
            self.now -= 1
            return range(start, start + step)


def read(words):
    return dict(word.partition("=")[::2] for word in words)


def options(given, fetch=None):
    chosen = {key: int(given[key]) for key in NUMBERS if key in given}
    if "servers" in given:
        chosen["servers"] = given["servers"].split(",")
        if not given["servers"].startswith("file:"):
            chosen["protocol"] = given.get("protocol", "range")
    else:
        chosen["fetch"] = fetch or Counting(int(given.get("delay_ms", 0)))
    if "tags" in given:
        listed = (tag.split(":") for tag in given["tags"].split(","))
        chosen["tags"] = {name: {"start": int(start), "step": int(step)} for name, start, step in listed}
    return chosen | {
        "name": given.get("name"),
        "state_dir": given.get("dir"),
        "adaptive": given.get("adaptive") != "no",
        "keep_unused": "keep" in given,
        "create": "create" in given or None,
        "ordered_source": False if "unordered" in given else None,
        "token": given.get("token"),
    }


def micros(begun):
    return (time.monotonic_ns() - begun) // 1000


def put(ids):
    os.write(1, array.array("q", ids).tobytes())


def stream(words):
    given = read(words)
    # Standard error is read at the end: warnings would fill it, and then block.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    begun = time.monotonic_ns()
    segments = leafid.Segments(**options(given))
    opened = micros(begun)
    tag = segments.tag(given.get("tag", "order"))
    put([tag.next()])
    print("ready", os.getpid(), 0, opened, micros(begun), 0, file=sys.stderr, flush=True)
    batch, left = min(int(given.get("batch", BATCH)), BATCH), int(given.get("count", 0)) or sys.maxsize
    while left > 0:
        n = min(batch, left)
        match given.get("method", "next"):
            case "fill":
                put(tag.fill(array.array("q", bytes(8 * n))))
            case "take":
                put(tag.take(n))
            case _:
                put([tag.next() for _ in range(n)])
        left -= n
        time.sleep(int(given.get("pause_us", 0)) / 1e6)
    if given.get("then", "wait") == "close":
        segments.close()
        return
    while True:
        time.sleep(60)


def burst(words):
    """Threads that use segments up faster than the source gives them."""
    given = read(words)
    counting = Counting(int(given.get("delay_ms", 5)))
    tag = leafid.Segments(**options(given, counting)).tag("order")
    ids, errors = [], []

    def issue(takes):
        mine = []
        for _ in range(takes):
            try:
                mine.append(tag.next())
            except leafid.Error as error:
                errors.append(error)
        ids.extend(mine)

    takes = int(given.get("takes", 5000))
    threads = [threading.Thread(target=issue, args=[takes]) for _ in range(int(given.get("threads", 8)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    twice = len(ids) - len(set(ids))
    print(f"ids={len(ids)} duplicates={twice} errors={len(errors)} calls={counting.calls} most_at_once={counting.most}")
    if errors:
        print(errors[0], file=sys.stderr)


def run(tag, milliseconds, pause_us):
    end = time.monotonic_ns() + milliseconds * 1_000_000
    ids, slowest = [], 0
    while time.monotonic_ns() < end:
        begun = time.monotonic_ns()
        ids.append(tag.next())
        slowest = max(slowest, micros(begun))
        time.sleep(pause_us / 1e6)
    rising = all(a < b for a, b in itertools.pairwise(ids))
    return f"{len(ids)} {slowest} {ids[0]} {ids[-1]} {str(rising).lower()}"


def forked(tag, count):
    """The ids of a child that ends as a program does."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, list_of([tag.next() for _ in range(count)]).encode())
        os.close(write)
        sys.exit(0)
    os.close(write)
    with open(read) as told:
        ids = told.read()
    _, status = os.waitpid(pid, 0)
    return ids if status == 0 else f"{status}"


async def gathered(tag, count):
    """So many calls that wait at once: ids, and how many of them differ."""
    ids = await asyncio.gather(*(tag.next_async() for _ in range(count)))
    return f"{len(ids)} {len(set(ids))}"


def fork_storm(tag, count, threads):
    """Children one after another beside threads that issue: ids, how many differ, what failed, processes with ids."""
    done, mine, others = threading.Event(), [], []

    def issue():
        while not done.is_set():
            mine.append(tag.next())

    beside = [threading.Thread(target=issue) for _ in range(threads)]
    for thread in beside:
        thread.start()
    for _ in range(count):
        others.append(forked(tag, 30))
    done.set()
    for thread in beside:
        thread.join()
    right = [told.split() for told in others if len(told.split()) == 30]
    ids = [*mine, *(int(an_id) for told in right for an_id in told)]
    return f"{len(ids)} {len(set(ids))} {count - len(right)} {1 + len(right)}"


def list_of(ids):
    return " ".join(map(str, ids))


class Opened:
    def __init__(self):
        self.segments, self.tags = {}, {}

    def tag(self, handle, name):
        if (handle, name) not in self.tags:
            self.tags[handle, name] = self.segments[handle].tag(name)
        return self.tags[handle, name]

    def obey(self, words):
        match words:
            case ["open", handle, *rest]:
                self.segments[handle] = leafid.Segments(**options(read(rest)))
                return ""
            case ["close", handle]:
                self.tags = {key: tag for key, tag in self.tags.items() if key[0] != handle}
                self.segments.pop(handle).close()
                return ""
            case ["rounds", count, *rest]:
                for _ in range(int(count)):
                    with leafid.Segments(**options(read(rest))) as segments:
                        segments.tag("order").next()
                return f"{count} true"
            case ["next", handle, name, *count]:
                tag = self.tag(handle, name)
                return list_of([tag.next() for _ in range(int(count[0]) if count else 1)])
            case ["take", handle, name, count]:
                return list_of(self.tag(handle, name).take(int(count)))
            case ["run", handle, name, milliseconds, *pause]:
                return run(self.tag(handle, name), int(milliseconds), max(int(pause[0]) if pause else 100, 100))
            case ["fork-and-exit", handle, name, count]:
                return forked(self.tag(handle, name), int(count))
            case ["gather", handle, name, count]:
                return asyncio.run(gathered(self.tag(handle, name), int(count)))
            case ["fork-storm", handle, name, count, threads]:
                return fork_storm(self.tag(handle, name), int(count), int(threads))
            case ["stats", handle, name]:
                stats = self.tag(handle, name).stats()
                counts = f"{stats.left} {stats.fetches} {stats.failures} {stats.waits} {stats.step}"
                return f"{counts} {stats.last_error or ''}"
        raise SystemExit(f"unknown command {words}")


def serve():
    opened = Opened()
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        begun = time.monotonic_ns()
        try:
            answer = opened.obey(words)
            print("ok", micros(begun), answer, flush=True)
        except leafid.Error as error:
            print("err", micros(begun), f"{error.code}: {error}", flush=True)


if __name__ == "__main__":
    try:
        {"serve": lambda _: serve(), "stream": stream, "burst": burst}[sys.argv[1]](sys.argv[2:])
    except leafid.Error as error:
        sys.exit(f"error {error.code}: {error}")
