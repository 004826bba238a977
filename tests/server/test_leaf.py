"""Leaf's API, its bytes, and its table."""

import itertools
import json
import re
import subprocess
from pathlib import Path

from servers import BINARY, Server, check_unique, in_threads, make_tag, until

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
LEAFS_TABLE = {
    "mariadb": """CREATE TABLE leaf_alloc (
        biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
        PRIMARY KEY (biz_tag)) ENGINE=InnoDB""",
    "postgresql": """CREATE TABLE leaf_alloc (
        biz_tag varchar(128) NOT NULL PRIMARY KEY, max_id bigint NOT NULL DEFAULT 1, step int NOT NULL,
        description varchar(256), update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP)""",
}
SPRING = re.compile(
    r'\{"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000","status":(\d+),"error":"([^"]+)","message":"([^"]*)",'
    r'"path":"([^"]+)"\}'
)


def max_id(store, tag):
    return int(store.sql(f"SELECT max_id FROM leaf_alloc WHERE biz_tag = '{tag}'")[0])


def test_an_id_is_bare_digits_and_a_failure_springs_json(file):
    make_tag(file.url, "order")
    with Server(file.url) as server:
        client = server.client()
        status, headers, body = client.request("GET", "/api/segment/get/order?nonce=1")
        assert (status, body, headers["content-type"]) == (200, "1", "text/plain;charset=UTF-8")
        assert client.request("POST", "/api/segment/get/order")[2] == "2"
        status, headers, body = client.request("GET", "/api/segment/get/none")
        assert headers["content-type"] == "application/json;charset=UTF-8"
        found = SPRING.fullmatch(body).groups()
        assert found == ("500", "Internal Server Error", "Result{id=-2, status=EXCEPTION}", "/api/segment/get/none")
        assert SPRING.fullmatch(client.get("/nothing")[1])[1] == "404"
        decoded = '{"workerId":"39","sequenceId":"3448","timestamp":"1567733700834(2019-09-06 01:35:00.834)"}'
        assert client.get("/decodeSnowflakeId?snowflakeId=1169786042799259000") == (200, decoded)
        assert client.get("/decodeSnowflakeId?snowflakeId=x")[1] == '{"errorMsg":"snowflake Id反解析发生异常!"}'
        assert client.get("/decodeSnowflakeId")[0] == 400
        (id,) = client.ids("any", mode="snowflake")
        assert json.loads(client.get(f"/decodeSnowflakeId?snowflakeId={id}")[1])["workerId"] == "0"


def test_a_batch_is_a_line_an_id_or_json(file):
    make_tag(file.url, "order", step=10)
    with Server(file.url, "--max-batch", "50") as server:
        client = server.client()
        assert client.ids("order", 3) == [1, 2, 3]
        assert client.get("/api/segment/get/order?n=2", Accept="application/json") == (200, '["4","5"]')
        rest_template = "text/plain, application/json, application/*+json, */*"
        assert client.get("/api/segment/get/order?n=2", Accept=rest_template) == (200, "6\n7")
        assert client.ids("order", 50) == list(range(8, 58)), "several ranges"
        for n in ("0", "51", "-1", "x", ""):
            assert client.get(f"/api/segment/get/order?n={n}")[0] == 400
        assert len(set(client.ids("any", 50, "snowflake"))) == 50


def test_tags_are_whole_and_modes_that_are_off_say_so(file):
    for tag in ("shop.order", "shop.item", "a/b", "zero"):
        make_tag(file.url, tag, first=0)
    with Server(file.url, "--no-snowflake") as server:
        client = server.client()
        assert client.ids("shop.order") == client.ids("shop.item") == client.ids("a/b") == [1]
        assert client.ids("zero", 3) == [1, 2, 3], "0 is no id"
        assert client.get("/api/snowflake/get/x")[0] == 404


def test_a_name_with_a_dot_has_one_counter(store, new_tag):
    """A stock Leaf, and a server with --strict-leaf, takes it from the part before its dot."""
    tag = new_tag(store, first=500)
    dotted, alone = tag + ".order", new_tag(store, suffix="-alone.order")
    done = subprocess.run([BINARY, "--store", store.url, "tag", dotted], capture_output=True, text=True)
    assert done.returncode == 1 and "--allow-dotted-tags" in done.stderr
    make_tag(store.url, dotted, options=["--allow-dotted-tags"])

    def said(*options):
        words = [BINARY, "--store", store.url, "--listen", "127.0.0.1:0", *options, "check"]
        lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
        return [line for line in lines if f'"{dotted}"' in line]

    with Server(store.url, "--strict-leaf", "--max-batch", "5") as strict, Server(store.url) as server:
        client, old = server.client(), strict.client()
        assert old.ids(dotted) == [500] and old.range(dotted, 5)[0] >= 500, "the tag itself is taken for both"
        assert client.ids(alone) == [1], "no other server gives it"
        status, body = client.get(f"/api/segment/get/{dotted}")
        assert status == 400 and "--allow-dotted-tags" in json.loads(body)["message"]
        status, answer = client.post(f"/api/segment/range/{dotted}?nonce=1")
        assert (status, answer["error"]) == (400, "invalid_argument") and "--strict-leaf" in answer["message"]
        assert max_id(store, dotted) == 1, "nothing was taken"
        until(lambda: f'"{dotted}"' in server.log() and f'"{dotted}"' in strict.log(), "both say so")
        assert json.loads(client.get("/ready")[1])["tags"] == 1
        store.sql(f"DELETE FROM leaf_alloc WHERE biz_tag = '{tag}'")
        make_tag(store.url, tag + ".item", first=7)
        assert client.ids(tag + ".item") == [7]
    make_tag(store.url, tag, options=["--allow-dotted-tags"])
    assert said()[0].startswith("WRONG") and said("--strict-leaf")[0].startswith("ok") and said("--allow-dotted-tags") == []
    with Server(store.url, "--allow-dotted-tags") as server:
        assert server.client().ids(dotted) == [1]


