"""A clock that leaps a year ahead for a moment and comes back: that of a server, and that of its store."""

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from databases import MariaDB, Missing, PostgreSQL
from servers import Server, check_unique, now_ms, until
from test_leases import clock_off_by, instance

YEAR_S = 365 * 86_400
NEAR_MS = 3_600_000
LEASE = ("--lease-ms", "1000", "--clock-threshold-ms", "500", "--workers", "5-9", "--snowflake-worker", "7")


class Clock:
    """A clock that leaps when it is told to."""

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
        for _ in range(20):
            ids = client.ids("any", 100, "snowflake")
            assert ids, server.log()
            found += ids
            time.sleep(0.1)
        status, lease = client.claim(instance(), name)
        assert status == 200 and abs(lease["until"] - now_ms()) < NEAR_MS, lease
        clock.back()
        found += client.ids("any", 100, "snowflake")
        assert all(abs(time_of(id) - now_ms()) < NEAR_MS for id in found)
        server.end(signal.SIGKILL)
    with Server(url, *options, environment=environment) as server:
        client = server.client()
        found += until(lambda: client.ids("any", 100, "snowflake"), "the worker id serves again")
    check_unique(found, 2_200)


def check_stored(store, name):
    (latest,) = store.sql(f"SELECT latest_ms FROM leafid_space WHERE name = '{name}'")
    rows = store.sql(f"SELECT until_ms FROM leafid_worker WHERE name = '{name}'")
    assert len(rows) == 2 and all(abs(int(ms) - now_ms()) < NEAR_MS for ms in [latest, *rows]), (latest, rows)


def test_a_leap_of_a_server_s_clock_is_not_stored(store, clock, name):
    check_leap(store.url, clock, name, "this host", clock.environment)
    check_stored(store, name)


@pytest.mark.parametrize("kind", [MariaDB, PostgreSQL], ids=lambda kind: kind.name)
def test_a_leap_of_the_store_s_clock_is_not_stored(kind, clock, name):
    class Leaping(kind):
        environment = {**os.environ, **clock.environment}

    try:
        leaping = Leaping()
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        check_leap(leaping.url, clock, name, "the store")
        check_stored(leaping, name)
    finally:
        leaping.remove()
