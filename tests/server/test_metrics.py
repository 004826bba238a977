"""What /metrics shows, and that docs/MONITORING.md, the dashboard and the alerts name what there is."""

import json
import re
import time

from servers import ROOT, Server, make_tag, now_ms, until

FILES = ROOT / "packaging/monitoring"
AGENT = {"User-Agent": "leafid/9.8.7 (host web-3; pid 4711)", "Content-Type": "application/json"}


def samples(client):
    """By name and labels."""
    text = client.get("/metrics")[1]
    found = re.findall(r"^(\w+)(?:{(.*)})? (\S+)$", text, re.MULTILINE)
    assert len(found) == len({sample[:2] for sample in found}), "each sample is there once"
    return {(name, frozenset(re.findall(r'(\w+)="(.*?)"', labels))): float(value) for name, labels, value in found}


def value(found, metric, /, **labels):
    values = [one for (known, of), one in found.items() if known == f"leafid_server_{metric}" and set(labels.items()) <= of]
    assert len(values) == 1, (metric, labels, values)
    return values[0]


def claim(client, instance, name, **more):
    body = {"name": name, "instance": instance, "now": now_ms(), **more}
    status, _, answer = client.request("POST", "/api/worker/claim", json.dumps(body), AGENT)
    return status, json.loads(answer)


def test_requests_are_counted_with_the_time_they_took(file):
    make_tag(file.url, "order")
    with Server(file.url, "--no-snowflake") as server:
        client, begun = server.client(), time.monotonic()
        for _ in range(3):
            client.ids("order")
        client.ids("none")
        client.range("order", 10)
        passed, found = time.monotonic() - begun, samples(client)
        assert value(found, "requests_total", api="segment", status="200") == 3
        assert value(found, "requests_total", api="segment", status="500") == 1
        for api, count in (("segment", 4), ("range", 1), ("claim", 0), ("other", 0)):
            assert value(found, "request_seconds_count", api=api) == count
            assert value(found, "request_seconds_bucket", api=api, le="+Inf") == count
        # The client has waited for each of them.
        assert 0 < value(found, "request_seconds_sum", api="segment") < passed
        buckets = {end_of(of): one for (name, of), one in found.items()
                   if name == "leafid_server_request_seconds_bucket" and ("api", "segment") in of}  # fmt: skip
        counts = [buckets[end] for end in sorted(buckets)]
        assert len(counts) > 10 and counts == sorted(counts) and counts[-1] == 4
        assert value(samples(client), "requests_total", api="other", status="200") == 1
        assert client.get("/api/segment/get/a/b")[0] == 404
        assert value(samples(client), "requests_total", api="other", status="404") == 1


def end_of(labels):
    return float(dict(labels)["le"].replace("+Inf", "inf"))


def test_the_ids_of_a_tag_are_counters(file):
    make_tag(file.url, "order")
    with Server(file.url, "--no-snowflake") as server:
        client = server.client()
        client.ids("order", 7)
        client.range("order", 500)
        found = samples(client)
        assert value(found, "tag_ids_total", tag="order") == 7
        assert value(found, "tag_range_ids_total", tag="order") == 500


def test_a_lease_is_shown_with_the_host_and_the_process_that_hold_it(store, name):
    with Server(store.url, "--workers", "0-0", "--lease-ms", "3600000", "--no-snowflake") as server:
        client = server.client()
        status, lease = claim(client, "one", name, until=now_ms() + 3_600_000)
        assert status == 200
        who = {"name": name, "worker_id": "0", "host": "web-3", "pid": "4711", "version": "9.8.7"}
        key = ("leafid_server_lease_left_seconds", frozenset(who.items()))
        found = until(lambda: key in (found := samples(client)) and found, "it is shown")
        assert 0 < found[key] <= 3600 and abs(value(found, "lease_clock_ahead_seconds", **who)) < 600
        assert value(found, "leases", name=name) == 1 and value(found, "lease_seconds") == 3600
        assert value(found, "claims_refused_total") == 0
        # The renewal keeps who it is, and so does a second server.
        held = {"name": name, "worker_id": 0, "token": lease["token"], "until": now_ms() + 3_600_000}
        status, renewed = client.post("/api/worker/renew", held)
        assert status == 200
        with Server(store.url, "--workers", "0-0", "--lease-ms", "3600000", "--no-snowflake") as other:
            until(lambda: key in samples(other.client()), "the other one shows it")
        status, answer = claim(client, "two", name)
        assert (status, answer["error"]) == (409, "worker_in_use")
        assert value(samples(client), "claims_refused_total") == 1
        assert client.post("/api/worker/release", {**held, "token": renewed["token"]})[0] == 204
        until(lambda: key not in samples(client), "it is gone")


