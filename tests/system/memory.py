"""The C programs under valgrind."""

import sys

from harness import BUILD, ROOT, need, test
from subjects import ended_well


@test("the C tests under valgrind", long=True)
def _():
    need("valgrind", "valgrind")
    command = [sys.executable, "tests/c/run.py", BUILD / "c", BUILD / "c-tests-valgrind", "--valgrind"]
    return ended_well(command, cwd=ROOT).stdout.strip().splitlines()[-1]
