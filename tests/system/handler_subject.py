"""A program whose signal handler forks, and asks for ids, while the interrupted line does: `handler_subject.py
DIRECTORY NAME`. In the child the handler returns into a line that asks for ids; in any other line it ends the child."""

import os
import select
import signal
import sys

import leafid

FORKS = 120


def main(directory, name):
    flake = leafid.Snowflake("0-63", name=name, state_dir=directory, timeout_ms=120_000)
    parent = os.getpid()
    read, write = os.pipe()
    ids, forks, children, asking = [], 0, set(), False

    def report(mine):
        os.write(write, (" ".join(map(str, mine)) + "\n").encode())

    def handler(*_):
        nonlocal forks
        if os.getpid() != parent:
            return
        ids.append(flake.next())
        reap()
        if len(children) < 6 and forks < FORKS:
            forks += 1
            pid = os.fork()
            if pid == 0:
                report([flake.next(), *flake.take(20)])
                if forks % 2 or not asking:
                    os._exit(0)
                return
            children.add(pid)
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    def reap():
        for pid in list(children):
            try:
                done, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                # The handler waits for it in the middle of this loop.
                continue
            if done and pid in children:
                children.remove(pid)
                assert status == 0, f"a child ended with {status}"

    lines = []

    def drain():
        while select.select([read], [], [], 0)[0] and (chunk := os.read(read, 1 << 16)):
            lines.append(chunk)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while forks < FORKS or children:
        asking = True
        batch = [flake.next() for _ in range(200)] if forks % 3 else flake.take(8_000)
        asking = False
        if os.getpid() != parent:
            # What the interrupted line made is in part the parent's.
            report(flake.take(20))
            os._exit(0)
        ids.extend(batch)
        drain()
        reap()
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.close(write)
    drain()
    theirs = list(map(int, b"".join(lines).split()))
    everything = ids + theirs
    assert len(theirs) >= 20 * FORKS, len(theirs)
    assert len(set(everything)) == len(everything), f"{len(everything) - len(set(everything))} duplicates"
    print(f"{len(everything)} ids, {forks} forks")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
