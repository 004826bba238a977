"""The options about clocks, records and when the worker id is claimed."""

import os
import socket
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


def test_without_a_record(space):
    with leafid.Snowflake(7, **space, persist=False) as flake:
        ids = flake.take(10_000)
        assert ids == sorted(set(ids)) and flake.stats().state_dir == ""
        # Never ahead of the clock.
        assert leafid.decode(ids[-1]).timestamp_ms <= now_ms() and flake.stats().lead_ms == 0
    assert os.listdir(space["state_dir"]) == []


@pytest.mark.parametrize("worker", [range(8), "0-7"])
def test_without_a_record_a_range_is_refused(space, worker):
    with pytest.raises(leafid.InvalidArgumentError, match="^persist is false; allowed: true with a range"):
        leafid.Snowflake(worker, **space, persist=False)


def first_after_the_wait(options):
    begun = now_ms()
    options = options | {"no_record_wait_ms": 12_000}
    # The time is enough for a busy disk to open it within, and less than the wait.
    with leafid.Snowflake(7, **options | {"timeout_ms": 5_000}) as flake:
        with pytest.raises(leafid.ClockBackwardsError, match="no record of worker id 7 .*no_record_wait_ms"):
            flake.next()
    # Closed or killed, the wait is not forgotten, and does not start again.
    with leafid.Snowflake(7, **options) as flake:
        first = leafid.decode(flake.next()).timestamp_ms
        assert begun + 12_000 < first <= now_ms()
        return first


def test_a_start_without_a_record_waits_as_long_as_it_is_told(space):
    first = first_after_the_wait(space)
    with leafid.Snowflake(7, **space, no_record_wait_ms=3_600_000) as flake:
        assert leafid.decode(flake.next()).timestamp_ms >= first


def test_the_environment_may_tell_it_to_wait(space, monkeypatch):
    monkeypatch.setenv("LEAFID_NO_RECORD_WAIT_MS", "3600000")
    with leafid.Snowflake(7, **space) as flake, pytest.raises(leafid.ClockBackwardsError):
        flake.next()
    with leafid.Snowflake(8, **space, no_record_wait_ms=0) as flake:
        flake.next()
    with leafid.Snowflake(9, **space, persist=False) as flake, pytest.raises(leafid.ClockBackwardsError):
        flake.next()
    for bad in ("-1", "3600001", "x"):
        monkeypatch.setenv("LEAFID_NO_RECORD_WAIT_MS", bad)
        with pytest.raises(leafid.InvalidArgumentError, match="^LEAFID_NO_RECORD_WAIT_MS is .*; allowed: 0 to 3600000"):
            leafid.Snowflake(7, **space)


def test_leases_need_no_wait(space):
    class Leases:
        def claim(self, request):
            raise OSError("it is not asked")

        renew = release = claim

    with pytest.raises(leafid.InvalidArgumentError, match="^no_record_wait_ms is 5; allowed: 0 with leases"):
        leafid.Snowflake(Leases(), **space, no_record_wait_ms=5)


@pytest.mark.parametrize("off_ms", [-3_600_000, -11_000, 11_000, 3_600_000])
def test_peers_whose_clocks_differ(space, off_ms):
    with pytest.raises(leafid.ClockBackwardsError, match="median of its 3 peers"):
        leafid.Snowflake(7, **space, peer_times=lambda: [now_ms() + off_ms] * 3)


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


@pytest.mark.parametrize("wanted", ["", "not-this-host", "*8", "x*0", "x*y"])
def test_a_host_of_another_name_is_refused(space, wanted):
    worker = f"hostname:{wanted}"
    with pytest.raises(leafid.InvalidArgumentError, match="^worker is") as error:
        leafid.Snowflake(worker, **space)
    assert socket.gethostname() in str(error.value) and "hosts called" in str(error.value)
