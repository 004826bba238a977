#!/usr/bin/env python3
"""The one version of leafid: `version.py` prints it and fails where files disagree, `version.py 0.2.0` sets it."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where the version stands, as group 1. Python's package and the C library take it from Cargo.toml when they are built.
PLACES = [
    ("Cargo.toml", r'^version = "([^"]+)"'),
    # The workspace's own packages: they have no source. Programs of the tests are 0.0.0.
    ("Cargo.lock", r'^name = "leafid[a-z-]*"\nversion = "((?!0\.0\.0")[^"]+)"\n(?!source)'),
    ("Cargo.toml", r'^leafid(?:-core)? = .*\bversion = "([^"]+)"'),
    ("include/leafid.h", r'^#define LEAFID_VERSION "([^"]+)"'),
    ("include/leafid_core.h", r'^#define LEAFID_CORE_VERSION "([^"]+)"'),
    ("packaging/vcpkg/leafid/vcpkg.json", r'^  "version-semver": "([^"]+)"'),
    ("server/openapi.json", r'^    "version": "([^"]+)"'),
    ("packaging/server/helm/Chart.yaml", r'^(?:version|appVersion): "([^"]+)"'),
    ("node/package.json", r'^  "version": "([^"]+)"'),
    ("node/package.json", r'^    "leafid-[^"]+": "([^"]+)"'),
    ("java/pom.xml", r"^  <version>([^<]+)"),
    ("java/src/main/java/io/leafid/Native.java", r'^    private static final String VERSION = "([^"]+)"'),
    ("node/js/wasm/version.js", r"^export const version = '([^']+)'"),
]


def places():
    for path, pattern in PLACES:
        yield ROOT / path, re.compile(pattern, re.MULTILINE)


def workspace():
    """The version in Cargo.toml, which leads."""
    return re.search(PLACES[0][1], (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE).stdout


def last_release():
    """The newest release and its revision, with which interfaces are compared, or None where git does not know it.

    It is the first committed section of CHANGELOG.md with a version, candidates aside, and its tag; before it has one,
    the commit that began the section.
    """
    section = re.search(r"^## (\d+\.\d+\.\d+)(?![-.\w])", git("show", "HEAD:CHANGELOG.md"), re.MULTILINE)
    if not section:
        return None
    version = section[1]
    if git("tag", "--list", f"v{version}"):
        return version, f"v{version}"
    began = git("log", "--reverse", "--format=%H", "-G", f"^## {re.escape(version)}", "--", "CHANGELOG.md").split()
    is_whole = git("rev-parse", "--is-shallow-repository").strip() == "false"
    return (version, began[0]) if is_whole else None


def disagreements(version):
    for path, pattern in places():
        found = pattern.findall(path.read_text())
        if not found:
            yield f"{path.relative_to(ROOT)}: no version where one should stand ({pattern.pattern})"
        yield from (f"{path.relative_to(ROOT)}: {other}, Cargo.toml has {version}" for other in found if other != version)


def set_version(version):
    for path, pattern in places():
        text = path.read_text()
        put = pattern.sub(lambda match: text[match.start():match.start(1)] + version + text[match.end(1):match.end()], text)
        if put != text:
            path.write_text(put)
            print(path.relative_to(ROOT))


def main(arguments):
    if arguments and (len(arguments) > 1 or not re.fullmatch(r"\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?", arguments[0])):
        sys.exit("usage: version.py [VERSION], such as 0.2.0 or 0.2.0-rc.1")
    if arguments:
        set_version(arguments[0])
    wrong = list(disagreements(workspace()))
    if wrong:
        sys.exit("\n".join(wrong))
    print(workspace())


if __name__ == "__main__":
    main(sys.argv[1:])
