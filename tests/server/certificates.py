"""An authority and its certificates, by openssl."""

import shutil
import ssl
import subprocess

import pytest


class Authority:
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.certificate = folder / f"{name}.pem"
        self.key = folder / f"{name}-key.pem"
        self.openssl("req", "-x509", *self.new_key(self.key), "-days", "2", "-subj", f"/CN={name}",
                     "-addext", "basicConstraints=critical,CA:TRUE", "-out", self.certificate)  # fmt: skip

    def new_key(self, path):
        return "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", path

    def openssl(self, *words):
        if not shutil.which("openssl"):
            pytest.skip("openssl is missing: apt install openssl")
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def sign(self, name, cert, key):
        """Makes a certificate of localhost with this common name, and its key."""
        request, names = self.folder / "request.pem", self.folder / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self.openssl("req", *self.new_key(key), "-subj", f"/CN={name}", "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                     "-days", "2", "-extfile", names, "-out", cert)  # fmt: skip
        return cert, key

    def trust(self, client=None):
        """The settings of a client that trusts this authority; `client` is its own certificate and key."""
        context = ssl.create_default_context(cafile=self.certificate)
        if client:
            context.load_cert_chain(*client)
        return context
