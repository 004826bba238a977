"""`leafid-server health`, which images without another program need."""

import signal
import subprocess

from databases import free_port
from servers import BINARY, Server


def health(address, *options):
    """The exit code, and what it says."""
    command = [BINARY, "--listen", address, *options, "health"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.returncode, done.stderr


def test_health_asks_the_server_of_the_settings(file):
    with Server(file.url, listen="0.0.0.0:0") as server:
        port = server.address[1]
        assert health(f"0.0.0.0:{port}") == (0, "")
        assert health(f"127.0.0.1:{port}") == (0, "")
        server.process.send_signal(signal.SIGSTOP)
        code, said = health(f"0.0.0.0:{port}")
        assert code == 1 and "no answer within" in said, "it is accepted by the system, and not answered"
        server.process.send_signal(signal.SIGCONT)
        assert health(f"0.0.0.0:{port}") == (0, "")
        assert server.end() == 0
        assert health(f"0.0.0.0:{port}")[0] == 1


def test_health_does_not_pass_where_it_cannot_ask(tmp_path):
    code, said = health(f"127.0.0.1:{free_port()}", "--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem")
    assert code == 1 and "speaks no TLS" in said
