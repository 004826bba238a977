"""Starts while the lease server is down: only inside a span that is still held, only in the directory that holds it, and
never after it was given back."""

import shutil
import time

from harness import now_ms, test, wait_for
from lessees import Pool
from subjects import LANGUAGES

HELD_MS = 30_000


def busy(pool):
    """Four processes that have ids, each with a name of its own."""
    lessees = [pool.start(language, name=f"{pool.where.name}-{language}", host=language) for language in LANGUAGES]
    for lessee in lessees:
        lessee.await_ids()
    time.sleep(0.3)
    return lessees


def start_again(pool, lessee, **more):
    words = {"name": lessee.given["name"], "host": lessee.state.name, "timeout_ms": 1_000, **more}
    return pool.start(lessee.language, **words)


def refused_without(lessee):
    """It says that the server cannot be reached, and that nothing is held."""
    wait_for(lambda: lessee.codes("refused"), f"{lessee.name} to be refused")
    assert lessee.codes("refused") == {"worker_lost"} and not lessee.is_in(), lessee.notes("refused", "in")


@test("lease servers: killed and started again while the server is down: ids inside the span, none after it")
def _():
    pool = Pool(size=2, lease_ms=HELD_MS, threshold_ms=500)
    lessees = busy(pool)
    for lessee in lessees:
        lessee.kill()
    pool.server.kill()
    ends = {lessee: pool.held(lessee.given["name"])[0]["until_ms"] for lessee in lessees}
    again = {lessee: start_again(pool, lessee) for lessee in lessees}
    for lessee, other in again.items():
        other.await_ids()
        assert now_ms() < ends[lessee], "it took too long to see anything"
    # A copy of the directory holds nothing, nor does another directory.
    for lessee in lessees:
        copy = lessee.state.with_name(f"{lessee.state.name}-copy")
        shutil.copytree(lessee.state, copy)
        refused_without(start_again(pool, lessee, host=copy.name))
    for lessee, other in again.items():
        other.await_error("worker_lost")
        assert min(other.ids()) > max(lessee.ids()) and other.workers() == [0], f"{other.name}: {other.workers()}"
    for lessee, other in again.items():
        other.kill()
    wait_for(lambda: now_ms() > max(ends.values()), "the end of the spans")
    late = [start_again(pool, lessee) for lessee in lessees]
    for lessee in late:
        refused_without(lessee)
    pool.server.start()
    for lessee in late:
        lessee.await_ids()
    return f"{pool.end()} ids"
