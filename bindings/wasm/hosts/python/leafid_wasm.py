"""A host of leafid's WebAssembly module, on wasmtime: snowflakes with state files in leafid's own format.

It is the worked example of docs/WASM-ABI.md, not a package: Python has `pip install leafid`. It runs on Linux, and is
for one process, which has the one worker id that it is given: it does not see enough of a host to share a range out.
Its locks and its files are those of leafid itself, so both may share a directory.

The module decides what comes after what; the host carries out its calls. It does less than leafid: one id a call, no
leases or segments, and no thread that writes spans.
"""

import contextlib
import errno
import fcntl
import functools
import json
import math
import os
import socket
import struct
import tempfile
import threading
import time
from pathlib import Path

import wasmtime

ABI_VERSION = 2
OPEN, CLOSE = 0, 2
UNTIL = -101
DONE, NO, FAILED = 0, 1, 2
INTERNAL = 16
MAKE, OPENED, READ, WRITE = 0, 1, 2, 3
FILE_BYTES, NOT_GIVEN = 8192, 2**32 - 1
# What a restart of the machine or of the container may empty, and what other hosts write: `store` of run_new.
FORGETFUL = {"overlay", "tmpfs", "ramfs"}
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs", "afs", "glusterfs"}
# The kinds of failed operations.
KINDS = {errno.EACCES: 0, errno.EPERM: 0, errno.EROFS: 1, errno.ENOSPC: 2, errno.EDQUOT: 2}


class LeafidError(Exception):
    """An error: its `code` of tests/vectors/errors.json, and whether a later try can succeed."""

    def __init__(self, code, message, retry=False):
        super().__init__(message)
        self.code, self.retry = code, retry


ENGINE = wasmtime.Engine()


@functools.cache
def compiled(path):
    return wasmtime.Module.from_file(ENGINE, path)


class Module:
    """An instance: calls by their names, with texts and bytes as arguments where a length is asked for."""

    def __init__(self, path):
        self.store = wasmtime.Store(ENGINE)
        self.exports = wasmtime.Instance(self.store, compiled(str(path)), []).exports(self.store)
        if self.call("abi_version") != ABI_VERSION:
            raise LeafidError("internal", f"{path} has another version of its exports than {ABI_VERSION}")

    def call(self, name, *arguments):
        """What an export returned, which is 0 or more or an action; texts and bytes become the input, None is a text
        that is not given. Raises errors."""
        parts = [each.encode() if isinstance(each, str) else each for each in arguments]
        texts = [part for part in parts if isinstance(part, bytes)]
        if texts:
            joined = b"".join(texts)
            at = self.exports["input"](self.store, len(joined))
            self.exports["memory"].write(self.store, joined, at)
        numbers = [-1 if part is None else len(part) if isinstance(part, bytes) else part for part in parts]
        returned = self.exports[name](self.store, *numbers)
        if returned is not None and -100 < returned < 0:
            message = self.output().decode()
            retry = self.exports["error_name"](self.store, -int(returned))
            raise LeafidError(self.output().decode(), message, bool(retry))
        return returned

    def output(self):
        at = self.exports["output"](self.store)
        return bytes(self.exports["memory"].read(self.store, at, at + self.exports["output_length"](self.store)))

    def texts(self):
        """The list in the output."""
        found, rest = [], self.output()
        while rest:
            (length,), rest = struct.unpack("<I", rest[:4]), rest[4:]
            found.append(None if length == NOT_GIVEN else rest[:length].decode())
            rest = rest if length == NOT_GIVEN else rest[length:]
        return found

    def numbers(self, count):
        at = self.exports["numbers"](self.store)
        return struct.unpack(f"<{count}d", self.exports["memory"].read(self.store, at, at + 8 * count))

    def ids(self, count):
        at = self.exports["ids"](self.store)
        return list(struct.unpack(f"<{count}q", self.exports["memory"].read(self.store, at, at + 8 * count)))


def boot_ms():
    return float(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000)


def clocks():
    return float(time.time_ns() // 1_000_000), boot_ms()


def random():
    return struct.unpack("<2q", os.urandom(16))


def file_system(directory):
    device = os.stat(directory).st_dev
    wanted = f" {os.major(device)}:{os.minor(device)} "
    lines = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if wanted in line]
    return lines[0].partition(" - ")[2].split()[0] if lines else "unknown"


