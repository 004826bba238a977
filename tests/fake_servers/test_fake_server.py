"""The dialects of Leaf and tinyid: what ids they give, and how they misbehave on command.

`make test OF=tools` runs them.
"""

import contextlib
import http.client
import json
import socket
from urllib.parse import urlencode

import pytest
from subject import Case, expand, now_ms

DECIMAL = "text/plain;charset=UTF-8"


class TestLeaf(Case):
    def test_what_a_leaf_says(self):
        leaf = self.start()
        assert leaf.ids(2500) == list(range(1, 2501))
        status, body, headers = leaf.ask("/api/segment/get/order")
        assert (status, body, headers["content-type"]) == (200, "2501", DECIMAL)
        assert leaf.ask("/api/segment/get/order.now")[1] == "2502"
        assert leaf.ask("/api/segment/get/%C3%A9", "POST")[1] == "1"
        assert [leaf.ask(f"/api/segment/get/{tag}")[0] for tag in ("a/b", "a%2Fb", "")] == [404, 400, 404]
        leaf.do("tag", tag="gone", known=False)
        status, body, headers = leaf.ask("/api/segment/get/gone?nonce=7")
        said = json.loads(body)
        assert abs(said.pop("timestamp") - now_ms()) < 10_000
        assert (status, headers["connection"]) == (500, "close")
        assert said == {"status": 500, "error": "Internal Server Error", "path": "/api/segment/get/gone",
                                "message": "Result{id=-2, status=EXCEPTION}"}  # fmt: skip

    def test_two_nodes(self):
        nodes = [self.start(), self.start("--first", 1_000_001)]
        for node in nodes:
            node.do("tag", tag="order", step=100, grows=False)
        got = [node.ids(717) for node in nodes]
        assert got == [list(range(1, 718)), list(range(1_000_001, 1_000_718))]
        assert [expand(node.do("given", tag="order")["given"]) for node in nodes] == got

    def test_steps_grow_as_those_of_leaf(self):
        leaf = self.start()
        for tag, grows, ends in ("order", True, [11, 21, 41, 81]), ("user", False, [11, 21, 31, 41]):
            leaf.do("tag", tag=tag, step=10, grows=grows)
            leaf.ids(ends[-1] - 1, tag)
            assert [int(end) for _, end, _ in leaf.do("given", tag=tag)["given"]] == ends
        leaf.do("tag", tag="order", next=7)
        assert leaf.id() == 7

    def test_modes(self):
        leaf = self.start("--leaf-worker-id", 5)
        leaf.do("leaf", segment="off")
        assert (leaf.ids(3), leaf.id("order", "snowflake") > 0) == ([0, 0, 0], True)
        leaf.do("leaf", segment="on")
        leaf.do("leaf", segment=-3, tag="order")
        assert "Result{id=-3, " in leaf.ask("/api/segment/get/order")[1]
        assert leaf.id("user") == 1
        ids = [*leaf.ids(500, "x", "snowflake"), *leaf.ids(500, "y", "snowflake")]
        assert ids == sorted(set(ids))
        assert all(number >> 12 & 1023 == 5 for number in ids)
        assert abs((ids[-1] >> 22) + 1288834974657 - now_ms()) < 10_000
        assert expand(leaf.do("given", mode="snowflake")["given"])[1:] == ids

    def test_reports(self):
        leaf = self.start()
        leaf.ids(10)
        leaf.ask("/api/segment/get/order?nonce=7")
        leaf.ask("/api/segment/get/order?nonce=7")
        report = leaf.do("report", requests=2)
        assert (report["total"], report["connections"], report["nonces_repeated"]) == (12, 3, 1)
        order, request = report["tags"]["order"], report["requests"][-1]
        assert [order[key] for key in ("given", "first_start", "last_end")] == [12, "1", "13"]
        assert (request["query"], request["given"]) == ({"nonce": "7"}, ["12", "13", 1])
        assert (request["status"], request["headers"]["host"]) == (200, f"127.0.0.1:{leaf.port}")

    def test_faults(self):
        leaf = self.start()
        leaf.id()
        leaf.do("fault", fault={"duplicate": True}, times=1)
        assert leaf.ids(2) == [1, 2]
        leaf.do("fault", fault={"retry": True}, times=1)
        assert leaf.ids(2) == [4, 5]
        leaf.do("fault", fault={"other": "user"}, times=1)
        leaf.do("tag", tag="user", next=777)
        assert leaf.ids(2) == [777, 6]
        leaf.do("fault", fault={"lost": True}, times=1)
        with pytest.raises(http.client.RemoteDisconnected):
            leaf.id()
        leaf.do("fault", fault={"cut": "half", "body": "1234"}, times=1)
        with pytest.raises(http.client.IncompleteRead):
            leaf.id()
        leaf.do("fault", fault={"delay_ms": 200}, times=1)
        with contextlib.closing(leaf.connect(0.05)) as connection:
            with pytest.raises(TimeoutError):
                leaf.id(connection=connection)
        leaf.do("fault", fault={"late_other": {"tag": "user", "after_ms": 20}}, times=1)
        with socket.create_connection(("127.0.0.1", leaf.port)) as connection:
            connection.sendall(b"GET /api/segment/get/order HTTP/1.1\r\nHost: a\r\n\r\n")
            came = b""
            while not came.endswith(b"778"):
                part = connection.recv(4096)
                assert part, came
                came += part
        assert came.count(b"HTTP/1.1 200") == 2
        leaf.do("clear")
        leaf.do("token", token="secret")
        assert leaf.ask("/api/segment/get/order")[0] == 401
        assert leaf.ask("/api/segment/get/order", headers={"Authorization": "Bearer secret"})[0] == 200


class TestTinyid(Case):
    def ask(self, server, **form):
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        path = "/tinyid/id/nextSegmentIdSimple?nonce=1"
        return server.ask(path, "POST", urlencode({"bizType": "order", "token": "t", **form}), headers)[:2]

    def test_two_databases(self):
        tinyid = self.start()
        ids, remainders = [], set()
        for _ in range(40):
            status, body = self.ask(tinyid)
            current, loading, highest, delta, remainder = map(int, body.split(","))
            assert (status, loading - current, highest - current, delta) == (200, 200, 1000, 2)
            ids += [number for number in range(current + 1, highest + 1) if number % delta == remainder]
            remainders.add(remainder)
        assert (len(ids), len(set(ids)), remainders) == (20_000, 20_000, {0, 1})
        tinyid.do("tag", tag="order", delta=3, remainder=2, step=9)
        highest = max(ids)
        body = self.ask(tinyid)[1].split(",")
        assert int(body[0]) >= highest and body[3:] == ["3", "2"], (body, highest)
        tinyid.do("fault", fault={"duplicate": True}, times=1)
        assert self.ask(tinyid)[1].split(",") == body
        assert tinyid.ask("/tinyid/id/nextSegmentIdSimple?bizType=user&token=t")[1].split(",")[0] == "0"

    def test_what_is_empty(self):
        tinyid = self.start()
        tinyid.do("token", token="secret")
        assert self.ask(tinyid) == (200, "")
        assert self.ask(tinyid, token="secret") != (200, "")
        tinyid.do("tags", known=False)
        assert self.ask(tinyid, token="secret", bizType="gone") == (200, "")
        assert self.ask(tinyid, token="secret", bizType="") == (200, "")
