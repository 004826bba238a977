"""No output of the server shows a password, in whatever form it stands in the store's address."""

import json
import subprocess

import pytest
from servers import BINARY, ROOT

VECTOR = json.loads((ROOT / "tests/vectors/secrets.json").read_text())
FORMS = [form.replace("HOST", "127.0.0.1:1") for form in VECTOR["urls"]]


@pytest.mark.parametrize("scheme", ["mysql", "postgres", "etcd", "MYSQL", "oracle", "jdbc:mysql", "jdbc:postgresql"])
def test_no_form_of_an_address_shows_its_password(scheme, tmp_path):
    for form in FORMS:
        store = form.replace("SCHEME", scheme)
        words = "--store-timeout-ms", "100", "--start-timeout-ms", "100", "--listen", "127.0.0.1:0"
        # What is taken for a file would serve.
        for command in (["check"], []) if "://" in store else (["check"],):
            env = {"LEAFID_SERVER_STORE": store, "LEAFID_SERVER_LOG": "trace"}
            words_of = [BINARY, *words, *command]
            done = subprocess.run(words_of, env=env, cwd=tmp_path, check=False, capture_output=True, text=True)
            said = done.stdout + done.stderr
            assert VECTOR["marker"] not in said, f"{store!r}: {said}"


def test_no_collector_and_no_file_shows_a_secret(tmp_path):
    for option in ("otlp-endpoint", "tls-cert", "tokens", "config", "leaf-properties"):
        for form in FORMS:
            # With an end of line, as the content of a file has it.
            value = form.replace("SCHEME", "http") + ("" if option == "otlp-endpoint" else "\n")
            words = ["--listen", "127.0.0.1:0", "--store", "mysql://127.0.0.1:1/x", "--start-timeout-ms", "100",
                     "--store-timeout-ms", "100"]  # fmt: skip
            words += ["--tls-key", "x.pem"] if option == "tls-cert" else []
            command = [BINARY, f"--{option}={value}", *words]
            done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
            said = done.stdout + done.stderr
            assert VECTOR["marker"] not in said, f"{option} {value!r}: {said}"
