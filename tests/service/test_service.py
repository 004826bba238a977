"""examples/service as `make test OF=service` set it up: both services together, killed under load, and their manifests.

The duplicates of the load are those of its program: it ends with 1 if an id came twice.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import yaml

#: Far longer than anything takes on a busy machine.
HANG = 900
get, post = partial(httpx.get, timeout=HANG), partial(httpx.post, timeout=HANG)
HERE = Path.cwd() / "service"
NODE = os.environ["NODE"]


def commands(port):
    return {
        "fastapi": [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port), "--log-level", "warning"],
        "express": [NODE, "app.mjs"],
    }


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Service:
    def __init__(self, kind, state, worker="0-7"):
        self.port, self.kind = free_port(), kind
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "LEAFID_WORKER": worker,
            "LEAFID_STATE_DIR": str(state),
            "LEAFID_EXCLUSIVE_RANGE": "1",
            "PORT": str(self.port),
        }
        self.prefix = []

    def within(self, *prefix):
        self.prefix = prefix
        return self

    def start(self):
        command = [*self.prefix, *commands(self.port)[self.kind]]
        self.process = subprocess.Popen(
            command, cwd=HERE / self.kind, env=self.environment, stderr=subprocess.PIPE, text=True
        )
        end = time.monotonic() + HANG
        while self.process.poll() is None:
            try:
                get(f"{self.url}/health").raise_for_status()
                break
            except httpx.TransportError:
                assert time.monotonic() < end, f"{self.kind} does not listen"
                time.sleep(0.1)
        return self

    def listens(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
        _, log = self.process.communicate(timeout=HANG)
        return self.process.returncode, log


@contextmanager
def running(*services):
    try:
        for service in services:
            assert service.start().process.poll() is None, service.end()
        yield services
    finally:
        for service in services:
            if hasattr(service, "process"):
                service.end(signal.SIGKILL)


@contextmanager
def load(*services):
    """Orders until an interrupt."""
    command = [sys.executable, str(HERE / "load.py"), "--seconds", str(10 * HANG), "--connections", "4"]
    urls = [service.url for service in services]
    with subprocess.Popen([*command, *urls], stdout=subprocess.PIPE, text=True) as orders:
        try:
            yield orders
        finally:
            orders.kill()


def metric(service, name):
    found = re.findall(rf"^leafid_{name}(?:{{.*}})? (\S+)$", get(f"{service.url}/metrics").text, re.M)
    return sum(map(float, found))


def has_orders(service):
    """Waits until the service has made ids for more than a hundred."""
    until(lambda: metric(service, "snowflake_ids_total"), lambda ids: ids > 200)


@pytest.fixture(params=["fastapi", "express"])
def kind(request):
    return request.param


@pytest.fixture
def state():
    """A directory in memory: a clean end gives up a disk that takes two seconds."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as directory:
        yield directory


def test_ids_of_both_under_load_while_each_is_killed_and_stopped(state):
    both = [Service(kind, state) for kind in ["fastapi", "express"]]
    with running(*both), load(*both) as orders:
        for by in [signal.SIGKILL, signal.SIGTERM]:
            for service in both:
                has_orders(service)
                status, log = service.end(by)
                assert by == signal.SIGKILL or status in (0, -signal.SIGTERM), log
                assert service.start().process.poll() is None, service.end()
        for service in both:
            has_orders(service)
        orders.send_signal(signal.SIGINT)
        said, _ = orders.communicate(timeout=HANG)
        assert orders.returncode == 0, said
        counts = [int(count) for count in re.findall(r": (\d+) orders", said)]
        assert len(counts) == 2 and min(counts) > 100, said
        print(said)


def test_a_clean_end_waits_for_no_client_that_goes_on(kind, state):
    service = Service(kind, state)
    with running(service), socket.create_connection(("127.0.0.1", service.port)) as client:
        head = b"POST /orders HTTP/1.1\r\nHost: orders\r\nContent-Type: application/json\r\nContent-Length: 15\r\n"
        client.sendall(head + b"Expect: 100-continue\r\n\r\n")
        assert b" 100 " in client.recv(100)
        service.process.send_signal(signal.SIGTERM)
        until(service.listens, lambda listens: not listens)
        client.sendall(b'{"item": "tea"}')
        assert answer_on(client).status == 201
        with suppress(ConnectionError, HTTPException):
            client.sendall(b"GET /health HTTP/1.1\r\nHost: orders\r\n\r\n")
            assert answer_on(client).headers["Connection"] == "close"
        status, log = service.end()
        assert status in (0, -signal.SIGTERM), log


def answer_on(client):
    answer = HTTPResponse(client)
    answer.begin()
    answer.read()
    return answer


