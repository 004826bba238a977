"""Tags made and changed over HTTP, and Leaf's pages."""

import json
import re
import subprocess

import pytest
from servers import BINARY, Client, Server, make_tag, until

ADMIN = re.compile(r"the admin API listens on 127\.0\.0\.1:(\d+)")


def administrator(server, **more):
    server.clients.append(Client(("127.0.0.1", int(ADMIN.search(server.log())[1])), **more))
    return server.clients[-1]


@pytest.fixture
def tokens(tmp_path):
    """Makes a file of one token, and returns it and the token."""

    def make(*scopes, tag="*"):
        words = [BINARY, "token", "one", "--scope", ",".join(scopes), "--tag", tag]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        (tmp_path / "tokens.toml").write_text(done.stdout)
        return tmp_path / "tokens.toml", done.stderr.split()[-1]

    return make


def test_a_tag_is_made_served_at_once_and_changed(store, tag):
    with Server(store.url, "--admin-listen", "127.0.0.1:0") as server, Server(store.url) as other:
        client, admin = server.client(), administrator(server)
        assert client.ids(tag) == []
        made = admin.post("/api/tag", {"tag": tag, "step": 20, "first": 500, "description": "orders <of> \"Ö\""})
        row = {"tag": tag, "max_id": "500", "step": 20, "description": 'orders <of> "Ö"'}
        assert made == (201, {**row, "created": True})
        assert client.ids(tag) == [500] and other.client().ids(tag) == [520]
        assert admin.post("/api/tag", {"tag": tag, "step": 50}) == (
            200, {**row, "max_id": "540", "step": 50, "created": False}
        )  # fmt: skip
        assert admin.post("/api/tag", {"tag": tag, "first": 7})[1]["max_id"] == "540", "never set back"
        assert admin.post("/api/tag", {"tag": tag, "first": 1_000})[1]["max_id"] == "1000"
        assert admin.post("/api/tag", {"tag": tag, "description": ""})[1]["description"] == ""
        assert client.range(tag, 10) == (1000, 1010)
        assert admin.post("/api/tag", {"tag": tag + "-plain"})[1] == {
            "tag": tag + "-plain", "max_id": "1", "step": 1000, "description": "", "created": True
        }  # fmt: skip
        assert client.ids(tag + "-plain") == [1]


def test_wrong_bodies_are_refused_and_make_nothing(file):
    with Server(file.url, "--admin-listen", "127.0.0.1:0") as server:
        admin = administrator(server)
        for wrong in ({}, {"tag": ""}, {"tag": "x" * 129}, {"tag": "a\nb"}, {"tag": "a", "step": 0}, {"tag": "a", "first": -1},
                      {"tag": "a", "step": 2**31}, {"tag": "a", "first": 2**63}, {"tag": "a", "description": "x" * 257},
                      {"tag": "a", "stp": 1}, ["a"]):  # fmt: skip
            status, answer = admin.post("/api/tag", wrong)
            assert (status, answer["error"]) == (400, "invalid_argument"), wrong
        assert admin.request("POST", "/api/tag", "{", {"Content-Type": "application/json"})[0] == 400
        assert admin.get("/api/tag")[0] == 405
        assert file.sql("SELECT COUNT(*) FROM leaf_alloc") == ["0"]


def test_no_counter_is_raised_to_its_end(store, tag):
    most = 2**48
    with Server(store.url, "--admin-listen", "127.0.0.1:0") as server:
        admin = administrator(server)
        for first in (2**63 - 1, 2**63 - most):
            status, answer = admin.post("/api/tag", {"tag": tag, "first": first})
            assert (status, answer["error"]) == (400, "invalid_argument"), "a new one"
        assert server.client().ids(tag) == []
        assert admin.post("/api/tag", {"tag": tag, "first": 1000})[0] == 201
        for first in (2**63 - 1, 1001 + most):
            status, answer = admin.post("/api/tag", {"tag": tag, "first": first, "step": 7})
            assert status == 400 and "above the counter, which is at 1000" in answer["message"], answer
        assert admin.post("/api/tag", {"tag": tag})[1]["step"] == 1000, "nothing was changed"
        assert admin.post("/api/tag", {"tag": tag, "first": 1000 + most})[1]["max_id"] == str(1000 + most)


