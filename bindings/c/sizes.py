#!/usr/bin/env python3
"""What each part of the C library costs.

sizes.py table WITH WITHOUT [--update]  the parts of both libraries, not stripped, with Rust's newer symbol names;
                                        --update writes them into docs/ABI.md
sizes.py check LIBRARY WHICH            fails if a library, stripped, is larger than its bound; WHICH is a key of MOST

What a crate's generic code becomes for another crate's types counts for the last crate that a symbol names.
"""

import collections
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

# Bytes, stripped. Some more than now, because a change elsewhere moves what is inlined.
MOST = {"http": 3_125_000, "no http": 1_675_000, "small, http": 1_810_000, "small, no http": 670_000}

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/ABI.md"
BEGIN, END = "<!-- The table is of `make bench OF=sizes UPDATE=1`. -->\n", "<!-- Its end. -->\n"

PARTS = {
    "leafid": "leafid", "leafid_core": "leafid", "leafid_c": "leafid",
    "ring": "cryptography: ring",
    **dict.fromkeys(("rustls", "webpki", "rustls_pki_types", "rustls_native_certs"), "TLS: rustls, webpki"),
    **dict.fromkeys(("ureq", "ureq_proto", "http", "httparse", "bytes", "base64"), "HTTP: ureq, http"),
    **dict.fromkeys(("serde_json", "serde_core", "serde", "zmij", "itoa", "memchr"), "JSON: serde_json"),
    **dict.fromkeys(("gimli", "addr2line", "rustc_demangle", "miniz_oxide", "object"), "Rust's backtraces"),
    **dict.fromkeys(("std", "core", "alloc", "hashbrown"), "Rust's library"),
}
SECTIONS = {
    **dict.fromkeys((".eh_frame", ".eh_frame_hdr", ".gcc_except_table"), "tables for unwinding"),
    ".rela.dyn": "addresses for the loader",
}
OTHERS, TEXTS = "other crates", "texts, constants and the rest"


def said(*command, input=None):
    return subprocess.run(command, input=input, capture_output=True, text=True, check=True).stdout


def part(symbol):
    crates = re.findall(r"(\w+)\[[0-9a-f]+\]", symbol)
    if not crates:
        return "leafid" if symbol.startswith("leafid_") else PARTS["ring"]
    own = [crate for crate in crates if PARTS.get(crate) != "Rust's library"]
    return PARTS.get((own or crates)[-1], OTHERS)


def stripped(library):
    with tempfile.NamedTemporaryFile() as file:
        said("strip", "-o", file.name, library)
        return pathlib.Path(file.name).stat().st_size


def parts(library):
    sizes = collections.Counter()
    # Not `nm -C`, which leaves out the mark by which a crate is known from a module.
    for line in said("c++filt", input=said("nm", "-S", "--defined-only", library)).splitlines():
        words = line.split(maxsplit=3)
        if len(words) == 4 and words[2] in "tTrRdD":
            sizes[part(words[3])] += int(words[1], 16)
    for line in said("readelf", "-SW", library).splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 6 and words[1] in SECTIONS:
            sizes[SECTIONS[words[1]]] += int(words[5], 16)
    sizes[TEXTS] = stripped(library) - sizes.total()
    return sizes


def table(with_http, without):
    with_http, without = parts(with_http), parts(without)
    names = [name for name, _ in with_http.most_common() if name not in (OTHERS, TEXTS)] + [OTHERS, TEXTS]
    rows = [(name, with_http[name], without[name]) for name in names]
    rows.append(("all", with_http.total(), without.total()))
    lines = [f"| {name} | {one / 1000:.0f} | {other / 1000:.0f} |\n" for name, one, other in rows]
    return "".join(["| part | kB with HTTP | kB without |\n", "| --- | --- | --- |\n", *lines])


def check(library, which):
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return print("sizes: skipped: the bounds are of x86-64 Linux")
    size, most = stripped(library), MOST[which]
    print(f"sizes: {library} ({which}): {size} bytes stripped, at most {most}")
    if size > most:
        sys.exit("sizes: FAILED: `make bench OF=sizes` shows which part grew; raise MOST in bindings/c/sizes.py if it has to be")


def main(command, *arguments):
    if command == "check":
        return check(*arguments)
    shown = table(*arguments[:2])
    print(shown, end="")
    if "--update" in arguments:
        head, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}{shown}{END}{rest.split(END)[1]}")


main(*sys.argv[1:])
