"""`file:` sources: counters that processes of a host share, killed, starved, damaged and lost."""

import fcntl
import os
import random
import shutil
import time
from collections import Counter

from directories import NOBODY
from disks import fill, mounted
from harness import NEVER_S, Skip, assert_distinct, need, place, test
from subjects import MIXED, RUST, Refused, Stream, Tags, words

MARKER = "leafid-file.marker"


def on_file(where, nth=0, **more):
    """Options of the n-th process: each has a state directory of its own, so that only the counter keeps them apart."""
    return words(where, state=f"state-{nth}", servers=f"file:{where.dir}/counters", adaptive="no", **more)


def made(where, tags="order:1:10", **more):
    """A subject that has made the directory with these tags."""
    return Tags().open("a", *on_file(where, create="yes", tags=tags, **more))


def counter_files(where):
    return sorted((where.dir / "counters").glob("tag-*.counter"))


def contents(where):
    return {path.name: path.read_bytes() for path in (where.dir / "counters").iterdir()}


def never(call):
    """The error of a call that must be refused."""
    try:
        answer = call()
    except Refused as error:
        return error
    raise AssertionError(f"it was not refused: {answer}")


@test("processes in each language on one file: directory, killed at random: no id twice")
def _():
    where = place()
    runs, spawned = [], 0
    # All of them at once make the directory and the counter.
    options = {"create": "yes", "tags": "order:1:10", "batch": 7, "pause_us": 300}

    def start(language):
        nonlocal spawned
        spawned += 1
        # Some share a state directory.
        method = random.choice(("next", "take"))
        return Stream(language, on_file(where, spawned % 4, **options, method=method))

    languages = [*MIXED, "rust", "c"]
    living = [start(language) for language in languages]
    end = time.monotonic() + 4
    while time.monotonic() < end or sum(len(ids) for ids, _ in runs) <= 3_000 or len(runs) <= 15:
        time.sleep(random.uniform(0.02, 0.15))
        at = random.randrange(len(living))
        # These take longer to start.
        if languages[at] in ("node", "python", "java") and random.random() < 0.7:
            continue
        runs.append((living[at].kill(), living[at].errors))
        living[at] = start(languages[at])
    for stream in living:
        runs.append((stream.kill(), stream.errors))
    wrong = [errors for _, errors in runs if "error" in errors or "panicked" in errors]
    assert not wrong, wrong[0]
    assert_distinct(ids for ids, _ in runs)
    total = sum(len(ids) for ids, _ in runs)
    # Whatever was given lies below where the counter stands.
    after = Tags().open("a", *on_file(where, 99))
    assert after.next()[0] > max(max(ids) for ids, _ in runs if ids)
    return f"{total} ids in {len(runs)} runs"


def stage(where):
    """How far the making of the directory had come."""
    counters = where.dir / "counters"
    if not counters.exists():
        return "nothing"
    if not (counters / MARKER).exists():
        return "a directory"
    return f"{len(counter_files(where))} counters"


@test("processes killed while they make the directory and its counters: the next ones make them right")
def _():
    stages, longest = Counter(), 0.004
    for turn in range(50):
        where = place()
        options = on_file(where, create="yes", tags="order:1:10,shop:500:10", count=25)
        streams = [Stream("rust", [*options, f"tag={tag}"]) for tag in ("order", "shop")]
        wait_until = time.monotonic() + random.uniform(0, longest)
        # From where the directory is made on; every fourth from the start.
        while turn % 4 and not (where.dir / "counters").exists():
            wait_until = time.monotonic() + random.uniform(0, longest)
        while time.monotonic() < wait_until:
            pass
        for stream in streams:
            stream.process.kill()
        ids = {"order": streams[0].end(), "shop": streams[1].end()}
        stages[stage(where)] += 1
        # Half of them have made it all, however long this machine takes for it.
        longest *= 0.9 if len(counter_files(where)) == 2 else 1.1
        for stream in streams:
            assert stream.errors == "" or stream.errors.startswith("ready"), stream.errors
        subject = made(where, tags="order:1:10,shop:500:10")
        for tag, first in (("order", 1), ("shop", 500)):
            fresh = subject.next(tag=tag, count=12)
            assert fresh[0] >= first and not {*fresh} & {*ids[tag]}, f"{tag}: {fresh} after {ids[tag]}"
        subject.quit()
        where.remove()
    assert len(stages) >= 3, f"killed only where there was {stages}"
    return ", ".join(f"{often} times at {what}" for what, often in sorted(stages.items()))


