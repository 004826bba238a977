"""Leases of worker ids from several servers of one store."""

import random
import re
import secrets
import threading
import time
from pathlib import Path

import pytest
from proxy import Proxy
from servers import Server, check_unique, in_threads, now_ms, until

JSON = {"Content-Type": "application/json"}
LEASE = ("--lease-ms", "1000", "--clock-threshold-ms", "500", "--no-snowflake")
# A lease that outlives any slow machine.
LONG_LEASE = ("--lease-ms", "3600000", "--clock-threshold-ms", "1200000", "--no-snowflake")


def instance():
    return secrets.token_hex(16)


def holder(name, lease, until_ms, token=None):
    return {"name": name, "worker_id": lease["worker_id"], "token": token or lease["token"], "until": until_ms}


def clock_off_by(seconds):
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if not library:
        pytest.skip("libfaketime is missing: apt install faketime")
    return {"LD_PRELOAD": str(library), "FAKETIME": seconds, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def check_spans(spans):
    """No two spans of one worker id overlap."""
    spans = sorted(spans)
    for (id, begins, ends), (other, next_begins, _) in zip(spans, spans[1:]):
        assert begins < ends, "a span is empty"
        assert id != other or ends <= next_begins, f"worker id {id} has two holders from {next_begins} to {ends}"
    print(f"{len(spans)} spans, overlaps 0")


def test_two_servers_never_grant_one_span_twice(any_store, name):
    check_holders([Server(any_store.url, "--workers", "0-5", *LEASE) for _ in range(2)], name)


def check_holders(servers, name):
    """Holders claim, renew, release or vanish, each call by another server. Their clocks differ. On a busy machine it
    takes longer until there are enough spans."""
    spans, ends = [], time.monotonic() + 8

    def hold(apart_ms):
        clients = [server.client() for server in servers]
        while time.monotonic() < ends or len(spans) <= 30:
            now = now_ms() + apart_ms
            asked = {"name": name, "instance": instance(), "now": now, "until": now + 400}
            status, lease = random.choice(clients).post("/api/worker/claim", asked)
            # 503: who has the lock of the rows may stand for longer than a lock is waited for.
            if status in (409, 503):
                time.sleep(0.02)
                continue
            assert status == 200, lease
            assert lease["instance"] == asked["instance"]
            begins, until_ms = lease["from"], lease["until"]
            for _ in range(random.randrange(4)):
                wish = {**holder(name, lease, now_ms() + apart_ms + 400), "nonce": instance()}
                status, renewed = random.choice(clients).post("/api/worker/renew", wish)
                if status in (409, 503):
                    break
                assert status == 200 and renewed["nonce"] == wish["nonce"] and renewed["until"] >= until_ms
                until_ms, lease["token"] = renewed["until"], renewed["token"]
            if random.random() < 0.7 and status == 200:
                given_back = random.randrange(begins, until_ms + 1)
                status, _ = random.choice(clients).post("/api/worker/release", holder(name, lease, given_back))
                if status in (204, 503):
                    until_ms = max(given_back, begins)
            if begins < until_ms:
                spans.append((lease["worker_id"], begins, until_ms))

    try:
        in_threads(*(lambda apart=apart: hold(apart) for apart in (0, 0, 0, 0, -300, 300, -900, 400)))
    finally:
        for server in servers:
            server.kill()
    check_spans(spans)


def test_one_claim_to_two_servers_gets_one_answer(any_store, name):
    servers = [Server(any_store.url, *LONG_LEASE) for _ in range(2)]
    try:
        for _ in range(10):
            one, answers = instance(), []
            now = now_ms()
            asks = {"name": name, "instance": one, "now": now, "until": now + 3_600_000}
            in_threads(*(lambda s=s: answers.append(s.client().post("/api/worker/claim", asks)) for s in servers))
            (status, first), (other_status, second) = answers
            assert (status, other_status) == (200, 200)
            same = ("worker_id", "from", "until", "token", "instance")
            assert [first[key] for key in same] == [second[key] for key in same]
    finally:
        for server in servers:
            server.kill()


def test_claims_of_one_moment_get_different_ids(any_store, name):
    servers = [Server(any_store.url, "--workers", "0-7", *LONG_LEASE) for _ in range(2)]
    moment, rounds, refused = threading.Barrier(6), [[] for _ in range(25)], []

    def claim(at):
        client = servers[at % 2].client()
        client.get("/health")
        for found in rounds:
            moment.wait()
            status, lease = client.claim(instance(), name)
            if status == 200:
                found.append(lease["worker_id"])
                moment.wait()
                back = holder(name, lease, lease["from"] + 1)
                until(lambda: client.post("/api/worker/release", back)[0] == 204, "it is given back")
            else:
                refused.append(str(lease))
                moment.wait()

    try:
        in_threads(*(lambda at=at: claim(at) for at in range(6)))
    finally:
        for server in servers:
            server.kill()
    # A lock is waited for 5 s, and who has it may stand for longer.
    late = re.compile("Lock wait timeout|lock timeout|is locked")
    assert all(rounds) and all(map(late.search, refused)), refused
    assert all(len(found) == len(set(found)) for found in rounds), rounds


def test_a_pool_that_is_used_up_says_so(any_store, name):
    with Server(any_store.url, "--workers", "7-8", *LONG_LEASE) as server:
        client = server.client()
        leases = [client.claim(instance(), name)[1] for _ in range(2)]
        assert [lease["worker_id"] for lease in leases] == [7, 8]
        status, answer = client.claim(instance(), name)
        assert (status, answer["error"]) == (409, "worker_in_use")
        assert client.claim(instance(), f"{name}-other")[1]["worker_id"] == 7, "each name has its own ids"
        last = now_ms()
        assert client.post("/api/worker/release", holder(name, leases[0], last))[0] == 204
        assert client.post("/api/worker/release", holder(name, leases[0], last))[0] == 204, "a repeated one"
        again = until(lambda: (found := client.claim(instance(), name))[0] == 200 and found[1], "it is free")
        assert again["worker_id"] == 7 and again["from"] >= last


def test_a_pool_that_shrinks_empties_itself(any_store, name):
    with Server(any_store.url, "--workers", "6-8", *LEASE) as server:
        lease = server.client().claim(instance(), name)[1]
        assert lease["worker_id"] == 6
    with Server(any_store.url, "--workers", "7-8", *LEASE) as server:
        client = server.client()
        status, answer = client.post("/api/worker/renew", holder(name, lease, lease["until"] + 400))
        assert (status, answer["error"]) == (409, "worker_lost"), answer
        assert "worker id 6 is none of 7-8" in answer["message"]
        assert client.claim(instance(), name)[1]["worker_id"] == 7
    with Server(any_store.url, "--workers", "6", *LEASE) as server:
        client = server.client()
        again = until(lambda: (found := client.claim(instance(), name))[0] == 200 and found[1], "it is free")
        assert again["from"] >= lease["until"]


def test_a_token_is_good_once(any_store, name):
    with Server(any_store.url, *LEASE) as server:
        client = server.client()
        lease = client.claim(instance(), name)[1]
        ahead = now_ms() + 800
        status, renewed = client.post("/api/worker/renew", holder(name, lease, ahead))
        assert status == 200 and renewed["token"] != lease["token"]
        for call in ("renew", "release"):
            status, answer = client.post(f"/api/worker/{call}", holder(name, lease, ahead))
            assert (status, answer["error"]) == (409, "worker_lost")
        status, _ = client.post("/api/worker/renew", holder(name, lease, ahead, renewed["token"]))
        assert status == 200


def test_wrong_bodies_are_refused(file):
    with Server(file.url) as server:
        client = server.client()
        right = {"name": "default", "instance": instance(), "now": now_ms()}
        for wrong in ({"name": "a b"}, {"instance": ""}, {"instance": "x" * 129}, {"now": -1}, {"now": 2**53 + 1},
                      {"now": "5"}, {"until": 1.5}, {"instance": "a\nb"}):  # fmt: skip
            status, answer = client.post("/api/worker/claim", {**right, **wrong})
            assert (status, answer["error"]) == (400, "invalid_argument"), wrong
        assert client.request("POST", "/api/worker/claim", "no JSON", JSON)[0] == 400
        assert client.request("POST", "/api/worker/claim", "x" * 20_000, JSON)[0] == 413


def test_a_table_that_was_rewound_grants_nothing(store, name):
    copy = name.replace("-", "_")
    rows = "begins_ms, until_ms, ends_ms, token, released, instance, renewals, clock_ahead_ms"

    def store_copy():
        store.sql(f"DROP TABLE IF EXISTS {copy}")
        store.sql(f"CREATE TABLE {copy} AS SELECT {rows} FROM leafid_worker WHERE name = '{name}'")

    def rewind(lost):
        # The copy knows nothing of the second claim.
        store.sql(f"DELETE FROM leafid_worker WHERE name = '{name}' AND worker_id = {lost}")
        store.sql(f"UPDATE leafid_space SET revision = revision - 1 WHERE name = '{name}'")

    check_rewound(store.url, name, store_copy, rewind)


def check_rewound(url, name, store_copy, rewind):
    """That an id is granted once all is over is a test of the rules: ../../server/src/lease_rules/tests.rs."""
    with Server(url, *LONG_LEASE) as server:
        client = server.client()
        old = client.claim(instance(), name)[1]
        store_copy()
        lost = client.claim(instance(), name)[1]
        assert lost["worker_id"] != old["worker_id"]
        rewind(lost["worker_id"])
        status, answer = client.claim(instance(), name)
        assert status == 409 and "old one" in answer["message"]
        wait_ms = int(re.search(r"for (\d+) ms more", answer["message"])[1])
        assert 4_800_000 < wait_ms <= 6_000_000, "lease, threshold, and the threshold again: the store's clock may be another one"
        status, answer = client.post("/api/worker/renew", holder(name, old, now_ms() + 500))
        assert (status, answer["error"]) == (409, "worker_lost"), "tokens of an old table are void"


def test_commits_whose_answer_is_lost_give_nothing_twice(engine, new_tag, name):
    """Ranges become gaps; a claim that is repeated gets the id, the span and the token that were stored."""
    tag = new_tag(engine, 10)
    check_lost_commits(engine.url, engine.port, Proxy(engine.port), tag, name)


def check_lost_commits(url, port, proxy, tag, name):
    ids, spans, ends = [], [], threading.Event()
    with Server(url.replace(str(port), str(proxy.own_port)), *LEASE, "--timeout-ms", "500") as server:

        def take():
            client = server.client()
            while not ends.is_set():
                ids.extend(client.ids(tag, 7))
                ids.extend(range(*(client.range(tag, 5) or (0, 0))))

        def lose_some():
            proxy.losing.set()
            time.sleep(0.05)
            proxy.losing.clear()
            time.sleep(0.15)
            return proxy.lost > 10

        def lose():
            try:
                until(lose_some, "commits are lost")
                client = server.client()
                for _ in range(10):
                    one = instance()
                    proxy.losing.set()
                    status, _ = client.claim(one, name, until=now_ms() + 300)
                    proxy.losing.clear()
                    status, lease = until(
                        lambda: (found := client.claim(one, name, until=now_ms() + 300))[0] == 200 and found, "claimed"
                    )
                    spans.append((lease["worker_id"], lease["from"], lease["until"]))
                until(lambda: len(ids) >= 200, "enough ids")
            finally:
                ends.set()

        in_threads(take, take, lose)
    proxy.close()
    with Server(url, *LEASE) as server:
        given = server.client().range(tag, 1)[0] - 1
    assert given > len(ids), "what was lost is a gap"
    check_unique(ids)
    check_spans(spans)


def test_own_snowflakes_of_servers_that_die_and_restart_are_unique(store, name):
    options = ("--lease-ms", "1000", "--clock-threshold-ms", "500", "--snowflake-name", name)
    servers = [Server(store.url, *options) for _ in range(3)]
    found, ends = [[] for _ in range(6)], threading.Event()

    def take(at):
        mine, client = found[at], None
        while not ends.is_set():
            try:
                client = client or servers[at % 3].client()
                mine.extend(client.ids("any", 30, "snowflake"))
                mine.extend(client.ids("any", mode="snowflake"))
            except Exception:
                client = None
                time.sleep(0.02)

    def let_go_on():
        had = sum(map(len, found))
        time.sleep(0.5)
        until(lambda: sum(map(len, found)) > had + 300, "ids come")

    def kill():
        try:
            for turn in range(6):
                let_go_on()
                at = turn % 3
                servers[at].end() if turn % 2 else servers[at].kill()
                servers[at] = Server(store.url, *options)
            let_go_on()
        finally:
            ends.set()

    try:
        in_threads(kill, *(lambda at=at: take(at) for at in range(6)))
    finally:
        for server in servers:
            server.kill()
    check_unique([id for ids in found for id in ids], 2_000)


def test_one_fixed_worker_id_after_a_server_whose_clock_was_ahead(file, name):
    """The second server waits until the span of the first is over, although its own clock is behind."""
    options = ("--lease-ms", "1000", "--clock-threshold-ms", "4000", "--snowflake-name", name,
               "--snowflake-worker", "7", "--timeout-ms", "100")  # fmt: skip
    ids = []
    with Server(file.url, *options, environment=clock_off_by("+2s")) as first:
        client = first.client()
        ids += until(lambda: client.ids("any", 501, "snowflake"), "it has its worker id")
        until_ms = int(file.sql(f"SELECT until_ms FROM leafid_worker WHERE name = '{name}'")[0])
        first.kill()
    with Server(file.url, *options) as second:
        client = second.client()
        refused = client.ids("any", mode="snowflake")
        assert refused == [] or now_ms() >= until_ms, "the span of the first is not over"
        ids += refused
        ids += until(lambda: client.ids("any", 500, "snowflake"), "it has its worker id")
        assert (min(ids[501:]) >> 22) + 1288834974657 >= until_ms
    check_unique(ids, 1_000)


def test_a_clean_stop_gives_the_worker_id_back(file, name):
    with Server(file.url, "--snowflake-name", name) as server:
        client = server.client()
        until(lambda: client.ids("any", 100, "snowflake"), "it has its worker id")
        assert server.end() == 0, server.log()
    (row,) = file.sql(f"SELECT token || ' ' || (until_ms < {now_ms() + 1000}) FROM leafid_worker WHERE name = '{name}'")
    assert row == " 1", "it has no holder, and its span ends now"


def test_names_are_bounded_and_only_a_claim_makes_one(file, name):
    with Server(file.url, *LEASE, "--max-names", "2") as server:
        client = server.client()
        stranger = {"name": f"{name}-x", "worker_id": 3, "token": "none", "until": now_ms()}
        for call in ("renew", "release"):
            status, answer = client.post(f"/api/worker/{call}", stranger)
            assert (status, answer["error"]) == (409, "worker_lost")
        for at in range(2):
            assert client.claim(instance(), f"{name}-{at}")[0] == 200
        status, answer = client.claim(instance(), f"{name}-2")
        assert (status, answer["error"]) == (409, "worker_in_use") and "--max-names" in answer["message"]
        assert client.claim(instance(), f"{name}-1")[0] == 200
    assert len(file.sql("SELECT name FROM leafid_space")) == 2


def test_the_metrics_show_own_worker_ids_and_claims(file, name):
    with Server(file.url, "--workers", "3-9", "--snowflake-name", name, "--lease-ms", "3600000") as server:
        client = server.client()
        until(lambda: client.ids("any", 1, "snowflake"), "it has a worker id")
        for _ in range(2):
            assert client.claim(instance(), f"{name}-other")[0] == 200
        text = client.get("/metrics")[1]
        labels = f'{{name="{name}",worker_id="3",state_dir="",layout="leaf"}}'
        assert f"leafid_snowflake_handles{labels} 1\n" in text, text
        assert 'leafid_server_workers{first="3",last="9"} 1\n' in text, text
        assert f'leafid_server_claims_total{{name="{name}-other"}} 2\n' in text, text
        assert text.count("# EOF") == 1 and text.endswith("# EOF\n")
