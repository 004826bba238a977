"""The third party: tries every lock below a directory all the time, and lets go at once. `prober.py DIRECTORY NOTES`"""

import contextlib
import fcntl
import os
import sys
import time


def files(directory):
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from files(entry.path)
            else:
                yield entry.path


def main():
    tried = held = 0
    while True:
        for path in files(sys.argv[1]):
            with contextlib.suppress(FileNotFoundError):
                file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                tried += 1
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    held += 1
                os.close(file)
        fresh = sys.argv[2] + ".fresh"
        with open(fresh, "w") as notes:
            notes.write(f"{tried} {held}")
        os.rename(fresh, sys.argv[2])
        time.sleep(0.003)


main()
