"""Sources that are slow, down, or back: what is buffered continues, who waits is served at once, nobody is stormed."""

import time

from harness import NEVER_S, Machine, place, test
from servers import FakeServer
from subjects import LANGUAGES, Refused, Tags, words

DOWN = {"status": 500, "body": "down"}
PATIENT = {"timeout_ms": 60_000, "request_timeout_ms": 500, "connect_timeout_ms": 200}


def in_memory(where, **more):
    """Options of segments whose marks wait for no disk: it is the source that keeps them waiting here."""
    return words(where, state=where.unsynced("state"), **more)


def settled(subject, fetches=2):
    """The stats, once this many segments came: with the second one there are two."""
    end = time.monotonic() + NEVER_S
    while (stats := subject.stats())["fetches"] < fetches:
        assert time.monotonic() < end, stats
        time.sleep(0.01)
    return stats


for _language in LANGUAGES:

    @test(f"a source of 200 ms and a load that its step is right for: no call waits, in {_language}", sleeps=True)
    def _(language=_language):
        source = FakeServer()
        source.fault({"delay_ms": 200})
        options = in_memory(place(), servers=source.url, step=500, adaptive="no")
        subject = Tags(language).open("a", *options)
        # More than the tenth after which the second one is asked for.
        count, slowest = len(subject.next(count=60)), 0
        # Segments are used up whole, but for some ids, while the source answers, and then it is waited for: the load is
        # right however slow the machine is. That the next one was asked for in time is what this sees.
        for turn in range(8):
            before = settled(subject, turn + 2)
            subject.next(count=before["left"] - 50)
            slowest = max(slowest, subject.micros)
            after, count = subject.stats(), count + before["left"] - 50
            assert after["waits"] == before["waits"], f"{after['waits'] - before['waits']} calls waited after {count} ids"
            assert after["failures"] == 0, after
        assert count > 3_000, f"{count} ids"
        return f"{count} ids, {before['left'] - 50} at once in {slowest} us at most"

    @test(f"an outage: bridged by what is buffered, then segment_unavailable, then ids again, in {_language}")
    def _(language=_language):
        source = FakeServer()
        bounds = {"timeout_ms": 1_500, "connect_timeout_ms": 200}
        where = place()
        options = in_memory(where, servers=source.url, step=1000, adaptive="no", **bounds)
        subject = Tags(language).open("a", *options)
        subject.next(count=110)
        settled(subject)
        for how in ("refused", "hangs") if language == "rust" else ("refused",):
            before = subject.stats()
            source.dead(how)
            count, _, _, last = subject.run(800, 3_000)
            after = subject.stats()
            assert after["waits"] == before["waits"], f"{after['waits'] - before['waits']} of {count} calls waited"
            left = subject.take(after["left"])
            assert left == list(range(last + 1, last + 1 + len(left))), "not what was buffered"
            with Machine(where.dir) as machine:
                error = subject.refused("next", "a", "order")
                assert error.code == "segment_unavailable" and source.url in str(error), error
                took = subject.micros
                assert 1_450_000 < took < machine.bound(2_100_000), f"bounded by 1,500 ms, took {took} us, {machine}"
                begun = source.back()
                while True:
                    try:
                        first = subject.next()[0]
                        break
                    except Refused:
                        # It had begun before.
                        took = (time.monotonic() - begun) * 1e6
                        assert took < machine.bound(2_500_000), f"no id for {took} us with the source back, {machine}"
            assert first > left[-1], f"{first} after {left[-1]}"
            subject.next(count=110)
            settled(subject)


def crowded(tags, calls, down, seconds, bound, **more):
    """Calls that wait while the source is down: all have their id within `bound` seconds of its return, or, where this
    machine takes more than half of that for so many from a source that is well, within twice that time."""
    source, where = FakeServer(), place()
    subject = Tags().open("a", *in_memory(where, servers=source.url, adaptive="no", **PATIENT, **more))
    if tags == 1_000:
        begun = int(subject.do("crowd", "a", "warm-", tags, calls))
        last_us = int(subject.do("crowd-done", 20_000).split()[3])
        bound = max(bound, 2 * (last_us - begun) / 1e6)
    down(source)
    source.forget()
    subject.do("crowd", "a", "shop-", tags, calls)
    time.sleep(seconds)
    seen = source.report()
    assert seen["largest_rate"] <= 5, f"a source that is down saw {seen['largest_rate']} requests a second"
    # Else it was not the source that they waited for.
    assert seen["total"] >= 2 or down is not fails, f"{seen['total']} requests while it was down"
    # The monotonic clock is the same in all processes.
    back = source.back()
    source.clear()
    source.forget()
    subject.send("crowd-done", 40_000)
    ids, distinct, errors, last_us, *error = subject.answer().split(" ", 4)
    took = int(last_us) / 1e6 - back
    assert (int(ids), int(errors)) == (tags * calls, 0), f"{ids} ids, {errors} errors: {error}"
    assert int(distinct) == tags * calls, f"{distinct} of {ids} differ"
    assert took < bound, f"the last id came {took:.2f} s after the source's return"
    seen = source.report()
    requests, at_once = seen["total"], seen["most_at_once"]
    return f"the last of {ids} ids {took:.2f} s after the return, {requests} requests, {at_once} at once"


def fails(source):
    source.fault(DOWN)


def refuses(source):
    source.dead("refused")


def hangs(source):
    source.dead("hangs")


for _down in (fails, refuses, hangs):

    @test(f"10,000 calls of one tag wait for a source that {_down.__name__}: one request, and ids within 1 s")
    def _(down=_down):
        # One answer is enough for all of them, and they are no tenth of it.
        note = crowded(1, 10_000, down, seconds=2, bound=1.0, step=200_000)
        assert ", 1 requests" in note, note
        return note

    @test(f"1,000 tags wait for a source that {_down.__name__}: ids within 1 s of its return", alone=True)
    def _(down=_down):
        return crowded(1_000, 1, down, seconds=2, bound=1.0)


@test("10,000 tags meet a returning server: all have their ids, and no more at once than connections")
def _():
    note = crowded(10_000, 1, fails, seconds=2, bound=30.0)
    at_once = int(note.split()[-3])
    assert at_once <= 4, note
    return note


for _how in ("refused", "hangs"):

    @test(f"fail-over, the first of three {_how}: at most one connect_timeout_ms, once")
    def _(how=_how):
        dead, others, where = FakeServer(), [FakeServer(), FakeServer()], place()
        for nth, source in enumerate([dead, *others]):
            # As one database has it: they give nothing twice.
            source.do("tag", tag="order", next=1 + 10_000_000 * nth)
        urls = ",".join(source.url for source in [dead, *others])
        options = in_memory(where, servers=urls, step=10, adaptive="no", timeout_ms=5000, connect_timeout_ms=400)
        subject = Tags().open("a", *options)
        ids, slow, end = subject.take(1000), [], time.monotonic() + 3
        dead.dead(how)
        while time.monotonic() < end:
            ids += subject.take(1000)
            if subject.micros > 250_000:
                slow.append(subject.micros)
            time.sleep(0.02)
        assert len(ids) == len({*ids}) and ids == sorted(ids), "an id came twice, or out of order"
        assert len(slow) <= 1 and max(slow, default=0) < 650_000, f"slow calls: {slow} us"
        told = subject.do("servers", "a")
        assert dead.url in told, f"the stats do not tell of the dead server: {told}"
        return f"{len(ids)} ids, the slowest call {max(slow, default=0)} us"
