"""The C programs under valgrind."""

import subprocess
import sys

from harness import BUILD, ROOT, need, test
from subjects import environment


@test("the C tests under valgrind", bound=240, alone=False)
def _():
    need("valgrind", "valgrind")
    done = subprocess.run(
        [sys.executable, "tests/c/run.py", BUILD / "c", BUILD / "c-tests-valgrind", "--valgrind"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=230,
    )
    lines = done.stdout.strip().splitlines()
    assert done.returncode == 0, "\n".join(lines[-15:]) + done.stderr[-1500:]
    return lines[-1]
