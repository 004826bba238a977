"""What stands between the holders and their lease server gives one answer to two, an older one, or that to another; and a
file with a token that others try to open. No id comes twice, no lease is used by whom it was not given to."""

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict

from harness import NEVER_S, PATIENT, need, need_root, test, wait_for
from lessees import Pool
from servers import FakeServer
from subjects import LANGUAGES

MIXED_UP = ("nothing of it is used", "A lease server must repeat the", "a cache or a proxy")


class MixedUp(Pool):
    """At a server that mixes up answers."""

    def serve(self, servers, size, lease_ms, threshold_ms):
        self.servers = [FakeServer(pool=size, lease_ms=lease_ms, threshold_ms=threshold_ms)]

    def spans(self):
        spans = defaultdict(dict)
        for name, worker, begins, until in self.server.do("spans")["spans"]:
            spans[name, worker][begins] = until
        return spans


def mixed_up(lessee):
    """Its refusals as the holder of an answer that was another's."""
    return [text for _, _, text in lessee.notes("refused") if text.startswith("source_invalid")]


def await_refused(lessee, field="instance"):
    wait_for(lambda: mixed_up(lessee), f"{lessee.name} to refuse an answer")
    for text in mixed_up(lessee):
        assert all(part in text for part in (*MIXED_UP, f"the {field} of another request")), text
    assert not lessee.is_in(), f"{lessee.name} came in with {mixed_up(lessee)}"


@test("lease servers: a proxy that makes one of all claims that come together: one holder, no id twice")
def _():
    pool = MixedUp(size=8, lease_ms=3_600_000)
    pool.server.fault({"collapse": 8}, tag="claim", times=8)
    lessees = [pool.start(language, **PATIENT, request_timeout_ms=120_000) for language in [*LANGUAGES, *LANGUAGES]]
    wait_for(lambda: sum(map(bool, map(mixed_up, lessees))) == 7, "7 of 8 to refuse the answer to another")
    for lessee in lessees:
        lessee.await_in()
        lessee.await_ids()
        assert lessee.codes() <= {"source_invalid"}, lessee.notes("error", "refused")
    assert len({worker for lessee in lessees for worker in lessee.workers()}) == 8
    return f"{pool.end()} ids, {sum(len(mixed_up(lessee)) for lessee in lessees)} answers refused"


@test("lease servers: a proxy that repeats an older answer to claims and renewals, in four languages")
def _():
    pool = MixedUp(size=64)
    first = pool.start("rust")
    first.await_ids()
    pool.server.fault({"duplicate": "first"}, tag="claim")
    lessees = [pool.start(language) for language in LANGUAGES]
    for lessee in lessees:
        await_refused(lessee)
        assert not list(lessee.state.rglob("worker-*")), f"{lessee.name} wrote down what is not its own"
    assert pool.server.report()["tags"].get("release", {}).get("total", 0) == 0, "another's lease was given back"
    pool.server.clear()
    for lessee in lessees:
        lessee.await_ids()
    # None of them is renewed: each is used to its end, and no further, and another one is claimed.
    spans = {lessee: pool.span_in_use(lessee) for lessee in (first, *lessees)}
    pool.server.fault({"duplicate": "first"}, tag="renew")
    for lessee, span in spans.items():
        wait_for(lambda: pool.span_in_use(lessee) != span, f"another lease of {lessee.name}")
        assert lessee.codes() <= {"source_invalid", "worker_lost"}, lessee.codes()
    pool.server.clear()
    for lessee in (first, *lessees):
        lessee.await_ids()
    return f"{pool.end()} ids"


@test("lease servers: answers to two claims, then to renewals, are swapped: none is used")
def _():
    pool = MixedUp(size=64, lease_ms=3_000)
    pool.server.fault({"swap": True}, tag="claim", times=2)
    # The first to come waits for the other.
    waits = {**PATIENT, "request_timeout_ms": 120_000}
    pair = [pool.start(language, **waits) for language in ("c", "node")]
    for lessee in pair:
        wait_for(lambda: mixed_up(lessee), f"{lessee.name} to refuse the answer to the other")
    lessees = [*pair, *(pool.start(language) for language in ("rust", "python"))]
    for lessee in lessees:
        lessee.await_ids()
    pool.server.fault({"swap": True}, tag="renew", times=8)
    time.sleep(3)
    pool.server.clear()
    for lessee in lessees:
        lessee.await_ids()
        assert lessee.codes() <= {"source_invalid", "worker_lost"}, lessee.codes()
    return f"{pool.end()} ids"


# Tries to open the files for as long as its input is open, and says of each whether it could.
THIEF = """
import os, select, sys
paths, taken = sys.argv[1:], set()
print("tries", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(50):
        for path in paths:
            try:
                os.close(os.open(path, os.O_RDONLY))
            except OSError:
                continue
            taken.add(path)
print("took", *sorted(taken), flush=True)
"""


@test("lease servers: another user tries all the time to open the file with the token, from before it is there")
def _():
    need_root("another user is needed")
    setpriv = need("setpriv", "util-linux")
    os.umask(0)
    pool = Pool(size=24, lease_ms=20_000)
    turns = [(language, f"{language}{turn}") for turn in range(3) for language in LANGUAGES]
    directories = [pool.where.unsynced(host) / pool.where.name for _, host in turns]
    thief = subprocess.Popen(
        [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", THIEF]
        + [str(directory / f"worker-{number}.{kind}") for directory in directories for number in range(12)
           for kind in ("lease", "state")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
    )  # fmt: skip
    try:
        assert thief.stdout.readline() == "tries\n"
        for number, (language, host) in enumerate(turns):
            lessee = pool.start(language, host=host)
            lessee.await_ids()
            file = directories[number] / f"worker-{lessee.workers()[0]}.lease"
            wait_for(file.exists, f"{lessee.name} to write its lease down")
            assert file.stat().st_mode & 0o777 == 0o600, oct(file.stat().st_mode)
        taken = thief.communicate("\n", timeout=NEVER_S)[0].split()[1:]
    finally:
        thief.send_signal(signal.SIGKILL)
        thief.wait()
    assert not [path for path in taken if path.endswith(".lease")], f"another user opened {taken}"
    return f"{pool.end()} ids"
