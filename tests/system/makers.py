"""Processes that make ids until they are closed or killed, and the ids that they left in a file."""

import array
import subprocess

from harness import wait_for
from subjects import environment, sweep


def read_ids(path):
    ids = array.array("q")
    data = path.read_bytes() if path.exists() else b""
    ids.frombytes(data[: len(data) // 8 * 8])
    return ids


class Maker:
    """Such a process. Of a kind's own: `ids()`, and `notes(*kinds)`, what it was asked and got."""

    def __init__(self, name, command, env, said):
        self.name, self.said = name, said
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=open(said, "w"), env=env or environment()
        )
        self.pid, self.killed = self.process.pid, False

    def is_in(self):
        return bool(self.notes("in"))

    def workers(self):
        """The worker ids of its ids, in the order of their first."""
        return list(dict.fromkeys(an_id >> 12 & 1023 for an_id in self.ids()))

    def await_in(self):
        wait_for(self.is_in, f"{self.name} to come in")

    def await_ids(self, worker=None):
        """Until it has made others than it had; of this worker id, if one is given."""
        count = len(self.ids())
        wait_for(
            lambda: any(worker in (None, an_id >> 12 & 1023) for an_id in self.ids()[count:]),
            f"{self.name} to make more ids {'' if worker is None else f'with worker id {worker}'}",
        )

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.killed = True
        sweep(self.pid)

    def close(self):
        """Has it end by itself: normally."""
        if self.killed or self.process.stdin.closed:
            return
        self.process.stdin.close()
        code = self.process.wait()
        sweep(self.pid)
        assert code == 0, f"{self.name} ended with {code}: {self.said.read_text()[-1500:]}"
