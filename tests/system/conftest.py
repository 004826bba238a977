"""How pytest runs the system tests: those that `harness.test` registered, by their titles.

Each test runs in a process of its own, whose group is killed when it is done or its bound is over. `--seed N` repeats
what tests draw.
"""

import contextlib
import glob
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import harness  # noqa: E402
import left_locks  # noqa: E402

PASSED, FAILED, SKIPPED = range(3)
BASES = []


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=random.randrange(1 << 32))


def pytest_report_header(config):
    return f"seed {config.option.seed}"


def pytest_sessionstart():
    """Where places lie: on the disk, and in memory. Other users come in too."""
    BASES.append(tempfile.mkdtemp(prefix="leafid-system-"))
    tempfile.tempdir = BASES[0]
    if os.access("/dev/shm", os.W_OK):
        BASES.append(tempfile.mkdtemp(prefix="leafid-system-", dir="/dev/shm"))
        harness.MEMORY = BASES[1]
    for base in BASES:
        os.chmod(base, 0o755)


def pytest_sessionfinish():
    """What killed tests left: their directories, their lock files, and libfaketime's shared memory of processes that are
    gone."""
    for base in BASES:
        shutil.rmtree(base, ignore_errors=True)
    left_locks.sweep("/run/lock")
    for path in glob.glob("/dev/shm/*faketime_s*_[0-9]*"):
        if not os.path.exists(f"/proc/{path.rpartition('_')[2]}"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".py" and not parent.session.isinitpath(file_path) and "@test(" in file_path.read_text():
        return SystemFile.from_parent(parent, path=file_path)


def pytest_pycollect_makemodule(module_path, parent):
    """Of a file that is named to pytest."""
    return SystemFile.from_parent(parent, path=module_path)


def pytest_collection_modifyitems(items):
    """Long ones first, so that none is left alone in the end; each process begins with two, of which one is short."""
    long = [item for item in items if item.function.is_long]
    short = [item for item in items if not item.function.is_long]
    begun = [item for pair in zip(long, short) for item in pair]
    items[:] = begun + long[len(short) :] + short[len(long) :]


class SystemFile(pytest.File):
    def collect(self):
        importlib.import_module(self.path.stem)
        for title, function in harness.TESTS.items():
            if function.__module__ == self.path.stem:
                yield SystemTest.from_parent(self, name=title, function=function)


class Failure(Exception):
    """Its text says why, as the test's process reported it."""


class SystemTest(pytest.Item):
    def __init__(self, *, function, **more):
        super().__init__(**more)
        self.function = function

    def runtest(self):
        with tempfile.TemporaryFile("w+") as out:
            with warnings.catch_warnings():
                # The threads of pytest-xdist, which the child has no use for.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                self.run_here(out)
            try:
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
            out.seek(0)
            said = out.read().strip()
        if code == SKIPPED:
            pytest.skip(said)
        if code != PASSED:
            raise Failure(said or f"its process ended with {code}")
        print(said)

    def run_here(self, out):
        """The test, in a process of its own: the exit status says how it went, the file why."""
        os.setpgid(0, 0)
        signal.alarm(0)
        random.seed(f"{self.config.option.seed} {self.name}")
        code = FAILED
        try:
            out.write(self.function() or "")
            code = PASSED
        except harness.Skip as skip:
            out.write(str(skip))
            code = SKIPPED
        except AssertionError as error:
            out.write(str(error) or traceback.format_exc())
        except BaseException:
            out.write(traceback.format_exc())
        finally:
            for place in harness.PLACES:
                place.remove()
            out.flush()
            os._exit(code)

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if excinfo.errisinstance(Failure) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name
