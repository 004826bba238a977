#!/usr/bin/env python3
"""The interface for binaries of each C library is that of the last release, or more.

A library of empty functions is made from the header, with debug information, and one from the header of the last
release; libabigail compares them. That the real library has these functions is tested by exports.py, and that the
header is Rust's by cbindgen's test.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, c_compiler

sys.path.append(str(ROOT / "packaging"))
from version import git, last_release  # noqa: E402

LIBRARIES = {"leafid": "libleafid.so.0", "leafid_core": "libleafid_core.so.0"}


def stubs(header: str) -> str:
    """All functions of a header with bodies; its enums and constants, which functions take as plain numbers, too."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.S)
    constants = re.findall(r"^#define (LEAFID_\w+) (\d+)$", code, re.M)
    code = re.sub(r"^#[^\n]*", "", code, flags=re.M)
    functions = re.findall(r"^(?:LEAFID_(?:CORE_)?MUST_USE\s+)?((?:const )?\w+[ *]+leafid_\w+\([^;{}]*\))(?:\s+LEAFID_(?:CORE_)?MUST_USE)?;", code, re.M)
    enums = re.findall(r"^enum (\w+)", code, re.M)
    # As in exports.py.
    if len(functions) != len(set(re.findall(r"\b(leafid_\w+)\s*\(", code))) or not enums:
        sys.exit("the header is not read as before: mend stubs() in tests/c/abi.py")
    lines = [f"{function} {{ __builtin_trap(); }}" for function in functions]
    lines += [f"void abi_enum_{name}(enum {name} value) {{ (void)value; }}" for name in enums]
    lines += [f"char *abi_constant_{name}(char (*value)[{value}]) {{ return *value; }}" for name, value in constants]
    return "\n".join(lines) + "\n"


def library_of(header: str, soname: str, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    source, library = folder / "stubs.c", folder / soname
    source.write_text(header + stubs(header))
    flags = ["-g", "-O0", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}"]
    subprocess.run([c_compiler(), *flags, source, "-o", library], check=True)
    return library


def changes(before: Path, library: Path) -> str:
    """What breaks programs that were built before. A new function, or a new number of an enum, does not."""
    done = subprocess.run(["abidiff", "--no-added-syms", "--no-show-locs", before, library],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.strip() or f"abidiff ended with {done.returncode}" if done.returncode else ""


def blind(folder: Path) -> list[str]:
    """The changes of leafid.h that this check gets wrong."""
    header = (ROOT / "include/leafid.h").read_text()
    before = library_of(header, LIBRARIES["leafid"], folder / "before")
    wrong = []
    for what, old, new, breaks in [
        ("a function less", "leafid_status leafid_decode(", "leafid_status leafid_other(", True),
        ("an argument wider", "leafid_status_name(int32_t", "leafid_status_name(int64_t", True),
        ("a field narrower", "  uint32_t worker_id;\n", "  uint8_t worker_id;\n", True),
        ("another number", "LEAFID_ORDER_SEQUENCE_WORKER = 1", "LEAFID_ORDER_SEQUENCE_WORKER = 2", True),
        ("another size", "#define LEAFID_MOST_PEERS ", "#define LEAFID_MOST_PEERS 1", True),
        ("a function more", "leafid_status leafid_decode(", "leafid_status leafid_more(void);\nleafid_status leafid_decode(", False),
        ("a number more", "LEAFID_INTERNAL = 16\n", "LEAFID_INTERNAL = 16, LEAFID_MORE = 17\n", False),
    ]:
        if old not in header:
            sys.exit(f"{old!r} is not in leafid.h: mend blind() in tests/c/abi.py")
        library = library_of(header.replace(old, new, 1), LIBRARIES["leafid"], folder / "changed")
        if bool(changes(before, library)) != breaks:
            wrong.append(what)
    return wrong


def main() -> int:
    failed, release = False, last_release()
    with tempfile.TemporaryDirectory(prefix="leafid-abi-") as work:
        folder = Path(work)
        for name, soname in LIBRARIES.items():
            header = (ROOT / f"include/{name}.h").read_text()
            library = library_of(header, soname, folder / "now")
            if not release:
                print(f"skipped - {soname}: NOT CHECKED, this clone does not have the last release")
                continue
            released = library_of(git("show", f"{release[1]}:include/{name}.h"), soname, folder / "released")
            found = changes(released, library)
            print(f"not ok - {soname}:\n{found}" if found else f"ok - {soname}: {stubs(header).count('_trap()')} functions, as in {release[0]}")
            failed |= bool(found)
        if not failed and (wrong := blind(folder)):
            sys.exit(f"not ok - this check does not tell: {', '.join(wrong)}")
    if failed:
        print("Programs that were built with the last release may break: undo it, or see docs/ABI.md.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
