"""Flask's and Django's reloaders, which load a program in two processes: docs/DEPLOYING.md says which of them takes an id."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

FLASK = """
import os, flask, leafid
flake = leafid.Snowflake(name=os.environ["SPACE"], lazy={lazy})
app = flask.Flask(__name__)

@app.get("/")
def place():
    return {{"id": flake.next(), "pid": os.getpid()}}
"""
MANAGE = """
import os, sys
from django.conf import settings
from django.core.management import execute_from_command_line
settings.configure(DEBUG=True, ROOT_URLCONF="shop", INSTALLED_APPS=["shop"], LEAFID={"name": os.environ["SPACE"]})
execute_from_command_line(sys.argv)
"""
DJANGO = """
import os, leafid, leafid.django
from django.http import JsonResponse
from django.urls import path
{opened}
urlpatterns = [path("", lambda request: JsonResponse({{"id": next_id(), "pid": os.getpid()}}))]
"""
BY_THE_FIELD = "next_id = leafid.django.next_id"
AT_ONCE = "next_id = leafid.Snowflake(name=os.environ['SPACE']).next"


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


class Server:
    """A development server of the program `shop.py`, which watches it."""

    def __init__(self, folder, worker, program, files):
        self.shop = pathlib.Path(folder, "shop.py")
        for name, text in files.items():
            pathlib.Path(folder, name).write_text(text)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.log = pathlib.Path(folder, "log")
        env = os.environ | {"LEAFID_WORKER": worker, "LEAFID_STATE_DIR": f"{folder}/state", "SPACE": self.shop.parent.name}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *(word.format(port=port) for word in program)],
                cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True,
            )

    def ask(self):
        """The status and the answer; none while nothing answers."""
        try:
            with urllib.request.urlopen(self.url) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, http.client.HTTPException):
            self.wait()
            return None

    def wait(self):
        assert self.process.poll() is None, self.log.read_text()
        time.sleep(0.1)

    def answer(self):
        while (found := self.ask()) is None:
            pass
        return found

    def reloaded(self, before):
        """The first answer of another process, after the program was changed."""
        for change in range(1, 300):
            # Later each time: the watcher may not have looked at the file yet.
            later = time.time() + 10 * change
            os.utime(self.shop, (later, later))
            for _ in range(20):
                found = self.ask()
                if found and (found[0] != 200 or found[1]["pid"] != before["pid"]):
                    return found
                self.wait()
        raise AssertionError(f"it was not loaded again: {self.log.read_text()}")

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def flask_server(folder, worker, lazy):
    program = ["-m", "flask", "--app", "shop", "run", "--debug", "--port", "{port}"]
    return Server(folder, worker, program, {"shop.py": FLASK.format(lazy=lazy)})


def django_server(folder, worker, opened):
    program = ["manage.py", "runserver", "{port}"]
    return Server(folder, worker, program, {"manage.py": MANAGE, "shop.py": DJANGO.format(opened=opened)})


class Reloaders(unittest.TestCase):
    @contextlib.contextmanager
    def started(self, server, *arguments):
        with tempfile.TemporaryDirectory(prefix="leafid-reloader-") as folder:
            running = server(folder, *arguments)
            try:
                yield running
            finally:
                running.end()

    def assert_ids_go_on(self, server, *arguments):
        with self.started(server, *arguments) as running:
            status, before = running.answer()
            self.assertEqual(status, 200, before)
            status, after = running.reloaded(before)
            self.assertEqual(status, 200, after)
            self.assertGreater(after["id"], before["id"])

    def assert_in_use(self, server, *arguments):
        with self.started(server, *arguments) as running:
            while "WorkerInUseError: worker id 7 " not in running.log.read_text():
                running.wait()

    def test_flask_with_one_number(self):
        self.assert_ids_go_on(flask_server, "7", True)
        self.assert_in_use(flask_server, "7", False)

    def test_flask_with_local(self):
        self.assert_ids_go_on(flask_server, "local", False)

    def test_django_with_one_number(self):
        self.assert_ids_go_on(django_server, "7", BY_THE_FIELD)
        self.assert_in_use(django_server, "7", AT_ONCE)

    def test_django_with_local(self):
        self.assert_ids_go_on(django_server, "local", AT_ONCE)


if __name__ == "__main__":
    unittest.main()
