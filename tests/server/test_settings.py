"""What all servers of a store must agree in."""

import subprocess

import pytest
from servers import BINARY, UNCOMPARED, Server, in_threads

COMPARED = {name: "false" for name in UNCOMPARED}


@pytest.mark.parametrize("option, stored", [
    (["--strict-leaf"], "strict-leaf is true; allowed: false, as all servers"),
    (["--allow-dotted-tags"], "allow-dotted-tags is true; allowed: false, as all servers"),
    (["--stride", "3"], "stride is 3; allowed: 1, as all servers"),
    (["--workers", "0-7"], "workers is 0-7; allowed: 0-1023, as all servers"),
    (["--lease-ms", "20000"], "lease-ms is 20000; allowed: 30000, as all servers"),
    (["--clock-threshold-ms", "500"], "clock-threshold-ms is 500; allowed: 10000, as all servers"),
])  # fmt: skip
def test_a_server_that_differs_is_refused(any_store, option, stored):
    with Server(any_store.url, "--no-snowflake"):
        with Server(any_store.url, "--no-snowflake", *option, environment=COMPARED, wait=False) as other:
            assert other.process.wait() == 1
            assert stored in other.log() and "--change-settings" in other.log()
        words = [BINARY, "--store", any_store.url, "--listen", "127.0.0.1:0", *option, "check"]
        assert f"WRONG {stored}" in subprocess.run(words, capture_output=True, text=True).stdout
        with Server(any_store.url, "--no-snowflake", "--timeout-ms", "1000", environment=COMPARED):
            pass
        with Server(any_store.url, "--no-snowflake", *option, "--change-settings"):
            pass
        with Server(any_store.url, "--no-snowflake", *option, environment=COMPARED):
            pass
        with Server(any_store.url, "--no-snowflake", environment=COMPARED, wait=False) as other:
            assert other.process.wait() == 1


def test_servers_that_start_at_one_moment_all_start(engine):
    """Each of them stores the same rows, and MariaDB ends one of those that wait for each other."""
    for _ in range(6):
        engine.sql("DROP TABLE IF EXISTS leafid_settings")
        servers = []
        try:
            in_threads(*[lambda: servers.append(Server(engine.url, "--no-snowflake")) for _ in range(10)])
            assert len(servers) == 10
        finally:
            for server in servers:
                server.kill()


def test_a_change_is_said_with_both_values(store):
    with Server(store.url, "--no-snowflake", "--workers", "0-7"):
        with Server(store.url, "--no-snowflake", "--workers", "0-9", "--stride", "3") as other:
            assert "workers was 0-7 and is now 0-9" in other.log()
            assert "stride was 1 and is now 3" in other.log() and "remainder was" not in other.log()
        with Server(store.url, "--no-snowflake", "--workers", "0-9", "--stride", "3") as other:
            assert "by --change-settings" not in other.log()


def test_a_store_of_a_newer_server_is_refused_by_all_commands(store, name):
    def set_format(value):
        store.sql("DELETE FROM leafid_settings WHERE name = 'format'")
        if value is not None:
            store.sql(f"INSERT INTO leafid_settings (name, value) VALUES ('format', '{value}')")

    check_format(store.url, set_format, lambda: store.sql("SELECT value FROM leafid_settings WHERE name = 'format'"), name)


def check_format(url, set_format, stored, tag):
    with Server(url, "--no-snowflake"):
        pass
    ours = stored()
    for newer in (int(ours[0]) + 1, "x"):
        set_format(newer)
        said = f"the format of the store is {newer}; allowed: at most {ours[0]}"
        with Server(url, "--no-snowflake", "--change-settings", wait=False) as other:
            assert other.process.wait() == 1
            assert said in other.log() and "a newer one wrote this store" in other.log()
        for words in (["tag", tag], ["worker", "show"], ["worker", "free", "7", "--confirm", "7"], ["check"]):
            words = [BINARY, "--store", url, "--listen", "127.0.0.1:0", *words]
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 1 and said in done.stdout, done.stdout
        assert stored() == [str(newer)]
    # A lower one, and a store without one.
    for lower in (0, None):
        set_format(lower)
        with Server(url, "--no-snowflake", environment=COMPARED):
            assert stored() == ours
