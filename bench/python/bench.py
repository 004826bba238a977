"""ns per id of Python id generators, one JSON line per measured subject. Arguments say what to measure."""

import sys


def main():
    for part in sys.argv[1:]:
        if part == "floors":
            import floors

            floors.measure()
        elif part == "peers":
            import peers

            peers.measure()
        else:
            import ours

            dict(
                ours=ours.measure, call=ours.call, loop=ours.plain_loop, fill=ours.fill, footprint=ours.footprint
            )[part]()


if __name__ == "__main__":
    main()
