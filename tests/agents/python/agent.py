"""The agent in Python: ../../system/subjects.py lists its commands."""

import array
import atexit
import gc
import itertools
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time

import leafid

BATCH = 512
OF_BOTH = {"name": str, "dir": str, "token": str, "timeout_ms": int, "request_timeout_ms": int, "connect_timeout_ms": int}
OF_SNOWFLAKES = {"worker": str, "ca_file": str, "max_backwards_ms": int, "random_start": int, "on_clock_backwards": str}
OF_SEGMENTS = {"step": int, "connections": int, "block_size": int}

# By handle; of segments, the tags that were asked for.
OPENED, TAGS = {}, {}


def read(words):
    return dict(word.partition("=")[::2] for word in words)


def chosen(given, kinds):
    kinds = OF_BOTH | kinds
    return {"state_dir" if key == "dir" else key: kinds[key](given[key]) for key in kinds if key in given}


def open_segments(given):
    options = chosen(given, OF_SEGMENTS)
    if "servers" in given:
        options["servers"] = given["servers"].split(",")
        if not given["servers"].startswith("file:"):
            options["protocol"] = given.get("protocol", "range")
    else:
        options["fetch"] = Counting(int(given.get("delay_ms", 0)))
    if "tags" in given:
        listed = (tag.split(":") for tag in given["tags"].split(","))
        options["tags"] = {name: {"start": int(start), "step": int(step)} for name, start, step in listed}
    if "create" in given:
        options["create"] = True
    return leafid.Segments(**options, adaptive=given.get("adaptive") != "no", keep_unused="keep" in given)


def open_it(given):
    return leafid.Snowflake(**chosen(given, OF_SNOWFLAKES)) if "worker" in given else open_segments(given)


class Counting:
    """A source that gives each tag what comes next."""

    # Of all openings: as a database, it continues.
    ends = {}

    def __init__(self, delay_ms):
        self.delay = delay_ms / 1000
        self.lock = threading.Lock()

    def __call__(self, tag, step):
        time.sleep(self.delay)
        with self.lock:
            start = self.ends.get(tag, 1)
            self.ends[tag] = start + step
            return range(start, start + step)


def micros(begun):
    return (time.monotonic_ns() - begun) // 1000


def rest(seconds):
    # Not time.sleep: libfaketime refuses its absolute times while the monotonic clock is true.
    select.select([], [], [], seconds)


def put(ids):
    os.write(1, array.array("q", ids).tobytes())


def issue(source, given):
    batch, left = min(int(given.get("batch", BATCH)), BATCH), int(given.get("count", 0)) or sys.maxsize
    pause_s = int(given.get("pause_us", 0)) / 1e6
    while left > 0:
        n = min(left, batch)
        match given.get("method", "next"):
            case "fill":
                put(source.fill(array.array("q", bytes(8 * n))))
            case "take":
                put(source.take(n))
            case _:
                put([source.next() for _ in range(n)])
        left -= n
        if pause_s:
            rest(pause_s)


def stream(given):
    # Standard error is read at the end: warnings would fill it, and then block.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    handle = open_it(given)
    source = handle if "worker" in given else handle.tag(given.get("tag", "order"))
    first = source.next()
    put([first])
    print("ready", file=sys.stderr, flush=True)
    others = [threading.Thread(target=issue, args=(source, given)) for _ in range(int(given.get("threads", 1)) - 1)]
    for thread in others:
        thread.start()
    issue(source, given)
    for thread in others:
        thread.join()
    match given.get("then", "wait"):
        case "wait":
            while True:
                signal.pause()
        case "close":
            handle.close()


def run(source, milliseconds, pause_us):
    end = time.monotonic_ns() + milliseconds * 1_000_000
    ids, slowest = [], 0
    while time.monotonic_ns() < end:
        begun = time.monotonic_ns()
        ids.append(source.next())
        slowest = max(slowest, micros(begun))
        rest(pause_us / 1e6)
    rising = all(a < b for a, b in itertools.pairwise(ids))
    return f"{len(ids)} {slowest} {ids[0]} {ids[-1]} {str(rising).lower()}"


