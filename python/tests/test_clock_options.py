"""The options about clocks, records and when the worker id is claimed."""

import os
import threading
import time

import pytest

import leafid

pytestmark = pytest.mark.usefixtures("settled")


def now_ms():
    return time.time_ns() // 1_000_000


def test_start_after_a_moment_ahead_of_the_clock(space):
    largest = leafid.compose(now_ms() + 2000, 1023, 4095)
    with leafid.Snowflake(7, **space, start_after=largest) as flake:
        ids = flake.take(5000)
    assert ids[0] > largest and leafid.decode(ids[0]).timestamp_ms > leafid.decode(largest).timestamp_ms
    assert ids == sorted(set(ids))


def test_coarse_says_how_late_it_is(space):
    with leafid.Snowflake(7, **space, clock_source="coarse") as flake:
        lag_ms = flake.stats().clock_lag_ms
        assert 1 <= lag_ms <= 10
        ids = [flake.next() for _ in range(10_000)]
        assert ids == sorted(set(ids))
        # Late by the lag.
        before, at_ms = now_ms(), leafid.decode(flake.next()).timestamp_ms
        assert before - 1000 < at_ms <= now_ms() + 1000
    with leafid.Snowflake(7, **space) as flake:
        assert flake.stats().clock_lag_ms == 0


def test_lazy_claims_at_the_first_id(space):
    flake = leafid.Snowflake(7, **space, lazy=True)
    assert os.listdir(space["state_dir"]) == []
    with leafid.Snowflake(7, **space, random_start=0) as holder:
        holder.next()
        with pytest.raises(leafid.WorkerInUseError):
            flake.next()
    assert leafid.decode(flake.next()).worker_id == 7
    flake.close()


def test_lazy_checks_its_options_at_once(space):
    with pytest.raises(leafid.InvalidArgumentError, match="^worker is 1024"):
        leafid.Snowflake(1024, **space, lazy=True)


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
