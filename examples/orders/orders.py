"""Order intake in Python: one generator, opened before four workers are forked. Writes its orders to standard output.

python orders.py COUNT SEED NUMBERS SHOP...

Each order has an id, and a number among those of its shop. NUMBERS is where the numbers come from, `file:DIR` or the URLs
of a Leaf with commas between, and the worker ids come from a range then, as on one host; or it is a database that both
come from, as between hosts that share nothing else.
"""

import os
import random
import sys
import time

import leafid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from database_segments import Counters  # noqa: E402
from database_workers import Workers  # noqa: E402

WORKERS = 4
# Numbers that a process fetches at a time from the database: the more, the fewer transactions, and the larger the gaps.
STEP = 5_000
# As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece: the lines
# of the workers do not mix, and one that is killed leaves no half line.
BATCH = 50
PRICES = [249, 499, 899, 1290, 1999, 4950, 12900, 39900]


def make_orders(flake, shops, count, seed, ids):
    rng = random.Random(seed)
    for done in range(0, count, BATCH):
        n, shop = min(BATCH, count - done), rng.choice(shops)
        lines = []
        for id, number in zip(ids(flake, n), ids(shop, n)):
            customer = 1 + int(200 * rng.random()) * int(200 * rng.random())
            amount_cents = rng.choice(PRICES) * (1 + int(4 * rng.random()))
            created_ms = time.time_ns() // 1_000_000
            lines.append(f"{os.getpid()}\t{id}\t{shop.name}\t{number}\tC-{customer:05}\t{amount_cents}\t{created_ms}\n")
        os.write(1, "".join(lines).encode())


def one_by_one(source, n):
    return [source.next() for _ in range(n)]


def in_batches(source, n):
    return source.take(n)


def open_all(numbers, shops):
    """The generator, and the segments that the numbers of all shops come from."""
    # On a busy machine a call may wait for a minute. A step that does not grow keeps the gaps of killed processes small.
    more = {"name": "orders", "timeout_ms": 60_000}
    if numbers.startswith(("file:", "http:")):
        worker = range(0, 32)
        servers = numbers if numbers.startswith("file:") else numbers.split(",")
        segments = leafid.Segments(servers, adaptive=False, **more)
    else:
        # The ids of the pool are none of the range: both kinds of host fill one column.
        worker, counters = Workers(numbers, range(32, 96)), Counters(numbers, shops)
        segments = leafid.Segments(fetch=counters.fetch, step=STEP, adaptive=False, **more)
    return leafid.Snowflake(worker, **more), segments


def main(count, seed, numbers, *shops):
    flake, segments = open_all(numbers, shops)
    tags = [segments.tag(shop) for shop in shops]
    workers = []
    for worker in range(WORKERS):
        pid = os.fork()
        if pid == 0:
            # The first id claims a worker id of the child's own, and the first number fetches a segment of its own:
            # nothing of the parent's is used twice.
            make_orders(flake, tags, count, 10 * seed + worker, in_batches if worker % 2 else one_by_one)
            sys.exit()
        workers.append(pid)
    failed = [pid for pid in workers if os.waitpid(pid, 0)[1] != 0]
    if failed:
        sys.exit(f"workers {failed} failed")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