def test_a_dotted_tag_is_refused_once_the_tag_before_its_dot_is_made(file):
    make_tag(file.url, "shop.order", step=10)
    with Server(file.url) as server:
        client = server.client()
        found = client.ids("shop.order", 3)
        file.sql("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('shop', 1, 10)")
        until(lambda: client.ids("shop.order") == [], "its ids are used up")
        assert client.get("/api/segment/get/shop.order")[0] == 400
        file.sql("DELETE FROM leaf_alloc WHERE biz_tag = 'shop'")
        found += client.ids("shop.order", 3)
        check_unique(found, 6)


def test_strict_leaf_gives_the_old_bytes(file):
    make_tag(file.url, "shop", first=0)
    with Server(file.url, "--strict-leaf", "--no-snowflake") as server:
        client = server.client()
        assert [client.get(f"/api/segment/get/{tag}")[1] for tag in ("shop.order", "shop.item", "shop?n=5")] == list("012")
        assert client.get("/api/snowflake/get/x") == (200, "0")
        status, headers, _ = client.request("GET", "/api/segment/get/none")
        assert (status, headers["connection"]) == (500, "close")


def test_max_id_follows_the_vectors_of_the_adaptive_step(file):
    """Of each case the segments that last less than 15 minutes, up to a number of ids."""
    seen = 0
    with Server(file.url, "--max-batch", "1000000") as server:
        client = server.client()
        for number, case in enumerate(json.loads((VECTORS / "adaptive_step.json").read_text())["cases"]):
            tag = f"tag-{number}"
            make_tag(file.url, tag, case["db_step"], int(case["max_id"]))
            quick = itertools.takewhile(lambda fetch: (fetch["previous_fetch_age_ms"] or 0) < 900_000, case["fetches"])
            ends = [int(fetch["end"]) for fetch in quick]
            for end, following in zip(ends, ends[1:]):
                (id,) = client.ids(tag)
                # One segment ahead at most.
                assert max_id(file, tag) in (end, following), (case["name"], end)
                if end - int(case["max_id"]) > 70_000:
                    break
                rest = end - id - 1
                assert not rest or client.ids(tag, rest)[-1] == end - 1
                if rest:
                    until(lambda: max_id(file, tag) == following, f"{case['name']}: {following}")
                seen += 1
    assert seen > 50


def test_the_next_segment_is_fetched_at_the_vectors_id(file):
    cases = json.loads((VECTORS / "prefetch.json").read_text())["cases"]
    with Server(file.url, "--max-batch", "1000000") as server:
        client = server.client()
        for case in cases:
            case["tag"] = f"tag-{case['length']}"
            make_tag(file.url, case["tag"], case["length"])
            assert len(client.ids(case["tag"])) == 1
            if case["nth"] > 2:
                assert len(client.ids(case["tag"], case["nth"] - 2)) == case["nth"] - 2
        early = [case for case in cases if max_id(file, case["tag"]) != case["length"] + 1]
        assert not early, "fetched too early"
        for case in cases:
            client.ids(case["tag"])
            until(lambda: max_id(file, case["tag"]) == 2 * case["length"] + 1, f"{case} is fetched")


def test_a_new_row_and_a_changed_step_are_served_at_once(file):
    with Server(file.url) as server:
        client = server.client()
        assert client.ids("late") == []
        make_tag(file.url, "late", 10, 500)
        assert client.ids("late") == [500]
        make_tag(file.url, "late", 20)
        assert client.ids("late", 9) == list(range(501, 510))
        assert client.ids("late") == [510]
        until(lambda: max_id(file, "late") == 530, "the second range is of the new step")


def test_a_table_of_leaf_with_rows_is_used_as_it_is(engine):
    """Stock servers use it at the same time: their transaction, by the database's own client."""
    engine.sql("DROP TABLE IF EXISTS leaf_alloc")
    engine.sql(LEAFS_TABLE[engine.name])
    engine.sql("INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('leaf-segment-test', 5001, 100, 'Test')")
    ids = []
    with Server(engine.url) as server:
        assert server.client().ids("leaf-segment-test") == [5001]

        def stock():
            for _ in range(25):
                found = engine.sql(
                    "BEGIN; UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'leaf-segment-test'; "
                    "SELECT max_id FROM leaf_alloc WHERE biz_tag = 'leaf-segment-test'; COMMIT"
                )
                end = next(int(word) for word in found if word.isdecimal())
                ids.extend(range(end - 100, end))

        def ours():
            client = server.client()
            for _ in range(600):
                ids.extend(client.ids("leaf-segment-test", 50))

        in_threads(stock, stock, ours)
    check_unique(ids, 25 * 200 + 600 * 50)
    assert engine.sql("SELECT description FROM leaf_alloc WHERE biz_tag = 'leaf-segment-test'") == ["Test"]
    assert engine.sql("SELECT COUNT(*) FROM leaf_alloc WHERE biz_tag = 'leaf-segment-test'") == ["1"]
