#!/usr/bin/env python3
"""The staged C library exports what its header declares, and the headers compile on their own: exports.py STAGE"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from run import STRICT, c_compiler, cxx_compiler

stage = Path(sys.argv[1]).resolve()
failed = []


def lines(*command) -> list[str]:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


def check(what: str, holds: bool, detail: object = "") -> None:
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"))
    failed.extend([] if holds else [what])


if not shutil.which("nm") or not shutil.which("readelf"):
    sys.exit("nm and readelf are missing (Debian: apt-get install binutils)")

header = (stage / "include/leafid.h").read_text()
code = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", header, flags=re.S | re.M)
declared = set(re.findall(r"\b(leafid_\w+)\s*\(", code))
exported = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", stage / "lib/libleafid.so")}
check("libleafid.so exports the functions of leafid.h and nothing else", declared == exported and len(declared) > 30,
      sorted(declared ^ exported))
archived = {line.split()[-1] for line in lines("nm", "-g", "--defined-only", stage / "lib/libleafid.a") if " T " in line}
check("libleafid.a has them too, as machine code", declared <= archived, sorted(declared - archived))
dynamic = "\n".join(lines("readelf", "-d", stage / "lib/libleafid.so"))
check("the SONAME is libleafid.so.0", "[libleafid.so.0]" in dynamic, dynamic)
check("the library stays loaded (-z nodelete)", "NODELETE" in dynamic, dynamic)

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
        for standard in ("c11", "c17") if is_c else ("c++17", "c++20"):
            warnings = [*STRICT, "-Wconversion", "-Wshadow", "-Wundef", *(["-Wstrict-prototypes"] if is_c else [])]
            done = subprocess.run([*tool, f"-std={standard}", *warnings, "-I", str(stage / "include"), "-c", "-",
                                   "-o", "/dev/null"], input=f"#include <{name}>\nint unused(void);\n",
                                  capture_output=True, text=True, timeout=120)
            check(f"{name} compiles with {Path(tool[0]).name} -std={standard}", done.returncode == 0, done.stderr)

# The examples in the comments at the top of the headers.
for (name, standard), tool in zip((("leafid.h", "c11"), ("leafid.hpp", "c++17")), compilers[:1 + bool(cxx_compiler())]):
    comment = (stage / "include" / name).read_text().split("*/")[0].partition(" * Example:")[2]
    body = "\n".join(line.removeprefix(" *") for line in comment.splitlines())
    body = f"#include <{name}>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    done = subprocess.run([*tool, f"-std={standard}", *STRICT, "-Wno-unused-variable", "-I", str(stage / "include"),
                           "-c", "-", "-o", "/dev/null"], input=body, capture_output=True, text=True, timeout=120)
    check(f"the example in {name} compiles", done.returncode == 0 and body.count("leafid") > 3, done.stderr + body)
print(f"{len(declared)} functions, {len(failed)} failed")
sys.exit(1 if failed else 0)
