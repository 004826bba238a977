"""The lease server keeps the rules of leases.py: no span overlaps another one of the same worker id."""

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from subject import Case, now_ms


class TestLease(Case):
    def test_claim_renew_release(self):
        server = self.start("--pool", 2)
        now = now_ms()
        lease = self.claimed(server, "a", until=now + 20_000)
        assert (lease["worker_id"], lease["lease_ms"], lease["peer_times"]) == (0, 30_000, [])
        assert lease["instance"] == "a"
        assert now <= lease["from"] <= lease["server_time"] <= now_ms()
        assert lease["until"] == now + 20_000
        again = self.claimed(server, "a")
        assert [lease[key] for key in ("worker_id", "from", "until", "token")] == \
                         [again[key] for key in ("worker_id", "from", "until", "token")]  # fmt: skip
        status, renewed = server.renew(lease, until=now + 25_000, nonce="n1")
        assert renewed["nonce"] == "n1"
        assert (status, renewed["until"], renewed["lease_ms"]) == (200, now + 25_000, 30_000)
        self.refused(server.renew(lease), 409, "worker_lost")
        self.refused(server.claim("a"), 409, "worker_in_use")
        lower = server.renew(renewed | {"worker_id": 0}, until=5)[1]
        assert lower["until"] == now + 25_000
        self.refused(server.release(lease), 409, "worker_lost")
        held = lease | lower
        used = now_ms() + 10_000
        for _ in range(2):
            assert server.release(held, until=used) == (204, None)
        self.refused(server.renew(held), 409, "worker_lost")
        # Released, but its ticks are not over: the other id is given.
        assert self.claimed(server, "b")["worker_id"] == 1
        self.refused(server.claim("c"), 409, "worker_in_use")
        server.pass_time(10_000)
        third = self.claimed(server, "c")
        assert (third["worker_id"], third["from"] >= used) == (0, True)

    def test_a_release_frees_no_more_than_its_own(self):
        server = self.start()
        lease = self.claimed(server)
        assert server.release(lease, until=0)[0] == 204
        row = server.do("leases", name="default")["leases"][0]
        assert (row["until"], row["held"], row["token"]) == (lease["from"], False, None)

    def test_the_lease_and_the_span_must_both_be_over(self):
        server = self.start("--pool", 1)
        first = self.claimed(server, "a", until=now_ms() + 40_000)
        server.pass_time(30_000)
        self.refused(server.claim("b"), 409, "worker_in_use")
        # It has no other holder: who holds the token can continue.
        first |= self.renewed(server, first, until=first["until"])
        server.pass_time(30_000)
        second = self.claimed(server, "b", until=server.now() + 1)
        assert second["from"] >= first["until"]
        time.sleep(0.01)
        self.refused(server.claim("c"), 409, "worker_in_use")
        self.refused(server.renew(first), 409, "worker_lost")

    def test_clocks_that_differ(self):
        server = self.start("--threshold-ms", 10_000)
        ahead = self.claimed(server, "a", ahead_ms=10_000)
        assert ahead["from"] <= ahead["server_time"]
        assert ahead["until"] <= ahead["server_time"] + 40_000
        wild = self.claimed(server, "b", ahead_ms=3_600_000)
        assert wild["until"] == wild["server_time"] + 40_000
        assert abs(wild["peer_times"][0] - now_ms() - 10_000) < 8000
        behind = self.claimed(server, "c", ahead_ms=-10_000)
        assert abs(behind["from"] - (now_ms() - 10_000)) < 8000
        late = self.claimed(server, "d", ahead_ms=-3_600_000)
        assert late["from"] < late["until"]
        assert len(late["peer_times"]) == 3
        # A server whose clock is behind: what it gave is not over for it, and nothing goes down.
        server.do("pool", size=4, clock_offset_ms=-60_000)
        self.refused(server.claim("e"), 409, "worker_in_use")
        assert server.renew(wild)[1]["until"] == wild["until"]

    def test_who_is_behind_gets_an_id_that_is_over_for_it(self):
        server = self.start("--pool", 2)
        released = self.claimed(server, "a")
        server.release(released, until=now_ms())
        time.sleep(0.01)
        assert self.claimed(server, "b", ahead_ms=-5000)["worker_id"] == 1
        far = self.claimed(server, "c", ahead_ms=-3_600_000)
        assert far["until"] > far["from"] > released["from"], far

    def test_names_are_apart(self):
        server = self.start("--pool", 1)
        leases = [self.claimed(server, name, name=name) for name in ("x", "y")]
        assert [(lease["worker_id"], lease["peer_times"]) for lease in leases] == [(0, [])] * 2
        self.refused(server.renew(leases[0], name="y"), 409, "worker_lost")
        assert server.renew(leases[0], name="x")[0] == 200

    def test_many_at_once(self):
        server = self.start("--pool", 8)
        answers = []
        threads = [threading.Thread(target=lambda n=n: answers.append(server.claim(f"i{n}"))) for n in range(12)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        ids = sorted(lease["worker_id"] for status, lease in answers if status == 200)
        assert (ids, sum(status == 409 for status, _ in answers)) == (list(range(8)), 4)

    def test_what_is_refused(self):
        server = self.start()
        for body in ("", "[]", '{"name":"a"}', '{"name":"a","instance":"b","now":"7"}', '{"name":1}', "{"):
            status, said, _ = server.ask("/api/worker/claim", "POST", body)
            assert (status, json.loads(said)["error"]) == (400, "invalid_argument"), body
        self.refused(server.lease("renew", worker_id=True, token="t", until=1), 400, "invalid_argument")
        self.refused(server.lease("renew", worker_id=7, token="t", until=1), 409, "worker_lost")
        assert server.ask("/api/worker/claim")[0] == 405
        server.do("token", token="secret")
        assert server.claim()[0] == 401

    def test_faults(self):
        server = self.start()
        server.do("fault", fault={"retry": True})
        lease = self.claimed(server)
        self.refused(server.renew(lease), 409, "worker_lost")
        server.do("clear")
        row = server.do("leases")["leases"][0]
        assert (row["instance"], row["renewals"], row["token"] == lease["token"]) == ("a", 1, False)
        assert server.renew(lease | row)[0] == 200
        other = self.claimed(server, "b")
        server.do("fault", fault={"duplicate": True}, tag="claim", times=1)
        assert server.claim("c")[1] == other
        server.do("fault", fault={"lost": True}, tag="release")
        with pytest.raises(http.client.RemoteDisconnected):
            server.release(other)
        assert server.do("leases")["leases"][1]["token"] is None
        server.do("fault", fault={"answer": {"until": 7, "token": None}}, tag="renew")
        assert server.claim("d")[1]["worker_id"] == 1
        assert server.do("report")["tags"]["renew"]["total"] == 2

    def test_what_stands_between_mixes_answers_up(self):
        server = self.start()

        def together(*asks):
            with ThreadPoolExecutor(len(asks)) as threads:
                return [asked.result()[1] for asked in [threads.submit(ask) for ask in asks]]

        a = self.claimed(server, "a")
        server.do("fault", fault={"collapse": 2}, tag="claim")
        b, also = together(lambda: server.claim("b"), lambda: server.claim("c"))
        assert b == also
        assert b["instance"] in ("b", "c")
        assert len(server.do("leases")["leases"]) == 2
        with ThreadPoolExecutor() as threads:
            alone = threads.submit(server.claim, "alone")
            while len(server.do("leases")["leases"]) < 3:
                pass
            server.do("clear")
            assert alone.result()[1]["instance"] == "alone", "it waits for no other once all is cleared"
        server.do("fault", fault={"duplicate": "first"}, tag="claim")
        assert server.claim("d")[1] == a
        server.do("fault", fault={"swap": True}, tag="renew", times=2)
        one, other = together(lambda: server.renew(a, nonce="1"), lambda: server.renew(b, nonce="2"))
        assert (one["nonce"], other["nonce"]) == ("2", "1")
        server.do("fault", fault={"answer": {"nonce": None}}, tag="renew")
        again = server.renew(a | {"token": other["token"]}, nonce="3")
        assert (again[0], "nonce" in again[1]) == (200, False)

    def test_a_table_that_may_be_old(self):
        server = self.start("--pool", 1)
        sleeper = self.claimed(server, "a", until=now_ms() + 1)
        server.pass_time(30_000)
        taker = self.claimed(server, "b", until=server.now() + 99_000)
        assert taker["until"] == taker["server_time"] + 40_000
        server.do("doubt")
        for lease in (sleeper, taker):
            self.refused(server.renew(lease), 409, "worker_lost")
        self.refused(server.claim("c"), 409, "worker_in_use")
        assert server.do("leases")["floor"] >= taker["until"]
        server.pass_time(39_000)
        self.refused(server.claim("c"), 409, "worker_in_use")
        server.pass_time(1000)
        assert self.claimed(server, "c")["from"] >= taker["until"]
