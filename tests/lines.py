#!/usr/bin/env python3
"""The tracked lines and files of each area: `lines.py [REVISION]`, with a revision beside those that it had."""

import collections
import subprocess
import sys

AREAS = (
    "core/src", "core/tests", "bindings/rust/src", "bindings/rust/tests", "bindings/wasm", "bindings", "include", "python/tests",
    "python", "node/tests", "node/js", "node", "java", "server", "tests/vectors", "tests", "fuzz", "bench", "packaging", "examples", "docs",
)  # fmt: skip


def counted(*tree):
    """By area, and their sum."""
    empty = subprocess.check_output(["git", "hash-object", "-t", "tree", "/dev/null"], text=True).strip()
    found = {area: collections.Counter() for area in (*AREAS, "the rest", "all")}
    said = subprocess.check_output(["git", "diff", "--numstat", *(tree or ["--cached"]), empty], text=True)
    for line in said.splitlines():
        more, less, name = line.split("\t")
        area = next((area for area in AREAS if name.strip('"').startswith(f"{area}/")), "the rest")
        for each in (area, "all"):
            # What is no text has no number.
            found[each].update(files=1, lines=sum(int(count) for count in (more, less) if count.isdigit()))
    return found


trees = [counted(revision) for revision in sys.argv[1:2]] + [counted()]
for area in trees[0]:
    print(f"{area:20}", *(f"{tree[area]['lines']:9,} lines {tree[area]['files']:5,} files" for tree in trees))
