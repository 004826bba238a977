"""A host of leafid's WebAssembly module, on wasmtime: snowflakes with state files in leafid's own format.

It is the worked example of docs/WASM-ABI.md, not a package: Python has `pip install leafid`. It runs on Linux, and is
for one process, which has the one worker id that it is given: it does not see enough of a host to share a range out.
Its locks and its files are those of leafid itself, so both may share a directory.

It does less than leafid: one id a call, no ranges, leases or segments, no filter of the clock's leaps, no thread that
writes spans, no exact end at a close, and no start from a file with a damaged slot.
"""

import contextlib
import errno
import fcntl
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

WAIT_UNTIL = -101
ABI_VERSION = 1
FILE_BYTES, SLOT_BYTES = 8192, 4096
# What a restart of the machine or of the container may empty, and what other hosts write.
FORGETFUL = {"overlay", "tmpfs", "ramfs"}
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs", "afs", "glusterfs"}


class LeafidError(Exception):
    """An error: its `code` of tests/vectors/errors.json, and whether a later try can succeed."""

    def __init__(self, code, message, retry=False):
        super().__init__(message)
        self.code, self.retry = code, retry


class Module:
    """An instance: calls by their names, with texts and bytes as arguments where a length is asked for."""

    def __init__(self, path):
        self.store = wasmtime.Store()
        module = wasmtime.Module.from_file(self.store.engine, str(path))
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        if self.call("abi_version") != ABI_VERSION:
            raise LeafidError("internal", f"{path} has another version of its exports than {ABI_VERSION}")

    def call(self, name, *arguments):
        """What an export returned, which is 0 or more or an action; texts and bytes become the input. Raises errors."""
        parts = [each.encode() if isinstance(each, str) else each for each in arguments]
        texts = [part for part in parts if isinstance(part, bytes)]
        if texts:
            joined = b"".join(texts)
            at = self.exports["input"](self.store, len(joined))
            self.exports["memory"].write(self.store, joined, at)
        numbers = [len(part) if isinstance(part, bytes) else part for part in parts]
        returned = self.exports[name](self.store, *numbers)
        if returned is not None and -100 < returned < 0:
            message = self.output().decode()
            retry = self.exports["error_name"](self.store, -int(returned))
            raise LeafidError(self.output().decode(), message, bool(retry))
        return returned

    def number(self, name, *arguments):
        """As `call`, where -1 means none."""
        returned = self.exports[name](self.store, *arguments)
        return None if returned == -1 else returned

    def output(self):
        at = self.exports["output"](self.store)
        return bytes(self.exports["memory"].read(self.store, at, at + self.exports["output_length"](self.store)))

    def numbers(self, count):
        at = self.exports["numbers"](self.store)
        return struct.unpack(f"<{count}d", self.exports["memory"].read(self.store, at, at + 8 * count))


