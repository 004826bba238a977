#!/usr/bin/env python3
"""Programs of users are built with an installed C library, by pkg-config and by CMake, shared and static, and run.

`install.py` installs into empty folders by `make install`; `install.py PREFIX LIBDIR` takes what lies in PREFIX.
The last line counts the tests: "N passed, N failed, N skipped".
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import COUNT, ROOT, c_compiler, cxx_compiler, run, say

USER = r"""
#include <stdio.h>
#include <string.h>
#include "leafid.HEADER"
int main(void) {
    leafid_parts parts;
    if (strcmp(leafid_version(), LEAFID_VERSION) != 0) return 1;
    if (leafid_decode(1169786042799259000, NULL, &parts) != LEAFID_OK) return 2;
    printf("%lld %u %u\n", (long long)parts.timestamp_ms, parts.worker_id, parts.sequence);
    return 0;
}
"""
#: Of the id above, by Leaf's layout.
EXPECTED = "1567733700834 39 3448\n"


def output(command: list, **options) -> str:
    return run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options).stdout


def sources(folder: Path) -> dict[str, Path]:
    """The program of a user in C, and in C++ where there is a compiler."""
    found = {"c": folder / "user.c"}
    if cxx_compiler():
        found["cpp"] = folder / "user.cpp"
    for language, path in found.items():
        path.write_text(USER.replace("HEADER", "h" if language == "c" else "hpp"))
    return found


def with_pkg_config(prefix: Path, libdir: str, folder: Path) -> list[Path]:
    users = []
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": f"{prefix / libdir}/pkgconfig", "PKG_CONFIG_PATH": ""}
    for language, source in sources(folder).items():
        tool = c_compiler() if language == "c" else cxx_compiler()
        for kind in ("shared", "static"):
            static = ["--static"] if kind == "static" else []
            flags = output(["pkg-config", "--cflags", "--libs", *static, "leafid"], env=environment).split()
            if static:
                flags = [f"{prefix / libdir}/libleafid.a" if flag == "-lleafid" else flag for flag in flags]
            users.append(folder / f"pkg-config-{language}-{kind}")
            output([tool, source, *flags, "-o", users[-1]])
    return users


def with_cmake(prefix: Path, libdir: str, folder: Path) -> list[Path]:
    version = output([sys.executable, ROOT / "packaging/version.py"]).strip().rpartition(".")[0]
    lines = ["cmake_minimum_required(VERSION 3.16)", f"project(user {'C CXX' if cxx_compiler() else 'C'})",
             f"find_package(leafid {version} REQUIRED)"]
    users = []
    for language, source in sources(folder).items():
        for kind, target in (("shared", "leafid"), ("static", "static")):
            lines += [f"add_executable({language}-{kind} {source})",
                      f"target_link_libraries({language}-{kind} leafid::{target})"]
            users.append(folder / f"build/{language}-{kind}")
    (folder / "CMakeLists.txt").write_text("\n".join(lines))
    # Only systems that have lib64 look there by themselves.
    found = f"leafid_DIR={prefix}/lib64/cmake/leafid" if libdir == "lib64" else f"CMAKE_PREFIX_PATH={prefix}"
    output(["cmake", "-S", folder, "-B", folder / "build", f"-D{found}"])
    output(["cmake", "--build", folder / "build"])
    return users


def check(title: str, prefix: Path, libdir: str) -> None:
    for tool, build_users in (("pkg-config", with_pkg_config), ("cmake", with_cmake)):
        if not shutil.which(tool):
            say(f"skipped - {title}: {tool} is not installed")
            continue
        with tempfile.TemporaryDirectory(prefix="leafid-user-") as folder:
            try:
                for user in build_users(prefix, libdir, Path(folder)):
                    said = output([user], env={**os.environ, "LD_LIBRARY_PATH": str(prefix / libdir)})
                    right = said == EXPECTED
                    say(f"{'ok' if right else 'not ok'} - {title}: {tool} and {user.name}{'' if right else ': ' + said}")
            except subprocess.CalledProcessError as error:
                print(error.stdout)
                say(f"not ok - {title}: {tool}: {error}")


def make_install(*settings: str) -> None:
    # What the makefile that runs this test was given is not for this one.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "PREFIX", "DESTDIR", "LIBDIR")}
    output(["make", "--no-print-directory", "install", *settings], cwd=ROOT, env=environment)


def installed() -> None:
    with tempfile.TemporaryDirectory(prefix="leafid-prefix-") as folder:
        make_install(f"PREFIX={folder}/opt/leafid")
        check("PREFIX", Path(folder, "opt/leafid"), "lib")
        multiarch = output([c_compiler(), "-dumpmachine"]).strip().replace("-pc-", "-")
        for libdir in ("lib64", f"lib/{multiarch}"):
            staged = Path(folder, libdir)
            make_install(f"DESTDIR={staged}", "PREFIX=/usr", f"LIBDIR={libdir}")
            check(f"DESTDIR, LIBDIR={libdir}", staged / "usr", libdir)
            stray = [str(path) for path in staged.rglob("*") if path.is_file()
                     and path.relative_to(staged / "usr").parts[0] not in ("include", "lib", "lib64")]
            naming = [str(path) for path in staged.rglob("*") if path.is_file() and folder.encode() in path.read_bytes()]
            say(f"{'not ok' if stray + naming else 'ok'} - files lie where they belong and none names DESTDIR {stray + naming}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        check(sys.argv[1], Path(sys.argv[1]).resolve(), sys.argv[2])
    else:
        installed()
    print(f"{COUNT.passed} passed, {COUNT.failed} failed, {COUNT.skipped} skipped")
    sys.exit(1 if COUNT.failed or not COUNT.passed else 0)
