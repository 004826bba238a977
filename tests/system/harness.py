"""What the system tests share: the list of tests, a place for each, and the judge of ids."""

import contextlib
import itertools
import json
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build"

TESTS = {}
# Where files lie in memory; none where all lie on the disk. Set by conftest.py.
MEMORY = None


# Options of a generator whose patience is not what is tested. All generators here have them: a disk, a source or the whole
# machine may stand for a while.
PATIENT = {"timeout_ms": 120_000}
# Of one that must wait for nothing that never comes: it would hang, and so fail on a machine of any speed.
ENDLESS = {"timeout_ms": 3_600_000}

# What has not come by then never comes, on any machine under any load.
NEVER_S = 300


class Skip(Exception):
    """The test cannot run here; the text says what is missing and how to get it."""


def test(name, long=False):
    """Registers a test: conftest.py runs it, early if it takes half a minute and more."""

    def register(function):
        assert name not in TESTS, name
        function.is_long = long
        TESTS[name] = function
        return function

    return register


def need(tool, package):
    path = shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip(f"{tool} is missing: apt install {package}")
    return path


def need_root(why):
    if os.geteuid() != 0:
        raise Skip(f"not root: {why}")


class Place:
    """A directory and a name of the test's own. Worker ids are taken on the whole host, so no name is used twice."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="place-"))
        self.name, self.memory = f"systemtest-{os.getpid()}-{random.randrange(1 << 32):08x}", None
        # Other users come in too.
        self.dir.chmod(0o755)

    def options(self, worker=0, state="state", name=None, **more):
        words = {"worker": worker, "dir": self.dir / state, "name": name or self.name, **PATIENT, **more}
        return [f"{key}={value}" for key, value in words.items()]

    def file(self, worker, state="state", name=None):
        return self.dir / state / (name or self.name) / f"worker-{worker}.state"

    def write(self, name, text):
        """Replaces a small file in one step: a reader never sees it half written."""
        path = self.dir / name
        fresh = path.with_suffix(".fresh")
        fresh.write_text(text)
        fresh.rename(path)
        return path

    def unsynced(self, name):
        """A path for what others than leafid keep, on no disk where there is memory for it: who syncs there waits for
        no other writes."""
        if not self.memory:
            self.memory = Path(tempfile.mkdtemp(prefix="place-", dir=MEMORY))
            self.memory.chmod(0o755)
        return self.memory / name

    def remove(self):
        for directory in filter(None, (self.dir, self.memory)):
            shutil.rmtree(directory, ignore_errors=True)


PLACES = []


def place():
    PLACES.append(Place())
    return PLACES[-1]


def record(path):
    """The newest record of a state file."""
    data = Path(path).read_bytes()
    slots = []
    for at in range(0, len(data), 4096):
        with contextlib.suppress(ValueError):
            slots.append(json.loads(data[at : at + 4096]))
    return max(slots, key=lambda slot: slot["number"])


def duplicates(streams):
    """How many ids stand in the streams more than once."""
    ids = sorted(itertools.chain.from_iterable(streams))
    return sum(map(int.__eq__, ids, itertools.islice(ids, 1, None)))


def assert_distinct(streams):
    twice = duplicates(streams)
    assert twice == 0, f"{twice} ids were issued twice"


EPOCH_MS = 1288834974657


def time_of(an_id):
    """The Unix milliseconds of an id in Leaf's layout."""
    return (an_id >> 22) + EPOCH_MS


def now_ms():
    return time.time_ns() // 1_000_000


def assert_none(numbers, *keys):
    for key in keys:
        assert numbers.get(key, 0) == 0, f"{key}={numbers[key]} in {numbers}"


def wait_for(condition, what):
    end = time.monotonic() + NEVER_S
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen within {NEVER_S} s")
