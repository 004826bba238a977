"""The subjects of the tests: the agents of the languages in ../agents, and the programs that attack by themselves.

An agent is run as `AGENT COMMAND KEY=VALUE…`. Microseconds are whole numbers, ids decimal.

    serve               reads commands from standard input, a line each, until it ends or says `quit`; answers with a line
                        each: `ok MICROS ANSWER`, or `err MICROS CODE: MESSAGE`
    stream OPTIONS      opens, and writes ids to standard output, 8 bytes each: `count` in each thread (0: without end),
                        by `threads`, `batch` at a time, by `method` (next, take, fill), with `pause_us` after each batch,
                        of `tag` (order); `then` it will wait, close or exit. To standard error `ready` once the
                        first id is written, or `error CODE: MESSAGE`
    chaos WORDS         a program of ../chaos: see runs.py there

OPTIONS with `worker` describe a snowflake, others segments. `dir` is the state directory; without `servers` segments
have a callback that counts, after `delay_ms`; `tags=NAME:START:STEP,…`; `adaptive=no`; the words `keep` and
`create`. The other keys are called as in Python.

The commands of `serve`; FROM is the handle of a snowflake, or the handle of segments and a tag:

    open HANDLE OPTIONS            the worker id, if it has one
    close HANDLE
    next FROM [COUNT]              ids, one by one
    take FROM COUNT                ids, by one call
    run FROM MS [PAUSE_US]         ids at a low rate: how many, the slowest in microseconds, first, last, whether they rose
    stats FROM                     until, lead, renewals, failures; of a tag left, fetches, failures, waits, step, last error
    forks FROM COUNT               children one after another; each makes an id and ends as a program does, as does the
                                   parent after each: how many ids, how many differ, how many children failed
    rounds COUNT OPTIONS           opens, makes an id, closes, this many times: how many, whether they rose
    fork [KIND], exec              the pid of an idle child: a fork, or another program
    end HOW                        ends with all as it is: exit, abort; Rust panic; Python raise, atexit, _exit, collect;
                                   Node throw, reject, collect (which only let go)
    workers COUNT OPTIONS          Node: worker threads one after another, which end without a close
    fork-and-exit FROM COUNT       Python: ids of a child that ends as a program does
    fork-storm FROM COUNT THREADS  Python: children one after another beside threads: ids, how many differ, failed, processes
    try FROM COUNT                 Rust, as all below: ids that are at hand
    crowd HANDLE PREFIX TAGS CALLS calls of many tags, all begun; crowd-done MS waits for them: how many ids, how many
                                   differ, errors, the first error
    drop HANDLE, count DIRECTORY (entries in /proc/self), close-descriptors, hold-files COUNT PATH, check-files,
    hold-all-descriptors, free-descriptors
"""

import array
import contextlib
import fcntl
import functools
import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from harness import BUILD, NEVER_S, PATIENT, ROOT, Skip

RUST = BUILD / "agents/rust"
PYTHON = BUILD / "venv/bin/python"
AGENTS = ROOT / "tests/agents"
PRETEND = BUILD / "system/pretend"

LANGUAGES = {
    "rust": [str(RUST)],
    "c": [str(BUILD / "agents/c")],
    "python": [str(PYTHON), str(AGENTS / "python/agent.py")],
    "node": ["node", "--expose-gc", str(AGENTS / "node/agent.mjs")],
}
# Small, and not compiled twice. It serves and streams where it is made, which is where a JDK is, and has no other command.
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m", "-cp", f"{BUILD}/java/agent:{BUILD}/java/classes", "Agent"]
HAS_JAVA = shutil.which("java") is not None and (BUILD / "java/agent/Agent.class").exists()
COMMANDS = {**LANGUAGES, "java": JAVA}
#: Those of one state directory or one source.
MIXED = [*LANGUAGES, "java"] if HAS_JAVA else [*LANGUAGES]


def need_java():
    if not HAS_JAVA:
        raise Skip("no JDK: apt install openjdk-17-jdk-headless maven")


