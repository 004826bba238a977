"""What stands before an existing Leaf, or befalls it: switched off, or behind a proxy."""

import itertools

from harness import assert_distinct, place, test
from leaf_answers import AWAY, BOUNDS, INVALID, each_language
from servers import FakeServer, stray
from subjects import Refused, Tags, words


def used_up(subject, handle, tag):
    """The ids up to an error, and the error."""
    ids = []
    for _ in range(5_000):
        try:
            ids += subject.next(handle, tag)
        except Refused as error:
            # A source that was late is the machine's business.
            if error.code != AWAY:
                return ids, error
    raise AssertionError("ids without end")


@test("leaf: switched off, 0 for ever, in two processes of one state directory, of two, and with blocks")
def _():
    source = FakeServer()

    def one(language, states, tag, **more):
        source.do("tag", tag=tag, next=2)
        where, each = place(), more.get("block_size", 1)
        subjects = [
            Tags(language).open("a", *words(where, state=state, servers=source.url, protocol="leaf", **BOUNDS, **more))
            for state in states
        ]
        ids = [subject.recovered("a", tag, 3) for subject in subjects]
        source.do("leaf", segment="off", tag=tag)
        for subject, mine in zip(subjects, ids):
            rest, error = used_up(subject, "a", tag)
            mine += rest
            for again in (error, subject.refusal(tag, INVALID, ["switched off"])):
                assert again.code == INVALID and "switched off" in str(again), f"{language}: {again}"
        source.do("leaf", segment="on", tag=tag)
        for subject, mine in zip(subjects, ids):
            mine += subject.recovered("a", tag, 3)
            subject.quit()
        assert_distinct(ids)
        blocks = [an_id // each for mine in ids for an_id in mine]
        assert not (own := stray(blocks, source.gave(tag))), f"{language}: given by no node: {own[:5]}"

    each_language(lambda language: one(language, ["a", "a"], f"{language}-same"))
    each_language(lambda language: one(language, ["a", "b"], f"{language}-two"))
    each_language(lambda language: one(language, ["a", "b"], f"{language}-x100", block_size=100))


@test("leaf: the snowflake mode of two nodes, switched off and on again, in four languages")
def _():
    nodes = [FakeServer(leaf_worker_id=worker) for worker in (3, 4)]
    urls = ",".join(node.url for node in nodes)

    def one(language):
        options = {"servers": urls, "protocol": "leaf-snowflake", **BOUNDS}
        subject = Tags(language).open("a", *words(place(), **options))
        ids = subject.recovered("a", "order", 30)
        for node in nodes:
            node.do("leaf", snowflake="off", tag=language)
        error = subject.refusal(language)
        assert error.code == INVALID and "leaf.snowflake.enable=true" in str(error), f"{language}: {error}"
        for node in nodes:
            node.do("leaf", snowflake="on", tag=language)
        ids += subject.recovered("a", language, 30)
        subject.quit()
        return ids

    ids = each_language(one)
    assert_distinct(ids)
    gave = [tuple(map(int, run)) for node in nodes for run in node.do("given", mode="snowflake")["given"]]
    assert not (own := stray(itertools.chain(*ids), itertools.starmap(range, gave))), own


@test("leaf: a proxy that asks twice and drops an answer costs ids, and gives none twice")
def _():
    source = FakeServer()
    source.fault({"retry": True})

    def one(language):
        subject = Tags(language)
        subject.open("a", *words(place(), servers=source.url, protocol="leaf", step=100))
        ids = subject.next("a", "order", 300)
        subject.quit()
        return ids

    ids = each_language(one)
    assert_distinct(ids)
    assert not (own := stray(itertools.chain(*ids), source.gave())), own
    gave = sum(map(len, source.gave()))
    assert gave >= 2 * sum(map(len, ids)), f"{gave} given"
