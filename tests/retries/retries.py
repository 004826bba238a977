"""Runs tests, and those that failed once more: `retries.py cargo|pytest|node|c COMMAND...`.

Many tests go by the clock, and a machine that stalls for a second fails some of them. With LEAFID_RETRY=1 those that
failed run once more, by themselves; a failure that stays fails the run. None has a second try that says that an id came
twice, nor a run that ended otherwise than by failing tests. Without it the command alone is run. Only the standard
library is needed.
"""

import os
import re
import subprocess
import sys
import tempfile

# Where a failing test of any language says its name and what it found, and the words of all of them for ids that came twice.
FAILING = re.compile(
    r"^(E|>)  |^FAILED|not so:| is -?[0-9]+, not -?[0-9]+$|^not ok|✖|^FAIL |panicked|ssertion|^ +(actual|expected):"
    r"| left: | right: |--- FAILED$"
)
ABOUT_IDS = re.compile(r"duplicat|twice|repeat|distinct|in common|each once|overlap|[^a-z]set\(", re.IGNORECASE)


def about_ids(output: str) -> bool:
    return any(FAILING.search(line) and ABOUT_IDS.search(line) for line in output.splitlines())


def cargo(command: list[str], output: str) -> list[list[str]]:
    """Each target that failed, and of it the tests that did."""
    if "process didn't exit successfully" in output:
        return []
    targets = re.findall(r"^    `(-p .+)`$", output, re.MULTILINE)
    lists = re.findall(r"^failures:\n((?:    \S.*\n)+)", output, re.MULTILINE)
    # Names of documentation tests have blanks, which do not reach them.
    if len(targets) != len(lists) or any("--doc" in target for target in targets):
        return []
    # For another machine, or for this one.
    at = command.index("--target") if "--target" in command else len(command)
    start = ["cargo", "test", "--quiet", *command[at : at + 2], *(["--release"] if "--release" in command else [])]
    return [
        [*start, *target.split(), "--", "--exact", *(name.strip() for name in names.splitlines())]
        for target, names in zip(targets, lists)
    ]


def pytest(command: list[str], output: str) -> list[list[str]]:
    failing = re.search("^(FAILED|ERROR) ", output, re.MULTILINE)
    return [[*command, "--last-failed", "--last-failed-no-failures=none"]] if failing else []


def node(command: list[str], output: str) -> list[list[str]]:
    """Files: a test may need those before it."""
    failing = set(re.findall(r"^test at (\S+?):\d+:\d+$", output, re.MULTILINE))
    kept = [word for word in command if not re.search(r"\.test\.[cm]js$", word)]
    return [[*kept, *sorted(failing)]] if failing else []


def c(command: list[str], output: str) -> list[list[str]]:
    """Programs, by the title above their lines."""
    failing, title = set(), ""
    for line in output.splitlines():
        if line.startswith("# "):
            title = line.split()[1]
        elif line.startswith("not ok - "):
            failing.add(title)
    return [[*command, *sorted(failing)]] if failing and not failing & {"", "packaging"} else []


SECOND = {"cargo": cargo, "pytest": pytest, "node": node, "c": c}


def run(command: list[str]) -> tuple[int, str]:
    """Its exit status, and what it printed, which is shown as it comes."""
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for line in started.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        lines.append(line.decode(errors="replace"))
    return started.wait(), "".join(lines)


def main(runner: str, command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="leafid-retries-") as cache:
        if runner == "cargo":
            command.insert(2, "--no-fail-fast")
        if runner == "pytest":
            command += ["-o", f"cache_dir={cache}"]
        status, output = run(command)
        if status == 0:
            return 0
        if about_ids(output):
            print("NOT AGAIN what failed is about ids that came twice", flush=True)
            return status
        commands = SECOND[runner](command, output)
        for again in commands:
            print("AGAIN", *again, flush=True)
            if (second := run(again)[0]) != 0:
                return second
        return 0 if commands else status


if __name__ == "__main__":
    if os.environ.pop("LEAFID_RETRY", "") != "1":
        os.execvp(sys.argv[2], sys.argv[2:])
    sys.exit(main(sys.argv[1], sys.argv[2:]))
