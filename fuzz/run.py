#!/usr/bin/env python3
"""Builds the fuzz targets, and runs each for this many seconds: `run.py SECONDS [TARGET]…`.

They begin with the seeds that seeds.py made, and with what an earlier run below build/fuzz/TARGET found worth keeping.
SEED=2 draws other inputs than SEED=1, 0 others each time. What fails goes to build/fuzz/TARGET-failure-…: run the target
on that file to see it, and keep it in fuzz/found.py.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
TARGETS = sorted(path.stem for path in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs"))
#: As cargo-fuzz has them.
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg",
    "fuzzing",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
]
#: One run may take this long, in seconds, and the whole process so much memory, in MiB.
LONGEST, MEMORY = 20, 1_500


def toolchain() -> tuple[list[str], list[str]]:
    """How cargo is called, and the flags of a sanitizer: none without a nightly toolchain."""
    nightly = ["rustup", "run", "nightly"]
    if shutil.which("rustup"):
        found = subprocess.run([*nightly, "rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
        if found.returncode == 0 and list(Path(found.stdout.strip()).glob("lib/rustlib/*/lib/*asan*")):
            return nightly, ["-Zsanitizer=address"]
    return [], []


def build() -> Path:
    """Builds all targets, and answers where they are."""
    run, sanitizer = toolchain()
    version = subprocess.run([*run, "rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = re.search(r"^host: (\S+)$", version, re.M).group(1)
    target = ROOT / "build" / "fuzz-target"
    flags = " ".join([*COVERAGE, *sanitizer])
    # With --target the flags are not those of build scripts and macros.
    command = [
        *run,
        "cargo",
        "build",
        "--quiet",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        host,
        "--target-dir",
        str(target),
    ]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTFLAGS": flags}, check=True)
    how = "under AddressSanitizer" if sanitizer else "without a sanitizer (there is no nightly toolchain)"
    print(f"fuzz targets built {how}", flush=True)
    return target / host / "release"


def fuzz(program: Path, name: str, seconds: int) -> tuple[bool, str]:
    """Runs one target. Answers whether it held, and its line."""
    new, log = BUILD / name, BUILD / f"{name}.log"
    known = BUILD / "seeds" / name
    for folder in (new, known):
        folder.mkdir(parents=True, exist_ok=True)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="leafid-fuzz-", dir=memory if memory.is_dir() else None) as scratch:
        command = [
            program,
            new,
            known,
            f"-max_total_time={seconds}",
            f"-seed={os.environ.get('SEED') or 1}",
            "-max_len=12000",
            f"-timeout={LONGEST}",
            f"-rss_limit_mb={MEMORY}",
            "-print_final_stats=1",
            "-verbosity=1",
            f"-artifact_prefix={BUILD}/{name}-failure-",
        ]
        env = {
            **os.environ,
            "LEAFID_FUZZ_DIR": scratch,
            "ASAN_OPTIONS": "detect_leaks=0:detect_odr_violation=0",
            "NO_PROXY": "*",
        }
        begun = time.monotonic()
        with open(log, "wb") as out:
            process = subprocess.Popen(command, cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            try:
                status = process.wait(seconds + 120)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
    text = log.read_text(errors="replace")
    runs = re.search(r"stat::number_of_executed_units: (\d+)", text)
    more = re.search(r"stat::new_units_added: +(\d+)", text)
    inputs = re.search(r"INITED cov: (\d+)", text)
    covered = re.findall(r" cov: (\d+) ", text)
    if status == 0 and runs and int(runs.group(1)) > 0 and inputs:
        line = (
            f"fuzz {name}: {runs.group(1)} runs in {time.monotonic() - begun:.0f} s, {more.group(1)} new inputs, "
            f"{covered[-1]} edges, no failure, duplicates 0"
        )
        return True, line
    tail = [line for line in text.splitlines() if "panicked" in line or "ERROR" in line or "written to" in line]
    return False, "\n".join([f"FAILED fuzz {name}: status {status}, see {log}", *tail[:8], *text.splitlines()[-6:]])


def main(arguments: list[str]) -> int:
    programs = build()
    if arguments == ["--build"]:
        return 0
    seconds, names = int(arguments[0]), arguments[1:] or TARGETS
    unknown = sorted(set(names) - set(TARGETS))
    if unknown or seconds < 1:
        print(f"there is no target {unknown}, only {TARGETS}; SECONDS is 1 or more", file=sys.stderr)
        return 2
    failed = False
    # As many at a time as there are processors.
    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        for held, line in pool.map(lambda name: fuzz(programs / name, name, seconds), names):
            print(line, flush=True)
            failed |= not held
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
