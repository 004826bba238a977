"""docs/LEASES.md's leases from a database, as several processes and hosts use them."""

import contextlib
import multiprocessing
import os
import pathlib
import runpy
import sqlite3
import subprocess
import sys
import time

import pytest

import leafid

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "database_workers.py"
Workers = runpy.run_path(str(EXAMPLE))["Workers"]


def shared(space):
    return pathlib.Path(space["state_dir"], "shared.db")


@pytest.fixture
def rows(space):
    def rows():
        with contextlib.closing(sqlite3.connect(shared(space))) as db:
            return db.execute("SELECT id, holder, until_ms FROM worker ORDER BY until_ms").fetchall()

    return rows


def test_it_runs_alone(space, own):
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", str(EXAMPLE)],
            cwd=space["state_dir"],
            env=os.environ | {"LEAFID_STATE_DIR": space["state_dir"]},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, own(done.stderr)) == (0, "") and " made by worker " in done.stdout


def take_all(flake, pipe, rows):
    ids = []
    for _ in range(20):
        ids += flake.take(500)
    pipe.send(ids)
    flake.close()
    # A close waits 2 s for its release, and a busy disk may take longer; the process lives as long.
    for _ in range(6_000):
        if all(id != leafid.decode(ids[-1]).worker_id for id, holder, _ in rows() if holder):
            break
        time.sleep(0.01)


def test_forked_processes_of_two_hosts(space, rows, wait):
    """Two state directories stand for two hosts: nothing but the table keeps their worker ids apart."""
    names = (space["name"], space["name"] + "-as-seen-elsewhere")
    hosts = [f"{space['state_dir']}/host-{host}" for host in "ab"]
    workers = Workers(shared(space), range(16))
    flakes = [leafid.Snowflake(workers, **space | dict(name=name, state_dir=host)) for name, host in zip(names, hosts)]
    before = [flake.next() for flake in flakes]
    fork, pipes, children = multiprocessing.get_context("fork"), [], []
    for flake in flakes * 4:
        ours, theirs = fork.Pipe(duplex=False)
        children.append(fork.Process(target=take_all, args=(flake, theirs, rows)))
        children[-1].start()
        theirs.close()
        pipes.append(ours)
    taken = [pipe.recv() for pipe in pipes]
    for child in children:
        child.join()
        assert child.exitcode == 0
    after = [flake.next() for flake in flakes]
    ids = [id for part in taken for id in part] + before + after
    assert len(set(ids)) == len(ids) == 8 * 10_000 + 4
    # Ten generators at once, each with an id of its own: also on the two hosts, whose host locks do not meet.
    assert len({leafid.decode(id).worker_id for id in [part[0] for part in taken] + before}) == 10
    held = [holder for _, holder, _ in rows() if holder]
    assert len(held) == len(set(held)) == 2
    for flake in flakes:
        flake.close()
    wait(lambda: all(holder is None for _, holder, _ in rows()))


def test_of_two_copies_of_a_holder_one_renews(space):
    workers = Workers(shared(space), range(2))
    lease = workers.claim(leafid.ClaimRequest(space["name"], "one", None, 1_000, 3_000))
    renewed = workers.renew(lease, 5_000)
    assert renewed["until_ms"] == 5_000
    assert workers.renew(lease, 6_000) is None
    lease = leafid.Lease(lease.worker_id, lease.from_ms, **renewed)
    assert workers.renew(lease, 4_000)["until_ms"] == 5_000


def test_a_clock_that_is_a_year_ahead_blocks_no_worker_id(space):
    def claim(now_ms):
        return workers.claim(leafid.ClaimRequest(space["name"], "one", None, now_ms, now_ms + 30_000))

    workers = Workers(shared(space), range(2))
    now = time.time_ns() // 1_000_000
    year = now + 365 * 86_400_000
    live, fast, third = claim(now), claim(year), claim(year)
    renewed = workers.renew(fast, year)
    most = time.time_ns() // 1_000_000 + 40_000
    assert live.until_ms == now + 30_000
    assert max(fast.until_ms, renewed["until_ms"]) <= most
    # None, unless these calls took half a minute.
    assert third is None or third.from_ms <= most - 40_000
    workers.release(leafid.Lease(fast.worker_id, fast.from_ms, **renewed), fast.from_ms)
    assert claim(now).worker_id == fast.worker_id


def test_no_worker_id_is_free(space):
    with pytest.raises(leafid.WorkerInUseError, match="no free worker id"):
        leafid.Snowflake(Workers(shared(space), ()), **space)
