"""keep_unused: what a clean close keeps is used once, by whoever starts first, on this machine, from this file, within
a day; or it is not used at all."""

import random
import re
import shutil
import subprocess
import time
import uuid
from pathlib import Path

from harness import Skip, assert_distinct, place, record, test
from servers import FakeServer
from subjects import Stream, Tags, words
from tricks import namespace

STEP = 1000


def keeping(where, source, state="state", **more):
    machine = Path("/etc/machine-id")
    if not machine.exists() or not re.fullmatch(r"[0-9a-f]{32}\s*", machine.read_text()):
        raise Skip("no machine-id(5), without which nothing is kept: systemd-machine-id-setup makes one")
    return words(where, state=state, servers=source.url, keep="yes", adaptive="no", step=STEP, **more)


def leave_some(where, source, **more):
    """Issues ids, closes cleanly, and answers them. What is left begins right above."""
    subject = Tags().open("a", *keeping(where, source, **more))
    ids = subject.next(count=20)
    subject.do("close", "a")
    subject.quit()
    return ids


def is_usable(state):
    """Whether the kernel's time of the write is the one in it: not where the machine takes too long for the write."""
    [mark] = state.rglob("*.mark")
    return -10 <= mark.stat().st_mtime_ns // 10**6 - record(mark)["kept"]["written_ms"] <= 3


def first_ids(where, source, **more):
    subject = Tags().open("a", *keeping(where, source, **more))
    ids = subject.next(count=30)
    subject.kill()
    return ids


@test("a clone of a machine that was stopped, with its files: what was left is used by no other start of the machine")
def _():
    source, where = FakeServer(), place()
    ids = leave_some(where, source)
    # The same file, unwritten since: only the start of the machine is another.
    boot = where.write("boot", f"{uuid.uuid4()}\n")
    started = [*namespace("m"), "sh", "-c", f'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec "$@"', "sh"]
    subject = Tags(before=started).open("a", *keeping(where, source))
    clones = subject.next(count=30)
    subject.kill()
    assert clones[0] > STEP, f"{clones[0]}: what was left is used by a clone"
    assert_distinct([ids, clones])


@test("what is left, and three processes that start at once, 25 times: one of them uses it")
def _():
    source, where = FakeServer(), place()
    # A disk can take longer for a write than what is left bears.
    state = where.unsynced("state")
    ids, used, usable = [leave_some(where, source, state=state)], 0, 0
    for _ in range(25):
        usable += is_usable(state)
        was = max(map(max, ids))
        options = keeping(where, source, state=state, batch=1, count=5, then="wait")
        streams = [Stream(language, options) for language in ("rust", "rust", "c")]
        for stream in streams:
            assert stream.ready(), stream.errors
        fresh = [list(stream.kill()) for stream in streams]
        used += sum(an_id == was + 1 for stream in fresh for an_id in stream[:1])
        ids += fresh
        ids.append(leave_some(where, source, state=state))
    assert_distinct(ids)
    assert 0 < usable <= used + 5, f"what was left was used in {used} of {usable} rounds"
    return f"used in {used} of {usable} rounds"


@test("starts that are killed at once, or close, in any order, 150 runs: what is left is never used twice")
def _():
    source, where = FakeServer(), place()
    state = where.unsynced("state")
    runs, used, killed_early = [], 0, 0
    for _ in range(150):
        closes = random.random() < 0.5
        count = random.choice((1, 3, 40))
        options = keeping(where, source, state=state, batch=4, count=count, then="close" if closes else "wait")
        streams = [Stream("rust", options) for _ in range(random.choice((1, 1, 2)))]
        if closes:
            for stream in streams:
                stream.process.wait()
        else:
            time.sleep(random.choice((0, random.uniform(0.001, 0.012))))
        for stream in streams:
            ids = stream.kill()
            assert "error" not in stream.errors and "panicked" not in stream.errors, stream.errors
            killed_early += not ids
            # A segment of the source begins at 1, 1001 and so on.
            used += bool(ids) and ids[0] % STEP != 1
            runs.append(ids)
    assert_distinct(runs)
    assert used > 20 and killed_early > 5, f"used {used} times, {killed_early} were killed before their first id"
    return f"{used} runs went on with what was left, {killed_early} were killed before their first id"


def copied(where, how):
    subprocess.run([*how, where.dir / "state", where.dir / "copy"], check=True)


@test("a directory of hard links, and one that was moved: what is left is used once")
def _():
    source, where = FakeServer(), place()
    ids = [leave_some(where, source)]
    copied(where, ["cp", "-al"])
    ids += [first_ids(where, source, state="copy"), first_ids(where, source)]
    ids.append(leave_some(where, source))
    (where.dir / "state").rename(where.dir / "moved")
    ids += [first_ids(where, source, state="moved"), first_ids(where, source), first_ids(where, source, state="copy")]
    assert_distinct(ids)


@test("a copy that is put in the place of the original, whose inode it gets: what is left is not used again")
def _():
    reused = 0
    for _ in range(10):
        source, where = FakeServer(), place()
        ids = [leave_some(where, source)]
        copied(where, ["cp", "-a"])
        # The original uses it, and is gone. A file that comes back within 3 ms of its write is taken for itself.
        ids.append(first_ids(where, source))
        time.sleep(0.02)
        inodes = {path.stat().st_ino for path in (where.dir / "state").rglob("*.mark")}
        shutil.rmtree(where.dir / "state")
        shutil.copytree(where.dir / "copy", where.dir / "state")
        reused += bool(inodes & {path.stat().st_ino for path in (where.dir / "state").rglob("*.mark")})
        ids.append(first_ids(where, source))
        assert_distinct(ids)
    return f"an inode came again {reused} times of 10"


@test("a forked child that ends normally keeps nothing of its parent")
def _():
    source, where = FakeServer(), place()
    subject = Tags("python").open("a", *keeping(where, source))
    ids = [subject.next(count=20)]
    ids.append(list(map(int, subject.do("fork-and-exit", "a", "order", 5).split())))
    other = first_ids(where, source)
    ids += [other, subject.next(count=200)]
    assert_distinct(ids)
    assert len(ids[1]) == 5, ids[1]
    assert ids[1][0] > STEP, f"the child began at {ids[1][0]}"
