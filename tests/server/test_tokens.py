"""Bearer tokens: who gets what, and what the answers and logs say."""

import contextlib
import json
import re
import signal
import sqlite3
import subprocess

import pytest
from servers import BINARY, Server, make_tag, until


class Tokens:
    """A file of tokens, made by the command."""

    def __init__(self, folder):
        self.file, self.secrets = folder / "tokens.toml", []

    def make(self, name, *scopes, tags=("*",)):
        words = [f"--scope={scope}" for scope in scopes] + [f"--tag={tag}" for tag in tags]
        done = subprocess.run([BINARY, "token", name, *words], capture_output=True, text=True, check=True)
        with open(self.file, "a") as file:
            file.write(done.stdout)
        secret = re.search(r"leafid_[0-9a-f]{64}", done.stderr)[0]
        self.secrets.append(secret)
        return secret

    def check_hidden(self, *texts):
        for secret in self.secrets:
            assert all(secret not in text and secret[7:] not in text for text in texts)


@pytest.fixture
def tokens(tmp_path):
    return Tokens(tmp_path)


def calls(client):
    """The status of one call of each scope."""
    return {
        "ids": client.get("/api/segment/get/order")[0],
        "snowflakes": client.get("/api/snowflake/get/order")[0],
        "ranges": client.post("/api/segment/range/order?nonce=1")[0],
        "leases": client.claim("one")[0],
        "metrics": client.get("/metrics")[0],
        "health": client.get("/health")[0],
        "ready": client.get("/ready")[0],
    }


def test_each_scope_opens_its_calls_and_no_others(file, tokens):
    make_tag(file.url, "order")
    scopes = {"ids": {"ids", "snowflakes"}, "ranges": {"ranges"}, "leases": {"leases"}, "metrics": {"metrics"}}
    secrets = {scope: tokens.make(scope, scope) for scope in scopes}
    everything = tokens.make("all", *scopes)
    with Server(file.url, "--tokens", tokens.file, environment={"LEAFID_SERVER_LOG": "debug"}) as server:
        for scope, opened in {**scopes, "all": set().union(*scopes.values())}.items():
            found = calls(server.client(token=secrets.get(scope, everything)))
            assert found == {name: 200 if name in {*opened, "health", "ready"} else 403 for name in found}, scope
        for denied in (server.client(), server.client(token="leafid_" + "0" * 64), server.client(token=everything[:-1])):
            found = calls(denied)
            assert found == {name: 200 if name in ("health", "ready") else 401 for name in found}
        tokens.check_hidden(server.log(), tokens.file.read_text())


def test_an_answer_says_first_what_was_wrong(file, tokens):
    make_tag(file.url, "order")
    secret = tokens.make("orders", "ids", tags=["order*"])
    with Server(file.url, "--tokens", tokens.file) as server:
        status, headers, body = server.client().request("GET", "/api/segment/get/order")
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert body == '{"error":"unauthorized","message":"no token: send the header Authorization: Bearer TOKEN"}'
        assert "unknown token" in server.client(token="leafid_no").get("/api/segment/get/order")[1]
        client = server.client(token=secret)
        status, answer = client.post("/api/segment/range/order?nonce=1")
        assert (status, answer["error"]) == (403, "forbidden")
        assert answer["message"] == 'the token "orders" lacks the scope ranges; it has ids'
        assert client.get("/api/segment/get/stock")[1].endswith(
            '"the token \\"orders\\" is not for \\"stock\\"; it is for order*"}'
        )
        for header in ("Basic eA==", "Bearer", f"Token {secret}", "Bearer \xff"):
            assert server.client().get("/api/segment/get/order", Authorization=header)[0] == 401
        assert server.client().get("/api/segment/get/order", Authorization=f"bearer  {secret}") == (200, "1")


