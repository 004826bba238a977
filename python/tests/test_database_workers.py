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


@pytest.fixture
def example(tmp_path, monkeypatch):
    """What the example defines; it runs itself meanwhile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAFID_STATE_DIR", str(tmp_path / "example"))
    return runpy.run_path(str(EXAMPLE), run_name="__main__")["Workers"]


@pytest.fixture
def rows(tmp_path):
    def rows():
        with contextlib.closing(sqlite3.connect(tmp_path / "shared.db")) as db:
            return db.execute("SELECT id, holder, until_ms FROM worker ORDER BY until_ms").fetchall()

    return rows


def test_it_prints_an_id_and_gives_the_worker_back(tmp_path, capsys, example):
    words = capsys.readouterr().out.split()
    assert words[1:4] == ["made", "by", "worker"]
    with contextlib.closing(sqlite3.connect(tmp_path / "workers.db")) as db:
        ((id, holder, until_ms),) = db.execute("SELECT * FROM worker WHERE until_ms > 0").fetchall()
    parts = leafid.decode(words[0])
    assert (id, holder, until_ms) == (int(words[4]), None, parts.timestamp_ms + 1)


def test_it_runs_alone(tmp_path):
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", str(EXAMPLE)],
            cwd=tmp_path,
            env=os.environ | {"LEAFID_STATE_DIR": str(tmp_path / "state")},
            capture_output=True,
            text=True,
        )
        # Other tests hold worker ids on this host, under other names.
        said = [line for line in done.stderr.splitlines() if "under another name" not in line]
        assert (done.returncode, said) == (0, []) and " made by worker " in done.stdout


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


def test_forked_processes_of_two_hosts(space, example, rows, tmp_path):
    """Two state directories stand for two hosts: nothing but the table keeps their worker ids apart."""
    names = (space["name"], space["name"] + "-as-seen-elsewhere")
    hosts = [tmp_path / "host-a", tmp_path / "host-b"]
    workers = example(tmp_path / "shared.db", range(16))
    flakes = [
        leafid.Snowflake(workers, name=name, state_dir=host, timeout_ms=20_000) for name, host in zip(names, hosts)
    ]
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
    assert all(holder is None for _, holder, _ in rows())


def test_all_taken(space, example, tmp_path):
    workers = example(tmp_path / "shared.db", range(2))
    other = {"name": space["name"], "state_dir": tmp_path / "other"}
    with leafid.Snowflake(workers, **space) as flake:
        same_table = example(tmp_path / "shared.db", range(2))
        with leafid.Snowflake(same_table, **other) as neighbour:
            assert {flake.worker_id, neighbour.worker_id} == {0, 1}
            with pytest.raises(leafid.WorkerInUseError, match="no free worker id"):
                leafid.Snowflake(example(tmp_path / "shared.db", range(2)), **space)
        with leafid.Snowflake(same_table, **other) as again:
            assert again.worker_id == 1


def test_killed_while_it_holds_a_lease(space, start, example, rows, tmp_path):
    """The id stays its own until its span has passed; another one is given meanwhile."""
    example(tmp_path / "shared.db", range(4))
    program = start(f"""
import contextlib, io, runpy
os.chdir({str(tmp_path)!r})
os.environ["LEAFID_STATE_DIR"] = {str(tmp_path / "example")!r}
with contextlib.redirect_stdout(io.StringIO()):
    Workers = runpy.run_path({str(EXAMPLE)!r})["Workers"]
flake = leafid.Snowflake(Workers("shared.db", range(4)), **space)
say(flake.take(1000)[-1])
sys.stdin.read()
""")
    last = int(program.line())
    program.kill()
    with leafid.Snowflake(example(tmp_path / "shared.db", range(4)), **space) as flake:
        first = flake.next()
        assert flake.worker_id != leafid.decode(last).worker_id
        assert first != last
    ((_, _, until_ms),) = [row for row in rows() if row[0] == leafid.decode(last).worker_id]
    assert until_ms > leafid.decode(last).timestamp_ms
