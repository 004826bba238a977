"""Real databases in temporary folders, on loopback and free ports, run by an unprivileged user.

Each has `url`, `start()`, `kill()` (as a machine that loses power, but for its disk), `stop()`, `sql(text)`, which
returns the first column of the rows as text, and `cut()`, which ends the connections of all clients.
"""

import contextlib
import os
import pwd
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

# Far longer than anything takes on a busy machine.
PATIENCE = 600
# In memory where there is room: no commit waits for the disk of this machine, which others keep busy.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 8 << 30 else None


class Missing(Exception):
    """A program is not installed."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children_of(pid):
    """A descriptor of each."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                yield os.pidfd_open(int(stat.parent.name))


def need(program, package, *folders):
    found = shutil.which(program, path=os.pathsep.join([*map(str, folders), "/usr/sbin", "/usr/bin", os.environ["PATH"]]))
    if not found:
        raise Missing(f"{program} is missing: apt install {package}")
    return found


class Database:
    """A process with a folder of its own."""

    process = None
    # That of the server; None for that of this program.
    environment = None

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="leafid-store-", dir=MEMORY))
        self.who = {}
        if os.geteuid() == 0:
            # They refuse root.
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self.port = free_port()
        self.log = open(self.folder.with_suffix(".log"), "ab")

    def run(self, *command, **more):
        done = subprocess.run(
            list(map(str, command)), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            **self.who, **more,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def start(self):
        self.process = subprocess.Popen(
            list(map(str, self.command())), cwd=self.folder, stdout=self.log, stderr=self.log,
            env=self.environment, **self.who,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.ready()
                return self
            except Exception:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def ready(self):
        """Raises what the server answers until it serves."""
        self.sql("SELECT 1")

    def end(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
        self.process = None

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self):
        self.end(self.polite)

    def remove(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(".log").unlink(missing_ok=True)


class MariaDB(Database):
    name = "mariadb"
    polite = signal.SIGTERM

    def __init__(self, *settings):
        self.server = need("mariadbd", "mariadb-server")
        self.client = need("mariadb", "mariadb-client")
        install = need("mariadb-install-db", "mariadb-server")
        super().__init__()
        self.data = self.folder / "data"
        self.settings = settings
        # One that starts removes the temporary tables of others in /tmp.
        self.temporary = f"--tmpdir={self.folder}"
        self.run(install, "--no-defaults", f"--datadir={self.data}", "--auth-root-authentication-method=normal",
                 "--skip-test-db", self.temporary)  # fmt: skip
        self.url = f"mysql://root@127.0.0.1:{self.port}/leaf"
        self.database = "mysql"
        self.start()
        # A node of a cluster that has it already.
        self.sql("CREATE DATABASE IF NOT EXISTS leaf")
        self.database = "leaf"

    def command(self):
        return [self.server, "--no-defaults", f"--datadir={self.data}", f"--port={self.port}",
                "--bind-address=127.0.0.1", f"--socket={self.folder}/socket", "--max-connections=200",
                "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-buffer-pool-size=32M",
                self.temporary, *self.settings]  # fmt: skip

    def sql(self, text):
        shown = self.run(self.client, "--no-defaults", f"--socket={self.folder}/socket", "--user=root", "--batch",
                         "--skip-column-names", self.database, "--execute", text, timeout=PATIENCE)  # fmt: skip
        return [line.split("\t")[0] for line in shown.splitlines()]

    def cut(self):
        for number in self.sql("SELECT id FROM information_schema.processlist WHERE id <> connection_id()"):
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self.sql(f"KILL {number}")


class PostgreSQL(Database):
    name = "postgresql"
    polite = signal.SIGINT

    def __init__(self):
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        self.server = need("postgres", "postgresql", *folders)
        self.client = need("psql", "postgresql-client", *folders)
        initdb = need("initdb", "postgresql", *folders)
        super().__init__()
        self.data = self.folder / "data"
        self.run(initdb, f"--pgdata={self.data}", "--username=leaf", "--auth=trust", "--no-sync", "--encoding=UTF8",
                 "--locale=C")  # fmt: skip
        self.url = f"postgres://leaf@127.0.0.1:{self.port}/leaf"
        self.database = "postgres"
        self.start()
        self.sql("CREATE DATABASE leaf")
        self.database = "leaf"

    def kill(self):
        """Kills its children, too: one that lives on keeps a new server from starting."""
        children = []
        if self.process and self.process.poll() is None:
            # It makes no more of them.
            self.process.send_signal(signal.SIGSTOP)
            children = [*children_of(self.process.pid)]
        super().kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)
            select.select([child], [], [])
            os.close(child)

    def command(self):
        return [self.server, "-D", self.data, "-p", self.port, "-c", "listen_addresses=127.0.0.1",
                "-c", f"unix_socket_directories={self.folder}", "-c", "max_connections=200"]  # fmt: skip

    def sql(self, text):
        shown = self.run(self.client, "--no-psqlrc", "--host", self.folder, "--port", self.port, "--username=leaf",
                         "--dbname", self.database, "--tuples-only", "--no-align", "--command", text,
                         timeout=PATIENCE)  # fmt: skip
        return [line.split("|")[0] for line in shown.splitlines()]

    def cut(self):
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                 "AND pid <> pg_backend_pid()")  # fmt: skip


class PgBouncer(Database):
    """A pooler in front of a PostgreSQL, which ends with it if it `owns` it. All its clients share `connections`."""

    polite = signal.SIGTERM

    name = "pgbouncer"

    def __init__(self, postgresql, pool_mode="transaction", connections=2, owns=False, **settings):
        self.server = need("pgbouncer", "pgbouncer")
        super().__init__()
        self.postgresql, self.owns = postgresql, owns
        settings = {
            "listen_addr": "127.0.0.1", "listen_port": self.port, "unix_socket_dir": "", "auth_type": "any",
            "pool_mode": pool_mode, "default_pool_size": connections, "max_client_conn": 200, **settings,
        }  # fmt: skip
        database = f"* = host=127.0.0.1 port={postgresql.port} user=leaf"
        lines = ["[databases]", database, "[pgbouncer]", *(f"{name} = {value}" for name, value in settings.items())]
        (self.folder / "settings").write_text("\n".join(lines) + "\n")
        self.url = f"postgres://leaf@127.0.0.1:{self.port}/{postgresql.database}"
        self.start()

    def command(self):
        return [self.server, self.folder / "settings"]

    def ready(self):
        with socket.create_connection(("127.0.0.1", self.port)):
            pass

    def sql(self, text):
        return self.postgresql.sql(text)

    def cut(self):
        self.postgresql.cut()

    def remove(self):
        super().remove()
        if self.owns:
            self.postgresql.remove()


class SQLite:
    """A file. It has no process that could be killed."""

    name = "sqlite"

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="leafid-store-", dir=MEMORY))
        self.url = str(self.folder / "ids.db")

    def sql(self, text):
        with contextlib.closing(sqlite3.connect(self.url, timeout=PATIENCE, isolation_level=None)) as connection:
            return [str(row[0]) for row in connection.execute(text)]

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


KINDS = {kind.name: kind for kind in (SQLite, MariaDB, PostgreSQL)}
