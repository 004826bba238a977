"""Ranges that are refused, tags that are unknown, and takes that fail."""

import time

import numpy
import pytest

import leafid


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ((1, 101), "1 to 101|from 1"),
        pytest.param((50, 150), "50", marks=pytest.mark.slow),
        pytest.param((0, 1), "0", marks=pytest.mark.slow),
    ],
    ids=["the same", "crossing", "below"],
)
def test_what_was_given_before_is_refused(space, wrong, text):
    """By the same process, by another of the state directory, and after a restart."""
    answers = [(1, 101), wrong]
    given = lambda tag, step: answers.pop(0) if len(answers) > 1 else answers[0]  # noqa: E731
    more = {"step": 100, "adaptive": False, "timeout_ms": 300}
    with leafid.Segments(fetch=given, **space, **more) as ids:
        order = ids.tag("order")
        assert order.take(100)[-1] == 100
        with pytest.raises(leafid.SegmentRegressedError, match=text):
            order.next()
        answers[:] = [(101, 201)]
        assert order.next(timeout_ms=5000) == 101
        with leafid.Segments(fetch=lambda tag, step: wrong, **space, **more) as other:
            with pytest.raises(leafid.SegmentRegressedError):
                other.tag("order").next()
    with leafid.Segments(fetch=lambda tag, step: wrong, **space, **more) as later:
        with pytest.raises(leafid.SegmentRegressedError):
            later.tag("order").next()
        assert later.tag("order").stats().left == 0


def test_strides_that_interleave_are_no_crossing(space):
    answers = [range(1, 101, 10), range(2, 102, 10), range(1, 101, 10), range(101, 201, 10)]
    with leafid.Segments(fetch=lambda tag, step: answers.pop(0), **space, ordered_source=False, step=10) as ids:
        order = ids.tag("order")
        assert order.take(20) == [*range(1, 101, 10), *range(2, 102, 10)]
        assert order.next() == 101


def test_an_unknown_tag_is_said_at_once_and_not_asked_for_in_a_loop(space):
    asked = []

    def fetch(tag, step):
        asked.append(tag)

    with leafid.Segments(fetch=fetch, **space) as ids:
        order = ids.tag("order")
        begun = time.monotonic()
        for _ in range(50):
            with pytest.raises(leafid.UnknownTagError, match="order"):
                order.next()
        assert time.monotonic() - begun < 1.5
        time.sleep(0.3)
        assert len(asked) <= 4


def test_a_take_that_fails_puts_back_what_it_had(space):
    given = []

    def fetch(tag, step):
        given.append(step)
        if len(given) > 1:
            raise ConnectionError("away")
        return 1, 6

    with leafid.Segments(fetch=fetch, **space, step=5, timeout_ms=100) as ids:
        order = ids.tag("order")
        buffer = numpy.full(50, -1)
        for call in (lambda: order.take(50), lambda: order.fill(buffer)):
            with pytest.raises(leafid.SegmentUnavailableError, match="away"):
                call()
        assert given[0] == 50 and set(buffer.tolist()) == {-1}
        assert order.take(5) == [1, 2, 3, 4, 5]
