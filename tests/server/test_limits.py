"""What a server refuses, and how it stops."""

import contextlib
import json
import socket
import sqlite3
import time
from pathlib import Path

import pytest
from servers import Server, in_threads, make_tag, until


def raw(server, words):
    with socket.create_connection(server.address) as connection:
        connection.sendall(words)
        answer = b""
        while more := connection.recv(65536):
            answer += more
            if b"\r\n\r\n" in answer:
                break
        return answer.split(b" ", 2)[1].decode() if answer else ""


def test_heads_bodies_and_tags_are_bounded(file):
    make_tag(file.url, "order")
    with Server(file.url, "--max-tags", "3") as server:
        head = "GET /api/segment/get/order HTTP/1.1\r\nHost: x\r\n"
        assert raw(server, f"{head}\r\n".encode()) == "200"
        assert raw(server, f"{head}X: {'x' * 20_000}\r\n\r\n".encode()) == "431"
        many = "".join(f"X-{number}: 1\r\n" for number in range(100))
        assert raw(server, f"{head}{many}\r\n".encode()) == "431"
        client = server.client()
        assert client.request("POST", "/api/worker/claim", "x" * 20_000, {"Content-Type": "application/json"})[0] == 413
        for number in range(5):
            make_tag(file.url, f"tag-{number}")
        got = [bool(client.ids(f"tag-{number}")) for number in range(5)]
        assert got == [True, True, False, False, False]
        assert client.ids("order") and client.ids("tag-0"), "those that are held go on"
        assert all(client.ids(f"none-{number}") == [] for number in range(20))
        assert client.get("/api/segment/get/" + "x" * 200)[0] == 400


def test_names_without_a_row_keep_no_tag_from_its_ids(engine, new_tag):
    """Whatever was asked for while the store was away, and by names that no row has."""
    good = [new_tag(engine, suffix=f"-{number}") for number in range(3)]
    with Server(engine.url, "--max-tags", "3", "--store-timeout-ms", "1000") as server:
        client = server.client()
        engine.stop()
        try:
            until(lambda: client.get("/ready")[0] == 503, "the store is missed")
            assert all(client.ids(tag) == [] for tag in [*(f"none-{number}" for number in range(5)), good[2]])
        finally:
            engine.start()
        until(lambda: client.get("/ready")[0] == 200, "the store is back")
        assert all(client.ids(f"none-{number}") == [] for number in range(5))
        for tag in good:
            until(lambda: client.ids(tag), "it is served")
        assert json.loads(client.get("/ready")[1])["tags"] == 3


def test_many_names_without_a_row_ask_the_store_a_few_times_a_second_and_keep_no_tag_from_its_ids(engine, new_tag):
    if engine.name != "mariadb":
        pytest.skip("it does not count its statements")
    good = [new_tag(engine, suffix=f"-{number}") for number in range(3)]
    # The first is held before, and the others are first asked for meanwhile.
    count = 1_000
    got = {tag: [] for tag in good}

    def statements():
        return int(engine.sql("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
                              "WHERE VARIABLE_NAME = 'Questions'")[0])  # fmt: skip

    with Server(engine.url, "--no-snowflake") as server:
        client = server.client()
        got[good[0]] += client.ids(good[0])
        before, begun = statements(), time.monotonic()

        def ask(thread):
            one = server.client()
            for at in range(2_000):
                assert one.get(f"/api/segment/get/none-{thread}-{at}")[0] == 500

        def take(tag):
            one = server.client()
            # A name that is seen for the first time is looked for at most a second later.
            got[tag] += until(lambda: one.ids(tag), "its row is found")
            while len(got[tag]) < count:
                got[tag] += one.ids(tag) or pytest.fail(f"{tag} has no id after {len(got[tag])}")

        in_threads(*[lambda thread=thread: ask(thread) for thread in range(10)], *[lambda tag=tag: take(tag) for tag in good])
        # Of 50 names a second one by one, the names of all rows, and looks. Each of the 20,000 by itself takes three.
        assert statements() - before < 1_000 + 200 * (time.monotonic() - begun)
        assert all(ids == list(range(1, count + 1)) for ids in got.values())
        fresh = new_tag(engine, suffix="-fresh")
        assert until(lambda: client.ids(fresh), "a new row is served") == [1]


