#!/usr/bin/env python3
"""Makes the packages for C and C++ that one machine can make, checks them, and tries those that run here.

`dist_c.py [TARGET…]` writes into build/dist for each target of TARGETS and WINDOWS an archive, and for those of glibc
Debian packages and RPMs. `make dist OF=c` calls it, inside the virtual environment build/venv-packaging. On macOS TARGETs of Apple are named.
"""

import gzip
import pathlib
import shutil
import sys
import tarfile
import tempfile

import notices
import system_packages
import try_c
from dist import BIN, DIST, ROOT, TARGETS, WINDOWS, binutils, build_environment, built, have, llvm, made_at, run, version, wanted

LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")


def build(target, glibc, folder):
    """Lays both libraries out in the folder."""
    settings = build_environment(target)
    # Not `build`: see bindings/c/c.mk.
    command = ["rustc", "--release", "-p", "leafid-c", "--lib", "--crate-type", "cdylib,staticlib", "--target", f"{target}.{glibc}" if glibc else target]
    if target.endswith("-darwin"):
        run("cargo", *command, cwd=ROOT, env=settings)
        run("strip", "-S", built(target) / "libleafid_c.a")
        run("sh", "bindings/c/stage.sh", built(target) / "libleafid_c.dylib", built(target) / "libleafid_c.a", folder, cwd=ROOT, env=settings)
    elif target in WINDOWS:
        run(*(["cargo"] if target.endswith("-gnu") else [BIN / "cargo-zigbuild"]), *command, cwd=ROOT, env=settings)
        lay_out_windows(target, folder, settings)
    else:
        run(BIN / "cargo-zigbuild", *command, cwd=ROOT, env=settings)
        lay_out(target, folder, settings)
    for name in LICENCES:
        shutil.copy(ROOT / name, folder)
    (folder / "LICENSE-THIRD-PARTY").write_text(notices.of_libraries())


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
            # With what unwinds: the one that a compiler on Debian would link is made for glibc. Its licence, Apache 2.0
            # with LLVM's exception, wants no notice beside binaries.
            unwinding = pathlib.Path(run("rustc", "--print", "target-libdir", "--target", target).strip(), "self-contained/libunwind.a")
            run(f"{prefix}ar", "-M", input=f"open {static}\naddlib {unwinding}\nsave\nend\n")
            settings["NATIVE_LIBS"] = ""
        run("sh", "bindings/c/stage.sh", built(target) / "libleafid_c.so", static, folder, cwd=ROOT, env=settings)
    core = built(target).parent / "c-core/libleafid_core_c.a"
    tools = {"AR": f"{prefix}ar", "OBJCOPY": f"{prefix}objcopy"}
    run("sh", "bindings/c_core/stage.sh", core, folder, "static", cwd=ROOT, env={**settings, **tools})


def lay_out_windows(target, folder, settings):
    with tempfile.TemporaryDirectory() as work:
        static, dlltool = pathlib.Path(work, "libleafid.a"), pathlib.Path(work, "llvm-dlltool")
        if target.endswith("-gnu"):
            run(llvm("objcopy"), "--strip-debug", built(target) / "libleafid_c.a", static)
        else:
            # It has import objects, which llvm-objcopy does not read.
            shutil.copy(built(target) / "libleafid_c.a", static)
        # It is what its name says.
        dlltool.symlink_to(llvm("ar"))
        machine = {"x86_64": "i386:x86-64", "aarch64": "arm64"}[target.split("-")[0]]
        run("sh", "bindings/c/stage.sh", built(target) / "leafid_c.dll", static, folder, cwd=ROOT, env={**settings, "DLLTOOL": f"{dlltool} -m {machine}"})


def needs(target):
    """The programs that `build` needs, each with its Debian package."""
    if target.endswith("-apple-darwin") or target.endswith("-gnullvm"):
        return []
    if target in WINDOWS:
        return ["x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64"]
    prefix, package = binutils(target)
    return [f"{prefix}objcopy:{package}"]


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
    made = []
    apple = [(name, None) for name in names if name.endswith("-apple-darwin")]
    for target, glibc, *_ in apple or wanted(names, {**TARGETS, **dict.fromkeys(WINDOWS, (None,))}):
        print(f"== C, {target}", flush=True)
        name = f"leafid-c-{version()}-{target}"
        for old in DIST.glob(f"leafid-c-*-{target}.tar.gz"):
            old.unlink()
        if not have(f"NOT MADE: {name}.tar.gz", *needs(target)):
            continue
        if target in WINDOWS and not llvm("objcopy"):
            print(f"NOT MADE: {name}.tar.gz: Rust's LLVM tools are missing (rustup component add llvm-tools)")
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work, name)
            folder.mkdir()
            build(target, glibc, folder)
            pack(folder)
            made.append(target)
            if target.endswith("-linux-gnu"):
                system_packages.make(target, folder)
    sys.exit(try_c.all_of(made))


if __name__ == "__main__":
    DIST.mkdir(parents=True, exist_ok=True)
    c(sys.argv[1:])
