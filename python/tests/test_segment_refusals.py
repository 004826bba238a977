"""Ranges that cross, and takes that fail."""

import numpy
import pytest

import leafid


def test_strides_that_interleave_are_no_crossing(space):
    answers = [range(1, 101, 10), range(2, 102, 10), range(1, 101, 10), range(101, 201, 10)]
    with leafid.Segments(fetch=lambda tag, step: answers.pop(0), **space, ordered_source=False, step=10) as ids:
        order = ids.tag("order")
        assert order.take(20) == [*range(1, 101, 10), *range(2, 102, 10)]
        assert order.next() == 101


def test_a_take_that_fails_puts_back_what_it_had(space):
    given = []

    def fetch(tag, step):
        given.append(step)
        if len(given) > 1:
            raise ConnectionError("away")
        return 1, 6

    with leafid.Segments(fetch=fetch, **space | {"timeout_ms": 2000}, step=5) as ids:
        order = ids.tag("order")
        buffer = numpy.full(50, -1)
        for call in (lambda: order.take(50), lambda: order.fill(buffer)):
            with pytest.raises(leafid.SegmentUnavailableError, match="away"):
                call()
        assert given[0] == 50 and set(buffer.tolist()) == {-1}
        assert order.take(5) == [1, 2, 3, 4, 5]
