"""What was asked, when, and how much of it at once.

    {"total": 12, "connections": 3, "largest_rate": 5, "most_at_once": 2, "nonces_repeated": 0,
     "tags": {"order": {"total": 12, "largest_rate": 5, "most_at_once": 1, "under_way": 0, "given": 11,
                        "first_start": "1", "last_end": "11001"}},
     "requests": [{"number": 1, "at_ms": 17.2, "until_ms": 18.0, "tag": "order", "method": "POST", "path": "…",
                   "query": {"nonce": "…"}, "headers": {"host": "…"}, "body": "", "connection": 1, "at_once": 1,
                   "status": 200, "given": ["1", "1001", 1]}]}

`largest_rate` is the most requests that began within any one second, `most_at_once` the most that were under way
together. Times count from the start of the program. `status` is null where nothing was answered; `given` is what the
answer gave, whatever a fault made of it. Requests of the control path are not in it. What is asked of Leaf and answered
rightly is noted in the least time: its request lasts no time, and nothing of it is under way.
"""

import threading
import time
from collections import deque

from reading import parse

KEPT = 100_000


class Tally:
    def __init__(self):
        self.total = self.under_way = self.most_at_once = self.largest_rate = 0
        self.second = deque()

    def begin(self, at):
        self.under_way += 1
        self.count(at, self.under_way)

    def count(self, at, at_once):
        self.total += 1
        self.most_at_once = max(self.most_at_once, at_once)
        self.second.append(at)
        while self.second[0] <= at - 1000:
            self.second.popleft()
        self.largest_rate = max(self.largest_rate, len(self.second))

    def as_json(self):
        return {"total": self.total, "largest_rate": self.largest_rate, "most_at_once": self.most_at_once,
                "under_way": self.under_way}  # fmt: skip


class Report:
    def __init__(self):
        self.lock = threading.Lock()
        self.begun = time.monotonic()
        self.forget()

    def forget(self):
        with self.lock:
            self.all, self.tags, self.given = Tally(), {}, {}
            self.requests, self.nonces, self.nonces_repeated = deque(maxlen=KEPT), set(), 0
            self.connections = set()

    def now_ms(self):
        return round((time.monotonic() - self.begun) * 1000, 1)

    def begin(self, connection, request, tag):
        """Notes a request; `end` takes what this returns."""
        with self.lock:
            at = self.now_ms()
            tallies = [self.all, self.tags.setdefault(tag, Tally())]
            for tally in tallies:
                tally.begin(at)
            self.connections.add(connection)
            nonce = request.query.get("nonce", "").encode()
            if nonce in self.nonces:
                self.nonces_repeated += 1
            elif nonce and len(self.nonces) < KEPT:
                self.nonces.add(nonce)
            entry = {
                "number": self.all.total, "at_ms": at, "until_ms": None, "tag": tag, "method": request.method,
                "path": request.path, "query": request.query, "headers": request.headers,
                "body": request.body.decode(errors="replace"), "connection": connection,
                "at_once": tallies[1].under_way, "status": None, "given": None,
            }  # fmt: skip
            self.requests.append(entry)
            return entry, tallies

    def note(self, connection, tag, head, given):
        """Notes a request for an id, and its answer, in the least time; its head is read when it is reported."""
        with self.lock:
            at = (time.monotonic() - self.begun) * 1000
            tally = self.tags.get(tag) or self.tags.setdefault(tag, Tally())
            self.all.count(at, self.all.under_way + 1)
            tally.count(at, tally.under_way + 1)
            self.connections.add(connection)
            _, found, rest = head.partition(b"nonce=")
            if found:
                nonce = rest[: rest.find(b" ")].partition(b"&")[0]
                if nonce in self.nonces:
                    self.nonces_repeated += 1
                elif len(self.nonces) < KEPT:
                    self.nonces.add(nonce)
            first, _, count = self.given.get(tag, (given, 0, 0))
            self.given[tag] = (first, given + 1, count + 1)
            self.requests.append((self.all.total, at, tag, head, connection, tally.under_way + 1, given))

    def give(self, noted, start, end, stride):
        with self.lock:
            entry, _ = noted
            entry["given"] = [str(start), str(end), stride]
            first, _, count = self.given.get(entry["tag"], (start, end, 0))
            self.given[entry["tag"]] = (first, end, count + 1)

    def end(self, noted, status):
        with self.lock:
            entry, tallies = noted
            if entry["until_ms"] is None:
                entry["until_ms"], entry["status"] = self.now_ms(), status
                for tally in tallies:
                    tally.under_way -= 1

    def as_json(self, requests=1000):
        with self.lock:
            tags = {}
            for tag, tally in self.tags.items():
                tags[tag] = tally.as_json()
                first, end, count = self.given.get(tag, (None, None, 0))
                tags[tag]["given"] = count
                tags[tag]["first_start"], tags[tag]["last_end"] = first and str(first), end and str(end)
            listed = list(self.requests)[-requests:] if requests > 0 else []
            return {
                **self.all.as_json(), "connections": len(self.connections), "nonces_repeated": self.nonces_repeated,
                "tags": tags, "requests": [told(entry) for entry in listed],
            }  # fmt: skip


def told(entry):
    if isinstance(entry, dict):
        return dict(entry)
    number, at, tag, head, connection, at_once, given = entry
    request, at = parse(head), round(at, 1)
    return {
        "number": number, "at_ms": at, "until_ms": at, "tag": tag, "method": request.method, "path": request.path,
        "query": request.query, "headers": request.headers, "body": "", "connection": connection, "at_once": at_once,
        "status": 200, "given": [str(given), str(given + 1), 1],
    }  # fmt: skip
