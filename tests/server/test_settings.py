"""What all servers of a store must agree in."""

import subprocess

import pytest
from servers import BINARY, UNCOMPARED, Server

COMPARED = {name: "false" for name in UNCOMPARED}


@pytest.mark.parametrize("option, stored", [
    (["--strict-leaf"], "strict-leaf is true; allowed: false, as all servers"),
    (["--allow-dotted-tags"], "allow-dotted-tags is true; allowed: false, as all servers"),
    (["--stride", "3"], "stride is 3; allowed: 1, as all servers"),
    (["--workers", "0-7"], "workers is 0-7; allowed: 0-1023, as all servers"),
])  # fmt: skip
def test_a_server_that_differs_is_refused(store, option, stored):
    check_refused(store, option, stored)


def test_a_change_is_said_with_both_values(store):
    with Server(store.url, "--no-snowflake", "--workers", "0-7"):
        with Server(store.url, "--no-snowflake", "--workers", "0-9", "--stride", "3") as other:
            assert "workers was 0-7 and is now 0-9" in other.log()
            assert "stride was 1 and is now 3" in other.log() and "remainder was" not in other.log()
        with Server(store.url, "--no-snowflake", "--workers", "0-9", "--stride", "3") as other:
            assert "by --change-settings" not in other.log()


def check_refused(store, option, stored):
    with Server(store.url, "--no-snowflake"):
        with Server(store.url, "--no-snowflake", *option, environment=COMPARED, wait=False) as other:
            assert other.process.wait(20) == 1
            assert stored in other.log() and "--change-settings" in other.log()
        words = [BINARY, "--store", store.url, "--listen", "127.0.0.1:0", *option, "check"]
        assert f"WRONG {stored}" in subprocess.run(words, capture_output=True, text=True).stdout
        with Server(store.url, "--no-snowflake", "--lease-ms", "20000", environment=COMPARED):
            pass
        with Server(store.url, "--no-snowflake", *option, "--change-settings"):
            pass
        with Server(store.url, "--no-snowflake", *option, environment=COMPARED):
            pass
        with Server(store.url, "--no-snowflake", environment=COMPARED, wait=False) as other:
            assert other.process.wait(20) == 1
