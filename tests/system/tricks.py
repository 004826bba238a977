"""False clocks, namespaces, disks on strings."""

import contextlib
import ctypes
import glob
import os
import signal
import subprocess
import time

from harness import BUILD, Skip, need
from subjects import PRETEND, environment

STALL = BUILD / "system/stall"
PR_SET_PDEATHSIG = 1
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


def faketime(**settings):
    """The environment of a process whose clock, and only that, is false."""
    found = sorted(
        glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1") + glob.glob("/usr/lib*/faketime/libfaketimeMT.so.1")
    )
    if not found:
        raise Skip("libfaketime is missing: apt install faketime")
    return environment(LD_PRELOAD=found[0], FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_NO_CACHE="1", **settings)


def offset(seconds):
    return f"{seconds:+.4f}"


def frozen(ms):
    """A clock that stands still at these Unix milliseconds, as libfaketime writes it down."""
    # In the middle of the millisecond: libfaketime reads the fraction as a float.
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms // 1000)) + f".{ms % 1000:03}5"


def namespace(*kinds):
    """A command that runs another in namespaces of its own (`m` mounts, `n` network)."""
    unshare = need("unshare", "util-linux")
    for flags in (["-" + kind for kind in kinds], ["-U", "-r", *("-" + kind for kind in kinds)]):
        if subprocess.run([unshare, *flags, "true"], capture_output=True).returncode == 0:
            return [unshare, *flags]
    raise Skip("namespaces of one's own are not permitted here: run as root, outside a restricted container")


def stalled(directory, mode="ok"):
    """A command that runs another on a disk that hangs or fails on demand, and the file that says how."""
    control = directory.write("disk", mode)
    probe = subprocess.run([STALL, control, "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        raise Skip(f"the kernel does not let one stop system calls (seccomp): {probe.stderr.strip()}")
    return [STALL, control]


def leashed():
    """A command that runs another which does not outlive this process, even if it is stopped."""
    return [need("setpriv", "util-linux"), "--pdeathsig", "KILL"]


def pretended(what):
    """A command that runs another where `flock` does not lock, or `sync`, which is fsync and fdatasync, does not write."""
    probe = subprocess.run([PRETEND, what, "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        raise Skip(f"the kernel does not let one leave system calls out (seccomp): {probe.stderr.strip()}")
    return [PRETEND, what]


def secluded(network=False):
    """Moves this process into a namespace of mounts of its own, and on request of network devices: what is made there
    is gone with the last process, and this one does not outlive the one that started it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWNET if network else 0)):
        why = os.strerror(ctypes.get_errno())
        raise Skip(f"namespaces of one's own are not permitted here ({why}): run as root, outside a restricted container")
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise OSError(ctypes.get_errno(), "mounts cannot be made private")


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
