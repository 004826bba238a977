"""Callers of segments that fork, are closed while they wait, or are many."""

import time

from harness import ENDLESS, assert_none, place, test
from servers import FakeServer
from subjects import Tags, attack, words


@test("forks while four threads take ids from a server: children fetch their own, no id twice")
def _():
    source, where = FakeServer(), place()
    options = words(where, servers=source.url, step=100, adaptive="no", threads=4, takes=400_000, **ENDLESS)
    numbers = attack("burst", [*options, "forks=60", "child_takes=150"])
    assert_none(numbers, "errors", "duplicates", "bad_children")
    assert numbers["processes"] == 61, numbers
    assert source.report()["nonces_repeated"] == 0, "a child sent its parent's nonce"
    return f"{numbers['ids']} ids of {numbers['processes']} processes"


@test("forks while four threads take ids from a file: directory: children fetch their own, no id twice")
def _():
    where = place()
    counters = {"servers": f"file:{where.dir}/counters", "create": "yes", "tags": "order:1:50"}
    options = words(where, **counters, adaptive="no", **ENDLESS)
    options += ["threads=4", "takes=400000", "forks=60", "child_takes=150"]
    numbers = attack("burst", options)
    assert_none(numbers, "errors", "duplicates", "bad_children")
    assert numbers["processes"] == 61, numbers
    return f"{numbers['ids']} ids of {numbers['processes']} processes"


@test("forks while threads take ids, in Python: children fetch their own and end, no id twice")
def _():
    source, where = FakeServer(), place()
    subject = Tags("python").open("a", *words(where, servers=source.url, step=100, adaptive="no"))
    ids, distinct, failed, processes = map(int, subject.do("fork-storm", "a", "order", 25, 3).split())
    assert failed == 0 and ids == distinct and processes == 26, f"{failed} failed, {distinct} of {ids} ids differ"
    return f"{ids} ids of {processes} processes"


@test("1,000 calls that wait for a source that hangs, and a close: all end with closed, at once")
def _():
    source = FakeServer()
    source.fault({"hang": True})
    # A close that waits for an answer would hang.
    subject = Tags().open("a", *words(place(), servers=source.url, request_timeout_ms=3_600_000, **ENDLESS))
    subject.do("crowd", "a", "shop-", 50, 20)
    time.sleep(0.3)
    subject.do("close", "a")
    ids, _, errors, error = subject.do("crowd-done", 600_000).split(" ", 3)
    assert (ids, errors) == ("0", "1000") and error.startswith("closed"), f"{ids} ids, {errors} errors: {error}"


for _source in ("a callback", "a server", "a file: directory"):

    @test(f"10,000 tags of {_source} cost at most 1 KiB each at rest; a close leaves no thread or descriptor", long=True)
    def _(source=_source):
        where, options, tags = place(), {"adaptive": "no"}, 10_000
        if source == "a server":
            options["servers"] = FakeServer().url
        if source == "a file: directory":
            tags, options["servers"] = 3_000, f"file:{where.dir}/counters"
            names = [f"warm-{n}" for n in range(100)] + [f"shop-{n}" for n in range(tags)]
            attack("footprint", words(where, **options, create="yes", tags=",".join(names), count=tags))
        numbers = attack("footprint", words(where, **options, count=tags))
        assert numbers["tags"] == tags and 0 < numbers["each_bytes"] <= 1024, numbers
        assert_none(numbers, "threads_left", "descriptors_left")
        return f"{numbers['tags']} tags, {numbers['each_bytes']} bytes each, made in {numbers['took_ms']} ms"


for _method in ("next", "take"):

    @test(f"a signal handler that forks every millisecond during {_method} of a tag: no id twice")
    def _(method=_method):
        source, where = FakeServer(), place()
        options = words(where, servers=source.url, step=2_000, adaptive="no", method=method, **ENDLESS)
        numbers = attack("signal-forks", [*options, "kind=fork", "forks=60"])
        assert_none(numbers, "duplicates", "left_alive", "bad_ends")
        assert numbers["forks"] == 60 and numbers["processes"] == 61, numbers
        return f"{numbers['ids']} ids of {numbers['processes']} processes"


for _kind in ("_fork", "clone"):

    @test(f"children made by {_kind} in a signal handler: no id of their parent, and an error that says why")
    def _(kind=_kind):
        source, where = FakeServer(), place()
        options = words(where, servers=source.url, step=2_000, adaptive="no", **ENDLESS)
        numbers = attack("signal-forks", [*options, f"kind={kind}", "method=next", "forks=12"])
        assert_none(numbers, "duplicates", "left_alive")
        # Each was refused, by the call that was interrupted or by the next one; none crashed or hung.
        assert numbers["bad_ends"] == 12 and numbers["last_bad"] in (0x400, 0x500), numbers
        assert "is a child of _Fork or a raw clone" in numbers["complaints"], numbers


@test("40 idle children of forks at any moment: the parent's tags go on")
def _():
    idle_children("fork")


def idle_children(kind):
    """Children that are made while a counter or a mark is locked, and do nothing."""
    where = place()
    options = words(where, servers=f"file:{where.dir}/counters", create="yes", tags="order:1:50", adaptive="no")
    options += ["threads=2", "takes=2000000", "forks=40", "idle_ms=1800", "timeout_ms=60000"]
    numbers = attack("burst", [*options, f"kind={kind}"])
    assert_none(numbers, "errors", "duplicates", "bad_children")
    assert numbers["ids"] > 500, numbers


for _kind in ("_fork", "clone"):

    @test(f"40 idle children made by {_kind} at any moment: the parent's tags go on")
    def _(kind=_kind):
        idle_children(kind)
