"""Changes the sources one small thing at a time, by cargo-mutants, and fails where no test notices and no reason stands
in mutants.toml.

`mutants.py [--every N] [FILE…]`: cargo-mutants lists the changes; all of them stand in one build, each behind a switch.
A first run of each test says which switches it passes, so that a mutant meets only tests that can notice it: its
file's own, and those that pass the fewest others. `--every 10` tries each tenth. Only the standard library is needed; the tools are installed where they
are missing.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import named
from broken import copy_tree
from runners import MEMORY

ROOT, HERE = named.ROOT, Path(__file__).resolve().parent
BUILD = ROOT / "build/mutants"
COPY, TARGET = BUILD / "tree", BUILD / "target"
#: Writes the mutants into the sources.
OWN = "leafid-switches"
#: A test that takes so much longer than on the code as it is hangs: times, and seconds at least.
TIMES, LEAST = 8, 10
#: Seconds; a test that takes longer is left out.
LONGEST = 10
#: Tests that a mutant meets. Where so many pass by, the most are of something else.
MOST = 100
#: Most tests wait more than they compute.
AT_ONCE = 4 * os.cpu_count()

#: Appended to the core: which mutant is made, and where the environment asks for it, which were passed.
SWITCH = """
extern crate self as leafid_core;
extern crate std;
#[doc(hidden)]
pub mod mutant {
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    static CHOSEN: AtomicUsize = AtomicUsize::new(0);
    static PASSED: [AtomicBool; 8192] = [const { AtomicBool::new(false) }; 8192];
    #[cold]
    fn choose() -> usize {
        let said = std::env::var("LEAFID_MUTANT").ok().and_then(|text| text.parse().ok());
        let chosen = said.map_or(if std::env::var_os("LEAFID_PASSED").is_some() { 2 } else { 1 }, |number: usize| number + 3);
        CHOSEN.store(chosen, Relaxed);
        chosen
    }
    pub const fn on(number: usize) -> bool {
        core::intrinsics::const_eval_select((number,), never, made)
    }
    const fn never(_: usize) -> bool {
        false
    }
    #[inline]
    fn made(number: usize) -> bool {
        let mut chosen = CHOSEN.load(Relaxed);
        if chosen == 0 {
            chosen = choose();
        }
        if chosen == 2 && !PASSED[number].swap(true, Relaxed) {
            let file = std::fs::OpenOptions::new().write(true).open(std::env::var_os("LEAFID_PASSED").unwrap());
            let _ = file.and_then(|file| file.write_at(b"1", number as u64));
        }
        chosen == number + 3
    }
}
"""


def installed(name, *source):
    """A program of the tools, built where it is missing; our own is built again, as it may have changed."""
    program = BUILD / "tools/bin" / name
    if name != OWN and (shutil.which(name) or program.exists()):
        return shutil.which(name) or program
    print(f"{name} is built", flush=True)
    install = ["cargo", "install", "--quiet", "--debug", "--root", BUILD / "tools", "--target-dir", BUILD / "tools/target"]
    subprocess.run([*install, *source], check=True)
    return program


def cargo(command, *arguments):
    """Runs cargo in the copy and answers its messages."""
    words = ["cargo", command, f"--target-dir={TARGET}", "--message-format=json", *arguments]
    environment = os.environ | {"CARGO_PROFILE_DEV_DEBUG": "0", "RUSTFLAGS": "--cap-lints=allow", "RUSTC_BOOTSTRAP": "1"}
    done = subprocess.run(words, cwd=COPY, env=environment, stdout=subprocess.PIPE, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def culprits(message, primary=True):
    """The mutants that a compiler's error is about: the last switch before it in the innermost change around it."""
    numbers = set()
    for span in message["spans"]:
        file = COPY / span["file_name"]
        if not file.exists() or span["is_primary"] != primary:
            continue
        text, at = file.read_bytes(), span["byte_start"]
        if (message["code"] or {}).get("code") == "E0004":
            # A match that needs each of its arms: the next that is left out.
            numbers.add(int(re.compile(rb"!::leafid_core::mutant::on\((\d+)\) /\*>").search(text, at)[1]))
            continue
        begun = []
        for mark in re.finditer(rb"/\*([<>])\*/", text[: at + 1]):
            begun = [*begun, mark.end()] if mark[1] == b"<" else begun[:-1]
        if not begun:
            continue
        before = re.findall(rb"mutant::on\((\d+)\)", text[begun[-1] : span["byte_end"]])
        inside = text[begun[-1] : text.find(b"/*>*/", begun[-1])]
        numbers |= {int(before[-1])} if before else set(map(int, re.findall(rb"mutant::on\((\d+)\)", inside)))
    return numbers if numbers or not primary else culprits(message, False)


def build(switches, mutants, targets):
    """Builds the tests with all mutants that compile; answers their programs, and the mutants that are left out."""
    listed, unswitched = BUILD / "list.json", set()
    while True:
        copy_tree(COPY)
        library = COPY / "core/src/lib.rs"
        library.write_text("#![feature(const_eval_select, core_intrinsics)]\n" + library.read_text() + SWITCH)
        listed.write_text(json.dumps(mutants))
        unswitched |= set(map(int, subprocess.run([switches, listed, COPY], check=True, stdout=subprocess.PIPE).stdout.split()))
        status, said = cargo("check", "-pleafid-core", "-pleafid")
        errors = [each["message"] for each in said if each["reason"] == "compiler-message" and each["message"]["level"] == "error"]
        if status == 0:
            break
        wrong = set().union(*map(culprits, errors))
        if not wrong:
            sys.exit("\n".join(each["rendered"] for each in errors))
        print(f"{len(wrong)} mutants do not compile and are left out", flush=True)
        for number in wrong:
            mutants[number]["left_out"] = True
    programs = []
    for package, its in targets.items():
        status, said = cargo("test", "--no-run", f"-p{package}", *its)
        if status != 0:
            sys.exit("".join(each["message"]["rendered"] for each in said if each["reason"] == "compiler-message"))
        found = [each for each in said if each["reason"] == "compiler-artifact" and each["executable"] and each["profile"]["test"]]
        programs += [(each["target"]["name"], each["executable"], Path(each["manifest_path"]).parent) for each in found]
    return programs, unswitched


