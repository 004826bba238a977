"""Descriptors and memory."""

import os

from harness import place, test, wait_for
from subjects import Refused, Serve, attack


@test("a program that closes every descriptor: no foreign one is closed later, no id twice")
def _():
    where = place()
    victim, other = Serve(), Serve()
    victim.do("open", "a", *where.options(worker=1))
    # What the opening began has ended.
    wait_for(lambda: victim.threads() == 1, "the end of the opening's threads")
    ids = victim.ids("a", 10)
    victim.do("close-descriptors")
    # The numbers are given to other files now, more of them than leafid had.
    victim.do("hold-files", 12, where.dir / "foreign")
    # Neither the record's lock nor the host lock is left: another process comes in, above the span of the first.
    other.do("open", "a", *where.options(worker=1))
    theirs = other.ids("a", 10)
    lost = None
    for _ in range(6):
        try:
            ids += victim.ids("a", 100)
            victim.run("a", 1_000)
        except Refused as error:
            lost = error
    theirs += other.ids("a", 1000)
    assert lost and lost.code in ("worker_lost", "state_io"), lost
    assert not set(ids) & set(theirs), "an id was issued twice"
    try:
        victim.do("close", "a")
    except Refused as error:
        assert error.code in ("worker_lost", "state_io", "closed"), error
    victim.do("drop", "a")
    victim.do("check-files")
    other.run("a", 2_000)
    return str(lost).split(":")[0]


@test("descriptors closed, another worker id opened: the old generator's end does not unlock the new one")
def _():
    where = place()
    victim = Serve().open("a", *where.options(worker=1))
    ids = victim.ids("a", 10)
    victim.do("close-descriptors")
    again = ("open", "c", *where.options(worker=1, max_backwards_ms=6000))
    assert victim.refused(*again).code == "worker_in_use", "the old generator has it"
    # Its descriptors have the numbers of those that were closed.
    victim.do("open", "b", *where.options(worker=2))
    ids += victim.ids("b", 10)
    try:
        victim.do("close", "a")
    except Refused as error:
        assert error.code in ("worker_lost", "state_io"), error
    victim.do("drop", "a")
    assert locked(where.file(2)), "the new generator's file is not locked any more"
    _, _, first, last = victim.run("b", 4_000)
    assert first > max(ids)
    victim.do(*again)
    assert victim.ids("c", 1)[0] > max(ids)
    for worker in (1, 2):
        error = Serve().refused("open", "a", *where.options(worker=worker))
        assert error.code == "worker_in_use", error


def locked(path):
    import fcntl

    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@test("1,000 generators cost at most 64 KiB each and one thread", long=True)
def _():
    where = place()
    words = [f"dir={where.dir}", f"name={where.name}", "timeout_ms=120000"]
    numbers = attack("many", [*words, "generators=1000"])
    assert numbers["each_bytes"] <= 65_536 and numbers["each_later_bytes"] <= 65_536, numbers
    assert numbers["threads_in_use"] == 2, numbers
    assert numbers["threads_after"] == 1, numbers
    assert numbers["in_child"] == 0, f"an idle child of a fork keeps {numbers['in_child']} descriptors"
    return (
        f"{numbers['each_later_bytes']} bytes each, slowest id {numbers['slowest_us']} us, fork {numbers['fork_ms']} ms"
    )


@test("too many open files: refused with state_io, and well again afterwards")
def _():
    where = place()
    subject = Serve().open("a", *where.options(worker=1))
    subject.ids("a")
    subject.do("hold-all-descriptors")
    error = subject.refused("open", "b", *where.options(worker=2))
    assert error.code == "state_io" and "oo many open files" in str(error), error
    # Renewals need no new descriptor.
    subject.run("a", 2_500)
    subject.do("free-descriptors")
    assert subject.do("open", "b", *where.options(worker=2)) == "2"
    subject.do("close", "a")
    assert len(os.listdir(f"/proc/{subject.pid}/fd")) < 16