class Files:
    """The record of one worker id: carries out the calls for it, and holds its locks."""

    def __init__(self, module, directory):
        self.module, self.directory, self.file, self.host_lock = module, directory, None, None
        self.ways = {6: self.lock, 7: self.unlock, 10: self.open, 11: self.update, 12: self.close}

    def carry_out(self, call):
        """A call ends with what was done, or with what failed."""
        kind = self.module.call("call_request", call, *random())
        number, *_ = self.module.numbers(1)
        texts = self.module.texts()
        path, doing = self.directory / (texts[0] if texts else ""), [READ]
        try:
            how = self.ways[kind](call, int(number) if number == number else 0, texts[0] if texts else "", doing)
            self.module.call("call_end", call, how, 0, "")
        except OSError as error:
            user = f"user {os.geteuid()} and group {os.getegid()}"
            failed = (KINDS.get(error.errno, 3), str(path), error.strerror or str(error), user)
            self.module.call("call_failed", call, doing[0], *failed)
        except Exception as error:
            # It ends all the same, because callers wait for it.
            self.module.call("call_end", call, FAILED, INTERNAL, f"this host failed: {error!r}; report this")

    def lock(self, _call, worker_id, name, _doing):
        """The host lock, which all users of this host see."""
        self.host_lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.host_lock.bind(f"\0leafid/{name}/{worker_id}")
        except OSError as error:
            self.unlock()
            if error.errno != errno.EADDRINUSE:
                raise
            return NO
        return DONE

    def unlock(self, *_):
        if self.host_lock is not None:
            self.host_lock.close()
        self.host_lock = None
        return DONE

    def open(self, call, _number, name, doing):
        path = self.directory / name
        doing[0] = OPENED
        if not path.exists():
            self._create(call, path)
        # Also for one who was killed before its name was durable.
        for directory in path.parents[:2]:
            opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(opened)
            os.close(opened)
        self.file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            return NO
        doing[0] = READ
        self._step(call, path, os.pread(self.file, FILE_BYTES + 1, 0), True)
        return DONE

    def _create(self, call, path):
        """A new file is whole before it has its name. Whoever links it first has made it."""
        self.module.call("call_initial", call)
        with tempfile.NamedTemporaryFile(dir=path.parent) as new:
            new.write(self.module.output())
            new.flush()
            os.fsync(new.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(new.name, path)

    def update(self, call, _number, name, doing):
        path, first = self.directory / name, True
        while True:
            doing[0], found = READ, None
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self.file), os.stat(path)):
                    found = os.pread(self.file, FILE_BYTES + 1, 0)
            if not self._step(call, path, found, first):
                return DONE
            (at,), piece, first = self.module.numbers(1), self.module.output(), False
            doing[0] = WRITE
            if os.pwrite(self.file, piece, int(at)) != len(piece):
                raise OSError(errno.EIO, "a short write")
            os.fdatasync(self.file)

    def _step(self, call, path, content, first):
        return self.module.call("call_step", call, first, clocks()[0], *random(), str(path), content)

    def close(self, *_):
        if self.file is not None:
            os.close(self.file)
        self.file = None
        return DONE


class Snowflake:
    """A generator of one worker id, with a module of its own. Any thread may call it; a forked child may not."""

    def __init__(self, module, worker, state_dir, name="default", **options):
        self.module, self.lock, self.pid, self.due = module, threading.Lock(), os.getpid(), 0.0
        if not isinstance(worker, int):
            what = "one worker id, which no other host has; ranges and leases need leafid itself: pip install leafid"
            module.call("refuse", "worker", repr(worker), what)
        given = json.dumps({**options, "worker": worker, "name": name})
        checked = module.call("options_of_run", given, "", socket.gethostname())
        directory = Path(state_dir) / name
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        kind = file_system(directory)
        store = 5 if kind in NETWORK else 4 if kind in FORGETFUL else 3
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        texts = (str(directory), kind, socket.gethostname()[:64], boot, "another process here")
        self.run = module.call("run_new", checked, store, 0, os.getpid(), *texts, random()[0], *clocks())
        self.files = Files(module, directory)
        self._await(self._at("want", OPEN, 0, 0, math.nan))
        self.flake = module.call("run_generator", self.run)

    def _at(self, name, *arguments):
        return self.module.call(f"run_{name}", self.run, *arguments, *clocks())

    def _drive(self):
        """Carries out all that the module wants now."""
        while call := self.module.call("next_call", self.run, *(now := clocks())):
            self.files.carry_out(call)
            self.module.call("done", self.run, call, *clocks())
        # At the same reading: what is due at a later one is another call.
        while self.module.call("next_notice", self.run, *now):
            pass
        self.due = self.module.exports["next_time"](self.module.store, self.run)

    def _await(self, ticket):
        while True:
            self._drive()
            if self._at("answer", ticket):
                return
            time.sleep(min(max((self.due - boot_ms()) / 1000, 0.001), 0.1))

    def next(self):
        """The next id, above all before."""
        # Before the lock, which may have been another thread's at the fork.
        if os.getpid() != self.pid:
            raise LeafidError("worker_lost", "this generator is the parent's: a forked child opens its own")
        with self.lock:
            if 0 <= self.due <= boot_ms():
                self._drive()
            found = self.module.exports["snowflake_next"](self.module.store, self.flake, clocks()[0])
        if found >= 0:
            return found
        with self.lock:
            wait = self.module.call("run_wait_new", self.run, 0, math.nan)
        try:
            while True:
                with self.lock:
                    found = self._at("wait", wait, 1)
                    (number,), first = self.module.numbers(1), self.module.ids(1)[0]
                    self._drive()
                if found > 0:
                    return first
                if found == UNTIL:
                    time.sleep(min(max((number - clocks()[0]) / 1000, 0.0001), 0.1))
        finally:
            with self.lock:
                self.module.call("run_wait_end", self.run, wait)

    def stats(self):
        """How many spans it wrote, and until when ids are durable, Unix milliseconds."""
        self._at("stats")
        reserved_until, _, _, _, _, renewals = self.module.numbers(6)
        return {"reserved_until_ms": reserved_until, "renewals": int(renewals)}

    def close(self):
        if os.getpid() != self.pid:
            return
        with self.lock:
            self._await(self._at("want", CLOSE, 0, 0, math.nan))
