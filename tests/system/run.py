"""Runs the system tests: `run.py [PART-OF-A-NAME…] [--seed N] [--jobs N] [--once]`.

Each test runs in a process group of its own, which is killed when the test is done or its bound is over. Those that
measure time run last, with nothing beside them. One that fails runs once more, by itself at the end: many have bounds of
time, and the machine may do other things. It has failed if it fails again, or if it was about an id issued twice, or
below an earlier one; `--once`: none has a second try. Only the standard library is needed. The closing line counts
passed, failed and skipped.
"""

import argparse
import contextlib
import glob
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import harness

sys.path.append(str(Path(__file__).resolve().parents[1] / "retries"))
from retries import ABOUT_IDS  # Reasons that no busy machine explains.

# What says so of a span or an order.
ABOUT_SPANS = re.compile(r"\bbelow\b|not rise|outside of|without a lease|beyond its|\d{12} after \d{12}")

MODULES = """
    crash_loop clock leaps wait_rule ahead directories disks power_cuts places one_host processes
    system_calls copies leases resources rounds endings attacks memory
    sources outages regress counters marks kept bursts leaf leaf_answers leaf_faults lease_servers lease_transport lease_starts
    lease_answers hosts
""".split()
PASSED, FAILED, SKIPPED, AGAIN = "PASS", "FAIL", "SKIP", "AGAIN"
# Of those that only sleep, this many at a time: the starts of all of them at once would keep both processors busy.
SLEEPERS = 8
# A test that is not done by then hangs, on any machine under any load. `make hosts` says how long it lasts.
HANGS = 900 + 2 * int(os.environ.get("SECONDS") or 0)


def run_here(name, seed, out):
    """The test, in a process of its own: the exit status says how it went, the file why."""
    os.setpgid(0, 0)
    random.seed(f"{seed} {name}")
    code = 1
    try:
        note = harness.TESTS[name][0]()
        out.write(note or "")
        code = 0
    except harness.Skip as skip:
        out.write(str(skip))
        code = 2
    except AssertionError as error:
        out.write(str(error) or traceback.format_exc())
    except BaseException:
        out.write(traceback.format_exc())
    finally:
        for place in harness.PLACES:
            place.remove()
        out.flush()
        os._exit(code)


class Running:
    def __init__(self, name, seed):
        self.name, self.seed, self.begun = name, seed, time.monotonic()
        self.out = tempfile.TemporaryFile("w+")
        self.pid = os.fork()
        if self.pid == 0:
            run_here(name, seed, self.out)

    def poll(self):
        """How it ended, or None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        took = time.monotonic() - self.begun
        if pid == 0 and took < HANGS:
            return None
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        if pid == 0:
            os.waitpid(self.pid, 0)
        self.out.seek(0)
        why = self.out.read().strip()
        if pid == 0:
            return FAILED, took, f"not done within {HANGS} s {why}"
        code = os.waitstatus_to_exitcode(status)
        return {0: PASSED, 2: SKIPPED}.get(code, FAILED), took, why or (f"ended with {code}" if code else "")


def sweep(bases):
    """What killed tests left: their directories, and libfaketime's shared memory of processes that are gone."""
    for base in bases:
        shutil.rmtree(base, ignore_errors=True)
    for path in glob.glob("/dev/shm/*faketime_s*_[0-9]*"):
        if not os.path.exists(f"/proc/{path.rpartition('_')[2]}"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--once", action="store_true")
    arguments = parser.parse_args()
    for module in MODULES:
        importlib.import_module(module)
    wanted = [n for n in harness.TESTS if not arguments.names or any(part in n for part in arguments.names)]
    print(f"system tests: {len(wanted)}, seed {arguments.seed}", flush=True)
    counts = dict.fromkeys((PASSED, FAILED, SKIPPED, AGAIN), 0)
    again = []
    running, begun = [], time.monotonic()
    bases = [tempfile.mkdtemp(prefix="leafid-system-")]
    if os.access("/dev/shm", os.W_OK):
        bases.append(tempfile.mkdtemp(prefix="leafid-system-", dir="/dev/shm"))
        harness.MEMORY = bases[1]
    tempfile.tempdir = bases[0]
    for base in bases:
        # Other users come in too.
        os.chmod(base, 0o755)
    waiting = sorted(wanted, key=lambda name: harness.TESTS[name][1])

    def may_start(name):
        _, alone, sleeps = harness.TESTS[name]
        if alone or any(harness.TESTS[r.name][1] for r in running):
            return not running and all(harness.TESTS[other][1] for other in waiting)
        like = [r for r in running if harness.TESTS[r.name][2] == sleeps]
        return len(like) < (SLEEPERS if sleeps else arguments.jobs)

    while waiting or running or again:
        if not waiting and not running:
            running.append(Running(again.pop(), arguments.seed + 1))
        for name in list(waiting):
            if may_start(name):
                waiting.remove(name)
                running.append(Running(name, arguments.seed))
        for test in list(running):
            ended = test.poll()
            if ended:
                running.remove(test)
                state, took, why = ended
                tries_left = test.seed == arguments.seed and not arguments.once
                if state == FAILED and tries_left and not (ABOUT_IDS.search(why) or ABOUT_SPANS.search(why)):
                    state = AGAIN
                    again.append(test.name)
                counts[state] += 1
                print(f"{state} {test.name} ({took:.1f} s){': ' if why else ''}{why}", flush=True)
        time.sleep(0.02)
    sweep(bases)
    print(f"{time.monotonic() - begun:.0f} s")
    tried = f", {counts[AGAIN]} of them tried again" if counts[AGAIN] else ""
    print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped{tried}")
    sys.exit(1 if counts[FAILED] else 0)


if __name__ == "__main__":
    main()
