"""Where records may not outlive the generator: overlayfs and tmpfs, and locks that do not lock."""

import subprocess
import time

from harness import Skip, place, test
from subjects import Serve, environment
from tricks import faketime, namespace, offset, pretended

LEAF_EPOCH_MS = 1_288_834_974_657


def overlay(where):
    """A command that runs another with an overlay, as a container has it, at `where/state`."""
    for part in ("lower", "disk", "state"):
        (where.dir / part).mkdir()
    # An upper directory on an overlay is not allowed: it is on a disk of its own.
    mount = (
        f"mount -t tmpfs tmpfs {where.dir}/disk && mkdir {where.dir}/disk/upper {where.dir}/disk/work && "
        f"mount -t overlay overlay -o lowerdir={where.dir}/lower,upperdir={where.dir}/disk/upper,"
        f"workdir={where.dir}/disk/work {where.dir}/state"
    )
    return mounted(mount)


def tmpfs(where):
    (where.dir / "state").mkdir()
    return mounted(f"mount -t tmpfs tmpfs {where.dir}/state")


def mounted(mount):
    command = namespace("m")
    probe = subprocess.run([*command, "sh", "-c", f"{mount} && echo yes"], capture_output=True, text=True)
    if probe.stdout.strip() != "yes":
        raise Skip(f"this cannot be mounted here: {probe.stderr.strip()}")
    return [*command, "sh", "-c", f'{mount} && exec "$@"', "sh"]


# Each run of a container has a fresh file system: the mount is made again, and the record is gone.
@test("a container killed after a step back, its overlay gone with it: no id twice, none ahead of the clock")
def _():
    where = place()
    container, every, runs = overlay(where), [], 8
    clock = where.write("clock", "+0")
    for run in range(runs):
        subject = Serve(before=container, env=faketime(FAKETIME_TIMESTAMP_FILE=str(clock)))
        subject.do("open", "a", *where.options(worker=3, random_start=0))
        every += subject.ids("a", 9_000)
        behind = 0.2 * (run + 1)
        where.write("clock", offset(-behind))
        every += subject.ids("a", 9_000)
        ahead_ms = (every[-1] >> 22) + LEAF_EPOCH_MS - (time.time() - behind) * 1000
        assert ahead_ms < 1, f"{ahead_ms} ms ahead of the clock"
        subject.kill()
    assert len(set(every)) == len(every) == runs * 18_000, "an id came twice"
    return f"{len(every)} ids in {runs} runs"


@test("a range on a default directory that each container has to itself is refused, and a named one is not")
def _():
    for make in (overlay, tmpfs):
        where = place()
        home = {"HOME": str(where.dir / "state"), "XDG_STATE_HOME": str(where.dir / "state")}
        # As the container's user alone: /var/lib is not to be written.
        before = [*make(where), *without_var_lib()]
        subject = Serve(before=before, env=environment(LEAFID_EXCLUSIVE_RANGE="0") | home)
        error = subject.refused("open", "a", f"name={where.name}", "worker=0-31")
        assert error.code == "invalid_argument", error
        for word in ("worker is a range", "state_dir", "LEAFID_STATE_DIR", "hostname:NAME", str(where.dir / "state")):
            assert word in str(error), f"{error}: does not say {word!r}"
        assert subject.do("open", "a", f"name={where.name}", "worker=5") == "5"
        assert subject.do("open", "b", *where.options(worker="0-31")) == "0"
        subject.quit()


@test("a platform that starts copies: a range wants the user's word, wherever its directory is")
def _():
    for variable, name in (
        ("KUBERNETES_SERVICE_HOST", "Kubernetes"), ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
        ("NOMAD_ALLOC_ID", "Nomad"), ("ECS_CONTAINER_METADATA_URI_V4", "ECS"),
    ):
        where = place()
        home = {"HOME": str(where.dir), "XDG_STATE_HOME": str(where.dir), variable: "10.0.0.1"}
        before = [*namespace("m"), *without_var_lib()]
        subject = Serve(before=before, env=environment(LEAFID_EXCLUSIVE_RANGE="0") | home)
        for words in ([f"name={where.name}", "worker=0-31"], where.options(worker="0-31")):
            error = subject.refused("open", "a", *words)
            assert error.code == "invalid_argument" and name in str(error), error
            assert "LEAFID_EXCLUSIVE_RANGE=1" in str(error), error
        assert subject.do("open", "a", *where.options(worker=40)) == "40"
        subject.quit()
        subject = Serve(before=before, env=environment(LEAFID_EXCLUSIVE_RANGE="1") | home)
        assert subject.do("open", "b", *where.options(worker="0-31")) == "0"
        subject.quit()


def without_var_lib():
    """As root in a namespace of mounts of its own: /var/lib can only be read."""
    return ["sh", "-c", 'mount -t tmpfs -o ro tmpfs /var/lib && exec "$@"', "sh"]


@test("locks that do not lock are noticed at the start")
def _():
    where = place()
    subject = Serve(before=pretended("flock"))
    error = subject.refused("open", "a", *where.options(worker=1))
    assert error.code == "state_io" and "the locks of this file system do not work" in str(error), error
    subject.quit()
