"""The collectors in the real prometheus_client."""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import leafid
import pytest
from leafid.prometheus import Collector, MultiProcessCollector, publish
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families


def samples(text, name):
    """By sample name and the label that tells them apart."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.labels.get("name") == name:
                found[sample.name, *sorted(sample.labels.items())] = sample.value
    return found


def value(found, metric, **labels):
    values = [value for key, value in found.items() if key[0] == metric and set(labels.items()) <= set(key[1:])]
    assert len(values) == 1, (metric, labels, found)
    return values[0]


def counter():
    """A source whose first fetch fails, and whose others last 20 ms."""
    lock, state = threading.Lock(), {"next": 1, "calls": 0}

    def fetch(tag, step):
        with lock:
            state["calls"] += 1
            if state["calls"] == 1:
                raise OSError("away")
            time.sleep(0.02)
            start = state["next"]
            state["next"] += step
            return range(start, start + step)

    return fetch


def test_a_registry_shows_what_leafid_metrics_shows(space):
    registry = CollectorRegistry()
    registry.register(Collector())
    with leafid.Snowflake(7, **space) as flake, leafid.Segments(fetch=counter(), **space) as ids:
        taken = len(flake.take(10_000))
        order = ids.tag("order")
        taken_order = len(order.take(1_500))
        found = samples(generate_latest(registry).decode(), space["name"])
        assert value(found, "leafid_snowflake_ids_total") == taken
        assert value(found, "leafid_snowflake_wait_seconds_count") >= 1
        waits = value(found, "leafid_snowflake_wait_seconds_bucket", le="+Inf")
        assert waits == value(found, "leafid_snowflake_wait_seconds_count")
        assert value(found, "leafid_segment_ids_total", tag="order") == taken_order
        assert value(found, "leafid_segment_fetch_outcomes_total", outcome="segment_unavailable") == 1
        assert value(found, "leafid_segment_fetch_outcomes_total", outcome="ok") >= 1
        assert value(found, "leafid_segment_fetch_seconds_sum") >= 0.02
        # All that the text of leafid has, and nothing else.
        expected = samples(leafid.metrics(), space["name"])
        # A span may have been renewed in between.
        moving = ("leafid_snowflake_reserved_until_seconds", "leafid_snowflake_renewals_total")
        assert set(found) == set(expected)
        assert all(found[key] == expected[key] for key in found if key[0] not in moving)
    assert samples(generate_latest(registry).decode(), space["name"]) == {}
    types = {family.name: family.type for family in registry.collect()}
    assert types["leafid_snowflake_ids"] == "counter" and types["leafid_segment_fetch_seconds"] == "histogram"


def test_odd_names_of_directories(space, tmp_path):
    registry = CollectorRegistry()
    registry.register(Collector())
    odd = tmp_path / 'a "b" \\ c, d="e"} é'
    with leafid.Snowflake(7, **space | {"state_dir": str(odd)}):
        found = samples(generate_latest(registry).decode(), space["name"])
    assert value(found, "leafid_snowflake_handles", state_dir=str(odd / space["name"])) == 1


def test_processes_are_summed_and_the_ids_of_ended_ones_stay(space, tmp_path):
    published = tmp_path / "published"
    published.mkdir()
    program = """
