"""The rule to wait for the clock: 5 ms are waited for, 6 ms are refused, a restart waits for the record."""

import re
import time

from harness import PATIENT, now_ms, place, record, test, time_of
from subjects import LANGUAGES, Serve
from tricks import faketime, frozen

WAIT = {"on_clock_backwards": "wait", "random_start": 0, **PATIENT}
LONGEST_SPAN_MS = 3_000


def five_and_six(language):
    """On a clock that stands still until it is set, so that no time passes between its step and the call."""
    where = place()
    start = now_ms()
    clock = where.write("clock", frozen(start))

    def set_clock(back):
        where.write("clock", frozen(start - back))

    subject = Serve(language, env=faketime(FAKETIME_TIMESTAMP_FILE=str(clock)))
    subject.do("open", "a", *where.options(worker=3, **WAIT))
    last = subject.ids("a", 2)[-1]
    assert time_of(last) == start, f"the clock does not stand at {start}: {time_of(last)}"
    for back in (6, 7, 1_000, 6):
        set_clock(back)
        error = subject.refused("next", "a")
        assert error.code == "clock_backwards", f"{back} ms back: {error}"
        # Its own numbers: the last id's time and what the clock reads.
        times = [int(word) for word in re.findall(r"\b\d{13}\b", str(error))]
        assert sorted(times[:2]) == [start - back, start], f"{back} ms back at {start}: {error}"
    for back in (5, 1, 5):
        set_clock(back)
        if language == "node":
            # The JavaScript thread waits 2 ms at most; then it says so, and may ask again.
            error = subject.refused("next", "a") if back > 2 else None
            assert back <= 2 or error.code == "would_block", error
        else:
            subject.send("next", "a")
            time.sleep(0.1)
            assert not subject.answered(), f"{back} ms back: answered {subject.answer()}"
        set_clock(0)
        if language == "node":
            subject.send("next", "a")
        fresh = int(subject.answer())
        assert fresh > last and time_of(fresh) == start, f"{back} ms back: {fresh} after {last}"
        last = fresh
    # Ids continue with the clock.
    set_clock(-7)
    assert time_of(subject.ids("a")[0]) == start + 7
    subject.kill()


for _language in LANGUAGES:

    @test(f"under the rule to wait 5 ms back wait and 6 ms back are refused, in {_language}")
    def _(language=_language):
        five_and_six(language)


def restart(language):
    where = place()
    # The second one is up before the first is killed: its start takes nothing of what is waited for.
    subject, again = Serve(language), Serve(language)
    again.do("open", "b", *where.options(worker=4, **PATIENT))
    subject.do("open", "a", *where.options(worker=3, **WAIT))
    subject.run("a", 3_500)
    subject.until_renewed("a")
    last = subject.ids("a")[0]
    subject.kill()
    until = record(where.file(3))["until_ms"]
    left = until - now_ms()
    assert left <= LONGEST_SPAN_MS, f"the record ends in {left} ms"
    again.do("open", "a", *where.options(worker=3, **WAIT))
    early, took = until - now_ms(), again.micros / 1000
    assert early <= 0, f"the start did not wait: {early} ms before the record's end"
    fresh = again.ids("a")[0]
    # Leaf's rule never leads the clock.
    assert fresh > last and until <= time_of(fresh) <= now_ms(), f"{fresh} after {last}"
    # The exact end that a clean close writes is no wait.
    again.do("close", "a")
    assert record(where.file(3))["until_ms"] <= now_ms(), "a close left an end that is waited for"
    again.do("open", "a", *where.options(worker=3, **WAIT))
    assert again.ids("a")[0] > fresh
    again.kill()
    # A record further ahead than any span is not waited for.
    past = Serve(language, env=faketime(FAKETIME="-10"))
    error = past.refused("open", "a", *where.options(worker=3, **WAIT))
    assert error.code == "clock_backwards", error
    past.quit()
    return f"waited {took:.0f} ms for {left} ms"


for _language in LANGUAGES:

    @test(f"under the rule to wait a restart waits for a killed one's record, 3 s at most, in {_language}")
    def _(language=_language):
        return restart(language)
