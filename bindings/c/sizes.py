#!/usr/bin/env python3
"""What each part of a C library costs: sizes.py LIBRARY…, not stripped. By the crates that its symbols name.

What a crate's generic code becomes for another crate's types counts for the crate that is named first.
"""

import collections
import re
import subprocess
import sys
import tempfile


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def crate(name):
    found = re.search(r"[a-zA-Z_]\w*(?=::)", name)
    if found:
        return {"gimli": "backtraces", "addr2line": "backtraces", "rustc_demangle": "backtraces",
                "miniz_oxide": "backtraces", "alloc": "core and alloc", "core": "core and alloc"}.get(found[0], found[0])
    return "the C functions" if name.startswith("leafid_") else "ring"


for library in sys.argv[1:]:
    sizes = collections.Counter()
    for line in said("nm", "-S", "-C", "--defined-only", library).splitlines():
        words = line.split(maxsplit=3)
        if len(words) == 4 and words[2] in "tTrRdD":
            sizes[crate(words[3])] += int(words[1], 16)
    for line in said("readelf", "-SW", library).splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 6 and words[1] in (".eh_frame", ".eh_frame_hdr", ".gcc_except_table"):
            sizes["tables for unwinding"] += int(words[5], 16)
    with tempfile.NamedTemporaryFile() as stripped:
        said("strip", "-o", stripped.name, library)
        whole = len(stripped.read())
    print(f"{whole:>9}  {library}, stripped")
    shown = sizes.most_common(16)
    for name, size in shown:
        print(f"{size:>9}    {name}")
    print(f"{whole - sum(size for _, size in shown):>9}    the rest")