def now_ms():
    return float(time.time_ns() // 1_000_000)


def boot_ms():
    return float(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000)


class StateFile:
    """The locked record of a worker id. `record` is a handle: what was read or written last."""

    def __init__(self, module, directory, name, worker_id, layout):
        self.module, self.name, self.file, self.host_lock = module, name, None, None
        self.path = directory / f"worker-{worker_id}.state"
        self.writer = {"pid": os.getpid(), "host": socket.gethostname()[:64]}
        self.writer["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.writer["boot"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        try:
            self._create(worker_id, layout)
            self.file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            self.host_lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._lock(worker_id)
            self._read(layout)
        except BaseException:
            self.close()
            raise

    def _lock(self, worker_id):
        """The host lock, which all users of this host see, and the file's lock: both are leafid's own."""
        try:
            self.host_lock.bind(f"\0leafid/{self.name}/{worker_id}")
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EWOULDBLOCK):
                raise
            message = f"worker id {worker_id} of {self.name!r} ({self.path}) is held by another process here; end it"
            raise LeafidError("worker_in_use", message, True) from None

    def _create(self, worker_id, layout):
        """A new file is whole before it has its name. Whoever links it first has made it."""
        if not self.path.exists():
            record = self.module.call("record_unused", float(worker_id), layout)
            self.module.call("state_new_file", record, self.name)
            self.module.call("free", record)
            with tempfile.NamedTemporaryFile(dir=self.path.parent) as new:
                new.write(self.module.output())
                new.flush()
                os.fsync(new.fileno())
                with contextlib.suppress(FileExistsError):
                    os.link(new.name, self.path)
        # Also for one who was killed before its name was durable.
        for directory in self.path.parents[:2]:
            opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(opened)
            os.close(opened)

    def _stored(self):
        return self.module.call("state_read", str(self.path), os.pread(self.file, FILE_BYTES + 1, 0))

    def _read(self, layout):
        call = self.module.call
        stored = self._stored()
        self.number = self.tried = call("stored_number", stored)
        call("stored_fields", stored)
        spare, damaged = self.module.numbers(2)
        self.spare = int(spare)
        if damaged:
            raise LeafidError("state_corrupt", f"one slot of {self.path} is damaged; open it once with leafid itself")
        self.record = call("stored_record", stored)
        call("free", stored)
        call("record_check", self.record)
        theirs = call("record_layout", self.record)
        if self._fields("layout_fields", layout, 6) != self._fields("layout_fields", theirs, 6):
            message = f"{self.path} has another layout; use the layout it has, or another name"
            raise LeafidError("state_mismatch", message)

    def _fields(self, name, handle, count):
        self.module.call(name, handle)
        return self.module.numbers(count), self.module.output()

    def write(self, record):
        """Makes a record durable; then it is `self.record`. After an error the one before stays."""
        self._check_ours()
        self.tried += 1
        self.writer["counted_ms"] = int(boot_ms())
        self.module.call("state_slot", record, self.tried, self.name, json.dumps(self.writer))
        try:
            if os.pwrite(self.file, self.module.output(), self.spare * SLOT_BYTES) != SLOT_BYTES:
                raise OSError(errno.EIO, "a short write")
            os.fdatasync(self.file)
        except OSError as error:
            raise LeafidError("state_io", f"cannot write {self.path}: {error}; see the disk", True) from error
        self.module.call("free", self.record)
        self.record, self.number, self.spare = record, self.tried, 1 - self.spare

    def _check_ours(self):
        """The file is still at its path, and holds this record, or one of a write that was reported as failed."""
        call, ours = self.module.call, False
        with contextlib.suppress(FileNotFoundError):
            ours = os.path.samestat(os.fstat(self.file), os.stat(self.path))
        if ours:
            stored = self._stored()
            found = call("stored_record", stored)
            ours = self._fields("record_fields", found, 0) == self._fields("record_fields", self.record, 0)
            ours = ours and self.number <= call("stored_number", stored) <= self.tried
            call("free", found), call("free", stored)
        if not ours:
            message = f"{self.path} was replaced or overwritten while it was in use; find out by what, then open again"
            raise LeafidError("worker_lost", message, True)

    def close(self):
        if self.file is not None:
            os.close(self.file)
        if self.host_lock:
            self.host_lock.close()


def file_system(directory):
    device = os.stat(directory).st_dev
    wanted = f" {os.major(device)}:{os.minor(device)} "
    lines = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if wanted in line]
    return lines[0].partition(" - ")[2].split()[0] if lines else "unknown"


