"""Starts while the lease server is down: only inside a span that is still held, only in the directory that holds it, and
never after it was given back."""

import shutil
import time

from harness import now_ms, test, wait_for
from lessees import Pool
from subjects import LANGUAGES

HELD_MS = 5_000


def busy(pool):
    """Four processes that have ids, each with a name of its own."""
    lives = [pool.start(language, name=f"{pool.where.name}-{language}", host=language) for language in LANGUAGES]
    for life in lives:
        life.await_ids(15)
    time.sleep(0.3)
    return lives


def start_again(pool, life, **more):
    words = {"name": life.given["name"], "host": life.state.name, "timeout_ms": 1_000, **more}
    return pool.start(life.language, **words)


def refused_without(life):
    """It says that the server cannot be reached, and that nothing is held."""
    wait_for(lambda: life.notes("refused"), 10, f"{life.name} to be refused")
    assert life.codes("refused") == {"worker_lost"} and not life.is_in(), life.notes("refused", "in")


@test("lease servers: killed and started again while the server is down: ids inside the span, none after it", bound=60)
def _():
    pool = Pool(pool=2, lease_ms=HELD_MS, threshold_ms=500)
    lives = busy(pool)
    for life in lives:
        life.kill()
    pool.server.dead("refused")
    ends = {life: pool.held(life.given["name"])[0]["until"] for life in lives}
    again = {life: start_again(pool, life) for life in lives}
    for life, other in again.items():
        other.await_ids(HELD_MS / 1000)
        assert now_ms() < ends[life], "it took too long to see anything"
    # A copy of the directory holds nothing, nor does another directory.
    for life in lives:
        copy = life.state.with_name(f"{life.state.name}-copy")
        shutil.copytree(life.state, copy)
        refused_without(start_again(pool, life, host=copy.name))
    for life, other in again.items():
        other.await_error("worker_lost", 12)
        assert min(other.ids()) > max(life.ids()) and other.workers() == [0], f"{other.name}: {other.workers()}"
    for life, other in again.items():
        other.kill()
    wait_for(lambda: now_ms() > max(ends.values()), 5, "the end of the spans")
    late = [start_again(pool, life) for life in lives]
    for life in late:
        refused_without(life)
    pool.server.back()
    for life in late:
        life.await_ids(10)
    return f"{pool.end()} ids"


@test("lease servers: closed and started again while the server is down: refused, for the span was given back", sleeps=True)
def _():
    pool = Pool(pool=2, lease_ms=HELD_MS, threshold_ms=500)
    lives = busy(pool)
    for life in lives:
        life.close()
    pool.server.dead("refused")
    late = [start_again(pool, life) for life in lives]
    for life in late:
        refused_without(life)
    pool.server.back()
    for life in late:
        life.await_ids(10)
    return f"{pool.end()} ids"