def test_the_admin_api_is_apart_from_the_public_one(file, tokens):
    make_tag(file.url, "order")
    with Server(file.url) as server:
        status, answer = server.client().post("/api/tag", {"tag": "new"})
        assert status == 403 and answer["message"].startswith("the admin API is off")
    with Server(file.url, "--admin-listen", "127.0.0.1:0") as server:
        assert server.client().post("/api/tag", {"tag": "new"})[0] == 404
        admin = administrator(server)
        assert admin.get("/api/segment/get/order")[0] == 404
        assert admin.get("/health")[0] == admin.get("/metrics")[0] == admin.get("/db")[0] == 200
        assert server.end() == 0
    made, secret = tokens("ids", "metrics")
    with Server(file.url, "--tokens", made, "--admin-listen", "127.0.0.1:0") as server:
        assert administrator(server).post("/api/tag", {"tag": "new"})[0] == 401
        assert administrator(server, token=secret).post("/api/tag", {"tag": "new"})[0] == 403
    made, secret = tokens("admin", tag="order*")
    with Server(file.url, "--tokens", made) as server:
        client = server.client(token=secret)
        assert client.post("/api/tag", {"tag": "new"})[0] == 403
        assert client.post("/api/tag", {"tag": "order2"})[0] == 201
        assert client.get("/cache")[0] == 403
        assert server.client().post("/api/tag", {"tag": "order3"})[0] == 401
    assert file.sql("SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag") == ["order", "order2"]


def test_the_pages_show_what_a_leaf_shows(store, new_tag):
    tag, odd = new_tag(store, 100), new_tag(store, suffix="<b>&")
    store.sql(f"UPDATE leaf_alloc SET description = 'of shops' WHERE biz_tag = '{tag}'")
    with Server(store.url) as server:
        client = server.client()
        assert client.ids(tag, 3) == [1, 2, 3]
        (row,) = [row for row in json.loads(client.get("/cache", Accept="application/json")[1]) if row["name"] == tag]
        assert row == {"name": tag, "init": "true", "next": "false", "pos": "0", "value0": "4", "max0": "101",
                       "step0": "100", "value1": "0", "max1": "0", "step1": "0"}  # fmt: skip
        assert len(client.ids(tag, 20)) == 20

        def next_is_there():
            rows = json.loads(client.get("/cache", Accept="application/json")[1])
            return [row for row in rows if row["name"] == tag and row["next"] == "true"]

        (row,) = until(next_is_there, "the next segment is there")
        assert (row["value0"], row["max0"], row["value1"]) == ("24", "101", "101")
        rows = json.loads(client.get("/db", Accept="application/json")[1])
        (row,) = [row for row in rows if row["tag"] == tag]
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row.pop("update"))
        assert row["step"] == "100" and int(row["max"]) > 200 and row["description"] == "of shops"
        for page, columns in (("cache", "name init next pos value0 max0 step0 value1 max1 step1"),
                              ("db", "tag max step update description")):  # fmt: skip
            client.ids(odd)
            status, headers, html = client.request("GET", f"/{page}")
            assert status == 200 and headers["content-type"] == "text/html;charset=UTF-8"
            assert re.findall("<th>(.*?)</th>", html) == columns.split()
            assert f"<td>{tag}</td>" in html and "&lt;b&gt;&amp;</td>" in html and "<b>" not in html


def test_a_page_begins_behind_a_tag_and_shows_what_the_token_may_see(file, tokens):
    for name in ("a", "b", "c"):
        make_tag(file.url, name)
    made, every = tokens("ids")
    whole = made.read_text()
    made, secret = tokens("metrics", "ids", tag="b*")
    made.write_text(made.read_text() + whole)
    with Server(file.url) as server:
        client = server.client()
        assert all(client.ids(name) for name in "abc")
        for page, column in (("/db", "tag"), ("/cache", "name")):
            rows = json.loads(client.get(f"{page}?after=a", Accept="application/json")[1])
            assert [row[column] for row in rows] == ["b", "c"]
    with Server(file.url, "--tokens", made) as server:
        client, all_tags = server.client(token=secret), server.client(token=every)
        assert client.ids("b") and all_tags.ids("a")
        for page in ("/db", "/cache"):
            assert len(json.loads(client.get(page, Accept="application/json")[1])) == 1
        text = client.get("/metrics")[1]
        assert set(re.findall(r'tag="(.*?)"', text)) == {"b"} and "leafid_server_tags 1\n" in text
