"""tinyid's API: its calls, its answers, and its table of tokens."""

import json
import re
import threading
import urllib.parse

import pytest
from servers import Server, check_unique, in_threads, until

# As tinyid's own script makes it, or as near as the database comes.
TABLES = {
    "mariadb": """CREATE TABLE IF NOT EXISTS tiny_id_token (
        id int(11) unsigned NOT NULL AUTO_INCREMENT, token varchar(255) NOT NULL DEFAULT '', biz_type varchar(63) NOT NULL
        DEFAULT '', remark varchar(255) NOT NULL DEFAULT '', create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00',
        update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00', PRIMARY KEY (id))""",
    "postgresql": "CREATE TABLE IF NOT EXISTS tiny_id_token (id serial, token varchar(255), biz_type varchar(63))",
    "sqlite": "CREATE TABLE IF NOT EXISTS tiny_id_token (id integer PRIMARY KEY, token varchar(255), biz_type varchar(63))",
}
REFUSED = {"data": None, "code": 5, "message": "token is error"}


def allow(store, token, tag):
    store.sql(TABLES[store.name])
    store.sql(f"INSERT INTO tiny_id_token (token, biz_type) VALUES ('{token}', '{tag}')")


@pytest.fixture
def call(store, new_tag):
    """A server, its tag of step 100 with a token, and calls of it."""
    tag = new_tag(store, 100)
    allow(store, "s3cret", tag)
    with Server(store.url, "--max-batch", "500", environment={"LEAFID_SERVER_LOG": "debug"}) as server:
        client = server.client()

        def call(name, bizType=tag, token="s3cret", **more):
            words = urllib.parse.urlencode({"bizType": bizType, "token": token, **more})
            status, body = client.get(f"/tinyid/id/{name}?{words}")
            assert status == 200
            return body if name.endswith("Simple") else json.loads(body)

        call.server, call.tag, call.client = server, tag, client
        yield call
        assert "s3cret" not in server.log()


def test_each_call_answers_as_tinyid(call):
    assert call("nextId") == {"data": [1], "code": 200, "message": ""}
    assert call("nextId", batchSize=3)["data"] == [2, 3, 4]
    assert call("nextIdSimple") == "5"
    assert call("nextIdSimple", batchSize=2) == "6,7"
    assert len(call("nextId", batchSize=501)["data"]) == 500, "that many are given at most"
    segment = call("nextSegmentId")
    data = segment.pop("data")
    assert segment == {"code": 200, "message": ""}
    first = data["currentId"]
    assert data == {"maxId": first + 100, "loadingId": first + 20, "currentId": first, "delta": 1, "remainder": 0}
    numbers = [int(number) for number in call("nextSegmentIdSimple").split(",")]
    first = numbers[0]
    assert first >= data["maxId"] and numbers == [first, first + 20, first + 100, 1, 0]


def test_a_batch_may_be_empty_and_is_as_large_as_one_of_tinyid(file, new_tag):
    tag = new_tag(file, 10)
    allow(file, "s3cret", tag)
    words = f"bizType={tag}&token=s3cret&batchSize"
    with Server(file.url) as server:
        client = server.client()
        for path, size in (("nextId", ""), ("nextId/", "1"), ("/nextId", "1"), ("nextId;jsessionid=1F", "1")):
            status, body = client.get(f"/tinyid/id/{path}?{words}={size}")
            assert status == 200 and len(json.loads(body)["data"]) == 1, path
        for size in ("0", "-1", "-100000"):
            nothing = {"data": [], "code": 200, "message": ""}
            assert json.loads(client.get(f"/tinyid/id/nextId?{words}={size}")[1]) == nothing
            assert client.get(f"/tinyid/id/nextIdSimple?{words}={size}") == (200, "")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for name in ("nextId", "nextIdSimple", "nextSegmentId", "nextSegmentIdSimple"):
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                status, _, body = client.request(method, f"/tinyid/id/{name}/", f"{words}=2", form)
                assert status == 200 and "," in body and "null" not in body, (method, name)
            allowed = client.request("OPTIONS", f"/tinyid/id/{name}")[1]["allow"]
            assert allowed == "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS", name
        for size in ("99999", "100000", "100001"):
            ids = json.loads(client.get(f"/tinyid/id/nextId?{words}={size}")[1])["data"]
            assert len(set(ids)) == min(int(size), 100_000)
        assert client.get(f"/api/segment/get/{tag}?n=10001")[0] == 400


