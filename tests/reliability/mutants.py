"""Changes the sources one small thing at a time, by cargo-mutants, and fails where no test notices and no reason stands
in mutants.toml.

`mutants.py [FILE…]`: each file with the tests that mutants.toml names for it. Only the standard library is needed; the
tool is installed where it is missing.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import named
from broken import copy_tree
from runners import QUICK

ROOT, HERE = named.ROOT, Path(__file__).resolve().parent
#: The tree is copied, so that one which is ended in the midst of a change has changed nothing; and what was built stays.
COPY, TOOLS, OUT = ROOT / "build/mutants/tree", ROOT / "build/mutants/tool", ROOT / "build/mutants/out"
#: Seconds for the tests of one file, and for a build, on a busy machine.
LONGEST, LONGEST_BUILD = 120, 900
KINDS = ("caught", "missed", "timeout", "unviable")


def tool():
    """cargo-mutants: one that is there, or a new one."""
    found = shutil.which("cargo-mutants") or TOOLS / "bin/cargo-mutants"
    if not Path(found).exists():
        print(f"cargo-mutants is missing: it is built from crates.io into {TOOLS}, which takes some minutes", flush=True)
        install = ["cargo", "install", "cargo-mutants", "--locked", "--debug", "-j1", "--root", TOOLS]
        subprocess.run(install, check=True)
    return found


def run(mutants, group, files):
    """Tries the mutants of some files of a group; answers their names by how they ended."""
    out = OUT / group["name"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = [mutants, "mutants", "--in-place", "--no-shuffle", f"--output={out}", f"--package={group['package']}"]
    command += [f"--timeout={LONGEST}", f"--build-timeout={LONGEST_BUILD}", "--colors=never", "--no-times"]
    command += [f"--file={file}" for file in files]
    command += [f"--cargo-arg={word}" for word in QUICK] + ["--", *group["tests"]]
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(COPY.parent / "target"), "CARGO_PROFILE_DEV_DEBUG": "0", "RUST_BACKTRACE": "0"
    }
    subprocess.run(command, cwd=COPY, env=environment)
    ended = {}
    for kind in KINDS:
        file = out / "mutants.out" / f"{kind}.txt"
        ended[kind] = file.read_text().splitlines() if file.exists() else []
    if not any(ended.values()):
        sys.exit(f"{group['name']}: no mutant was tried; see above")
    return ended


def reason(mutant, survivors):
    """Why no test notices a mutant; none if that is not known. Its line and column are no part of what is known."""
    name = re.sub(r":\d+:\d+:", ":", mutant)
    return next((each["why"] for each in survivors if name in each["mutants"]), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    wanted = parser.parse_args().files
    plan = tomllib.loads((HERE / "mutants.toml").read_text())
    groups = [(group, [file for file in group["files"] if not wanted or file in wanted]) for group in plan["group"]]
    unknown = set(wanted) - {file for _, files in groups for file in files}
    if unknown:
        sys.exit(f"mutants.toml names no tests for {sorted(unknown)}")
    mutants, count, unexplained = tool(), collections.Counter(), []
    copy_tree(COPY)
    for group, files in groups:
        if not files:
            continue
        ended = run(mutants, group, files)
        for kind, names in ended.items():
            count[kind] += len(names)
        for mutant in ended["missed"]:
            why = reason(mutant, plan.get("survivor", []))
            count["explained"] += why is not None
            unexplained += [] if why else [mutant]
    for mutant in unexplained:
        print(f"NO TEST NOTICES: {mutant}")
    print(
        f"{sum(count[kind] for kind in KINDS)} mutants: {count['caught']} caught, {count['timeout']} hung, {count['unviable']} "
        f"do not compile, {count['missed']} missed, of which {count['explained']} have a reason in mutants.toml"
    )
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
