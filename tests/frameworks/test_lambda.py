"""The recipe of docs/DEPLOYING.md for AWS Lambda, under AWS's own runtime client: frozen, thawed, and before a snapshot."""

import contextlib
import http.server
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(os.environ["LEAFID_ROOT"], "tests/fake_servers")))
from client import FakeServer  # noqa: E402


class Leases(FakeServer):
    """A lease server."""

    def held(self):
        return [lease["worker_id"] for lease in self.do("leases")["leases"] if lease["held"]]


class Environment:
    """An execution environment: a process of the function, and the runtime's interface, which it asks for events."""

    def __init__(self, url, **variables):
        self.events, self.answers, self.restores = queue.Queue(), queue.Queue(), queue.Queue()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.interface())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        given = {
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.server.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": "orders",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
            "AWS_LAMBDA_LOG_GROUP_NAME": "orders",
            "AWS_LAMBDA_LOG_STREAM_NAME": "1",
            "LAMBDA_TASK_ROOT": os.getcwd(),
            "LEAFID_WORKER": url,
        }
        command = [sys.executable, "-m", "awslambdaric", "lambda_ids.handler"]
        self.process = subprocess.Popen(command, env=os.environ | given | variables)

    def interface(self):
        environment = self

        class Interface(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path.endswith("/restore/next"):
                    environment.restores.put(None)
                    return self.answered(b"")
                body = environment.events.get()
                headers = {
                    "Lambda-Runtime-Aws-Request-Id": "1",
                    "Lambda-Runtime-Deadline-Ms": str(2**41),
                    "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-west-1:1:function:orders",
                    "Lambda-Runtime-Trace-Id": "Root=1",
                    "Content-Type": "application/json",
                }
                return self.answered(body, headers)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                environment.answers.put((self.path.rsplit("/", 1)[1], body))
                return self.answered(b"", status=202)

            def answered(self, body, headers=None, status=200):
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Interface

    def invoke(self):
        self.events.put(b"{}")
        return self.next(self.answers)

    def next(self, what):
        """The next of a queue, while the process lives."""
        while True:
            with contextlib.suppress(queue.Empty):
                return what.get(timeout=1)
            assert self.process.poll() is None, f"it ended: {self.process.returncode}"

    def id(self):
        """The first id that it gives: a busy machine may be late with a worker id."""
        while True:
            kind, answer = self.invoke()
            if kind == "response":
                return int(answer["id"])
            assert answer["errorType"] == "WorkerLostError", answer

    def end(self):
        self.process.kill()
        self.process.wait()
        self.server.shutdown()
        self.server.server_close()


def worker(id):
    return id >> 12 & 1023


class Lambda(unittest.TestCase):
    def started(self, kind, *arguments, **variables):
        one = kind(*arguments, **variables)
        self.addCleanup(one.end)
        return one

    def test_a_freeze_that_is_longer_than_the_lease(self):
        leases = self.started(Leases, "--lease-ms", "20000")
        frozen = self.started(Environment, leases.url)
        before = [frozen.id(), frozen.id()]
        self.assertEqual({*map(worker, before)}, {*leases.held()})
        os.kill(frozen.process.pid, signal.SIGSTOP)
        while leases.held():
            time.sleep(0.1)
        os.kill(frozen.process.pid, signal.SIGCONT)
        after = frozen.id()
        self.assertEqual([worker(after)], leases.held())
        self.assertTrue(before[0] < before[1] < after, (before, after))

    def test_a_snapshot_has_no_worker_id(self):
        leases = self.started(Leases)
        restored = self.started(Environment, leases.url, AWS_LAMBDA_INITIALIZATION_TYPE="snap-start")
        restored.next(restored.restores)
        self.assertEqual(leases.held(), [])
        self.assertEqual([worker(restored.id())], leases.held())


if __name__ == "__main__":
    unittest.main()
