"""A host has each worker id of a name once, also where a server's store cannot know: its own one is locked on its host."""

import os
import signal

import pytest
from servers import Server, check_unique, in_threads, until
from test_local import workers_of


@pytest.fixture
def own(name):
    return "--snowflake-name", f"{name}-{os.getpid()}"


@pytest.fixture
def folder(tmp_path):
    """Makes folders, each with a default store of its own."""

    def make(named):
        (tmp_path / named).mkdir()
        return tmp_path / named

    return make


def ids_of(server, n=1000):
    return until(lambda: server.client().ids("any", n, "snowflake"), "it has a worker id")


def take_all(*servers):
    """Their ids, taken at once."""
    found = {server: [] for server in servers}
    in_threads(*(lambda server=server: found[server].extend(ids_of(server, 10_000)) for server in servers * 5))
    return list(found.values())


def held(worker, own, server):
    return f'worker id {worker} of "{own[1]}" is held on this host by pid {server.process.pid} '


def test_servers_in_two_folders_have_two_worker_ids(folder, own):
    store = "leafid-server.db"
    with Server(store, *own, cwd=folder("one")) as one:
        assert workers_of(ids_of(one)) == {0}
        with Server(store, *own, cwd=folder("other")) as other:
            found, others = take_all(one, other)
            assert (workers_of(found), workers_of(others)) == ({0}, {1})
            assert held(0, own, one) in other.log(), other.log()
            check_unique(found + others, 100_000)


def test_a_server_and_a_range_of_its_host_have_two_worker_ids(folder, own):
    local = "--snowflake-local", "100-101", "--workers", "0-99", "--state-dir"
    leases = "--workers", "100-199"
    with Server(folder("a") / "store", *own, *local, folder("state")) as library:
        assert workers_of(ids_of(library)) == {100}
        with Server(folder("b") / "store", *own, *leases) as server:
            found, others = take_all(library, server)
            assert (workers_of(found), workers_of(others)) == ({100}, {101})
            assert held(100, own, library) in server.log(), server.log()
            check_unique(found + others, 100_000)
            library.end(signal.SIGKILL)
            with Server(folder("c") / "store", *own, *local, folder("state-2")) as library:
                assert workers_of(ids_of(library)) == {100}, "the process that had it is gone"


def test_a_range_of_a_host_passes_over_the_worker_id_of_a_server(folder, own):
    local = "--snowflake-local", "100-101", "--workers", "0-99", "--state-dir", folder("state")
    with Server(folder("a") / "store", *own, "--workers", "100-199") as server:
        assert workers_of(ids_of(server)) == {100}
        with Server(folder("b") / "store", *own, *local) as library:
            found, others = take_all(server, library)
            assert (workers_of(found), workers_of(others)) == ({100}, {101})
            check_unique(found + others, 100_000)


def test_a_fixed_worker_id_is_refused_while_another_store_s_server_has_it(file, folder, own):
    # Renewed after 12 s: one that is lost would let the other server have the worker id.
    options = (*own, "--snowflake-worker", "7", "--lease-ms", "24000", "--timeout-ms", "100")
    with Server(file.url, *options) as one, Server(folder("other") / "store", *options, wait=False) as other:
        found = ids_of(one)
        other.wait()
        query = f"SELECT renewals FROM leafid_worker WHERE name = '{own[1]}'"
        until(lambda: int(file.sql(query)[0]) > 0, "the lease is renewed")
        tries = other.log().count(held(7, own, one))
        until(lambda: other.log().count(held(7, own, one)) > tries, "it is tried again")
        assert "worker_in_use" in other.log(), other.log()
        assert other.client().ids("any", 1, "snowflake") == []
        found += ids_of(one)
        assert one.end() == 0, one.log()
        others = ids_of(other)
        assert workers_of(found + others) == {7}
        check_unique(found + others, 3_000)
