"""The programs, which are the agents with the command `chaos`: started, stopped, killed, started again.

Each is described by words, as in `worker=512-523`: `worker` (none: no snowflakes), `tags` with `servers` (none: no
segments), `name`, `dir`, `threads`, `pause_us`, `batch`, `seed`; `out`, below which it makes a file for each thread and
kind of ids, `flakes` or the tag; `run`, which its files are named for; and `notes`, to which it appends lines of
monotonic milliseconds, process, what and text:

    in WORKER MS                              the worker id is claimed, after this long
    error KIND CODE: MESSAGE                  refused, for the first time since ids were made
    pause KIND FROM UNTIL WAITED CODE         no ids between these milliseconds; for how many it waited for a processor
    fork, child signal|code N, done
"""

import os
import signal
import subprocess
import time
from collections import Counter

from schedule import PROGRAMS
from world import SPAWNING

from harness import BUILD
from subjects import COMMANDS, environment
from tricks import faketime

RANGE, FIXED = "512-523", "600"
BATCHES = {"c": 256, "python": 128, "node": 128, "java": 128}
STARTING, LIVING, ENDING = "starting", "living", "ending"


def now_ms():
    return time.monotonic_ns() // 1_000_000


class Program:
    """One of PROGRAMS through all its runs."""

    def __init__(self, name, world):
        self.name, self.world = name, world
        self.language, self.words, self.clock, self.forks = PROGRAMS[name]
        self.runs, self.pid, self.state, self.due_ms = 0, None, STARTING, 0
        self.stop_ends_ms = None

    def run_name(self):
        return f"{self.name}.{self.runs}"

    def start(self, is_plain=False):
        self.runs += 1
        world, given = self.world, self.words
        workers = {"range": RANGE, "fixed": FIXED, "lease": world.lease_server.url, None: ""}
        words = {
            "worker": workers[given.get("worker")],
            "tags": given.get("tags", ""),
            "servers": world.source.url,
            "name": world.name,
            "dir": world.disk.path / given.get("host", "shared"),
            "threads": given.get("threads", 1),
            "pause_us": 2_000 * world.slowness,
            "batch": BATCHES[self.language],
            "seed": world.seed + self.runs,
            "out": world.where / "ids",
            "run": self.run_name(),
            "notes": world.where / "notes" / self.run_name(),
        }
        env = environment()
        if self.clock and not is_plain:
            env = faketime(FAKETIME_TIMESTAMP_FILE=str(world.clocks.files[self.clock]))
            if self.forks:
                # The one for several threads has a lock, which a fork copies as it is; these read the clock on one.
                env["LD_PRELOAD"] = env["LD_PRELOAD"].replace("MT.so", ".so")
        command = [*COMMANDS[self.language], "chaos", *(f"{key}={value}" for key, value in words.items())]
        if "host" in given:
            command = [BUILD / "system/apart", *command]
        command = [*map(str, command)]
        with open(world.where / "said" / self.run_name(), "w") as said, SPAWNING:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env)
        # It is waited for by the one who waits for all.
        process.returncode = 0
        self.pid, self.state, self.stop_ends_ms = process.pid, LIVING, None
        world.pids[process.pid] = self
        world.runs[self.run_name()] = process.pid

    def signal(self, number):
        if self.pid:
            os.kill(self.pid, number)

    def ended(self, status):
        """What is wrong with how it ended, if anything."""
        code, expected = os.waitstatus_to_exitcode(status), {LIVING: (), ENDING: (0,), STARTING: (-signal.SIGKILL,)}
        if not self.is_in():
            # A JVM answers the signal itself.
            expected[ENDING] = (0, -signal.SIGTERM, 128 + signal.SIGTERM)
        wrong = code not in expected[self.state]
        said = (self.world.where / "said" / self.run_name()).read_text()[-1500:]
        self.pid, self.state = None, STARTING
        if wrong or "panicked" in said:
            return f"{self.run_name()} ended with {code}: {said}"

    def is_in(self):
        """Whether it had come so far as to mind signals."""
        path = self.world.where / "notes" / self.run_name()
        return path.exists() and path.stat().st_size > 0

    def files(self):
        return [path for path in (self.world.where / "ids").glob(f"*/*-{self.run_name()}-*")]


class Counts(Counter):
    def of(self, *keys):
        return " · ".join(f"{key} {self[key]}" for key in keys)
