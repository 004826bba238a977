"""The subject of the system tests in Python: `agent.py stream key=value…` and `agent.py serve`, with the protocol of
the Rust one in rust/src/stream.rs and serve.rs."""

import array
import atexit
import gc
import itertools
import os
import select
import signal
import subprocess
import sys
import threading
import time

import leafid

BATCH = 512


def options(words):
    given = dict(word.partition("=")[::2] for word in words)
    return {
        "worker": given.get("worker", "0"),
        "name": given.get("name"),
        "state_dir": given.get("dir"),
        "timeout_ms": int(given["timeout_ms"]) if "timeout_ms" in given else None,
        "max_backwards_ms": int(given["max_backwards_ms"]) if "max_backwards_ms" in given else None,
        "random_start": int(given["random_start"]) if "random_start" in given else None,
        "on_clock_backwards": given.get("on_clock_backwards"),
        **{key: int(given[key]) for key in ("request_timeout_ms", "connect_timeout_ms") if key in given},
        **{key: given[key] for key in ("token", "ca_file") if key in given},
    }, given


def kept_waiting_us():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) // 1000


def micros(begun):
    return (time.monotonic_ns() - begun) // 1000


def issue(flake, method, count):
    left = count or sys.maxsize
    while left > 0:
        n = min(left, BATCH)
        if method == "fill":
            ids = flake.fill(array.array("q", bytes(8 * n)))
        elif method == "take":
            ids = array.array("q", flake.take(n))
        else:
            ids = array.array("q", [flake.next() for _ in range(n)])
        left -= n
        os.write(1, ids.tobytes())


def stream(words):
    arguments, given = options(words)
    begun, waited = time.monotonic_ns(), kept_waiting_us()
    flake = leafid.Snowflake(**arguments)
    opened = micros(begun)
    first = flake.next()
    took, waited = micros(begun), kept_waiting_us() - waited
    os.write(1, array.array("q", [first]).tobytes())
    print("ready", os.getpid(), flake.worker_id, opened, took, waited, file=sys.stderr, flush=True)
    work = (flake, given.get("method", "next"), int(given.get("count", 0)))
    others = [threading.Thread(target=issue, args=work) for _ in range(int(given.get("threads", 1)) - 1)]
    for thread in others:
        thread.start()
    issue(*work)
    for thread in others:
        thread.join()
    match given.get("then", "wait"):
        case "wait":
            while True:
                signal.pause()
        case "close":
            flake.close()


def lessee(words):
    """A holder of a leased worker id until its input ends: as rust/src/lessee.rs."""
    arguments, given = options(words)
    pause_s = int(given.get("pause_us", 2000)) / 1e6

    def append(kind, data):
        with open(given[kind], "ab", buffering=0) as file:
            file.write(data)

    def note(what, text=""):
        at_ms = time.monotonic_ns() // 1_000_000
        append("notes", f"{at_ms} {what} {text}".replace("\n", " ").encode() + b"\n")

    def is_over(wait_s):
        return bool(select.select([sys.stdin], [], [], wait_s)[0])

    while True:
        try:
            flake = leafid.Snowflake(**arguments)
            break
        except leafid.Error as error:
            note("refused", f"{error.code}: {error}")
        if is_over(0.1):
            return
    note("in", flake.worker_id)
    for turn in itertools.count():
        try:
            append("ids", array.array("q", flake.take(20) if turn % 2 else [flake.next()]).tobytes())
        except leafid.Error as error:
            note("error", f"{error.code}: {error}")
            select.select([], [], [], 0.02)
        if is_over(pause_s):
            break
    flake.close()
    note("done")


def run(flake, milliseconds, pause_us):
    end = time.monotonic_ns() + milliseconds * 1_000_000
    ids, slowest = [], 0
    while time.monotonic_ns() < end:
        begun = time.monotonic_ns()
        ids.append(flake.next())
        slowest = max(slowest, micros(begun))
        # Not time.sleep: libfaketime refuses its absolute times while the monotonic clock is true.
        select.select([], [], [], pause_us / 1e6)
    rising = all(a < b for a, b in itertools.pairwise(ids))
    return f"{len(ids)} {slowest} {ids[0]} {ids[-1]} {str(rising).lower()}"


def pace(flake, count):
    """Ids without a pause, and a loop as long that only reads the clock: the answers of rust/src/rounds.rs."""
    next_id, clock = flake.next, time.monotonic_ns
    first, last, rising, slowest = 0, 0, True, 0
    begun = before = clock()
    for _ in range(count):
        an_id = next_id()
        now = clock()
        if now - before > slowest:
            slowest = now - before
        before = now
        rising = rising and an_id > last
        last = an_id
        first = first or an_id
    took = clock() - begun
    gap, begun = 0, clock()
    before = begun
    while before - begun < took:
        now = clock()
        if now - before > gap:
            gap = now - before
        before = now
    return f"{took // 1000} {slowest // 1000} {gap // 1000} {first} {last} 0 {str(rising).lower()}"


def open_and_close(count, arguments):
    last, rising = 0, True
    for _ in range(count):
        with leafid.Snowflake(**arguments) as flake:
            an_id = flake.next()
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


def end(how, flakes):
    """Ends the process with its generators as they are; `collect` only lets go of them, in a cycle."""
    match how:
        case "exit":
            sys.exit(0)
        case "raise":
            raise LookupError("meant to be")
        case "atexit":
            atexit.register(lambda: print("ok", 0, flakes["a"].next(), flush=True))
            sys.exit(0)
        case "_exit":
            os._exit(0)
        case "abort":
            os.abort()
        case "collect":
            cycle = [*flakes.values()]
            cycle.append(cycle)
            flakes.clear()
            del cycle
            gc.collect()
            return ""


def obey(flakes, words):
    match words:
        case ["open", handle, *rest]:
            flakes[handle] = leafid.Snowflake(**options(rest)[0])
            return str(flakes[handle].worker_id)
        case ["next", handle, *count]:
            return " ".join(str(flakes[handle].next()) for _ in range(int(count[0]) if count else 1))
        case ["run", handle, milliseconds, *pause]:
            return run(flakes[handle], int(milliseconds), max(int(pause[0]) if pause else 100, 100))
        case ["stats", handle]:
            stats = flakes[handle].stats()
            return f"{stats.reserved_until_ms} {stats.lead_ms} {stats.renewals} {stats.renewal_failures}"
        case ["pace", handle, count]:
            return pace(flakes[handle], int(count))
        case ["rounds", count, *rest]:
            return open_and_close(int(count), options(rest)[0])
        case ["forks", handle, count]:
            return forks(flakes[handle], int(count))
        case ["end", how]:
            return end(how, flakes)
        case ["close", handle]:
            flakes[handle].close()
            return ""
        case ["fork", *_]:
            pid = os.fork()
            while pid == 0:
                signal.pause()
            return str(pid)
        case ["exec"]:
            return str(subprocess.Popen(["sleep", "60"]).pid)
    raise SystemExit(f"unknown command {words}")


def serve():
    flakes = {}
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        begun = time.monotonic_ns()
        try:
            answer = obey(flakes, words)
            print("ok", micros(begun), answer, flush=True)
        except leafid.Error as error:
            print("err", micros(begun), f"{error.code}: {error}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] in ("stream", "lessee"):
        try:
            {"stream": stream, "lessee": lessee}[sys.argv[1]](sys.argv[2:])
        except leafid.Error as error:
            sys.exit(f"error {error.code}: {error}")
    else:
        serve()
