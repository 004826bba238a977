"""The rate of requests of a token and of an address, and how the project's clients get on with it."""

import contextlib
import http.client
import itertools
import json
import re
import shutil
import subprocess
import threading
import time

import pytest
from servers import ROOT, Server, in_threads, make_tag, until
from test_clients import PYTHON
from test_tokens import Tokens

# A burst of five, and then one a second.
SLOW = ("--max-rate", "1", "--max-burst", "5")
NODE = ROOT / "build/node/node_modules/leafid"
# By protocol: a server that refuses some of the requests for these ids.
LIMITED = {"leaf": ("--max-rate", "25", "--max-burst", "5"), "range": ("--max-rate", "5", "--max-burst", "2")}
COUNT = 150
IN_PYTHON = """
import sys, time
import leafid
url, protocol, count = sys.argv[1:]
begun = time.monotonic()
with leafid.Segments(servers=url, protocol=protocol, name="python", persist=False, timeout_ms=600000, request_timeout_ms=60000) as segments:
    tag = segments.tag("order")
    print(*(tag.next() for _ in range(int(count))))
print(time.monotonic() - begun)
"""
IN_NODE = """
import { Segments } from 'leafid'
const [url, protocol, count] = process.argv.slice(1)
const begun = performance.now()
const segments = new Segments(url, { protocol, name: 'node', persist: false, timeoutMs: 600000, requestTimeoutMs: 60000 })
const tag = segments.tag('order')
const ids = []
for (let at = 0; at < Number(count); at++) ids.push(await tag.next())
console.log(ids.join(' '))
console.log((performance.now() - begun) / 1000)
await segments.close()
"""


def status_of(client, path, method="GET"):
    return client.request(method, path)[0]


def check_burst(status):
    """As many pass as a burst has, and those that time has brought meanwhile."""
    begun, passed = time.monotonic(), 0
    while (found := status()) == 200:
        passed += 1
    assert found == 429 and 5 <= passed <= 5 + time.monotonic() - begun


def refusal(client, ask):
    """What is answered when nothing is left. Where the machine takes a second to ask, something is again."""

    def asked():
        while client.ids("order"):
            pass
        answer = ask()
        return answer[0] == 429 and answer

    return until(asked, "it is refused")


def test_a_burst_passes_and_then_it_is_429_until_time_has_passed(file):
    make_tag(file.url, "order")
    with Server(file.url, "--max-rate", "2", "--max-burst", "5") as server:
        client = server.client()
        begun, got, refused = time.monotonic(), [], 0
        while time.monotonic() < begun + 3 or refused <= 5:
            status, headers, body = client.request("GET", "/api/segment/get/order")
            if status == 200:
                got.append(int(body))
                continue
            refused += 1
            assert (status, headers["retry-after"], headers["content-type"]) == (429, "1", "application/json;charset=UTF-8")
            assert json.loads(body) == {
                "error": "too_many_requests", "message": "more than 2 requests a second: see --max-rate",
            }  # fmt: skip
        most = 5 + 2 * (time.monotonic() - begun)
        assert got == [*range(1, len(got) + 1)], "no id is lost by a refusal"
        assert 5 <= len(got) <= most
        text = client.get("/metrics")[1]
        assert f'requests_total{{api="segment",status="429"}} {refused}' in text
        assert f'requests_total{{api="segment",status="200"}} {len(got)}' in text
        time.sleep(1.1)
        assert client.ids("order") == [len(got) + 1], "the time of Retry-After is enough"


def test_each_api_that_gives_is_limited_and_what_watches_or_keeps_is_not(file):
    make_tag(file.url, "order")
    limited = {
        "/api/segment/get/order": "GET", "/api/snowflake/get/order": "GET", "/api/segment/range/order?nonce=1": "POST",
        "/tinyid/id/nextId?bizType=order&token=x": "GET", "/tinyid/id/nextSegmentIdSimple?bizType=order&token=x": "POST",
    }  # fmt: skip
    described = json.loads((ROOT / "server/openapi.json").read_text())["paths"].items()
    described = {path for path, methods in described if '"429":' in json.dumps(methods)}
    with Server(file.url, *SLOW) as server:
        client = server.client()
        status, lease = client.claim("one")
        assert status == 200
        for path, method in limited.items():
            _, headers, _ = refusal(client, lambda: client.request(method, path))
            assert headers["retry-after"] == "1", path
        refusal(client, lambda: client.claim("two"))
        served = {re.sub("order$", "{tag}", path.split("?")[0]) for path in [*limited, "/api/worker/claim"]}
        assert served == described - {"/tinyid/id/nextIdSimple", "/tinyid/id/nextSegmentId"}
        for path in ("/health", "/ready", "/metrics", "/cache", "/db", "/openapi.json", "/decodeSnowflakeId?snowflakeId=1"):
            assert [status_of(client, path) for _ in range(6)] == [200] * 6, path
        for turn in range(6):
            held = {"worker_id": lease["worker_id"], "token": lease["token"], "until": lease["until"], "nonce": f"{turn}"}
            status, lease = client.post("/api/worker/renew", {"name": "default", **held})
            lease["worker_id"] = held["worker_id"]
            assert status == 200
        assert client.post("/api/worker/release", {"name": "default", **held, "token": lease["token"]})[0] == 204


