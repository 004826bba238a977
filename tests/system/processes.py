"""Many processes on few worker ids."""

import contextlib
import fcntl
import os
import random
import time

from directories import as_other_user
from harness import ENDLESS, assert_distinct, assert_none, need, place, test
from subjects import Refused, Serve, attack
from tricks import stopped

EIGHT = "0-7"


@test("8 processes on 8 ids released at one moment, 50 rounds: all start")
def _():
    where = place()
    words = [f"dir={where.dir}", f"name={where.name}", "rounds=50", "processes=8", "timeout_ms=120000"]
    numbers = attack("barrier", words)
    assert numbers["started"] == numbers["of"] == 400, numbers
    assert numbers["ids"] + numbers["apart"] == 400, numbers
    assert_none(numbers, "duplicates", "apart_twice")
    return f"slowest opening {numbers['slowest_us'] / 1000:.0f} ms"


@test("the ninth process is refused, and gets the id of one that ended, beside its idle child")
def _():
    where = place()
    languages = ["rust", "c", "python", "rust", "c", "python", "rust", "c"]
    holders = [Serve(language) for language in languages]
    holders[0].do("open", "b", *where.options(worker=7))
    holders[0].do("close", "b")
    for holder in holders[:-1]:
        holder.do("open", "a", *where.options(worker=EIGHT))
    # Somebody looks whether the last one is held: a lock that passes.
    with open(where.file(7), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        holders[-1].send("open", "a", *where.options(worker=EIGHT, **ENDLESS))
        time.sleep(0.03)
    assert holders[-1].answer() == "7"
    ninth = Serve("c")
    for turn, left in enumerate(["nothing", "fork", "exec", "nothing", "fork", "exec"]):
        error = ninth.refused("open", "a", *where.options(worker=EIGHT, timeout_ms=3_000))
        assert error.code == "worker_in_use" and "0-7" in str(error) and "8 held" in str(error), error
        victim = holders.pop(0)
        victim.do("next", "a")
        worker = victim.do("open", "a", *where.options(worker=EIGHT))
        orphan = int(victim.do(left)) if left != "nothing" else None
        if turn == 3:
            victim.quit()
        else:
            victim.kill()
        got = ninth.do("open", "a", *where.options(worker=EIGHT, **ENDLESS))
        if orphan:
            os.kill(orphan, 0)
        assert got == worker, f"got {got}, the dead one had {worker}"
        ninth.do("next", "a")
        holders.append(ninth)
        ninth = Serve(languages[turn])


@test("a fixed id killed while an idle forked or exec'd child lives is free at once")
def _():
    for language in ("rust", "c", "python"):
        for left in ("fork", "exec"):
            where = place()
            victim, other = Serve(language), Serve()
            victim.do("open", "a", *where.options(worker=5))
            before = victim.ids("a", 10)
            orphan = int(victim.do(left))
            error = other.refused("open", "a", *where.options(worker=5))
            assert error.code == "worker_in_use" and f"pid {victim.pid} " in str(error), error
            victim.kill()
            opened = False
            while not opened:
                # The child lets go when it first runs.
                with contextlib.suppress(Refused):
                    opened = other.do("open", "a", *where.options(worker=5))
            os.kill(orphan, 0)
            assert_distinct([before, other.ids("a", 10)])
            other.quit()


@test("a process stopped for longer than its span goes on without harm")
def _():
    where = place()
    holder, other = Serve(), Serve()
    holder.do("open", "a", *where.options(worker=2))
    _, _, _, last = holder.run("a", 700)
    for _ in range(3):
        with stopped(holder.pid):
            time.sleep(random.uniform(3.2, 4.2))
            error = other.refused("open", "a", *where.options(worker=2))
            assert error.code == "worker_in_use", error
        _, _, first, after = holder.run("a", 300)
        assert first > last, f"{first} after {last}"
        last = after
    holder.kill()
    other.do("open", "a", *where.options(worker=2))
    assert other.ids("a")[0] > last


@test("no thread to be had: ids go on by the callers' own renewals")
def _():
    where = place()
    (where.dir / "state").mkdir()
    (where.dir / "state").chmod(0o777)
    # A user of its own, so that no other user's processes count.
    limit = [need("prlimit", "util-linux"), "--nproc=1:1"]
    subject = as_other_user(where, uid=50_000 + os.getpid() % 10_000, before=limit)
    subject.do("open", "a", *where.options(worker=2))
    subject.ids("a")
    subject.until_renewed("a")
    stats = subject.stats("a")
    assert subject.threads() == 1 and stats["renewals"] >= 1, stats