def test_a_form_is_read_as_a_query_is(call):
    form = {"Content-Type": "application/x-www-form-urlencoded;charset=UTF-8"}
    body = f"bizType={call.tag}&token=s3cret&batchSize=2"
    assert call.client.request("POST", "/tinyid/id/nextIdSimple", body, form)[2] == "1,2"
    assert call.client.request("POST", f"/tinyid/id/nextIdSimple?{body}")[2] == "3,4"
    assert call.client.request("POST", "/tinyid/id/nextIdSimple", body)[2] == "", "it is no form"
    assert call.client.request("POST", "/tinyid/id/nextIdSimple?token=wrong", body, form)[2] == "", "the query goes first"


def test_what_is_wrong_is_said_as_tinyid_says_it(call, store, new_tag):
    other = new_tag(store, suffix="-other")
    for words in ({"token": "wrong"}, {"token": ""}, {"bizType": ""}, {"bizType": other}):
        for name in ("nextId", "nextSegmentId"):
            assert call(name, **words) == REFUSED
            assert call(name + "Simple", **words) == ""
    allow(store, "s3cret", "none-" + call.tag)
    unknown = until(lambda: (found := call("nextId", bizType="none-" + call.tag)) != REFUSED and found, "it is allowed")
    assert (unknown["data"], unknown["code"]) == (None, 6)
    assert unknown["message"].startswith("can not find biztype")
    assert call("nextIdSimple", bizType="none-" + call.tag) == ""
    assert call("nextId", batchSize="x")["code"] == 6
    assert call("nextId", bizType="none-" + call.tag, batchSize="0")["code"] == 6
    store.sql(f"UPDATE leaf_alloc SET max_id = -5 WHERE biz_tag = '{call.tag}'")
    assert call("nextSegmentId")["code"] == 6 and call("nextSegmentIdSimple") == ""
    store.sql(f"DELETE FROM leaf_alloc WHERE biz_tag = '{call.tag}'")


def test_clients_of_all_protocols_share_one_counter(call):
    found, lock = [], threading.Lock()

    def tinyid():
        client, words = call.server.client(), f"bizType={call.tag}&token=s3cret"
        for _ in range(50):
            ids = client.get(f"/tinyid/id/nextIdSimple?{words}&batchSize=30")[1].split(",")
            current, _, last, _, _ = map(int, client.get(f"/tinyid/id/nextSegmentIdSimple?{words}")[1].split(","))
            with lock:
                found.extend([*map(int, ids), *range(current + 1, last + 1)])

    def others():
        client = call.server.client()
        for _ in range(50):
            ids, segment = client.ids(call.tag, 30), client.range(call.tag, 100)
            with lock:
                found.extend([*ids, *range(*segment)])

    in_threads(tinyid, tinyid, others, others)
    check_unique(found, 4 * 50 * 130)


def test_zero_is_no_id(file, new_tag):
    tag = new_tag(file, 10, 0)
    allow(file, "s3cret", tag)
    with Server(file.url) as server:
        words = f"bizType={tag}&token=s3cret"
        assert server.client().get(f"/tinyid/id/nextSegmentIdSimple?{words}")[1] == "0,1,9,1,0"


def test_without_the_table_nobody_is_allowed(file, new_tag):
    tag = new_tag(file)
    with Server(file.url) as server:
        status, body = server.client().get(f"/tinyid/id/nextId?bizType={tag}&token=x")
        assert (status, json.loads(body)) == (200, REFUSED)


def test_a_store_that_is_away_is_no_verdict_on_a_token(engine, new_tag):
    """Neither on one that was valid, although a wrong one made the table be read, nor on one that was not asked for."""
    tag, other = new_tag(engine, 1000), new_tag(engine, 1000, suffix="-other")
    for allowed in (tag, other):
        allow(engine, "s3cret", allowed)
    with Server(engine.url, "--store-timeout-ms", "500") as server:
        client = server.client()

        def call(bizType, token):
            words = urllib.parse.urlencode({"bizType": bizType, "token": token})
            return json.loads(client.get(f"/tinyid/id/nextId?{words}")[1])

        (first,) = until(lambda: call(tag, "s3cret")["data"], "it has ids")
        until(lambda: call(tag, "wrong") == REFUSED, "the table is read")
        engine.stop()
        try:
            until(lambda: client.get("/ready")[0] == 503, "the store is missed")
            # More than a second after the last reading a wrong token makes the table be read again.
            wrong = until(lambda: (found := call(tag, "wrong")) != REFUSED and found, "it is read again")
            assert wrong["code"] == 6 and re.search("does not answer|failed", wrong["message"]), wrong
            assert call(tag, "s3cret")["data"] == [first + 1], "the buffer is served"
            assert call(tag, "s3cret")["data"] == [first + 2]
        finally:
            engine.start()
        until(lambda: call(other, "s3cret")["data"], "the store is back")
        until(lambda: call(tag, "wrong") == REFUSED, "wrong ones are refused again")
