#!/usr/bin/env python3
"""The C library for Windows, and the C tests that need no fork, under wine.

exports.py says whether leafid.dll has what the header declares. Programs find its functions by the import library, without
dllimport: the header exports no data. The last line is "N passed, N failed, N skipped".
"""

import socketserver
import subprocess
import sys
import tempfile
import threading

import wine
from linux import BUILD, ROOT, TARGET_DIR, run

TARGET = "x86_64-pc-windows-gnu"
MINGW = "x86_64-w64-mingw32-"
#: The libraries of the compiler. The tests need its threads; C++ is linked into them.
MINGW_LIBRARIES = "/usr/x86_64-w64-mingw32/lib"
#: Left out: what forks or starts itself as another process by Linux's means (forks, fork_locks, lease_server_processes,
#: segment_forks, shared_memory, source_ends), signals, and stacks smaller than Windows gives (small_stacks).
PROGRAMS = [
    "vectors", "errors", "arguments", "option_vectors", "generate", "threads", "logging", "metrics", "raii",
    "clock_options", "worker_sources", "leases", "lease_loss", "segments", "segment_arguments", "segment_answers",
    "segment_threads", "segments_raii", "segment_servers",
]


class FakeServer(socketserver.StreamRequestHandler):
    """Starts a fake server for a test, whose options come as the first line, with the connection as input and output."""

    def handle(self):
        program = [sys.executable, ROOT / "tests/fake_servers/fake_server.py", "--seconds", "100"]
        options = self.rfile.readline().decode().split()
        subprocess.run([*program, *options], stdin=self.connection, stdout=self.connection)


class FakeServers(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


def stage(to):
    """leafid.dll with its import library, and the static library; of the profile that the host's tests are built with."""
    built = TARGET_DIR / TARGET / "debug"
    run("cargo", "rustc", "--quiet", "--target", TARGET, "-p", "leafid-c", "--lib", "--crate-type", "cdylib,staticlib")
    run("sh", "bindings/c/stage.sh", built / "leafid_c.dll", built / "libleafid_c.a", to)


def unload(to):
    """A program that loads the DLL, opens a generator and unloads the DLL."""
    run(f"{MINGW}gcc", "-Wall", "-Wextra", "-Werror", f"-I{to}/include", "tests/cross/unload.c", "-o", to / "unload.exe")
    with tempfile.TemporaryDirectory(prefix="leafid-windows-") as state:
        run(sys.executable, "tests/cross/wine.py", to / "unload.exe", to / "bin/leafid.dll", state)


def main(names):
    to = BUILD / TARGET
    stage(to)
    wine.make_prefix()
    unload(to)
    with FakeServers(("127.0.0.1", 0), FakeServer) as servers:
        threading.Thread(target=servers.serve_forever, daemon=True).start()
        settings = {
            "CC": f"{MINGW}gcc",
            "CXX": f"{MINGW}g++",
            "LEAFID_TEST_FAKE_SERVERS": str(servers.server_address[1]),
            "WINEPATH": f"Z:{to}/bin;Z:{MINGW_LIBRARIES}".replace("/", "\\"),
        }
        run(sys.executable, "tests/c/exports.py", to, **settings)
        run(sys.executable, "tests/c/run.py", to, BUILD / f"{TARGET}-tests",
            *names, "--runner", f"{sys.executable} {ROOT}/tests/cross/wine.py", "--besides=-lws2_32",
            "--flags=-static-libgcc -static-libstdc++", **settings)


if __name__ == "__main__":
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        main(sys.argv[1:] or PROGRAMS)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(map(str, error.cmd))} ended with {error.returncode}")
