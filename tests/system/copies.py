"""Two copies of the library in one process: the Python module and the C library."""

from harness import BUILD, HERE, place, test
from subjects import PYTHON, ended_well


@test("Python module and C library in one process: kept apart by the lock, also across forks")
def _():
    where = place()
    command = [PYTHON, "-W", "error", HERE / "copies_subject.py", BUILD / "c/lib/libleafid.so", where.dir, where.name]
    return ended_well(command).stdout.strip()
