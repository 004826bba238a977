"""The chaos run: `run.py [--seconds 120] [--seed N] [--keep]`.

Programs in Python, Node, Java and C on one state directory and one source of segments, beside guests on state directories
of their own that share only a server of leases, make ids for this long, while schedule.py has them killed, stopped and
forked, their clocks moved, their disk filled and made read-only, and their servers cut off, slowed and made to lie.
Then all is mended, programs are started again, and judge.py looks at every id that was written. It happens in namespaces of its
own (mounts, processes), which nothing outlives. Exit code 0: no duplicate, and nothing else that may never happen.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import world  # noqa: F401, I001  (it says where the system tests' parts are)
from chaos import Chaos
from judge import Judge

from harness import BUILD, Skip, need

# Set where it runs in its namespaces: the directory of the run.
INSIDE = "LEAFID_CHAOS_DIRECTORY"


def go_inside(options):
    """Runs this program again in namespaces of its own, and answers its exit code."""
    # Who is killed here takes all with it: unshare goes with this process, and its child with it.
    leash = [need("setpriv", "util-linux"), "--pdeathsig", "KILL", need("unshare", "util-linux")]
    flags = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    for more in ([], ["--user", "--map-root-user"]):
        command = [*leash, *more, *flags]
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            break
    else:
        raise Skip("namespaces of one's own are not permitted here: run as root, outside a restricted container")
    where = tempfile.mkdtemp(prefix=f"run-{options.seed}-", dir=BUILD / "chaos")
    command += [sys.executable, __file__, f"--seconds={options.seconds}", f"--seed={options.seed}"]
    # To the processes of the run it is all there is: its ranges are its own.
    own = {"LEAFID_EXCLUSIVE_RANGE": "1", INSIDE: where}
    code = subprocess.run(command, env={**os.environ, **own}).returncode
    if code == 0 and not options.keep:
        shutil.rmtree(where)
    return code


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--seconds", type=int, default=120)
    words.add_argument("--seed", type=int, default=random.randrange(1 << 31), help="that of an earlier run replays it")
    words.add_argument("--keep", action="store_true", help="leave the files of a good run below build/chaos/, too")
    options = words.parse_args()
    if options.seconds < 20:
        words.error("--seconds is at least 20: what is damaged must mend again")
    try:
        if INSIDE not in os.environ:
            sys.exit(go_inside(options))
        run = Chaos(options.seconds, options.seed, Path(os.environ.pop(INSIDE)))
        run.befall()
        run.recovery()
        run.finish()
        sys.exit(0 if Judge(run).verdict() else 1)
    except Skip as skip:
        sys.exit(f"chaos FAILED, for it could not run: {skip}")


if __name__ == "__main__":
    main()
