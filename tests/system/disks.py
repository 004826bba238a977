"""Disks that are full, hang or fail."""

import os
import select
import subprocess

from harness import NEVER_S, Skip, need, now_ms, place, test, time_of, wait_for
from lessees import Pool
from subjects import Refused, Serve
from tricks import namespace, stalled


def mounted(where, mount, kind=Serve):
    """A subject in a mount namespace of its own with a small disk at `where/state`, and the path to it from here."""
    state = where.dir / "state"
    state.mkdir()
    command = namespace("m")
    script = f'{mount} && exec "$@"'
    probe = subprocess.run([*command, "sh", "-c", f"{mount} && echo yes"], capture_output=True, text=True)
    if probe.stdout.strip() != "yes":
        raise Skip(f"a disk of its own cannot be mounted here: {probe.stderr.strip()}")
    subject = kind(before=[*command, "sh", "-c", script, "sh"])
    return subject, f"/proc/{subject.pid}/root{state}"


def fill(directory):
    """Leaves no free byte."""
    size = 1 << 20
    with open(f"{directory}/filler", "ab", buffering=0) as file:
        while size:
            try:
                file.write(bytes(size))
                os.fsync(file.fileno())
            except OSError:
                size //= 2


def full_disk(where, subject, inside):
    subject.do("open", "a", *where.options(worker=1))
    subject.do("next", "a")
    fill(inside)
    full = os.statvfs(inside)
    subject.until_renewed("a", 3)
    stats = subject.stats("a")
    assert stats["failures"] == 0, stats
    files = sorted(os.listdir(f"{inside}/{where.name}"))
    error = subject.refused("open", "b", *where.options(worker=2))
    assert error.code == "state_io", error
    for word in (f"{where.dir}/state", "space", "state_dir"):
        assert word in str(error), f"{error}: does not say {word!r}"
    assert sorted(os.listdir(f"{inside}/{where.name}")) == files == ["worker-1.state"], "something was left behind"
    error = subject.refused("open", "c", *where.options(worker=1, name=where.name + "x"))
    assert error.code == "state_io", error
    subject.do("close", "a")
    assert subject.do("open", "a", *where.options(worker=1)) == "1"
    subject.run("a", 50)
    os.truncate(f"{inside}/filler", 0)
    assert subject.do("open", "b", *where.options(worker=2)) == "2"
    return f"{stats['renewals']} renewals with {full.f_bavail} blocks free"


@test("a full disk (tmpfs): ids go on, a new worker id is refused")
def _():
    where = place()
    subject, inside = mounted(where, f"mount -t tmpfs -o size=256k tmpfs {where.dir}/state")
    return full_disk(where, subject, inside)


@test("a full disk (ext4): ids go on, a new worker id is refused")
def _():
    where = place()
    mkfs = need("mkfs.ext4", "e2fsprogs")
    image = where.unsynced("image")
    with open(image, "wb") as file:
        file.truncate(8 << 20)
    subprocess.run([mkfs, "-q", "-m", "0", image], check=True, capture_output=True)
    subject, inside = mounted(where, f"mount -o loop {image} {where.dir}/state")
    return full_disk(where, subject, inside)


@test("a disk that hangs: callers are bounded, durable ids go on, and it recovers")
def _():
    where = place()
    # The one disk that may be late here is the one that hangs.
    options = where.options(worker=1, state=where.unsynced("state"), timeout_ms=1_500)
    subject = Serve(before=stalled(where)).open("a", *options)
    subject.run("a", 2_500)
    subject.until_renewed("a")
    last, ids, refused = subject.ids("a")[0], 0, None
    where.write("disk", "hang")
    first_ms = now_ms()
    while refused is None:
        try:
            last, ids = subject.ids("a")[0], ids + 1
        except Refused as error:
            refused = error
    assert refused.code == "state_io" and "not durable in time" in str(refused), refused
    # What is durable is issued, and nothing else.
    until = subject.stats("a")["until"]
    assert ids > 0 or first_ms > until - 500, "no id of a span that is durable"
    assert time_of(last) < until, f"{ids} ids, the last one {last} of {until}"
    for _ in range(3):
        error = subject.refused("next", "a")
        assert error.code == "state_io", error
        assert subject.micros > 1_400_000, f"bounded by 1,500 ms, took {subject.micros} us"
    where.write("disk", "ok")
    wait_for(lambda: subject.stats("a")["until"] > until, "a renewal after the disk recovered")
    subject.run("a", 2_000)
    return f"{ids} ids of a span"


