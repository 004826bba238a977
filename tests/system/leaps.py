"""A clock that leaps years ahead: for ten seconds, and for good."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from harness import now_ms, place, record, test, time_of
from subjects import LANGUAGES, Serve
from tricks import faketime

YEARS = 3650 * 86_400
# Far from the years of the leap, and from any time that a busy machine needs.
NEAR_MS = 600_000


def leapt():
    """A subject's environment, whose clock leaps when the file `clock` of the place says so."""
    where = place()
    return where, faketime(FAKETIME_TIMESTAMP_FILE=str(where.write("clock", "+0")))


def near_now(moment_ms, what):
    away = moment_ms - now_ms()
    assert abs(away) < NEAR_MS, f"{what} is {away} ms away from the clock before the leap"


CLOCKS = "import time; print(time.time(), time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME))"


def leap(where, env):
    """Has the clock leap, and sees that it does, and that no other clock does: else nothing was tried."""
    where.write("clock", f"+{YEARS}")
    done = subprocess.run([sys.executable, "-c", CLOCKS], env=env, capture_output=True, text=True, check=True)
    wall, *others = map(float, done.stdout.split())
    assert abs(wall - time.time() - YEARS) < 60, f"the clock did not leap: it reads {wall}"
    for clock, false in zip((time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME), others, strict=True):
        assert abs(false - time.clock_gettime(clock)) < 60, f"clock {clock} leapt too: it reads {false}"


def until_of(where, worker):
    """Where the record of a worker id ends, Unix milliseconds."""
    return record(where.file(worker))["until_ms"]


def leap_for_ten_seconds(language, **rules):
    where, env = leapt()
    subject = Serve(language, env=env).open("a", *where.options(worker=8, **rules))
    _, _, _, last = subject.run("a", 1_000, 5_000)
    renewals = subject.stats("a")["renewals"]
    leap(where, env)
    for second in range(10):
        _, _, first, leaping = subject.run("a", 1_000, 5_000)
        assert first > last, f"second {second} of the leap: {first} after {last}"
        near_now(time_of(leaping), "an id")
        near_now(until_of(where, 8), "the record's end")
        near_now(record(where.file(8))["granted_at_ms"], "the record's clock")
        last = leaping
    assert subject.stats("a")["renewals"] > renewals, "no span was renewed during the leap"
    # Claimed by a process that knows better, and by its children.
    subject.do("open", "b", *where.options(worker="9-12", **rules))
    near_now(time_of(subject.ids("b")[0]), "an id of a generator opened in the leap")
    if language != "node":
        assert subject.do("forks", "b", 3) == "6 6 0"
    made = [worker for worker in range(9, 13) if where.file(worker).exists()]
    assert len(made) > (language != "node"), made
    for worker in made:
        near_now(until_of(where, worker), f"the end of the record of worker id {worker}, made in the leap")
    where.write("clock", "+0")
    _, _, first, back = subject.run("a", 1_000, 5_000)
    assert first > last, f"back: {first} after {last}"
    near_now(time_of(back), "an id after the leap")
    subject.kill()
    near_now(until_of(where, 8), "the record's end")
    # Started again under a clock that knows nothing of a leap.
    again = Serve(language)
    again.do("open", "a", *where.options(worker=8, **rules))
    fresh = again.ids("a")[0]
    assert fresh > back, f"{fresh} after {back}: began below ids issued"
    near_now(time_of(fresh), "an id of the restart")
    again.quit()


for _language in LANGUAGES:

    @test(f"a leap of ten years for 10 s: ids go on, no record is poisoned, in {_language}")
    def _(language=_language):
        leap_for_ten_seconds(language)


@test("a leap of ten years for 10 s under the rule to wait for the clock")
def _():
    leap_for_ten_seconds("rust", on_clock_backwards="wait")


def leap_for_good(language):
    where, env = leapt()
    subject = Serve(language, env=env).open("a", *where.options(worker=8))
    _, _, _, last = subject.run("a", 1_000, 20_000)
    begun = time.monotonic()
    leap(where, env)
    last = subject.ids("a")[0]
    seen = time.monotonic()

    def run_until(moment):
        nonlocal last
        while (left := round((moment - time.monotonic()) * 1000)) > 0:
            _, _, first, end = subject.run("a", min(left, 1_000), 20_000)
            assert first > last, f"{first} after {last}"
            last, until = end, until_of(where, 8)
            # Of what is later nothing is said: the leap may be believed by then.
            if time.monotonic() < begun + 58:
                near_now(time_of(last), "an id in the first 58 s of the leap")
                near_now(until, "the record's end in the first 58 s of the leap")

    # It is counted from when the subject saw it.
    run_until(seen + 62)
    ahead = subject.ids("a")[0]
    near_now(time_of(ahead) - YEARS * 1000, "an id after 62 s of the leap")
    assert ahead > last
    subject.run("a", 500, 20_000)
    last = subject.ids("a")[0]
    subject.kill()
    again = Serve(language, env=env).open("a", *where.options(worker=8))
    fresh = again.ids("a")[0]
    assert fresh > last, f"{fresh} after {last}: began below ids issued"
    near_now(time_of(fresh) - YEARS * 1000, "an id of the restart")
    again.quit()


@test("a leap of ten years that stays for 61 s is followed, in all languages", long=True)
def _():
    with ThreadPoolExecutor(len(LANGUAGES)) as pool:
        list(pool.map(leap_for_good, LANGUAGES))
