"""Requests that a web page of somebody else makes a browser send."""

import json
import subprocess

import pytest
from servers import BINARY, Server, make_tag, now_ms, until
from test_admin import administrator

JSON = {"Content-Type": "application/json"}


def claim():
    return json.dumps({"name": "default", "instance": "one", "now": now_ms()})


def takes(client, **headers):
    """What each call that takes or changes something answers to these headers."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    calls = [("GET", "/api/segment/get/order", None), ("POST", "/api/segment/get/order", None),
             ("GET", "/api/snowflake/get/any", None), ("POST", "/api/segment/range/order?nonce=1", None),
             ("POST", "/api/worker/claim", claim())]  # fmt: skip
    for method, path, body in calls:
        status, _, text = client.request(method, path, body, {**JSON, **headers} if body else headers)
        yield path, status, text


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:3000"},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Host": "evil.example"},
    {"Host": "evil.example", "Origin": "http://evil.example"},
])  # fmt: skip
def test_a_page_of_another_site_takes_nothing(file, headers):
    make_tag(file.url, "order")
    with Server(file.url, "--admin-listen", "127.0.0.1:0") as server:
        client, admin = server.client(), administrator(server)
        for path, status, text in takes(client, **headers):
            assert status == 403 and json.loads(text)["error"] == "forbidden", (path, text)
        words = {name.replace("_", "-"): value for name, value in headers.items()}
        assert admin.request("POST", "/api/tag", '{"tag": "new"}', {**JSON, **words})[0] == 403
        pages = ["/metrics", "/cache", "/db", "/monitor/state"]
        # A page reads nothing from another site, but from a name of its own that leads here.
        for page in pages:
            assert client.request("GET", page, headers=words)[0] == (403 if "Host" in words else 200), page
        for page in ("/monitor", "/health", "/ready"):
            assert client.request("GET", page, headers=words)[0] == 200, page
        assert file.sql("SELECT biz_tag || ' ' || max_id FROM leaf_alloc") == ["order 1"]
        assert client.ids("order") == [1]


def test_a_form_changes_nothing(file):
    make_tag(file.url, "order")
    kinds = [{}, *({"Content-Type": kind} for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"))]
    with Server(file.url, "--admin-listen", "127.0.0.1:0", "--no-snowflake") as server:
        client, admin = server.client(), administrator(server)
        for kind in kinds:
            status, _, text = admin.request("POST", "/api/tag", '{"tag": "order", "first": 5000}', kind)
            assert status == 403 and "application/json" in text, kind
            held = json.dumps({"worker_id": 0, "token": "x", "until": now_ms()})
            for path, body in (("claim", claim()), ("renew", held), ("release", held)):
                status, _, text = client.request("POST", f"/api/worker/{path}", body, kind)
                assert status == 403 and "application/json" in text, (path, kind)
        assert file.sql("SELECT max_id FROM leaf_alloc") == ["1"]
        assert file.sql("SELECT COUNT(*) FROM leafid_worker") == ["0"]


@pytest.mark.parametrize("headers, options", [
    ({}, []), ({"Host": "leaf"}, []), ({"Host": "localhost:8080", "Origin": "http://localhost:8080"}, []),
    ({"Sec_Fetch_Site": "same-origin"}, []), ({"Sec_Fetch_Site": "none"}, []),
    ({"Host": "ids.example.com"}, ["--host-name", "other.example.com,ids.example.com"]),
    ({"Host": "127.0.0.1", "Origin": "https://app.example.com"}, ["--host-name", "app.example.com"]),
])  # fmt: skip
def test_clients_proxies_and_pages_of_this_server_are_served(file, headers, options):
    make_tag(file.url, "order")
    with Server(file.url, *options) as server:
        client = server.client()
        until(lambda: client.ids("any", mode="snowflake"), "it has its worker id")
        for path, status, text in takes(client, **headers):
            assert status == 200, (path, text)


def test_whoever_has_a_token_is_no_page(file, tmp_path):
    """No page knows it, and gateways pass the headers of browsers on."""
    make_tag(file.url, "order")
    words = [BINARY, "token", "one", "--scope", "ids,ranges,leases,admin"]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    (tmp_path / "tokens.toml").write_text(made.stdout)
    with Server(file.url, "--tokens", tmp_path / "tokens.toml") as server:
        client = server.client(token=made.stderr.split()[-1])
        until(lambda: client.ids("any", mode="snowflake"), "it has its worker id")
        for path, status, text in takes(client, Origin="https://app.example", Sec_Fetch_Site="same-site", Host="api.example"):
            assert status == 200, (path, text)
        assert client.request("POST", "/api/tag", '{"tag": "new"}', {"Content-Type": "text/plain"})[0] == 201
