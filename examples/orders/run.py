"""Runs the order intake: programs in four languages on one state directory, one SQLite database.

Every program streams its orders here, and this process inserts them; the id is the primary key, and an id that comes
twice is refused by it and counted. One program is killed midway and started again. `make demo` runs it.
"""

import argparse
import array
import datetime
import os
import pathlib
import selectors
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import leafid

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
SEED = 20190906
SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY,
    customer TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    run INTEGER NOT NULL,
    program TEXT NOT NULL,
    pid INTEGER NOT NULL
)"""
# The worker id is where Leaf's layout has it: 10 bits above 12 bits of sequence.
PER_PROCESS = """
SELECT program, pid, count(*), min(id), max(id), group_concat(DISTINCT (id >> 12) & 1023)
FROM orders WHERE run = ? GROUP BY program, pid ORDER BY min(id)"""


class Program:
    """One started program, with its pipe. Its forks write to the same pipe."""

    def __init__(self, name, command, processes, environment):
        self.name, self.command, self.processes = name, command, processes
        # A group of its own, so that its forks can be ended with it.
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, process_group=0)
        self.killed = False
        self.orders = {}  # how many came from each pid
        self._rest = b""

    def read(self):
        """The orders that have arrived since, as rows for the database; None at the end."""
        data = os.read(self.process.stdout.fileno(), 1 << 18)
        if not data:
            return None
        whole, _, self._rest = (self._rest + data).rpartition(b"\n")
        rows = []
        for line in whole.decode().splitlines():
            pid, id, customer, amount_cents, created_ms = line.split("\t")
            rows.append((int(id), customer, int(amount_cents), int(created_ms), self.name, int(pid)))
        for row in rows:
            self.orders[row[-1]] = self.orders.get(row[-1], 0) + 1
        return rows

    def total(self):
        return sum(self.orders.values())

    def kill(self):
        self.process.kill()
        self.killed = True

    def end(self):
        """Ends it, forks included, unless it was seen to end: its pid may then be another's."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def complaints(self, orders):
        """What is not as it must be, in words: each process makes `orders`."""
        code = self.process.wait(timeout=10)
        if self.killed:
            # A line of which only half arrived is no order.
            if code != -signal.SIGKILL:
                yield f"{self.name}: was to be killed, but ended with {code} before"
            return
        if self._rest:
            yield f"{self.name}: half a line arrived: {self._rest!r}"
        if code != 0:
            yield f"{self.name}: ended with {code}"
        counts = sorted(self.orders.values())
        if counts != [orders] * self.processes:
            yield f"{self.name}: {self.processes} processes should have made {orders:,} orders each, not {counts}"


class Database:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute(SCHEMA)
        # Every id that ever arrived, to be counted apart from the primary key.
        self.ids = array.array("q", (id for (id,) in self.db.execute("SELECT id FROM orders")))
        (self.run,) = self.db.execute("SELECT coalesce(max(run), 0) + 1 FROM orders").fetchone()
        self.refused = 0
        self._rows = []

    def insert(self, rows):
        self._rows += rows
        if len(self._rows) >= 10_000:
            self.flush()

    def flush(self):
        rows, self._rows = self._rows, []
        self.ids.extend(row[0] for row in rows)
        statement = f"INSERT INTO orders VALUES (?, ?, ?, ?, {self.run}, ?, ?)"
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
                    print(f"DUPLICATE {row}: {error}", file=sys.stderr)

    def one(self, query):
        return self.db.execute(query).fetchone()


def commands(orders):
    """Name, command, and how many processes make orders, of each program."""
    node = [os.environ.get("NODE", "node"), str(BUILD / "node" / "orders.mjs")]
    commands = [
        ("python", [sys.executable, str(HERE / "orders.py")], [], 4),
        ("node", node, ["2"], 1),
        ("node-2", node, ["1"], 1),
        ("c", [str(BUILD / "examples" / "orders-c")], [], 2),
        ("rust", [str(BUILD / "examples-target" / "release" / "orders")], [], 1),
    ]
    for number, (name, program, more, processes) in enumerate(commands):
        yield name, [*program, str(orders), str(SEED + number), *more], processes


