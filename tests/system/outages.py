"""Sources that are slow, down, or back: what is buffered continues, who waits is served at once, none is flooded."""

import time

from harness import ENDLESS, NEVER_S, place, test
from servers import FakeServer
from subjects import LANGUAGES, Tags, words

DOWN = {"status": 500, "body": "down"}
ASKING = {**ENDLESS, "request_timeout_ms": 500, "connect_timeout_ms": 200}


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

    @test(f"a source of 200 ms and a load that its step is right for: no call waits, in {_language}")
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
            error = subject.refused("next", "a", "order")
            assert error.code == "segment_unavailable" and source.url in str(error), error
            assert subject.micros > 1_450_000, f"bounded by 1,500 ms, took {subject.micros} us"
            source.back()
            first = subject.recovered()[0]
            assert first > left[-1], f"{first} after {left[-1]}"
            subject.next(count=110)
            settled(subject)


def crowded(tags, calls, down, seconds, **more):
    """Calls that wait while the source is down: all have their id once it is back."""
    source, where = FakeServer(), place()
    subject = Tags().open("a", *in_memory(where, servers=source.url, adaptive="no", **ASKING, **more))
    if tags == 1_000:
        subject.do("crowd", "a", "warm-", tags, calls)
        subject.do("crowd-done", NEVER_S * 1000)
    down(source)
    source.forget()
    begun = time.monotonic()
    subject.do("crowd", "a", "shop-", tags, calls)
    time.sleep(seconds)
    seen, took = source.report()["total"], time.monotonic() - begun
    assert seen <= 5 * took + 5, f"a source that is down saw {seen} requests in {took:.1f} s: 5 a second are allowed"
    # Else it was not the source that they waited for.
    assert seen >= 2 or down is not fails, f"{seen} requests while it was down"
    source.back()
    source.clear()
    source.forget()
    ids, distinct, errors, *error = subject.do("crowd-done", NEVER_S * 1000).split(" ", 3)
    assert (int(ids), int(errors)) == (tags * calls, 0), f"{ids} ids, {errors} errors: {error}"
    assert int(distinct) == tags * calls, f"{distinct} of {ids} differ"
    seen = source.report()
    return f"{ids} ids, {seen['total']} requests, {seen['most_at_once']} at once"


def fails(source):
    source.fault(DOWN)


def refuses(source):
    source.dead("refused")


def hangs(source):
    source.dead("hangs")


for _down in (fails, refuses, hangs):

    @test(f"10,000 calls of one tag wait for a source that {_down.__name__}: one request, and ids when it is back")
    def _(down=_down):
        # One answer is enough for all of them, and they are no tenth of it. It may come before requests are counted.
        note = crowded(1, 10_000, down, seconds=2, step=200_000)
        assert int(note.split()[2]) <= 1, note
        return note

    @test(f"1,000 tags wait for a source that {_down.__name__}: all have ids when it is back")
    def _(down=_down):
        return crowded(1_000, 1, down, seconds=2)


@test("10,000 tags meet a returning server: all have their ids, and no more at once than connections")
def _():
    note = crowded(10_000, 1, fails, seconds=2)
    assert int(note.split()[-3]) <= 4, note
    return note


for _how in ("refused", "hangs"):

    @test(f"fail-over, the first of three {_how}: ids go on, and the stats tell of it")
    def _(how=_how):
        dead, others, where = FakeServer(), [FakeServer(), FakeServer()], place()
        for nth, source in enumerate([dead, *others]):
            # As one database has it: they give nothing twice.
            source.do("tag", tag="order", next=1 + 10_000_000 * nth)
        urls = ",".join(source.url for source in [dead, *others])
        options = in_memory(where, servers=urls, step=10, adaptive="no", **ASKING)
        subject = Tags().open("a", *options)
        ids, taken, end = subject.take(1000), 0, time.monotonic() + 3
        dead.dead(how)
        while time.monotonic() < end or taken < 20:
            ids, taken = ids + subject.take(1000), taken + 1
            time.sleep(0.02)
        assert len(ids) == len({*ids}) and ids == sorted(ids), "an id came twice, or out of order"
        told = subject.do("servers", "a")
        assert dead.url in told, f"the stats do not tell of the dead server: {told}"
        return f"{len(ids)} ids"
