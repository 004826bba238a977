"""Tries the packages that dist_c.py made: archives in empty folders, Debian packages and RPMs in copies of this system.

Programs are built with them and run; those for another machine run under qemu-user. Each check prints a line that begins
with ok, not ok or skipped, and the last line counts them.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from dist import BIN, DIST, ROOT, TARGETS, WINDOWS, binutils, have, llvm, run, version

sys.path.insert(0, str(ROOT / "tests/c"))
import run as c_tests  # noqa: E402

#: All libraries of glibc.
GLIBC_LIBRARIES = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
#: What lintian says of every package that no distribution has, and of the licences of crates.
NOT_OURS = "initial-upload-closes-no-bugs,copyright-file-contains-full-apache-2-license"


def check(what, holds, detail=""):
    c_tests.say(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"))


def all_of(targets):
    """Tries what was made for the targets. Answers how the program ends."""
    for target in targets:
        archive(target)
        if target.endswith("-linux-gnu"):
            debian(target)
            rpm(target)
        if target == f"{platform.machine()}-unknown-linux-gnu":
            conan(target)
    count = c_tests.COUNT
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 1 if count.failed or not count.passed else 0


def archive(target):
    name = f"leafid-c-{version()}-{target}"
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-xzf", DIST / f"{name}.tar.gz", "-C", folder)
        unpacked = pathlib.Path(folder, name)
        licences(name, unpacked, "leafid-c", target)
        if "-linux-" in target:
            libraries(target, unpacked)
        if target in WINDOWS:
            dll(target, unpacked)
        tool = compiler(target, pathlib.Path(folder))
        if not tool or not have(name, "pkg-config:pkg-config", "cmake:cmake"):
            c_tests.say(f"skipped - {name}: no program is built with it")
            return
        settings, options, runner = tool
        users = subprocess.run([sys.executable, ROOT / "tests/c/install.py", unpacked, "lib", *options], env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True)
        for line in users.stdout.splitlines()[:-1]:
            c_tests.say(line)
        if not (unpacked / "lib/libleafid_core.a").exists():
            return
        embedded = pathlib.Path(folder, "embedded")
        run(settings["CC"], ROOT / "examples/embedded.c", f"-I{unpacked}/include", unpacked / "lib/libleafid_core.a", "-static", "-o", embedded)
        check(f"{name}: libleafid_core.a in embedded.c", run(*runner, embedded, cwd=folder))


def dll(target, unpacked):
    """What can be seen of the library of Windows, and of what a program is linked with in its place."""
    name, machine = unpacked.name, {"x86_64": "AMD64", "aarch64": "ARM64"}[target.split("-")[0]]
    said = run(llvm("readobj"), "--file-headers", "--coff-imports", "--coff-exports", unpacked / "bin/leafid.dll")
    check(f"{name}: leafid.dll is for {machine}", f"Machine: IMAGE_FILE_MACHINE_{machine} " in said, said[:400])
    needed = set(re.findall(r"^Import \{\s+Name: (\S+)$", said, re.M))
    # Those of compilers begin so.
    check(f"{name}: it needs only what Windows has", needed and not any(each.startswith("lib") for each in needed), needed)
    exported = set(re.findall(r"^Export \{\s+Ordinal: \d+\s+Name: (\S+)$", said, re.M))
    stands_in = run(llvm("readobj"), "--file-headers", unpacked / "lib/libleafid.dll.a")
    imported = set(re.findall(r"^Symbol: (leafid_\w+)$", stands_in, re.M))
    # Zig exports all there is.
    right = imported == exported if target.endswith("-gnu") else imported < exported
    check(f"{name}: the import library has what the DLL exports", len(imported) > 30 and right, sorted(imported ^ exported))
    check(f"{name}: and is for {machine}", f"IMAGE_FILE_MACHINE_{machine} " in stands_in, stands_in[:400])


def libraries(target, unpacked):
    """What can be seen of the libraries."""
    name, shared, static = unpacked.name, unpacked / "lib/libleafid.so", unpacked / "lib/libleafid.a"
    dynamic = run("readelf", "-dW", shared)
    check(f"{name}: the SONAME is libleafid.so.0", "soname: [libleafid.so.0]" in dynamic, dynamic)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    allowed = GLIBC_LIBRARIES if target.endswith("-linux-gnu") else {"libc.so"}
    check(f"{name}: it needs only the C library", needed <= allowed, needed - allowed)
    if glibc := TARGETS[target][0]:
        versions = re.findall(r"GLIBC_([\d.]+)", run("readelf", "-VW", shared))
        newest = max(tuple(map(int, each.split("."))) for each in versions)
        check(f"{name}: it needs glibc {glibc} at most", newest <= tuple(map(int, glibc.split("."))), newest)
    symbols = ".symtab" in run("readelf", "-SW", shared)
    debugging = re.findall(r"\.debug_info|\.llvmbc", run("readelf", "-SW", static))
    check(f"{name}: the libraries are stripped", not symbols and not debugging, (symbols, debugging[:1]))


def licences(name, folder, package, target):
    """Its own ones, and those of all crates in it, by another list than the one of which they were made."""
    found = sorted(path.name for path in folder.glob("LICENSE-*"))
    check(f"{name}: it has the licences", found == ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"], found)
    text = (folder / "LICENSE-THIRD-PARTY").read_text()
    tree = run("cargo", "tree", "--locked", "-p", package, "-e", "normal,no-proc-macro", "--target", target, "--prefix", "none", cwd=ROOT)
    crates = set(re.findall(r"^(\S+) v(\S+)(?: \(\*\))?$", tree, re.M))
    missing = [f"{crate} {number}" for crate, number in crates if f"\n{crate} {number} (" not in text]
    check(f"{name}: which name the {len(crates)} crates in it", len(crates) > 20 and not missing, missing)


def compiler(target, folder):
    """The settings and the options of tests/c/install.py for a target, and what runs its programs; None if something is missing."""
    if target.endswith("-apple-darwin"):
        own = target.startswith(platform.machine().replace("arm64", "aarch64"))
        return ({"CC": "cc"}, [], []) if own else None
    if target == "aarch64-pc-windows-gnullvm":
        return None
    if target in WINDOWS:
        if not have(target, "x86_64-w64-mingw32-g++:g++-mingw-w64-x86-64", "wine:wine", "wine:wine64"):
            return None
        (folder / "windows.cmake").write_text("set(CMAKE_SYSTEM_NAME Windows)\n")
        settings = {"CC": "x86_64-w64-mingw32-gcc", "CXX": "x86_64-w64-mingw32-g++", "CMAKE_TOOLCHAIN_FILE": str(folder / "windows.cmake")}
        return settings, ["--runner", f"{sys.executable} {ROOT}/tests/cross/wine.py", "--flags=-static-libgcc -static-libstdc++"], []
    machine, _, _, libc = target.split("-")
    own = machine == platform.machine()
    runner = [] if own else [f"qemu-{machine}-static", "-L", f"/usr/{machine}-linux-gnu"]
    if runner and not have(target, f"{runner[0]}:qemu-user-static"):
        return None
    options = ["--runner", " ".join(runner)]
    if libc == "musl":
        options += ["--kind", "static", "--flags=-static"]
        if own:
            return ({"CC": "musl-gcc", "CXX": ""}, options, runner) if have(target, "musl-gcc:musl-tools") else None
        # Debian has no compiler for it.
        zig = folder / "zig-cc"
        zig.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc -target {machine}-linux-musl "$@"\n')
        zig.chmod(0o755)
        return {"CC": str(zig), "CXX": ""}, options, runner
    if own:
        return {"CC": "cc"}, options, runner
    cross = f"{machine}-linux-gnu-gcc"
    debian_machine = machine.replace("_", "-")
    found = have(target, f"{cross}:gcc-{debian_machine}-linux-gnu", f"{cross}:libc6-dev-{'amd64' if machine == 'x86_64' else 'arm64'}-cross")
    return ({"CC": cross, "CXX": ""}, options, runner) if found else None


def debian(target):
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[target.split("-")[0]]
    packages = sorted(DIST.glob(f"libleafid*_{architecture}.deb"))
    if not packages:
        return
    what = f"Debian packages, {architecture}"
    lintian(what, packages)
    installed(what, target, packages)


def lintian(what, packages):
    if have(what, "lintian:lintian"):
        said = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", NOT_OURS, *packages], stdout=subprocess.PIPE, text=True)
        check(f"{what}: lintian", said.returncode == 0, said.stdout)
    else:
        c_tests.say(f"skipped - {what}: lintian")


def rpm(target):
    machine = target.split("-")[0]
    packages = sorted(DIST.glob(f"leafid-*.{machine}.rpm"))
    if not packages:
        return
    wanted = run("rpm", "-qp", "--requires", *packages)
    foreign = [line for line in wanted.splitlines() if not re.match(r"(rpmlib|leafid)\(|/sbin/ldconfig$|/usr/bin/pkg-config$", line) and line.split("(")[0] not in GLIBC_LIBRARIES]
    check(f"RPMs, {machine}: they need only glibc", "libc.so.6(GLIBC_2.17)(64bit)" in wanted and not foreign, wanted)
    provided = run("rpm", "-qp", "--provides", *packages)
    check(f"RPMs, {machine}: they provide the library by its SONAME", "libleafid.so.0()(64bit)" in provided, provided)
    installed(f"RPMs, {machine}", target, packages)


def conan(target):
    """The Conan recipe, with the archive in build/dist, in an empty home."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, ROOT / "packaging/registries.py", DIST, DIST.as_uri(), folder)
        tool, settings = BIN / "conan", {**os.environ, "CONAN_HOME": f"{folder}/home", "PATH": f"{BIN}:{os.environ['PATH']}"}
        run(tool, "profile", "detect", env=settings)
        for shared in (True, False):
            command = [tool, "create", f"{folder}/conan", "--options", f"leafid/*:shared={shared}"]
            done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            right = done.returncode == 0 and f"leafid {version()} decodes" in done.stdout
            check(f"{target}: conan create, shared={shared}", right, done.stdout)


