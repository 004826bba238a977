#!/usr/bin/env python3
"""Builds the C tests against the staged library, shared and static, and runs them: run.py STAGE OUT [NAME...]

With --valgrind they run under valgrind. With --flags they are compiled so and linked against one --kind of library,
or against a --library in place of the static one.

STAGE is what bindings/c/stage.sh laid out, OUT a folder for what is built. NAMEs choose programs. The last line counts
the tests: "N passed, N failed, N skipped".
"""

import argparse
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
AGENT = ROOT / "tests/agents/c/scenarios.c"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"]
#: Program, its sources, and whether it runs under valgrind: forks and daemons do not. The first ones wait for longest.
PROGRAMS = [
    ("source_ends", ["source_ends.c", "lease_source.c", "bump_malloc.c"], False),
    ("lease_loss", ["lease_loss.c", "lease_source.c"], True),
    ("leases", ["leases.c", "lease_source.c"], True),
    ("lease_server_processes", ["lease_server_processes.c", "fake_server.c", "lease_source.c", "processes.c"], False),
    ("vectors", ["vectors.c"], True),
    ("errors", ["errors.c"], True),
    ("arguments", ["arguments.c"], True),
    ("public_ids", ["public_ids.c"], True),
    ("option_vectors", ["option_vectors.c"], True),
    ("generate", ["generate.c"], True),
    ("threads", ["threads.c"], True),
    ("logging", ["logging.c"], False),
    ("metrics", ["metrics.c"], True),
    ("raii", ["raii.cpp"], True),
    ("clock_options", ["clock_options.c"], True),
    ("worker_sources", ["worker_sources.c"], True),
    ("segments", ["segments.c", "counter.c"], True),
    ("segment_arguments", ["segment_arguments.c", "counter.c"], True),
    ("segment_answers", ["segment_answers.c", "counter.c"], True),
    ("segment_threads", ["segment_threads.c", "counter.c"], True),
    ("segment_forks", ["segment_forks.c", "counter.c", "bump_malloc.c"], False),
    ("segments_raii", ["segments_raii.cpp"], True),
    ("segment_servers", ["segment_servers.c", "fake_server.c", "counter.c"], True),
    ("forks", ["forks.c", "bump_malloc.c"], False),
    ("fork_locks", ["fork_locks.c", "processes.c"], False),
    ("shared_memory", ["shared_memory.c", "counter.c"], False),
    ("small_stacks", ["small_stacks.c", "counter.c"], False),
    ("signals", ["signals.c", "bump_malloc.c"], False),
]
#: Seconds a program may take.
LIMIT, VALGRIND_LIMIT = 900, 1800
#: Programs that run at once: most of them sleep most of the time. What checks each access keeps a processor busy.
AT_ONCE, AT_ONCE_CHECKED = 4, 2


class Count:
    passed = failed = skipped = 0

    def add(self, line: str) -> None:
        self.passed += line.startswith("ok - ")
        self.failed += line.startswith("not ok - ")
        self.skipped += line.startswith("skipped - ")


COUNT = Count()


def say(line: str) -> None:
    COUNT.add(line)
    print(line, flush=True)


def c_compiler() -> str:
    found = compiler("CC", "cc", "gcc", "clang")
    if found is None:
        sys.exit("no C compiler: install one (Debian: apt-get install gcc), or set CC")
    return found


def cxx_compiler() -> str | None:
    """The C++ compiler, if there is one: leafid does not need it, leafid.hpp's tests do."""
    return compiler("CXX", "c++", "g++", "clang++")


def compiler(variable: str, *names: str) -> str | None:
    """Of the environment, where an empty one means none; or the first one there is."""
    if variable in os.environ:
        return os.environ[variable] or None
    return next((name for name in names if shutil.which(name)), None)


def run(command: list, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], check=True, timeout=900, **options)


def native_libs(stage: Path) -> list[str]:
    """What the static library needs, as its users read it: from leafid.pc."""
    text = (stage / "lib/pkgconfig/leafid.pc").read_text()
    return re.search(r"^Libs\.private: (.*)$", text, re.M)[1].split()


