#!/usr/bin/env python3
"""Programs of users are built with an installed C library, by pkg-config and by CMake, shared and static, and run.

`install.py` installs into empty folders by `make install`; `install.py PREFIX LIBDIR` takes what lies in PREFIX. With
--kind they are linked with one kind of library, with --flags linked so, and with --runner a program runs them.
The last line counts the tests: "N passed, N failed, N skipped".
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import COUNT, ROOT, c_compiler, cxx_compiler, run, say

USER = r"""
#include <stdio.h>
#include <string.h>
#include "leafid.h"
int main(void) {
    leafid_parts parts;
    if (strcmp(leafid_version(), LEAFID_VERSION) != 0) return 1;
    if (leafid_decode(1169786042799259000, NULL, &parts) != LEAFID_OK) return 2;
    printf("%lld %u %u\n", (long long)parts.timestamp_ms, parts.worker_id, parts.sequence);
    return 0;
}
"""
KINDS = ["shared", "static"]
#: What they print: the parts of the id above, by Leaf's layout; and what the examples make.
EXPECTED = {
    "user": r"1567733700834 39 3448\n",
    "quickstart": r"\d+ made at \d+ by worker \d+\n1000 more, \d+ to \d+\n",
    "segments": r"order number 1\n1000 more, 2 to 1001\n",
}


def output(command: list, **options) -> str:
    return run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options).stdout


def sources(folder: Path) -> list[Path]:
    """A program in C, that of docs/C.md in C++ where there is a compiler, and the examples."""
    users = {"user.c": USER}
    if cxx_compiler():
        users["quickstart.cpp"] = (ROOT / "docs/C.md").read_text().split("```cpp\n")[1].split("```")[0]
    for name, text in users.items():
        (folder / name).write_text(text)
    return [*(folder / name for name in users), ROOT / "examples/quickstart.c", ROOT / "examples/segments.c"]


def with_pkg_config(prefix: Path, libdir: str, folder: Path, kinds: list[str], flags: list[str]) -> list[Path]:
    users = []
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": f"{prefix / libdir}/pkgconfig", "PKG_CONFIG_PATH": ""}
    for source in sources(folder):
        tool = c_compiler() if source.suffix == ".c" else cxx_compiler()
        for kind in kinds:
            static = ["--static"] if kind == "static" else []
            libs = output(["pkg-config", "--cflags", "--libs", *static, "leafid"], env=environment).split()
            if static:
                libs = [f"{prefix / libdir}/libleafid.a" if lib == "-lleafid" else lib for lib in libs]
            users.append(folder / f"{source.name}-{kind}")
            output([tool, source, *libs, *flags, "-o", users[-1]])
    return users


def with_cmake(prefix: Path, libdir: str, folder: Path, kinds: list[str], flags: list[str]) -> list[Path]:
    version = output([sys.executable, ROOT / "packaging/version.py"]).strip().rpartition(".")[0]
    lines = ["cmake_minimum_required(VERSION 3.16)", f"project(user {'C CXX' if cxx_compiler() else 'C'})",
             f"find_package(leafid {version} REQUIRED)"]
    users = []
    for source in sources(folder):
        for kind in kinds:
            name = f"{source.name}-{kind}"
            lines += [f"add_executable({name} {source})",
                      f"target_link_libraries({name} leafid::{'static' if kind == 'static' else 'leafid'})"]
            users.append(folder / "build" / name)
    (folder / "CMakeLists.txt").write_text("\n".join(lines))
    # Only systems that have lib64 look there by themselves.
    found = f"leafid_DIR={prefix}/lib64/cmake/leafid" if libdir == "lib64" else f"CMAKE_PREFIX_PATH={prefix}"
    output(["cmake", "-S", folder, "-B", folder / "build", f"-D{found}", f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(flags)}"])
    output(["cmake", "--build", folder / "build"])
    return users


TOOLS = {"pkg-config": with_pkg_config, "cmake": with_cmake}


def check(title: str, prefix: Path, libdir: str, kinds: list[str] = KINDS, flags: list[str] = [], runner: list[str] = [],
          tools: dict = TOOLS) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(prefix / libdir), "DYLD_LIBRARY_PATH": str(prefix / libdir),
                   "WINEPATH": f"Z:{prefix}/bin", "LEAFID_WORKER": "0-31", "LEAFID_EXCLUSIVE_RANGE": "1"}
    for tool, build_users in tools.items():
        if not shutil.which(tool):
            say(f"skipped - {title}: {tool} is not installed")
            continue
        with tempfile.TemporaryDirectory(prefix="leafid-user-") as folder:
            try:
                for user in build_users(prefix, libdir, Path(folder), kinds, flags):
                    user = user if user.exists() else user.with_name(f"{user.name}.exe")
                    # An empty folder for the state and the counter of each.
                    with tempfile.TemporaryDirectory(prefix="leafid-user-") as own:
                        said = output([*runner, user], cwd=own, env={**environment, "LEAFID_STATE_DIR": f"{own}/state"})
                    right = re.fullmatch(EXPECTED[user.name.split(".")[0]], said)
                    say(f"{'ok' if right else 'not ok'} - {title}: {tool} and {user.name}{'' if right else ': ' + said}")
            except subprocess.CalledProcessError as error:
                print(error.stdout)
                say(f"not ok - {title}: {tool}: {error}")


def make_install(*settings: str) -> None:
    # What the makefile that runs this test was given is not for this one.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "PREFIX", "DESTDIR", "LIBDIR")}
    output(["make", "--no-print-directory", "install", *settings], cwd=ROOT, env=environment)


def pages(title: str, prefix: Path) -> None:
    """Those that messages name: there is no program here that prints them."""
    missing = [page.name for page in (ROOT / "bindings/rust/pages").iterdir()
               if not (prefix / "share/doc/leafid" / page.name).is_file()]
    say(f"{'not ok' if missing else 'ok'} - {title}: the pages of the documentation {missing}")


def installed() -> None:
    with tempfile.TemporaryDirectory(prefix="leafid-prefix-") as folder:
        make_install(f"PREFIX={folder}/opt/leafid")
        check("PREFIX", Path(folder, "opt/leafid"), "lib")
        pages("PREFIX", Path(folder, "opt/leafid"))
        for shared in Path(folder, "opt/leafid/lib").glob("libleafid.so*"):
            shared.unlink()
        check("PREFIX, without the shared library", Path(folder, "opt/leafid"), "lib", tools={"cmake": with_cmake})
        multiarch = output([c_compiler(), "-dumpmachine"]).strip().replace("-pc-", "-")
        for libdir in ("lib64", f"lib/{multiarch}"):
            staged = Path(folder, libdir)
            make_install(f"DESTDIR={staged}", "PREFIX=/usr", f"LIBDIR={libdir}")
            check(f"DESTDIR, LIBDIR={libdir}", staged / "usr", libdir)
            stray = [str(path) for path in staged.rglob("*") if path.is_file()
                     and path.relative_to(staged / "usr").parts[0] not in ("include", "lib", "lib64", "share")]
            naming = [str(path) for path in staged.rglob("*") if path.is_file() and folder.encode() in path.read_bytes()]
            say(f"{'not ok' if stray + naming else 'ok'} - files lie where they belong and none names DESTDIR {stray + naming}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path, nargs="?")
    parser.add_argument("libdir", nargs="?", default="lib")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--flags", default="")
    parser.add_argument("--runner", default="")
    given = parser.parse_args()
    if given.prefix:
        pages(given.prefix.name, given.prefix.resolve())
        check(given.prefix.name, given.prefix.resolve(), given.libdir,
              [given.kind] if given.kind else KINDS, given.flags.split(), given.runner.split())
    else:
        installed()
    print(f"{COUNT.passed} passed, {COUNT.failed} failed, {COUNT.skipped} skipped")
    sys.exit(1 if COUNT.failed or not COUNT.passed else 0)