def test_a_pattern_bounds_tags_ranges_and_id_spaces(file, tokens):
    for tag in ("order", "order-eu", "my-order", "shop"):
        make_tag(file.url, tag)
    secret = tokens.make("one", "ids", "ranges", "leases", tags=["order*", "shop"])
    with Server(file.url, "--tokens", tokens.file) as server:
        client = server.client(token=secret)
        assert client.ids("order") and client.ids("order-eu") and client.ids("shop")
        for other in ("my-order", "shop2", "none"):
            assert client.get(f"/api/segment/get/{other}")[0] == 403
            assert client.post(f"/api/segment/range/{other}?nonce=1")[0] == 403
        assert client.claim("a", "other")[0] == 403
        status, lease = client.claim("a", "orders")
        assert status == 200
        held = {"worker_id": lease["worker_id"], "token": lease["token"], "until": lease["until"], "nonce": "1"}
        assert client.post("/api/worker/renew", held)[0] == 403, "the name is then default"
        assert client.post("/api/worker/release", {**held, "name": "other"})[0] == 403
        status, lease = client.post("/api/worker/renew", {**held, "name": "orders"})
        assert status == 200
        assert client.post("/api/worker/release", {**held, "name": "orders", "token": lease["token"]})[0] == 204


def test_the_rows_of_a_token_are_found_behind_those_of_others(file, tokens):
    make_tag(file.url, "shop")
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
    file.sql(many + "INSERT INTO leaf_alloc (biz_tag, max_id, step) SELECT printf('a%04d', i), 1, 50 FROM n")
    secrets = {tags: tokens.make("one", "metrics", tags=[tags]) for tags in ("shop", "a*", "*")}
    with Server(file.url, "--no-snowflake", "--tokens", tokens.file) as server:

        def rows(tags, after=""):
            body = server.client(token=secrets[tags]).get(f"/db?after={after}", Accept="application/json")[1]
            return [row["tag"] for row in json.loads(body)]

        assert rows("shop") == ["shop"]
        for tags in ("a*", "*"):
            assert rows(tags) == [f"a{at:04}" for at in range(1, 1001)]
            assert rows(tags, "a1000") == [f"a{at:04}" for at in range(1001, 2001)]
        assert len(rows("a*", "a2000")) == 500 and rows("*", "a2000")[-1] == "shop"


def test_a_strict_leaf_checks_the_tag_that_it_serves(file, tokens):
    make_tag(file.url, "shop")
    secret = tokens.make("one", "ids", tags=["shop.*"])
    with Server(file.url, "--strict-leaf", "--tokens", tokens.file) as server:
        assert server.client(token=secret).get("/api/segment/get/shop.order")[0] == 403, "it is the counter shop"


def test_tokens_of_the_configuration_and_new_ones_after_a_hangup(file, tokens):
    make_tag(file.url, "order")
    first = tokens.make("first", "ids")
    tokens.file.write_text('timeout-ms = 2500\n' + tokens.file.read_text())
    with Server(file.url, "--config", tokens.file) as server:
        assert server.client(token=first).ids("order") == [1]
        second = tokens.make("second", "ids")
        assert server.client(token=second).ids("order") == []
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "tokens: read again" in server.log(), "they are read")
        assert server.client(token=second).ids("order") == [2]
        good = tokens.file.read_text()
        for wrong in ("", "[[token]]\nname = 1\n", '[[token]]\nname = "x"\nsha256 = "ab"\nscopes = []\n',
                      f'token = "{first}"\n', f'[[token]]\nname = "x"\nsha256 = "{first}"\nscopes = ["ids"]\n'):  # fmt: skip
            said = server.log().count("tokens: not read again")
            tokens.file.write_text(wrong)
            server.process.send_signal(signal.SIGHUP)
            until(lambda: server.log().count("tokens: not read again") > said, "it is refused")
            assert server.client(token=first).ids("order") and not server.client().ids("order")
        tokens.file.write_text(good.replace("first", "1st"))
        tokens.check_hidden(server.log())


