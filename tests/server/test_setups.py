"""The setups of docs/SERVER-SETUPS.md, as they stand there."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from databases import MariaDB, Missing, free_port, need
from servers import BINARY, ROOT, Client, Server, check_unique, make_tag, until

PAGE = (ROOT / "docs/SERVER-SETUPS.md").read_text()
BLOCKS = dict(re.findall(r"^```\w+\n(?:#|--) (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_the_page_has_these_blocks():
    assert set(BLOCKS) == {"grants.sql", "leafid-server.toml", "after.sql", "nginx.conf", "values.yaml", "ids.yaml"}


def test_mysql_with_the_rights_and_the_settings_of_the_page(tmp_path):
    try:
        database = MariaDB()
    except Missing as missing:
        pytest.skip(str(missing))
    try:
        database.sql(BLOCKS["grants.sql"])
        settings = tmp_path / "leafid-server.toml"
        text = BLOCKS["leafid-server.toml"].replace("db.internal", f"127.0.0.1:{database.port}")
        settings.write_text(text.replace("10.0.0.5:8080", "127.0.0.1:0"))

        def commanded(*words):
            command = [BINARY, "--config", settings, *words]
            done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        assert "WRONG" not in commanded("check")
        commanded("tag", "order")
        database.sql(BLOCKS["after.sql"])
        assert "WRONG" not in commanded("check")
        with open(tmp_path / "log", "w") as log:
            process = subprocess.Popen([BINARY, "--config", settings], stderr=log, cwd=tmp_path)
        try:
            said = until(lambda: re.search(r"listens on 127\.0\.0\.1:(\d+)", (tmp_path / "log").read_text()), "it listens")
            client = Client(("127.0.0.1", int(said[1])))
            with contextlib.closing(client.connection):
                assert client.ids("order") == [1] and client.claim("one")[0] == 200
                until(lambda: client.ids("any", 1, "snowflake"), "it has a worker id")
                assert client.get("/health", Host="ids.internal")[0] == 200
        finally:
            process.terminate()
            process.wait()
    finally:
        database.remove()


def test_the_unit_is_one_that_systemd_takes(tmp_path):
    try:
        analyze = need("systemd-analyze", "systemd")
    except Missing as missing:
        pytest.skip(str(missing))
    unit = (ROOT / "packaging/server/leafid-server.service").read_text()
    settings = tmp_path / "leafid-server.service"
    # The program and the user of the package are not here.
    here = re.sub(r"^(ExecStart=)\S+", rf"\1{BINARY}", unit, flags=re.MULTILINE)
    settings.write_text(here.replace("User=leafid-server", "User=root"))
    done = subprocess.run([analyze, "verify", "--man=no", settings], capture_output=True, text=True)
    assert done.returncode == 0 and "leafid-server.service" not in done.stderr, done.stderr
    grace = int(re.search(r"TimeoutStopSec=(\d+)", unit)[1])
    assert grace > 10, "longer than --stop-timeout-ms"


class Nginx:
    def __init__(self, servers):
        self.program = need("nginx", "nginx-light")
        self.folder = Path(tempfile.mkdtemp(prefix="leafid-nginx-"))
        self.port = free_port()
        block = BLOCKS["nginx.conf"].replace("listen 80;", f"listen 127.0.0.1:{self.port};")
        for there, server in zip(("10.0.0.5:8080", "10.0.0.6:8080"), servers):
            block = block.replace(there, "{}:{}".format(*server.address))
        kinds = "client_body", "proxy", "fastcgi", "uwsgi", "scgi"
        paths = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        head = f"daemon off; error_log {self.folder}/log; pid {self.folder}/pid; worker_processes 1; events {{}}"
        user = " user root;" if os.geteuid() == 0 else ""
        (self.folder / "conf").write_text(f"{head}{user} http {{ access_log off; {paths}\n{block}\n}}\n")
        self.process = subprocess.Popen([self.program, "-e", self.folder / "log", "-c", self.folder / "conf"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def test_nginx_in_front_of_two_servers(engine, new_tag):
    tag = new_tag(engine, 50)
    options = "--host-name", "ids.internal"
    with Server(engine.url, *options) as one, Server(engine.url, *options) as other:
        try:
            nginx = Nginx([one, other])
        except Missing as missing:
            pytest.skip(str(missing))
        client = Client(("127.0.0.1", nginx.port))
        with nginx, contextlib.closing(client.connection):
            client.headers["Host"] = "ids.internal"

            def answers():
                try:
                    return client.get("/health") == (200, "ok\n")
                except OSError:
                    return False

            until(answers, "nginx answers")
            found = [id for _ in range(40) for id in client.ids(tag)]
            assert len(found) == 40
            start, end = client.range(tag, 10)
            status, lease = client.claim("x" * 32)
            assert status == 200 and lease["instance"] == "x" * 32
            # A page of another site is refused behind the proxy, too.
            status, _, _ = client.request("GET", f"/api/segment/get/{tag}", headers={"Origin": "https://evil.example"})
            assert status == 403
            status, headers, _ = client.request("GET", f"/api/segment/get/{tag}")
            assert status == 200 and headers["cache-control"] == "no-store"
            one.kill()
            more = [id for _ in range(40) for id in client.ids(tag)]
            assert len(more) == 40, "a server that is gone costs no request"
            check_unique([*found, *more, *range(start, end)])


def test_the_manifest_of_kubernetes_fits_the_server(file):
    """What of it a cluster would do is done here: its variables, its probes, its end."""
    yaml = BLOCKS["ids.yaml"]
    env = dict(re.findall(r"name: (LEAFID_SERVER_\w+), value: \"(.*?)\"", yaml))
    assert env == {"LEAFID_SERVER_LISTEN": ":8080"} and "LEAFID_SERVER_STORE, valueFrom" in yaml
    make_tag(file.url, "order")
    # Those that Kubernetes makes of services are no options.
    links = {"LEAFID_SERVER_PORT": "tcp://10.0.0.1:8080", "LEAFID_SERVER_SERVICE_HOST": "10.0.0.1"}
    with Server(file.url, listen=":0", environment=links) as server:
        client = server.client()
        for path in re.findall(r"httpGet: {path: (\S+), port: http}", yaml):
            assert until(lambda: client.get(path)[0] == 200, path)
        assert set(re.findall(r"Probe: {httpGet: {path: (\S+),", yaml)) == {"/health", "/ready"}
        begun = time.monotonic()
        assert server.end() == 0 and json.dumps(server.log()).count("has stopped") == 1
        grace = int(re.search(r"terminationGracePeriodSeconds: (\d+)", yaml)[1])
        assert grace > 10, f"longer than --stop-timeout-ms; it took {time.monotonic() - begun:.1f} s"
