"""Tries what dist_server.py made, as users do: the archive in an empty folder, and the Debian package in a copy of this
system.

Each check prints a line that begins with ok, not ok or skipped, and the last line counts them.
"""

import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from dist import ROOT, have, run, version
from try_c import c_tests, check, in_a_copy, licences, lintian

sys.path.insert(0, str(ROOT / "tests/server"))
import servers  # noqa: E402

PASSES = ("listen: ", "store: ", "clocks: ", "durability: ")


def all_of(archive, debian):
    """Tries them. Answers how the program ends."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked(archive, pathlib.Path(folder))
    if debian:
        lintian(debian.name, [debian])
        if have(debian.name, "systemd-analyze:systemd", "deb-systemd-helper:init-system-helpers", "strace:strace", "kill:procps"):
            in_a_copy(f"{debian.name}: installed, its service verified, run as its user, removed and purged", "packaging/server/try-package.sh", [debian])
        else:
            c_tests.say(f"skipped - {debian.name}: not installed")
        if have(debian.name, "unshare:util-linux", "systemctl:systemd", "kill:procps"):
            in_a_copy(f"{debian.name}: its service under a systemd that runs", "packaging/server/try-service.sh", [debian])
    count = c_tests.COUNT
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 1 if count.failed or not count.passed else 0


def unpacked(archive, folder):
    """The archive in a folder that has nothing else."""
    run("tar", "-xzf", archive, "-C", folder)
    (inner,) = folder.iterdir()
    name, program = archive.name, inner / "leafid-server"
    files = sorted(path.name for path in inner.iterdir())
    wanted = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY", "leafid-server", "leafid-server.toml"]
    check(f"{name}: the program, an example of its settings, and the licences", files == wanted, files)
    licences(name, inner, "leafid-server", f"{platform.machine()}-unknown-linux-musl")

    loaded = run("readelf", "-lW", program) + run("readelf", "-dW", program)
    check(f"{name}: the program is static", "NEEDED" not in loaded and "INTERP" not in loaded, loaded)
    alone = {"cwd": inner, "env": {}, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    said = subprocess.run([program, "--version"], **alone)
    check(f"{name}: it is version {version()}", said.stdout == f"leafid-server {version()}\n", said.stdout)
    said = subprocess.run([program, "--config", "leafid-server.toml", "--listen", "127.0.0.1:0", "check"], **alone)
    well = said.returncode == 0 and all(re.search(f"^ok    {each}", said.stdout, re.M) for each in PASSES)
    check(f"{name}: check, with the example's settings", well, said.stdout)
    serves(f"{name}: it serves ids from SQLite, is well, stops by SIGTERM, and goes on", program, inner / "ids.db")


def serves(what, program, store):
    servers.BINARY = program
    try:
        servers.make_tag(store, "order", step=100)
        ids = []
        for _ in range(2):
            with servers.Server(store) as server:
                client = server.client()
                ids += servers.until(lambda: client.ids("order", 1000), "ids") + client.ids("order", 1, "snowflake")
                asked = [program, "--listen", "{}:{}".format(*server.address), "health"]
                assert subprocess.run(asked).returncode == 0
                assert server.end() == 0, server.log()
                refused = subprocess.run(asked, stderr=subprocess.PIPE)
                assert refused.returncode == 1, refused
        servers.check_unique(ids, 2002)
        check(what, True)
    except AssertionError as error:
        check(what, False, error)