class Snowflake:
    """A generator of one worker id, with a module of its own. Any thread may call it; a forked child may not."""

    def __init__(self, module, worker, state_dir, name="default", layout="leaf", timeout_ms=2000, **rules):
        self.module, self.timeout_ms = module, timeout_ms
        self.lock, self.pid, self.closed = threading.Lock(), os.getpid(), False
        call = module.call
        if not isinstance(worker, int):
            what = "one worker id, which no other host has; ranges and leases need leafid itself: pip install leafid"
            call("refuse", "worker", repr(worker), what)
        directory = Path(state_dir) / name
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        kind = file_system(directory)
        if kind in NETWORK:
            call("refuse", "state_dir", f"{directory}, on {kind}", "a directory of a local disk, whose locks lock")
        self.layout = call("layout_parse", layout)
        names = {"on_clock_backwards": "", "on_exhausted": "", "max_backwards_ms": math.nan, "random_start": math.nan}
        for unknown in rules.keys() - names.keys():
            call("refuse", unknown, "set", "an option of this host")
        given = [rules.get(name, default) for name, default in names.items()]
        self.rules = call("rules_new", *(each if isinstance(each, str) else float(each) for each in given))
        if kind in FORGETFUL:
            self.rules = call("rules_never_ahead", self.rules)
        with contextlib.ExitStack() as on_error:
            self.file = StateFile(module, directory, name, worker, self.layout)
            on_error.callback(self.file.close)
            self._begin(worker, kind in FORGETFUL)
            on_error.pop_all()

    def _begin(self, worker, forgets):
        call = self.module.call
        while call("record_admit", self.file.record, self.rules, now_ms()) == 1:
            time.sleep(min(0.1, max(0.001, (self.module.numbers(1)[0] - now_ms()) / 1000)))
        (tick,) = self.module.numbers(1)
        now = now_ms()
        if forgets:
            # A holder whose record was lost may have used this tick, but none after it.
            tick = call("record_first_free", self.file.record, max(tick, call("layout_tick_at", self.layout, now) + 1))
        until = self.module.number("record_next_until", self.file.record, self.rules, tick, now, 0.0) or tick
        *owner, seed = struct.unpack("<3q", os.urandom(24))
        self.file.write(call("record_begin", self.file.record, tick, until, now, *owner))
        self.flake = call("snowflake_new", self.layout, self.rules, float(worker), tick, seed)
        call("snowflake_grant", self.flake, tick, until)
        self.extension = call("extension_new", boot_ms())
        self.due = boot_ms()

    def next(self):
        """The next id, above all before."""
        deadline = time.monotonic() + self.timeout_ms / 1000
        # Before the lock, which may have been another thread's at the fork.
        if os.getpid() != self.pid:
            raise LeafidError("worker_lost", "this generator is the parent's: a forked child opens its own")
        while True:
            with self.lock:
                if not self.closed and boot_ms() >= self.due:
                    # An error of the disk is for who finds no span any more.
                    with contextlib.suppress(LeafidError):
                        self._extend()
                # The clock is read under the lock: no other thread took an id since.
                found = self.module.call("snowflake_next", self.flake, now_ms())
                if found >= 0:
                    return found
                wait_ms = 1.0
                if found == WAIT_UNTIL:
                    wait_ms = self.module.numbers(1)[0] - now_ms()
                elif self._extend():
                    continue
            if time.monotonic() + wait_ms / 1000 > deadline:
                raise LeafidError("would_block", f"no id within timeout_ms ({self.timeout_ms}); call again later", True)
            time.sleep(max(wait_ms, 0.1) / 1000)

    def _extend(self):
        """Writes the next span, then grants it, in this order. Returns whether it did."""
        call, now = self.module.call, now_ms()
        poll = (self.extension, self.flake, self.file.record, math.inf, now, boot_ms())
        extends = call("extension_poll", *poll) == 1
        if extends:
            span = self.module.numbers(2)
            try:
                self.file.write(call("record_extend", self.file.record, *span, now))
            except LeafidError:
                self.due = boot_ms() + call("extension_failed", self.extension)
                raise
            call("extension_written", self.extension)
            call("snowflake_grant", self.flake, *span)
        due = self.module.number("extension_due_in_ms", self.flake, now)
        self.due = boot_ms() + (due if due is not None else 1000.0)
        return extends

    def close(self):
        if os.getpid() != self.pid:
            return
        with self.lock:
            if not self.closed:
                self.closed = True
                self.module.number("snowflake_seal", self.flake)
                self.file.close()
