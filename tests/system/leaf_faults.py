"""What stands before an existing Leaf, or befalls it: switched off, a cache, a proxy, a late answer, a name."""

import itertools
import time

from harness import assert_distinct, place, test, wait_for
from leaf_answers import BOUNDS, INVALID, REGRESSED, each_language, recovered
from servers import FakeServer, stray
from subjects import Refused, Tags, words


def used_up(subject, handle, tag):
    """The ids up to an error, and the error."""
    ids = []
    for _ in range(5_000):
        try:
            ids += subject.next(handle, tag)
        except Refused as error:
            return ids, error
    raise AssertionError("ids without end")


@test("leaf: switched off, 0 for ever, in two processes of one state directory, of two, and with blocks", sleeps=True)
def _():
    source = FakeServer()

    def one(language, states, tag, **more):
        source.do("tag", tag=tag, next=2)
        where, each = place(), more.get("block_size", 1)
        subjects = [
            Tags(language).open("a", *words(where, state=state, servers=source.url, protocol="leaf", **more))
            for state in states
        ]
        ids = [subject.next("a", tag, 3) for subject in subjects]
        source.do("leaf", segment="off", tag=tag)
        for subject, mine in zip(subjects, ids):
            rest, error = used_up(subject, "a", tag)
            mine += rest
            for again in (error, subject.refused("next", "a", tag)):
                assert again.code == INVALID and "switched off" in str(again), f"{language}: {again}"
        source.do("leaf", segment="on", tag=tag)
        for subject, mine in zip(subjects, ids):
            mine += recovered(subject, "a", tag, 3)
            subject.quit()
        assert_distinct(ids)
        blocks = [an_id // each for mine in ids for an_id in mine]
        assert not (own := stray(blocks, source.gave(tag))), f"{language}: given by nobody: {own[:5]}"

    each_language(lambda language: one(language, ["a", "a"], f"{language}-same"))
    each_language(lambda language: one(language, ["a", "b"], f"{language}-two"))
    each_language(lambda language: one(language, ["a", "b"], f"{language}-x100", block_size=100))


@test("leaf: the snowflake mode of two nodes, switched off and on again, in four languages", sleeps=True)
def _():
    nodes = [FakeServer(leaf_worker_id=worker) for worker in (3, 4)]
    urls = ",".join(node.url for node in nodes)

    def one(language):
        options = {"servers": urls, "protocol": "leaf-snowflake", **BOUNDS}
        subject = Tags(language).open("a", *words(place(), **options))
        ids = subject.next("a", "order", 30)
        for node in nodes:
            node.do("leaf", snowflake="off", tag=language)
        error = subject.refused("next", "a", language)
        assert error.code == INVALID and "leaf.snowflake.enable=true" in str(error), f"{language}: {error}"
        for node in nodes:
            node.do("leaf", snowflake="on", tag=language)
        ids += recovered(subject, "a", language, 30)
        subject.quit()
        return ids

    ids = each_language(one)
    assert_distinct(ids)
    gave = [tuple(map(int, run)) for node in nodes for run in node.do("given", mode="snowflake")["given"]]
    assert not (own := stray(itertools.chain(*ids), itertools.starmap(range, gave))), own


@test("leaf: a cache that repeats an id without Age, to one process, and to another of its directory", sleeps=True)
def _():
    source = FakeServer()

    def one(language):
        where, tag = place(), f"{language}-cached"
        options = words(where, servers=source.url, protocol="leaf", **BOUNDS)
        first, second = Tags(language).open("a", *options), Tags(language)
        ids = [first.next("a", tag, 3)]
        source.fault({"duplicate": True}, tag=tag)
        rest, error = used_up(first, "a", tag)
        ids.append(rest)
        assert error.code == REGRESSED and "counter" in str(error), f"{language}: {error}"
        error = second.open("a", *options).refused("next", "a", tag)
        assert error.code == REGRESSED, f"{language}, the second process: {error}"
        source.do("clear", tag=tag)
        ids += [recovered(subject, "a", tag, 5) for subject in (first, second)]
        assert_distinct(ids)
        assert not (own := stray(itertools.chain(*ids), source.gave(tag))), own
        for subject in (first, second):
            subject.quit()

    each_language(one)


@test("leaf: a proxy that asks twice and drops an answer costs ids, and gives none twice")
def _():
    source = FakeServer()
    source.fault({"retry": True})

    def one(language):
        subject = Tags(language)
        subject.open("a", *words(place(), servers=source.url, protocol="leaf", step=100, timeout_ms=5_000))
        ids = subject.next("a", "order", 300)
        subject.quit()
        return ids

    ids = each_language(one)
    assert_distinct(ids)
    assert not (own := stray(itertools.chain(*ids), source.gave())), own
    gave = sum(map(len, source.gave()))
    assert gave >= 2 * sum(map(len, ids)), f"{gave} given"


@test("leaf: an answer for another tag, late on a kept-alive connection, or after a time-out, is not read", sleeps=True)
def _():
    source = FakeServer()

    def numbers(tag):
        return sum(map(len, source.gave(tag)))

    def one(language):
        # One request fetches a block, and no other one follows: the connection is idle.
        tags = [f"{language}-{name}-x20" for name in ("order", "user")]
        for tag, first in zip(tags, (1, 1_000_000)):
            source.do("tag", tag=tag, next=first)
        bounds = {"timeout_ms": 3_000, "request_timeout_ms": 300, "connections": 1}
        blocks = {"block_size": 20, "step": 20, "adaptive": "no"}
        subject = Tags(language).open("a", *words(place(), servers=source.url, protocol="leaf", **bounds, **blocks))
        order, user = subject.next("a", tags[0], 5), subject.next("a", tags[1], 5)
        time.sleep(0.1)
        for _ in range(4):
            source.fault({"late_other": {"tag": tags[1], "after_ms": 20}}, tag=tags[0], times=1)
            asked, other = source.given(tags[0]), numbers(tags[1])
            while source.given(tags[0]) == asked:
                order += subject.next("a", tags[0])
                time.sleep(0.005)
            # The next request may go out only when the late answer is there: one on its way nobody could tell apart.
            wait_for(lambda: numbers(tags[1]) > other, 5, "the late answer")
            time.sleep(0.1)
            assert source.given(tags[0]) == asked + 1, "the connection was not idle when the answer came"
            order += subject.next("a", tags[0], 40)
            source.fault({"delay_ms": 400}, tag=tags[1], times=1)
            user += subject.next("a", tags[1], 50)
            order += subject.next("a", tags[0], 50)
            time.sleep(0.05)
        subject.quit()
        assert max(order) < 20_000_000 <= min(user), f"{language}: an answer was read for another tag"
        assert_distinct([order, user])

    each_language(one)


@test("leaf: tags that it would cut or take for a path, and names of blocks, are refused with the reason")
def _():
    source = FakeServer()
    refused = [
        ({}, "shop.order", "cuts a tag there"),
        ({}, "a.", "cuts a tag there"),
        ({}, "shop/order", "part of the path"),
        ({}, "order-x100", "set block_size to 100"),
        ({"block_size": 100}, "order", "-x100"),
        ({"block_size": 100}, "order-x10", "-x100"),
        ({"block_size": 100}, "order-x0100", "-x100"),
    ]

    def one(language):
        subject = Tags(language)
        for more, tag, said in refused:
            subject.open("a", *words(place(), servers=source.url, protocol="leaf", **BOUNDS, **more))
            error = subject.refused("next", "a", tag)
            text = str(error).replace("blockSize", "block_size")
            assert error.code == "invalid_argument" and said in text, f"{language}, {tag}: {error}"
            subject.do("close", "a")
        subject.quit()

    each_language(one)
    assert source.report()["total"] == 0, "the server was asked"
