#!/usr/bin/env python3
"""Everything for macOS, compiled and linked on Linux; nothing of it can run here: macos.py [arm64] [x86_64]; both if none is named.

Clippy goes over core, host and C library. The C library, the command line, the Node addon and the wheel are linked by zig,
without optimisation over crates, and each Mach-O file is read: its processor, the oldest macOS, the libraries it asks for,
what it exports. Programs in C are linked with the C library, shared and static.

Apple's frameworks are not to be had here. Stand-ins take their place, which hold whatever names the crates ask for: that
these names exist on macOS is not tested. The last line counts.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from linux import BUILD, ENVIRONMENT, ROOT, TARGET_DIR

TARGETS = {"arm64": "aarch64-apple-darwin", "x86_64": "x86_64-apple-darwin"}
OLDEST = "11.0"
#: The frameworks that crates ask for, and how names of them begin.
FRAMEWORKS = {"CoreFoundation": r"_k?CF\w+|___CFConstantStringClassReference", "Security": r"_k?(Sec|CMS|SSL|Authorization)\w+"}
STUBS = BUILD / "macos-frameworks"
VENV = ROOT / "build/venv-packaging/bin"
C_PROGRAMS = ["quickstart", "segments", "leases", "database_segments"]
SETTINGS = {
    **ENVIRONMENT,
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "MACOSX_DEPLOYMENT_TARGET": OLDEST,
    "RUSTFLAGS": f"-L framework={STUBS}",
    "PATH": f"{VENV}:{os.environ['PATH']}",
}
FAILED = []
PASSED = []


def run(*command, **options):
    """Answers what was written to standard output; the rest is shown if it fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=options.pop("cwd", ROOT), env={**SETTINGS, **options}, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def check(what, holds, detail=""):
    (PASSED if holds else FAILED).append(what)
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"), flush=True)


def llvm(tool):
    return next(Path(run("rustc", "--print", "sysroot").strip()).glob(f"lib/rustlib/*/bin/llvm-{tool}"))


def make_stubs(target):
    """Text that linkers take for a library: the names that the compiled crates do not have themselves."""
    crates = (TARGET_DIR / target / "debug/deps").glob("*.rlib")
    asked = set(run(llvm("nm"), "--undefined-only", "--just-symbol-name", *crates).split())
    for name, pattern in FRAMEWORKS.items():
        symbols = ", ".join(sorted(symbol for symbol in asked if re.fullmatch(pattern, symbol)))
        folder = STUBS / f"{name}.framework"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.tbd").write_text(
            "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n"
            f"install-name: /System/Library/Frameworks/{name}.framework/Versions/A/{name}\n"
            f"exports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    symbols: [ {symbols} ]\n...\n")


def check_file(path, kind, processor, exports=None):
    """`kind`: as Mach-O calls it; `exports`: what it must export, and nothing else of that beginning."""
    headers = run(llvm("objdump"), "--macho", "--private-headers", path)
    first = re.search(r"^MH_MAGIC_64 +(\w+) +\w+ +\w+ +(\w+)", headers, re.M)
    check(f"{path.name}: {kind} for {processor}", first and (first[1], first[2]) == (processor, kind), headers[:400])
    oldest = re.search(r"LC_BUILD_VERSION.*?platform (\w+).*?minos ([\d.]+)", headers, re.S)
    check(f"{path.name}: macOS {OLDEST} and later", oldest and oldest.groups() == ("macos", OLDEST), oldest and oldest[0])
    libraries = re.findall(r"cmd LC_LOAD_\w*DYLIB\n.*?name (\S+)", headers, re.S)
    strange = [name for name in libraries if not name.startswith(("/usr/lib/", "/System/Library/", "@rpath/libleafid."))]
    check(f"{path.name}: needs nothing that macOS has not", libraries and not strange, libraries)
    if exports:
        defined = set(run(llvm("nm"), "--extern-only", "--defined-only", "--just-symbol-name", path).split())
        check(f"{path.name}: exports {exports}", f"_{exports}" in defined, sorted(defined)[:50])


def build(processor):
    target = TARGETS[processor]
    built, stage = TARGET_DIR / target / "debug", BUILD / target
    name = {"arm64": "ARM64", "x86_64": "X86_64"}[processor]
    run(VENV / "cargo-zigbuild", "clippy", "--quiet", "--target", target, "-p", "leafid-core", "-p", "leafid", "-p", "leafid-c", "--", "-D", "warnings")
    check(f"clippy for {target}", True)
    zigbuild = [VENV / "cargo-zigbuild", "zigbuild", "--quiet", "--target", target]
    run(*zigbuild, "-p", "leafid", "-p", "leafid-one-build", "--lib", "--features", "leafid/cli,leafid/http")
    make_stubs(target)
    run(*zigbuild, "-p", "leafid", "-p", "leafid-c", "-p", "leafid-node")
    check_file(built / "leafid", "EXECUTE", name)
    check_file(built / "libleafid_node.dylib", "DYLIB", name, "napi_register_module_v1")
    run("sh", "bindings/c/stage.sh", built / "libleafid_c.dylib", built / "libleafid_c.a", stage)
    check_file(stage / "lib/libleafid.dylib", "DYLIB", name)
    c_programs(processor, stage, name)
    wheel(target, name)


def c_programs(processor, stage, name):
    compilers = {}
    for tool in ("cc", "c++"):
        compilers[tool] = BUILD / f"zig-{tool}-{processor}"
        target = f"{TARGETS[processor].split('-')[0]}-macos.{OLDEST}"
        compilers[tool].write_text(f'#!/bin/sh\nexec {VENV}/python -m ziglang {tool} -target {target} "$@"\n')
        compilers[tool].chmod(0o755)
    check("exports.py", True, print(run(sys.executable, "tests/c/exports.py", stage, CC=str(compilers["cc"]), CXX=str(compilers["c++"])), end=""))
    for program in C_PROGRAMS:
        for kind in ("shared", "static"):
            out = stage / f"{program}-{kind}"
            library = ["-L", stage / "lib", "-lleafid"] if kind == "shared" else [stage / "lib/libleafid.a", "-F", STUBS, "-framework", "Security", "-framework", "CoreFoundation"]
            run(compilers["cc"], "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{stage}/include", f"examples/{program}.c", *library, "-o", out)
            check_file(out, "EXECUTE", name)


def wheel(target, name):
    out = BUILD / "macos-wheels"
    run(VENV / "maturin", "build", "--zig", "--target", target, "--out", out, cwd=ROOT / "python")
    built = max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    check(f"{built.name}: the tag", re.search(rf"-abi3-macosx_11_0_{name.lower()}\.whl$", built.name), built.name)
    with zipfile.ZipFile(built) as archive:
        module = Path(archive.extract("leafid/_leafid.abi3.so", BUILD / target))
    check_file(module, "DYLIB", name, "PyInit__leafid")


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(TARGETS):
        sys.exit(f"{', '.join(sorted(unknown))}: unknown; allowed: {', '.join(TARGETS)}")
    for processor in sys.argv[1:] or TARGETS:
        build(processor)
    print(f"{len(PASSED)} passed, {len(FAILED)} failed")
    sys.exit(1 if FAILED else 0)
