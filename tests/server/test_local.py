"""Worker ids of this host for a server's own snowflakes, without a lease of the store."""

import json
import os
import signal
import subprocess

import pytest
from servers import BINARY, Server, check_unique, in_threads, now_ms, until
from test_leases import clock_off_by, holder


@pytest.fixture
def own(name):
    """An id space of this process: locks are those of the host."""
    return f"{name}-{os.getpid()}"


@pytest.fixture
def local(own, tmp_path):
    """The options of a server with these worker ids of this host."""

    def options(ids, workers="100-1023"):
        return "--snowflake-local", ids, "--workers", workers, "--snowflake-name", own, "--state-dir", tmp_path / "state"

    return options


def ids_of(server, n=1000):
    return server.client().ids("any", n, "snowflake")


def workers_of(ids):
    return {id >> 12 & 1023 for id in ids}


def check(store, *options):
    command = [BINARY, "--store", store, "--listen", "127.0.0.1:0", *options, "check"]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def test_ids_of_a_fixed_worker_id_need_no_lease_and_outlive_a_kill(store, own, local):
    found = []
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with Server(store.url, *local("7")) as server:
            assert f"worker id 7 of \"{own}\", of this host alone" in server.log()
            ids = ids_of(server) + ids_of(server, 9000)
            assert workers_of(ids) == {7} and min(ids) > max(found, default=0)
            assert server.client().get("/ready")[1].count('"worker_id":7') == 1
            found += ids
            leases = json.loads(server.client().get(f"/monitor/state?name={own}")[1])["leases"]
            assert own not in [one["name"] for one in leases["names"]], "nothing is leased of it"
            assert server.end(number) == (0 if number == signal.SIGTERM else -number)
    check_unique(found, 30_000)


def test_servers_of_a_host_share_a_range_and_never_a_worker_id(file, local):
    options = local("3-4")
    with Server(file.url, *options) as one, Server(file.url, *options) as other:
        found = []
        in_threads(*(lambda server=server: found.extend(ids_of(server, 10_000)) for server in (one, other) * 3))
        assert workers_of(found) == {3, 4}
        check_unique(found, 60_000)
        for ids in ("3-4", "3"):
            with Server(file.url, *local(ids), "--timeout-ms", "300", wait=False) as third:
                assert third.process.wait() == 1
                assert "worker_in_use" in third.log(), third.log()
                named = [f"pid {server.process.pid} " in third.log() for server in (one, other)]
                assert named.count(True) == (1 if ids == "3" else 0), third.log()
        one.kill()
        with Server(file.url, *options) as third:
            again = ids_of(third, 10_000)
            assert workers_of(again) == workers_of(ids_of(third))
            check_unique(found + again, 70_000)


def test_another_state_directory_does_not_give_a_held_worker_id(file, local, tmp_path):
    options = local("5")
    with Server(file.url, *options), Server(file.url, *options[:-1], tmp_path / "other", wait=False) as other:
        assert other.process.wait() == 1
        assert "worker_in_use" in other.log()


def test_a_clock_that_was_set_back_repeats_nothing(file, local):
    found = []
    for seconds in ("+0s", "-2s", "+0s"):
        with Server(file.url, *local("9"), environment=clock_off_by(seconds)) as server:
            ids = ids_of(server, 5000)
            assert not found or ids[0] > found[-1]
            found += ids
            server.end(signal.SIGKILL)
    check_unique(found, 15_000)


def test_worker_ids_that_are_leased_to_others_are_refused(file, local):
    for ids, workers, said in [("7", "0-1023", "none of 0-1023"), ("0-9", "9-20", "none of 9-20")]:
        with Server(file.url, *local(ids, workers), wait=False) as server:
            assert server.process.wait() != 0
            assert f"snowflake-local is {ids}; allowed: {said}" in server.log()
        status, text = check(file.url, *local(ids, workers))
        assert status != 0 and f"snowflake-local is {ids}; allowed: {said}" in text


def test_a_worker_id_that_the_store_has_leased_is_refused_until_its_span_is_over(any_store, own, local):
    """Another server of the store has it among its workers, against the rule."""
    with Server(any_store.url, "--workers", "7", "--lease-ms", "3600000", "--no-snowflake") as other:
        client = other.client()
        status, lease = client.claim("one", own)
        assert (status, lease["worker_id"]) == (200, 7)
        options = local("6-8")
        with Server(any_store.url, *options, wait=False) as server:
            assert server.process.wait() == 1
            assert f"worker id 7 of {own} may be in use for" in server.log()
        status, text = check(any_store.url, *options)
        assert status == 1 and "WRONG snowflake-local: worker id 7" in text
        # Other tests of this store leave rows that it finds wrong.
        text = check(any_store.url, *local("8"))[1]
        assert f"ok    snowflake-local: the store has leased none of 8 of {own}" in text
        until_ms = now_ms() + 700
        assert client.post("/api/worker/release", holder(own, lease, until_ms))[0] == 204
        with Server(any_store.url, *options, wait=False) as server:
            until(lambda: server.process.poll() is not None or "listens on" in server.log(), "it ends or serves")
            assert server.process.poll() == 1 or now_ms() >= until_ms, "its span is not over"
        until(lambda: now_ms() > until_ms, "it is")
        with Server(any_store.url, *options) as server:
            assert min(ids_of(server)) >> 22 >= until_ms - 1_288_834_974_657


def test_without_the_store_ids_go_on(engine, local):
    with Server(engine.url, *local("11"), "--store-timeout-ms", "1000") as server:
        found = ids_of(server)
        engine.kill()
        try:
            client = server.client()
            until(lambda: client.get("/ready")[0] == 503, "it is seen that the store is down")
            for _ in range(20):
                found += ids_of(server, 5000)
        finally:
            engine.start()
        assert workers_of(found) == {11}
        check_unique(found, 100_000)
