"""A process whose worker id is leased from the example's table: `leases_subject.py DIRECTORY key=value…`. It makes ids on
two threads until its standard input ends. Each id that it made, and what it was asked and got, stand in files of the
directory, one of each for a process: whoever kills or stops it finds them there."""

import array
import json
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import leafid

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from database_workers import Workers

PLACE = Path(sys.argv[1])
GIVEN = dict(word.split("=", 1) for word in sys.argv[2:])
LEASE_MS = int(GIVEN.get("lease_ms", 1000))
PAUSE_S = int(GIVEN.get("pause_us", 1000)) / 1e6


def append(kind, data):
    """One write: what was written is not lost by a kill. Opened each time, for a fork has files of its own."""
    fd = os.open(PLACE / f"{kind}-{GIVEN['life']}.{os.getpid()}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def note(what, **more):
    """The monotonic clock is true where the other one is not."""
    line = {"what": what, "at_ms": time.monotonic_ns() // 1_000_000, **more}
    append("notes", json.dumps(line).encode() + b"\n")


def made(ids):
    append("ids", array.array("q", ids).tobytes())


def pause(seconds):
    # Not time.sleep: libfaketime refuses its absolute times while the monotonic clock is true.
    select.select([], [], [], seconds)


class Leases(Workers):
    """The example's, with short spans. The file named `switch` says whether it answers: `fail` is a table that cannot be
    reached, `lie` a lease source that does not look at what it gave before."""

    def switch(self):
        path = PLACE / GIVEN.get("switch", "switch")
        mode = path.read_text() if path.exists() else ""
        if mode == "fail":
            raise ConnectionError("the table cannot be reached")
        return mode

    def claim(self, request):
        note("claim", instance=request.instance, previous=request.previous)
        if self.switch() == "lie":
            from_ms = request.now_ms // 10_000 * 10_000
            return leafid.Lease(0, from_ms, from_ms + 60_000, token=request.instance)
        span = SimpleNamespace(
            instance=request.instance, now_ms=request.now_ms, until_ms=request.now_ms + LEASE_MS
        )
        lease = super().claim(span)
        return lease and leafid.Lease(lease.worker_id, lease.from_ms, lease.until_ms, LEASE_MS, lease.token)

    def renew(self, lease, until_ms):
        note("renew", wish_ms=until_ms)
        if self.switch() == "lie":
            return until_ms
        return super().renew(lease, until_ms)

    def release(self, lease, until_ms):
        note("release", instance=lease.token)
        super().release(lease, until_ms)


def try_it(flake, takes=False):
    """Ids; false after an error, which is to recover by itself."""
    try:
        made(flake.take(20) if takes else [flake.next()])
    except leafid.Error as error:
        note("error", code=error.code, text=str(error))
        pause(0.02)
        return False
    return True


def issue(flake, takes, ended):
    while not ended():
        try_it(flake, takes)
        pause(PAUSE_S)


def open_it():
    """The generator, asked for until it can be had or the input ends."""
    place = {"name": GIVEN["host"], "state_dir": PLACE / GIVEN["host"]}
    if "timeout_ms" in GIVEN:
        place["timeout_ms"] = int(GIVEN["timeout_ms"])
    leases = Leases(GIVEN["table"], ())
    while not ended_input():
        try:
            flake = leafid.Snowflake(leases, **place)
        except leafid.Error as error:
            note("refused", code=error.code, text=str(error))
            pause(0.03)
        else:
            note("in", worker=flake.worker_id)
            return flake
    return None


def ended_input():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def descend(flake, depth):
    """Two children, each of which uses the generator, has children of its own, and ends in another way."""
    for turn in range(2):
        note("fork", worker=flake.worker_id)
        pid = os.fork()
        if pid == 0:
            # A test that hangs is to say so.
            signal.alarm(40)
            note("born", parent=os.getppid())
            while not try_it(flake):
                pass
            if depth > 1:
                descend(flake, depth - 1)
            end = time.monotonic() + 0.4
            issue(flake, turn, lambda: time.monotonic() > end)
            if turn:
                flake.close()
            note("done")
            sys.exit(0)
        pause(0.05)
        note("child", pid=pid, status=os.waitpid(pid, 0)[1])


def main():
    flake = open_it()
    if flake is None:
        return
    ended = threading.Event()
    threads = [threading.Thread(target=issue, args=(flake, takes, ended.is_set)) for takes in (False, True)]
    for thread in threads:
        thread.start()
    if "forks" in GIVEN:
        descend(flake, int(GIVEN["forks"]))
        note("descended")
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
    flake.close()
    note("done")


if __name__ == "__main__":
    main()
