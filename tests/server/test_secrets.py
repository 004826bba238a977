"""No output of the server shows a password, in whatever form it stands in the store's address."""

import json
import subprocess

import pytest
from servers import BINARY, ROOT

VECTOR = json.loads((ROOT / "tests/vectors/secrets.json").read_text())
FORMS = [form.replace("HOST", "127.0.0.1:1") for form in VECTOR["urls"]]


@pytest.mark.parametrize("scheme", ["mysql", "postgres", "etcd", "MYSQL", "oracle"])
def test_no_form_of_an_address_shows_its_password(scheme, tmp_path):
    for form in FORMS:
        store = form.replace("SCHEME", scheme)
        words = "--store-timeout-ms", "100", "--start-timeout-ms", "100", "--listen", "127.0.0.1:0"
        # What is taken for a file would serve.
        for command in (["check"], []) if "://" in store else (["check"],):
            env = {"LEAFID_SERVER_STORE": store, "LEAFID_SERVER_LOG": "trace"}
            done = subprocess.run([BINARY, *words, *command], env=env, cwd=tmp_path, capture_output=True, text=True,
                                  timeout=60)  # fmt: skip
            said = done.stdout + done.stderr
            assert VECTOR["marker"] not in said, f"{store!r}: {said}"


def test_no_collector_and_no_file_shows_a_secret(tmp_path):
    for option in ("otlp-endpoint", "tls-key", "tokens", "config"):
        for form in FORMS:
            value = form.replace("SCHEME", "http") + ("" if option == "otlp-endpoint" else "\n")
            words = f"--{option}={value}", "--listen", "127.0.0.1:0", "--store", "mysql://127.0.0.1:1/x"
            words += ("--start-timeout-ms", "100", "--tls-cert", "x.pem") if option == "tls-key" else ("--start-timeout-ms", "100")
            done = subprocess.run([BINARY, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
            said = done.stdout + done.stderr
            assert VECTOR["marker"] not in said, f"{option} {value!r}: {said}"
