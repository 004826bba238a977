"""The programs and what befalls them: schedule.py's events, done."""

import contextlib
import heapq
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import world  # noqa: I001  (it says where the system tests' parts are)
from runs import ENDING, LIVING, STARTING, Counts, Program, now_ms
from schedule import CLOCKS, LEASE_MS, PROGRAMS, QUIET_S, TAGS, THRESHOLD_MS, digest, schedule

from harness import NEVER_S
from subjects import environment

# Those that are started again for it; the others continue.
BEGUN_ANEW = ("c-range", "python-range", "node-range", "java-range", "c-tags", "c-guest")


class Chaos:
    """The world, the programs in it, and what befalls them."""

    def __init__(self, seconds, seed, where):
        self.seconds, self.seed, self.where = seconds, seed, where
        self.name = f"chaos-{seed}-{random.getrandbits(32):08x}"
        # Files stay below some GiB however long it runs.
        self.slowness = max(1, seconds // 900)
        for kind in ("flakes", *TAGS):
            (where / "ids" / kind).mkdir(parents=True)
        for path in ("notes", "said", "scratch"):
            (where / path).mkdir()
        # libfaketime keeps shared memory by process numbers, which are this namespace's own.
        world.must("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
        self.disk, self.clocks = world.Disk(where), world.Clocks(where, CLOCKS)
        self.source, self.lease_server = world.source(), world.lease_server()
        self.programs = {name: Program(name, self) for name in PROGRAMS}
        # Of each run its process.
        self.runs = {}
        self.pids, self.counts, self.complaints = {}, Counts(), []
        # Of each process when it was stopped, and when servers and disk were damaged: milliseconds from, until.
        self.stops, self.damage = [], {"source": [], "lease_server": [], "read-only": [], "full": []}
        self.later, self.numbers = [], itertools.count()

    def at(self, seconds, action):
        heapq.heappush(self.later, (time.monotonic() + seconds, next(self.numbers), action))

    def go(self, until):
        """Waits for processes, starts those again that are due, and does what is due."""
        while (now := time.monotonic()) < until:
            while self.later and self.later[0][0] <= now:
                heapq.heappop(self.later)[2]()
            self.reap()
            for program in self.programs.values():
                if program.state == STARTING and not program.pid and program.due_ms <= now_ms():
                    self.start(program)
            due = self.later[0][0] if self.later else until
            time.sleep(max(0, min(due, until, time.monotonic() + 0.01) - time.monotonic()))

    def start(self, program):
        program.start()
        self.counts["processes"] += 1
        self.counts[program.language] += 1

    def reap(self):
        with world.SPAWNING, contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                program = self.pids.pop(pid, None)
                if program:
                    wrong = program.ended(status)
                    if wrong:
                        self.complaints.append(wrong)
                        program.due_ms = now_ms() + 1_000
                elif os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
                    self.complaints.append(f"a forked child, {pid}, ended by signal {os.WTERMSIG(status)}")

    def do(self, event):
        getattr(self, event.what.replace("-", "_"))(event.who, *event.more)

    def kill(self, name, dead_s, move):
        program = self.programs[name]
        if program.state != LIVING:
            return
        program.signal(signal.SIGKILL)
        program.state = STARTING
        self.counts["kills"] += 1
        self.begin_anew(program, dead_s, move)

    def end(self, name, dead_s, move):
        program = self.programs[name]
        if program.state != LIVING:
            return
        program.signal(signal.SIGTERM)
        program.state = ENDING
        self.counts["clean ends"] += 1
        self.begin_anew(program, dead_s, move)

    def begin_anew(self, program, dead_s, move):
        program.due_ms = now_ms() + dead_s * 1000
        if move is not None:
            self.clocks.set(program.clock, move)
            self.counts["clock moves between runs"] += 1

    def stop(self, name, seconds):
        program = self.programs[name]
        if program.state != LIVING or program.stop_ends_ms:
            self.at(0.1, lambda: self.stop(name, seconds))
            return
        pid, begun = program.pid, now_ms()
        program.signal(signal.SIGSTOP)
        program.stop_ends_ms = begun + seconds * 1000
        self.counts["stops"] += 1
        self.counts["stops longer than a lease"] += seconds * 1000 > LEASE_MS + THRESHOLD_MS

        def go_on():
            self.stops.append((pid, begun, now_ms()))
            if program.pid == pid:
                program.signal(signal.SIGCONT)
                program.stop_ends_ms = None

        self.at(seconds, go_on)

    def fork(self, name):
        program = self.programs[name]
        # Before it has handlers the signal would end it.
        if program.state == LIVING and program.is_in():
            program.signal(signal.SIGUSR1)

    def clock(self, clock, seconds):
        self.clocks.set(clock, seconds)
        self.counts["clock moves while running"] += 1

    def full(self, _, seconds):
        self.damaged("full", seconds, self.disk, lambda: self.disk.full(True), lambda: self.disk.full(False))
        self.counts["disk full"] += 1

    def read_only(self, _, seconds):
        disk = self.disk
        self.damaged("read-only", seconds, disk, lambda: disk.read_only(True), lambda: disk.read_only(False))
        self.counts["directory read-only"] += 1

    def lie(self, name, what, tag, seconds):
        server = getattr(self, name)
        self.damaged(name, seconds, server, lambda: server.lie(what, tag), server.clear)
        self.counts[f"{name} faults"] += 1
        self.counts[f"{name}: {what}"] += 1

    def rewound(self, name, tag, by, seconds):
        server = self.source
        self.damaged(name, seconds, server, lambda: server.rewind(tag, by), lambda: server.right(tag))
        self.counts["source faults"] += 1
        self.counts["source: a counter that went back"] += 1

    def refused(self, name, seconds, _):
        self.dead(name, seconds, "refused")

    def hangs(self, name, seconds, _):
        self.dead(name, seconds, "hangs")

    def dead(self, name, seconds, how):
        server = getattr(self, name)
        self.damaged(name, seconds, server, lambda: server.dead(how), lambda: server.dead(None))
        self.counts[f"{name} faults"] += 1

    def restarted(self, name, seconds, is_trusted):
        server = getattr(self, name)
        self.damaged(name, seconds, server, lambda: server.dead("refused"), lambda: server.restart(is_trusted))
        self.counts[f"{name} faults"] += 1
        self.counts[f"{name} restarts"] += 1

    def damaged(self, what, seconds, worker, begin, end):
        """Does it on the worker's thread, notes for how long, and mends it."""
        begun = []
        worker.do(lambda: (begun.append(now_ms()), begin()))

        def mend():
            end()
            self.damage[what].append((begun[0], now_ms()))

        self.at(seconds, lambda: worker.do(mend))

    def befall(self):
        events = schedule(self.seed, self.seconds)
        print(f"chaos: seed {self.seed}, {self.seconds} s, {len(events)} events (schedule {digest(events)}), "
              f"{len(PROGRAMS)} programs at a time, disk {self.disk.kind}", flush=True)  # fmt: skip
        prober = [sys.executable, world.HERE / "prober.py", self.disk.path, self.where / "probed"]
        with world.SPAWNING:
            prober = subprocess.Popen([*map(str, prober)], env=environment())
        begun = time.monotonic()
        for event in events:
            self.at(event.at, lambda event=event: self.do(event))
        self.go(begun + self.seconds - QUIET_S)
        # What was damaged late is mended in time.
        for clock in CLOCKS:
            self.clocks.set(clock, 0.0)
        self.go(begun + self.seconds)
        assert prober.poll() is None, "the prober ended"
        prober.kill()
        tried, held = map(int, (self.where / "probed").read_text().split())
        self.counts.update({"locks tried": tried, "of them held": held})

    def recovery(self):
        """Once nothing is wrong, each program makes ids again, those that live and those that are started again."""
        for name in BEGUN_ANEW:
            program = self.programs[name]
            if program.state == LIVING:
                program.signal(signal.SIGTERM)
                program.state = ENDING
        self.go(time.monotonic() + 0.5)
        end = time.monotonic() + NEVER_S
        waiting = {}
        while time.monotonic() < end:
            self.go(time.monotonic() + 0.3)
            for name, program in self.programs.items():
                if program.state == LIVING and name not in waiting:
                    waiting[name] = (program.run_name(), sizes(program))
            late = [name for name, (run, before) in waiting.items() if not grown(self.programs[name], before)]
            if len(waiting) == len(self.programs) and not late:
                return
        for name, program in self.programs.items():
            if name not in waiting or name in late:
                notes = self.where / "notes" / program.run_name()
                told = notes.read_text().splitlines()[-3:] if notes.exists() else []
                self.complaints.append(f"{program.run_name()} ({program.state}) made no ids for {NEVER_S} s: {told}")

    def finish(self):
        for program in self.programs.values():
            if program.pid:
                program.signal(signal.SIGTERM)
                program.signal(signal.SIGCONT)
                program.state = ENDING
            program.due_ms = float("inf")
        end = time.monotonic() + NEVER_S
        while self.pids and time.monotonic() < end:
            self.go(time.monotonic() + 0.05)
        for program in self.pids.values():
            self.complaints.append(f"{program.run_name()} did not end")
        for worker in (self.disk, self.source, self.lease_server):
            worker.finish()
        known = {self.source.server.process.pid, self.lease_server.server.process.pid, os.getpid()}
        # Forked children, which end by themselves.
        end = time.monotonic() + NEVER_S
        while (left := processes() - known) and time.monotonic() < end:
            self.go(time.monotonic() + 0.05)
        for pid in left:
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                self.complaints.append(f"process {pid} is still there: {command[:300]}")


def processes():
    return {*map(int, filter(str.isdecimal, os.listdir("/proc")))}


def sizes(program):
    """Bytes of ids of each kind."""
    of = Counts()
    for path in program.files():
        of[path.parent.name] += path.stat().st_size
    return of


def grown(program, before):
    now = sizes(program)
    kinds = program.words.get("tags", "").split(",") + ["flakes"] * ("worker" in program.words)
    return all(now[kind] > before[kind] for kind in kinds if kind)
