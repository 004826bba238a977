#!/usr/bin/env python3
"""How many ids a second the Leaf dialect gives to a few kept-alive connections: speed.py [connections] [ids]."""

import json
import pathlib
import secrets
import socket
import subprocess
import sys
import threading
import time


def fetch(port, count, got):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            nonce = secrets.token_hex(16)
            request = f"GET /api/segment/get/order?nonce={nonce} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            connection.sendall(request.encode())
            got.append(int(connection.recv(4096).rpartition(b"\r\n")[2]))


def main():
    connections, ids = [int(word) for word in sys.argv[1:]] or [4, 40_000]
    command = [sys.executable, str(pathlib.Path(__file__).with_name("fake_server.py"))]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().split()[1])
    server.stdout.readline()
    got = [[] for _ in range(connections)]
    threads = [threading.Thread(target=fetch, args=[port, ids // connections, each]) for each in got]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lasted = time.monotonic() - begun
    every = [number for each in got for number in each]
    assert len(set(every)) == len(every)
    server.stdin.write(json.dumps({"do": "report", "requests": 1}) + "\n")
    server.stdin.flush()
    report = json.loads(server.stdout.readline())
    print(f"{len(every)} ids by {connections} connections: {len(every) / lasted:.0f} a second")
    print(f"largest_rate {report['largest_rate']}, nonces_repeated {report['nonces_repeated']}")
    server.stdin.close()
    server.wait(10)


if __name__ == "__main__":
    main()
