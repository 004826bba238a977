"""The fake server as a process, for tests in Python."""

import json
import pathlib
import subprocess
import sys
import threading

PROGRAM = pathlib.Path(__file__).with_name("fake_server.py")


class FakeServer:
    """With options of the program, as words or as in `pool=8`."""

    def __init__(self, *words, **options):
        more = (text for name, value in options.items() for text in ("--" + name.replace("_", "-"), value))
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, "--seconds", "900", *map(str, (*words, *more))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lock = threading.Lock()
        self.port = int(self.process.stdout.readline().split()[1])
        self.process.stdout.readline()
        self.url = f"http{'s' if 'certificate' in options else ''}://127.0.0.1:{self.port}"

    def do(self, action, **words):
        with self.lock:
            self.process.stdin.write(json.dumps({"do": action, **words}) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, f"{action} {words}: {answer}"
        return answer

    def end(self):
        """It ends with its input."""
        self.process.communicate()
