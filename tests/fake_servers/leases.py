"""The leases of worker ids: the table of a lease server, kept in the database.

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
  answer is, too, and claims anew. A lease that has ended and was given to nobody else can still be renewed.
* A claim repeated by its `instance` is given the same id, span and token, and the lease begins anew. Once it was
  renewed, the repetition is a stray one and refused: the span of its answer is not this caller's alone any more.

A table may be old: the server continues with a copy, or starts with one that it finds. What was given since the copy
was made is unknown, but not where it ends: all of it was given before the start, so none of it ends above start +
lease_ms + threshold_ms (the largest ever in effect, and from the latest time at which this table gave anything, should
the clock have gone back). So every id of every name counts as given until then, and no claim is answered before this
clock has passed it. Nor may a renewal be: the token that the old table holds can be that of a process which slept while
its id went to another one, whom the table does not know; a renewal has no `from` to lift the sleeper above the other
one's span. So all tokens are void, holders use their spans to the end, and claim anew.
"""

import secrets
import time

DIALS = ("size", "lease_ms", "threshold_ms", "clock_offset_ms")
LEAST = {"size": 0, "lease_ms": 1, "threshold_ms": 0}


class Refused(Exception):
    """An answer other than 200: `status`, `error`, and the message."""

    def __init__(self, status, error, message):
        super().__init__(message)
        self.status, self.error = status, error


