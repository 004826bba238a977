"""The speed of leafid-server beside an axum handler that returns a constant, in one run, and the memory of idle
connections; its memory and its start with many tags.

Client and server have a core each, if there are two.

    make bench OF=server SECONDS=10
"""

import itertools
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/server")]

from servers import Server, in_threads, make_tag, until  # noqa: E402

SECONDS = int(os.environ.get("SECONDS") or 5)
CONSTANT = Path(os.environ["LEAFID_SERVER_BINARY"]).with_name("examples") / "constant"
CONNECTIONS = 64
ROUNDS = 3
TAGS = 100_000
# The goal, and what fails the bench, bytes.
TAG_GOAL, TAG_MOST = 600, 1024
IDLE = 2_000
CORES = sorted(os.sched_getaffinity(0))


def main():
    os.sched_setaffinity(0, CORES[:1])
    beside_a_constant()
    with_many_tags()


def beside_a_constant():
    print(f"{CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS} s in turn, medians")
    with tempfile.TemporaryDirectory() as folder, Constant() as constant:
        store = f"{folder}/ids.db"
        make_tag(store, "order", 1_000_000)
        with on_the_last_core(lambda: Server(store)) as server:
            client = server.client()
            until(lambda: client.ids("order") and client.ids("any", mode="snowflake"), "ids come")
            subjects = {
                "a constant": (constant, "/constant"),
                "segment": (server, "/api/segment/get/order"),
                "snowflake": (server, "/api/snowflake/get/order"),
                "1,000 segment ids": (server, "/api/segment/get/order?n=1000"),
            }
            found = {name: [] for name in subjects}
            for _, (name, (asked, path)) in itertools.product(range(ROUNDS), subjects.items()):
                before = cpu_us(asked)
                run = wrk(asked.url + path)
                found[name].append({**run, "cpu_us": (cpu_us(asked) - before) / run["requests"]})
            idle = {name: idle_connection(*subjects[name]) for name in ("a constant", "segment")}
    floor = medians(found["a constant"])
    for name, runs in found.items():
        at = medians(runs)
        print(f"{name:18} {at['rate']:9,.0f} requests/s, {at['rate'] / floor['rate']:.2f} of the constant; p50 "
              f"{at['p50_us']:,.0f} us, p99 {at['p99_us']:,.0f} us, p99.9 {at['p99_9_us']:,.0f} us, "
              f"{at['p99_9_us'] / floor['p99_9_us']:.2f} times the constant's; processor time {at['cpu_us']:.1f} us, "
              f"{at['cpu_us'] / floor['cpu_us']:.2f} times; errors {at['errors']:.0f}")  # fmt: skip
    for name, bytes in idle.items():
        print(f"{name:18} {bytes / 1024:.1f} KiB of memory for an idle connection")


def medians(runs):
    rates = [{**run, "rate": run["requests"] / run["us"] * 1e6} for run in runs]
    return {key: median(run[key] for run in rates) for key in rates[0]}


def wrk(url, seconds=SECONDS):
    command = ["wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{seconds}s", "--timeout", "10s",
               "--script", str(Path(__file__).with_name("percentiles.lua")), url]  # fmt: skip
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(next(line for line in shown.splitlines() if line.startswith("{")))


def idle_connection(server, path):
    """The bytes of a connection that has had an answer."""
    host, port = server.url.removeprefix("http://").split(":")
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    held = []

    def connect(count):
        for _ in range(count):
            held.append(socket.create_connection((host, int(port))))
            held[-1].sendall(request)
            assert held[-1].recv(4096).startswith(b"HTTP/1.1 200 ")

    try:
        # What is not theirs is there after these.
        connect(IDLE // 10)
        before = memory(server)
        connect(IDLE)
        return (memory(server) - before) / IDLE
    finally:
        for connection in held:
            connection.close()


def cpu_us(server):
    """The processor time of a process."""
    user, system = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") * 1e6


class Constant:
    def __enter__(self):
        self.process = on_the_last_core(lambda: subprocess.Popen([CONSTANT], stdout=subprocess.PIPE, text=True))
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def on_the_last_core(start):
    """What is started inherits the core."""
    os.sched_setaffinity(0, CORES[-1:])
    try:
        return start()
    finally:
        os.sched_setaffinity(0, CORES[:1])


def with_many_tags():
    """In memory: it is not the disk that is measured."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        store = f"{folder}/ids.db"
        make_tag(store, "first")
        with sqlite3.connect(store) as connection:
            connection.executemany(
                "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, 1, 1000)",
                ((f"tag-{at:06}",) for at in range(TAGS)),
            )
        connection.close()
        begun = time.monotonic()
        options = "--no-snowflake", "--max-tags", TAGS + 1
        with on_the_last_core(lambda: Server(store, *options)) as server:
            client = server.client()
            until(lambda: client.get("/ready")[0] == 200, "it is ready")
            assert client.ids("first") == [1]
            print(f"{TAGS:,} tags in the store: ready, and the first id, after {time.monotonic() - begun:.2f} s")
            before = memory(server)
            begun = time.monotonic()
            tags = iter(range(TAGS))
            lock = threading.Lock()

            def touch():
                own = server.client()
                while True:
                    with lock:
                        at = next(tags, None)
                    if at is None:
                        return
                    # SQLite lets one write at a time, and the others wait without an order.
                    assert until(lambda: own.ids(f"tag-{at:06}"), "an id") == [1]

            in_threads(*[touch] * 4)
            bytes = (memory(server) - before) / TAGS
            print(f"{TAGS:,} tags, an id of each: {time.monotonic() - begun:.0f} s, {bytes:,.0f} bytes a tag, goal "
                  f"{TAG_GOAL:,}")  # fmt: skip
            assert bytes <= TAG_MOST, f"a tag takes {bytes:,.0f} bytes, and may take {TAG_MOST:,}: see malloc_info(3)"


def memory(server):
    """The resident set, bytes."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


main()
