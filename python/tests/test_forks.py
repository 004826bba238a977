"""Forks: no id of any relative is repeated, and the parent keeps what is its own."""

import os

import pytest

import leafid

def test_a_fork_while_threads_make_ids(run):
    """Each child forks one, and both make ids as their parent continues."""
    out = run("""
import threading, time, warnings
# Python's own: the program does fork with threads running, that is what is tried here.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
flake = leafid.Snowflake(range(32), **space)
stop, made, workers = threading.Event(), [[] for _ in range(3)], set()
def work(ids):
    while not stop.is_set() and len(ids) < 200_000:
        ids.append(flake.next())
        ids.extend(flake.take(10))
def some():
    return [flake.next() for _ in range(1000)] + flake.take(1000)
def child():
    mine = some()
    return [flake.worker_id, *mine, *forked(some), *some()]
threads = [threading.Thread(target=work, args=(ids,)) for ids in made]
for thread in threads: thread.start()
for _ in range(4):
    time.sleep(0.01)
    worker, *ids = forked(child)
    workers.add(worker)
    made.append(ids)
stop.set()
for thread in threads: thread.join()
every = [id for ids in made for id in ids]
say(len(every) == len(set(every)), len(every) > 24_000, flake.worker_id in workers)
say(all(leafid.decode(id).worker_id == flake.worker_id for ids in made[:3] for id in ids))
""")
    assert out == "True True False\nTrue\n"


def test_a_fork_while_threads_open_and_close(run):
    """The child finds no lock held by a thread that it has not."""
    out = run("""
import threading, warnings
# Python's own: the program does fork with threads running, that is what is tried here.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
flake = leafid.Snowflake(range(32), **space)
stop = threading.Event()
def work(ids):
    while not stop.is_set():
        with leafid.Snowflake(ids, **space) as other:
            other.next()
            other.stats()
threads = [threading.Thread(target=work, args=(ids,)) for ids in (range(100, 140), range(200, 240))]
for thread in threads: thread.start()
for round in range(25):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ids = flake.take(100)
            with leafid.Snowflake(range(300, 340), **space) as other:
                say(*ids, *other.take(100))
            flake.close()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads: thread.join()
""")
    ids = [int(id) for id in out.split()]
    assert len(ids) == len(set(ids)) == 25 * 200


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no /proc to count threads in")
def test_no_thread_is_alive_at_a_fork(run):
    """Python 3.12 and later warn of one."""
    out = run("""
import contextlib, time
def threads():
    while True:
        names = []
        for task in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/comm") as file:
                names.append(file.read().strip())
        # A new thread has the name of this one until it runs.
        if names.count(names[0]) == 1:
            # Without one that delivers a warning of another test's worker ids: it ends by itself.
            return len(names) - names.count("leafid-log")
flake = leafid.Snowflake(range(8), **space)
def until(count, what):
    # One that has ended is there until the system has seen to it.
    end = time.monotonic() + 900
    while threads() != count:
        assert time.monotonic() < end, (what, threads())
until(1, "a thread before the first id")
ids = []
for round in range(100):
    ids.append(flake.next())
    # The first id of a generator starts the thread, should the fork before have ended it.
    other = leafid.Snowflake(range(20, 28), **space)
    ids.append(other.next())
    until(2, "no thread to be ended")
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        assert threads() == 1
        os.write(w, b"%d %d" % (flake.next(), other.next()))
        os._exit(0)
    os.close(w)
    until(1, "the thread was alive at the fork")
    ids += map(int, os.read(r, 100).split())
    os.close(r)
    assert os.waitpid(child, 0)[1] == 0
    ids.append(flake.next())
    assert ids[-1] > ids[-5]
    other.close()
say(len(ids), len(set(ids)))
""")
    assert out == "500 500\n"


def test_multiprocessing_fork(run):
    out = run("""
import multiprocessing
flake = leafid.Snowflake(range(32), **space)
def work(_):
    return [flake.worker_id, *flake.take(1000), *[flake.next() for _ in range(1000)]]
if __name__ == "__main__":
    say(*work(0))
    with multiprocessing.get_context("fork").Pool(4) as pool:
        for ids in pool.map(work, range(8), chunksize=1):
            say(*ids)
        pool.close()
        pool.join()
""")
    lines = [[int(word) for word in line.split()] for line in out.splitlines()]
    ids = [id for line in lines for id in line[1:]]
    assert len(lines) == 9 and len(ids) == len(set(ids)) == 18_000
    assert lines[0][0] not in {line[0] for line in lines[1:]}


# The interpreter's end runs exit handlers and destructors; os._exit runs nothing.
ENDS = {
    "sys.exit": "sys.exit(0)",
    "end": "pass",
    "os._exit": "os._exit(0)",
    "close": "flake.close(); sys.exit(0)",
    "drop": "del flake; sys.exit(0)",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_child_that_never_used_it_leaves_the_parents_record_and_lock(space, start, record, end):
    parent = start(f"""
flake = leafid.Snowflake(7, **space)
flake.next()
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    say("ended")
    for _ in sys.stdin:
        say(flake.next())
    flake.close()
else:
    {end}
""")
    assert parent.line() == "ended"
    path = f"{space['state_dir']}/{space['name']}/worker-7.state"
    with open(path, "rb") as file:
        held = file.read()
    assert record(7)["writer"]["pid"] == parent.pid
    with pytest.raises(leafid.WorkerInUseError, match=str(parent.pid)):
        leafid.Snowflake(7, **space)
    until = record(7)["until_ms"]
    # The parent may have renewed meanwhile; nothing went down, and no other process wrote.
    with open(path, "rb") as file:
        assert file.read() == held or (record(7)["writer"]["pid"] == parent.pid and record(7)["until_ms"] >= until)
    parent.send()
    last = int(parent.line())
    parent.end()
    assert record(7)["until_ms"] == leafid.decode(last).timestamp_ms + 1
