"""A proxy in front of a database that can lose the answer to a commit: the database has done it, nobody is told."""

import socket
import threading


class Proxy:
    def __init__(self, port):
        self.port = port
        self.losing = threading.Event()
        self.lost = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def own_port(self):
        return self.listener.getsockname()[1]

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connection, args=[client], daemon=True).start()

    def connection(self, client):
        with client, socket.create_connection(("127.0.0.1", self.port)) as database:
            commits = threading.Event()
            threading.Thread(target=self.answers, args=[client, database, commits], daemon=True).start()
            try:
                while words := client.recv(65536):
                    if b"COMMIT" in words and self.losing.is_set():
                        commits.set()
                    database.sendall(words)
            except OSError:
                pass

    def answers(self, client, database, commits):
        try:
            while words := database.recv(65536):
                if commits.is_set():
                    self.lost += 1
                    break
                client.sendall(words)
        except OSError:
            pass
        for end in (client, database):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
