"""What a start costs: importing the module, above an empty process; and the first id after that, beside a durable write."""

import os
import statistics
import sys
import time

from harness import measured

ROUNDS = 21
FIRST = """
import sys, time, leafid
begun = time.perf_counter()
leafid.Snowflake(worker=1, name=sys.argv[1], state_dir=sys.argv[2]).next()
print((time.perf_counter() - begun) * 1000)
"""


def measure():
    imports()
    first_id(os.environ["BENCH_STATE"])


def process_ms(code):
    begun = time.perf_counter()
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ)
    _, status = os.waitpid(pid, 0)
    took = (time.perf_counter() - begun) * 1000
    if status:
        raise RuntimeError(f"{code!r} failed")
    return took


def imports():
    """Medians, of what is above and of the empty process, in turn; the first of each finds nothing in the page cache."""
    process_ms("pass"), process_ms("import leafid")
    empty, above = [], []
    for _ in range(ROUNDS):
        empty.append(process_ms("pass"))
        above.append(process_ms("import leafid") - empty[-1])
    measured("start_import", statistics.median(above), statistics.median(empty))


def first_id(directory):
    """In a process of its own each: with a state file that is made, and with one that is there."""
    new, found, floor = [], [], []
    for round in range(ROUNDS):
        name = f"bench-start-py-{os.getpid()}-{round}"
        floor.append(durable_write_ms(directory))
        new.append(first_id_ms(name, directory))
        found.append(first_id_ms(name, directory))
    floor = statistics.median(floor)
    measured("first_id_new", statistics.median(new), floor)
    measured("first_id", statistics.median(found), floor)


def first_id_ms(name, directory):
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_CLOSE, reader)]
    command = [sys.executable, "-c", FIRST, name, directory]
    pid = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions)
    os.close(writer)
    with os.fdopen(reader) as output:
        said = output.read()
    os.waitpid(pid, 0)
    return float(said)


def durable_write_ms(directory):
    fd = os.open(os.path.join(directory, "durable"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        # The second one finds the file as long as it is to be, as a state file is.
        for _ in range(2):
            begun = time.perf_counter()
            os.pwrite(fd, bytes(4096), 0)
            os.fdatasync(fd)
            took = (time.perf_counter() - begun) * 1000
        return took
    finally:
        os.close(fd)
