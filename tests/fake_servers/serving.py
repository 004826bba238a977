"""The listening side: connections, and requests handed to the dialects."""

import itertools
import select
import socket
import ssl
import struct
import threading
import time

import leaf_dialect
import lease_dialect
import range_dialect
import tinyid_dialect
from answers import Answer, refusal
from reading import Reader, parse

DIALECTS = [range_dialect, leaf_dialect, tinyid_dialect, lease_dialect]


class Listener:
    """A port of loopback, and a thread for each connection."""

    def __init__(self, control, port, connections, only_control=False, tls=(None, None)):
        self.control, self.only_control = control, only_control
        self.free = threading.Semaphore(connections)
        self.lock = threading.Lock()
        self.open, self.numbers = {}, itertools.count(1)
        self.context = None
        if tls[0]:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*tls)
        self.stuffing = []
        self.socket = self.bind(port)
        self.port = self.socket.getsockname()[1]
        self.serve()

    def bind(self, port, backlog=1024):
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(backlog)
        return made

    def serve(self):
        threading.Thread(target=self.accept, args=[self.socket], daemon=True).start()

    def die(self, how):
        """Refuses connections, lets them hang, or (None) is back."""
        if how not in (None, "refused", "hangs"):
            raise ValueError(f"how is {how!r}, not refused, hangs or null")
        with self.lock:
            # shutdown wakes the thread that accepts; close alone would leave it there.
            quietly(lambda: self.socket.shutdown(socket.SHUT_RDWR))
            for closed in [self.socket, *self.stuffing]:
                closed.close()
            self.stuffing = []
            if how is None:
                self.socket = self.bind(self.port)
                self.serve()
                return
            for connection in self.open.values():
                quietly(lambda: connection.shutdown(socket.SHUT_RDWR))
            if how == "hangs":
                # No accept, and the queue is full: the kernel drops what asks.
                self.socket = self.bind(self.port, backlog=0)
                for _ in range(4):
                    stuffing = socket.socket()
                    stuffing.setblocking(False)
                    stuffing.connect_ex(("127.0.0.1", self.port))
                    self.stuffing.append(stuffing)

    def accept(self, listening):
        while True:
            self.free.acquire()
            try:
                connection, _ = listening.accept()
            except OSError:
                self.free.release()
                return
            threading.Thread(target=self.converse, args=[connection], daemon=True).start()

    def converse(self, connection):
        number = next(self.numbers)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                connection.settimeout(60)
                connection = self.context.wrap_socket(connection, server_side=True)
                connection.settimeout(None)
            with self.lock:
                self.open[number] = connection
            reader = Reader(connection)
            while self.one(connection, reader, number):
                pass
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.open.pop(number, None)
            connection.close()
            self.free.release()

    def one(self, connection, reader, number):
        """Reads and answers one request; whether another may follow."""
        head = reader.head()
        if head is None:
            return False
        if not self.only_control:
            plain = leaf_dialect.answer_plainly(head, number, self.control)
            if plain:
                connection.sendall(plain)
                return True
        request = parse(head, reader)
        if request.path == "/control":
            told = self.control.obey(request.body or b'{"do": "report"}')
            return Answer(400 if "error" in told else 200, told).send(connection)
        for dialect in DIALECTS if not self.only_control else ():
            tag = dialect.tag_of(request)
            if tag is not None:
                return self.answer(connection, number, request, dialect, tag)
        return refusal(404, "invalid_argument", f"there is no {request.path}").send(connection)

    def answer(self, connection, number, request, dialect, tag):
        control = self.control
        noted = control.report.begin(number, request, tag)
        status = None
        try:
            fault = control.faults.next(tag)
            if "delay_ms" in fault:
                control.faults.delay(fault["delay_ms"] / 1000)
            if fault.get("hang"):
                control.faults.hang(lambda: is_gone(connection))
            if fault.get("reset"):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if fault.get("hang") or fault.get("reset") or fault.get("close"):
                return False
            right, given = None, None
            # An answer that is wrong altogether takes nothing from the counter.
            if "status" not in fault and "body" not in fault or not self.is_allowed(request, dialect):
                if fault.get("retry"):
                    self.ask(request, dialect, tag)
                right, given = self.rightly(request, dialect, tag, fault)
            if given:
                control.report.give(noted, *given)
            if fault.get("lost"):
                return False
            answer = (right or Answer(200, "")).spoiled(fault)
            status = answer.status
            # Noted before it is read on the other side: else the next request could seem to overlap this one.
            control.report.end(noted, status) if not answer.is_slow() else None
            goes_on = answer.send(connection)
            late = fault.get("late_other")
            if late:
                time.sleep(late.get("after_ms", 0) / 1000)
                self.ask(request, dialect, late["tag"])[0].send(connection)
            return goes_on
        finally:
            control.report.end(noted, status)

    def rightly(self, request, dialect, tag, fault):
        faults = self.control.faults

        def ask():
            return self.ask(request, dialect, fault.get("other", tag), fault.get("duplicate", False))

        if "collapse" in fault:
            return faults.collapsed(tag, fault["collapse"], ask)
        right, given = ask()
        return (faults.swapped(tag, right), given) if fault.get("swap") else (right, given)

    def is_allowed(self, request, dialect):
        token = self.control.token
        if not token or getattr(dialect, "CHECKS_TOKENS", False):
            return True
        return request.headers.get("authorization") == f"Bearer {token}"

    def ask(self, request, dialect, tag, duplicate=False):
        """The right answer, and what it gives."""
        if not self.is_allowed(request, dialect):
            return refusal(401, "invalid_argument", "a token is needed"), None
        return dialect.answer(request, tag, self.control, duplicate)


def is_gone(connection):
    """Whether the other side has closed."""
    try:
        if not select.select([connection], [], [], 0)[0]:
            return False
        return isinstance(connection, ssl.SSLSocket) or not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):
        return True


def quietly(action):
    try:
        action()
    except OSError:
        pass
