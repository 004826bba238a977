"""What one host is: networks and processes of one's own, ranges there, and worker ids that move without their record."""

import os
import subprocess
import sys

from harness import Skip, assert_distinct, need_root, place, test
from subjects import LANGUAGES, PYTHON, Refused, Serve, environment, unsynced
from tricks import faketime, frozen, namespace

LEAF_EPOCH_MS = 1_288_834_974_657
WORD = "LEAFID_EXCLUSIVE_RANGE"


def seen_by_the_machine():
    """Whether this test runs where a range is allowed without a word."""
    subject, where = Serve(env=environment(**{WORD: "0"})), place()
    try:
        subject.do("open", "a", *where.options(worker="0-31"))
    except Refused as error:
        raise Skip(f"this runs in a container: {error}") from error
    finally:
        subject.quit()


def apart(*kinds):
    """A command for a process of its own network, or processes, that sees nothing of this machine's other host locks."""
    return [*unsynced(), *namespace(*kinds)]


for _language in LANGUAGES:

    @test(f"two networks of one machine, a directory each, one range: refused without the user's word, in {_language}")
    def _(language=_language):
        seen_by_the_machine()
        where, own = place(), apart("n")
        for turn in range(2):
            subject = Serve(language, before=own, env=environment(**{WORD: "0"}))
            error = subject.refused("open", "a", *where.options(worker="0-31", state=f"state{turn}"))
            assert error.code == "invalid_argument", error
            for said in ("worker is a range", "network namespace of its own", "hostname:NAME", f"{WORD}=1", "lease"):
                assert said in str(error), f"{error}: does not say {said!r}"
            # A number is the user's own choice, as ever.
            assert subject.do("open", "a", *where.options(worker=7 + turn, state=f"state{turn}")) == str(7 + turn)
            subject.quit()
            subject = Serve(language, before=own, env=environment(**{WORD: "1"}))
            assert subject.do("open", "a", *where.options(worker="0-31", state=f"word{turn}")) == "0"
            subject.quit()


@test("processes of a container, in the machine's network or not: a range wants the user's word")
def _():
    for kinds in (("p", "f", "n"), ("p", "f", "n", "m")):
        where = place()
        subject = Serve(before=[*apart(*kinds), *(["--mount-proc"] if "m" in kinds else [])], env=environment(**{WORD: "0"}))
        error = subject.refused("open", "a", *where.options(worker="0-31"))
        assert error.code == "invalid_argument" and f"{WORD}=1" in str(error), error
        subject.kill()
    # Another user sees as much of the machine.
    seen_by_the_machine()


@test("leafid check in a network, or among processes, of its own: a range FAILED without the user's word")
def _():
    seen_by_the_machine()
    for kinds, own in ((("n",), "network"), (("p", "f", "n"), "process")):
        for worker, word, fails in (("0-31", "0", True), ("0-31", "1", False), ("7", "0", False)):
            where = place()
            (where.dir / "state").mkdir()
            check = [PYTHON, "-m", "leafid", "check", "--name", where.name, "--state-dir", where.dir / "state"]
            done = subprocess.run(
                [*apart(*kinds), *check, "--worker", worker],
                env=environment(**{WORD: word}),
                capture_output=True,
                text=True,
            )
            case = f"{kinds} {worker} {word}: {done.stdout}{done.stderr}"
            lines = {line[9:25].strip(): line for line in done.stdout.splitlines()}
            why = f"a {own} namespace of its own"
            assert lines["host lock"].startswith("warning ") and why in lines["host lock"], case
            assert done.returncode == fails and done.stdout.count("FAILED") == fails, case
            if fails:
                failed = lines["file system"]
                assert failed.startswith("FAILED") and why in failed and f"{WORD}=1" in failed, case