import sys, leafid
from leafid.prometheus import publish
name, state_dir, published, worker, count = sys.argv[1:]
publish(published, interval_s=0.1)
space = {"name": name, "state_dir": state_dir, "timeout_ms": 60_000}
flake = leafid.Snowflake(int(worker), **space)
ids = leafid.Segments(servers=[f"file:{state_dir}/counters"], create=True, tags={"order": {}}, **space)
flake.take(int(count))
ids.tag("order").take(100)
print("ready", flush=True)
sys.stdin.read()
flake.close()
ids.close()
"""

    def start(worker, count):
        arguments = [space["name"], space["state_dir"], str(published), str(worker), str(count)]
        child = subprocess.Popen([sys.executable, "-c", program, *arguments], stdin=-1, stdout=-1, text=True)
        assert child.stdout.readline() == "ready\n"
        return child

    registry = CollectorRegistry()
    registry.register(MultiProcessCollector(published))

    def until(check):
        deadline = time.monotonic() + 20
        while True:
            found = samples(generate_latest(registry).decode(), space["name"])
            try:
                return check(found)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    one, two = start(3, 1_000), start(4, 500)

    def both(found):
        assert value(found, "leafid_snowflake_ids_total", worker_id="3") == 1_000
        assert value(found, "leafid_snowflake_ids_total", worker_id="4") == 500
        # Of one tag in two processes.
        assert value(found, "leafid_segment_ids_total", tag="order") == 200
        assert value(found, "leafid_segment_left", tag="order") >= 1_000

    until(both)
    one.communicate("")
    two.send_signal(signal.SIGKILL)
    two.communicate()
    again = start(3, 10)

    def after(found):
        assert value(found, "leafid_snowflake_ids_total", worker_id="3") == 1_010
        assert value(found, "leafid_snowflake_ids_total", worker_id="4") == 500
        assert value(found, "leafid_segment_ids_total", tag="order") == 300

    until(after)
    again.communicate("")
    # The gauges of processes that have not written for half a minute are gone, their counters are not.
    for path in published.glob("leafid_*.json"):
        os.utime(path, (time.time() - 60, time.time() - 60))
    found = samples(generate_latest(registry).decode(), space["name"])
    assert value(found, "leafid_snowflake_ids_total", worker_id="3") == 1_010
    assert not [key for key in found if key[0] in ("leafid_snowflake_handles", "leafid_segment_left")]


def test_gunicorn_s_workers(space, tmp_path):
    published = tmp_path / "published"
    published.mkdir()
    (tmp_path / "app.py").write_text("""
import os, leafid
from leafid.prometheus import MultiProcessCollector, publish
from prometheus_client import CollectorRegistry, generate_latest

publish(interval_s=0.1)
flake = leafid.Snowflake(range(0, 8), name=os.environ["NAME"], state_dir=os.environ["STATE"], timeout_ms=60_000)

def app(environ, start):
    if environ["PATH_INFO"] == "/metrics":
        registry = CollectorRegistry()
        registry.register(MultiProcessCollector())
        body = generate_latest(registry)
    else:
        body = f"{os.getpid()} {flake.next()}".encode()
    start("200 OK", [("content-length", str(len(body)))])
    return [body]
""")
    environment = os.environ | {
        "PROMETHEUS_MULTIPROC_DIR": str(published),
        "NAME": space["name"],
        "STATE": space["state_dir"],
        "LEAFID_EXCLUSIVE_RANGE": "1",
    }
    bind = tmp_path / "port"
    command = [sys.executable, "-m", "gunicorn", "-w", "3", "--preload", "-b", "127.0.0.1:0", "app:app"]
    with open(bind, "w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while "Listening at: " not in bind.read_text():
            assert server.poll() is None and time.monotonic() < deadline, bind.read_text()
            time.sleep(0.05)
        url = bind.read_text().split("Listening at: ")[1].split(" ")[0]

        def ask(path):
            with urllib.request.urlopen(url + path, timeout=10) as answer:
                return answer.read().decode()

        pids, asked = set(), 0
        while len(pids) < 3 or asked < 30:
            assert time.monotonic() < deadline, pids
            pids.add(ask("/").split()[0])
            asked += 1
        while True:
            found = samples(ask("/metrics"), space["name"])
            issued = {key: ids for key, ids in found.items() if key[0] == "leafid_snowflake_ids_total" and ids}
            if sum(issued.values()) == asked and len(issued) == 3:
                break
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize(
    ("path", "interval_s", "error"),
    [
        (None, 5, "path is None"),
        ("/", 0, "interval_s is 0"),
        ("/", 11, "interval_s is 11"),
        ("/", "5", "interval_s is '5'"),
        ("/not-there", 5, "/not-there"),
    ],
)
def test_wrong_options_are_refused(path, interval_s, error, monkeypatch):
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    with pytest.raises((ValueError, OSError), match=error):
        publish(path, interval_s)
