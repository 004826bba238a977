"""The subjects of the tests in four languages, and the programs that attack by themselves."""

import array
import contextlib
import fcntl
import os
import re
import select
import subprocess
import threading
import time

from harness import BUILD, HERE

RUST = BUILD / "system/leafid-system"
PYTHON = BUILD / "venv/bin/python"

LANGUAGES = {
    "rust": [str(RUST)],
    "c": [str(BUILD / "system/agent")],
    "python": [str(PYTHON), str(HERE / "agent.py")],
    # It only serves; it does not stream.
    "node": ["node", "--expose-gc", str(HERE / "agent.mjs")],
}


def environment(**more):
    """Without what the caller's own says of leafid, but that ranges are its own where the whole test runs in a container."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LEAFID_", "STATE_DIRECTORY"))}
    if "LEAFID_EXCLUSIVE_RANGE" in os.environ:
        env["LEAFID_EXCLUSIVE_RANGE"] = os.environ["LEAFID_EXCLUSIVE_RANGE"]
    env["LD_LIBRARY_PATH"] = str(BUILD / "c/lib")
    env.update(more)
    return env


def sweep(pid):
    """libfaketime leaves shared memory behind when it is killed."""
    for path in (f"/dev/shm/faketime_shm_{pid}", f"/dev/shm/sem.faketime_sem_{pid}"):
        with contextlib.suppress(OSError):
            os.unlink(path)


class Refused(Exception):
    """A subject answered with an error: its code and message."""

    def __init__(self, text):
        super().__init__(text)
        self.code = text.split(":")[0]


class Serve:
    """A subject that does what it is told, a line at a time."""

    def __init__(self, language="rust", before=(), env=None, program=None, **more):
        command = [*map(str, before), *(program or LANGUAGES[language]), "serve"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=more.pop("stderr", subprocess.DEVNULL),
            text=True,
            env=env or environment(),
            **more,
        )
        self.pid = self.process.pid
        self.micros = 0

    def send(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline().split(" ", 2)
        if len(line) < 2:
            raise AssertionError(f"the subject ended with {self.process.wait()}")
        self.micros = int(line[1])
        text = line[2].strip() if len(line) > 2 else ""
        if line[0] == "err":
            raise Refused(text)
        return text

    def answered(self):
        """Whether an answer has come."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def do(self, *words):
        self.send(*words)
        return self.answer()

    def refused(self, *words):
        """The error of a command that must be refused."""
        try:
            answer = self.do(*words)
        except Refused as error:
            return error
        raise AssertionError(f"{words} was not refused: {answer}")

    def ids(self, handle, count=1):
        return list(map(int, self.do("next", handle, count).split()))

    def run(self, handle, milliseconds, pause_us=1000):
        """Ids at a low rate: count, slowest in microseconds, first, last. They rose."""
        count, slowest, first, last, rising = self.do("run", handle, milliseconds, pause_us).split()
        assert rising == "true", f"ids did not rise between {first} and {last}"
        return int(count), int(slowest), int(first), int(last)

    def until_renewed(self, handle):
        """Makes ids until a span has just been made durable."""
        before, end = self.stats(handle)["until"], time.monotonic() + 5
        while self.stats(handle)["until"] == before:
            assert time.monotonic() < end, "no span was renewed"
            self.run(handle, 2, 200)

    def stats(self, handle):
        until, lead, renewals, failures = self.do("stats", handle).split(" ", 4)[:4]
        return {"until": int(until), "lead": int(lead), "renewals": int(renewals), "failures": int(failures)}

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def kill(self):
        self.process.kill()
        self.process.wait()
        sweep(self.pid)

    def quit(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(timeout=10)
        sweep(self.pid)


class Stream:
    """A subject that writes ids to a pipe until it is killed. What stands in the pipe then is what was issued."""

    def __init__(self, language, words, env=None, before=(), limit=None, program=None):
        read, write = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [*map(str, before), *(program or LANGUAGES[language]), "stream", *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            env=env or environment(),
        )
        os.close(write)
        self.pid, self.read, self.limit = self.process.pid, read, limit
        self.bytes = bytearray()
        self.reader = threading.Thread(target=self.drain, daemon=True)
        self.reader.start()

    def drain(self):
        while chunk := os.read(self.read, 1 << 20):
            if self.limit is None or len(self.bytes) < 8 * self.limit:
                self.bytes += chunk
        os.close(self.read)

    def ready(self):
        """Waits for the first id: worker id, and the microseconds of opening, of opening and the first id, and of those
        that the scheduler took. None when it was killed before. Raises Refused."""
        line = self.process.stderr.readline()
        if line.startswith("error"):
            self.process.wait()
            raise Refused(line.removeprefix("error ").strip())
        if not line.startswith("ready"):
            return None
        _, _, worker, opened, first, waited = line.split()
        return int(worker), int(opened), int(first), int(waited)

    def kill(self):
        """Kills it and answers the ids that it issued."""
        self.process.kill()
        return self.end()

    def end(self):
        self.process.wait()
        self.reader.join(timeout=20)
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        sweep(self.pid)
        ids = array.array("q")
        ids.frombytes(bytes(self.bytes[: len(self.bytes) // 8 * 8]))
        return ids


def attack(command, words, seconds=60, before=()):
    """Runs one of the Rust programs that attack by themselves, and answers its numbers."""
    done = subprocess.run(
        [*map(str, before), str(RUST), command, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=environment(),
    )
    complaints = "\n".join(done.stderr.strip().splitlines()[:12])
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {complaints}"
    numbers = dict(re.findall(r"(\w+)=(\S+)", done.stdout))
    numbers = {
        key: int(value, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", value) else value for key, value in numbers.items()
    }
    numbers["complaints"] = complaints
    return numbers
