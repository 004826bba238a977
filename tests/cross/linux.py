#!/usr/bin/env python3
"""Other kinds of Linux, built and tested on x86-64: linux.py [glibc] [musl] [aarch64]; all of them if none is named.

* glibc: the C library for glibc 2.17, by zig. It asks for no newer symbol, and the C tests run with it.
* musl: the C library and the command line, static. The C tests run.
* aarch64: the C library, the core and the host, under qemu-user. What that cannot run is listed below by name.

Programs are built without optimisation over crates, which would take minutes; those of musl without any. Each target
ends with "N passed, N failed, N skipped" of its C tests. What is missing is installed from Debian's packages by root, and from rustup.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/cross"
TARGET_DIR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
ENVIRONMENT = {**os.environ, "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
               "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"}
QEMU = "qemu-aarch64-static -L /usr/aarch64-linux-gnu"
#: The C tests that qemu-user cannot run, and why. It wipes no memory in a fork (MADV_WIPEONFORK), so that leafid refuses
#: children that no fork handler saw; and its vfork is a fork.
NOT_UNDER_QEMU = [
    "no callback in raw clones", "_Fork", "raw clone",
    "a child of vfork takes ids of segments, and its parent goes on",
    "a child of vfork takes ids of a snowflake, and its parent goes on",
    "calls under a storm of signals, in a raw clone",
    # Nor can the C library of aarch64, where a stack has at least 128 KiB.
    "ids on a stack of 16 KiB", "an opening on a stack of 16 KiB is refused",
]
#: The host's tests that it cannot run, and why.
HOST_NOT_UNDER_QEMU = [
    # As above: raw clones get ids, a check finds all well, ids come from memory alone, a child of vfork shares memory.
    "range_children_and_grandchildren_get_ids_of_their_own", "a_child_that_ends_leaves_the_parent_s_record_and_lock",
    "a_check_that_finds_all_well_leaves_nothing_behind", "no_thread_begins_but_for_who_waits",
    "a_child_takes_ids_of_segments_and_its_parent_goes_on", "a_child_takes_ids_of_a_snowflake_and_its_parent_goes_on",
    # A child that is forked while another thread starts a thread can start none: qemu's own lock stays taken in it.
    "forks_while_other_threads_ask", "forks_while_other_threads_issue_and_open",
    # It takes no filters of system calls.
    "a_process_without_host_locks_holds_a_worker_id_once",
    "a_child_has_no_worker_id_that_nothing_keeps_from_its_parent",
    "a_file_of_leafid_s_that_may_not_be_locked_is_no_stranger_s",
    # Only slow: it computes for a minute.
    "simulation::cluster",
]


def run(*command, **settings):
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True, env={**ENVIRONMENT, **settings})


def need(target, *programs):
    """`programs`: each with its Debian package, as tests/debian.sh wants them."""
    run("sh", "tests/debian.sh", *programs)
    libraries = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True)
    if not Path(libraries.stdout.strip()).is_dir():
        run("rustup", "target", "add", target)


def c_tests(target, *names, compiler, profile="release", native_libs=None, shared=True, skip=(), flags=()):
    """Stages the C library of the target, and runs its tests."""
    built = TARGET_DIR / target / profile
    stage = BUILD / target
    settings = {} if native_libs is None else {"NATIVE_LIBS": native_libs}
    # Where there is no shared library, the static one takes its place and is not used.
    run("sh", "bindings/c/stage.sh", built / f"libleafid_c.{'so' if shared else 'a'}", built / "libleafid_c.a", stage, **settings)
    run("python3", "tests/c/run.py", stage, BUILD / f"{target}-tests",
        *names, *flags, CC=compiler, CXX="", LEAFID_TEST_SKIP=";".join(skip))


def glibc():
    target = "x86_64-unknown-linux-gnu"
    run("make", "--no-print-directory", "build/venv-packaging/done")
    run(ROOT / "build/venv-packaging/bin/cargo-zigbuild", "zigbuild", "--release", "--quiet", "-p", "leafid-c",
        "--target", f"{target}.2.17", PATH=f"{ROOT}/build/venv-packaging/bin:{os.environ['PATH']}")
    library = TARGET_DIR / target / "release/libleafid_c.so"
    versions = subprocess.run(["readelf", "-VW", library], capture_output=True, text=True, check=True).stdout
    newest = max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", versions))
    print(f"{'ok' if newest <= (2, 17) else 'not ok'} - libleafid.so asks for glibc {'.'.join(map(str, newest))} at most")
    if newest > (2, 17):
        sys.exit(1)
    c_tests(target, "vectors", "generate", "forks", "segments", "segment_servers", compiler="cc", flags=["--kind", "shared"])


def musl():
    target = "x86_64-unknown-linux-musl"
    need(target, "musl-gcc:musl-tools")
    linking = {"CC_x86_64_unknown_linux_musl": "musl-gcc"}
    run("cargo", "rustc", "--quiet", "--target", target, "-p", "leafid-c", "--lib", "--crate-type", "staticlib", **linking)
    run("cargo", "build", "--quiet", "--target", target, "-p", "leafid", "-p", "leafid-one-build", "--bin", "leafid",
        **linking)
    program = TARGET_DIR / target / "debug/leafid"
    static = "NEEDED" not in subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    said = subprocess.run([program, "decode", "1169786042799259000"], capture_output=True, text=True).stdout
    right = said.endswith("worker 39\tsequence 3448\n") and static
    print(f"{'ok' if right else 'not ok'} - the command line needs no library and decodes {said}", end="", flush=True)
    if not right:
        sys.exit(1)
    # Debian's libgcc_eh is made for glibc. Rust brings LLVM's.
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    unwinding = f"{sysroot}/lib/rustlib/{target}/lib/self-contained/libunwind.a"
    c_tests(target, compiler="musl-gcc", profile="debug", native_libs=unwinding, shared=False, flags=["--kind", "static", "--flags=-static"])


def aarch64():
    target = "aarch64-unknown-linux-gnu"
    need(target, "aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc:libc6-dev-arm64-cross",
         "qemu-aarch64-static:qemu-user-static")
    settings = {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc",
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER": QEMU, "LEAFID_TEST_RUNNER": QEMU}
    run("cargo", "rustc", "--release", "--quiet", "--target", target, "-p", "leafid-c", "--lib", "--crate-type", "cdylib,staticlib", **settings)
    c_tests(target, compiler="aarch64-linux-gnu-gcc", skip=NOT_UNDER_QEMU, flags=["--kind", "static", "--runner", QEMU])
    tests = ["--release", "--quiet", "--target", target, "--lib", "--tests"]
    run("cargo", "test", *tests, "-p", "leafid-core", **settings)
    # One at a time: a child of a fork hangs if another thread starts one at that moment.
    run("cargo", "test", *tests, "-p", "leafid", "--",
        *(word for name in HOST_NOT_UNDER_QEMU for word in ("--skip", name)), **settings, RUST_TEST_THREADS="1")


if __name__ == "__main__":
    kinds = {"glibc": glibc, "musl": musl, "aarch64": aarch64}
    if unknown := set(sys.argv[1:]) - set(kinds):
        sys.exit(f"{', '.join(sorted(unknown))}: unknown; allowed: {', '.join(kinds)}")
    BUILD.mkdir(parents=True, exist_ok=True)
    for kind in sys.argv[1:] or kinds:
        print(f"== {kind}", flush=True)
        try:
            kinds[kind]()
        except subprocess.CalledProcessError as error:
            sys.exit(f"{kind}: {' '.join(map(str, error.cmd))} ended with {error.returncode}")