@test("two networks of one machine that share a directory for locks: each sees what the other holds")
def _():
    where = place()
    one, two, here = (Serve(before=before, env=environment(**{WORD: "1"})) for before in (apart("n"), apart("n"), ()))
    assert one.do("open", "a", *where.options(worker=7, state="one")) == "7"
    if not os.path.exists(f"/run/lock/leafid-{where.name}-7.lock"):
        raise Skip("no lock file can be made in /run/lock here")
    for other in (two, here):
        error = other.refused("open", "a", *where.options(worker=7, state="two"))
        assert error.code == "worker_in_use" and f"pid {one.pid} " in str(error), error
        assert other.do("open", "b", *where.options(worker="7-9", state="two")) == "8"
        other.do("close", "b")
    one.do("close", "a")
    assert not os.path.exists(f"/run/lock/leafid-{where.name}-7.lock"), "it was left behind"
    assert two.do("open", "a", *where.options(worker=7, state="two")) == "7"
    # What a killed process leaves is taken.
    two.kill()
    assert here.do("open", "a", *where.options(worker=7, state="two")) == "7"
    for subject in (one, here):
        subject.quit()


@test("a user who has nothing to do with the record holds a host lock: named, and a range goes on")
def _():
    need_root("another user is needed")
    seen_by_the_machine()
    where = place()
    (where.dir / "state").mkdir(mode=0o700)
    squat = f"""
import os, socket
os.setuid(65534)
lock = socket.socket(socket.AF_UNIX)
lock.bind("\\0leafid/{where.name}/0")
lock.listen()
print("bound", flush=True)
import sys; sys.stdin.read()
"""
    stranger = subprocess.Popen([sys.executable, "-c", squat], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert stranger.stdout.readline() == "bound\n"
        subject = Serve()
        error = subject.refused("open", "a", *where.options(worker=0))
        assert error.code == "worker_in_use", error
        for said in (f"pid {stranger.pid} ", "user id 65534", "cannot open this record"):
            assert said in str(error), f"{error}: does not say {said!r}"
        assert subject.do("open", "a", *where.options(worker="0-3")) == "1"
        subject.quit()
    finally:
        stranger.stdin.close()
        stranger.wait()
    subject = Serve()
    assert subject.do("open", "a", *where.options(worker=0)) == "0"
    subject.quit()


@test("a worker id that moves to a clock 2 s behind without its record: ids repeat, and with no_record_wait_ms none")
def _():
    told = []
    for wait_ms, until_ms, repeats in ((0, 2_000, True), (3_000, 3_001, False)):
        where = place()
        one = Serve().open("a", *where.options(worker=7, state="one", random_start=0))
        ids = one.ids("a", 4_096)
        one.quit()
        # The next host's clock moves only as it is set: what this machine is slow at takes no time there.
        begun_ms = (ids[0] >> 22) + LEAF_EPOCH_MS - 2_000
        clock = where.write("clock", frozen(begun_ms))
        moved = faketime(FAKETIME_TIMESTAMP_FILE=str(clock), LEAFID_NO_RECORD_WAIT_MS=str(wait_ms))
        words = where.options(worker=7, state="two", random_start=0, timeout_ms=2_500)
        two = Serve(env=moved).open("a", *words)
        if wait_ms:
            error = two.refused("next", "a", 1)
            assert error.code == "clock_backwards" and "no record of worker id 7" in str(error), error
            # Killed in the wait: it is not forgotten.
            two.kill()
            two = Serve(env=moved).open("a", *words)
            for after_ms in (0, wait_ms - 1):
                where.write("clock", frozen(begun_ms + after_ms))
                assert two.refused("next", "a", 1).code == "clock_backwards"
        where.write("clock", frozen(begun_ms + until_ms))
        more = two.ids("a", 4_000)
        two.quit()
        assert_distinct([more])
        both = len({*ids} & {*more})
        assert (both > 0) == repeats, f"{both} ids came twice"
        if wait_ms:
            assert_distinct([ids, more])
            assert (more[0] >> 22) + LEAF_EPOCH_MS >= begun_ms + wait_ms
        told.append(f"{both} of {len(ids)} twice with {wait_ms} ms")
    return ", ".join(told)