def test_what_a_store_that_is_away_has_leased_is_not_guessed(engine, name):
    """It may be renewed meanwhile, by another server."""
    with Server(engine.url, "--lease-ms", "3600000", "--no-snowflake", "--store-timeout-ms", "500") as server:
        client = server.client()
        until(lambda: claim(client, "one", name, until=now_ms() + 3_600_000)[0] == 200, "it is claimed")

        def is_shown():
            return any("lease_left" in known and ("name", name) in of for known, of in samples(client))

        until(is_shown, "it is shown")
        engine.stop()
        try:
            until(lambda: not is_shown(), "it is left out")
            found = samples(client)
            assert value(found, "lease_seconds") == 3600 and not any("leases" in known for known, _ in found)
        finally:
            engine.start()
        until(is_shown, "it is shown again")


def test_names_and_leases_are_bounded(file):
    with Server(file.url, "--no-snowflake") as server:
        client = server.client()
        assert claim(client, "one", "a")[0] == 200
        ends_ms = now_ms() + 3_600_000
        columns = [row.split("|")[0] for row in file.sql("SELECT name FROM pragma_table_info('leafid_worker')")]
        values = {"name": "printf('n%04d', i / 2)", "worker_id": "i % 2", "ends_ms": ends_ms}
        many = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2199) "
        chosen = ", ".join(str(values.get(column, column)) for column in columns)
        file.sql(f"{many}INSERT INTO leafid_worker ({', '.join(columns)}) SELECT {chosen} FROM n, leafid_worker")

        def counts():
            found = [(dict(of)["name"], one) for (known, of), one in samples(client).items() if known == "leafid_server_leases"]
            return len(found) > 1 and sorted(found)

        found = until(counts, "they are shown")
        assert found == [("a", 1), *((f"n{at:04}", 2) for at in range(999))]
        assert sum("lease_left" in known for known, _ in samples(client)) == 1_000


def test_a_store_of_the_first_version_gets_the_column_of_holders(store, name):
    def made(client):
        assert claim(client, "one", name)[0] == 200
        shown = ("host", "web-3"), ("name", name)
        until(lambda: any(set(shown) <= of for _, of in samples(client)), "its holder is shown")

    with Server(store.url, "--no-snowflake"):
        pass
    store.sql("ALTER TABLE leafid_worker DROP COLUMN holder")
    with Server(store.url, "--no-snowflake") as server:
        assert "ALTER TABLE leafid_worker ADD COLUMN holder" in server.log()
        made(server.client())
    with Server(store.url, "--no-snowflake") as server:
        assert "ALTER TABLE" not in server.log()


def test_the_store_is_shown(file):
    with Server(file.url) as server:
        client = server.client()
        until(lambda: value(samples(client), "store_look_seconds") > 0, "it was looked at")
        found = samples(client)
        assert value(found, "store_up") == 1 and abs(value(found, "store_clock_ahead_seconds")) < 600
        version = json.loads(client.get("/monitor/state")[1])["server"]["version"]
        assert value(found, "build_info", version=version, store="SQLite") == 1


def test_each_metric_is_described_and_each_that_is_named_exists(file, name):
    make_tag(file.url, "order")
    with Server(file.url) as server:
        client = server.client()
        client.ids("order")
        assert claim(client, "one", name)[0] == 200
        until(lambda: any("lease_left" in known for known, _ in samples(client)), "a lease is shown")
        known = {known for known, _ in samples(client) if known.startswith("leafid_server_")}
    described = set(re.findall(r"leafid_server_\w+", (ROOT / "docs/MONITORING.md").read_text()))
    families = {re.sub(r"_(bucket|count|sum)$", "", one) if "request_seconds" in one else one for one in known}
    assert families == described, families ^ described
    for path in (FILES / "alerts.yml", FILES / "grafana.json"):
        named = set(re.findall(r"leafid_server_\w+", path.read_text()))
        assert named and named <= known, (path, named - known)
