"""What says whether a server lives and serves: /health, /ready, and `leafid-server health`, which images without another
program need."""

import contextlib
import json
import signal
import subprocess

from databases import free_port
from proxy import Proxy
from servers import BINARY, Server, until


def health(address, *options):
    """The exit code, and what it says."""
    command = [BINARY, "--listen", address, *options, "health"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.returncode, done.stderr


def is_well(address):
    # It waits for four seconds, and a machine may stand for longer.
    until(lambda: health(address) == (0, ""), "it is well")


def test_health_asks_the_server_of_the_settings(file):
    with Server(file.url, listen="0.0.0.0:0") as server:
        port = server.address[1]
        is_well(f"0.0.0.0:{port}")
        is_well(f"127.0.0.1:{port}")
        server.process.send_signal(signal.SIGSTOP)
        code, said = health(f"0.0.0.0:{port}")
        assert code == 1 and "no answer within" in said, "it is accepted by the system, and not answered"
        server.process.send_signal(signal.SIGCONT)
        is_well(f"0.0.0.0:{port}")
        assert server.end() == 0
        assert health(f"0.0.0.0:{port}")[0] == 1


def test_health_does_not_pass_where_it_cannot_ask(tmp_path):
    code, said = health(f"127.0.0.1:{free_port()}", "--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem")
    assert code == 1 and "speaks no TLS" in said


def test_health_answers_and_nothing_else_waits_while_the_store_is_away(engine, new_tag):
    tag = new_tag(engine)
    listen, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
    engine.stop()
    try:
        options = "--admin-listen", admin, "--no-snowflake", "--store-timeout-ms", "500"
        with Server(engine.url, *options, wait=False, listen=listen) as server:
            server.address = "127.0.0.1", int(listen.split(":")[1])
            client = server.client()

            def answers():
                with contextlib.suppress(OSError):
                    # Paths are read as later.
                    return client.get("//health/") == (200, "ok\n")

            until(answers, "the port is open")
            is_well(listen)
            is_well(admin)
            for asked in (client, server.client()):
                status, _, body = asked.request("GET", "/ready")
                ready = json.loads(body)
                assert status == 503 and not ready["ready"] and ready["reason"].startswith("waiting for the store")
            why = "waiting for the store: "
            until(lambda: json.loads(client.get("/ready")[1])["reason"].startswith(why), "it says why")
            for method, path in [("GET", f"/api/segment/get/{tag}"), ("POST", "/api/worker/claim"), ("GET", "/metrics")]:
                status, headers, body = client.request(method, path)
                assert (status, headers["retry-after"], json.loads(body)["error"]) == (503, "1", "segment_unavailable")
            assert "listens on" not in server.log()
            engine.start()
            # On the same connection.
            until(lambda: client.get("/ready")[0] == 200, "it serves")
            # A store that is late costs a range, and the log says so.
            assert until(lambda: client.ids(tag), "it has ids") == [1] or tag in server.log()
            until(lambda: "listens on" in server.log(), "it says so")
    finally:
        if engine.process is None:
            engine.start()


def test_an_error_of_the_store_after_its_first_answer_is_waited_for(engine):
    setting = b"innodb_flush_log_at_trx_commit" if engine.name == "mariadb" else b"synchronous_commit"
    proxy = Proxy(engine.port, setting)
    proxy.losing.set()
    url = engine.url.replace(str(engine.port), str(proxy.own_port))
    try:
        with Server(url, "--no-snowflake", "--start-timeout-ms", "900000", wait=False) as server:
            until(lambda: server.process.poll() or "it is tried again" in server.log(), "the answer is missed")
            assert proxy.lost and "listens on" not in server.log()
            proxy.losing.clear()
            server.wait()
    finally:
        proxy.close()
