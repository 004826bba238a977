#!/usr/bin/env python3
"""The command line of Windows under wine, as processes of one host: windows.py LEAFID_EXE

Two processes on one worker id, processes that are killed at any moment, a disk that is full. The last line counts.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import wine

ROUNDS = 25
TESTS = []


class Skip(Exception):
    """The text says what is missing."""


def test(function):
    TESTS.append(function)
    return function


def start(*arguments):
    command = ["wine", str(EXE), *map(str, arguments)]
    return subprocess.Popen(command, env=wine.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments):
    """The exit status, and what was written."""
    process = start(*arguments)
    out, error = process.communicate(timeout=900)
    return process.returncode, out, error


def hold(directory, name, worker=7):
    """A process that holds a worker id: it waits until somebody reads its ids. Answers it and its first id."""
    process = start("next", "-n", 10_000_000, "--worker", worker, "--name", name, "--state-dir", directory)
    first = process.stdout.readline()
    assert first.strip().isdigit(), first + process.stderr.read()
    return process, int(first)


def kill(process):
    """SIGKILL ends a program of wine as TerminateProcess does: nothing of it runs any more."""
    process.kill()
    process.wait()


@test
def what_check_finds(directory, name):
    status, out, error = run("check", "--worker", "0-31", "--name", name, "--state-dir", directory)
    assert status == 0, out + error
    # A disk may be slow.
    lines = [line.split(maxsplit=1)[0] for line in out.splitlines() if "calls wait for such writes" not in line]
    assert lines and set(lines) == {"ok"}, out


@test
def one_worker_id_is_held_once(directory, name):
    holder, _ = hold(directory, name)
    try:
        status, out, error = run("next", "--worker", 7, "--name", name, "--state-dir", directory)
        assert status != 0 and not out and "worker_in_use" in error and "pid" in error, (status, out, error)
        with tempfile.TemporaryDirectory() as other:
            status, out, error = run("next", "--worker", 7, "--name", name, "--state-dir", other)
            assert status != 0 and not out and "worker_in_use" in error, (status, out, error)
        status, out, error = run("next", "--worker", "7-8", "--name", name, "--state-dir", directory)
        assert status == 0 and int(out) >> 12 & 1023 == 8, (status, out, error)
        status, out, error = run("state", "show", "--name", name, "--state-dir", directory)
        assert "held     by" in out and "held     by nobody" in out, (status, out, error)
    finally:
        kill(holder)
    status, out, error = run("next", "--worker", 7, "--name", name, "--state-dir", directory)
    assert status == 0, error


@test
def no_id_of_a_killed_process_is_issued_again(directory, name):
    seen, last = set(), 0
    chance = random.Random()
    for round_ in range(ROUNDS):
        holder, first = hold(directory, name)
        ids, until = [first], time.monotonic() + chance.uniform(0, 0.15)
        while time.monotonic() < until:
            ids.append(int(holder.stdout.readline()))
        kill(holder)
        # What was on its way, but for a line that was cut off.
        ids += [int(line) for line in holder.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        assert ids == sorted(ids) and ids[0] > last, f"round {round_}: {last}, then {ids[0]}"
        assert len(seen) + len(ids) == len(seen | set(ids)), f"round {round_}"
        seen.update(ids)
        last = ids[-1]
    assert len(seen) > 100 * ROUNDS, len(seen)


@test
def a_full_disk_is_said(directory, name):
    if os.geteuid() != 0:
        raise Skip("not root: a small disk is mounted")
    small = Path(directory) / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12k", "none", small], capture_output=True).returncode:
        raise Skip("nothing can be mounted here")
    try:
        (small / name).mkdir()
        (small / "rest").write_bytes(bytes(8192))
        status, out, error = run("next", "--worker", 7, "--name", name, "--state-dir", small)
        assert status != 0 and not out and "state_io" in error, (status, out, error)
        (small / "rest").unlink()
        status, out, error = run("next", "--worker", 7, "--name", name, "--state-dir", small)
        assert status == 0, error
        # A renewal needs no room.
        (small / "rest").write_bytes(bytes(4096))
        status, out, error = run("next", "-n", 1000, "--worker", 7, "--name", name, "--state-dir", small)
        assert status == 0 and len(out.split()) == 1000, error
    finally:
        subprocess.run(["umount", small], check=True)


def main() -> int:
    wine.make_prefix()
    passed = failed = skipped = 0
    for function in TESTS:
        title = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="leafid-windows-") as directory:
            try:
                function(directory, f"w{random.getrandbits(48):x}")
            except Skip as why:
                skipped += 1
                print(f"skipped - {title}: {why}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"not ok - {title}: {error}", flush=True)
            else:
                passed += 1
                print(f"ok - {title}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    EXE = Path(sys.argv[1]).resolve()
    sys.exit(main())