def build(stage: Path, out: Path, kinds: list[str], flags: list[str], static: list, besides: list[str], names: list[str],
          with_agent: bool) -> None:
    """`static`: the static library, and what belongs to it; `besides`: what the tests link of their own; `names`: of the
    programs, if not all; `with_agent`: that of the scenarios, too."""
    cc, cxx = c_compiler(), cxx_compiler()
    run([sys.executable, HERE / "tables.py", ROOT / "tests/vectors", out])
    include = ["-I", stage / "include", "-I", out, "-I", HERE]
    chosen = [(name, [*sources, "check.c"]) for name, sources, _ in PROGRAMS
              if (not names or name in names) and (cxx or not sources[0].endswith(".cpp"))]
    objects = {}
    for source in sorted({source for _, sources in chosen for source in sources}):
        objects[source] = out / (source + ".o")
        tool = [cxx, "-std=c++17"] if source.endswith(".cpp") else [cc, "-std=c11"]
        run([*tool, *STRICT, *flags, *include, "-pthread", "-c", HERE / source, "-o", objects[source]])
    for kind in kinds:
        library = {
            "shared": ["-L", stage / "lib", "-lleafid", f"-Wl,-rpath,{stage / 'lib'}"],
            "static": [*static, *native_libs(stage)],
        }[kind]
        (out / kind).mkdir(exist_ok=True)
        for name, sources in chosen:
            parts = [objects[source] for source in sources]
            tool = cxx if sources[0].endswith(".cpp") else cc
            # A runtime of its own takes the place of what the flags would link.
            linking = [] if kind == "static" and len(static) > 1 else flags
            run([tool, *linking, *parts, "-pthread", *library, *besides, "-o", out / kind / name])
        if with_agent:
            run([cc, "-std=gnu11", *STRICT[:3], *flags, *include, AGENT, "-pthread", *library, *besides, "-o", out / kind / "scenarios"])


def scenarios(kind: str, out: Path) -> list[str]:
    """Those of tests/scenarios/api, played by an agent in C."""
    player = [sys.executable, ROOT / "tests/scenarios/play.py", "c", out / kind / "scenarios"]
    played = subprocess.run([str(part) for part in player], stdout=subprocess.PIPE, text=True)
    lines = [f"# scenarios ({kind})", *played.stdout.splitlines()]
    return lines if played.returncode == 0 else [*lines, f"not ok - scenarios ({kind}) ended with {played.returncode}"]


