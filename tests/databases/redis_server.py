"""A real Redis."""

from databases import PATIENCE, Database, need, signal


class Redis(Database):
    """Its settings are the lines of a file."""

    name = "redis"
    polite = signal.SIGTERM

    def __init__(self, file):
        self.server = need("redis-server", "redis-server")
        self.client = need("redis-cli", "redis-tools")
        super().__init__()
        self.file = self.folder / "redis.conf"
        self.file.write_bytes(file.read_bytes())
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def command(self):
        address = ["--port", self.port, "--bind", "127.0.0.1"]
        return [self.server, self.file, *address, "--dir", self.folder]

    def ask(self, *words):
        answer = self.run(self.client, "-e", "-p", self.port, *words, timeout=PATIENCE).strip()
        if answer.startswith("LOADING"):
            raise RuntimeError(answer)
        return answer

    def ready(self):
        self.ask("PING")

    def cut(self):
        self.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
