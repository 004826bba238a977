"""When segments are fetched, as the vectors say, and what a take that fails puts back."""

import numpy
import pytest

import leafid


def test_the_prefetch_starts_during_the_take_of_the_vectors(space, vectors, make_counter, wait, settle):
    for case in vectors("prefetch")["cases"]:
        length, nth = case["length"], case["nth"]
        counter = make_counter()
        more = {"name": f"{space['name']}-{length}", "step": length, "adaptive": False}
        with leafid.Segments(fetch=counter.fetch, **(space | more)) as ids:
            order = ids.tag("order")
            if length == 1:
                # Its first id is its last: the second take waits.
                assert order.next() == 1 and len(counter.asked) == 1 and order.next() == 2
                continue
            for id in range(1, nth):
                assert order.next() == id
            settle(order)
            assert len(counter.asked) == 1, case
            order.next()
            wait(lambda: len(counter.asked) == 2, case)  # noqa: B023


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
