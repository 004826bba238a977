"""The leases of worker ids: the table of a lease server, kept in memory.

Of each worker id of a name it keeps up to where its ticks were ever given (`until`), and who holds it (a token, and
when the lease ends). What makes ids unique is `until` alone: it is committed before it is answered, goes up, and comes
down by one action only, the release by the present token, to no less than where that holder began. Who holds the id
decides only who gets the next span. Times are Unix milliseconds.

* `until` is what was wished for, at most server_time + lease_ms + threshold_ms: a clock that is fast by less than
  threshold_ms can be served, and one that is faster poisons nothing.
* A claim takes an id whose lease has ended and whose `until` this clock has passed: the lowest one whose `until` the
  client's clock has passed, too, for it can begin at once; else the one that the client waits for least.
* `from` is the `until` that was stored, or the client's `now` if that is later, but not later than server_time. The
  ticks are those of the client's clock. So the server's clock is no lower bound: a client that is 8 s behind would have
  to wait for 8 s. Nor is the client's where it is ahead: the span would shrink for nothing. Either way `from` lies at
  or above all that was given.
* A token is good for one renewal, which gives the next one. Of two clones the second one is `worker_lost`. Who lost an
  answer is, too, and claims again. A lease that has ended without another holder can still be renewed.
* A claim repeated by its `instance` is given the same id, span and token, and the lease starts again. Once it was
  renewed, the repetition is a stray one and refused: the span of its answer is not this caller's alone any more.

A table may be old (`doubt`), such as a copy. What was given since it was copied is unknown, but not where it ends: none
of it ends above now + lease_ms + threshold_ms. So every id of every name counts as given until then, and no claim is
answered before this clock has passed it. Nor may a renewal be: the token that the old table holds can be that of a
process which slept while its id went to another one, whom the table does not know; a renewal has no `from` to lift the
sleeper above the other one's span. So all tokens are void, holders use their spans to the end, and claim again.
"""

import secrets
import threading
import time

DIALS = ("size", "lease_ms", "threshold_ms", "clock_offset_ms")
LEAST = {"size": 0, "lease_ms": 1, "threshold_ms": 0}


class Refused(Exception):
    """An answer other than 200: `status`, `error`, and the message."""

    def __init__(self, status, error, message):
        super().__init__(message)
        self.status, self.error = status, error