@test("a full disk (tmpfs): counters go on, a new one is refused and made when there is space")
def _():
    where = place()
    mount = f"mount -t tmpfs -o size=256k tmpfs {where.dir}/state"
    subject, inside = mounted(where, mount, Tags)
    options = words(where, state=where.unsynced("marks"), servers=f"file:{where.dir}/state/counters", adaptive="no", timeout_ms=10_000)
    subject.open("a", *options, "create=yes", "tags=order:1:10,shop:1:10")
    ids = subject.next(count=15)
    fill(inside)
    ids += subject.next(count=200)
    assert ids == list(range(1, 216)), "ids of one process have gaps"
    before = sorted(os.listdir(f"{inside}/counters"))
    error = subject.refused("next", "a", "shop")
    assert error.code == "state_io" and "space" in str(error) and f"{where.dir}/state/counters" in str(error), error
    assert sorted(os.listdir(f"{inside}/counters")) == before, "something was left behind"
    assert subject.next(count=20)[0] == 216
    os.truncate(f"{inside}/filler", 0)
    assert subject.recovered(tag="shop") == [1]
    assert subject.next()[0] == 236


@test("a directory that another user may only read: state_io with the path, nothing is made, and recovered by a chmod")
def _():
    if os.geteuid() != 0:
        raise Skip("not root: another user is needed")
    where = place()
    owner = made(where)
    ids = owner.next(count=5)
    owner.quit()
    counters, before = where.dir / "counters", contents(where)
    counters.chmod(0o755)
    for path in counters.iterdir():
        path.chmod(0o644)
    setpriv = need("setpriv", "util-linux")
    # Its program, and its own state, where that user can reach them.
    shutil.copy(RUST, where.dir / "subject")
    (where.dir / "state-7").mkdir(mode=0o777)
    os.chown(where.dir / "state-7", NOBODY, NOBODY)
    other = Tags(
        before=[setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"],
        program=[str(where.dir / "subject")],
        cwd="/",
    )
    other.open("a", *on_file(where, 7, timeout_ms=1000))
    error = other.refusal(code="state_io")
    assert error.code == "state_io" and str(counters) in str(error) and "ermission denied" in str(error), error
    assert contents(where) == before, "something was written"
    for path in counters.iterdir():
        path.chmod(0o666)
    assert other.recovered()[0] > max(ids)


def fetched(subject):
    """An id and those after it, or the error of the first fetch, without the wait of a call for a better answer."""
    ids, end = subject.at_hand(1), time.monotonic() + NEVER_S
    while not ids:
        error = subject.stats()["error"]
        if error:
            raise Refused(error)
        assert time.monotonic() < end, "a fetch does not end"
        time.sleep(0.002)
        ids = subject.at_hand(1)
    return ids + subject.next(count=24)


def flipped(data):
    for _ in range(random.choice((1, 1, 5, 200))):
        at = random.randrange(len(data))
        data[at] ^= 1 << random.randrange(8)
    return data


def spoil(data, other):
    """The bytes of a counter as something has damaged them."""
    half = len(data) // 2
    return random.choice(
        (
            lambda: flipped(data),
            lambda: flipped(data),
            lambda: data[: random.randrange(len(data))],
            lambda: bytes(len(data)),
            lambda: bytes(half) + data[half:],
            lambda: data[:half] + bytes(half),
            lambda: data[half:] + data[:half],
            lambda: b"",
            lambda: data + b"more",
            lambda: other,
            lambda: random.randbytes(len(data)),
        )
    )()


@test("a counter flipped, cut, zeroed or swapped in 80 ways: refused and left alone, or above all ids")
def _():
    refused, subject = 0, Tags()
    for turn in range(80):
        where = place()
        options = on_file(where, create="yes", tags="order:1:10,shop:1:10")
        subject.open("a", *options)
        ids = subject.next(count=random.choice((5, 15, 45)))
        ids += subject.take(subject.stats()["left"] or 1)
        subject.next(tag="shop", count=3)
        subject.do("close", "a")
        paths = sorted(counter_files(where), key=lambda path: b'"order"' not in path.read_bytes())
        good = paths[0].read_bytes()
        bad = bytes(spoil(bytearray(good), paths[1].read_bytes()))
        paths[0].write_bytes(bad)
        subject.open("a", *on_file(where, 1))
        try:
            fresh = fetched(subject)
            assert min(fresh) > max(ids), f"turn {turn}: {fresh[0]} after {max(ids)}"
        except Refused as error:
            refused += 1
            assert error.code in ("state_corrupt", "state_mismatch"), f"turn {turn}: {error}"
            assert str(paths[0]) in str(error), f"turn {turn}: {error}: does not name {paths[0]}"
            assert paths[0].read_bytes() == bad, f"turn {turn}: the damaged file was written"
        subject.do("close", "a")
        where.remove()
    assert 10 < refused < 80, f"{refused} refused"
    return f"{refused} refused, {80 - refused} went on above"


@test("a counter that somebody else holds locked: bounded, reported, and used when it is free")
def _():
    where = place()
    subject = made(where, timeout_ms=700)
    subject.recovered(count=2)
    subject.take(subject.stats()["left"])
    with open(counter_files(where)[0], "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        time.sleep(0.05)
        error = never(lambda: [subject.next() for _ in range(30)])
        assert error.code == "segment_unavailable", error
        assert str(where.dir) in str(error) or "not answered" in str(error), error
        assert subject.micros > 600_000, f"bounded by 700 ms, took {subject.micros} us"
    ids = subject.recovered(count=30)
    assert ids == sorted({*ids})
