"""TLS, certificates of clients, and a certificate that is replaced."""

import http.client
import signal
import socket
import ssl
import time

import pytest
from certificates import Authority
from servers import Server, make_tag, until


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
def pair(authority, tmp_path):
    return authority.sign("first", tmp_path / "cert.pem", tmp_path / "cert-key.pem")


def options(pair):
    return "--tls-cert", pair[0], "--tls-key", pair[1]


def common_name(server, context):
    with socket.create_connection(server.address) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as encrypted:
            return dict(field[0] for field in encrypted.getpeercert()["subject"])["commonName"]


def test_connections_are_encrypted_and_no_others_are_served(file, authority, pair):
    make_tag(file.url, "order")
    with Server(file.url, *options(pair)) as server:
        context = authority.trust()
        client = server.client(tls=context)
        assert client.ids("order", 3) == [1, 2, 3]
        assert client.get("/health") == (200, "ok\n")
        with pytest.raises((OSError, http.client.HTTPException)):
            server.client().get("/health")
        with pytest.raises(ssl.SSLCertVerificationError):
            server.client(tls=ssl.create_default_context()).get("/health")
        old = authority.trust()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert server.client(tls=old).ids("order") == [4]


def test_only_clients_of_the_authority_are_served(file, authority, pair, tmp_path):
    make_tag(file.url, "order")
    ours = authority.sign("client", tmp_path / "ours-cert.pem", tmp_path / "ours-cert-key.pem")
    other = Authority(tmp_path, "other")
    foreign = other.sign("client", tmp_path / "foreign.pem", tmp_path / "foreign-key.pem")
    with Server(file.url, *options(pair), "--tls-client-ca", authority.certificate) as server:
        assert server.client(tls=authority.trust(ours)).ids("order") == [1]
        for wrong in (None, foreign):
            with pytest.raises(OSError):
                server.client(tls=authority.trust(wrong)).ids("order")
        assert server.client(tls=authority.trust(ours)).ids("order") == [2], "the others have taken none"


def test_a_hangup_takes_the_new_certificate_and_keeps_the_old_one_if_that_is_wrong(file, authority, pair, tmp_path):
    make_tag(file.url, "order")
    with Server(file.url, *options(pair)) as server:
        context = authority.trust()
        kept = server.client(tls=context)
        assert kept.ids("order") == [1] and common_name(server, context) == "first"
        authority.sign("second", *pair)
        assert common_name(server, context) == "first"
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "certificate: read again" in server.log(), "it is read")
        assert common_name(server, context) == "second"
        pair[0].write_text("no certificate")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "certificate: not read again" in server.log(), "it is refused")
        assert common_name(server, context) == "second" and kept.ids("order") == [2], "a connection goes on"


def test_a_stop_does_not_wait_for_who_never_says_a_word(file, pair):
    with Server(file.url, *options(pair), "--stop-timeout-ms", "60000") as server:
        with socket.create_connection(server.address):
            time.sleep(0.3)
            assert server.end() == 0


def test_wrong_files_end_the_start_and_are_named(file, pair, tmp_path):
    for words, said in (
        (["--tls-cert", pair[0]], "tls-key is missing"),
        (["--tls-key", pair[1]], "tls-cert is missing"),
        (["--tls-client-ca", pair[0]], "tls-cert is missing"),
        (["--tls-cert", tmp_path / "none", "--tls-key", pair[1]], "tls-cert is"),
        (["--tls-cert", pair[1], "--tls-key", pair[1]], "no certificate in it"),
        (["--tls-cert", pair[0], "--tls-key", pair[0]], "tls-key is"),
        (["--tls-cert", pair[0], "--tls-key", tmp_path / "ours-key.pem"], "tls-cert is"),
    ):
        with Server(file.url, *words, wait=False) as server:
            assert server.process.wait() == 1
            assert said in server.log(), words
