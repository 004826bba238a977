"""Worker ids leased from a server by its URL: whatever befalls the holders, the network, the clocks and the server's
table, no id comes twice, and none lies outside the spans that the server gave to the very process that made it."""

import http.client
import json
import os
import signal
import time

from harness import EPOCH_MS, NEVER_S, now_ms, test, wait_for
from lessees import Pool
from servers import FakeServer
from subjects import LANGUAGES, environment
from tricks import faketime, offset


def in_use(lessee):
    return "worker_in_use" in lessee.codes("refused")


def has_lost(lessee):
    """And nothing else. A server that continues withholds what was claimed meanwhile, for as long as a lease."""
    return {"worker_lost"} <= lessee.codes() <= {"worker_lost", "worker_in_use"}


@test("lease servers: 40 processes of four languages on a pool of 32: 8 wait, and come in as others end")
def _():
    # No lease is lost, however slow the machine is. A claim whose answer came late ends within a minute.
    pool = Pool(lease_ms=60_000)
    trap = FakeServer()
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), trap.url)
    kinds = ["rust", "c"] * 16 + ["python", "node"] * 4
    given = {"env": environment(**proxies), "pause_us": 20_000, "request_timeout_ms": 6_000, "timeout_ms": 7_000}
    alive = [pool.start(language, **given) for language in kinds]
    wait_for(lambda: sum(lessee.is_in() for lessee in alive) == 32, "32 of 40 to come in")
    outer = [lessee for lessee in alive if not lessee.is_in()]
    wait_for(lambda: all(map(in_use, outer)), "the other 8 to be refused")
    inner = [lessee for lessee in alive if lessee.is_in()]
    for lessee in inner[:: len(inner) // 8][:8]:
        lessee.close()
    for lessee in outer:
        wait_for(lessee.is_in, f"{lessee.name}, which was refused, to come in")
        lessee.await_ids()
    count = pool.end(1_000)
    lost, refused = ({code for lessee in alive for code in lessee.codes(kind)} for kind in ("error", "refused"))
    # The second is of a server that was late.
    assert not lost and refused <= {"worker_in_use", "worker_lost"}, (lost, refused)
    assert {worker for lessee in alive for worker in lessee.workers()} == {*range(32)}
    assert trap.report()["total"] == 0, "a proxy was asked for a server on loopback"
    return f"{count} ids, {sum(len(lessee.notes('refused')) for lessee in outer)} refusals"


@test("lease servers: stopped for longer than its lease while another takes its id, in four languages")
def _():
    pool = Pool(size=1, lease_ms=6_000)
    languages = list(LANGUAGES)
    # A name has a pool of its own.
    sleepers = {language: pool.start(language, name=f"{pool.where.name}-{language}") for language in languages}
    for sleeper in sleepers.values():
        sleeper.await_ids()
    takers = {}
    for sleeper in sleepers.values():
        os.kill(sleeper.pid, signal.SIGSTOP)
    spans = {sleeper: pool.span_in_use(sleeper) for sleeper in sleepers.values()}
    try:
        for nth, (language, sleeper) in enumerate(sleepers.items()):
            takers[language] = pool.start(languages[nth - 1], name=sleeper.given["name"])
        for taker in takers.values():
            taker.await_in()
            taker.await_ids()
        pool.resize(2)
    finally:
        for sleeper in sleepers.values():
            os.kill(sleeper.pid, signal.SIGCONT)
    for sleeper, span in spans.items():
        wait_for(lambda: pool.span_in_use(sleeper) != span, f"another lease of {sleeper.name}")
    for taker in takers.values():
        taker.await_ids()
    return f"{pool.end()} ids"


@test("lease servers: partitioned for longer than the lease: worker_lost, no id outside the span, recovered")
def _():
    pool = Pool(size=1)
    lessees = [pool.start(language, name=f"{pool.where.name}-{language}") for language in LANGUAGES]
    for lessee in lessees:
        lessee.await_ids()
    time.sleep(0.6)
    pool.server.hang()
    ends = {lessee: pool.held(lessee.given["name"])[0]["until_ms"] for lessee in lessees}
    for lessee in lessees:
        lessee.await_error("worker_lost")
    wait_for(lambda: now_ms() > max(ends.values()) + 200, "the end of the spans")
    for lessee in lessees:
        # What it made before is written down by then.
        lessee.await_another_error()
        had = len(lessee.ids())
        lessee.await_another_error()
        assert len(lessee.ids()) == had, f"{lessee.name} made ids without a lease"
        last = max(lessee.ids()) >> 22
        assert last + EPOCH_MS < ends[lessee], f"{lessee.name} made an id for {last + EPOCH_MS}, the span ended at {ends[lessee]}"
    pool.server.go_on()
    for lessee in lessees:
        lessee.await_ids()
        assert has_lost(lessee), f"{lessee.name}: {lessee.codes()}"
    return f"{pool.end()} ids"


@test("lease servers: clocks 10 s apart, and a partition that is longer than the leases")
def _():
    # What was given to a clock that is ahead is free again when the server's has come there: there are some more ids.
    pool = Pool(size=16, threshold_ms=12_000)
    clocks = {"rust": 10, "c": 0, "python": 5, "node": -5}
    lessees = {
        language: pool.start(
            language,
            name=f"{pool.where.name}-{nth // 2}",
            env=faketime(FAKETIME=offset(seconds)) if seconds else None,
        )
        for nth, (language, seconds) in enumerate(clocks.items())
    }
    for lessee in lessees.values():
        lessee.await_ids()
    for lessee, seconds in zip(lessees.values(), clocks.values()):
        begun, count = now_ms(), len(lessee.ids())
        # It takes 20 at a time, and the first of them may have been made before.
        wait_for(lambda: len(lessee.ids()) > count + 20, f"{lessee.name} to make more ids")
        made = (lessee.ids()[count + 20] >> 22) + EPOCH_MS - 1000 * seconds
        assert begun - 1_000 < made < now_ms() + 1_000, f"{lessee.name} made an id at {made}, between {begun} and {now_ms()}"
    pool.server.hang()
    for lessee in lessees.values():
        lessee.await_error("worker_lost")
    pool.server.go_on()
    for lessee in lessees.values():
        lessee.await_ids()
        assert has_lost(lessee), f"{lessee.name}: {lessee.codes()}"
    return f"{pool.end()} ids"


@test("lease servers: its table is an older copy again: leases of it end, and none overlaps")
def _():
    pool = Pool(size=4)
    lessees = [pool.start(language) for language in ("rust", "c", "python")]
    for lessee in lessees:
        lessee.await_ids()
    pool.snapshot()
    # What the copy does not know: renewals, an id that went to another, and a new holder.
    lessees[0].close()
    other, late = pool.start("rust"), pool.start("node")
    for lessee in (other, late):
        lessee.await_ids()
    time.sleep(0.8)
    alive = [*lessees[1:], other, late]
    spans = {lessee: pool.span_in_use(lessee) for lessee in alive}
    pool.rewind()
    for lessee, span in spans.items():
        wait_for(lambda: pool.span_in_use(lessee) != span, f"another lease of {lessee.name}")
    newcomer = pool.start("c")
    pool.resize(5)
    for lessee in [*alive, newcomer]:
        lessee.await_ids()
    return f"{pool.end()} ids"


@test("lease servers: a table that goes back unnoticed: who comes back to its state directory repeats nothing")
def _():
    pool = Pool(size=1)
    lessee = pool.start("c", host="one")
    lessee.await_ids()
    pool.snapshot()
    time.sleep(1.0)
    lessee.close()
    pool.rewind_unnoticed()
    again = [pool.start(language, host="one") for language in ("rust",)]
    for other in again:
        other.await_ids()
        other.close()
    made = [other.ids() for other in (lessee, *again)]
    assert max(made[0]) < min(made[1]), "the record was not heeded: ids are repeated"
    return f"{sum(map(len, made))} ids"


@test("lease servers: two clones with one token: the second is stopped at its first renewal")
def _():
    # Who is stopped at half of 20 s has 10 s of its span left for a machine that is busy.
    pool = Pool(size=1, lease_ms=20_000)
    given = {"request_timeout_ms": 9_000}
    lessees = [pool.start(language, name=f"{pool.where.name}-{language}", **given) for language in LANGUAGES]
    for lessee in lessees:
        lessee.await_ids()
    # Once renewed, so that it is not the token of the claim.
    wait_for(lambda: all(pool.held(lessee.given["name"])[0]["renewals"] for lessee in lessees), "the first renewals")
    # Whoever is stopped has another one to claim at once.
    pool.resize(2)
    known, refused = {}, 0
    for lessee in lessees:
        # The first clone is this test. It is asked for again where the lessee has just renewed.
        for _ in range(3):
            lease = pool.held(lessee.given["name"])[0]
            wish = {key: lease[key] for key in ("name", "worker_id", "token")} | {"until": lease["until_ms"] + 1_000}
            status, answer = post(pool.server, "renew", wish)
            if status == 200:
                break
            refused += 1
        assert status == 200 and answer["token"] != lease["token"], answer
        status, answer = post(pool.server, "renew", wish)
        assert (status, answer["error"]) == (409, "worker_lost"), "a token was good for two renewals"
        refused += 1
        known[lessee] = lease["until_ms"]
    for lessee in lessees:
        lessee.await_ids(worker=1)
        last = max(an_id >> 22 for an_id in lessee.ids() if an_id >> 12 & 1023 == 0) + EPOCH_MS
        assert last < known[lessee], f"{lessee.name} made an id for {last} beyond its last own renewal, to {known[lessee]}"
        again = pool.held(lessee.given["name"])[1]["begins_ms"]
        assert again < known[lessee] - 300, f"{lessee.name} claimed again from {again} only, its span lasted to {known[lessee]}"
        assert lessee.codes() <= {"worker_lost"}, lessee.codes()
    theirs = pool.server.metric("requests_total", api="renew", status="409") - refused
    assert theirs == len(lessees), f"refused were {theirs} renewals of theirs"
    return f"{pool.end()} ids"


def post(server, action, words):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=NEVER_S)
    connection.request("POST", f"/api/worker/{action}", json.dumps(words), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, json.loads(body) if body else None


@test("lease servers: a server that goes back unnoticed is found out, so the judge judges")
def _():
    # A lease that no start outlasts.
    pool = Pool(size=1, lease_ms=20_000)
    pool.snapshot()
    for language in ("c", "python"):
        # The table knows of neither.
        pool.rewind_unnoticed()
        lessee = pool.start(language, pause_us=200)
        lessee.await_ids()
        lessee.kill()
    try:
        pool.end()
    except AssertionError as error:
        assert any(word in str(error) for word in ("twice", "in common", "overlap")), error
        return str(error)[:120]
    raise AssertionError("two were given the same span, and the judge saw nothing in it")
