"""What the tests share: an id space of their own, and other processes on it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import pytest

import leafid

# A shell that starts the tests in its background has them ignore it, and all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Here pytest sees to both; in the programs that the tests start, a crash says where, and a warning is an error, too.
os.environ |= {"PYTHONFAULTHANDLER": "1", "PYTHONWARNINGS": "error"}

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(PROJECT / "tests" / "fake_servers"))
from client import FakeServer  # noqa: E402

# What each program has: `forked` forks a child, which must end well, and answers what its work comes to.
PRELUDE = """
import json, os, sys, leafid
space = json.loads(sys.argv[1])
def say(*values):
    print(*values, flush=True)
def forked(work=lambda: None):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with os.fdopen(write, "w") as file:
            json.dump(work(), file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        answer = file.read()
    assert os.waitpid(pid, 0)[1] == 0
    return json.loads(answer)
"""


def own(text):
    """Without what openings warn of here: other tests hold the same worker id, and the state is in memory."""
    others = ("is held on this host under another name", " is on tmpfs: ", "no record of worker id ")
    return "".join(line for line in text.splitlines(keepends=True) if not any(each in line for each in others))


class Program:
    """A running Python program; `line` reads what it says, `send` lets it continue."""

    def __init__(self, code, space):
        command = [sys.executable, "-P", "-W", "error", "-c", PRELUDE + code, json.dumps(space)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @property
    def pid(self):
        return self.process.pid

    def line(self):
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return line.strip()

    def send(self, text=""):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end_by_interrupt(self):
        """Once it says that it waits, for longer than a test may last, Ctrl-C ends that."""
        assert self.line() == "waits"
        time.sleep(0.3)
        self.process.send_signal(signal.SIGINT)
        assert self.line() == "interrupted"
        self.end()

    def kill(self):
        """Ends it by SIGKILL. What it started may continue, and have its pipes open."""
        self.process.kill()
        self.process.wait()

    def communicate(self):
        """Waits for its end; answers the rest of what it said and logged."""
        out, err = self.process.communicate()
        return out, own(err)

    def end(self, code=0):
        """Waits for its end; answers the rest of what it said."""
        out, err = self.communicate()
        assert (self.process.returncode, err) == (code, ""), (self.process.returncode, out[-2000:], err)
        return out


@pytest.fixture(scope="session")
def memory():
    """A directory in memory, if /dev/shm is there: a close gives up a slow disk after two seconds."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="leafid-python-", dir=parent, ignore_cleanup_errors=True) as directory:
        yield directory


def id_space(state_dir):
    """Options of an id space that no other test on this host has, whose calls wait for a busy machine."""
    return {"name": f"py-{uuid.uuid4().hex[:12]}", "state_dir": str(state_dir), "timeout_ms": 60_000}


@pytest.fixture
def space(memory):
    return id_space(tempfile.mkdtemp(dir=memory))


@pytest.fixture
def on_disk(tmp_path):
    """As `space`, on a disk: in memory openings warn, and the first id is of the tick after them."""
    return id_space(tmp_path)


@pytest.fixture
def start(space):
    """Starts a program in the id space; what still runs at the end of the test is killed."""
    started = []

    def start(code, **more):
        started.append(Program(code, space | more))
        return started[-1]

    yield start
    for program in started:
        if program.process.poll() is None:
            program.kill()
        for pipe in (program.process.stdin, program.process.stdout, program.process.stderr):
            pipe.close()


@pytest.fixture
def run(start):
    """Runs a program to its end, which must be clean; answers what it said."""
    return lambda code, **more: start(code, **more).end()


@pytest.fixture
def settled():
    """Afterwards waits for calls of sources that no caller waits for any more: they may log."""
    yield
    end = time.monotonic() + 60
    while any(name.startswith(("leafid-call", "leafid-log")) for name in threads()) and time.monotonic() < end:
        time.sleep(0.01)


def threads():
    """The names of this process's threads."""
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield (task / "comm").read_text()


@pytest.fixture
def record(space):
    """Reads the newest record of a worker id from its state file."""

    return lambda worker_id: newest(pathlib.Path(space["state_dir"], space["name"], f"worker-{worker_id}.state"))


@pytest.fixture
def mark(space):
    """Reads what the only mark file of the id space holds."""

    def mark():
        (path,) = pathlib.Path(space["state_dir"], space["name"]).glob("*.mark")
        return newest(path)

    return mark


def newest(path):
    """The newest slot of a file."""
    slots = [json.loads(line) for line in path.read_text().split("\n") if line.strip(" \0")]
    return max(slots, key=lambda slot: slot["number"])


@pytest.fixture(name="own")
def own_fixture():
    return own


@pytest.fixture(scope="session")
def project():
    """The top of the source tree."""
    return PROJECT


@pytest.fixture
def vectors():
    """Reads a table of tests/vectors."""
    return lambda name: json.loads((PROJECT / "tests" / "vectors" / f"{name}.json").read_text())


class Counter:
    """A counter, as a database has one, and what it was asked."""

    def __init__(self, next=1, delay_s=0):
        self.next, self.delay_s = next, delay_s
        self.asked = []
        self.now = self.most_at_once = 0
        self.lock = threading.Lock()

    def fetch(self, tag, step):
        with self.lock:
            self.now += 1
            self.most_at_once = max(self.most_at_once, self.now)
            start, self.next = self.next, self.next + step
        self.asked.append((tag, step))
        time.sleep(self.delay_s)
        with self.lock:
            self.now -= 1
        return range(start, start + step)

    def steps(self):
        return [step for _, step in self.asked]


@pytest.fixture
def make_counter():
    """A counter whose fetch is for segments: make_counter(next=1, delay_s=0)."""
    return Counter


class Source:
    """Ranges, when it is let go."""

    def __init__(self, open=True):
        self.next, self.asked = 1, 0
        self.let_go = threading.Event()
        if open:
            self.let_go.set()

    def fetch(self, tag, step):
        self.asked += 1
        self.let_go.wait()
        start, self.next = self.next, self.next + step
        return range(start, start + step)


@pytest.fixture
def make_source():
    """Ranges, when they are let go: make_source(open=True)."""
    return Source


@pytest.fixture
def source():
    source = Source(open=False)
    yield source
    source.let_go.set()


@pytest.fixture
def order(source, space):
    """A tag of the source."""
    with leafid.Segments(fetch=source.fetch, **space, step=100, adaptive=False) as ids:
        yield ids.tag("order")


@pytest.fixture
def wait():
    """Waits until something is so."""

    def wait(until, what=""):
        # Nothing that comes about lasts so long: the bound of the tests, too.
        end = time.monotonic() + 900
        while not until():
            assert time.monotonic() < end, what
            time.sleep(0.001)

    return wait


@pytest.fixture
def failed(wait):
    """Waits until the source of a tag has failed. A slow machine may bring its error later than a first call waits."""

    def failed(tag):
        with contextlib.suppress(leafid.Error):
            tag.try_next()
        wait(lambda: tag.stats().last_error)

    return failed


@pytest.fixture
def settle(wait):
    """Waits for a tag's fetch that is under way."""
    return lambda tag: wait(lambda: not tag.stats().fetching)


@pytest.fixture
def opened(space):
    """Opens segments that remember nothing."""
    open_ones = []

    def opened(fetch, **more):
        options = {"persist": False, **space, **more}
        options["name"] += f"-{len(open_ones)}"
        open_ones.append(leafid.Segments(fetch=fetch, **options))
        return open_ones[-1]

    yield opened
    for ids in open_ones:
        ids.close()


@pytest.fixture
def fake_server():
    """Starts servers that misbehave on command, with these arguments of tests/fake_servers/fake_server.py."""
    started = []

    def fake_server(*arguments):
        started.append(FakeServer(*arguments))
        return started[-1]

    yield fake_server
    for server in started:
        server.end()


@pytest.fixture
def server(fake_server):
    return fake_server()
