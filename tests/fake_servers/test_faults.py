"""What chaos alone does to the fake server, and sees no effect of where all is well."""

import contextlib
import http.client
import json
import socket
import time

import pytest
from client import FakeServer


@pytest.fixture
def server():
    server = FakeServer("--pool", 1)
    yield server
    server.end()


def test_an_answer_for_another_tag_follows_on_the_same_connection(server):
    server.do("tag", tag="user", next=778)
    server.do("fault", fault={"late_other": {"tag": "user", "after_ms": 20}}, times=1)
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /api/segment/get/order HTTP/1.1\r\nHost: a\r\n\r\n")
        came = b""
        while not came.endswith(b"778"):
            part = connection.recv(4096)
            assert part, came
            came += part
    assert came.count(b"HTTP/1.1 200") == 2


def test_a_server_in_doubt_takes_all_leases_away_and_gives_none(server):
    def lease(action, **words):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
            connection.request("POST", f"/api/worker/{action}", json.dumps(words))
            answer = json.loads(connection.getresponse().read())
            return answer.get("error"), answer

    now = int(time.time() * 1000)
    error, held = lease("claim", name="default", instance="a", now=now)
    assert error is None
    server.do("doubt")
    assert lease("renew", worker_id=held["worker_id"], token=held["token"], until=now)[0] == "worker_lost"
    assert lease("claim", name="default", instance="b", now=now)[0] == "worker_in_use"
