"""An existing Leaf: two nodes on one database, played by tests/fake_servers. One of them is killed, and started again,
while programs in four languages take numbers from them."""

import collections
import pathlib
import subprocess
import sys
import time

FAKE_SERVER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fake_servers" / "fake_server.py"
SHOP = "market"
ORDERS = 4_000  # of each process
# When that share of the orders has come.
KILLED_AT, STARTED_AT = 0.3, 0.7
FORM = "{:<8} {:>9} {:>11} {:>14}"


class Node:
    def __init__(self, database, port=0):
        # Sixty seconds are the most that it lives, whoever ends.
        command = [sys.executable, str(FAKE_SERVER), "--database", str(database), "--port", str(port), "--seconds", "60"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.database, self.port = database, int(self.process.stdout.readline().split()[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        return Node(self.database, self.port)


class Leaf:
    """Watches what the programs send, and does its actions by that."""

    def __init__(self, directory, database):
        self.database, self.expected = database, 0
        self.nodes = [Node(directory / "leaf.db") for _ in range(2)]
        self.begun, self.killed, self.back = time.monotonic(), False, False
        self.seen, self.pauses, self.rows = {}, collections.Counter(), collections.Counter()

    def urls(self, first):
        """As a program names them that prefers this one."""
        nodes = self.nodes if first == 0 else self.nodes[::-1]
        return ",".join(f"http://127.0.0.1:{node.port}" for node in nodes)

    def watch(self, program, rows):
        """A pause is the longest time in which a process sent nothing."""
        now = time.monotonic()
        for pid in {row[-1] for row in rows}:
            self.pauses[program] = max(self.pauses[program], now - self.seen.get(pid, now))
            self.seen[pid] = now
        self.rows[program] += len(rows)
        share = self.rows.total() / self.expected
        if not self.killed and share >= KILLED_AT:
            self.nodes[0].kill()
            self.killed = True
            self.tell("one node is killed")
        if not self.back and share >= STARTED_AT:
            self.nodes[0] = self.nodes[0].again()
            self.back = True
            self.tell("it is started again")

    def tell(self, what):
        print(f"{time.monotonic() - self.begun:5.1f} s  {what}, after {self.rows.total():,} orders")

    def show(self):
        """Answers what was not as it must be, in words."""
        print("\n" + FORM.format("program", "rows", "duplicates", "longest pause"))
        for program, rows in self.rows.items():
            print(FORM.format(program, f"{rows:,}", "", f"{1000 * self.pauses[program]:.0f} ms"))
        duplicates = self.database.duplicates(SHOP)
        print(FORM.format("together", f"{self.rows.total():,}", f"{duplicates:,}", ""))
        if not self.back:
            yield f"{SHOP}: no node was killed and started again"

    def end(self):
        for node in self.nodes:
            node.kill()
