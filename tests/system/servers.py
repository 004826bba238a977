"""The servers that misbehave when told to: ../fake_servers, as a process. Its README and fake_server.py tell the commands."""

import atexit
import http.client
import json
import subprocess
import sys
import threading
import time
import uuid

from harness import ROOT


class FakeServer:
    """One of them; `words` are options of the program, as in `pool=8`."""

    def __init__(self, port=0, **words):
        more = [text for key, value in words.items() for text in ("--" + key.replace("_", "-"), str(value))]
        flags = [text for text in more if text != "True"]
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "tests/fake_servers/fake_server.py", "--port", str(port), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.process.kill)
        self.lock = threading.Lock()
        self.port = int(self.process.stdout.readline().split()[1])
        self.process.stdout.readline()
        self.url = f"http{'s' if 'certificate' in words else ''}://127.0.0.1:{self.port}"

    def do(self, action, **words):
        with self.lock:
            self.process.stdin.write(json.dumps({"do": action, **words}) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, f"{action} {words}: {answer}"
        return answer

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


class Plain:
    """A client of Leaf that knows nothing of leafid, in a thread: asks for an id at a time until told to stop."""

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
