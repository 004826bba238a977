import contextlib
import secrets
import sqlite3

import leafid

# The database's clock, which no client's can deceive; SQLite has that of its host.
NOW_MS = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


class Workers:
    """Leases worker ids from a table that all hosts share."""

    def __init__(self, path, ids):
        self.path = path
        with self.transaction() as db:
            db.execute("CREATE TABLE IF NOT EXISTS worker (id INTEGER PRIMARY KEY, holder TEXT, until_ms INTEGER)")
            db.executemany("INSERT OR IGNORE INTO worker VALUES (?, NULL, 0)", [(id,) for id in ids])

    def claim(self, request):
        with self.transaction() as db:
            free = f"SELECT id, until_ms FROM worker WHERE until_ms <= min(?, {NOW_MS}) ORDER BY until_ms LIMIT 1"
            row = db.execute(free, [request.now_ms]).fetchone()
            if row is None:
                return None
            take = f"UPDATE worker SET holder = ?, until_ms = min(?, {NOW_MS} + 40000) WHERE id = ? RETURNING until_ms"
            [(until_ms,)] = db.execute(take, [request.instance, request.until_ms, row[0]]).fetchall()
        return leafid.Lease(row[0], from_ms=row[1], until_ms=until_ms, token=request.instance)

    def renew(self, lease, until_ms):
        token = secrets.token_hex(16)  # of two copies of this holder one has it, and the other one cannot renew
        extend = f"""UPDATE worker SET until_ms = max(until_ms, min(?, {NOW_MS} + 40000)), holder = ?
                     WHERE id = ? AND holder = ? RETURNING until_ms"""
        with self.transaction() as db:
            rows = db.execute(extend, [until_ms, token, lease.worker_id, lease.token]).fetchall()
        return {"until_ms": rows[0][0], "token": token} if rows else None

    def release(self, lease, until_ms):
        give_back = "UPDATE worker SET holder = NULL, until_ms = min(until_ms, ?) WHERE id = ? AND holder = ?"
        with self.transaction() as db:
            db.execute(give_back, [until_ms, lease.worker_id, lease.token])

    @contextlib.contextmanager
    def transaction(self):
        """A connection for each call: calls come from leafid's threads, and after forks."""
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")


if __name__ == "__main__":
    with leafid.Snowflake(Workers("workers.db", range(32)), name="orders") as flake:
        id = flake.next()
        print(f"{id} made by worker {leafid.decode(id).worker_id}")
