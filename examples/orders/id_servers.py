"""Three id servers on one store. One of them is killed, and started again, while programs in four languages take numbers
from them."""

import collections
import pathlib
import socket
import subprocess
import time
import urllib.request

SERVER = pathlib.Path(__file__).resolve().parents[2] / "build/leafid-server"
SHOP = "market"
ORDERS = 3_000  # of each process
# When that share of the orders has come.
KILLED_AT, STARTED_AT = 0.3, 0.7
FORM = "{:<8} {:>9} {:>11} {:>14}"


class Server:
    def __init__(self, store, port=None):
        self.store, self.port = store, port or free_port()
        command = [SERVER, "--store", store, "--listen", f"127.0.0.1:{self.port}"]
        with open(store.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.url = f"http://127.0.0.1:{self.port}"
        self.wait()

    def wait(self):
        """Until it is ready."""
        deadline = time.monotonic() + 900
        while True:
            try:
                return urllib.request.urlopen(f"{self.url}/ready", timeout=5).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        return Server(self.store, self.port)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Servers:
    """Watches what the programs send, and does its actions by that."""

    def __init__(self, directory, database):
        self.database, self.expected = database, 0
        store = directory / "server.db"
        # A tag that is there already is left as it is.
        subprocess.run([SERVER, "--store", store, "tag", SHOP], check=True, stdout=subprocess.DEVNULL)
        self.servers = [Server(store) for _ in range(3)]
        print(f"They show what they do at {self.servers[1].url}/monitor")
        self.begun, self.killed, self.back = time.monotonic(), False, False
        self.seen, self.pauses, self.rows = {}, collections.Counter(), collections.Counter()

    def urls(self, first):
        """As a program names them that prefers this one."""
        return ",".join(server.url for server in self.servers[first:] + self.servers[:first])

    def watch(self, program, rows):
        """A pause is the longest time in which a process sent nothing."""
        now = time.monotonic()
        for pid in {row[-1] for row in rows}:
            self.pauses[program] = max(self.pauses[program], now - self.seen.get(pid, now))
            self.seen[pid] = now
        self.rows[program] += len(rows)
        share = self.rows.total() / self.expected
        if not self.killed and share >= KILLED_AT:
            self.servers[0].kill()
            self.killed = True
            self.tell("one server is killed")
        if not self.back and share >= STARTED_AT:
            self.servers[0] = self.servers[0].again()
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
            yield f"{SHOP}: no server was killed and started again"

    def end(self):
        for server in self.servers:
            server.kill()
