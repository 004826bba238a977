"""The monitor page and its figures."""

import json
import os
import re
import subprocess
import urllib.parse

import pytest
from servers import BINARY, Server, make_tag, now_ms, until

HOSTILE = "<script>alert(1)</script>"


def state(client, **words):
    status, body = client.get("/monitor/state?" + urllib.parse.urlencode(words))
    assert status == 200, body
    return json.loads(body)


def row(client, tag, **words):
    (found,) = [each for each in state(client, search=tag, **words)["tags"] if each["tag"] == tag]
    return found


def test_a_tag_shows_both_segments_as_ids_are_taken(store, new_tag):
    tag = new_tag(store, 100)
    with Server(store.url) as server:
        client = server.client()
        assert client.ids(tag, 3) == [1, 2, 3]

        def after(position, segments):
            shown = until(lambda: (found := row(client, tag))["segments"][0]["position"] == position
                          and len(found["segments"]) == segments and found, f"at {position}")  # fmt: skip
            return shown

        one = after("4", 1)
        assert one["segments"] == [{"from": "1", "position": "4", "end": "101"}]
        assert (one["left"], one["step"], one["error"]) == (97, 100, None) and one["fetch_ms"] > 0
        assert len(client.ids(tag, 20)) == 20
        two = after("24", 2)
        first, second = two["segments"]
        assert first == {"from": "1", "position": "24", "end": "101"}
        assert second["from"] == second["position"] == "101" and int(second["end"]) > 101
        assert two["left"] == 77 + int(second["end"]) - 101

        def is_measured():
            client.ids(tag, 5)
            found = row(client, tag)
            return (found["ids_per_second"] or 0) > 1 and found

        found = until(is_measured, "there is a rate")
        assert found["seconds_left"] == pytest.approx(found["left"] / found["ids_per_second"], rel=0.2)
        client.range(tag, 5000)
        until(lambda: (row(client, tag)["range_ids_per_second"] or 0) > 0, "ranges are counted")


def test_a_lease_is_listed_until_it_is_released(store, name):
    options = "--workers", "0-31", "--lease-ms", "3600000", "--no-snowflake"
    with Server(store.url, *options) as server:
        client = server.client()
        instance = "<b>x</b>" + "0123456789abcdef" * 2
        asked = {"name": name, "instance": instance, "now": now_ms() + 7_200_000}
        status, lease = client.post("/api/worker/claim", asked)
        assert status == 200

        def leases():
            return state(client, name=name)["leases"]

        found = until(lambda: leases()["held"] and leases(), "it is listed")
        assert found["name"] == name and {"name": name, "held": 1} in found["names"]
        assert (found["first_worker_id"], found["last_worker_id"], found["lease_ms"]) == (0, 31, 3_600_000)
        (held,) = found["held"]
        assert held["worker_id"] == lease["worker_id"] and held["holder"] == instance[:12] + "…"
        assert 0 < held["left_ms"] <= 3_600_000 and 3_600_000 < held["clock_ahead_ms"] < 7_300_000
        assert {held[key] for key in ("host", "pid", "version", "url")} == {""}, "the claim does not say who it is"
        assert instance not in json.dumps(found) and lease["token"] not in json.dumps(found)
        given_back = {"name": name, "worker_id": lease["worker_id"], "token": lease["token"], "until": now_ms()}
        assert client.post("/api/worker/release", given_back)[0] == 204
        # Who asks for a name without leases is shown another one's.
        until(lambda: name not in [each["name"] for each in leases()["names"]], "it is gone")


def test_the_own_worker_id_is_marked(file):
    with Server(file.url) as server:
        client = server.client()
        found = until(lambda: (seen := state(client)["leases"])["own_worker_id"] is not None and seen, "it is held")
        assert found["own_worker_id"] in [lease["worker_id"] for lease in found["held"]]


def test_it_names_its_server_and_the_others_of_the_store(any_store):
    """Also that which holds no worker id is seen."""
    with Server(any_store.url) as one, Server(any_store.url, "--no-snowflake") as other:
        urls = {one.url, other.url}

        def seen(server):
            """Servers of other tests that were killed are shown for a while, too."""
            found = state(server.client())
            found["servers"] = [each for each in found["servers"] if each["url"] in urls]
            return len(found["servers"]) == 2 and found

        for server in (one, other):
            found = until(lambda: seen(server), "both are seen")
            own, host = found["server"], os.uname().nodename
            assert (own["url"], own["pid"], own["host"]) == (server.url, str(server.process.pid), host)
            expected = {(host, str(each.process.pid), f"leafid-server/{own['version']}", each.url) for each in (one, other)}
            keys = ("host", "pid", "version", "url")
            assert {tuple(each[key] for key in keys) for each in found["servers"]} == expected

        def holds():
            held = [lease for lease in state(other.client())["leases"]["held"] if lease["url"] == one.url]
            return held and held[0]

        held = until(holds, "it holds a worker id")
        assert (held["host"], held["pid"]) == (os.uname().nodename, str(one.process.pid))
        assert one.end() == 0
        until(lambda: one.url not in [each["url"] for each in state(other.client())["servers"]], "one has ended")


