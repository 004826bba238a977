#!/usr/bin/env python3
"""Makes the packages of leafid-server for this machine's kind of processor, checks them, and tries them.

It writes into build/dist an archive with the program, which is static, a Debian package, and a container image. `make
dist OF=server` calls it. The program is built with musl-gcc, as by `make cross OF=musl`.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import notices
import system_packages
import try_compose
import try_server
from dist import DIST, ROOT, built, have, package_version, run, version
from dist_c import pack
from dist_container import container

MACHINE = platform.machine()
TARGET = f"{MACHINE}-unknown-linux-musl"
SERVER = ROOT / "packaging/server"
#: Where the Debian package puts files of packaging/server.
INSTALLED = {
    "leafid-server.service": "usr/lib/systemd/system/leafid-server.service",
    "leafid-server.sysusers": "usr/lib/sysusers.d/leafid-server.conf",
    "debian/lintian-overrides": "usr/share/lintian/overrides/leafid-server",
}


def build():
    """The program; None if something is missing."""
    what = "NOT MADE: leafid-server"
    if not have(what, "musl-gcc:musl-tools"):
        return None
    if not pathlib.Path(run("rustc", "--print", "target-libdir", "--target", TARGET).strip()).is_dir():
        if not shutil.which("rustup") or subprocess.run(["rustup", "target", "add", TARGET]).returncode:
            print(f"{what}: its standard library is missing (rustup target add {TARGET})")
            return None
    settings = {**os.environ, "CARGO_PROFILE_RELEASE_STRIP": "symbols", f"CC_{TARGET.replace('-', '_')}": "musl-gcc"}
    run("cargo", "build", "--release", "--locked", "--quiet", "--target", TARGET, "-p", "leafid-server", cwd=ROOT, env=settings)
    return built(TARGET) / "leafid-server"


def archive(program):
    name = f"leafid-server-{version()}-{MACHINE}-linux-musl"
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work, name)
        folder.mkdir()
        for file in (program, SERVER / "leafid-server.toml", ROOT / "LICENSE-MIT", ROOT / "LICENSE-APACHE"):
            shutil.copy(file, folder)
        (folder / "LICENSE-THIRD-PARTY").write_text(notices.of_server())
        pack(folder)
    return DIST / f"{name}.tar.gz"


def debian(program):
    """None if something is missing."""
    if not have("NOT MADE: Debian package of leafid-server", "dpkg-deb:dpkg"):
        return None
    architecture = system_packages.DEBIAN_ARCHITECTURES[MACHINE]
    control = system_packages.filled(SERVER / "debian/control", {"VERSION": package_version(), "ARCHITECTURE": architecture})
    more = {name: (SERVER / "debian" / name).read_text() for name in ("conffiles", "postinst", "prerm", "postrm")}
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work, "leafid-server")
        for file, place in {program: "usr/bin/leafid-server", **{SERVER / name: place for name, place in INSTALLED.items()}}.items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / place)
        # Whoever runs a command with this file, in whatever folder, means the store of the service.
        example = (SERVER / "leafid-server.toml").read_text()
        (root / "etc").mkdir()
        (root / "etc/leafid-server.toml").write_text(example.replace('"leafid-server.db"', '"/var/lib/leafid-server/leafid-server.db"'))
        system_packages.manual(SERVER / "leafid-server.8", root)
        system_packages.package(root, control.strip(), notices.of_server(), more)
    return DIST / f"leafid-server_{package_version()}_{architecture}.deb"


def main():
    DIST.mkdir(parents=True, exist_ok=True)
    for old in (*DIST.glob(f"leafid-server-*-{MACHINE}-*.tar.gz"), *DIST.glob("leafid-server_*.deb")):
        old.unlink()
    program = build()
    if not program:
        sys.exit(1)
    packed = archive(program)
    try_compose.files(container(packed))
    sys.exit(try_server.all_of(packed, debian(program)))


if __name__ == "__main__":
    main()
