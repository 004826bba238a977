#!/usr/bin/env python3
"""The tests with memory, undefined behaviour and threads watched: run.py [STEP...]

A line for each step, what was found in full, and how long it took; the whole output of each is below build/sanitize/.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/sanitize"
TARGET = "x86_64-unknown-linux-gnu"
#: Seconds that a step may take: on two idle cores a quarter of it is enough.
LIMIT = 900
#: Rust's tests in which threads meet. The others have none, or are of what one thread does after another.
CORE = ["threads::", "buffer::"]
HOST = ["generate", "handles", "first_use", "exclusive", "logging", "segments", "leaf_servers", "worker_sources",
        "leases", "lease_loss", "lease_servers", "segment_forks"]
#: A raw clone leaves ThreadSanitizer's own locks as they are.
NOT_WATCHED = ["a_child_of_a_raw_clone"]
C_THREADS = ["threads", "segment_threads", "worker_sources", "lease_loss"]
#: Of a sanitizer, in what a program says.
FOUND = re.compile(r"^(SUMMARY: \w+Sanitizer|==\d+==ERROR: |.*: runtime error: |ThreadSanitizer: |FATAL: )", re.M)
# Leaks are left to valgrind (tests/system/memory.py): a forked child leaves what it has of its parent's where it is.
# A thread of leafid's that has ended is joined by the next call that begins one; a fork may come at any time.
ENVIRONMENT = os.environ | {
    "RUST_BACKTRACE": "0",
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "report_thread_leaks=0:die_after_fork=0:exitcode=66:history_size=4",
}


class Failed(Exception):
    """What is to be said of a step."""


def run(log, *command, cwd=ROOT, **environment):
    """Runs a command, its output behind the log's; answers the output."""
    with open(log, "ab") as file:
        begin = file.tell()
        try:
            done = subprocess.run([str(part) for part in command], cwd=cwd, stdout=file, stderr=file,
                                  stdin=subprocess.DEVNULL, env=ENVIRONMENT | environment, timeout=LIMIT)
            ended = f"ended with {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"took more than {LIMIT} s"
    output = log.read_bytes()[begin:].decode(errors="replace")
    found = FOUND.search(output)
    if ended or found:
        said = output[found.start():].splitlines()[:40] if found else output.splitlines()[-40:]
        raise Failed(f"{Path(command[0]).name} {ended or 'was blamed'}; see {log}\n" + "\n".join(said))
    return output


def cargo(log, *arguments):
    """Builds with ThreadSanitizer, in a target directory of its own, and the standard library with it: what that does
    between threads would else be taken for races."""
    options = ["--quiet", "-Zbuild-std", "--target", TARGET, "--target-dir", BUILD / "thread"]
    return run(log, "cargo", "+nightly", *arguments, *options, RUSTFLAGS="-Zsanitizer=thread -Cdebuginfo=1")


def runtime():
    """ThreadSanitizer's own library, as the nightly compiler brings it."""
    sysroot = subprocess.run(["rustc", "+nightly", "--print", "sysroot"], capture_output=True, text=True, check=True)
    path = Path(sysroot.stdout.strip(), "lib/rustlib", TARGET, "lib", "librustc-nightly_rt.tsan.a")
    if not path.exists():
        raise Failed(f"{path} is missing: a nightly toolchain of rustup for {TARGET} has it")
    return path


def c_tests(log, kind, flags, *names, **more):
    """The C tests, compiled for a sanitizer; instrumented code makes gcc guess wrongly at the lengths of texts."""
    options = ["--kind", kind, f"--flags={flags} -fno-omit-frame-pointer -Wno-format-truncation"]
    options += [part for name, value in more.items() for part in (f"--{name}", value)]
    said = run(log, sys.executable, "tests/c/run.py", "build/c", BUILD / log.stem, *names, *options)
    return said.strip().splitlines()[-1]


def c_shipped(log):
    """C tests, AddressSanitizer and UndefinedBehaviorSanitizer, with the library as it ships"""
    return c_tests(log, "shared", "-fsanitize=address,undefined -fno-sanitize-recover=all")


def rust_threads(log):
    """Rust tests with threads, ThreadSanitizer in all, the standard library included"""
    passed = 0
    parts = (("leafid-core", "core", ["main"], CORE), ("leafid", "bindings/rust", HOST, []))
    for package, directory, tests, only in parts:
        names = [part for name in tests for part in ("--test", name)]
        built = cargo(log, "test", "--no-run", "--message-format=json", "-p", package, *names)
        messages = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
        programs = [message["executable"] for message in messages
                    if message.get("executable") and message["profile"]["test"]]
        if len(programs) < len(tests):
            raise Failed(f"{len(programs)} programs were built of {package}, not {len(tests)}")
        skip = [part for name in NOT_WATCHED for part in ("--skip", name)]
        for program in programs:
            said = run(log, program, "--test-threads=2", *only, *skip, cwd=ROOT / directory)
            ran = int(re.search(r"test result: ok\. (\d+) passed", said)[1])
            if not ran:
                raise Failed(f"{program} has none of these tests: {' '.join(only)}")
            passed += ran
    return f"{passed} passed"


def c_threads(log):
    """C tests with threads, ThreadSanitizer in the library, too"""
    cargo(log, "rustc", "-p", "leafid-c", "--lib", "--crate-type", "staticlib")
    library = BUILD / "thread" / TARGET / "debug/libleafid_c.a"
    return c_tests(log, "static", "-fsanitize=thread", *C_THREADS, library=library, runtime=runtime())


STEPS = {step.__name__: step for step in (c_shipped, rust_threads, c_threads)}


def main(names):
    BUILD.mkdir(parents=True, exist_ok=True)
    failed, begun = 0, time.monotonic()
    for name in names or STEPS:
        step, log, since = STEPS[name], BUILD / f"{name}.log", time.monotonic()
        log.unlink(missing_ok=True)
        try:
            verdict = f"ok - {step.__doc__}: {step(log)}"
        except Failed as failure:
            failed += 1
            verdict = f"FAIL {step.__doc__}: {failure}"
        print(f"{verdict}, {time.monotonic() - since:.0f} s", flush=True)
    print(f"{len(names or STEPS) - failed} passed, {failed} failed, in {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
