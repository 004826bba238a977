"""Runs the Compose files of packaging/server/compose by podman, with the image that dist_container.py made.

Images of MariaDB and etcd cannot be had without a registry, so they are made from Debian's packages, once. Everything is in
a network namespace of its own: the ports of the files are free there. `try_compose.py IMAGE.tar` is started by files().
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import urllib.request

from dist import ROOT, have, run, version
from try_c import c_tests, check

sys.path.insert(0, str(ROOT / "tests/server"))
from servers import check_unique, until  # noqa: E402

COMPOSE = ROOT / "packaging/server/compose"
BASE = ROOT / "build/compose/debian.tar"
TOOLS = ("podman:podman", "podman-compose:podman-compose", "runc:runc", "/usr/lib/podman/netavark:netavark",
         "/usr/lib/podman/aardvark-dns:aardvark-dns", "mmdebstrap:mmdebstrap", "ip:iproute2", "iptables:iptables")  # fmt: skip
#: No container is started with more than this process may have.
LIMITS = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
#: The images, from the one of Debian. MariaDB's has what the Compose file uses of the registry's.
IMAGES = {
    "mariadb:11": """
FROM localhost/debian
COPY --chmod=0755 start healthcheck.sh /usr/local/bin/
RUN mkdir -p /run/mysqld && chown mysql /run/mysqld
ENTRYPOINT ["start"]
""",
    "etcd": """
FROM localhost/debian
ENTRYPOINT ["/usr/bin/etcd"]
""",
}
FILES = {
    "healthcheck.sh": """#!/bin/sh
exec mariadb-admin ping
""",
    "start": """#!/bin/sh
set -eu
cd /var/lib/mysql
[ -d mysql ] || mariadb-install-db --user=mysql --datadir=. --skip-test-db >/dev/null
cat >/run/users.sql <<SQL
CREATE DATABASE IF NOT EXISTS $MARIADB_DATABASE;
CREATE USER IF NOT EXISTS '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON $MARIADB_DATABASE.* TO '$MARIADB_USER'@'%';
SQL
exec mariadbd --user=mysql --bind-address=0.0.0.0 --init-file=/run/users.sql "$@"
""",
}


def files(image):
    """Tries both files, or says why not. `image` is a file; None if it was not made."""
    what = "the Compose files"
    if not image or os.geteuid() or not have(what, *TOOLS):
        return c_tests.say(f"skipped - {what}: that takes root, podman and the image")
    if not BASE.exists():
        BASE.parent.mkdir(parents=True, exist_ok=True)
        made = BASE.with_suffix(".new.tar")
        done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=mariadb-server,etcd-server", "bookworm", made],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        if done.returncode:
            return c_tests.say(f"skipped - {what}: no image of Debian: {done.stdout.splitlines()[-1:]}")
        made.rename(BASE)
    inside = ["unshare", "--net", "--mount", "sh", "-euc", 'ip link set lo up; exec timeout -k 10 420 "$@"', "sh"]
    done = subprocess.run([*inside, sys.executable, __file__, image], stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        c_tests.say(line) if line.startswith(("ok ", "not ok ", "skipped ")) else print(line)
    if done.returncode:
        check(what, False, f"ended with {done.returncode}")


class Project:
    """A Compose file, with podman's storage and networks in a folder."""

    def __init__(self, file, folder):
        self.file, self.name = file, file.stem
        self.variables = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "LEAFID_SERVER_VERSION": version(),
            "LEAFID_DATABASE_PASSWORD": "abcDEF123",
            "ETCD_IMAGE": "localhost/etcd",
        }

    def podman(self, *words):
        return run("podman", *words, env=self.variables).strip()

    def compose(self, *words):
        return run("podman-compose", "--project-name", self.name, "--file", self.file, *words, env=self.variables, cwd=COMPOSE)

    def container(self, service):
        return f"{self.name}_{service}_1"

    def take(self, port, n):
        """Ids, or none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/segment/get/order?n={n}", timeout=10) as answer:
                return [int(line) for line in answer.read().split()]
        except OSError:
            return []

    def up(self):
        self.compose("up", "--detach")
        for service in ("first", "second"):
            # The image's own check. Its state by time takes a systemd.
            until(lambda: self.is_well(service), f"{service} is well", 60)

    def is_well(self, service):
        return subprocess.run(["podman", "healthcheck", "run", self.container(service)], env=self.variables, capture_output=True).returncode == 0

    def tried(self):
        self.up()
        self.podman("exec", self.container("first"), "/leafid-server", "tag", "order", "--step", "100")
        ids = [id for port in (8080, 8081) for id in until(lambda: self.take(port, 250), f"ids at {port}")]
        self.podman("kill", self.container("first"))
        ids += until(lambda: self.take(8081, 250), "ids of the second")
        self.compose("down")
        self.up()
        ids += [id for port in (8080, 8081) for id in until(lambda: self.take(port, 250), f"ids at {port}")]
        check_unique(ids, 1250)


def configure(folder):
    limits = json.dumps([f"{name}={(most := min(resource.getrlimit(limit)[1], 30_000))}:{most}" for name, limit in LIMITS.items()])
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/storage"\nrunroot = "{folder}/run"\n'
    )
    (folder / "containers.conf").write_text(
        f'[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "{folder}/networks"\n'
        '[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n'
        f'[containers]\nlog_driver = "k8s-file"\ndefault_ulimits = {limits}\n'
    )


def main(image):
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        configure(folder)
        projects = [Project(COMPOSE / name, folder) for name in ("mariadb.yaml", "etcd.yaml")]
        podman = projects[0].podman
        podman("load", "--quiet", "--input", image)
        podman("import", "--quiet", BASE, "localhost/debian")
        context = folder / "context"
        context.mkdir()
        for name, text in FILES.items():
            (context / name).write_text(text)
        for name, text in IMAGES.items():
            (context / "Containerfile").write_text(text)
            podman("build", "--quiet", "--tag", f"localhost/{name}", context)
        for project in projects:
            what = f"{project.file.name}: two servers, one killed, all stopped and started again, ids unique"
            try:
                project.tried()
                check(what, True)
            except (AssertionError, subprocess.CalledProcessError, SystemExit) as error:
                logs = project.podman("logs", "--tail", 5, project.container("first"))
                check(what, False, f"{error}\n{project.podman('ps', '--all')}\n{logs}")
            finally:
                project.compose("down", "--volumes")
        podman("system", "reset", "--force")


if __name__ == "__main__":
    main(sys.argv[1])
