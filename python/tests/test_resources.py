"""Sources of worker ids, opened and closed many times: nothing is left behind."""

import gc
import os
import sys

import pytest

import leafid


@pytest.fixture
def space(on_disk):
    return on_disk


class Leases:
    def __init__(self):
        self.claims = self.releases = 0

    def claim(self, request):
        self.claims += 1
        return {"worker_id": 5, "from_ms": request.now_ms, "until_ms": request.until_ms}

    def renew(self, lease, until_ms):
        return until_ms

    def release(self, lease, until_ms):
        self.releases += 1


def left():
    """Threads, descriptors and kilobytes of this process."""
    with open("/proc/self/status") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), memory


def leaves_nothing(source, call, wait):
    """Calls it 600 times: no reference to the source is left, and of the last 500 no thread, descriptor or memory.

    A thread that called the source ends a moment after its caller has the answer. Without the interpreter's lock it lets
    the source go by the next call of leafid.
    """
    references = sys.getrefcount(source)

    def is_let_go():
        leafid.decode(1)
        return sys.getrefcount(source) == references

    def calls(count):
        for _ in range(count):
            call()
        gc.collect()

    calls(100)
    before = left()
    calls(500)
    wait(is_let_go, "the last reference")
    wait(lambda: all(now <= then for now, then in zip(left()[:2], before)), "threads and descriptors")
    assert left()[2] - before[2] < 2000


@pytest.mark.slow
def test_opened_and_closed(space, wait):
    leases = Leases()

    def call():
        with leafid.Snowflake(leases, **space) as flake, leafid.Snowflake(leases, **space) as same:
            assert flake.next() < same.next()

    leaves_nothing(leases, call, wait)
    assert leases.claims == leases.releases == 600


def test_refused(space, wait):
    """Constructors that fail leave nothing of the callback, nor of what it raised."""

    def claim(name, previous):
        raise LookupError(name)

    def call():
        with pytest.raises(leafid.WorkerLostError) as raised:
            leafid.Snowflake(claim, **space)
        assert isinstance(raised.value.__cause__, LookupError)

    leaves_nothing(claim, call, wait)


def test_forks(run):
    out = run("""
asked = []
def claim(name, previous):
    asked.append(previous)
    return 5 if previous is None else 6
flake = leafid.Snowflake(claim, **space)
def left():
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
before = None
for round in range(200):
    flake.next()
    if os.fork() == 0:
        assert leafid.decode(flake.next()).worker_id == 6 and asked == [None, 5]
        os._exit(0)
    assert os.wait()[1] == 0
    before = before or left()
say(asked, left() == before)
""")
    assert out == "[None] True\n"
