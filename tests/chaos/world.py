"""What the programs live on and off: a disk, clocks, servers. Each can be damaged, and mends again."""

import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))

from disks import fill  # noqa: E402
from harness import NEVER_S, need  # noqa: E402
from schedule import LEASE_LIES, LEASE_MS, LIES, TAGS, THRESHOLD_MS  # noqa: E402
from servers import FakeServer  # noqa: E402

LIFE_S = 100_000
# Held by who starts a process that it waits for itself: all others are waited for in one place.
SPAWNING = threading.Lock()


class Worker:
    """Does actions one after another on a thread of its own; the first that fails is raised at the end."""

    def __init__(self):
        self.actions, self.failure = queue.SimpleQueue(), None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while (action := self.actions.get()) is not None:
            try:
                action()
            except BaseException as error:
                self.failure = self.failure or error

    def do(self, action):
        self.actions.put(action)

    def finish(self):
        self.actions.put(None)
        self.thread.join(timeout=NEVER_S)
        assert not self.thread.is_alive(), "an action of the run itself hangs"
        if self.failure:
            raise self.failure


class Disk(Worker):
    """A small disk of the run's own, mounted at `state`: ext4 on a loop device, or where there are none a tmpfs; of memory,
    so that others do not slow it down."""

    def __init__(self, where):
        self.path, self.bare, frozen = where / "state", where / "bare", where / "frozen"
        for path in (self.path, self.bare, frozen):
            path.mkdir()
        image = Path("/dev/shm/image")
        with open(image, "wb") as file:
            file.truncate(24 << 20)
        mkfs = [need("mkfs.ext4", "e2fsprogs"), "-q", "-m", "0", image]
        self.kind = "ext4 on a loop device"
        if run(*mkfs).returncode or run("mount", "-o", "loop", image, self.bare).returncode:
            self.kind = "tmpfs (there is no loop device here)"
            must("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", self.bare)
        self.frozen = frozen
        must("mount", "--bind", self.bare, frozen)
        must("mount", "-o", "remount,bind,ro", frozen)
        must("mount", "--bind", self.bare, self.path)
        super().__init__()

    def full(self, is_on):
        if is_on:
            fill(self.bare)
            assert os.statvfs(self.bare).f_bavail == 0, "the disk is not full"
        else:
            os.truncate(self.bare / "filler", 0)

    def read_only(self, is_on):
        # Over the one that is there: it has files open for writing, and cannot become read-only itself.
        if is_on:
            must("mount", "--bind", self.frozen, self.path)
            assert os.statvfs(self.path).f_flag & os.ST_RDONLY, "the directory is not read-only"
        else:
            must("umount", "-l", self.path)


class Clocks:
    """Files that libfaketime reads at every look at the clock."""

    def __init__(self, where, names):
        self.files = {name: where / f"clock-{name}" for name in names}
        for name in names:
            self.set(name, 0.0)

    def set(self, name, seconds):
        fresh = self.files[name].with_suffix(".fresh")
        fresh.write_text(f"{seconds:+.4f}")
        fresh.rename(self.files[name])


class Server(Worker):
    """A fake server: the source of segments, or the lease server."""

    def __init__(self, lies, **dials):
        self.lies, self.server = lies, FakeServer(seconds=LIFE_S, **dials)
        self.highest, self.given_again = dict.fromkeys(TAGS, 1), 0
        super().__init__()

    @property
    def url(self):
        return self.server.url

    def lie(self, what, tag):
        self.server.fault(self.lies[what], tag=tag)

    def clear(self):
        self.server.clear()

    def dead(self, how):
        self.server.dead(how) if how else self.server.back()

    def restart(self, is_trusted):
        """What was dead is back, with the table that it had."""
        if not is_trusted:
            # It cannot know that, and takes it for an older one.
            self.server.do("doubt")
        self.server.back()

    def rewind(self, tag, by):
        """Gives again what was given, heedless of `after`."""
        self.rewound = max(1, self.next(tag) - by)
        self.server.do("tag", tag=tag, next=self.rewound, heeds_after=False)

    def right(self, tag):
        """Goes on above all that was given, once something was given again: how much is counted."""
        end = time.monotonic() + 5
        while self.now(tag) == self.rewound and time.monotonic() < end:
            time.sleep(0.02)
        self.given_again += max(0, self.now(tag) - self.rewound)
        self.server.do("tag", tag=tag, next=self.next(tag), heeds_after=True)

    def next(self, tag):
        """Above all that was ever given."""
        self.highest[tag] = max(self.highest[tag], self.now(tag))
        return self.highest[tag]

    def now(self, tag):
        return self.server.do("tag", tag=tag)["next"]


def source():
    return Server(LIES)


def lease_server():
    return Server(LEASE_LIES, pool=24, lease_ms=LEASE_MS, threshold_ms=THRESHOLD_MS)


def run(*command):
    with SPAWNING:
        return subprocess.run([*map(str, command)], capture_output=True, text=True)


def must(*command):
    done = run(*command)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr.strip()}"
