"""State directories that cannot be used, and other users."""

import os
import shutil
import subprocess

from harness import need, need_root, place, test
from subjects import RUST, Serve, environment, unsynced

NOBODY = 65534


def as_other_user(where, uid=NOBODY, before=()):
    """A Rust subject of another user. Its program is copied to where that user can reach it."""
    need_root("another user is needed")
    setpriv = need("setpriv", "util-linux")
    program = where.dir / "subject"
    if not program.exists():
        shutil.copy(RUST, program)
        program.chmod(0o755)
    return Serve(
        before=[*before, setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups"],
        program=[str(program)],
        cwd="/",
    )


def without_rights(where):
    """A Rust subject that modes hold back."""
    return as_other_user(where) if os.geteuid() == 0 else Serve()


def assert_names(error, path, *words):
    assert error.code == "state_io", error
    assert str(path) in str(error), f"{error}: does not name {path}"
    for word in words:
        assert word in str(error), f"{error}: does not say {word!r}"


@test("a read-only directory, as another user: state_io with the path and what to do")
def _():
    where = place()
    directory = where.dir / "state" / where.name
    directory.mkdir(parents=True)
    directory.chmod(0o555)
    subject = without_rights(where)
    error = subject.refused("open", "a", *where.options())
    assert_names(error, directory, "ermission denied", "state_dir")
    assert list(directory.iterdir()) == [], "something was left behind"


@test("a directory whose parents are missing is made, and refused where it cannot be")
def _():
    where = place()
    subject = Serve().open("a", *where.options(state="a/b/c"))
    assert where.file(0, state="a/b/c").exists()
    (where.dir / "file").write_text("")
    assert_names(
        subject.refused("open", "b", *where.options(state="file/state")), where.dir / "file/state", "state_dir"
    )
    (where.dir / "dangling").symlink_to(where.dir / "nowhere/at/all")
    error = subject.refused("open", "b", *where.options(state="dangling"))
    assert_names(error, where.dir / "dangling", "state_dir")
    where.dir.chmod(0o555)
    error = without_rights(where).refused("open", "a", *where.options(state="none/of/these"))
    where.dir.chmod(0o755)
    assert_names(error, where.dir / "none/of/these", "state_dir")


@test("a state file of another user: state_io with the path and what to do")
def _():
    where = place()
    owner = Serve().open("a", *where.options(worker=2))
    owner.do("next", "a")
    owner.quit()
    before = where.file(2).read_bytes()
    where.file(2).parent.parent.chmod(0o755)
    where.file(2).parent.chmod(0o777)
    error = as_other_user(where).refused("open", "a", *where.options(worker=2))
    assert_names(error, where.file(2), "ermission denied", "state_dir")
    assert where.file(2).read_bytes() == before
    assert [path.name for path in where.file(2).parent.iterdir()] == ["worker-2.state"], "something was left behind"


def as_user(uid, *words, groups=()):
    """A command line of another user."""
    need_root("other users are needed")
    groups = ["--groups=" + ",".join(map(str, groups))] if groups else ["--clear-groups"]
    setpriv = [need("setpriv", "util-linux"), f"--reuid={uid}", f"--regid={uid}", *groups]
    return [*unsynced(), *setpriv, *map(str, words)]


def can_lock(uid, path, groups=()):
    line = as_user(uid, need("flock", "util-linux"), "-n", path, "true", groups=groups)
    return subprocess.run(line, stderr=subprocess.DEVNULL).returncode == 0


@test("two users of one group share a directory with shared_group, and a stranger can hold no lock of it")
def _():
    where = place()
    group, one_id, other_id, stranger = 60_001, 60_011, 60_012, 60_013
    state = where.dir / "state"
    need_root("other users are needed")
    state.mkdir()
    os.chown(state, 0, group)
    state.chmod(0o2770)
    program = where.dir / "subject"
    shutil.copy(RUST, program)
    program.chmod(0o755)

    def member(uid):
        env = environment(LEAFID_SHARED_GROUP="1")
        return Serve(before=as_user(uid, groups=[group]), program=[str(program)], cwd="/", env=env)

    one, other = member(one_id), member(other_id)
    assert one.do("open", "a", *where.options(worker=0)) == "0"
    assert other.do("open", "a", *where.options(worker=1)) == "1"
    first = int(one.do("next", "a"))
    one.do("close", "a")
    assert other.do("open", "b", *where.options(worker=0)) == "0", "a record that the other one made"
    assert int(other.do("next", "b")) > first
    other.do("close", "b")
    assert one.do("open", "a", *where.options(worker=0)) == "0"
    one.do("close", "a")
    made = where.file(0).stat()
    assert (made.st_uid, made.st_gid, made.st_mode & 0o7777) == (one_id, group, 0o660), oct(made.st_mode)
    directory = where.file(0).parent.stat()
    assert (directory.st_gid, directory.st_mode & 0o7777) == (group, 0o2770), oct(directory.st_mode)
    assert can_lock(other_id, where.file(0), groups=[group]), "it is free"
    assert not can_lock(stranger, where.file(0))
    # Nor where nothing is shared, be the directory open to all.
    alone = Serve().open("a", *where.options(worker=2, state="alone"))
    alone.do("close", "a")
    file = where.file(2, state="alone")
    for directory in (file.parent, file.parent.parent):
        assert directory.stat().st_mode & 0o007 == 0, oct(directory.stat().st_mode)
        directory.chmod(0o755)
    assert not can_lock(stranger, file)
    file.chmod(0o644)
    assert can_lock(stranger, file), "nothing else kept it"


@test("a worker id is seen by another user with a directory of its own, both ways")
def _():
    where = place()
    for state in ("one", "two"):
        (where.dir / state).mkdir()
        (where.dir / state).chmod(0o777)
    holder, other = Serve(), as_other_user(where)
    holder.do("open", "a", *where.options(worker=3, state="one"))
    error = other.refused("open", "a", *where.options(worker=3, state="two"))
    assert error.code == "worker_in_use" and f"pid {holder.pid} " in str(error), error
    assert other.do("open", "b", *where.options(worker=4, state="two")) == "4"
    error = holder.refused("open", "b", *where.options(worker=4, state="one"))
    assert error.code == "worker_in_use" and f"pid {other.pid} " in str(error), error
    holder.kill()
    assert other.do("open", "a", *where.options(worker=3, state="two")) == "3"


@test("the holder is named with pid, host and start, also after a hundred refusals")
def _():
    where = place()
    holder, other = Serve(), Serve()
    holder.do("open", "a", *where.options(worker=3, state="one"))
    for turn in range(100):
        error = other.refused("open", "b", *where.options(worker=3, state="two"))
        assert error.code == "worker_in_use", error
        for word in (f"pid {holder.pid} ", os.uname().nodename, "started 20"):
            assert word in str(error), f"refusal {turn}: {error}: does not say {word!r}"


@test("no descriptor for the host lock: refused, not held twice")
def _():
    where = place()
    strace = need("strace", "strace")
    holder = Serve().open("a", *where.options(worker=3, state="one"))
    for error in ("EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"):
        poor = Serve(
            before=[strace, "-f", "-o", "/dev/null", "-e", "trace=socket", "-e", f"inject=socket:error={error}"]
        )
        refusal = poor.refused("open", "a", *where.options(worker=3, state="two"))
        assert refusal.code in ("state_io", "worker_in_use"), refusal
        poor.quit()


@test("a limit on file sizes: state_io, and the process lives")
def _():
    where = place()
    prlimit = need("prlimit", "util-linux")
    for size in (4096, 0):
        subject = Serve(before=[prlimit, f"--fsize={size}:{size}"])
        error = subject.refused("open", "a", *where.options(worker=1))
        assert_names(error, where.dir / "state", "too large")
        assert not where.file(1).exists(), "half a file was left"
    other = Serve().open("a", *where.options(worker=1))
    before = other.ids("a")
    other.quit()
    error = subject.refused("open", "a", *where.options(worker=1))
    assert_names(error, where.file(1), "too large")
    last = Serve().open("a", *where.options(worker=1))
    assert last.ids("a") > before