def program(name: str, kind: str, out: Path, valgrind: bool, runner: list[str]) -> list[str]:
    """Runs one program with a directory and an id space of its own. What is to be said of it."""
    built = next((path for path in (out / kind / name, out / kind / f"{name}.exe") if path.exists()), None)
    if built is None:
        return [f"skipped - {name} ({kind}): no C++ compiler (Debian: apt-get install g++)"]
    command, limit = [*runner, built], LIMIT * (5 if runner else 1)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LEAFID_", "STATE_DIRECTORY"))}
    environment |= {k: v for k, v in os.environ.items() if k in ("LEAFID_EXCLUSIVE_RANGE", "LEAFID_TEST_FAKE_SERVERS")}
    environment["LEAFID_TEST_NAME"] = "c-" + secrets.token_hex(6)
    environment["LEAFID_TEST_FAKE_SERVER"] = str(ROOT / "tests/fake_servers/fake_server.py")
    environment["LEAFID_TEST_PYTHON"] = sys.executable
    for choice in ("LEAFID_TEST_ONLY", "LEAFID_TEST_SKIP"):
        environment[choice] = os.environ.get(choice, "")
    log = out / f"{name}.valgrind"
    if valgrind or runner:
        environment["LEAFID_TEST_SLOW"] = "1"
    if runner:
        environment["LEAFID_TEST_RUNNER"] = " ".join(runner)
    if valgrind:
        limit = VALGRIND_LIMIT
        command = ["valgrind", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=99",
                   "--fair-sched=yes", f"--log-file={log}", *command]
    title = f"{name} ({kind}{', valgrind' if valgrind else ''})"
    # A close gives up a slow disk after two seconds. In memory no generator borrows or begins ahead of the clock, and an
    # opening has more to log.
    on_disk = name in ("logging", "clock_options", "fork_locks")
    memory = "/dev/shm" if not on_disk and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="leafid-c-", dir=memory, ignore_cleanup_errors=True) as directory:
        # Another user of the host gets at its own directory below.
        os.chmod(directory, 0o711)
        environment["LEAFID_TEST_DIR"] = directory
        started = subprocess.Popen([str(part) for part in command], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            output, _ = started.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            output, _ = started.communicate()
            output += f"not ok - {title} took more than {limit} s\n"
    lines = [f"# {title}", *output.splitlines()]
    reported = any(line.startswith("not ok - ") for line in lines)
    # A program that dies, or that valgrind blames, has not said so itself.
    if started.returncode != (1 if reported else 0) and not (reported and started.returncode < 0):
        lines.append(f"not ok - {title} ended with {started.returncode}")
    return lines + (summary(title, log) if valgrind else [])


def summary(title: str, log: Path) -> list[str]:
    text = log.read_text()
    errors = re.findall(r"ERROR SUMMARY: (\d+) errors", text)
    lost = [int(bytes_.replace(",", "")) for bytes_ in re.findall(r"definitely lost: ([\d,]+) bytes", text)]
    clean = errors == ["0"] and not any(lost)
    verdict = f"{'ok' if clean else 'not ok'} - {title}: {errors or 'no'} errors, {sum(lost)} bytes definitely lost"
    return [verdict] if clean else [verdict, *text.splitlines()]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("stage", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--valgrind", action="store_true")
    arguments.add_argument("--kind", choices=["shared", "static"], help="of library; else both")
    arguments.add_argument("--flags", default="", help="for the compiler, such as -fsanitize=address")
    arguments.add_argument("--library", type=Path, help="in place of the static one")
    arguments.add_argument("--runtime", type=Path, help="linked whole besides it, in place of what the flags link")
    arguments.add_argument("--besides", default="", help="libraries that the tests need themselves, such as -lws2_32")
    arguments.add_argument("--runner", default="", help="of the programs, such as an emulator")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_intermixed_args()
    stage, out = given.stage.resolve(), given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if given.valgrind and not shutil.which("valgrind"):
        print("valgrind is missing (Debian: apt-get install valgrind)")
        return 1
    # Under valgrind the shared library alone: its code is the same.
    kinds = [given.kind] if given.kind else ["shared"] if given.valgrind else ["shared", "static"]
    static = [given.library.resolve() if given.library else stage / "lib/libleafid.a"]
    if given.runtime:
        static += ["-Wl,--whole-archive", given.runtime, "-Wl,--no-whole-archive", "-Wl,--export-dynamic"]
    # Under valgrind and emulators only some of the programs run.
    plays = not (given.valgrind or given.runner) and (not given.names or "scenarios" in given.names)
    build(stage, out, kinds, given.flags.split(), static, given.besides.split(), given.names, plays)
    chosen = [(name, kind) for kind in kinds for name, _, under_valgrind in PROGRAMS
              if (not given.names or name in given.names) and (under_valgrind or not given.valgrind)]
    is_checked = given.valgrind or "-fsanitize" in given.flags
    with ThreadPoolExecutor(AT_ONCE_CHECKED if is_checked else AT_ONCE) as at_once:
        for lines in at_once.map(lambda one: program(*one, out, given.valgrind, given.runner.split()), chosen):
            for line in lines:
                say(line)
    for kind in kinds if plays else ():
        for line in scenarios(kind, out):
            say(line)
    print(f"{COUNT.passed} passed, {COUNT.failed} failed, {COUNT.skipped} skipped")
    return 1 if COUNT.failed or not COUNT.passed else 0


if __name__ == "__main__":
    sys.exit(main())
