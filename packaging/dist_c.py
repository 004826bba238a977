#!/usr/bin/env python3
"""Makes the packages for C and C++ that one machine can make, checks them, and tries those that run here.

`dist_c.py [TARGET…]` writes into build/dist for each target of dist.py an archive, and for those of glibc Debian packages
and RPMs. `make dist-c` calls it, inside the virtual environment build/venv-packaging. On macOS TARGETs of Apple are named.
"""

import gzip
import pathlib
import shutil
import sys
import tarfile
import tempfile

import system_packages
import try_c
from dist import BIN, DIST, ROOT, binutils, build_environment, built, have, made_at, run, version, wanted

#: Of macOS, as one word each: CMake drops a word that comes twice.
MACOS_LIBS = "-Wl,-framework,Security -Wl,-framework,CoreFoundation -liconv -lm"
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY")


def build(target, glibc, folder):
    """Lays both libraries out in the folder."""
    settings = build_environment(target)
    # Not `build`: see bindings/c/c.mk.
    command = ["rustc", "--release", "-p", "leafid-c", "--lib", "--crate-type", "cdylib,staticlib", "--target", f"{target}.{glibc}" if glibc else target]
    if target.endswith("-darwin"):
        run("cargo", *command, cwd=ROOT, env=settings)
        run("strip", "-S", built(target) / "libleafid_c.a")
        run("sh", "bindings/c/stage.sh", built(target) / "libleafid_c.dylib", built(target) / "libleafid_c.a", folder, cwd=ROOT, env={**settings, "NATIVE_LIBS": MACOS_LIBS})
    else:
        run(BIN / "cargo-zigbuild", *command, cwd=ROOT, env=settings)
        lay_out(target, folder, settings)
    for name in LICENCES:
        shutil.copy(ROOT / name, folder)


def lay_out(target, folder, settings):
    """Both libraries of Linux, and the core alone."""
    prefix, _ = binutils(target)
    # Its staging wants one object, also where the environment says that all profiles are quick.
    alone = {**settings, "CARGO_PROFILE_C_CORE_LTO": "fat", "CARGO_PROFILE_C_CORE_CODEGEN_UNITS": "1"}
    run("cargo", "rustc", "--profile", "c-core", "-p", "leafid-core-c", "--lib", "--crate-type", "staticlib", "--target", target, cwd=ROOT, env=alone)

    with tempfile.TemporaryDirectory() as work:
        static = pathlib.Path(work, "libleafid.a")
        # Nor the bitcode of Rust's own library, which only rustc reads.
        run(f"{prefix}objcopy", "--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd", built(target) / "libleafid_c.a", static)
        if target.endswith("-musl"):
            # With what unwinds: the one that a compiler on Debian would link is made for glibc.
            unwinding = pathlib.Path(run("rustc", "--print", "target-libdir", "--target", target).strip(), "self-contained/libunwind.a")
            run(f"{prefix}ar", "-M", input=f"open {static}\naddlib {unwinding}\nsave\nend\n")
            settings["NATIVE_LIBS"] = ""
        run("sh", "bindings/c/stage.sh", built(target) / "libleafid_c.so", static, folder, cwd=ROOT, env=settings)
    core = built(target).parent / "c-core/libleafid_core_c.a"
    tools = {"AR": f"{prefix}ar", "OBJCOPY": f"{prefix}objcopy"}
    run("sh", "bindings/c_core/stage.sh", core, folder, "static", cwd=ROOT, env={**settings, **tools})


def pack(folder):
    """The archive of the folder, the same for the same content."""
    def owned_by_root(member):
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = made_at()
        return member

    with open(DIST / f"{folder.name}.tar.gz", "wb") as file, gzip.GzipFile("", "wb", mtime=made_at(), fileobj=file) as packed:
        with tarfile.open(mode="w", fileobj=packed) as archive:
            archive.add(folder, folder.name, filter=owned_by_root)


def c(names):
    for old in (old for kind in ("leafid-c-*.tar.gz", "*.deb", "*.rpm") for old in DIST.glob(kind)):
        old.unlink()
    made = []
    apple = [(name, None) for name in names if name.endswith("-apple-darwin")]
    for target, glibc, *_ in apple or wanted(names):
        print(f"== C, {target}", flush=True)
        name = f"leafid-c-{version()}-{target}"
        prefix, package = binutils(target)
        if not apple and not have(f"NOT MADE: {name}.tar.gz", f"{prefix}objcopy:{package}"):
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work, name)
            folder.mkdir()
            build(target, glibc, folder)
            pack(folder)
            made.append(target)
            if target.endswith("-gnu"):
                system_packages.make(target, folder)
    sys.exit(try_c.all_of(made))


if __name__ == "__main__":
    DIST.mkdir(parents=True, exist_ok=True)
    c(sys.argv[1:])
