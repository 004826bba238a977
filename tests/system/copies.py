"""Two copies of the library in one process: the Python module and the C library."""

import subprocess

from harness import BUILD, HERE, place, test
from subjects import PYTHON, environment


@test("Python module and C library in one process: kept apart by the lock, also across forks", bound=60)
def _():
    where = place()
    done = subprocess.run(
        [PYTHON, "-W", "error", HERE / "copies_subject.py", BUILD / "c/lib/libleafid.so", where.dir, where.name],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=50,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()
