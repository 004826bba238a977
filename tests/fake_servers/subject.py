"""The fake server as a process, for its own tests."""

import contextlib
import http.client
import json
import random
import time

import client
import pytest


class FakeServer(client.FakeServer):
    later_ms = 0

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, method="GET", body=None, headers={}, connection=None):  # noqa: B006
        """(status, body, headers)"""
        own = contextlib.nullcontext(connection) if connection else contextlib.closing(self.connect())
        with own as asked:
            asked.request(method, path, body, headers)
            answer = asked.getresponse()
            return answer.status, answer.read().decode(), answer.headers

    def id(self, tag="order", mode="segment", connection=None):
        status, body, _ = self.ask(f"/api/{mode}/get/{tag}?nonce={random.getrandbits(64):x}", connection=connection)
        assert status == 200, body
        return int(body)

    def ids(self, count, tag="order", mode="segment"):
        with contextlib.closing(self.connect()) as connection:
            return [self.id(tag, mode, connection) for _ in range(count)]

    def lease(self, action, **words):
        status, body, _ = self.ask(f"/api/worker/{action}", "POST", json.dumps(words))
        return status, json.loads(body) if body else None

    def pass_time(self, ms):
        """The server's clock continues by so much, and what `claim` and `renew` take for the client's with it."""
        self.later_ms += ms
        self.do("pool", clock_offset_ms=self.later_ms)

    def now(self):
        return now_ms() + self.later_ms

    def claim(self, instance="a", ahead_ms=0, **words):
        now = self.now() + ahead_ms
        return self.lease("claim", **{"name": "default", "instance": instance, "now": now} | words)

    def renew(self, lease, **words):
        return self.lease("renew", **handle(lease) | {"until": self.now() + 30_000} | words)

    def release(self, lease, **words):
        return self.lease("release", **handle(lease) | {"until": lease["from"]} | words)


def handle(lease):
    return {"worker_id": lease["worker_id"], "token": lease["token"]}


def now_ms():
    return int(time.time() * 1000)


def expand(given):
    return [number for start, end, stride in given for number in range(int(start), int(end), stride)]


class Case:
    @pytest.fixture(autouse=True)
    def servers(self):
        self.started = []
        yield
        for server in self.started:
            server.end()

    def start(self, *words):
        self.started.append(FakeServer(*words))
        return self.started[-1]

    def claimed(self, server, *words, **more):
        status, lease = server.claim(*words, **more)
        assert status == 200, lease
        return lease

    def renewed(self, server, lease, **words):
        status, renewal = server.renew(lease, **words)
        assert status == 200, renewal
        return renewal

    def refused(self, answer, status, error):
        assert (answer[0], answer[1] and answer[1].get("error")) == (status, error), answer
