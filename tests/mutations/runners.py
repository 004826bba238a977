"""Runs tests in the copy of the tree, each by its language's runner. What they need is built there. Only the standard
library is needed."""

import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
from xml.etree import ElementTree

import named

COPY = named.ROOT / "build/broken"
#: What the runners print: why a test failed, too.
LOG = named.ROOT / "build/broken.log"
#: Seconds that a runner's tests may take, builds apart; one that hangs is one that has failed.
LONGEST, LONGEST_BUILD = 120, 1_800
#: The system tests have bounds of their own.
LONGEST_SYSTEM = 600
#: A model that finds nothing tries all its states.
LONGEST_MODEL = 600
#: Built quickly, for it is built often.
QUICK = ["--config", "profile.dev.package.leafid-core.opt-level=0"]
#: The same for what is built for other languages, whose makefiles build releases.
RELEASE = {"LTO": "off", "OPT_LEVEL": "1", "CODEGEN_UNITS": "16", "DEBUG": "0"}
QUICK_RELEASE = {f"CARGO_PROFILE_RELEASE_{key}": value for key, value in RELEASE.items()}
#: What tests said that fail for a reason which their break names.
SAID = {}
#: What is broken may take memory without end. Node reserves more than it takes, and tests with children made by hand 8 GiB.
MEMORY = (10 << 30, 10 << 30)


