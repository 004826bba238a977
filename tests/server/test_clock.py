"""A clock that leaps a year ahead for a moment and comes back: that of a server, and that of its store."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
import test_monitor
from databases import MariaDB, Missing, PostgreSQL
from servers import BINARY, Server, check_unique, now_ms, until
from test_leases import LONG_LEASE, clock_off_by, instance

YEAR_S = 365 * 86_400
NEAR_MS = 3_600_000
LEASE = ("--lease-ms", "3000", "--clock-threshold-ms", "500", "--workers", "5-9", "--snowflake-worker", "7")


class Clock:
    """A clock that leaps on command."""

    def __init__(self, folder):
        self.file = folder / "clock"
        self.back()
        self.environment = {**clock_off_by(""), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1"}
        del self.environment["FAKETIME"]

    def leap(self):
        self.file.write_text(f"+{YEAR_S}")

    def back(self):
        self.file.write_text("+0")


@pytest.fixture
def clock():
    with tempfile.TemporaryDirectory(prefix="leafid-clock-") as folder:
        # Databases run as another user.
        os.chmod(folder, 0o755)
        yield Clock(Path(folder))


def time_of(id):
    return (id >> 22) + 1_288_834_974_657


def check_leap(url, clock, name, whose, environment=None):
    """Ids and leases go on during the leap, and nothing of it is stored: after a kill the fixed worker id serves again."""
    options = (*LEASE, "--snowflake-name", name)
    with Server(url, *options, environment=environment) as server:
        client = server.client()
        found = until(lambda: client.ids("any", 100, "snowflake"), "it has a worker id")
        until(lambda: client.get("/ready")[0] == 200, "it has looked at its store")
        clock.leap()
        until(lambda: f"{whose}: the clock jumped" in server.log(), "the leap is seen")

        def held_until():
            held = test_monitor.state(client, name=name)["leases"]["held"]
            return [lease["ends_ms"] for lease in held if lease["worker_id"] == 7]

        def goes_on():
            ids = client.ids("any", 100, "snowflake")
            assert ids, server.log()
            found.extend(ids)
            return held_until() > before

        before = until(held_until, "its lease is seen")
        until(goes_on, "it is renewed during the leap")
        status, lease = client.claim(instance(), name)
        assert status == 200 and abs(lease["until"] - now_ms()) < NEAR_MS, lease
        clock.back()
        found += client.ids("any", 100, "snowflake")
        assert all(abs(time_of(id) - now_ms()) < NEAR_MS for id in found)
        server.end(signal.SIGKILL)
    with Server(url, *options, environment=environment) as server:
        client = server.client()
        found += until(lambda: client.ids("any", 100, "snowflake"), "the worker id serves again")
    check_unique(found, 400)


def check_freed(url, clock, name, environment=None):
    """A clock that stays a year ahead is followed, and blocks a worker id until it is freed by hand."""
    options = (*LEASE, "--snowflake-name", name)
    clock.leap()
    with Server(url, *options, environment=environment) as server:
        found = until(lambda: server.client().ids("any", 100, "snowflake"), "it has a worker id")
        assert time_of(found[0]) > now_ms() + NEAR_MS, "the clock of a start is followed"
        server.end(signal.SIGKILL)
    clock.back()
    with Server(url, *options, "--timeout-ms", "300", environment=environment) as server:
        client = server.client()
        until(lambda: f"worker id 7 of {name} is held" in server.log(), "it is blocked")
        assert client.ids("any", 1, "snowflake") == []
        status, text = worker(url, "show", "--name", name)
        assert status == 0 and "worker id 7: held by" in text and "ms ahead" in text, text
        assert f"… (host {os.uname().nodename}, pid " in text, "the server that holds it"
        status, text = worker(url, "free", "7", "--confirm", "8", "--name", name)
        assert status == 1 and "confirm is 8; allowed: 7" in text, text
        status, text = worker(url, "free", "7", "--confirm", "7", "--name", name)
        assert status == 0 and f'worker id 7 of "{name}" is free; no more ids of ' in text, text
        assert "waiting for" not in text or "waiting for 3000 ms" in text, "as long as the servers' leases last"
        found += until(lambda: client.ids("any", 100, "snowflake"), "it is free")
        assert abs(time_of(found[-1]) - now_ms()) < NEAR_MS
    status, text = worker(url, "free", "6", "--confirm", "6", "--name", name)
    assert status == 1 and "worker is 6; allowed: one that was leased" in text, text
    check_unique(found, 200)


def worker(url, *words):
    # It goes by the lease time of the servers.
    command = [BINARY, "--store", url, "worker", *words]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def test_a_worker_id_that_is_held_is_not_freed(store, name):
    with Server(store.url, *LONG_LEASE[:-1], "--snowflake-name", name) as server:
        id = until(lambda: server.client().ids("any", 1, "snowflake"), "it has a worker id")[0]
        worker_id = str(id >> 12 & 1023)
        status, text = worker(store.url, "free", worker_id, "--confirm", worker_id, "--name", name)
        assert status == 1 and f"worker id {worker_id} is held" in text, text


def check_stored(store, name):
    (latest,) = store.sql(f"SELECT latest_ms FROM leafid_space WHERE name = '{name}'")
    rows = store.sql(f"SELECT until_ms FROM leafid_worker WHERE name = '{name}'")
    assert len(rows) == 2 and all(abs(int(ms) - now_ms()) < NEAR_MS for ms in [latest, *rows]), (latest, rows)


def test_a_leap_of_a_server_s_clock_is_not_stored(store, clock, name):
    check_leap(store.url, clock, name, "this host", clock.environment)
    check_stored(store, name)


def with_clock(kind, clock, check):
    class Leaping(kind):
        environment = {**os.environ, **clock.environment}

    try:
        leaping = Leaping()
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        check(leaping)
    finally:
        leaping.remove()


@pytest.mark.parametrize("kind", [MariaDB, PostgreSQL], ids=lambda kind: kind.name)
def test_a_leap_of_the_store_s_clock_is_not_stored(kind, clock, name):
    def check(store):
        check_leap(store.url, clock, name, "the store")
        check_stored(store, name)

    with_clock(kind, clock, check)


def test_a_worker_id_that_a_clock_has_blocked_is_freed_by_hand(file, clock, name):
    check_freed(file.url, clock, name, clock.environment)


@pytest.mark.parametrize("kind", [MariaDB, PostgreSQL], ids=lambda kind: kind.name)
def test_a_worker_id_that_the_store_s_clock_has_blocked_is_freed_by_hand(kind, clock, name):
    with_clock(kind, clock, lambda store: check_freed(store.url, clock, name, clock.environment))
