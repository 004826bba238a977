"""The subject of the hostile tests in Python: `agent.py stream key=value…` and `agent.py serve`, with the protocol of
the Rust one in rust/src/stream.rs and serve.rs."""

import array
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
    if sys.argv[1] == "stream":
        try:
            stream(sys.argv[2:])
        except leafid.Error as error:
            sys.exit(f"error {error.code}: {error}")
    else:
        serve()
