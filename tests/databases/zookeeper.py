"""A real ZooKeeper of one server."""

import socket

from databases import Database, Missing, Path, need, signal

JAR = Path("/usr/share/java/zookeeper.jar")


class ZooKeeper(Database):
    name = "zookeeper"
    polite = signal.SIGTERM

    def __init__(self):
        self.java = need("java", "zookeeper")
        if not JAR.exists():
            raise Missing(f"{JAR} is missing: apt install zookeeper")
        super().__init__()
        self.file = self.folder / "zoo.cfg"
        lines = {
            "tickTime": 500, "dataDir": self.folder / "data", "clientPort": self.port, "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false", "maxClientCnxns": 0, "4lw.commands.whitelist": "srvr",
        }  # fmt: skip
        self.file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        self.hosts = f"127.0.0.1:{self.port}"
        self.start()

    def command(self):
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        return [self.java, "-Xmx128m", "-cp", JAR, main, self.file]

    def ready(self):
        with socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.settimeout(2)
            connection.sendall(b"srvr")
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
            assert b"Mode: standalone" in answer, answer
