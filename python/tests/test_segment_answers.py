"""What the callable that gives segments may answer, and what becomes of what it raises."""

import asyncio
import gc
import threading
import weakref

import numpy
import pytest

import leafid


ANSWERS = {
    "range": (range(5, 15), [5, 6, 7]),
    "stride": (range(5, 100, 10), [5, 15, 25]),
    "pair": ((5, 15), [5, 6, 7]),
    "list": ([5, 15], [5, 6, 7]),
    "numpy": ((numpy.int64(5), numpy.uint32(15)), [5, 6, 7]),
    "from zero": (range(10), [0, 1, 2]),
    "to the end": (range(2**63 - 4, 2**63 - 1), [2**63 - 4, 2**63 - 3, 2**63 - 2]),
}


@pytest.mark.parametrize(("answer", "first"), ANSWERS.values(), ids=ANSWERS)
def test_what_it_may_answer(opened, answer, first):
    assert opened(lambda tag, step: answer).tag("order").take(3) == first


WRONG = [
    "1-1000", b"ids", 7, 7.0, True, (1,), (1, 2, 3), (1, 2.0), (True, 9), ("1", "9"), {1, 9}, {"start": 1},
    pytest.param(object(), id="object"),
    range(0), range(5, 5), range(9, 1), range(9, 1, -1), range(-5, 5), (9, 9), (9, 1), (-1, 9), range(2**63, 2**64),
    range(1, 2**63), (1, 2**63), numpy.array([1, 9]),
]  # fmt: skip


@pytest.mark.parametrize("answer", WRONG, ids=repr)
def test_a_wrong_answer_is_said(opened, failed, answer):
    order = opened(lambda tag, step: answer).tag("order")
    failed(order)
    with pytest.raises(leafid.SourceInvalidError, match="order|segment from") as error:
        order.next(timeout_ms=50)
    assert error.value.__cause__ is None and order.stats().left == 0
    if not isinstance(answer, (range, tuple)):
        # Of what may hold a secret only the type is shown.
        shown = repr(answer) if isinstance(answer, (str, int, float)) else f"of type {type(answer).__name__}"
        assert shown in str(error.value)


@pytest.mark.parametrize("fetch", [7, "fetch", [], pytest.param(object(), id="object")], ids=repr)
def test_what_cannot_be_called(space, fetch):
    with pytest.raises(leafid.InvalidArgumentError, match="^fetch is "):
        leafid.Segments(fetch=fetch, **space)


class Mine(Exception):
    pass


class Untold(Exception):
    def __str__(self):
        raise self


RAISED = [
    (ValueError("text"), leafid.SegmentUnavailableError, "the fetch of a segment failed: ValueError: text$"),
    (LookupError(), leafid.SegmentUnavailableError, "LookupError$"),
    (SystemExit(3), leafid.SegmentUnavailableError, "SystemExit: 3$"),
    (KeyboardInterrupt(), leafid.SegmentUnavailableError, "KeyboardInterrupt$"),
    (GeneratorExit(), leafid.SegmentUnavailableError, "GeneratorExit$"),
    (Untold(), leafid.SegmentUnavailableError, "Untold$"),
    (leafid.SourceInvalidError("no number"), leafid.SourceInvalidError, "no number$"),
    (leafid.SegmentRegressedError("lost"), leafid.SegmentRegressedError, "lost$"),
    (leafid.InvalidArgumentError("no such shop"), leafid.InvalidArgumentError, "no such shop$"),
    (leafid.UnknownTagError("no such tag"), leafid.UnknownTagError, "no such tag$"),
    (leafid.ClosedError("another"), leafid.SegmentUnavailableError, "another$"),
]


@pytest.mark.parametrize(("raised", "expected", "text"), RAISED, ids=[type(raised).__name__ for raised, _, _ in RAISED])
def test_what_it_raises_is_the_cause(opened, failed, raised, expected, text):
    def fetch(tag, step):
        raise raised

    order = opened(fetch, timeout_ms=50).tag("order")
    failed(order)
    for call in (order.next, lambda: order.take(3), lambda: asyncio.run(awaited(order))):
        with pytest.raises(leafid.Error, match=text) as error:
            call()
        assert type(error.value) is expected and error.value.__cause__ is raised
    # It is no cause of what it has nothing to do with.
    with pytest.raises(leafid.InvalidArgumentError) as other:
        order.next(timeout_ms=0)
    assert other.value.__cause__ is None


async def awaited(tag):
    return await tag.next_async()


@pytest.mark.slow
def test_what_one_tag_raises_is_not_the_cause_of_another(opened):
    def fetch(tag, step):
        error = Mine("away")
        error.tag = tag
        raise error

    ids = opened(fetch)
    for name in [f"tag-{n}" for n in range(3)] * 2:
        with pytest.raises(leafid.SegmentUnavailableError) as error:
            ids.tag(name).next(timeout_ms=300)
        cause = error.value.__cause__
        assert cause is None or cause.tag == name


def test_what_it_raises_is_not_kept_for_ever(opened, wait):
    fails, gone = [True], []

    def fetch(tag, step):
        if fails:
            local = Mine()
            gone.append(weakref.ref(local))
            raise local
        return range(1, 1 + step)

    ids = opened(fetch)
    order = ids.tag("order")
    with pytest.raises(leafid.SegmentUnavailableError):
        order.next(timeout_ms=300)
    wait(lambda: gone)
    fails.clear()
    assert order.next() == 1
    gc.collect()
    assert {reference() for reference in gone} == {None}
    fails.append(True)
    with pytest.raises(leafid.SegmentUnavailableError):
        ids.tag("user").next(timeout_ms=300)
    ids.close()
    wait(lambda: gc.collect() >= 0 and {reference() for reference in gone} == {None})


def test_what_it_raises_after_the_close_is_not_kept(opened, wait):
    asked, closed, gone = threading.Event(), threading.Event(), []

    def fetch(tag, step):
        asked.set()
        closed.wait()
        local = Mine()
        gone.append(weakref.ref(local))
        raise local

    ids = opened(fetch)
    with pytest.raises(leafid.SegmentUnavailableError):
        ids.tag("order").next(timeout_ms=300)
    asked.wait()
    ids.close()
    closed.set()
    wait(lambda: gone and gc.collect() >= 0 and gone[0]() is None)