def test_a_refusal_of_tinyid_has_the_form_of_its_answers(file):
    make_tag(file.url, "order")
    with Server(file.url, "--max-rate", "1", "--max-burst", "1") as server:
        client = server.client()
        path = "/tinyid/id/{}?bizType=none&token=x"
        assert client.get(path.format("nextIdSimple")) == (200, "")
        assert refusal(client, lambda: client.get(path.format("nextIdSimple")))[1] == ""
        _, body = refusal(client, lambda: client.get(path.format("nextId")))
        message = "more than 1 requests a second: see --max-rate"
        assert json.loads(body) == {"data": None, "code": 6, "message": message}


def test_each_address_has_its_own_rate_and_all_its_connections_share_it(file):
    make_tag(file.url, "order")
    with Server(file.url, *SLOW) as server:

        def status_for(source):
            connection = http.client.HTTPConnection(*server.address, source_address=(source, 0))
            with contextlib.closing(connection):
                connection.request("GET", "/api/segment/get/order")
                return connection.getresponse().status

        check_burst(lambda: status_for("127.0.0.1"))
        check_burst(lambda: status_for("127.0.0.2"))


def test_each_token_has_its_own_rate_whatever_its_address(file, tmp_path):
    make_tag(file.url, "order")
    tokens = Tokens(tmp_path)
    one, other = tokens.make("one", "ids"), tokens.make("other", "ids", "ranges")
    with Server(file.url, "--tokens", tokens.file, *SLOW) as server:
        clients = [server.client(token=one), server.client(token=one), server.client(token=other)]
        both = itertools.cycle(clients[:2])
        check_burst(lambda: status_of(next(both), "/api/segment/get/order"))
        assert [status_of(server.client(), "/api/segment/get/order") for _ in range(6)] == [401] * 6
        tinyid = f"/tinyid/id/nextIdSimple?bizType=order&token={other}"
        # tinyid's calls count with the others.
        paths = itertools.cycle(["/api/segment/get/order", tinyid])
        check_burst(lambda: status_of(clients[2], next(paths)))


def test_without_the_option_there_is_no_limit(file):
    make_tag(file.url, "order")
    with Server(file.url) as server:
        client = server.client()
        assert [client.ids("order") for _ in range(500)] == [[id] for id in range(1, 501)]


@pytest.mark.parametrize("protocol", ["leaf", "range"])
@pytest.mark.parametrize("language", ["python", "node"])
def test_clients_wait_and_lose_no_id(file, language, protocol):
    """None of the ids that the server gives is lost by a refusal, and the client does not storm the server."""
    command = [PYTHON, "-c", IN_PYTHON] if language == "python" else ["node", "--input-type=module", "-e", IN_NODE]
    if not (PYTHON if language == "python" else NODE).exists():
        pytest.skip("the package is not built: make build OF='python node'")
    if not shutil.which(str(command[0])):
        pytest.skip(f"there is no {command[0]}")
    make_tag(file.url, "order", step=3)
    with Server(file.url, *LIMITED[protocol]) as server:
        done = subprocess.run([*command, server.url, protocol, str(COUNT)], cwd=NODE.parents[1] if language == "node" else ROOT,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
        line, seconds = done.stdout.splitlines()
        ids = [int(id) for id in line.split()]
        assert len(set(ids)) == COUNT and ids[0] == 1
        # Single ids come by requests that run together, and the last ones may be in the client's buffer.
        assert set(range(1, COUNT - 16)) <= set(ids)
        text = server.client().get("/metrics")[1]
        refused = int((re.search(r'api="(?:segment|range)",status="429"} (\d+)', text) or [0, 0])[1])
        given = int(re.search(r'api="(?:segment|range)",status="200"} (\d+)', text)[1])
        assert protocol == "range" or given >= max(ids)
        print(f"{given} requests were answered and {refused} refused in {seconds} s")
        assert refused > 0 and (protocol == "range" or float(seconds) > (COUNT - 5) / 25)
        assert refused <= 20 * (1 + float(seconds)), "it backs off"


@pytest.mark.skipif(not PYTHON.exists(), reason="the wheel is not built: make build OF=python")
def test_a_start_without_room_for_its_claim_says_so_and_the_next_one_works(file):
    make_tag(file.url, "order")
    program = """
import sys, leafid
try:
    with leafid.Snowflake(sys.argv[1], persist=False) as flake:
        print(flake.next())
except leafid.Error as error:
    print(error)
"""
    with Server(file.url, *SLOW) as server:
        start = lambda: subprocess.run([PYTHON, "-c", program, server.url], capture_output=True, text=True).stdout  # noqa: E731
        started = threading.Event()

        def use_up():
            client = server.client()
            while not started.is_set():
                client.ids("order")

        def start_meanwhile():
            try:
                until(lambda: "answered 429" in start(), "its claim is refused")
            finally:
                started.set()

        in_threads(use_up, start_meanwhile)
        until(lambda: start().strip().isdigit(), "its claim is let through")