@functools.cache
def unsynced():
    """What runs a subject that a test puts nothing else before: it waits for no disk, which others may keep busy. A close
    would give one up after two seconds, and most tests are of something else."""
    command = [str(PRETEND), "sync"]
    return command if subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []


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
    """A subject that obeys commands, a line at a time."""

    def __init__(self, language="rust", before=None, env=None, program=None, **more):
        before = unsynced() if before is None else before
        command = [*map(str, before), *(program or COMMANDS[language]), "serve"]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=more.pop("stderr", self.errors),
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
        said = self.process.stdout.readline()
        line = said.split(" ", 2)
        if not said.endswith("\n"):
            code = self.process.wait()
            self.errors.seek(0)
            raise AssertionError(f"the subject ended with {code}: {self.errors.read()[-1500:]}")
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

    def open(self, handle, *words):
        self.do("open", handle, *words)
        return self

    def ids(self, handle, count=1):
        return list(map(int, self.do("next", handle, count).split()))

    def recovered(self, handle, count=1):
        """The next ids, once what was wrong is mended: calls that began before may fail yet."""
        end = time.monotonic() + NEVER_S
        while True:
            try:
                return self.ids(handle, count)
            except Refused as error:
                assert time.monotonic() < end, f"no id of {handle} {NEVER_S} s after it was mended: {error}"

    def run(self, handle, milliseconds, pause_us=1000):
        """Ids at a low rate: count, slowest in microseconds, first, last. They rose."""
        count, slowest, first, last, rising = self.do("run", handle, milliseconds, pause_us).split()
        assert rising == "true", f"ids did not rise between {first} and {last}"
        return int(count), int(slowest), int(first), int(last)

    def until_renewed(self, handle, times=1):
        """Makes ids until a span has just been made durable. The second one begins after this."""
        for _ in range(times):
            before, end = self.stats(handle)["until"], time.monotonic() + NEVER_S
            while self.stats(handle)["until"] == before:
                assert time.monotonic() < end, "no span was renewed"
                self.run(handle, 2, 200)

    def stats(self, handle):
        until, lead, renewals, failures = self.do("stats", handle).split(" ", 4)[:4]
        return {"until": int(until), "lead": int(lead), "renewals": int(renewals), "failures": int(failures)}

    def threads(self):
        """Without one that delivers a record of the log, which ends by itself."""
        names = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                names.append((task / "comm").read_text().strip())
        return len(names) - names.count("leafid-log")

    def kill(self):
        self.process.kill()
        self.process.wait()
        sweep(self.pid)

    def quit(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        sweep(self.pid)


def words(where, state="state", name=None, **more):
    """The options of segments, as the subjects read them."""
    given = {"dir": where.dir / state, "name": name or where.name, **PATIENT, **more}
    return [f"{key}={value}" for key, value in given.items()]


class Tags(Serve):
    """A subject that opens segments and takes ids of tags on command."""

    def next(self, handle="a", tag="order", count=1):
        return self.ids(f"{handle} {tag}", count)

    def take(self, count, handle="a", tag="order"):
        return list(map(int, self.do("take", handle, tag, count).split()))

    def recovered(self, handle="a", tag="order", count=1):
        return super().recovered(f"{handle} {tag}", count)

    def refusal(self, tag="order", code="", said=(), handle="a"):
        """The error of a call, once it is not of a source that was late for it: that is the machine's business."""
        end = time.monotonic() + NEVER_S
        while True:
            error = self.refused("next", handle, tag)
            is_meant = error.code == code and all(word in str(error) for word in said)
            if is_meant or error.code != "segment_unavailable" or time.monotonic() > end:
                return error

    def at_hand(self, most, handle="a", tag="order"):
        """Up to this many ids without a wait."""
        return list(map(int, self.do("try", handle, tag, most).split()))

    def run(self, milliseconds, pause_us=1000, handle="a", tag="order"):
        return super().run(f"{handle} {tag}", milliseconds, pause_us)

    def stats(self, handle="a", tag="order"):
        *numbers, error = (self.do("stats", handle, tag) + " ").split(" ", 5)
        names = ("left", "fetches", "failures", "waits", "step")
        return {**dict(zip(names, map(int, numbers))), "error": error.strip()}


class Stream:
    """A subject that writes ids to a pipe until it is killed. What stands in the pipe then is what was issued."""

    def __init__(self, language, words, env=None, before=None, limit=None, program=None):
        read, write = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
        before = unsynced() if before is None else before
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [*map(str, before), *(program or COMMANDS[language]), "stream", *map(str, words)],
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
        """Waits for the first id: False when it was killed before. Raises Refused."""
        line = self.process.stderr.readline()
        if line.startswith("error"):
            self.process.wait()
            raise Refused(line.removeprefix("error ").strip())
        return line.startswith("ready")

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


def ended_well(command, **more):
    """A command that has ended with 0."""
    command = [*unsynced(), *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), **more)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    return done


def attack(command, words, before=None):
    """Runs one of the Rust programs that attack by themselves, and answers its numbers."""
    before = unsynced() if before is None else before
    done = subprocess.run(
        [*before, str(RUST), command, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
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
