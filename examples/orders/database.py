"""The orders' database: it refuses what comes twice, and tells what came."""

import array
import collections
import datetime
import sqlite3
import sys

import leafid

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY,
    shop TEXT NOT NULL,
    number INTEGER NOT NULL,
    customer TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    program TEXT NOT NULL,
    pid INTEGER NOT NULL,
    UNIQUE (shop, number)
)"""
# The worker id is where Leaf's layout has it: 10 bits above 12 bits of sequence.
PER_PROCESS = """
SELECT program, pid, count(*), min(id), max(id), group_concat(DISTINCT (id >> 12) & 1023)
FROM orders WHERE run = ? GROUP BY program, pid ORDER BY min(id)"""
PER_SHOP = "SELECT shop, count(*), min(number), max(number) FROM orders WHERE run = ? GROUP BY shop ORDER BY shop"

# Refusals that are printed; all are counted.
SHOWN = 10


class Database:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute(SCHEMA)
        # All that ever arrived, to be counted apart from the unique indices.
        self.ids = array.array("q")
        self.numbers = collections.defaultdict(lambda: array.array("q"))
        for id, shop, number in self.db.execute("SELECT id, shop, number FROM orders"):
            self._arrived(id, shop, number)
        (self.run,) = self.db.execute("SELECT coalesce(max(run), 0) + 1 FROM orders").fetchone()
        self.refused = 0
        self._rows = []

    def insert(self, rows):
        self._rows += rows
        if len(self._rows) >= 10_000:
            self.flush()

    def flush(self):
        rows, self._rows = self._rows, []
        for id, shop, number, *_ in rows:
            self._arrived(id, shop, number)
        statement = f"INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, {self.run}, ?, ?)"
        try:
            with self.db:
                self.db.executemany(statement, rows)
        except sqlite3.IntegrityError:
            # Nothing of the batch was kept: once more, one by one, to see which.
            for row in rows:
                try:
                    with self.db:
                        self.db.execute(statement, row)
                except sqlite3.IntegrityError as error:
                    self.refused += 1
                    if self.refused <= SHOWN:
                        print(f"DUPLICATE {row}: {error}", file=sys.stderr)

    def one(self, query):
        return self.db.execute(query).fetchone()

    def duplicates(self, shop=None):
        """How many ids came that had come before, or numbers of a shop."""
        values = self.ids if shop is None else self.numbers[shop]
        return len(values) - len(set(values))

    def _arrived(self, id, shop, number):
        self.ids.append(id)
        self.numbers[shop].append(number)


def show_processes(database):
    form = "{:<11} {:>8} {:>6} {:>9} {:>9}  {:<32}  {:<32}"
    print(form.format("program", "process", "worker", "ids", "ids/s", "first id, made at", "last id, made at"))
    for program, pid, count, first, last, workers in database.db.execute(PER_PROCESS, (database.run,)):
        took_ms = max(1, leafid.decode(last).timestamp_ms - leafid.decode(first).timestamp_ms)
        rate = f"{count * 1000 // took_ms:,}"
        print(form.format(program, pid, workers, f"{count:,}", rate, decoded(first), decoded(last)))
    customers, cents = database.one("SELECT count(DISTINCT customer), sum(amount_cents) FROM orders")
    print(f"\n{cents / 100:,.2f} ordered by {customers:,} customers\n")


def decoded(id):
    moment = datetime.datetime.fromtimestamp(leafid.decode(id).timestamp_ms / 1000)
    return f"{id} {moment:%H:%M:%S.%f}"[:-3]


def show_shops(database, at_hand):
    """Shows the order numbers of each shop, whose processes had `at_hand` at most when they ended. Answers what was not
    as it must be, in words."""
    form = "{:<7} {:>9} {:>9} {:>9} {:>11} {:>9}"
    print(form.format("shop", "orders", "first", "last", "duplicates", "gaps"))
    for shop, orders, first, last in database.db.execute(PER_SHOP, (database.run,)).fetchall():
        duplicates, gaps = database.duplicates(shop), last - first + 1 - orders
        print(form.format(shop, f"{orders:,}", f"{first:,}", f"{last:,}", f"{duplicates:,}", f"{gaps:,}"))
        if gaps > at_hand[shop]:
            yield f"{shop}: {gaps:,} numbers are missing, but no more than {at_hand[shop]:,} were at hand"
