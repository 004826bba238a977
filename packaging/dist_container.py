"""Makes the container image of leafid-server from its archive, and tries it, by buildah: no daemon and no registry."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

from dist import DIST, ROOT, have, run, version
from try_c import check

sys.path.insert(0, str(ROOT / "tests/databases"))
from databases import free_port  # noqa: E402

SERVER = ROOT / "packaging/server"


def container(archive):
    """The file that `docker load` and `podman load` take; None if something is missing."""
    what = "NOT MADE: container image of leafid-server"
    if os.geteuid():
        print(f"{what}: that needs root")
        return None
    if not have(what, "buildah:buildah"):
        return None
    name = f"leafid-server:{version()}"
    file = DIST / archive.name.replace(".tar.gz", "-image.tar")
    file.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        buildah = Buildah(work)
        context = work / "context"
        (context / "data").mkdir(parents=True)
        run("tar", "-xzf", archive, "-C", context, "--strip-components=1")
        buildah("build", "--quiet", "--format", "docker", "--tag", name, "--file", SERVER / "Containerfile", context)
        buildah("push", "--quiet", name, f"docker-archive:{file}:{name}")
        tried(file, buildah, work)
    return file


class Buildah:
    def __init__(self, work):
        self.before = ["buildah", "--root", work / "storage", "--runroot", work / "run", "--storage-driver", "vfs"]

    def command(self, *words):
        return list(map(str, [*self.before, *words]))

    def __call__(self, *words):
        return run(*self.command(*words)).strip()


def tried(file, buildah, work):
    """The image, from its file: who it runs as, that it serves, is well, and keeps its counters in its volume."""
    # From the file, and not from what was built.
    buildah("rmi", "--all", "--force")
    image = buildah("from", "--quiet", f"docker-archive:{file}")
    shown = buildah("inspect", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.WorkingDir}}", image)
    check(f"{file.name}: it does not run as root", shown == "65532:65532 /data", shown)
    isolated = ["run", "--isolation", "chroot", image, "--", "/leafid-server"]
    address = f"127.0.0.1:{free_port()}"
    made = buildah(*isolated, "tag", "order")
    server = subprocess.Popen(buildah.command(*isolated, "--listen", address), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
    try:
        deadline = time.monotonic() + 20
        while subprocess.run(buildah.command(*isolated, "health", "--listen", address), capture_output=True).returncode:
            assert time.monotonic() < deadline, f"it is not well within 20 s; {made}"
            time.sleep(0.2)
        with urllib.request.urlopen(f"http://{address}/api/segment/get/order?n=3", timeout=10) as answer:
            ids = answer.read().split()
        # buildah has a folder of its own for what is declared as a volume.
        kept = [(path, path.stat().st_uid) for path in work.rglob("leafid-server.db")]
        well = ids == [b"1", b"2", b"3"] and [user for _, user in kept] == [65532]
        check(f"{file.name}: it serves ids, is well, and keeps its counters in its volume", well, (ids, kept))
    finally:
        server.terminate()
        server.wait(20)