def installed(what, target, packages):
    if not target.startswith(platform.machine()):
        c_tests.say(f"skipped - {what}: not installed, for they are for another machine")
        return
    in_a_copy(f"{what}: installed, used by cc and pkg-config, and removed", f"packaging/try-packages.sh {packages[0].suffix[1:]}", packages)


def in_a_copy(what, script, packages):
    """Runs a script, with the folder of the packages as its last word, in a copy of this system that lies in memory and
    vanishes. With 77 it says by its last line why it cannot run here."""
    if os.geteuid() != 0 or not have(what, "apt-get:apt"):
        c_tests.say(f"skipped - {what}: that takes root and a Debian")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["unshare", "--mount", "sh", "-euc", COPY, "copy", script, folder, ROOT, *packages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        c_tests.say(f"skipped - {what}: {done.stdout.splitlines()[-1]}")
    else:
        check(what, done.returncode == 0, done.stdout)


#: SCRIPT FOLDER ROOT PACKAGE…
COPY = """
script=$1 folder=$2 root=$3
shift 3
mount -t tmpfs leafid "$folder"
mkdir "$folder/changed" "$folder/work" "$folder/packages" "$folder/copy"
cp "$@" "$folder/packages"
mount -t overlay leafid -o "lowerdir=/,upperdir=$folder/changed,workdir=$folder/work" "$folder/copy"
for each in /proc /dev "$root"; do mount --rbind "$each" "$folder/copy$each"; done
mkdir -p "$folder/copy/packages"
mount --bind "$folder/packages" "$folder/copy/packages"
mkdir "$folder/copy/before"
cd "$folder/copy"
# A systemd in it makes namespaces of files, which takes a root that is no chroot.
pivot_root . before
umount --lazy before
# The script is several words.
exec sh "$root/"$script /packages
"""