def open_and_close(count, given):
    last, rising = 0, True
    for _ in range(count):
        with open_it(given) as handle:
            an_id = (handle if "worker" in given else handle.tag("order")).next()
        rising = rising and an_id > last
        last = an_id
    gc.collect()
    return f"{count} {str(rising).lower()}"


def forks(flake, count):
    """Children one after another; each makes an id and ends as a program does, as does the parent's next id after."""
    ids, failed = [], 0
    for _ in range(count):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write, flake.next().to_bytes(8))
            sys.exit(0)
        os.close(write)
        told = os.read(read, 8)
        os.close(read)
        if os.waitpid(pid, 0)[1] or len(told) != 8:
            failed += 1
        else:
            ids.append(int.from_bytes(told))
        ids.append(flake.next())
    answer = f"{len(ids)} {len(set(ids))} {failed}"
    del ids
    gc.collect()
    return answer


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


def end(how):
    """Ends the process with its generators as they are; `collect` only lets go of them, in a cycle."""
    match how:
        case "exit":
            sys.exit(0)
        case "raise":
            raise LookupError("meant to be")
        case "atexit":
            atexit.register(lambda: print("ok", 0, OPENED["a"].next(), flush=True))
            sys.exit(0)
        case "_exit":
            os._exit(0)
        case "abort":
            os.abort()
        case "collect":
            cycle = [*OPENED.values()]
            cycle.append(cycle)
            OPENED.clear()
            del cycle
            gc.collect()
            return ""


def source_of(words):
    """The snowflake or the tag that the words begin with, and the words behind it."""
    handle, *rest = words
    if isinstance(OPENED[handle], leafid.Snowflake):
        return OPENED[handle], rest
    name, *rest = rest
    if name not in TAGS[handle]:
        TAGS[handle][name] = OPENED[handle].tag(name)
    return TAGS[handle][name], rest


def told_stats(stats):
    if isinstance(stats, leafid.Stats):
        return f"{stats.reserved_until_ms} {stats.lead_ms} {stats.renewals} {stats.renewal_failures}"
    return f"{stats.left} {stats.fetches} {stats.failures} {stats.waits} {stats.step} {stats.last_error or ''}"


def obey(words):
    match words:
        case ["open", handle, *rest]:
            OPENED[handle], TAGS[handle] = open_it(read(rest)), {}
            return getattr(OPENED[handle], "worker_id", "")
        case ["close", handle]:
            OPENED[handle].close()
            return ""
        case ["rounds", count, *rest]:
            return open_and_close(int(count), read(rest))
        case ["end", how]:
            return end(how)
        case ["fork", *_]:
            pid = os.fork()
            while pid == 0:
                signal.pause()
            return pid
        case ["exec"]:
            return subprocess.Popen(["sleep", "3600"]).pid
    command, *rest = words
    source, rest = source_of(rest)
    numbers = [*map(int, rest)]
    match command, numbers:
        case "next", _:
            return list_of([source.next() for _ in range(numbers[0] if numbers else 1)])
        case "take", [count]:
            return list_of(source.take(count))
        case "run", [milliseconds, *pause]:
            return run(source, milliseconds, max(pause[0] if pause else 100, 100))
        case "stats", []:
            return told_stats(source.stats())
        case "forks", [count]:
            return forks(source, count)
        case "fork-and-exit", [count]:
            return forked(source, count)
        case "fork-storm", [count, threads]:
            return fork_storm(source, count, threads)
    raise SystemExit(f"unknown command {words}")


def serve(_):
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        begun = time.monotonic_ns()
        try:
            answer = obey(words)
            print("ok", micros(begun), answer, flush=True)
        except leafid.Error as error:
            print("err", micros(begun), f"{error.code}: {error}", flush=True)


def chaos(_):
    import chaos

    chaos.main()


if __name__ == "__main__":
    try:
        {function.__name__: function for function in (serve, stream, chaos)}[sys.argv[1]](read(sys.argv[2:]))
    except leafid.Error as error:
        sys.exit(f"error {error.code}: {error}")
