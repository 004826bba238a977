"""The way to the lease servers: several URLs, and certificates. One that is slow is asked seldom:
../../bindings/rust/src/http/tests/fail_over.rs."""

import subprocess

from harness import PATIENT, need, place, test, wait_for
from lessees import Pool
from servers import FakeServer
from subjects import LANGUAGES, Serve, environment


def renewed(pool):
    """How often the one was renewed that was so least."""
    return min(lease["renewals"] for lease in pool.held().values())


@test("lease servers: one of two is killed, and the other once that is back: no lease is lost")
def _():
    pool = Pool(servers=2, size=8, lease_ms=16_000, threshold_ms=300)
    lessees = [pool.start(language, **PATIENT) for language in LANGUAGES]
    for lessee in lessees:
        lessee.await_in()
    for server in pool.servers:
        server.kill()
        before = renewed(pool)
        wait_for(lambda: renewed(pool) > before, "a renewal of each")
        server.start()
    for lessee in lessees:
        assert not lessee.notes("error", "refused"), lessee.notes("error", "refused")[0]
        assert len(lessee.workers()) == 1, lessee.workers()
    return f"{pool.end()} ids"


class Authority:
    """A private authority of certificates, and those that it signs."""

    def __init__(self):
        self.dir, self.openssl = place().dir, need("openssl", "openssl")
        self.key = self.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", out="ca.key")
        subject = ["-x509", "-key", self.key, "-subj", "/CN=leafid tests", "-days", "2"]
        self.file = self.run("req", *subject, "-addext", "basicConstraints=critical,CA:TRUE", out="ca.pem")

    def run(self, *words, out, before=()):
        path = self.dir / out
        done = subprocess.run([*before, self.openssl, *words, "-out", path], capture_output=True, text=True)
        assert done.returncode == 0, f"openssl {words}: {done.stderr}"
        return path

    def sign(self, name, subject, before=()):
        """The words of a server with a certificate for this subject."""
        key = self.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", out=f"{name}.key")
        request = self.run("req", "-new", "-key", key, "-subj", "/CN=server", out=f"{name}.csr")
        extensions = self.dir / f"{name}.ext"
        extensions.write_text(f"subjectAltName={subject}\nbasicConstraints=CA:FALSE\n")
        words = ["-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-days", "1", "-extfile", extensions]
        return {"certificate": self.run("x509", *words, out=f"{name}.pem", before=before), "key": key}


@test("lease servers: TLS by ca_file and the system's roots; a wrong name, an expired one, plain HTTP: errors that say so")
def _():
    authority, where = Authority(), place()
    past = [need("faketime", "faketime"), "2020-01-01 00:00:00"]
    servers = {
        "right": FakeServer(**authority.sign("right", "IP:127.0.0.1")),
        "name": FakeServer(**authority.sign("name", "DNS:elsewhere.example")),
        "expired": FakeServer(**authority.sign("expired", "IP:127.0.0.1", before=past)),
    }
    port = {name: server.port for name, server in servers.items()}
    refused = [
        (f"https://127.0.0.1:{port['name']}", ["certificate", "name"]),
        (f"https://127.0.0.1:{port['expired']}", ["certificate", "expired"]),
        (f"http://127.0.0.1:{port['right']}", ["https"]),
    ]
    times = {"connect_timeout_ms": 60_000, "request_timeout_ms": 60_000}
    for language in LANGUAGES:
        believes = Serve(language, env=environment(SSL_CERT_FILE=str(authority.file)))
        options = where.options(f"https://127.0.0.1:{port['right']}", state=f"{language}-system", **times)
        believes.do("open", "a", *options)
        assert believes.ids("a", 3)
        believes.do("close", "a")
        for url, said in refused:
            options_there = where.options(url, state=f"{language}-refused", **times)
            error = believes.refused("open", "a", *options_there)
            missing = [word for word in said if word not in str(error)]
            assert error.code == "worker_lost" and url in str(error) and not missing, f"{language}, {missing}: {error}"
        believes.quit()
        subject = Serve(language)
        error = subject.refused("open", "a", *options)
        assert error.code == "worker_lost" and "ca_file" in str(error).replace("caFile", "ca_file"), f"{language}: {error}"
        subject.do("open", "a", *where.options(options[0][7:], state=f"{language}-file", ca_file=authority.file, **times))
        assert subject.ids("a", 3)
        subject.quit()
    for name in ("name", "expired"):
        assert servers[name].report()["total"] == 0, f"the server {name} was asked"
