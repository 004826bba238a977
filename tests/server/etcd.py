"""A real cluster of etcd on loopback: `nodes` are processes with folders of their own."""

import contextlib
import http.client
import threading

from databases import Database, free_port, need, signal


class Node(Database):
    name = "etcd"
    polite = signal.SIGTERM

    def __init__(self):
        self.server = need("etcd", "etcd-server")
        super().__init__()
        self.peer = f"http://127.0.0.1:{free_port()}"
        self.address = f"127.0.0.1:{self.port}"

    def command(self):
        cluster = ",".join(f"n{at}={node.peer}" for at, node in enumerate(self.cluster))
        return [self.server, "--name", f"n{self.cluster.index(self)}", "--data-dir", self.folder / "data",
                "--listen-client-urls", f"http://{self.address}", "--advertise-client-urls", f"http://{self.address}",
                "--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer,
                "--initial-cluster", cluster]  # fmt: skip

    def sql(self, _):
        """Whether the cluster has a quorum. `start()` waits for it."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)) as connection:
            connection.request("POST", "/v3/kv/range", '{"key": "YQ=="}')
            assert connection.getresponse().status == 200


class Cluster:
    def __init__(self, size):
        self.nodes = [Node() for _ in range(size)]
        for node in self.nodes:
            node.cluster = self.nodes
        self.url = "etcd://" + ",".join(node.address for node in self.nodes) + "/ids"
        self.start(self.nodes)

    def start(self, nodes):
        threads = [threading.Thread(target=node.start) for node in nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def remove(self):
        for node in self.nodes:
            node.remove()