def take_in(database, started, orders, kill, timeout, environment):
    """Starts the programs, which are added to `started`, and inserts what they send until all have ended."""
    selector = selectors.DefaultSelector()

    def start(name, command, processes):
        program = Program(name, command, processes, environment)
        started.append(program)
        selector.register(program.process.stdout, selectors.EVENT_READ, program)
        return program

    for command in commands(orders):
        start(*command)
    begun = shown = time.monotonic()
    while selector.get_map():
        for key, _ in selector.select(timeout=0.1):
            program = key.data
            rows = program.read()
            if rows is None:
                selector.unregister(key.fileobj)
                continue
            database.insert(rows)
            half = program.processes * orders // 2
            if program.name == kill and program.total() >= half and not any(other.killed for other in started):
                program.kill()
                again = start(f"{program.name} again", program.command, program.processes)
                print(
                    f"{time.monotonic() - begun:5.1f} s  {program.name}, pid {program.process.pid}, is killed with "
                    f"SIGKILL after {program.total():,} orders and started again as pid {again.process.pid}"
                )
        now = time.monotonic()
        if now - shown >= 0.5 or not selector.get_map():
            shown = now
            database.flush()
            counts = "  ".join(f"{program.name} {program.total():,}" for program in started)
            print(f"{now - begun:5.1f} s  {counts}")
        if now - begun > timeout:
            raise SystemExit(f"not done after {timeout} s")


def show(database):
    def decoded(id):
        moment = datetime.datetime.fromtimestamp(leafid.decode(id).timestamp_ms / 1000)
        return f"{id} {moment:%H:%M:%S.%f}"[:-3]

    form = "{:<11} {:>8} {:>6} {:>9} {:>9}  {:<32}  {:<32}"
    print("\n" + form.format("program", "process", "worker", "ids", "ids/s", "first id, made at", "last id, made at"))
    for program, pid, count, first, last, workers in database.db.execute(PER_PROCESS, (database.run,)):
        took_ms = max(1, leafid.decode(last).timestamp_ms - leafid.decode(first).timestamp_ms)
        rate = f"{count * 1000 // took_ms:,}"
        print(form.format(program, pid, workers, f"{count:,}", rate, decoded(first), decoded(last)))
    customers, cents = database.one("SELECT count(DISTINCT customer), sum(amount_cents) FROM orders")
    print(f"\n{cents / 100:,.2f} ordered by {customers:,} customers")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=150_000, help="orders of each process, at least 50000")
    parser.add_argument("--kill", default="rust", help="the program that is killed midway")
    parser.add_argument("--keep", action="store_true", help="go on with the last run's database and state directory")
    parser.add_argument("--timeout", type=float, default=120, help="seconds until the run is given up")
    options = parser.parse_args()
    if options.orders < 50_000:
        parser.error(f"--orders {options.orders}: at least 50000")
    sys.stdout.reconfigure(line_buffering=True)
    directory = BUILD / "demo"
    if not options.keep:
        shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    database = Database(directory / "orders.db")
    environment = {**os.environ, "LEAFID_STATE_DIR": str(directory / "state")}

    started = []
    try:
        take_in(database, started, options.orders, options.kill, options.timeout, environment)
        complaints = [complaint for program in started for complaint in program.complaints(options.orders)]
    finally:
        for program in started:
            program.end()
    if not any(program.killed for program in started):
        complaints.append(f"no program was killed: there is none called {options.kill}")

    show(database)
    (rows,) = database.one("SELECT count(*) FROM orders")
    distinct = len(set(database.ids))
    duplicates = len(database.ids) - distinct
    if duplicates != database.refused or rows != distinct:
        complaints.append(f"{len(database.ids):,} orders arrived, but {rows:,} rows and {database.refused:,} refusals")
    print(f"rows {rows:,}, distinct ids {distinct:,}, duplicates {duplicates:,}")
    for complaint in complaints:
        print(f"FAILED: {complaint}", file=sys.stderr)
    sys.exit(1 if duplicates or complaints else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