def limits():
    resource.setrlimit(resource.RLIMIT_AS, MEMORY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(test, seconds, **more):
    """Whether a test passes; None where it had to be killed. It gets a temporary folder of its own."""
    _, program, folder, name = test
    with tempfile.TemporaryDirectory(prefix="leafid-mutant-") as temporary:
        process = subprocess.Popen(
            [program, "--exact", name], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": temporary, "RUST_BACKTRACE": "0", "CARGO_MANIFEST_DIR": str(folder)} | more,
            start_new_session=True, preexec_fn=limits,
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
        return None if status is None else status == 0


def first_run(programs, count):
    """The tests that pass on the code as it is, those of the fewest mutants first, each with its time and these."""

    def one(test):
        with tempfile.NamedTemporaryFile() as passed:
            passed.truncate(count)
            begun = time.monotonic()
            well = run(test, 60, LEAFID_PASSED=passed.name)
            marks = Path(passed.name).read_bytes()
            return well, time.monotonic() - begun, test, {number for number in range(count) if marks[number : number + 1] == b"1"}

    tests = []
    for name, program, folder in programs:
        said = subprocess.run([program, "--list", "--format=terse"], cwd=folder, stdout=subprocess.PIPE, text=True).stdout
        tests += [(name, program, folder, line.removesuffix(": test")) for line in said.splitlines() if line.endswith(": test")]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        ended = list(pool.map(one, tests))
    out = [f"{test[0]}::{test[3]} ({seconds:.0f} s)" for well, seconds, test, _ in ended if not well or seconds > LONGEST]
    if out:
        print(f"{len(out)} of {len(ended)} tests are slow, or fail alone, and notice nothing: {', '.join(out)}", flush=True)
    return sorted((each[1:] for each in ended if each[0] and each[1] <= LONGEST), key=lambda each: len(each[2]))


def ending(number, mutant, tests):
    """How a mutant ended, and by which test."""
    module = mutant["file"].partition("/src/")[2].removesuffix(".rs").replace("/", "::")
    passing = [each[:2] for each in tests if number in each[2]]
    passing.sort(key=lambda each: not each[1][3].startswith(f"{module}::"))
    for seconds, test in sorted(passing[:MOST], key=lambda each: each[0]):
        well = run(test, max(LEAST, TIMES * seconds), LEAFID_MUTANT=str(number))
        if not well:
            return "hung" if well is None else "caught", f"{test[0]}::{test[3]}"
    return "missed", "" if passing else "no test passes it"


def reason(mutant, survivors):
    """Why no test notices a mutant; none if that is not known. Its line and column are no part of what is known."""
    name = re.sub(r":\d+:\d+:", ":", mutant)
    return next((each["why"] for each in survivors if name in each["mutants"]), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    plan = tomllib.loads((HERE / "mutants.toml").read_text())
    packages = {"core": "leafid-core", "bindings": "leafid"}
    wanted = {packages.get(file.partition("/")[0]) for file in arguments.files}
    plans = [each for each in plan["package"] if not wanted or each["name"] in wanted]
    files = arguments.files or [file for each in plans for file in each["files"]]
    targets = {each["name"]: each["tests"] for each in plans}
    if not targets:
        sys.exit(f"mutants.toml names no tests for {arguments.files}")
    BUILD.mkdir(parents=True, exist_ok=True)
    lister = installed("cargo-mutants", "cargo-mutants", "--locked")
    switches = installed(OWN, "--locked", "--path", HERE / "switches")
    command = [lister, "mutants", "--list", "--json", "--exclude=**/{fuzzing,simulated}.rs", "--exclude=**/fuzzing/**", *(f"--package={name}" for name in targets), *(f"--file={file}" for file in files)]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    for mutant in mutants:
        del mutant["diff"]
    programs, unswitched = build(switches, mutants, targets)
    tests = first_run(programs, len(mutants))
    print(f"{len(mutants)} mutants, {len(tests)} tests", flush=True)
    tried = [number for number, each in enumerate(mutants) if number not in unswitched and not each.get("left_out")][:: arguments.every]
    count, unexplained = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool, (BUILD / "ended.txt").open("w") as log:
        for number, (how, test) in zip(tried, pool.map(lambda number: ending(number, mutants[number], tests), tried)):
            name = mutants[number]["name"]
            count[how] += 1
            print(how, name, test, sep="\t", file=log, flush=True)
            if how == "missed":
                why = reason(name, plan.get("survivor", []))
                count["explained"] += why is not None
                if not why:
                    unexplained.append(name)
                    print(f"NO TEST NOTICES: {name}{test and ': '}{test}", flush=True)
    print(
        f"{len(mutants)} mutants: {sum(each.get('left_out', False) for each in mutants)} do not compile, {len(unswitched)} cannot be "
        f"switched; {len(tried)} tried: {count['caught']} caught, {count['hung']} hung, {count['missed']} missed, of which "
        f"{count['explained']} have a reason in mutants.toml"
    )
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
