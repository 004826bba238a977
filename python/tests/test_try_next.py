"""try_next: an id that is at hand, or None and a fetch; never a wait."""

import threading
import time

import pytest

import leafid


def eventually(action):
    end = time.monotonic() + 900
    while (found := action()) is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    return found


def test_it_gives_what_is_at_hand_and_has_the_rest_fetched(space):
    asked = []

    let_go = threading.Event()

    def fetch(tag, step):
        assert let_go.wait(60)
        asked.append(tag)
        return range(len(asked) * 100, len(asked) * 100 + 2)

    with leafid.Segments(fetch=fetch, prefetch=100, **space) as ids:
        order = ids.tag("order")
        assert order.try_next() is None
        let_go.set()
        assert eventually(order.try_next) == 100
        assert order.try_next() == 101
        assert order.try_next() is None
        assert eventually(order.try_next) == 200


def test_it_says_what_is_certain(space):
    with leafid.Segments(fetch=lambda tag, step: None, **space) as ids:
        nothing = ids.tag("nothing")
        with pytest.raises(leafid.UnknownTagError):
            eventually(nothing.try_next)
    with pytest.raises(leafid.ClosedError):
        nothing.try_next()


def test_it_takes_no_arguments(space):
    with leafid.Segments(fetch=lambda tag, step: range(1, 5), **space) as ids, pytest.raises(TypeError):
        ids.tag("order").try_next(5)
