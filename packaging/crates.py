#!/usr/bin/env python3
"""What crates.io, docs.rs and users of the oldest Rust get: `make check OF=crates`.

Packages leafid-core and then leafid as `cargo publish` would, and builds what was packed. Checks the licences and
sources of all dependencies (deny.toml), the oldest Rust, and that the API breaks none of the last release, if the tools
for it are installed; what is left out is said.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from version import last_release

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = ["leafid-core", "leafid"]
PACKAGES = [word for name in PUBLISHED for word in ("-p", name)]
BUILT = ROOT / "build/crates"
# What is built here is not run.
QUICK = os.environ | {"CARGO_PROFILE_DEV_DEBUG": "0"}


def output(*command):
    return subprocess.run(command, cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE).stdout


def step(what, *command, may_fail=""):
    """Runs a command, and ends this program if it fails; with `may_fail` that is said instead."""
    done = subprocess.run(command, cwd=ROOT, env=QUICK, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        print(f"{what}: passed", flush=True)
    elif may_fail and may_fail in done.stdout:
        print(f"{what}: NOT CHECKED, {may_fail}", flush=True)
    else:
        sys.exit(f"{what}: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}")


def only_these_are_published(metadata):
    named = [package["name"] for package in metadata["packages"] if package["publish"] is None]
    if sorted(named) != sorted(PUBLISHED):
        sys.exit(f"cargo publish would take {', '.join(named)}; packaging/crates.py names {', '.join(PUBLISHED)}")
    print(f"published: {', '.join(PUBLISHED)}")


def forget_earlier_packages():
    """Cargo knows what a registry has by version alone: it would build leafid with the core of an earlier run."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    for name in PUBLISHED:
        for kept in [*home.glob(f"registry/src/-*/{name}-[0-9]*"), *BUILT.glob(f"debug/.fingerprint/{name}-*")]:
            shutil.rmtree(kept)


def tool(name):
    built = ROOT / "build/tools/bin" / name
    return shutil.which(name) or (str(built) if built.exists() else None)


def oldest_rust(version):
    installed = subprocess.run(["rustup", "toolchain", "list"], text=True, stdout=subprocess.PIPE).stdout if shutil.which("rustup") else ""
    names = [line.split()[0] for line in installed.splitlines()]
    toolchain = next((name for name in names if name == version or name.startswith((f"{version}-", f"{version}."))), None)
    if not toolchain:
        print(f"Rust {version}: NOT CHECKED, it is not installed (rustup toolchain install {version})")
        return
    target = ["--target-dir", str(ROOT / "build/oldest-rust")]
    step(f"Rust {version}, the workspace", "cargo", f"+{toolchain}", "check", "--quiet", "--locked", "--workspace", *target)


def main():
    metadata = json.loads(output("cargo", "metadata", "--no-deps", "--locked", "--format-version=1"))
    only_these_are_published(metadata)
    forget_earlier_packages()
    step("cargo package", "cargo", "package", "--quiet", "--locked", "--allow-dirty", "--target-dir", str(BUILT), *PACKAGES)
    if deny := tool("cargo-deny"):
        step("cargo deny: licences, sources, bans", deny, "check", "bans", "licenses", "sources")
        step("cargo deny: advisories", deny, "check", "advisories", may_fail="failed to fetch advisory database")
    else:
        print("cargo deny: NOT CHECKED, it is not installed (cargo install --locked cargo-deny)")
    oldest_rust(next(package["rust_version"] for package in metadata["packages"] if package["name"] == "leafid"))
    release = last_release()
    if not release:
        print("cargo semver-checks: NOT CHECKED, this clone does not have the last release")
    elif semver_checks := tool("cargo-semver-checks"):
        step(f"cargo semver-checks against {release[0]}", semver_checks, "semver-checks", "--baseline-rev", release[1], *PACKAGES)
    else:
        print("cargo semver-checks: NOT CHECKED, it is not installed (cargo install --locked cargo-semver-checks)")


if __name__ == "__main__":
    main()