def test_connections_beyond_the_bound_wait(file):
    make_tag(file.url, "order")
    with Server(file.url, "--max-connections", "2") as server:
        kept = [server.client(), server.client()]
        assert [client.ids("order") for client in kept] == [[1], [2]]
        with socket.create_connection(server.address) as third:
            third.sendall(b"GET /api/segment/get/order HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            # Others are answered again and again meanwhile.
            assert [client.ids("order") for _ in range(100) for client in kept][-1] == [202]
            assert not is_read(third)
            kept[0].connection.close()
            answer = b"".join(iter(lambda: third.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\n203"), answer


def test_a_stop_ends_what_was_begun(file):
    """A request that waits for an id gets it, although the server got a signal to stop meanwhile."""
    with Server(file.url, "--timeout-ms", "60000") as server:
        # SQLite's lock delays the range until after the signal.
        make_tag(file.url, "order")
        with (
            contextlib.closing(sqlite3.connect(file.url, isolation_level=None)) as locker,
            socket.create_connection(server.address) as connection,
        ):
            locker.execute("BEGIN IMMEDIATE")
            connection.sendall(b"GET /api/segment/get/order HTTP/1.1\r\nHost: x\r\n\r\n")
            until(lambda: is_read(connection), "the server has the request")
            server.process.terminate()
            until(lambda: "leafid-server stops" in server.log(), "it stops")
            time.sleep(0.3)
            locker.execute("COMMIT")
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\n1")
        assert server.process.wait() == 0
        assert "has stopped" in server.log()


def test_a_stop_keeps_the_worker_id_until_all_requests_have_ended(file, name):
    with Server(file.url, "--snowflake-name", name) as server:
        until(lambda: server.client().ids("any", mode="snowflake"), "it has its worker id")
        with socket.create_connection(server.address) as connection:
            connection.sendall(b"POST /api/snowflake/get/any?n=3 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
            until(lambda: is_read(connection), "the server has the request")
            server.process.terminate()
            until(lambda: "leafid-server stops" in server.log(), "it stops")
            time.sleep(0.3)
            connection.sendall(b"x")
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ") and len(answer.split(b"\r\n\r\n")[1].split()) == 3, answer
        assert server.process.wait() == 0
    assert file.sql(f"SELECT token = '' FROM leafid_worker WHERE name = '{name}'") == ["1"], "it is given back"


def test_a_server_lives_and_is_ready_when_it_has_no_room_for_requests(file):
    make_tag(file.url, "order")
    with Server(file.url, "--max-requests", "1") as server, socket.create_connection(server.address) as connection:
        client = server.client()
        connection.sendall(b"POST /api/segment/get/order HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
        # Before another request takes the room.
        until(lambda: is_read(connection), "the server has the request")
        until(lambda: client.get("/api/segment/get/order")[0] == 503, "it has no room")
        assert [client.get(path)[0] for path in ("/health", "//health/", "/ready")] == [200, 200, 200]
        assert client.get("/api/segment/get/order")[0] == 503


def is_read(connection):
    """Whether the other end, on this host too, has read all that came to it."""
    ports = [f"{end[1]:04X}" for end in (connection.getpeername(), connection.getsockname())]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (queues,) = [row[4] for row in rows if [end.split(":")[1] for end in row[1:3]] == ports]
    return int(queues.split(":")[1], 16) == 0


def test_metrics_and_health_are_there(file):
    make_tag(file.url, "order")
    with Server(file.url) as server:
        client = server.client()
        client.ids("order", 7)
        status, text = client.get("/metrics")
        assert status == 200
        assert 'leafid_server_tag_ids_total{tag="order"} 7' in text
        assert 'leafid_server_requests_total{api="segment",status="200"} 1' in text
        assert text.endswith("# EOF\n")
        assert client.get("/health") == (200, "ok\n")


def test_no_password_is_shown(file):
    secret = "s3cret-word"
    with Server(f"mysql://leaf:{secret}@127.0.0.1:1/leaf", "--start-timeout-ms", "500", "--store-timeout-ms", "200",
                wait=False) as server:  # fmt: skip
        assert server.process.wait() == 1
        assert secret not in server.log() and "mysql://…@127.0.0.1:1/leaf" in server.log()


def test_no_answer_may_be_cached(file):
    """A shared cache would give the id of one client to others."""
    make_tag(file.url, "order")
    file.sql("CREATE TABLE tiny_id_token (token varchar(255), biz_type varchar(63))")
    file.sql("INSERT INTO tiny_id_token VALUES ('one', 'order')")
    words = "bizType=order&token=one"
    calls = "nextId", "nextIdSimple", "nextSegmentId", "nextSegmentIdSimple"
    tinyid = [f"GET /tinyid/id/{call}?{words}" for call in calls]
    good = ["GET /api/segment/get/order", "GET /api/segment/get/order?n=2", "GET /api/snowflake/get/any", *tinyid,
            "POST /api/segment/range/order?nonce=1"]  # fmt: skip
    with Server(file.url) as server:
        client = server.client()
        until(lambda: client.ids("any", mode="snowflake"), "it has its worker id")
        for request in (*good, "GET /api/segment/get/none", "GET /nothing", "POST /api/segment/range/none?nonce=1"):
            status, headers, _ = client.request(*request.split())
            assert (status == 200) == (request in good), request
            assert headers["cache-control"] == "no-store", request
        lease = client.claim("one")[1]
        given_back = json.dumps({"worker_id": lease["worker_id"], "token": lease["token"], "until": lease["from"]})
        for method, path, body, status in (
            ("PUT", "/api/segment/range/order", None, 405),
            ("POST", "/api/worker/claim", "x" * 20_000, 413),
            ("POST", "/tinyid/id/nextId", "x" * 20_000, 413),
            ("POST", "/api/worker/release", given_back, 204),
        ):
            found, headers, _ = client.request(method, path, body, {"Content-Type": "application/json"})
            assert (found, headers["cache-control"]) == (status, "no-store"), path
        assert client.request("GET", "/monitor/page.js")[1]["cache-control"] == "no-cache"
