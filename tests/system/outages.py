"""A source that is down and comes back: who waits is served, and it is not flooded."""

import time

from harness import ENDLESS, NEVER_S, place, test, wait_for
from servers import FakeServer
from subjects import Tags, words

ASKING = {**ENDLESS, "request_timeout_ms": 60_000, "connect_timeout_ms": 60_000}


def settled(subject, fetches=2):
    """The stats, once this many segments came: with the second one there are two."""
    end = time.monotonic() + NEVER_S
    while (stats := subject.stats())["fetches"] < fetches:
        assert time.monotonic() < end, stats
        time.sleep(0.01)
    return stats


@test("10,000 tags meet a returning server: all have their ids, and no more at once than connections")
def _():
    source, where = FakeServer(), place()
    subject = Tags().open("a", *words(where, servers=source.url, adaptive="no", **ASKING))
    source.fault({"status": 500, "body": "down"})
    source.forget()
    begun = time.monotonic()
    subject.do("crowd", "a", "shop-", 10_000, 1)
    time.sleep(2)
    # It was the source that they waited for.
    wait_for(lambda: source.report()["total"] >= 2, "two requests while it was down")
    seen, took = source.report()["total"], time.monotonic() - begun
    assert seen <= 5 * took + 5, f"a source that is down saw {seen} requests in {took:.1f} s: 5 a second are allowed"
    source.clear()
    source.forget()
    ids, distinct, errors, *error = subject.do("crowd-done", NEVER_S * 1000).split(" ", 3)
    assert (int(ids), int(distinct), int(errors)) == (10_000, 10_000, 0), f"{ids} ids, {errors} errors: {error}"
    seen = source.report()
    assert seen["most_at_once"] <= 4, f"{seen['most_at_once']} requests at once"
    return f"{ids} ids, {seen['total']} requests"
