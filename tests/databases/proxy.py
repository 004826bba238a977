"""Proxies in front of a database."""

import contextlib
import re
import socket
import threading


class Proxy:
    """Can lose the answer to a commit that the database has done. `commit` is in the request for it."""

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


class Wire(Proxy):
    """Keeps what clients ask a database for: `requests`, the kind of each message and its text.

    While `is_stale` is set, a SELECT of a text that was asked before has the answer that it had then, as from a replica.
    """

    def __init__(self, port, is_mysql):
        self.is_mysql, self.is_stale = is_mysql, False
        self.requests, self.answered = [], {}
        super().__init__(port)

    def connected(self, client):
        with client, socket.create_connection(("127.0.0.1", self.port)) as database:
            # The SELECT that was asked, and its answer. Other connections have others.
            asked = [None, b""]
            threading.Thread(target=self.answering, args=[client, database, asked], daemon=True).start()
            try:
                for kind, text, message in self.messages(client):
                    if kind is not None:
                        self.requests.append((kind, text))
                    if self.is_stale and text in self.answered:
                        client.sendall(self.answered[text])
                        continue
                    if asked[0] and asked[0] not in self.answered:
                        self.answered[asked[0]] = asked[1]
                    asked[:] = text if text.startswith("SELECT") and "leaf_alloc" in text else None, b""
                    database.sendall(message)
            except OSError:
                pass
            for end in (client, database):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def answering(self, client, database, asked):
        with contextlib.suppress(OSError):
            while words := database.recv(65536):
                if asked[0]:
                    asked[1] += words
                client.sendall(words)
        for end in (client, database):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def messages(self, client):
        """Kind, text and bytes of each message. What comes before the first request has no kind."""
        file, is_started = client.makefile("rb"), self.is_mysql
        while head := file.read(4 if self.is_mysql or not is_started else 5):
            if self.is_mysql:
                body = file.read(int.from_bytes(head[:3], "little"))
                kind, text = (body[0], body[1:]) if head[3] == 0 else (None, b"")
            elif is_started:
                body = file.read(int.from_bytes(head[1:], "big") - 4)
                kind, text = chr(head[0]), body.rstrip(b"\0")
            else:
                body = file.read(int.from_bytes(head, "big") - 4)
                kind, text = None, b""
                # An SSLRequest comes before the start.
                is_started = body != (80877103).to_bytes(4, "big")
            yield kind, text.decode(errors="replace"), head + body


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
                self.go.wait()
            with socket.create_connection(("127.0.0.1", self.port)) as database:
                database.sendall(words)
                self.answers(client, database, threading.Event())


def is_whole(request):
    head, end, body = request.partition(b"\r\n\r\n")
    return bool(end) and len(body) >= int(re.search(rb"content-length: (\d+)", head.lower())[1])
