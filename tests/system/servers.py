"""The servers: leafid-server, and those that misbehave on command, ../fake_servers. Its README and fake_server.py tell
the commands."""

import atexit
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import uuid

from harness import BUILD, NEVER_S, ROOT, wait_for

sys.path.append(str(ROOT / "tests/fake_servers"))
import client  # noqa: E402

PROGRAM = BUILD / "leafid-server"


class IdServer:
    """A process of leafid-server on this SQLite file, which others may share; `options` are the program's."""

    def __init__(self, store, **options):
        self.store, self.options, self.port = store, options, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        atexit.register(lambda: self.process.kill())
        self.start()

    def start(self):
        more = [f"--{key.replace('_', '-')}={value}" for key, value in self.options.items()]
        # Tests change what servers of a store have alike, with nothing of the old ones left.
        always = ["--no-snowflake", "--change-settings"]
        command = [PROGRAM, f"--store={self.store}", f"--listen=127.0.0.1:{self.port}", *always, *more]
        self.log = self.store.with_name(f"{self.store.name}-{self.port}.log")
        env = {key: value for key, value in os.environ.items() if not key.startswith("LEAFID_")}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        ended = self.process.poll
        wait_for(lambda: "listens on" in self.log.read_text() or ended() is not None, "the server's start")
        assert ended() is None, self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def hang(self):
        """It takes connections and answers nothing; what was asked meanwhile is done when it continues."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def metric(self, name, **labels):
        """The sum of those with these labels, among others."""
        text = urllib.request.urlopen(f"{self.url}/metrics", timeout=NEVER_S).read().decode()
        lines = re.findall(rf"^leafid_server_{name}\{{(.*)\}} (\d+)$", text, re.MULTILINE)
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(int(value) for found, value in lines if all(label in found for label in wanted))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FakeServer(client.FakeServer):
    def __init__(self, **options):
        super().__init__(**options)
        atexit.register(self.process.kill)

    def fault(self, fault, **words):
        self.do("fault", fault=fault, **words)

    def clear(self):
        self.do("clear")

    def dead(self, how="refused"):
        self.do("dead", how=how)

    def back(self):
        """When it is back, in seconds of the monotonic clock: read before, so that nothing is measured too short."""
        now = time.monotonic()
        self.do("dead", how=None)
        return now

    def kill(self):
        """As the machine does: with no farewell."""
        self.process.kill()
        self.process.wait()

    def forget(self):
        self.do("forget")

    def report(self, requests=0):
        return self.do("report", requests=requests)

    def given(self, tag="order"):
        """How often a range of the tag was given."""
        return self.report()["tags"].get(tag, {}).get("given", 0)

    def gave(self, tag="order"):
        """The ids that it gave as a node of Leaf, as ranges, whatever became of the answers."""
        runs = self.do("given", tag=tag)["given"]
        return [range(int(start), int(end), stride) for start, end, stride in runs]



def stray(ids, runs):
    """Those of the ids that stand in none of the runs."""
    given = {an_id for run in runs for an_id in run}
    return [an_id for an_id in ids if an_id not in given]


class Plain:
    """A client of Leaf that knows nothing of leafid, in a thread: asks for an id at a time until it is stopped."""

    def __init__(self, port, tag="order", pause=0.0):
        self.port, self.tag, self.pause, self.ids, self.stopped = port, tag, pause, [], threading.Event()
        self.thread = threading.Thread(target=self.ask, daemon=True)
        self.thread.start()

    def ask(self):
        connection = None
        while not self.stopped.is_set():
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
                connection.request("GET", f"/api/segment/get/{self.tag}?nonce={uuid.uuid4().hex}")
                answer = connection.getresponse()
                body = answer.read()
                if answer.status == 200:
                    self.ids.append(int(body))
            except (OSError, http.client.HTTPException):
                connection = None
                time.sleep(0.02)
            time.sleep(self.pause)

    def stop(self):
        self.stopped.set()
        self.thread.join(timeout=5)
        return self.ids
