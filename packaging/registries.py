#!/usr/bin/env python3
"""Writes the Conan recipe and the vcpkg port of a release: registries.py FOLDER URL OUT

FOLDER has the release's archives for C, and URL is the folder where users find them. The recipe is written to OUT/conan,
the port to OUT/vcpkg/leafid.
"""

import hashlib
import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write(folder, url, out):
    version = json.loads((ROOT / "packaging/vcpkg/leafid/vcpkg.json").read_text())["version-semver"]
    for name in ("conan", "vcpkg"):
        shutil.copytree(ROOT / "packaging" / name, out / name, dirs_exist_ok=True)
    conan, vcpkg = {}, [f'set(url "{url}")']
    prefix = f"leafid-c-{version}-"
    for path in sorted(folder.glob(f"{prefix}*.tar.gz")):
        target, content = path.name.removeprefix(prefix).removesuffix(".tar.gz"), path.read_bytes()
        conan[target] = {"url": f"{url}/{path.name}", "sha256": hashlib.sha256(content).hexdigest()}
        vcpkg.append(f"set(sha512_{target} {hashlib.sha512(content).hexdigest()})")
    if not conan:
        sys.exit(f"{folder} has no {prefix}*.tar.gz: make dist OF=c")
    # JSON is YAML.
    (out / "conan/conandata.yml").write_text(json.dumps({"sources": {version: conan}}, indent=2) + "\n")
    (out / "vcpkg/leafid/archives.cmake").write_text("\n".join(vcpkg) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]))
