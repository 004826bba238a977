"""What the tests share: an id space of their own, and other processes on it."""

import json
import pathlib
import subprocess
import sys
import uuid

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PRELUDE = """
import json, os, sys, leafid
space = json.loads(sys.argv[1])
def say(*values):
    print(*values, flush=True)
"""


class Program:
    """A running Python program; `line` reads what it says, `send` lets it go on."""

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
        assert line, self.process.communicate(timeout=10)[1]
        return line.strip()

    def send(self, text=""):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def kill(self):
        """Ends it by SIGKILL. What it started may go on, and have its pipes open."""
        self.process.kill()
        self.process.wait(10)

    def end(self, code=0):
        """Waits for its end; answers the rest of what it said."""
        out, err = self.process.communicate(timeout=30)
        assert (self.process.returncode, err) == (code, ""), (self.process.returncode, out[-2000:], err)
        return out


@pytest.fixture
def space(tmp_path):
    """Options of an id space that no other test on this host has."""
    return {"name": f"py-{uuid.uuid4().hex[:12]}", "state_dir": str(tmp_path)}


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
def record(space):
    """Reads the newest record of a worker id from its state file."""

    def record(worker_id):
        path = pathlib.Path(space["state_dir"], space["name"], f"worker-{worker_id}.state")
        slots = [json.loads(line) for line in path.read_text().split("\n") if line.strip(" \0")]
        return max(slots, key=lambda slot: slot["number"])

    return record


@pytest.fixture(scope="session")
def project():
    """The top of the source tree."""
    return PROJECT


@pytest.fixture
def vectors():
    """Reads a table of tests/vectors."""
    return lambda name: json.loads((PROJECT / "tests" / "vectors" / f"{name}.json").read_text())