def bounded(command, seconds, limit=(), more=None):
    """What it printed, and its status; None when it had to be killed. The log has both."""
    environment = os.environ | {"RUST_BACKTRACE": "0", "CARGO_BUILD_JOBS": "2", "CARGO_INCREMENTAL": "1"} | QUICK_RELEASE | (more or {})
    # PR_SET_CHILD_SUBREAPER: what loses its parent becomes a child of this process, and can be ended.
    ctypes.CDLL(None).prctl(36, 1)
    process = subprocess.Popen(
        command, cwd=COPY, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=lambda: limit and resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    try:
        said, status = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        end_all(process)
        said, status = process.communicate()[0], None
    with LOG.open("a") as log:
        print("$", *command, f"\n{said}-> {status}", file=log)
    return said, status


def end_all(process):
    """Ends a process and all that it has started, in groups of their own, too: one that is left keeps its output open.
    There is no other process beside it."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while orphans := children():
        for orphan in orphans:
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)


def children():
    """The processes that this one has started or inherited."""
    own = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in own.read_text().split()]


def missing(test, said):
    sys.exit(f"{test} did not run:\n{said[-3000:]}")


def in_main(file):
    """Whether it is one of the files of core/tests, or of a folder without a main.rs: modules of one program."""
    folder = re.fullmatch(r"core/tests/(?:(\w+)/)?\w+\.rs", file)
    return folder is not None and not (folder[1] and (named.ROOT / f"core/tests/{folder[1]}/main.rs").exists())


def crate_of(test):
    """The arguments of cargo for a test's file."""
    file = test.partition("::")[0]
    crate, _, rest = file.rpartition("/src/") if "/src/" in file else file.partition("/tests/")
    packages = {"core": "leafid-core", "bindings/rust": "leafid", "bindings/c": "leafid-c", "server": "leafid-server"}
    package = packages[crate.partition("/src")[0]]
    if "/src/" in file:
        return package, "--lib"
    return package, "--test=main" if in_main(file) else f"--test={rest.partition('/')[0].removesuffix('.rs')}"


def path_of(test):
    """How cargo names a test, but for a module within its file."""
    file, _, name = test.partition("::")
    if "/src/" in file:
        of_crate = file.rpartition("/src/")[2]
    else:
        of_crate = file.partition("/tests/")[2]
        if not in_main(file):
            of_crate = of_crate.partition("/")[2]
    modules = [part for part in of_crate.removesuffix(".rs").split("/") if part not in ("", "lib", "main")]
    return re.compile("::".join([*modules, rf"(?:\w+::)?{name}"]))


def rust(tests):
    ended = {}
    by_package = {}
    for test in tests:
        package, target = crate_of(test)
        by_package.setdefault(package, {}).setdefault(target, []).append(test)
    for package, targets in by_package.items():
        cargo = ["cargo", "test", "-j2", "-p", package, *QUICK, "--no-fail-fast", f"--target-dir={COPY / 'target'}"]
        said, status = bounded([*cargo, *targets, "--no-run", "--quiet"], LONGEST_BUILD)
        if status != 0:
            sys.exit(f"does not build:\n{said[-3000:]}")
        for target, tests_of in targets.items():
            names = [test.partition("::")[2] for test in tests_of]
            said, status = bounded([*cargo, target, "--", "--test-threads=4", *names], LONGEST, MEMORY)
            lines = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (?:.*\b)?(ok|FAILED)$", said, re.M)
            died = status is None or "process didn't exit successfully" in said and "signal:" in said
            for test in tests_of:
                # Modules may have tests of one name, and a forked child that fails says so, too.
                well = [how == "ok" for path, how in lines if path_of(test).fullmatch(path)]
                if not well and not died:
                    missing(test, said)
                ended[test] = bool(well) and all(well)
    return ended


def scenarios(tests):
    """Each by itself, in the core's test of its file."""
    cargo = ["cargo", "test", "-j2", "-p", "leafid-core", *QUICK, "--test=main", f"--target-dir={COPY / 'target'}"]
    said, status = bounded([*cargo, "--no-run", "--quiet"], LONGEST_BUILD)
    if status != 0:
        sys.exit(f"does not build:\n{said[-3000:]}")
    ended = {}
    for test in tests:
        file, _, name = test.partition("::")
        path = file.removeprefix("tests/").removesuffix(".json").replace("/", "::")
        said, status = bounded([*cargo, "--", "--exact", path], LONGEST, MEMORY, {"SCENARIO": name})
        ended[test] = status == 0
        if status == 0 and "1 passed" not in said:
            missing(test, said)
    return ended


def model(tests):
    """With the smaller bounds; a model that takes much longer than it should has failed, too."""
    cargo = ["cargo", "test", "-j2", "--profile=model", "-p", "leafid-model", f"--target-dir={COPY / 'target/model'}"]
    said, status = bounded([*cargo, "--no-run", "--quiet"], LONGEST_BUILD)
    if status != 0:
        sys.exit(f"does not build:\n{said[-3000:]}")
    ended = {}
    for test in tests:
        name = test.partition("::")[2]
        said, status = bounded([*cargo, "--", "--exact", name], LONGEST_MODEL, more={"BOUNDS": "small"})
        ended[test] = status == 0
        if status == 0 and "1 passed" not in said:
            missing(test, said)
    return ended


def threads(tests):
    """Models under loom and shuttle; each by itself, for what it says when it fails."""
    ended = {}
    for test in tests:
        file, _, name = test.partition("::")
        crate, module = file.split("/tests/")[0], pathlib.Path(file).stem
        module = "" if module == "models" else f"{module}::"
        make(f"{crate}/Cargo.lock")
        cargo = ["cargo", "test", "-j2", "--release", f"--manifest-path={crate}/Cargo.toml", "--test=models"]
        cargo += [f"--target-dir={COPY / 'target/threads'}"]
        said, status = bounded([*cargo, "--no-run", "--quiet"], LONGEST_BUILD)
        if status != 0:
            sys.exit(f"does not build:\n{said[-3000:]}")
        said, status = bounded([*cargo, "--", "--exact", f"{module}{name}"], LONGEST_MODEL, more={"BOUNDS": "smallest"})
        ended[test], SAID[test] = status == 0, said
        if status == 0 and "1 passed" not in said:
            missing(test, said)
    return ended


def make(*goals):
    """Builds what the makefiles build."""
    said, status = bounded(["make", "--no-print-directory", *goals], LONGEST_BUILD)
    if status != 0:
        sys.exit(f"does not build:\n{said[-3000:]}")


def c(tests):
    """One process a program: of those that it takes along when it dies, none has passed."""
    make("made/c")
    ended = {}
    for file in sorted({test.partition("::")[0] for test in tests}):
        program = file.rpartition("/")[2].partition(".")[0]
        command = ["python3", "tests/c/run.py", "--kind=shared", "build/c", "build/c-tests", program]
        said, status = bounded(command, LONGEST)
        well = {name: how == "ok" for how, name in re.findall(r"^(ok|not ok) - (.*) \(\d+ ms\)$", said, re.M)}
        died = status is None or re.search(r" ended with -\d+$| took more than ", said, re.M)
        for test in tests:
            of, _, name = test.partition("::")
            if of == file:
                ended[test] = well[name] if name in well else False if died else missing(test, said)
    return ended


def pytest_for(what):
    """The command, once what it needs is installed: for the first interpreter that warns of threads at a fork, which some
    tests go by."""
    listed = bounded(["python/interpreters.sh"], LONGEST)[0].split()
    found = dict(zip(listed[::2], listed[1::2]))
    version = next((version for version in found if version != "3.11"), "3.11")
    make(f"python_version={version}", f"python_path={found[version]}", f"build/venv-{version}/{what}")
    return [f"build/venv-{version}/bin/pytest", "-q", "-c", "python/pyproject.toml"]


def python(tests):
    return by_pytest([*pytest_for("leafid"), "-o", "timeout=30"], tests, LONGEST)


def server(tests):
    """Each on the stores that are installed."""
    make("made/server")
    binary = {"LEAFID_SERVER_BINARY": str(COPY / "build/leafid-server")}
    return by_pytest([*pytest_for("done"), "--import-mode=prepend"], tests, LONGEST_SYSTEM, binary)


def by_pytest(pytest, tests, seconds, more=None):
    """One process a test."""
    ended = {}
    for test in tests:
        said, status = bounded([*pytest, test], seconds, more=more)
        if status in (2, 3, 4, 5):
            missing(test, said)
        ended[test] = None if status == 0 and " passed" not in said else status == 0
    return ended


def node(tests):
    """Against the installed tarball."""
    make("made/node-test")
    folder = COPY / "build/node-test/tests"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(COPY / "node/tests", folder)
    return by_node(folder, tests)


def wasm_js(tests):
    """In Chromium and others, on a network of their own."""
    make("made/wasm-js")
    return by_node(COPY / "build/wasm-js/project", tests, "sh", "tests/alone.sh")


def by_node(folder, tests, *alone):
    """One process a test."""
    ended = {}
    for test in tests:
        file, _, name = test.partition("::")
        run = [*alone, "node", "--test-reporter=tap", f"--test-name-pattern=^{re.escape(name)}$"]
        said, status = bounded([*run, folder / file.rpartition("/")[2]], LONGEST, more={"LEAFID_ROOT": str(COPY)})
        how = re.search(rf"^(ok|not ok) \d+ - {re.escape(name)}( # SKIP)?", said, re.M)
        if not how and status in (0, 1):
            missing(test, said)
        ended[test] = None if how and how[2] else bool(how) and how[1] == "ok"
    return ended


def java(tests):
    """Each class in one JVM: if it dies or hangs, it leaves no report."""
    make("made/java")
    ended = {}
    for file in sorted({test.partition("::")[0] for test in tests}):
        its = {test: test.partition("::")[2] for test in tests if test.startswith(f"{file}::")}
        maven = ["mvn", "--batch-mode", "--quiet", "--file=java/pom.xml", f"-Dleafid.build={COPY / 'build/java'}"]
        folder = COPY / "build/java/surefire-reports"
        shutil.rmtree(folder, ignore_errors=True)
        chosen = f"-Dtest={pathlib.Path(file).stem}#{'+'.join(its.values())}"
        said, status = bounded([*maven, chosen, "surefire:test"], LONGEST)
        reports = [ElementTree.parse(report).getroot() for report in folder.glob("TEST-*.xml")]
        cases = [case for report in reports for case in report.iter("testcase")]
        for test, name in its.items():
            # A test with parameters has a case for each.
            how = [{each.tag for each in case} for case in cases if re.fullmatch(rf"{name}\b.*", case.get("name"))]
            if not how and not status:
                missing(test, said)
            skipped = any("skipped" in tags for tags in how)
            ended[test] = None if skipped else bool(how) and not any(tags & {"failure", "error"} for tags in how)
    return ended


def system(tests):
    """Some at a time."""
    make("made/c", "made/python", "made/node", "made/server", "made/system")
    pytest = [*pytest_for("done"), "--rootdir=.", "--import-mode=prepend", "-vv", "--numprocesses=6"]
    said, status = bounded([*pytest, *tests], LONGEST_SYSTEM)
    ended = {}
    for test in tests:
        how = re.search(rf"\b(PASSED|FAILED|ERROR|SKIPPED) {re.escape(test)}", said)
        if not how and status is not None:
            missing(test, said)
        ended[test] = {"PASSED": True, "SKIPPED": None}.get(how and how[1], False)
    return ended


def bounds(tests):
    """A program."""
    return dict.fromkeys(tests, bounded(["python3", "tests/bounds.py"], LONGEST)[1] == 0)


RUNNERS = (
    ("core/", rust), ("bindings/rust/", rust), ("bindings/c/", rust), ("server/", rust), ("tests/scenarios/", scenarios),
    ("tests/model/", model), ("tests/loom/", threads), ("tests/shuttle/", threads), ("tests/c/", c), ("python/", python),
    ("node/", node), ("java/", java), ("tests/system/", system), ("tests/server/", server), ("tests/wasm_js/", wasm_js),
    ("tests/bounds.py", bounds),
)  # fmt: skip


def outcomes(tests):
    """How each test ended: True for well; False also for one that hung, or took its process along; None for one that
    cannot run here."""
    by_runner = {}
    for test in tests:
        runner = next(runner for folder, runner in RUNNERS if test.startswith(folder))
        by_runner.setdefault(runner, []).append(test)
    ended = {}
    for runner, its in by_runner.items():
        ended |= runner(its)
    return ended
