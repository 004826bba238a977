"""Servers to test, and the plainest of clients."""

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("LEAFID_SERVER_BINARY", ROOT / "target/debug/leafid-server"))
# Far longer than anything takes on a busy machine.
PATIENCE = 600
# No store and no caller is late: a test in which the store is away says so, and waits for what comes when it is there.
os.environ |= {"LEAFID_SERVER_TIMEOUT_MS": "30000", "LEAFID_SERVER_STORE_TIMEOUT_MS": "30000"}
# Tests of one store have servers of many settings.
UNCOMPARED = {"LEAFID_SERVER_CHANGE_SETTINGS": "true"}
LISTENS = re.compile(r"listens on (\S+),")


class Server:
    """A process of leafid-server on a free port of loopback. Its log is in `log()`."""

    def __init__(self, store, *options, environment=None, wait=True, listen="127.0.0.1:0", cwd=None):
        handle, file = tempfile.mkstemp(prefix="leafid-server-", suffix=".log")
        self.file = Path(file)
        command = [BINARY, "--store", store, "--listen", listen, *options]
        # Tests count from the first id of a tag, and other tests have tags in the same store.
        env = {**os.environ, "LEAFID_SERVER_WARM_TAGS": "0", "LEAFID_SERVER_SNOWFLAKE_NAME": own_name(store)}
        env |= {**UNCOMPARED, **(environment or {})}
        self.process = subprocess.Popen(list(map(str, command)), stderr=handle, stdout=handle, env=env, cwd=cwd)
        os.close(handle)
        self.address, self.clients = None, []
        if wait:
            self.wait()

    def wait(self):
        found = until(lambda: LISTENS.search(self.log()) or self.process.poll() is not None, "the server listens")
        assert found is not True, f"it ended with {self.process.returncode}:\n{self.log()}"
        host, _, port = found[1].rpartition(":")
        self.address = host, int(port)
        return self

    @property
    def url(self):
        return "http://{}:{}".format(*self.address)

    def log(self):
        return self.file.read_text()

    def client(self, **more):
        self.clients.append(Client(self.address, **more))
        return self.clients[-1]

    def end(self, number=signal.SIGTERM):
        """Ends it, and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def kill(self):
        self.end(signal.SIGKILL)
        for client in self.clients:
            client.connection.close()
        self.file.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def own_name(store):
    """The id space of the servers of a store: a host has each worker id of a name once, whatever the stores."""
    return f"own-{os.getpid()}-{zlib.crc32(str(store).encode())}"


class Client:
    """A connection that is kept. One thread at a time."""

    def __init__(self, address, timeout=PATIENCE, token=None, tls=None):
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        if tls:
            self.connection = http.client.HTTPSConnection("localhost", address[1], timeout=timeout, context=tls)
        else:
            self.connection = http.client.HTTPConnection(*address, timeout=timeout)

    def request(self, method, path, body=None, headers=None):
        """(status, headers, body)"""
        try:
            self.connection.request(method, path, body, {**self.headers, **(headers or {})})
            response = self.connection.getresponse()
            return response.status, response.headers, response.read().decode()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def get(self, path, **headers):
        status, _, body = self.request("GET", path, headers=headers)
        return status, body

    def post(self, path, value=None):
        headers = {} if value is None else {"Content-Type": "application/json"}
        status, _, body = self.request("POST", path, None if value is None else json.dumps(value), headers)
        return status, json.loads(body) if body else None

    def ids(self, tag, n=1, mode="segment"):
        """Ids, or none if the server gives none now."""
        query = "" if n == 1 else f"?n={n}"
        status, body = self.get(f"/api/{mode}/get/{urllib.parse.quote(tag, safe='')}{query}")
        return [int(line) for line in body.split("\n")] if status == 200 else []

    def range(self, tag, step, after=0):
        """(start, end), or nothing if the server gives none now."""
        status, value = self.post(f"/api/segment/range/{tag}?step={step}&after={after}&nonce=ab")
        return (int(value["start"]), int(value["end"])) if status == 200 else None

    def claim(self, instance, name="default", **more):
        now = now_ms()
        return self.post("/api/worker/claim", {"name": name, "instance": instance, "now": now, **more})


def now_ms():
    return time.time_ns() // 1_000_000


def until(holds, what):
    """Waits until `holds()` is true, and returns it."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, f"not within {PATIENCE} s: {what}"
        time.sleep(0.02)
    return found


def in_threads(*tasks):
    """Runs all at once. The first error of one is that of all."""
    errors = []

    def run(task):
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def check_unique(ids, least=1):
    """Sorts all ids of all clients and counts those that came twice."""
    ids = sorted(ids)
    twice = [one for one, other in zip(ids, ids[1:]) if one == other]
    assert not twice, f"{len(twice)} duplicates of {len(ids)}, the first {twice[:5]}"
    assert len(ids) >= least, f"only {len(ids)} ids"
    print(f"{len(ids)} ids, duplicates 0")


def make_tag(store, tag, step=1000, first=1, options=()):
    done = subprocess.run(
        [BINARY, "--store", store, "tag", tag, "--step", str(step), "--first", str(first), *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def check(store, **more):
    """What `check` says of a store: its exit code and its lines."""
    command = [BINARY, "--store", store, "--listen", "127.0.0.1:0", "check"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **more)
    return done.returncode, done.stdout
