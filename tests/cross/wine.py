#!/usr/bin/env python3
"""Runs a program of Windows under wine, as cargo's runner and for windows.py: wine.py PROGRAM [ARGUMENT...]

The first call makes a prefix below build/cross/wine with what programs of leafid find on Windows: bcryptprimitives.dll,
and the number of the machine's starts.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/cross"
PREFIX = BUILD / "wine"
STARTS = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"


def environment() -> dict:
    settings = {
        "WINEPREFIX": str(PREFIX),
        "WINEDEBUG": "-all",
        # Those that wine would offer to download.
        "WINEDLLOVERRIDES": "bcryptprimitives=n;mscoree,mshtml=",
        "LEAFID_EXCLUSIVE_RANGE": "1",
    }
    return {**os.environ, **settings}


def make_prefix() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "wine.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (PREFIX / "made").exists():
            return
        quiet = {"env": environment(), "check": True, "timeout": 900, "stdout": subprocess.DEVNULL,
                 "stderr": subprocess.DEVNULL}
        subprocess.run(["wine", "wineboot", "-i"], **quiet)
        library = PREFIX / "drive_c/windows/system32/bcryptprimitives.dll"
        subprocess.run(["x86_64-w64-mingw32-gcc", "-shared", "-o", library, HERE / "bcryptprimitives.c", "-ladvapi32"],
                       check=True)
        subprocess.run(["wine", "reg", "add", STARTS, "/v", "BootId", "/t", "REG_DWORD", "/d", "7", "/f"], **quiet)
        subprocess.run(["wine", "winecfg", "-v", "win10"], **quiet)
        # The disk below Z:, which wine reads at each opening of a file there; else it says every time that it may not.
        (PREFIX / "dosdevices/z::").symlink_to("/dev/null")
        (PREFIX / "made").touch()


if __name__ == "__main__":
    make_prefix()
    os.execvpe("wine", ["wine", *sys.argv[1:]], environment())