class Leases:
    def __init__(self, size=32, lease_ms=30_000, threshold_ms=10_000):
        self.size, self.lease_ms, self.threshold_ms, self.clock_offset_ms = size, lease_ms, threshold_ms, 0
        self.lock = threading.Lock()
        # The table, by name and worker id. A row without a holder has no token. No span begins below `floor`.
        self.rows, self.floor = {}, 0
        # All that was ever given: of name, worker id and begin the end.
        self.spans = {}

    def set(self, dials):
        for dial, value in dials.items():
            if dial not in DIALS:
                raise ValueError(f"{dial} is no dial of the pool; there are {', '.join(DIALS)}")
            if type(value) is not int or value < LEAST.get(dial, value):
                raise ValueError(f"{dial} is {value!r}, which is no whole number, or too small")
            setattr(self, dial, value)

    def now(self):
        return real_now() + self.clock_offset_ms

    def claim(self, name, instance, now, until):
        with self.lock:
            server, of = self.now(), self.of(name)
            for row in of.values():
                if row["token"] and row["instance"] == instance and row["until"] > server:
                    return self.repeat(row, now, server)
            stored = {id: max(of[id]["until"] if id in of else 0, self.floor) for id in range(self.size)}
            free = [
                id
                for id in stored
                if stored[id] <= server and not (id in of and of[id]["token"] and of[id]["lease_ends"] > server)
            ]
            if not free:
                raise Refused(409, "worker_in_use", self.why_none(name, of, stored, server))
            id = next((id for id in free if stored[id] <= now), None)
            id = min(free, key=stored.get) if id is None else id
            begins = max(stored[id], min(now, server))
            # A clock so far behind that it wishes for less than nothing is given a lease from where it may begin.
            wish = until if until > begins else begins + self.lease_ms
            lease = {
                "name": name, "worker_id": id, "from": begins, "until": self.capped(wish, server),
                "lease_ends": server + self.lease_ms, "token": new_token(), "released": None, "instance": instance,
                "renewals": 0, "clock_ahead": now - real_now(),
            }  # fmt: skip
            self.rows[name, id] = lease
            self.give(lease)
            return self.claimed(lease, server)

    def repeat(self, row, now, server):
        if row["renewals"]:
            message = f"the claim of instance {row['instance']} was answered, and its lease renewed since"
            raise Refused(409, "worker_in_use", message)
        row.update(lease_ends=server + self.lease_ms, clock_ahead=now - real_now())
        return self.claimed(row, server)

    def claimed(self, lease, server):
        peers = [
            row
            for row in self.of(lease["name"]).values()
            if row is not lease and row["token"] and row["lease_ends"] > server
        ]
        return {
            **{key: lease[key] for key in ("worker_id", "from", "until", "token")},
            "lease_ms": self.lease_ms, "server_time": server,
            "peer_times": [real_now() + peer["clock_ahead"] for peer in peers],
        }  # fmt: skip

    def why_none(self, name, of, stored, server):
        if self.floor > server:
            return f"the table may be old: every worker id counts as given for {self.floor - server} ms more"
        ends = [max(stored[id], of[id]["lease_ends"] if of[id]["token"] else 0) for id in of if id < self.size]
        soon = f"; the next one may be free in {min(ends) - server} ms" if ends else ""
        return f"none of the {self.size} worker ids of {name} is free{soon}"

    def renew(self, name, worker_id, token, until):
        with self.lock:
            server, row = self.now(), self.held(name, worker_id, token)
            row["until"] = max(row["until"], self.capped(until, server))
            row.update(lease_ends=server + self.lease_ms, token=new_token(), renewals=row["renewals"] + 1)
            self.give(row)
            return {"until": row["until"], "lease_ms": self.lease_ms, "token": row["token"]}

    def release(self, name, worker_id, token, until):
        """A release that is repeated changes nothing."""
        with self.lock:
            row = self.rows.get((name, worker_id))
            if row and not row["token"] and row["released"] == token:
                return
            row = self.held(name, worker_id, token)
            until = max(row["from"], min(until, row["until"]))
            row.update(until=until, lease_ends=0, token=None, released=token, instance=None)
            self.spans[name, worker_id, row["from"]] = until

    def give(self, row):
        key = row["name"], row["worker_id"], row["from"]
        self.spans[key] = max(row["until"], self.spans.get(key, 0))

    def capped(self, wish, server):
        """Up to where ticks are given to who wishes for so much."""
        return min(wish, server + self.lease_ms + self.threshold_ms)

    def of(self, name):
        return {row["worker_id"]: row for key, row in self.rows.items() if key[0] == name}

    def held(self, name, worker_id, token):
        row = self.rows.get((name, worker_id))
        if not row or row["token"] != token:
            raise Refused(409, "worker_lost", f"worker id {worker_id} of {name} is not held by this token")
        return row

    def doubt(self):
        """Takes the table for an old one: see above."""
        with self.lock:
            self.floor = self.now() + self.lease_ms + self.threshold_ms
            for row in self.rows.values():
                row.update(token=None, released=None, instance=None, lease_ends=0)

    def listed(self, name=None):
        with self.lock:
            server, floor = self.now(), self.floor
            rows = [dict(row) for _, row in sorted(self.rows.items()) if name in (None, row["name"])]
        for row in rows:
            row["until"] = max(row["until"], floor)
            row["held"] = bool(row["token"]) and row["lease_ends"] > server
        return {"leases": rows, "server_time": server, "floor": floor}

    def given(self):
        with self.lock:
            return {"spans": [[*key, until] for key, until in self.spans.items()]}


def real_now():
    return int(time.time() * 1000)


def new_token():
    return secrets.token_hex(16)
