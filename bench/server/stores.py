"""One, two and four servers on one store, of which a node is killed in the middle: ids a second, requests to the store,
errors, the longest pause of a client, and duplicates.

    make bench OF=stores SECONDS=10
"""

import os
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/server"), str(ROOT / "tests/databases")]

from databases import MariaDB, Missing, SQLite, free_port  # noqa: E402
from etcd import Cluster  # noqa: E402
from fail_over import Proxied, Replicated  # noqa: E402
from servers import Server, in_threads, make_tag  # noqa: E402

SECONDS = int(os.environ.get("SECONDS") or 10)
COUNTS = (1, 2, 4)
# Debian's.
PROVIDER = "/usr/lib/galera/libgalera_smm.so"


class File:
    """SQLite. It has no node that could be killed."""

    def __init__(self):
        self.store = SQLite()
        self.remove = self.store.remove

    def url(self, _):
        return self.store.url

    def kill(self):
        pass


class Etcd:
    """Three nodes, of which one is killed."""

    def __init__(self):
        self.cluster = Cluster(3)
        self.remove = self.cluster.remove

    def url(self, _):
        return self.cluster.url

    def kill(self):
        self.cluster.nodes[0].kill()


class PostgreSQL:
    """A primary that dies, and a standby that has each commit and takes its place."""

    def __init__(self):
        self.store = Replicated(True)
        self.remove = self.store.remove

    def url(self, _):
        return f"postgres://leaf@{self.store.address}/leaf"

    def kill(self):
        self.store.promote()


class Galera:
    """Three nodes of MariaDB. Servers write to different ones; when one is killed, its servers go on with another."""

    def __init__(self):
        if not Path(PROVIDER).exists():
            raise Missing(f"{PROVIDER} is missing: apt install galera-4")
        self.peers = [free_port() for _ in range(3)]
        self.nodes = []
        try:
            for at in range(3):
                self.nodes.append(Proxied(MariaDB(*self.settings(at))))
        except BaseException:
            self.remove()
            raise

    def settings(self, at):
        others = ",".join(f"127.0.0.1:{peer}" for peer in self.peers[:at])
        listen = f"gmcast.listen_addr=tcp://127.0.0.1:{self.peers[at]};ist.recv_addr=127.0.0.1:{free_port()}"
        return [
            "--wsrep-on=ON", f"--wsrep-provider={PROVIDER}", f"--wsrep-cluster-address=gcomm://{others}",
            f"--wsrep-provider-options={listen}", f"--wsrep-node-address=127.0.0.1:{self.peers[at]}",
            f"--wsrep-sst-receive-address=127.0.0.1:{free_port()}", "--wsrep-sst-method=rsync", "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
        ]  # fmt: skip

    def url(self, at):
        return f"mysql://root@{self.nodes[at % len(self.nodes)].address}/leaf"

    def kill(self):
        killed, other = self.nodes[:2]
        killed.kill()
        killed.proxy.port = other.server.port

    def remove(self):
        for node in self.nodes:
            node.remove()


class Client:
    """Takes 1,000 ids a request, of one tag."""

    def __init__(self, server):
        self.client = server.client(timeout=30)
        self.runs, self.ids, self.errors, self.longest = [], 0, 0, 0

    def take(self, tag, ends):
        last = time.monotonic()
        while (now := time.monotonic()) < ends:
            ids = self.client.ids(tag, 1_000)
            if not ids:
                self.errors += 1
                # Not faster than clients ask again.
                time.sleep(0.01)
                continue
            self.keep(ids)
            self.longest, last = max(self.longest, now - last), now
        # One that has not ended.
        self.longest = max(self.longest, now - last)

    def keep(self, ids):
        """Ids in one piece are one run, (first, end)."""
        self.ids += len(ids)
        whole = ids[-1] - ids[0] == len(ids) - 1
        self.runs += [(ids[0], ids[-1] + 1)] if whole else [(id, id + 1) for id in ids]


def main():
    for kind in (File, Etcd, PostgreSQL, Galera):
        for count in COUNTS:
            try:
                store = kind()
            except Missing as missing:
                print(f"{kind.__name__}: {missing}")
                break
            try:
                print(f"{kind.__name__:10} {count} servers: {several(store, count)}", flush=True)
            finally:
                store.remove()


def several(store, count):
    make_tag(store.url(0), "order", 1_000)
    servers = []
    try:
        for at in range(count):
            servers.append(Server(store.url(at), "--no-snowflake"))
        clients = [Client(server) for server in servers]
        ends = time.monotonic() + SECONDS
        killer = threading.Timer(SECONDS / 2, store.kill)
        killer.start()
        in_threads(*[lambda client=client: client.take("order", ends) for client in clients])
        killer.join()
        fetches = sum(fetches_of(server) for server in servers)
    finally:
        for server in servers:
            server.kill()
    ids = sum(client.ids for client in clients)
    return (
        f"{ids / SECONDS:11,.0f} ids/s, {fetches / ids * 1e6:7,.1f} requests to the store per million ids, "
        f"{sum(client.errors for client in clients)} errors, longest pause {max(client.longest for client in clients):.2f} s, "
        f"{duplicates(clients)} duplicates"
    )


def duplicates(clients):
    """How many ids came twice: the runs' overlaps."""
    twice, end = 0, 0
    for first, after in sorted(run for client in clients for run in client.runs):
        twice += max(0, min(end, after) - first)
        end = max(end, after)
    return twice


def fetches_of(server):
    lines = server.client().get("/metrics")[1].splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("leafid_server_tag_fetches_total"))


main()