class Leases:
    def __init__(self, database, size=32, lease_ms=30_000, threshold_ms=10_000, trusted=False):
        self.database = database
        self.size, self.lease_ms, self.threshold_ms, self.clock_offset_ms = size, lease_ms, threshold_ms, 0
        self.kept = None
        if database.is_found and not trusted:
            with database.transaction() as connection:
                self.doubt(connection)

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
        with self.database.transaction() as connection:
            server = self.now()
            floor = fact(connection, "floor")
            rows = connection.execute("SELECT * FROM leases WHERE name = ?", [name]).fetchall()
            for row in rows:
                if row["token"] and row["instance"] == instance and row["until"] > server:
                    return self.repeat(connection, row, now, server)
            of = {row["worker_id"]: row for row in rows}
            stored = {id: max(of[id]["until"] if id in of else 0, floor) for id in range(self.size)}
            free = [
                id
                for id in stored
                if stored[id] <= server and not (id in of and of[id]["token"] and of[id]["lease_ends"] > server)
            ]
            if not free:
                raise Refused(409, "worker_in_use", self.why_none(name, of, stored, server, floor))
            id = next((id for id in free if stored[id] <= now), None)
            id = min(free, key=stored.get) if id is None else id
            begins = max(stored[id], min(now, server))
            # A clock so far behind that it wishes for less than nothing is given a lease from where it may begin.
            wish = until if until > begins else begins + self.lease_ms
            lease = {
                "name": name, "worker_id": id, "begins": begins, "until": self.capped(connection, wish, server),
                "lease_ends": server + self.lease_ms, "token": new_token(), "released": None, "instance": instance,
                "renewals": 0, "clock_ahead": now - real_now(),
            }  # fmt: skip
            columns = ", ".join(lease)
            values = ", ".join(f":{column}" for column in lease)
            connection.execute(f"INSERT OR REPLACE INTO leases ({columns}) VALUES ({values})", lease)
            return self.claimed(connection, lease, server)

    def repeat(self, connection, row, now, server):
        if row["renewals"]:
            message = f"the claim of instance {row['instance']} was answered, and its lease renewed since"
            raise Refused(409, "worker_in_use", message)
        changes = [server + self.lease_ms, now - real_now(), row["name"], row["worker_id"]]
        connection.execute(
            "UPDATE leases SET lease_ends = ?, clock_ahead = ? WHERE name = ? AND worker_id = ?", changes
        )
        return self.claimed(connection, row, server)

    def claimed(self, connection, lease, server):
        peers = connection.execute(
            "SELECT clock_ahead FROM leases WHERE name = ? AND worker_id != ? AND token IS NOT NULL AND lease_ends > ?",
            [lease["name"], lease["worker_id"], server],
        )
        return {
            "worker_id": lease["worker_id"], "from": lease["begins"], "until": lease["until"],
            "lease_ms": self.lease_ms, "server_time": server,
            "peer_times": [real_now() + peer["clock_ahead"] for peer in peers], "token": lease["token"],
        }  # fmt: skip

    def why_none(self, name, of, stored, server, floor):
        if floor > server:
            return f"the table may be old: every worker id counts as given until {floor}, for {floor - server} ms more"
        ends = [max(stored[id], of[id]["lease_ends"] if of[id]["token"] else 0) for id in of if id < self.size]
        soon = f"; the next one may be free in {min(ends) - server} ms" if ends else ""
        return f"none of the {self.size} worker ids of {name} is free{soon}"

    def renew(self, name, worker_id, token, until):
        with self.database.transaction() as connection:
            server = self.now()
            row = self.held(connection, name, worker_id, token)
            new = {
                "until": max(row["until"], self.capped(connection, until, server)),
                "lease_ends": server + self.lease_ms, "token": new_token(), "name": name, "worker_id": worker_id,
            }  # fmt: skip
            connection.execute(
                "UPDATE leases SET until = :until, lease_ends = :lease_ends, token = :token, renewals = renewals + 1 "
                "WHERE name = :name AND worker_id = :worker_id",
                new,
            )
            return {"until": new["until"], "lease_ms": self.lease_ms, "token": new["token"]}

    def release(self, name, worker_id, token, until):
        """A release that is repeated changes nothing."""
        with self.database.transaction() as connection:
            row = self.row(connection, name, worker_id)
            if row and not row["token"] and row["released"] == token:
                return
            row = self.held(connection, name, worker_id, token)
            until = max(row["begins"], min(until, row["until"]))
            connection.execute(
                "UPDATE leases SET until = ?, lease_ends = 0, token = NULL, released = ?, instance = NULL "
                "WHERE name = ? AND worker_id = ?",
                [until, token, name, worker_id],
            )

    def held(self, connection, name, worker_id, token):
        row = self.row(connection, name, worker_id)
        if not row or row["token"] != token:
            raise Refused(409, "worker_lost", f"worker id {worker_id} of {name} is not held by this token")
        return row

    def row(self, connection, name, worker_id):
        key = [name, worker_id]
        return connection.execute("SELECT * FROM leases WHERE name = ? AND worker_id = ?", key).fetchone()

    def capped(self, connection, wish, server):
        """Up to where ticks are given to who wishes for so much. With them it is noted how far any can have been."""
        ahead = self.lease_ms + self.threshold_ms
        note(connection, "longest_ms", ahead)
        note(connection, "latest", server)
        return min(wish, server + ahead)

    def doubt(self, connection):
        """Takes the table for an old one: see above."""
        longest = max(fact(connection, "longest_ms"), self.lease_ms + self.threshold_ms)
        note(connection, "floor", max(fact(connection, "latest"), self.now()) + longest)
        connection.execute("UPDATE leases SET token = NULL, released = NULL, instance = NULL, lease_ends = 0")

    def snapshot(self):
        """Keeps a copy of the table for `rewind`."""
        with self.database.transaction() as connection:
            self.kept = {
                table: [tuple(row) for row in connection.execute(f"SELECT * FROM {table}")]
                for table in ("leases", "facts")
            }

    def rewind(self, trusted=False):
        """Goes on with the copy; a server that trusts it takes it for the latest one, and repeats what was given."""
        if self.kept is None:
            raise ValueError("there is no snapshot to go back to")
        with self.database.transaction() as connection:
            for table, rows in self.kept.items():
                connection.execute(f"DELETE FROM {table}")
                for row in rows:
                    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            if not trusted:
                self.doubt(connection)

    def listed(self, name=None):
        with self.database.transaction() as connection:
            server, floor = self.now(), fact(connection, "floor")
            rows = connection.execute(
                "SELECT * FROM leases WHERE ? IS NULL OR name = ? ORDER BY name, worker_id", [name, name]
            ).fetchall()
        leases = [
            {
                "name": row["name"], "worker_id": row["worker_id"], "token": row["token"], "from": row["begins"],
                "until": max(row["until"], floor), "lease_ends": row["lease_ends"], "instance": row["instance"],
                "renewals": row["renewals"], "held": bool(row["token"]) and row["lease_ends"] > server,
                "clock_ahead": row["clock_ahead"],
            }
            for row in rows
        ]  # fmt: skip
        return {"leases": leases, "server_time": server, "floor": floor}


def real_now():
    return int(time.time() * 1000)


def new_token():
    return secrets.token_hex(16)


def fact(connection, name):
    row = connection.execute("SELECT value FROM facts WHERE fact = ?", [name]).fetchone()
    return row["value"] if row else 0


def note(connection, name, value):
    """Facts only go up."""
    connection.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (fact) DO UPDATE SET value = max(value, excluded.value)",
        [name, value],
    )
