"""Breaks the rules of rules.toml on purpose, in a copy of the tree, and fails where a test does not notice.

`broken.py [RULE…] [--batch NAME]`: the breaks stand in breaks-*.toml. Those of one batch are in different
parts of the code, and are made together for the sake of one build. First the tests run on the code as it is. Only the
standard library is needed.
"""

import argparse
import re
import shutil
import sys
import time

import named
from runners import COPY, SAID, outcomes

ROOT = named.ROOT


def copy_tree(copy=COPY):
    """Brings a copy to the state of the tree; what is as it was keeps its time, so that it is not built again."""
    copy.mkdir(parents=True, exist_ok=True)
    for file in named.tracked_files():
        here, there = ROOT / file, copy / file
        if not there.exists() or there.read_bytes() != here.read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here, there)


def edit(broken):
    """The broken texts of the files of some breaks."""
    texts = {}
    for each in broken:
        for change in [each, *each.get("also", [])]:
            text = texts.get(change["file"]) or (COPY / change["file"]).read_text()
            texts[change["file"]] = text.replace(change["old"], change["new"])
    return texts


def try_batch(name, broken):
    """Makes the breaks of a batch, and answers the tests that did not notice theirs, and those that cannot run here."""
    begun = time.monotonic()
    texts = edit(broken)
    before = {file: (COPY / file).read_text() for file in texts}
    try:
        for file, text in texts.items():
            (COPY / file).write_text(text)
        ended = outcomes(sorted({test for each in broken for test in each["tests"]}))
    finally:
        for file, text in before.items():
            (COPY / file).write_text(text)
    unnoticed, skipped = [], []
    for each in broken:
        for test in each["tests"]:
            how = {True: "UNNOTICED", False: "noticed", None: "SKIPPED"}[ended[test]]
            if how == "noticed" and not re.search(each.get("says", ""), SAID.get(test, "")):
                how = "UNNOTICED, it failed for another reason"
            print(f"{how}: {each['rules']}: {each['what']}: {test}", flush=True)
            unnoticed += [test] if how.startswith("UNNOTICED") else []
            skipped += [test] if ended[test] is None else []
    print(f"batch {name}: {time.monotonic() - begun:.0f} s", flush=True)
    return unnoticed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rules", nargs="*")
    parser.add_argument("--batch", default="")
    parser.add_argument("--no-baseline", action="store_true")
    arguments = parser.parse_args()
    wrong = list(named.wrong_breaks(named.ROOT))
    if wrong:
        sys.exit("\n".join(wrong))
    batches = {}
    for each in named.breaks():
        of_rules = not arguments.rules or set(each["rules"].split()) & set(arguments.rules)
        if of_rules and each["batch"].startswith(arguments.batch):
            batches.setdefault(each["batch"], []).append(each)
    if not batches:
        sys.exit("no such rule or batch is broken here")
    copy_tree()
    if not arguments.no_baseline:
        wanted = {test for broken in batches.values() for each in broken for test in each["tests"]}
        failing = [test for test, well in outcomes(sorted(wanted)).items() if well is False]
        if failing:
            sys.exit(f"these fail on the code as it is: {failing}")
    unnoticed, skipped = [], []
    for name, broken in sorted(batches.items()):
        passed, left_out = try_batch(name, broken)
        unnoticed += passed
        skipped += left_out
    count = sum(map(len, batches.values()))
    print(f"{count} breaks; {len(unnoticed)} tests noticed nothing, {len(skipped)} cannot run here")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
