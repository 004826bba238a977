#!/usr/bin/env python3
"""Builds the tests of the core's C library, shared and static, and runs them; and examines the library: run.py STAGE OUT

The last line counts the tests: "N passed, N failed, N skipped".
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/c"))

from run import COUNT, STRICT, c_compiler, cxx_compiler, run, say  # noqa: E402

MOST_BYTES = 60_000
#: What the static library takes from C.
FROM_C = {"malloc", "aligned_alloc", "free", "abort", "memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"}


def check(what: str, holds: bool, detail: object = "") -> None:
    say(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"))


def lines(*command) -> list[str]:
    return run(command, capture_output=True, text=True).stdout.splitlines()


def examine(stage: Path) -> None:
    header = (stage / "include/leafid_core.h").read_text()
    code = re.sub(r"/\*.*?\*/|^#[^\n]*", "", header, flags=re.S | re.M)
    declared = set(re.findall(r"\b(leafid_core_\w+)\s*\(", code))
    shared, static = stage / "lib/libleafid_core.so", stage / "lib/libleafid_core.a"
    exported = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", shared)}
    check("the shared library exports the functions of leafid_core.h and nothing else",
          declared == exported and len(declared) > 10, sorted(declared ^ exported))
    symbols = [line.split()[-2:] for line in lines("nm", "-g", static) if len(line.split()) > 1]
    defined = {name for kind, name in symbols if kind != "U"}
    check("the static library too", defined == declared, sorted(defined ^ declared))
    # Arithmetic of 128 bits comes with the compiler.
    needed = {name for kind, name in symbols if kind == "U" and not re.fullmatch(r"__\w+ti3", name)}
    check("it needs nothing of C but memory and an end", needed <= FROM_C, sorted(needed - FROM_C))
    size = shared.stat().st_size
    check(f"the shared library has {size} bytes, at most {MOST_BYTES}", size <= MOST_BYTES)
    soname = [line for line in lines("readelf", "-d", shared) if "SONAME" in line]
    check("its SONAME is libleafid_core.so.0", "[libleafid_core.so.0]" in "".join(soname), soname)


def main() -> int:
    stage, out = (Path(name).resolve() for name in sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    examine(stage)
    run([sys.executable, ROOT / "tests/c/tables.py", ROOT / "tests/vectors", out])
    cc, include = c_compiler(), ["-I", stage / "include", "-I", out]
    empty = out / "empty.c"
    empty.write_text("#include <leafid_core.h>\nint unused(void);\n")
    for tool in [[cc, "-std=c99"], *([[cxx_compiler(), "-xc++", "-std=c++17"]] if cxx_compiler() else [])]:
        done = subprocess.run([*tool, *STRICT, "-Wconversion", *map(str, include), "-c", empty, "-o", out / "empty.o"])
        check(f"leafid_core.h compiles with {' '.join(tool)}", done.returncode == 0)
    for kind, library in {
        "shared": ["-L", stage / "lib", "-lleafid_core", f"-Wl,-rpath,{stage / 'lib'}"],
        "static": [stage / "lib/libleafid_core.a"],
    }.items():
        for name, source in {"core": HERE / "core.c", "embedded": ROOT / "examples/embedded.c"}.items():
            run([cc, "-std=gnu11", *STRICT, *include, source, "-pthread", *library, "-o", out / f"{name}-{kind}"])
        print(f"# core ({kind})", flush=True)
        done = subprocess.run([out / f"core-{kind}"], stdout=subprocess.PIPE, text=True, timeout=900)
        for line in done.stdout.splitlines():
            say(line)
        if done.returncode != ("not ok - " in done.stdout):
            say(f"not ok - core ({kind}) ended with {done.returncode}")
        (out / "until").unlink(missing_ok=True)
        ids = [int(line) for _ in range(3) for line in lines(out / f"embedded-{kind}", out / "until")]
        check(f"examples/embedded.c, three runs ({kind})", len(ids) == 30 and ids == sorted(set(ids)), ids)
    print(f"{COUNT.passed} passed, {COUNT.failed} failed, {COUNT.skipped} skipped")
    return 1 if COUNT.failed or not COUNT.passed else 0


if __name__ == "__main__":
    sys.exit(main())
