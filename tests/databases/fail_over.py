"""Servers behind a proxy, which can cut connections, and lead to another server when one was killed."""

import time
from pathlib import Path

from databases import PATIENCE, Database, PostgreSQL, need
from etcd import Cluster
from proxy import Proxy


class Proxied:
    """A server that has no command to cut connections: its clients come through a proxy."""

    def __init__(self, server):
        self.server, self.proxy = server, Proxy(server.port)
        self.address = f"127.0.0.1:{self.proxy.own_port}"
        self.start, self.kill, self.cut = server.start, server.kill, self.proxy.cut

    def remove(self):
        self.proxy.close()
        self.server.remove()


class FailOver(Proxied):
    """Three nodes of etcd, of which the leader is killed: the clients go on with another one."""

    def __init__(self):
        self.cluster = Cluster(3)
        super().__init__(self.cluster.nodes[0])
        self.kill, self.start, self.killed = self.kill_the_leader, self.start_again, None

    def kill_the_leader(self):
        nodes = self.cluster.nodes
        states = [node.ask("/v3/maintenance/status", {}) for node in nodes]
        leader = [state["header"]["member_id"] for state in states].index(states[0]["leader"])
        self.killed, other = nodes[leader], nodes[leader - 1]
        self.killed.kill()
        self.proxy.port = other.port
        deadline = time.monotonic() + PATIENCE
        while other.ask("/v3/maintenance/status", {}).get("leader", "0") in ("0", states[0]["leader"]):
            assert time.monotonic() < deadline, "no other leader"
            time.sleep(0.1)

    def start_again(self):
        self.killed.start()

    def remove(self):
        self.proxy.close()
        self.cluster.remove()


class Standby(PostgreSQL):
    """A copy of a PostgreSQL that follows it."""

    def __init__(self, primary):
        copy = need("pg_basebackup", "postgresql-client", *sorted(Path("/usr/lib/postgresql").glob("*/bin")))
        self.server, self.client, self.database = primary.server, primary.client, primary.database
        Database.__init__(self)
        self.data = self.folder / "data"
        self.run(copy, f"--pgdata={self.data}", "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
                 "--host=127.0.0.1", f"--port={primary.port}", "--username=leaf")  # fmt: skip
        self.url = f"postgres://leaf@127.0.0.1:{self.port}/leaf"
        self.start()


class Replicated(Proxied):
    """A PostgreSQL and its standby. With `named`, the primary's synchronous_standby_names has it."""

    def __init__(self, named):
        self.named = named
        super().__init__(PostgreSQL())
        self.replicate()

    def replicate(self):
        self.standby = Standby(self.server)
        if self.named:
            self.server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self.server.sql("SELECT pg_reload_conf()")
        wanted = ["sync" if self.named else "async"]
        deadline = time.monotonic() + PATIENCE
        while (found := self.server.sql("SELECT sync_state FROM pg_stat_replication")) != wanted:
            assert time.monotonic() < deadline, found
            time.sleep(0.1)

    def fail_over(self, meanwhile):
        """The standby is not there during the call. Then the primary dies, and the standby is promoted."""
        self.standby.stop()
        meanwhile()
        # It has not seen what came meanwhile, and never will.
        self.server.kill()
        self.standby.start()
        self.promote()

    def promote(self):
        """The primary dies, and the standby takes its place. It gets a standby of its own."""
        self.server.kill()
        self.server.remove()
        self.server = self.standby
        self.server.sql("SELECT pg_promote()")
        self.proxy.port = self.server.port
        self.replicate()

    def remove(self):
        self.proxy.close()
        for server in (self.standby, self.server):
            server.kill()
            server.remove()
