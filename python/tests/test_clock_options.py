"""peer_times: what its callable may answer, and when it is asked."""

import threading
import time

import pytest

import leafid

pytestmark = pytest.mark.usefixtures("settled")


def now_ms():
    return time.time_ns() // 1_000_000


def test_peers_that_agree_or_are_too_few(space):
    for answer in (
        lambda: [now_ms()] * 3, lambda: [now_ms(), now_ms(), 0], lambda: [0, 0], tuple, lambda: iter([now_ms()] * 3),
        lambda: {0: now_ms()},
    ):  # fmt: skip
        with leafid.Snowflake(7, **space, peer_times=answer) as flake:
            flake.next()


def test_peers_that_cannot_be_asked_keep_nobody_from_starting(space):
    def fails():
        raise OSError("unreachable")

    with leafid.Snowflake(7, **space, peer_times=fails) as flake:
        flake.next()
    let_go = threading.Event()
    with leafid.Snowflake(7, **space | {"timeout_ms": 10_000}, peer_times=let_go.wait) as flake:
        flake.next()
    let_go.set()


@pytest.mark.parametrize("answer", [7, None, "123", 1.5, [1.5], [True], ["0"], [None], [2**64]])
def test_peers_of_nonsense(space, answer):
    with pytest.raises(leafid.InvalidArgumentError, match="^peer_times is .*; allowed: "):
        leafid.Snowflake(7, **space, peer_times=lambda: answer)


def test_peers_are_asked_on_a_thread_of_leafids_at_each_claim(space):
    threads = []

    def ask():
        threads.append(threading.get_ident())
        return []

    with leafid.Snowflake(7, **space, peer_times=ask, lazy=True) as flake:
        assert threads == []
        flake.next()
    assert len(threads) == 1 and threads[0] != threading.get_ident()
