#!/usr/bin/env python3
"""The staged C library exports what its header declares, and the headers compile on their own: exports.py STAGE

The library of any system, by the compilers that CC and CXX name. What reads libraries of macOS comes with rustup.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import STRICT, c_compiler, cxx_compiler

stage = Path(sys.argv[1]).resolve()
failed = []


def lines(*command) -> list[str]:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900, check=True)
    return done.stdout.splitlines()


def check(what: str, holds: bool, detail: object = "") -> None:
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"))
    failed.extend([] if holds else [what])


def llvm(tool: str) -> Path:
    sysroot = lines("rustc", "--print", "sysroot")[0]
    found = next(Path(sysroot).glob(f"lib/rustlib/*/bin/llvm-{tool}"), None)
    return found or sys.exit(f"llvm-{tool} is missing (rustup component add llvm-tools)")


def elf(library: Path) -> set[str]:
    if not shutil.which("nm") or not shutil.which("readelf"):
        sys.exit("nm and readelf are missing (Debian: apt-get install binutils)")
    dynamic = "\n".join(lines("readelf", "-d", library))
    check("the SONAME is libleafid.so.0", "[libleafid.so.0]" in dynamic, dynamic)
    check("the library stays loaded (-z nodelete)", "NODELETE" in dynamic, dynamic)
    return {line.split()[-1] for line in lines("nm", "-D", "--defined-only", library)}


def windows(library: Path) -> set[str]:
    said = "\n".join(lines("x86_64-w64-mingw32-objdump", "-p", library))
    table = said.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    return set(re.findall(r"^\t\[ *\d+\].*?(\w+)$", table, re.M))


def macos(library: Path) -> set[str]:
    named = "\n".join(lines(llvm("objdump"), "--macho", "--dylib-id", library))
    check("the install name is @rpath/libleafid.0.dylib", named.endswith("\n@rpath/libleafid.0.dylib"), named)
    names = {line.removeprefix("_") for line in lines(llvm("nm"), "-g", "--defined-only", "--just-symbol-name", library)}
    # zig's linker exports all there is, whatever its options. Apple's does not.
    return {name for name in names if name.startswith("leafid_")}


# Not /dev/null, which not every compiler takes.
OBJECT = Path(tempfile.mkdtemp(prefix="leafid-exports-")) / "out.o"
KINDS = {"bin/leafid.dll": windows, "lib/libleafid.dylib": macos, "lib/libleafid.so": elf}
header = (stage / "include/leafid.h").read_text()
code = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", header, flags=re.S | re.M)
declared = set(re.findall(r"\b(leafid_\w+)\s*\(", code))
library, kind = next((stage / name, kind) for name, kind in KINDS.items() if (stage / name).exists())
exported = kind(library)
check(f"{library.name} exports the functions of leafid.h and nothing else", declared == exported and len(declared) > 30,
      sorted(declared ^ exported))
symbols = lines(llvm("nm") if kind is macos else "nm", "-g", "--defined-only", stage / "lib/libleafid.a")
archived = {line.split()[-1].removeprefix("_") for line in symbols if " T " in line}
check("libleafid.a has them too, as machine code", declared <= archived, sorted(declared - archived))

compilers = [[c_compiler(), "-x", "c"]]
if cxx_compiler():
    compilers.append([cxx_compiler(), "-x", "c++"])
else:
    print("skipped - leafid.hpp, and leafid.h in C++: no C++ compiler (Debian: apt-get install g++)")
if shutil.which("clang"):
    compilers += [["clang", "-x", "c"], ["clang", "-x", "c++"]]
for tool in compilers:
    is_c = tool[-1] == "c"
    for name in ["leafid.h"] if is_c else ["leafid.h", "leafid.hpp"]:
        for standard in ("c89", "c11", "c17") if is_c else ("c++17", "c++20"):
            warnings = [*STRICT, "-Wconversion", "-Wshadow", "-Wundef", *(["-Wstrict-prototypes"] if is_c else [])]
            if standard == "c89":
                warnings.append("-Wno-c99-extensions")  # stdbool.h is one
            done = subprocess.run([*tool, f"-std={standard}", *warnings, "-I", str(stage / "include"), "-c", "-", "-o", str(OBJECT)],
                                  input=f"#include <{name}>\nint unused(void);\n",
                                  capture_output=True, text=True, timeout=900)
            check(f"{name} compiles with {Path(tool[0]).name} -std={standard}", done.returncode == 0, done.stderr)

if cxx_compiler():
    done = subprocess.run([cxx_compiler(), "-x", "c++", "-std=c++14", "-I", str(stage / "include"), "-fsyntax-only", "-"],
                          input="#include <leafid.hpp>\n", capture_output=True, text=True, timeout=900)
    check("leafid.hpp says that it needs C++17", "leafid.hpp needs C++17: compile with -std=c++17" in done.stderr, done.stderr)

# The examples in the comments at the top of the headers.
for (name, standard), tool in zip((("leafid.h", "c11"), ("leafid.hpp", "c++17")), compilers[:1 + bool(cxx_compiler())]):
    comment = (stage / "include" / name).read_text().split("*/")[0].partition(" * Example:")[2]
    body = "\n".join(line.removeprefix(" *") for line in comment.splitlines())
    body = f"#include <{name}>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    done = subprocess.run([*tool, f"-std={standard}", *STRICT, "-Wno-unused-variable", "-I", str(stage / "include"),
                           "-c", "-", "-o", str(OBJECT)], input=body, capture_output=True, text=True, timeout=900)
    check(f"the example in {name} compiles", done.returncode == 0 and body.count("leafid") > 3, done.stderr + body)
shutil.rmtree(OBJECT.parent)
print(f"{len(declared)} functions, {len(failed)} failed")
sys.exit(1 if failed else 0)
