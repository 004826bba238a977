"""The database behind the counters and the leases: one SQLite file for all nodes, or this process's memory.

What is given is committed, and on the disk, before it is answered. So two processes with one `--database`, and one that
was killed and started anew, give nothing twice.
"""

import contextlib
import fcntl
import sqlite3
import threading

# `next` is the counter of range and Leaf; tinyid has one more for each remainder, `highest` is the largest id given.
TABLES = """
    CREATE TABLE IF NOT EXISTS tags (tag TEXT PRIMARY KEY, next INTEGER NOT NULL DEFAULT 1,
        step INTEGER NOT NULL DEFAULT 1000, stride INTEGER NOT NULL DEFAULT 1, known INTEGER NOT NULL DEFAULT 1,
        heeds_after INTEGER NOT NULL DEFAULT 1, grows INTEGER NOT NULL DEFAULT 1, delta INTEGER NOT NULL DEFAULT 2,
        remainder INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS tinyid (tag TEXT, remainder INTEGER, highest INTEGER NOT NULL,
        PRIMARY KEY (tag, remainder)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS leases (name TEXT, worker_id INTEGER, begins INTEGER NOT NULL, until INTEGER NOT NULL,
        lease_ends INTEGER NOT NULL, token TEXT, released TEXT, instance TEXT, renewals INTEGER NOT NULL,
        clock_ahead INTEGER NOT NULL, PRIMARY KEY (name, worker_id)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS facts (fact TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


class Database:
    def __init__(self, file=None):
        self.lock = threading.Lock()
        # Whether nobody vouches for what stands in it: it was there before, and no other process uses it now.
        self.is_found = False
        if file:
            # Shared for the life of the process; who can have it alone is the only one.
            self.users = open(f"{file}.users", "w")  # noqa: SIM115
            is_alone = self.try_alone()
        self.connection = sqlite3.connect(file or ":memory:", timeout=10, isolation_level=None, check_same_thread=False)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("PRAGMA synchronous = FULL")
        with self.transaction() as connection:
            was_there = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
            for table in TABLES.split(";"):
                connection.execute(table)
        if file:
            self.is_found = was_there and is_alone
            fcntl.flock(self.users, fcntl.LOCK_SH)

    def try_alone(self):
        try:
            fcntl.flock(self.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False

    @contextlib.contextmanager
    def transaction(self):
        """One transaction, of which other threads and processes see all or nothing."""
        with self.lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def copy_to(self, file):
        """Writes a copy as it is now: a later start with it is a server whose table went back."""
        with self.lock, contextlib.closing(sqlite3.connect(file)) as copy:
            self.connection.backup(copy)
