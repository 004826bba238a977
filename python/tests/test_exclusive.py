"""One holder of a worker id at a time, between processes."""

import logging
import os
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import leafid

HOLD = """
flake = leafid.Snowflake(space.pop("worker"), **space)
say(flake.worker_id, flake.next())
for _ in sys.stdin:
    say(*flake.take(1000))
"""


def test_the_second_is_refused_at_once_naming_the_holder(space, start):
    holder = start(HOLD, worker=7)
    holder.line()
    begun = time.monotonic()
    with pytest.raises(leafid.WorkerInUseError) as error:
        leafid.Snowflake(7, **space)
    assert time.monotonic() - begun < 1
    message = str(error.value)
    assert str(holder.pid) in message and socket.gethostname() in message and "7" in message
    # When the holder began, to the day at least.
    assert re.search(r"20\d\d-\d\d-\d\d", message), message
    assert error.value.code == "worker_in_use" and error.value.can_retry


def test_also_from_another_state_directory(space, start, tmp_path):
    holder = start(HOLD, worker=7)
    holder.line()
    with pytest.raises(leafid.WorkerInUseError, match=str(holder.pid)):
        leafid.Snowflake(7, name=space["name"], state_dir=tmp_path / "other")


def test_this_process_holds_against_others(space, run):
    with leafid.Snowflake(7, **space) as flake:
        flake.next()
        out = run(f"""
try:
    leafid.Snowflake(7, **space)
except leafid.WorkerInUseError as error:
    say(str({os.getpid()}) in str(error))
""")
        assert out == "True\n"


def test_a_full_range_is_waited_for(space):
    of = {"worker": range(3, 5), **space}
    one, other = leafid.Snowflake(random_start=1, **of), leafid.Snowflake(random_start=2, **of)
    waits = threading.Event()

    class Handler(logging.Handler):
        def emit(self, record):
            if "waiting up to 60000 ms" in record.getMessage():
                waits.set()

    handler = Handler()
    logging.getLogger("leafid").addHandler(handler)
    try:
        with ThreadPoolExecutor(1) as pool:
            third = pool.submit(lambda: leafid.Snowflake(random_start=3, timeout_ms=60_000, **of))
            assert waits.wait(30)
            freed = other.worker_id
            other.close()
            with third.result() as flake:
                assert flake.worker_id == freed and flake.next() > 0
    finally:
        logging.getLogger("leafid").removeHandler(handler)
    one.close()


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_the_ninth_of_a_range_of_eight(space, start, how):
    holders = [start(HOLD, worker="0-7") for _ in range(8)]
    ids = {int(holder.line().split()[0]) for holder in holders}
    assert ids == set(range(8))
    with pytest.raises(leafid.WorkerInUseError, match="0-7"):
        leafid.Snowflake(range(8), **space)
    if how == "exit":
        holders[3].process.stdin.close()
        holders[3].process.wait(10)
    else:
        os.kill(holders[3].pid, signal.SIGKILL)
        holders[3].process.wait(10)
    begun = time.monotonic()
    with leafid.Snowflake(range(8), **space) as flake:
        assert flake.worker_id in range(8)
    assert time.monotonic() - begun < 1


def test_killed_and_started_again_nothing_is_repeated(space, start):
    """Twenty lives of one worker id, each ended by SIGKILL while it makes ids."""
    seen, highest = set(), 0
    for life in range(20):
        holder = start(HOLD, worker=7)
        ids = [int(holder.line().split()[1])]
        for _ in range(life % 4):
            holder.send()
            ids += [int(id) for id in holder.line().split()]
        holder.send()
        holder.kill()
        assert ids[0] > highest and not seen.intersection(ids)
        seen.update(ids)
        highest = max(ids)
