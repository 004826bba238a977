"""Forks, closes and kills in the middle of everything."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

from harness import ENDLESS, HERE, NEVER_S, assert_distinct, assert_none, place, test
from subjects import PYTHON, Refused, Serve, Stream, attack, ended_well, environment, unsynced
from tricks import namespace

for _kind in ("fork", "_fork", "clone"):
    for _method in ("next", "fill", "take"):

        @test(f"a signal handler that forks by {_kind} every millisecond during {_method}")
        def _(kind=_kind, method=_method):
            where = place()
            words = [*where.options(worker="0-63", **ENDLESS), f"kind={kind}", f"method={method}", "forks=150"]
            numbers = attack("signal-forks", words)
            assert_none(numbers, "duplicates", "bad_ends")
            # Past the C library a child may be born with malloc's lock taken by a thread that it does not have.
            assert numbers["left_alive"] <= (0 if kind == "fork" else 1), numbers
            assert numbers["forks"] == 150, numbers
            return f"{numbers['ids']} ids of {numbers['processes']} processes"


for _kind in ("fork", "_fork", "clone"):

    @test(f"a signal handler that forks by {_kind} in the middle of long batches")
    def _(kind=_kind):
        where = place()
        words = [*where.options(worker="0-63", **ENDLESS), f"kind={kind}", "method=fill", "batch=8000", "forks=100"]
        numbers = attack("signal-forks", words)
        assert_none(numbers, "duplicates", "bad_ends")
        assert numbers["left_alive"] <= (0 if kind == "fork" else 1), numbers
        return f"{numbers['ids']} ids of {numbers['processes']} processes"


@test("a signal handler that forks every millisecond beside two threads that issue")
def _():
    where = place()
    words = [*where.options(worker="0-63", **ENDLESS), "kind=fork", "method=next", "forks=150", "threads=3"]
    numbers = attack("signal-forks", words)
    assert_none(numbers, "duplicates", "left_alive", "bad_ends")
    return f"{numbers['ids']} ids of {numbers['processes']} processes"


@test("a Python signal handler that forks and asks for ids during next and take")
def _():
    where = place()
    return ended_well([PYTHON, HERE / "handler_subject.py", where.dir, where.name]).stdout.strip()


for _kind in ("fork", "_fork"):

    @test(f"a signal handler that forks by {_kind} while the thread waits for a span")
    def _(kind=_kind):
        where = place()

        def one(turn):
            words = [f"dir={where.dir / str(turn)}", f"name={where.name}-{turn}", f"kind={kind}", "generators=1"]
            words += [f"delay_us={5 + 13 * turn}", f"timeout_ms={ENDLESS['timeout_ms']}"]
            # It is the disk that it waits for.
            return attack("wait-forks", words, before=[])

        with ThreadPoolExecutor(25) as pool:
            results = list(pool.map(one, range(150)))
        forks = sum(numbers["forks"] for numbers in results)
        bad = [numbers for numbers in results if numbers["bad_ends"] or numbers["duplicates"]]
        assert not bad, f"{len(bad)} of {forks}: {bad[:3]}"
        assert forks == len(results), f"only {forks} forks"
        return f"{forks} forks"


for _forkers in (1, 2):

    @test(f"fork storm of {_forkers} threads, while others open, close and issue")
    def _(forkers=_forkers):
        where = place()
        numbers = attack("fork-storm", [*where.options(**ENDLESS), "forks=300", f"forkers={forkers}"])
        assert_none(numbers, "duplicates", "errors", "bad_ends")
        return f"{numbers['opens']} opens"


for _ids, _worker in (("one fixed id", 5), ("a range", "0-1")):

    @test(f"open, issue, close in 4 threads without pause, {_ids}")
    def _(worker=_worker):
        numbers = attack("close-race", [*place().options(worker=worker, **ENDLESS), "millis=3000"])
        assert_none(numbers, "duplicates", "errors")
        assert worker != 5 or numbers["threads"] == 1, numbers
        return f"{numbers['rounds']} rounds"


for _processes, _ids, _worker in ((3, "one fixed id", 5), (4, "3 ids of a range", "0-2")):

    @test(f"open, issue, close in {_processes} processes without pause, killed at random: {_ids}")
    def _(processes=_processes, worker=_worker):
        words = ["kills=400", f"processes={processes}", "threads=2", f"seed={random.randrange(1 << 31)}"]
        numbers = attack("close-race", [*place().options(worker=worker, **ENDLESS), *words])
        assert_none(numbers, "duplicates", "bad_ends")
        return f"{numbers['ids']} ids"


@test("two network namespaces on one directory: the file's lock alone keeps them apart")
def _():
    where = place()
    # Where no lock file is seen either.
    apart = [*unsynced(), *namespace("n", "m"), "sh", "-c", 'mount -t tmpfs tmpfs /run/lock && exec "$@"', "sh"]
    one, two = Serve(before=apart), Serve(before=apart)
    one.do("open", "a", *where.options(worker=1))
    first = one.ids("a", 100)
    error = two.refused("open", "a", *where.options(worker=1))
    assert error.code == "worker_in_use" and f"pid {one.pid} " in str(error) and os.uname().nodename in str(error), (
        error
    )
    one.do("close", "a")
    two.do("open", "a", *where.options(worker=1))
    assert_distinct([first, two.ids("a", 100)])
    two.kill()
    one.do("open", "a", *where.options(worker=1))
    one.quit()
    # Both take turns on two ids, each killed at random and started at once.
    runs, refusals, end = [], 0, time.monotonic() + 6
    running = []
    while time.monotonic() < end:
        while len(running) < 3:
            words = where.options(worker="0-1", threads=1)
            word = environment(LEAFID_EXCLUSIVE_RANGE="1")
            running.append(Stream("rust", words, before=apart, env=word, limit=50_000))
        time.sleep(random.uniform(0.005, 0.06))
        run = running.pop(random.randrange(3))
        runs.append(run.kill())
        if run.errors.startswith("error"):
            assert "worker_in_use" in run.errors, run.errors
            refusals += 1
    runs += [run.kill() for run in running]
    assert_distinct(runs)
    return f"{sum(map(len, runs))} ids in {len(runs)} runs, {refusals} refused"


@test("a state file replaced, deleted or copied over while held: worker_lost, and never two holders")
def _():
    for trick in ("deleted", "replaced", "overwritten", "older"):
        where = place()
        holder = Serve().open("a", *where.options(worker=1))
        holder.run("a", 600)
        path = where.file(1)
        old = path.read_bytes()
        if trick == "older":
            holder.until_renewed("a", 2)
            with open(path, "r+b") as file:
                file.write(old)
        elif trick == "deleted":
            path.unlink()
        elif trick == "replaced":
            fresh = path.with_suffix(".copy")
            fresh.write_bytes(old)
            fresh.rename(path)
        else:
            with open(path, "r+b") as file:
                file.write(bytes(8192))
        try:
            holder.run("a", 1_000 * NEVER_S)
            raise AssertionError(f"{trick}: ids go on")
        except Refused as error:
            assert error.code == "worker_lost" and str(path) in str(error), f"{trick}: {error}"
        error = Serve().refused("open", "a", *where.options(worker=1))
        assert error.code == "worker_in_use", f"{trick}: {error}"
        holder.quit()


@test("odd files in a state file's place: refused, untouched, no hang")
def _():
    where = place()
    subject = Serve().open("a", *where.options(worker=0))
    subject.do("close", "a")
    directory = where.file(0).parent
    before = where.file(0).read_bytes()
    os.mkfifo(where.file(1))
    where.file(2).mkdir()
    where.file(3).symlink_to("/dev/zero")
    where.file(4).symlink_to(where.file(0))
    os.link(where.file(0), where.file(5))
    where.file(6).symlink_to(directory / "nowhere")
    where.file(7).write_bytes(b"")
    where.file(8).write_bytes(before + b" ")
    where.file(9).write_bytes(before[:4096] + bytes(4096))
    for worker in range(1, 10):
        error = subject.refused("open", "b", *where.options(worker=worker))
        assert error.code in ("state_io", "state_corrupt"), f"{worker}: {error}"
        assert f"worker-{worker}.state" in str(error), f"{worker}: {error}"
    assert where.file(0).read_bytes() == before
    assert subject.do("open", "b", *where.options(worker="7-20")) == "10", "the range does not pass over damaged ids"
    try:
        subject.do("open", "c", *where.options(worker="1-20"))
    except Refused as error:
        assert error.code == "state_io", error