def test_the_row_of_a_server_that_was_gone_for_a_day_is_used_again(file):
    with Server(file.url, "--no-snowflake") as server:
        until(lambda: state(server.client())["servers"], "it is seen")
        server.kill()
    file.sql(f"UPDATE leafid_server SET server = 'gone', seen_ms = {now_ms() - 90_000_000}")
    with Server(file.url, "--no-snowflake") as server:
        until(lambda: state(server.client())["servers"], "it is seen")
        (row,) = file.sql("SELECT server FROM leafid_server")
        assert row.endswith(server.url)


def test_an_empty_server_has_figures_of_itself_and_its_store(file):
    with Server(file.url, "--no-snowflake") as server:
        # What takes the store long is left out of one answer.
        found = until(lambda: (seen := state(server.client()))["leases"]["error"] is None and seen, "the leases are read")
        assert (found["tags"], found["tags_held"], found["page"], found["pages"]) == ([], 0, 0, 1)
        assert found["leases"]["held"] == []
        assert found["store"]["kind"] == "SQLite" and found["store"]["is_up"]
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", found["server"]["version"]) and found["server"]["uptime_ms"] >= 0
        until(lambda: state(server.client())["store"]["latency_ms"] is not None, "the store was looked at")


def test_many_tags_are_paged_searched_and_ordered(file):
    make_tag(file.url, "seed")
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
    file.sql(many + "INSERT INTO leaf_alloc (biz_tag, max_id, step) SELECT printf('t%03d', i), 1, 50 FROM n")
    with Server(file.url, "--no-snowflake") as server:
        client = server.client()
        for at in range(1, 301):
            assert client.ids(f"t{at:03}")
        client.ids("t222", 30)
        found = until(lambda: (seen := state(client, order="name"))["tags_held"] == 300 and seen, "all are seen")
        assert (found["pages"], found["tags_found"], len(found["tags"])) == (15, 300, 20)
        assert [each["tag"] for each in found["tags"]] == [f"t{at:03}" for at in range(1, 21)]
        assert state(client, order="name", page=2)["tags"][0]["tag"] == "t041"
        last = state(client, order="name", page=99)
        assert (last["page"], last["tags"][-1]["tag"]) == (14, "t300")
        assert [each["tag"] for each in state(client, search="T22", order="name")["tags"]] == [
            f"t22{at}" for at in range(10)
        ]

        def busiest():
            client.ids("t222", 30)
            return state(client)["tags"][0]["tag"] == "t222"

        until(busiest, "the busiest comes first")
        for wrong in ("page=-1", "page=x", "order=size"):
            status, body = client.get(f"/monitor/state?{wrong}")
            assert status == 400 and json.loads(body)["error"] == "invalid_argument"


def test_the_page_is_open_and_its_figures_are_not(file, tmp_path):
    for tag in ("order", "shop"):
        make_tag(file.url, tag)
    secrets = {}
    for scope, tag in (("metrics", "order*"), ("ids", "*")):
        words = [BINARY, "token", scope, "--scope", f"{scope},ids" if scope == "metrics" else scope, "--tag", tag]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        secrets[scope] = done.stderr.split()[-1]
        with open(tmp_path / "tokens.toml", "a") as tokens:
            tokens.write(done.stdout)
    with Server(file.url, "--tokens", tmp_path / "tokens.toml") as server:
        client = server.client(token=secrets["ids"])
        assert client.ids("order") and client.ids("shop")
        anonymous = server.client()
        assert anonymous.get("/monitor/state")[0] == 401 and client.get("/monitor/state")[0] == 403
        assert anonymous.get("/monitor")[0] == anonymous.get("/monitor/page.js")[0] == 200
        seen = server.client(token=secrets["metrics"])
        found = until(lambda: (found := state(seen))["tags"] and found, "the tags are seen")
        assert [each["tag"] for each in found["tags"]] == ["order"] and found["tags_held"] == 1
        assert found["leases"]["held"] == [] and found["leases"]["names"] == []


def test_the_page_has_no_text_of_others_and_a_strict_policy(file):
    make_tag(file.url, HOSTILE)
    with Server(file.url) as server:
        client = server.client()
        assert client.ids(HOSTILE) == [1]
        assert until(lambda: state(client)["tags"], "it is seen")[0]["tag"] == HOSTILE
        status, headers, body = client.request("GET", "/monitor")
        assert status == 200 and headers["content-type"] == "text/html;charset=UTF-8" and HOSTILE not in body
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        names = set(re.findall(r'(?:href|src)="([^"]+)"', body))
        assert len(names) == 3
        for name in names:
            status, headers, text = client.request("GET", f"/{name}")
            assert status == 200 and ("charset" in headers["content-type"] or name.endswith(".svg"))
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert client.get("/monitor/none.js")[0] == 404
        assert client.request("GET", "/monitor/state")[1]["cache-control"] == "no-store"
