"""Runs the order intake: programs in four languages, and in Java where it was built, on one state directory, one SQLite
database.

Every program streams its orders here, and this process inserts them; the id is the primary key, the number is unique in
its shop, and what comes twice is refused by these and counted. One program is killed midway and started again. Then two
hosts, each with a state directory of its own, lease their worker ids, and fetch their numbers, from tables that they
share, and one of them is killed. Then the server of a third kind of number is killed, and at last one of three id servers
on one store. `make demo` runs it.
"""

import argparse
import collections
import os
import pathlib
import selectors
import shutil
import signal
import subprocess
import sys
import time
import typing

import id_servers
import outage
from database import Database, show_processes, show_shops
from orders import STEP as DATABASE_STEP

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
DIRECTORY = BUILD / "demo"
# Where it was built.
JAVA = BUILD / "examples" / "java"
NUMBERS = DIRECTORY / "numbers"
SEED = 20190906
# Of each host, or hosts that share a database, its own: a shop's numbers come from one source.
SHOPS, ONLINE_SHOPS = ["berlin", "lyon", "osaka"], ["phone", "web"]
# Numbers that a process fetches at a time from the directory.
STEP = 1_000


class Plan(typing.NamedTuple):
    """How a program is started."""

    name: str
    command: list
    processes: int  # that make as many orders each
    shops: list
    at_hand: int  # numbers of a shop at most, of all its processes: two segments of each, in Node of each thread
    state_dir: pathlib.Path


class Program:
    """One started program, with its pipe. Its forks write to the same pipe."""

    def __init__(self, plan):
        self.plan, self.name = plan, plan.name
        environment = {**os.environ, "LEAFID_STATE_DIR": str(plan.state_dir)}
        # A group of its own, so that its forks can be ended with it.
        self.process = subprocess.Popen(plan.command, stdout=subprocess.PIPE, env=environment, process_group=0)
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
            pid, id, shop, number, customer, amount_cents, created_ms = line.split("\t")
            order = (int(id), shop, int(number), customer, int(amount_cents), int(created_ms))
            rows.append((*order, self.name, int(pid)))
        for row in rows:
            self.orders[row[-1]] = self.orders.get(row[-1], 0) + 1
        return rows

    def total(self):
        return sum(self.orders.values())

    def kill(self):
        """With all of its forks."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.killed = True

    def end(self):
        """Ends it, forks included, unless it was seen to end: its pid may then be another's."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def complaints(self, orders):
        """What is not as it must be, in words: each process makes `orders`."""
        code = self.process.wait(timeout=900)
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
        if counts != [orders] * self.plan.processes:
            yield f"{self.name}: {self.plan.processes} processes should have made {orders:,} orders each, not {counts}"


def java():
    """Its command, if it is there."""
    if JAVA.exists():
        yield ["java", "-cp", f"{JAVA}:{BUILD / 'java' / 'classes'}", "Orders"]


def one_host(orders):
    """Programs that share a range of worker ids, and a directory of counters."""
    # Made on purpose, and once: a counter that is lost must not begin at 1 again by itself.
    tags = [word for shop in SHOPS for word in ("--tag", shop)]
    create = [sys.executable, "-m", "leafid", "file", "create", str(NUMBERS), *tags, "--step", str(STEP)]
    subprocess.run(create, check=True, stdout=subprocess.DEVNULL)

    node = [os.environ.get("NODE", "node"), str(BUILD / "node" / "orders.mjs")]
    commands = [
        ("python", [sys.executable, str(HERE / "orders.py")], [], 4, 4),
        ("node", node, ["2"], 1, 2),
        ("node-2", node, ["1"], 1, 1),
        ("c", [str(BUILD / "examples" / "orders-c")], [], 2, 2),
        ("rust", [str(BUILD / "examples" / "orders-rust")], [], 1, 1),
        *(("java", program, [], 1, 1) for program in java()),
    ]
    for number, (name, program, threads, processes, holders) in enumerate(commands):
        command = [*program, str(orders), str(SEED + number), *threads, f"file:{NUMBERS}", *SHOPS]
        yield Plan(name, command, processes, SHOPS, 2 * STEP * holders, DIRECTORY / "state")


def two_hosts(orders):
    """The same of two hosts that share a database; their state directories tell them apart."""
    program = [sys.executable, str(HERE / "orders.py")]
    for number, host in enumerate(["host-a", "host-b"]):
        command = [*program, str(orders), str(2 * SEED + number), str(DIRECTORY / "shared.db"), *ONLINE_SHOPS]
        yield Plan(host, command, 4, ONLINE_SHOPS, 2 * DATABASE_STEP * 4, DIRECTORY / host)


