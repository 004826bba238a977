"""Reading requests."""

from urllib.parse import parse_qsl, urlsplit

LARGEST_HEAD = LARGEST_BODY = 1 << 20
END_OF_HEAD = b"\r\n\r\n"


class Request:
    def __init__(self, method, target, headers, body):
        parts = urlsplit(target)
        self.method, self.path, self.headers, self.body = method, parts.path, headers, body
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))


class Reader:
    """What comes by a connection, one request after the other."""

    def __init__(self, connection):
        self.connection, self.buffer = connection, b""

    def head(self):
        """The head of the next request, with its end; None at the end of the connection."""
        while (end := self.buffer.find(END_OF_HEAD)) < 0:
            if len(self.buffer) > LARGEST_HEAD:
                raise ValueError("too large a head")
            if not self.more():
                return None
        end += len(END_OF_HEAD)
        head, self.buffer = self.buffer[:end], self.buffer[end:]
        return head

    def body(self, length):
        if length > LARGEST_BODY:
            raise ValueError("too large a body")
        while len(self.buffer) < length and self.more():
            pass
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return body

    def more(self):
        came = self.connection.recv(65536)
        self.buffer += came
        return came


def parse(head, reader=None):
    """The request that begins with this head; without a reader it has no body."""
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Request(method, target, headers, reader.body(int(headers.get("content-length", 0))) if reader else b"")
