"""Proxies in front of a database."""

import contextlib
import re
import socket
import threading


class Proxy:
    """Can lose the answer to a commit: the database has done it, nobody is told. `commit` is in the request for it."""

    def __init__(self, port, commit=b"COMMIT"):
        self.port = port
        self.commit = commit
        self.losing = threading.Event()
        self.lost = 0
        self.clients = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def own_port(self):
        return self.listener.getsockname()[1]

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connection, args=[client], daemon=True).start()

    def cut(self):
        """Ends the connections of all clients."""
        for client in list(self.clients):
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def connection(self, client):
        self.clients.add(client)
        try:
            self.connected(client)
        except ConnectionRefusedError:
            client.close()
        finally:
            self.clients.discard(client)

    def connected(self, client):
        with client, socket.create_connection(("127.0.0.1", self.port)) as database:
            commits = threading.Event()
            threading.Thread(target=self.answers, args=[client, database, commits], daemon=True).start()
            try:
                while words := client.recv(65536):
                    if self.commit in words and self.losing.is_set():
                        commits.set()
                    database.sendall(words)
            except OSError:
                pass

    def answers(self, client, database, commits):
        try:
            while words := database.recv(65536):
                if commits.is_set():
                    self.lost += 1
                    break
                client.sendall(words)
        except OSError:
            pass
        for end in (client, database):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class SlowNetwork(Proxy):
    """HTTP, a request a connection. While `holding` is set, a commit waits until `go` is, and connects only then."""

    def __init__(self, port, commit):
        self.holding, self.held, self.go = threading.Event(), threading.Event(), threading.Event()
        super().__init__(port, commit)

    def connection(self, client):
        with client:
            words = b""
            while not is_whole(words):
                if not (more := client.recv(65536)):
                    return
                words += more
            if self.commit in words and self.holding.is_set():
                self.held.set()
                self.go.wait(60)
            with socket.create_connection(("127.0.0.1", self.port)) as database:
                database.sendall(words)
                self.answers(client, database, threading.Event())


def is_whole(request):
    head, end, body = request.partition(b"\r\n\r\n")
    return bool(end) and len(body) >= int(re.search(rb"content-length: (\d+)", head.lower())[1])
