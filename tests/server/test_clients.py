"""The project's own clients on each store. Rust's are built by `make test OF=server`; Python's wheel is used if it is built."""

import os
import subprocess

import pytest
from servers import ROOT, Server, check_unique

PYTHON = ROOT / "build/venv/bin/python"
PROGRAM = """
import sys, threading
import leafid
url, tag, name = sys.argv[1:]
ids = []
with leafid.Segments(servers=url, protocol="range", name=name + "-r", persist=False, timeout_ms=20000) as ranges, \\
     leafid.Segments(servers=url, protocol="leaf", name=name + "-l", persist=False, timeout_ms=20000) as ones, \\
     leafid.Snowflake(url, name=name, persist=False, timeout_ms=20000) as flake:
    numbers = ranges.tag(tag).take(5000) + ones.tag(tag).take(500)
    print(*numbers)
    print(*flake.take(5000))
"""


def test_rusts_clients_get_ids_of_each_store(store):
    if store.name == "sqlite":
        pytest.skip("cargo test does it")
    program = os.environ.get("LEAFID_SERVER_CLIENTS")
    command = [program] if program else ["cargo", "test", "--quiet", "-p", "leafid-server", "--test", "clients"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "LEAFID_SERVER_TEST_STORE": store.url},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_pythons_clients_of_several_processes_share_one_id_space(store, new_tag, name):
    if not PYTHON.exists():
        pytest.skip("the wheel is not built: make build OF=python")
    tag = new_tag(store, 100)
    with Server(store.url, "--snowflake-name", name) as server:
        command = [PYTHON, "-c", PROGRAM, server.url, tag, name]
        clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        said = [client.communicate()[0].splitlines() for client in clients]
        assert [client.returncode for client in clients] == [0] * 3
        plain = server.client()
        check_unique([*(int(id) for lines in said for id in lines[0].split()), *plain.ids(tag, 500)], 17_000)
        own = plain.ids("any", 1000, "snowflake")
        check_unique([*(int(id) for lines in said for id in lines[1].split()), *own], 16_000)