def test_a_hangup_during_a_start_is_remembered(file, tokens):
    make_tag(file.url, "order")
    tokens.make("first", "ids")
    with contextlib.closing(sqlite3.connect(file.url, isolation_level=None)) as locker:
        locker.execute("BEGIN IMMEDIATE")
        words = "--tokens", tokens.file, "--store-timeout-ms", "100", "--start-timeout-ms", "900000"
        with Server(file.url, *words, wait=False) as server:
            until(lambda: "it is tried again" in server.log(), "it waits for its store")
            second = tokens.make("second", "ids")
            server.process.send_signal(signal.SIGHUP)
            tries = server.log().count("it is tried again")
            until(lambda: server.process.poll() or server.log().count("it is tried again") > tries, "it goes on")
            locker.execute("ROLLBACK")
            server.wait()
            until(lambda: "tokens: read again" in server.log(), "they are read")
            assert server.client(token=second).get("/api/segment/get/none")[0] == 500


@pytest.mark.parametrize("list", ["scopes", "tags"])
def test_a_token_for_nothing_is_refused(file, tokens, list):
    tokens.make("one", "ids")
    tokens.file.write_text(re.sub(rf"^{list} = .*$", f"{list} = []", tokens.file.read_text(), flags=re.M))
    with Server(file.url, "--tokens", tokens.file, wait=False) as server:
        assert server.process.wait() == 1
        assert f'{list} is [] in the token "one"; allowed: one or more' in server.log()


def test_a_token_in_a_wrong_place_is_not_shown(file, tokens):
    secret = tokens.make("one", "ids")
    good = tokens.file.read_text()

    def changed(key, value):
        return re.sub(rf"^{key} = .*$", f"{key} = {value}", good, flags=re.M)

    for option, text, said in (
        ("tokens", changed("sha256", f'"{secret}"'), 'sha256 is a text of 71 characters in the token "one"; allowed: 64'),
        ("tokens", changed("scopes", f'"{secret}"'), "line 4: expected a sequence"),
        ("tokens", changed("scopes", f'["{secret}, expected nothing"]'), "line 4: expected one of `ids`, "),
        ("tokens", changed("tags", f'"{secret}"'), "line 5: expected a sequence"),
        ("tokens", f'{good}"{secret}" = 1\n', "line 6: expected one of `name`, "),
        ("tokens", f"{good}{secret}\n", "line 6: key with no value"),
        ("config", f'timeout-ms = 2500\ntoken = "{secret}"\n', "line 2: expected a sequence"),
        ("config", f'timeout-ms = ["{secret}"]\n', "timeout-ms is a value of type array"),
        ("config", f"{secret} = true\n", 'the option is "a text of 71 bytes that is no path"'),
    ):
        tokens.file.write_text(text)
        with Server(file.url, f"--{option}", tokens.file, wait=False) as server:
            assert server.process.wait() != 0 and said in server.log(), server.log()
            tokens.check_hidden(server.log())
    for option in ("tokens", "config", "tls-key"):
        with Server(file.url, f"--{option}", secret, "--tls-cert", tokens.file, wait=False) as server:
            assert server.process.wait() != 0
            tokens.check_hidden(server.log())


def test_a_file_without_tokens_does_not_open_a_server(file, tmp_path):
    for text in ("", "[[token]]\nname = 'x'\n", "x ="):
        (tmp_path / "tokens.toml").write_text(text)
        with Server(file.url, "--tokens", tmp_path / "tokens.toml", wait=False) as server:
            assert server.process.wait() == 1
            assert "tokens is" in server.log()


def test_an_open_address_without_protection_is_a_warning(file, tokens):
    tokens.make("one", "ids")
    with Server(file.url, listen="0.0.0.0:0") as server:
        assert "WARN listen 0.0.0.0:0: there are neither TLS nor tokens" in server.log()
    with Server(file.url, "--tokens", tokens.file, listen="0.0.0.0:0") as server:
        assert "WARN listen 0.0.0.0:0: there is no TLS" in server.log()
    with Server(file.url) as server:
        assert "WARN" not in server.log()
