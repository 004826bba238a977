"""Forks: a child drops what it inherited and fetches segments of its own."""

import pathlib

import pytest

# A counter that processes share: a file under a lock, as a database would be.
SHARED = """
import fcntl, logging, pathlib, threading, time
logging.getLogger("leafid").setLevel(logging.CRITICAL)
counter = pathlib.Path(space["state_dir"], "counter")
counter.touch()
def fetch(tag, step):
    with open(counter, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        start = int(file.read() or 1)
        file.seek(0)
        file.write(str(start + step))
    return range(start, start + step)
"""

BEFORE = (
    SHARED
    + """
ids = leafid.Segments(fetch=fetch, **space, step=100, adaptive=False)
order = ids.tag("order")
parents = order.take(20)
def child():
    return order.take(20) + [order.next(), *ids.tag("order").take(3)] + ids.tag("user").take(5)
"""
)

FORKS = {
    "fork": "childs = forked(child)",
    "multiprocessing": """
import multiprocessing
with multiprocessing.get_context("fork").Manager() as manager:
    results = manager.list()
    process = multiprocessing.get_context("fork").Process(target=lambda: results.append(child()))
    process.start()
    process.join()
    assert process.exitcode == 0
    childs = list(results[0])
""",
}


@pytest.mark.parametrize("how", FORKS.values(), ids=FORKS)
def test_a_forked_child_fetches_its_own(run, how):
    out = run(
        BEFORE
        + how
        + """
parents += order.take(100)
say(len(set(childs)) == len(childs) == 29, set(childs) & set(parents) == set(), parents == sorted(set(parents)))
say(childs[:24] == list(range(childs[0], childs[0] + 24)))
"""
    )
    assert out == "True True True\nTrue\n"


def test_no_thread_is_left_at_a_fork(run):
    """Python 3.12 and later warn of one. Also with a prefetch under way."""
    out = run(
        SHARED
        + """
import warnings
# As an error it would be lost in the fork; what is printed fails the test.
warnings.simplefilter("always", DeprecationWarning)
def fetch_slowly(tag, step):
    time.sleep(0.003)
    return fetch(tag, step)
ids = leafid.Segments(fetch=fetch_slowly, **space, step=20, adaptive=False, prefetch=0)
order = ids.tag("order")
for round in range(60):
    order.take(1 + round % 7)
    forked()
# Nor when it failed, and is to be asked again.
fetch = None
try:
    ids.tag("user").next(timeout_ms=20)
except leafid.SegmentUnavailableError:
    pass
for round in range(10):
    forked()
    time.sleep(0.02)
say(order.next() > 100)
"""
    )
    assert out == "True\n"


def test_a_wait_goes_on_after_a_fork(run):
    """The fork ends the threads that would end the wait; who waits begins them again."""
    out = run(
        SHARED
        + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
up = []
def flaky(tag, step):
    if not up:
        raise ConnectionError("away")
    return fetch(tag, step)
order = leafid.Segments(fetch=flaky, **space).tag("order")
got = []
waiter = threading.Thread(target=lambda: got.append(order.next()))
waiter.start()
time.sleep(0.3)
forked()
up.append(True)
begun = time.monotonic()
waiter.join()
say(got, time.monotonic() - begun < 60)
"""
    )
    assert out == "[1] True\n"


def test_a_spawned_process_opens_its_own(run, space):
    """What is opened cannot be sent to it, and the error says so."""
    pathlib.Path(space["state_dir"], "worker.py").write_text("import leafid\ndef use(tag):\n    return tag.next()\n")
    out = run(
        BEFORE
        + """
import multiprocessing
sys.path.insert(0, space["state_dir"])
import worker
with multiprocessing.get_context("spawn").Pool(1) as pool:
    try:
        pool.apply(worker.use, (order,))
    except TypeError as error:
        say(error)
"""
    )
    assert "cannot pickle a leafid.Tag" in out and "in each process" in out


def test_an_event_loop_of_a_child(run):
    out = run(
        BEFORE
        + """
import asyncio
async def main():
    return await asyncio.gather(order.next_async(), order.take_async(3), *[order.next_async() for _ in range(10)])
parents = asyncio.run(main())
first, three, *rest = forked(lambda: asyncio.run(main()))
flat = [first, *three, *rest]
say(len(set(flat)) == 14, min(flat) > 100)
say(parents[0])
"""
    )
    assert out == "True True\n21\n"


def test_a_callable_that_starts_processes(run):
    """By fork and exec, and by a fork alone, on its own thread."""
    out = run(
        SHARED
        + """
import subprocess, warnings
warnings.simplefilter("ignore", DeprecationWarning)
def by_exec(tag, step):
    code = "import sys; print(int(sys.argv[1]) * 2)"
    return 0, int(subprocess.run([sys.executable, "-c", code, str(step)], capture_output=True, check=True).stdout)
def by_fork(tag, step):
    read, write = os.pipe()
    if os.fork() == 0:
        # It has this one thread.
        os.write(write, b"500")
        os._exit(0)
    os.wait()
    return 0, int(os.read(read, 10))
for number, fetch in enumerate((by_exec, by_fork)):
    with leafid.Segments(fetch=fetch, **space | {"name": f"{space['name']}-{number}"}) as ids:
        say(ids.tag("order").take(3))
"""
    )
    assert out == "[0, 1, 2]\n[0, 1, 2]\n"


def test_a_child_of_its_callable_may_use_other_segments(run):
    """Forked on a thread of leafid's."""
    out = run(
        SHARED
        + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
other = leafid.Segments(fetch=fetch, **space | {"name": space["name"] + "-2"}).tag("other")
other.next()
def forks(tag, step):
    say(forked(lambda: other.next() > 1))
    return range(1, 1 + step)
say(leafid.Segments(fetch=forks, **space).tag("order").next())
"""
    )
    assert out == "True\n1\n"