def of_servers(servers):
    """Programs in each language, each of which prefers one of the servers."""
    programs = [
        ("python", [sys.executable, str(HERE / "orders.py")], [], 4),
        ("node", [os.environ.get("NODE", "node"), str(BUILD / "node" / "orders.mjs")], ["2"], 1),
        ("c", [str(BUILD / "examples" / "orders-c")], [], 2),
        ("rust", [str(BUILD / "examples" / "orders-rust")], [], 1),
        *(("java", program, [], 1) for program in java()),
    ]
    for number, (name, program, threads, processes) in enumerate(programs):
        seed, urls = str(3 * SEED + number), servers.urls(number % 3)
        command = [*program, str(id_servers.ORDERS), seed, *threads, urls, id_servers.SHOP]
        servers.expected += processes * id_servers.ORDERS
        yield Plan(name, command, processes, [id_servers.SHOP], 0, DIRECTORY / f"server-{name}")


def take_in(database, started, plans, orders, kill, timeout, watch=None):
    """Starts the programs, which are added to `started`, and inserts what they send until all have ended. `watch` is
    passed each, and then nothing is shown here."""
    selector = selectors.DefaultSelector()

    def start(plan):
        program = Program(plan)
        started.append(program)
        selector.register(program.process.stdout, selectors.EVENT_READ, program)
        return program

    for plan in list(plans):
        start(plan)
    begun = shown = time.monotonic()
    while selector.get_map():
        for key, _ in selector.select(timeout=0.1):
            program = key.data
            rows = program.read()
            if rows is None:
                selector.unregister(key.fileobj)
                continue
            database.insert(rows)
            if watch:
                watch(program.name, rows)
            half = program.plan.processes * orders // 2
            if program.name == kill and program.total() >= half and not any(other.killed for other in started):
                program.kill()
                again = start(program.plan._replace(name=f"{program.name} again"))
                print(
                    f"{time.monotonic() - begun:5.1f} s  {program.name}, pid {program.process.pid}, is killed with "
                    f"SIGKILL after {program.total():,} orders and started again as pid {again.process.pid}"
                )
        now = time.monotonic()
        if now - shown >= 0.5 or not selector.get_map():
            shown = now
            database.flush()
            counts = "  ".join(f"{program.name} {program.total():,}" for program in started)
            if not watch:
                print(f"{now - begun:5.1f} s  {counts}")
        if now - begun > timeout:
            raise SystemExit(f"not done after {timeout} s")


def from_servers(database, timeout):
    """Answers what was not as it must be, in words."""
    servers, started = id_servers.Servers(DIRECTORY, database), []
    try:
        take_in(database, started, of_servers(servers), id_servers.ORDERS, None, timeout, servers.watch)
        return [*servers.show(), *(told for program in started for told in program.complaints(id_servers.ORDERS))]
    finally:
        servers.end()
        for program in started:
            program.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=50_000, help="orders of each process, at least 50000")
    parser.add_argument("--kill", default="rust", help="the program that is killed midway")
    parser.add_argument("--keep", action="store_true", help="go on with the last run's database and state directory")
    parser.add_argument("--timeout", type=float, default=900, help="seconds until the run is given up")
    options = parser.parse_args()
    if options.orders < 50_000:
        parser.error(f"--orders {options.orders}: at least 50000")
    sys.stdout.reconfigure(line_buffering=True)
    if not options.keep:
        shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    database = Database(DIRECTORY / "orders.db")

    complaints = []
    at_hand = collections.Counter()
    for title, plans, kill in [
        ("One host: processes in each language share a range of worker ids, and a directory of counters", one_host, options.kill),
        ("Two hosts: worker ids and counters in tables that they share", two_hosts, "host-b"),
    ]:
        print(f"{title}\n")
        started = []
        try:
            take_in(database, started, plans(options.orders), options.orders, kill, options.timeout)
            complaints += [complaint for program in started for complaint in program.complaints(options.orders)]
        finally:
            for program in started:
                program.end()
        if not any(program.killed for program in started):
            complaints.append(f"no program was killed: there is none called {kill}")
        for program in started:
            at_hand.update({shop: program.plan.at_hand for shop in program.plan.shops})
        print()

    show_processes(database)
    complaints += show_shops(database, at_hand)
    print("\nA gap is what a process had at hand when it ended or was killed: it is never given again")

    print("\nA server of segments is killed: invoice numbers go on from what is at hand\n")
    complaints += outage.run(DIRECTORY)

    print("\nThree id servers on one store: programs in each language take numbers from them, and one is killed\n")
    complaints += from_servers(database, options.timeout)
    print()

    (rows,) = database.one("SELECT count(*) FROM orders")
    arrived, distinct = len(database.ids), len(set(database.ids))
    duplicates = database.duplicates() + sum(map(database.duplicates, database.numbers))
    if rows + database.refused != arrived or (duplicates == 0) != (database.refused == 0):
        complaints.append(f"{arrived:,} orders arrived, but {rows:,} rows and {database.refused:,} refusals")
    print(f"rows {rows:,}, distinct ids {distinct:,}, duplicates {duplicates:,}")
    for complaint in complaints:
        print(f"FAILED: {complaint}", file=sys.stderr)
    sys.exit(1 if duplicates or complaints else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
