"""Clocks that go back, leap and wander."""

import random
import re
import time

from harness import assert_distinct, now_ms, place, test, time_of
from subjects import MIXED, Refused, Serve, Stream
from tricks import faketime, offset

for _language in MIXED:

    @test(f"clock stepped back by 4 s at run time, then killed and started, in {_language}")
    def _(language=_language):
        where = place()
        clock = where.write("clock", "+0")
        env = faketime(FAKETIME_TIMESTAMP_FILE=str(clock))
        subject = Serve(language, env=env).open("a", *where.options(worker=5))
        # Long enough for spans of 3 s.
        subject.run("a", 3_200)
        stepped_ms = now_ms()
        last = subject.ids("a")[0]
        where.write("clock", "-4")
        _, _, after_step, last_after = subject.run("a", 1_000)
        assert after_step > last, f"{after_step} after {last}"
        subject.kill()
        again = Serve(language, env=env)
        again.do("open", "a", *where.options(worker=5))
        fresh = again.ids("a")[0]
        lead = time_of(fresh) - (now_ms() - 4_000)
        assert fresh > last_after, f"{fresh} after {last_after}: began below ids issued"
        # Else it waited for the clock; or all took so long that the clock has come there by itself.
        assert lead > 0 or now_ms() - stepped_ms >= 4_000, f"the restart's first id is {-lead} ms behind its clock"
        again.run("a", 500)
        again.kill()
        return f"the restart's first id is {lead} ms ahead of its clock"


@test("a clock that wanders by 2 s while two threads issue and kills fall: 30 runs")
def _():
    runs = wander(30, lambda: random.uniform(-2, 0), refusals=False)
    return f"{sum(map(len, runs))} ids"


@test("a clock that jumps by up to 8 s either way under kills: refusals, but no duplicate")
def _():
    runs = wander(40, lambda: random.uniform(-8, 8), refusals=True)
    return f"{sum(map(len, runs))} ids in {len(runs)} runs"


@test("clocks that jump, and other rules in each run: refusals, but no duplicate")
def _():
    def rules():
        return random.choice(
            (
                {"on_exhausted": "borrow"},
                {"on_exhausted": "borrow", "max_backwards_ms": 60_000},
                {"on_clock_backwards": "wait"},
                {"on_clock_backwards": "wait", "max_backwards_ms": 10_000},
                {"max_backwards_ms": 100},
                {"max_backwards_ms": 60_000},
                {},
            )
        )

    runs = wander(40, lambda: random.uniform(-4, 4), refusals=True, rules=rules)
    return f"{sum(map(len, runs))} ids in {len(runs)} runs"


def wander(rounds, draw, refusals, rules=dict):
    """Lives of one worker id whose clock is set again every few milliseconds, each ended by a kill."""
    where = place()
    clock = where.write("clock", "+0")
    env = faketime(FAKETIME_TIMESTAMP_FILE=str(clock))
    # A clock that is far behind is waited for.
    runs, more = [], {"timeout_ms": 6_000} if refusals else {}
    # In the runs of a slow machine there are few.
    while len(runs) < rounds or sum(map(len, runs)) <= 10_000:
        turn = len(runs)
        # Only the Rust subject knows all rules.
        language = "rust" if rules is not dict else ("rust", "c")[turn % 2]
        words = where.options(worker=6, threads=2, method=random.choice(("next", "fill")), **{**more, **rules()})
        run = Stream(language, words, env=env, limit=60_000)
        refused = None
        try:
            run.ready()
        except Refused as error:
            refused = error
        end = time.monotonic() + random.uniform(0.1, 0.6)
        while time.monotonic() < end:
            where.write("clock", offset(draw()))
            time.sleep(random.uniform(0.005, 0.08))
        runs.append(run.kill())
        if not refusals:
            assert refused is None, f"run {turn} was refused: {refused}"
            assert run.errors == "", f"run {turn}: {run.errors}"
        else:
            told, lived_ms = run.errors + str(refused or ""), (time.monotonic() - run.begun) * 1000
            late = re.search(r"did not answer within (\d+) ms; see the disk", told)
            known = "clock_backwards" in told or "would_block" in told or late and int(late[1]) <= lived_ms
            assert not told or known, f"run {turn}, of {lived_ms:.0f} ms: {told}"
    assert_distinct(runs)
    return runs


@test("a clock that goes back an hour for a second and returns: ids again at once")
def _():
    where = place()
    clock = where.write("clock", "+0")
    env = faketime(FAKETIME_TIMESTAMP_FILE=str(clock))
    subject = Serve(env=env).open("a", *where.options(worker=8))
    _, _, _, last = subject.run("a", 1_500)
    where.write("clock", "-3600")
    for _ in range(5):
        error = subject.refused("next", "a")
        assert error.code == "clock_backwards", error
        time.sleep(0.2)
    where.write("clock", "+0")
    assert subject.ids("a")[0] > last
    subject.run("a", 2_000)


@test("a clock before the epoch or past the layout's end: an error, no panic, and the record as it was")
def _():
    where = place()
    right = Serve().open("a", *where.options(worker=1))
    ids = right.ids("a")
    right.quit()
    before = where.file(1).read_bytes()
    early = ("before_epoch", "clock_backwards")
    for date, codes, worker in (
        ("@1960-01-01 00:00:00", early, 1),
        ("@1970-01-01 00:00:01", early, 1),
        ("@2005-01-01 00:00:00", early, 1),
        # Without a record of this start of the machine, by which a leap is seen.
        ("@2200-01-01 00:00:00", ("time_exhausted",), 2),
        ("@2290-01-01 00:00:00", ("time_exhausted",), 2),
    ):
        subject = Serve(env=faketime(FAKETIME=date))
        error = subject.refused("open", "a", *where.options(worker=worker))
        assert error.code in codes, f"{date}: {error}"
        assert where.file(1).read_bytes() == before, f"{date}: the record was written"
        subject.quit()
    again = Serve().open("a", *where.options(worker=1))
    assert again.ids("a") > ids