def test_an_order_and_what_its_id_says(kind, state):
    with running(Service(kind, state, worker="5")) as [service]:
        before = metric(service, "snowflake_ids_total")
        answer = post(f"{service.url}/orders", json={"item": "tea"})
        order = answer.json()
        assert answer.status_code == 201 and order["item"] == "tea" and re.fullmatch(r"\d{18,19}", order["id"])
        said = get(f"{service.url}/orders/{order['id']}").json()
        assert said["id"] == order["id"] and said["worker_id"] == 5
        created = datetime.fromisoformat(said["created"])
        assert abs((datetime.now(UTC) - created).total_seconds()) < 60
        for id in ["-1", "x", "9" * 19]:
            assert get(f"{service.url}/orders/{id}").status_code == 404, id
        assert post(f"{service.url}/orders", json={}).status_code in (400, 422)
        assert metric(service, "snowflake_ids_total") > before
        page = get(service.url)
        assert page.headers["content-type"].startswith("text/html") and "fetch('metrics'" in page.text
        # The page reads all of these.
        assert {name for name in re.findall(r"now\.(snowflake_\w+)", page.text) if not metric_is_there(service, name)} == set()


def metric_is_there(service, name):
    return re.search(rf"^leafid_{name}[ {{]", get(f"{service.url}/metrics").text, re.M)


def test_a_wrong_worker_ends_the_start(kind, state):
    service = Service(kind, state, worker="5000").start()
    status, log = service.end()
    assert status > 0 and 'LEAFID_WORKER is "5000"' in log


class Leases(BaseHTTPRequestHandler):
    """A lease server for one process: a lease of a second, unless it is `down`."""

    protocol_version = "HTTP/1.1"
    down = False
    until = 0

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        now = int(time.time() * 1000)
        first, Leases.until = max(Leases.until, now), max(Leases.until, now + 1000)
        span = {"from": first, "until": Leases.until, "lease_ms": 1000, "token": "t", "peer_times": []}
        echo = {key: asked[key] for key in ["instance", "nonce"] if key in asked}
        body = json.dumps({**echo, "worker_id": 5, **span}).encode()
        self.send_response(503 if Leases.down else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_what_passes_by_itself_is_503(kind, state):
    Leases.down = False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Leases)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service = Service(kind, state, worker=f"http://127.0.0.1:{server.server_port}")
    with running(service):
        order = lambda: post(f"{service.url}/orders", json={"item": "tea"})
        until(order, lambda answer: answer.status_code == 201)
        Leases.down = True
        refused = until(order, lambda answer: answer.status_code != 201)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        # An event loop is not held until the next claim.
        assert any(code in refused.text.lower() for code in ("lost", "would_block")), refused.text
        assert get(f"{service.url}/health").status_code == 503
        Leases.down = False
        until(order, lambda answer: answer.status_code == 201)
    server.shutdown()
    server.server_close()


def until(call, holds):
    end = time.monotonic() + HANG
    while not holds(answer := call()):
        assert time.monotonic() < end, answer
        time.sleep(0.1)
    return answer


def manifests(name):
    return {each["kind"]: each for each in yaml.safe_load_all((HERE / "kubernetes" / name).read_text())}


@pytest.mark.parametrize(("name", "kind"), [("orders.yaml", "StatefulSet"), ("orders-leased.yaml", "Deployment")])
def test_the_manifests_fit_the_images(name, kind):
    all = manifests(name)
    [container] = all[kind]["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]}
    volumes = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    pod = all[kind]["spec"]["template"]["spec"]
    given = {each["name"] for each in pod["volumes"]}
    given |= {each["metadata"]["name"] for each in all[kind]["spec"].get("volumeClaimTemplates", [])}
    assert set(volumes.values()) == given
    for dockerfile in HERE.glob("*/Dockerfile"):
        text = dockerfile.read_text()
        assert f"ENV LEAFID_STATE_DIR={environment['LEAFID_STATE_DIR']}" in text
        assert f"USER {pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" in text
        assert environment["LEAFID_STATE_DIR"] in volumes
        for source in re.findall(r"^COPY (\S+)", text, re.M):
            assert (HERE / source).exists(), source
    if kind == "StatefulSet":
        assert environment["LEAFID_WORKER"] == f"hostname:{all[kind]['metadata']['name']}"
        assert volumes["/state"] == all[kind]["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]
        assert all["Service"]["metadata"]["name"] == all[kind]["spec"]["serviceName"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a host name of its own needs root")
def test_a_pod_gets_the_worker_id_of_its_number(kind, state):
    worker = manifests("orders.yaml")["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"]
    service = Service(kind, state, worker)
    named = ["unshare", "--uts", "sh", "-c", 'hostname orders-2 && exec "$@"', "sh"]
    with running(service.within(*named)):
        assert get(f"{service.url}/health").json() == {"worker_id": 2}
