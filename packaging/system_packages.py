"""Debian packages and RPMs of the C library, by the tools of these systems, from what dist_c.py laid out.

The shared library is a package of its own (libleafid0, leafid), and what is needed to build programs is another
(libleafid-dev, leafid-devel).
"""

import email.utils
import gzip
import hashlib
import os
import pathlib
import shutil
import tempfile

import notices
from dist import DIST, ROOT, TARGETS, have, made_at, package_version, run, version

DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def make(target, folder):
    """`folder`: the content of the archive."""
    made_for, machine = f"packages for {target}", target.split("-")[0]
    for old in (*DIST.glob(f"libleafid*_{DEBIAN_ARCHITECTURES[machine]}.deb"), *DIST.glob(f"*.{machine}.rpm")):
        old.unlink()
    if have(f"NOT MADE: Debian {made_for}", "dpkg-deb:dpkg"):
        debian(target, folder)
    if have(f"NOT MADE: RPM {made_for}", "rpmbuild:rpm"):
        rpm(target, folder)


def lay_out(folder, usr, libdir):
    """The content of the archive, in another layout."""
    run("sh", "bindings/c/stage.sh", folder / "lib/libleafid.so", folder / "lib/libleafid.a", usr, libdir, cwd=ROOT)
    shutil.copy(folder / "lib/libleafid_core.a", usr / libdir)
    shutil.copy(folder / "include/leafid_core.h", usr / "include")


def debian(target, folder):
    machine = target.split("-")[0]
    architecture, libdir = DEBIAN_ARCHITECTURES[machine], f"lib/{machine}-linux-gnu"
    values = {"VERSION": package_version(), "ARCHITECTURE": architecture, "GLIBC": TARGETS[target][0]}
    control = filled(ROOT / "packaging/debian/control", values)
    # What dpkg-shlibdeps gives a program that is linked with it. Functions are added, so the version counts.
    linked = {"shlibs": f"libleafid 0 libleafid0 (>= {package_version().removesuffix('-1')})\n", "triggers": "activate-noawait ldconfig\n"}
    with tempfile.TemporaryDirectory() as work:
        library, development = pathlib.Path(work, "libleafid0"), pathlib.Path(work, "libleafid-dev")
        lay_out(folder, development / "usr", libdir)
        (library / "usr" / libdir).mkdir(parents=True)
        for file in sorted((development / "usr" / libdir).glob("libleafid.so.*")):
            file.rename(library / "usr" / libdir / file.name)
        for root, paragraph in zip((library, development), control.strip().split("\n\n")):
            package(root, paragraph, notices.of_libraries(), linked if root == library else {})


def filled(template, values):
    text = template.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def manual(page, root):
    folder = root / "usr/share/man" / f"man{page.suffix[1:]}"
    folder.mkdir(parents=True)
    (folder / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))


def package(root, control, licences, more):
    """Adds what each Debian package has to the files in `root`, and packs it. `licences`: those of crates; `more`:
    further files for dpkg."""
    name = root.name
    documents = root / "usr/share/doc" / name
    documents.mkdir(parents=True)
    mit = (ROOT / "LICENSE-MIT").read_text()
    choice = "leafid may be used under the Apache License 2.0, /usr/share/common-licenses/Apache-2.0, or under this one:"
    (documents / "copyright").write_text(f"{choice}\n\n{mit}\n{licences}")
    maintainer = next(line for line in control.splitlines() if line.startswith("Maintainer: ")).removeprefix("Maintainer: ")
    entry = f"leafid ({package_version()}) unstable; urgency=medium\n\n  * Version {version()}.\n\n -- {maintainer}  {email.utils.formatdate(made_at())}\n"
    (documents / "changelog.Debian.gz").write_bytes(gzip.compress(entry.encode(), mtime=0))

    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    meta = root / "DEBIAN"
    meta.mkdir()
    # Those of /etc are changed by their owner, and dpkg knows them by itself.
    kept = (path for path in files if root / "etc" not in path.parents)
    sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in kept)
    (meta / "md5sums").write_text("".join(sums))
    size = sum(-(-path.stat().st_size // 1024) for path in files)
    (meta / "control").write_text(f"{control}\n".replace("Section:", f"Installed-Size: {size}\nSection:"))
    for file, text in more.items():
        (meta / file).write_text(text)
    scripts = [meta / file for file in ("postinst", "prerm", "postrm")]
    for path in root.rglob("*"):
        if path.is_dir() or path.parent == root / "usr/bin" or path in scripts:
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o644)
    # Old systems read no newer compression.
    run("dpkg-deb", "-Zxz", "--root-owner-group", "--build", root, DIST, env=environment())


def rpm(target, folder):
    machine = target.split("-")[0]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        lay_out(folder, work / "staged/usr", "lib64")
        licences = work / "staged/usr/share/licenses/leafid"
        licences.mkdir(parents=True)
        for file in folder.glob("LICENSE-*"):
            shutil.copy(file, licences)
        values = {
            "_topdir": work, "_rpmdir": DIST, "_rpmfilename": "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
            "leafid_version": package_version().removesuffix("-1"), "leafid_staged": work / "staged",
            "use_source_date_epoch_as_buildtime": 1, "clamp_mtime_to_source_date_epoch": 1, "_buildhost": "leafid",
        }
        defines = [word for name, value in values.items() for word in ("--define", f"{name} {value}")]
        run("rpmbuild", "-bb", "--target", f"{machine}-linux", *defines, ROOT / "packaging/rpm/leafid.spec", env=environment())


def environment():
    return {**os.environ, "SOURCE_DATE_EPOCH": str(made_at())}