@test("a disk that fails: state_io with the path, durable ids go on, and it recovers")
def _():
    where = place()
    subject = Serve(before=stalled(where)).open("a", *where.options(worker=1))
    subject.run("a", 1_500)
    where.write("disk", "eio")
    try:
        subject.run("a", 1_000 * NEVER_S)
        raise AssertionError("ids go on on a disk that fails")
    except Refused as error:
        assert error.code == "state_io" and str(where.file(1)) in str(error), error
    where.write("disk", "ok")
    last = subject.recovered("a")[0]
    where.write("disk", "eio")
    subject.kill()
    again = Serve(before=stalled(where, "eio"))
    error = again.refused("open", "a", *where.options(worker=1))
    assert error.code == "state_io" and str(where.file(1)) in str(error), error
    where.write("disk", "ok")
    again.do("open", "a", *where.options(worker=1))
    assert again.ids("a")[0] > last


@test("a disk that hangs: open, close and exit are bounded")
def _():
    where = place()
    bounded = {"state": where.unsynced("state"), "timeout_ms": 2_000}
    subject = Serve(before=stalled(where)).open("a", *where.options(worker=1, **bounded))
    subject.ids("a")
    where.write("disk", "hang")
    slow = []
    for words in (
        ["close", "a"],
        ["open", "b", *where.options(worker=2, **bounded)],
        ["open", "c", *where.options(worker=1, **bounded)],
    ):
        subject.send(*words)
        answered = wait_readable(subject.process.stdout, NEVER_S)
        if not answered:
            slow.append(f"{words[0]} {words[1]}: no answer after {NEVER_S} s")
            where.write("disk", "ok")
            try:
                subject.answer()
            except Refused:
                pass
            where.write("disk", "hang")
            continue
        try:
            subject.answer()
        except Refused as error:
            if error.code not in ("state_io", "worker_in_use"):
                slow.append(str(error))
    assert not slow, "; ".join(slow)


def wait_readable(file, seconds):
    return bool(select.select([file], [], [], seconds)[0])


@test("a disk that hangs for one generator does not stop another of the same process")
def _():
    where = place()
    subject = Serve(before=stalled(where)).open("a", *where.options(worker=1, state="one"))
    subject.do("open", "b", *where.options(worker=2, state="two"))
    subject.run("a", 300)
    subject.run("b", 300)
    where.write("disk", f"hang {where.dir}/one/")
    # Who waited for the other's disk would wait for ever.
    subject.until_renewed("b", 2)
    where.write("disk", "ok")
    subject.run("a", 300)


@test("a disk that hangs under a lease: this lease and another one of the process are renewed")
def _():
    pool = Pool(lease_ms=20_000)
    where, state = pool.where, pool.where.unsynced
    subject = Serve(before=stalled(where))
    for handle in ("one", "two"):
        subject.open(handle, *where.options(worker=pool.url(), state=state(handle), timeout_ms=10_000))
        subject.ids(handle)
    where.write("disk", f"hang {state('one')}/")
    try:
        subject.run("one", 1_000 * NEVER_S)
    except Refused as error:
        assert error.code == "state_io", error
    # Nobody calls, and the leases of now would end.
    ends = {worker: row["until_ms"] for worker, row in pool.held().items()}
    renewed = lambda: all(pool.held()[worker]["until_ms"] > end + 10_000 for worker, end in ends.items())
    wait_for(renewed, "the renewal of both leases")
    where.write("disk", "ok")
    for handle in ("one", "two"):
        subject.run(handle, 500)
    given = {worker: len(begins) for (_, worker), begins in pool.spans().items()}
    assert len(given) == 2 and {*given.values()} == {1}, f"a lease was lost: {given}"


@test("a slow disk, 200 ms a write: spans are renewed before they end")
def _():
    where = place()
    subject = Serve(before=stalled(where)).open("a", *where.options(worker=1))
    where.write("disk", "slow 200")
    subject.until_renewed("a", 3)
    where.write("disk", "slow 20")
    eight = [Serve(before=[*stalled(where, "slow 20")]) for _ in range(8)]
    for each in eight:
        each.send("open", "a", *where.options(worker="10-17"))
    got = sorted(each.answer() for each in eight)
    assert got == [str(worker) for worker in range(10, 18)], got
