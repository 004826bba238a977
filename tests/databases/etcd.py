"""A real cluster of etcd: `nodes` are processes with folders of their own, on loopback or on hosts of their own."""

import base64
import contextlib
import http.client
import json
import os
import subprocess
import threading

from databases import PATIENCE, Database, Missing, free_port, need, signal


class Node(Database):
    name = "etcd"
    polite = signal.SIGTERM

    def __init__(self, host=None, tls=None):
        self.server = need("etcd", "etcd-server")
        super().__init__()
        self.host, self.tls = host, tls
        self.before = []
        if host:
            self.before, self.who = host.before, {}
            self.address, self.peer = f"{host.address}:{self.port}", f"http://{host.peer}:{free_port()}"
        else:
            self.address, self.peer = f"127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        self.data, self.copy = self.folder / "data", self.folder / "copy"

    def command(self):
        cluster = ",".join(f"n{at}={node.peer}" for at, node in enumerate(self.cluster))
        client = f"{'https' if self.tls else 'http'}://{self.address}"
        files = ["--cert-file", self.tls.certificate, "--key-file", self.tls.key] if self.tls else []
        return [*self.before, self.server, "--name", f"n{self.cluster.index(self)}", "--data-dir", self.data,
                "--listen-client-urls", client, "--advertise-client-urls", client, *files,
                "--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer,
                "--initial-cluster", cluster]  # fmt: skip

    def ask(self, path, request):
        if self.tls:
            connection = http.client.HTTPSConnection(self.address, timeout=PATIENCE, context=self.tls.context)
        else:
            connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(request))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            return json.loads(answer.read())

    def ready(self):
        """Raises until the cluster has a quorum."""
        return self.ask("/v3/kv/range", {"key": base64.b64encode(b"a").decode()})

    def revision(self):
        return self.ready()["header"]["revision"]

    def store_copy(self):
        self.stop()
        self.run("rm", "-rf", self.copy)
        self.run("cp", "-a", self.data, self.copy)
        self.start()

    def restore(self):
        """What was stored after the copy is gone, and its revisions come again."""
        self.kill()
        self.run("rm", "-rf", self.data)
        self.run("cp", "-a", self.copy, self.data)
        self.start()


class Encrypted:
    """The certificate and key of a node, and what its clients trust."""

    def __init__(self, pair, context):
        (self.certificate, self.key), self.context = pair, context


class Cluster:
    def __init__(self, size, hosts=(), tls=None):
        self.nodes = [Node(host, tls) for host in hosts or [None] * size]
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


class Network:
    """Network namespaces: `hosts`, each with a link to this machine, and a link to the others, which can be cut."""

    def __init__(self, size):
        self.name = f"leafid{os.getpid()}"
        self.hosts, self.made = [], []
        try:
            self.add(self.name)
            ip("-n", self.name, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.name, "link", "set", "bridge", "up")
            for at in range(1, size + 1):
                self.hosts.append(self.host(at))
        except (Missing, FileNotFoundError, PermissionError) as error:
            self.remove()
            raise Missing(f"network namespaces with links: {error}") from None

    def add(self, name):
        ip("netns", "add", name)
        self.made.append(name)

    def host(self, at):
        name = f"{self.name}-{at}"
        self.add(name)
        ours, theirs = f"l{os.getpid()}-{at}", f"peer{at}"
        ip("link", "add", ours, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"198.18.{at}.1/30", "dev", ours)
        ip("link", "set", ours, "up")
        ip("-n", self.name, "link", "add", theirs, "type", "veth", "peer", "name", "eth1", "netns", name)
        ip("-n", self.name, "link", "set", theirs, "master", "bridge", "up")
        for device, address in (("lo", None), ("eth0", f"198.18.{at}.2/30"), ("eth1", f"198.19.0.{at}/24")):
            if address:
                ip("-n", name, "addr", "add", address, "dev", device)
            ip("-n", name, "link", "set", device, "up")
        return Host(self.name, name, theirs, f"198.18.{at}.2", f"198.19.0.{at}")

    def remove(self):
        for name in self.made:
            ip("netns", "del", name)


class Host:
    def __init__(self, network, name, link, address, peer):
        self.network, self.link = network, link
        self.address, self.peer = address, peer
        self.before = [need("ip", "iproute2"), "netns", "exec", name]

    def cut(self):
        ip("-n", self.network, "link", "set", self.link, "down")

    def join(self):
        ip("-n", self.network, "link", "set", self.link, "up")


def ip(*words):
    done = subprocess.run([need("ip", "iproute2"), *words], capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"ip {' '.join(words)}: {done.stderr.strip()}")
