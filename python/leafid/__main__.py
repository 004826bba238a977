"""The command line: `leafid`, or `python -m leafid`."""

import signal
import sys

from ._leafid import cli


def main() -> int:
    """Run the command line of this process; answer its exit code."""
    # The command runs without the interpreter: Ctrl-C is to end it as it ends other programs, unless it is ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
