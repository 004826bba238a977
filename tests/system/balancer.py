"""A balancer: each request goes to the next of the servers behind it, and to another one if that one does not answer."""

import contextlib
import itertools
import socket
import threading
import time

END = b"\r\n\r\n"
LENGTH = b"content-length: "
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone"
# A server that failed is left out for this many seconds.
REST = 0.1


class Balancer:
    """Of GETs, and of answers with a Content-Length."""

    def __init__(self, ports):
        self.turns, self.rest = itertools.cycle(ports), dict.fromkeys(ports, 0.0)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.converse, args=[client], daemon=True).start()

    def converse(self, client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        behind = {}
        with contextlib.suppress(OSError), client:
            while request := read(client):
                answer = self.ask(request, behind)
                client.sendall(answer or BAD_GATEWAY)
                if answer is None or b"connection: close" in answer.lower():
                    return
        for server in behind.values():
            server.close()

    def ask(self, request, behind):
        for _ in range(2 * len(self.rest)):
            port = next(self.turns)
            if self.rest[port] > time.monotonic():
                continue
            # A kept connection may be one that the server closed since.
            for kept in (behind.pop(port, None), None):
                with contextlib.suppress(OSError):
                    server = kept or socket.create_connection(("127.0.0.1", port), timeout=2)
                    server.sendall(request)
                    if answer := read(server):
                        behind[port] = server
                        return answer
            self.rest[port] = time.monotonic() + REST
        return None


def read(connection):
    """A request without a body, or an answer; nothing at the end of the connection."""
    data = b""
    while END not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(END)
    _, found, length = head.lower().partition(LENGTH)
    missing = int(length.split(b"\r\n")[0]) - len(body) if found else 0
    while missing > 0:
        more = connection.recv(missing)
        if not more:
            return b""
        data, missing = data + more, missing - len(more)
    return data
