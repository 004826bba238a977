#!/usr/bin/env python3
"""The licences of the crates that the binaries contain, which ask to be named wherever a binary goes.

`notices.py FILE…` writes those of the libraries into each file. The server's packages have further ones in theirs. They
are the same on every platform: those of all platforms, of the versions in Cargo.lock, with the texts in the crates.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ["leafid-c", "leafid-java", "leafid-node", "leafid-python", "leafid-wasm"]
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
HEAD = """Each text below is preceded by the crates whose package has it, with the
copyright lines of the crates above them. Crates after an empty line have no such lines.
"""
TITLE = re.compile(r"#* ?(The )?MIT Licen[cs]e( \(MIT\))?", re.IGNORECASE)


def crates(binaries):
    """What is linked into the binaries: normal dependencies, on any platform; no macros, and nothing that builds."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--all-features"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    macro = {key for key, package in packages.items() if any("proc-macro" in target["kind"] for target in package["targets"])}
    found, left = set(), [key for key, package in packages.items() if package["name"] in binaries]
    while left:
        key = left.pop()
        if key in found or key in macro:
            continue
        found.add(key)
        left += [each["pkg"] for each in nodes[key]["deps"] if any(kind["kind"] is None for kind in each["dep_kinds"])]
    foreign = [packages[key] for key in found if packages[key]["source"]]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(NAMES))
    # Whoever may choose takes the short one.
    if "MIT" in re.split(r" OR |/", package["license"]):
        files = [path for path in files if "MIT" in path.name.upper()] or files
    return ["\n".join(line.rstrip() for line in path.read_text(encoding="utf-8", errors="replace").strip().splitlines()) for path in files]


def parted(text):
    """The copyright lines that stand above an MIT licence, and its text, which is the same for all but for line breaks."""
    above, start, rest = text.partition("Permission is hereby granted, free of charge")
    lines = [line.strip() for line in above.splitlines()]
    return [line for line in lines if line and not TITLE.fullmatch(line)], start + rest if start else text


def notices(title, packages):
    shown, users, without = {}, {}, []
    for package in packages:
        name = f"{package['name']} {package['version']} ({package['license']})"
        found = texts(package)
        for text in found:
            holders, text = parted(text)
            key = " ".join(text.split())
            shown.setdefault(key, text)
            users.setdefault(key, {}).setdefault("\n    ".join(holders), []).append(name)
        if not found:
            without.append(name)
    parts = [f"{title} {HEAD}"]
    if without:
        parts.append("Without a text in their package:\n" + "\n".join(without) + "\n")
    for key, text in shown.items():
        without_holders = users[key].pop("", [])
        names = ["\n".join(those) + f"\n    {holders}" for holders, those in users[key].items()]
        names += ["\n" * bool(names) + "\n".join(without_holders)] if without_holders else []
        parts.append(f"{'=' * 78}\n" + "\n".join(names) + f"\n{'-' * 78}\n{text}\n")
    return "\n".join(parts)


@functools.cache
def of_libraries():
    return notices("Crates in leafid's libraries; most are in leafid-server, too.", crates(LIBRARIES))


@functools.cache
def of_server():
    """All that its packages name: those of the libraries, and what it contains besides."""
    named = [package["id"] for package in crates(LIBRARIES)]
    further = [package for package in crates(["leafid-server"]) if package["id"] not in named]
    return f"{of_libraries()}\n{notices('Further crates in leafid-server.', further)}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(of_libraries(), encoding="utf-8", newline="\n")
