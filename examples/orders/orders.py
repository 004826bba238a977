"""Order intake in Python: one generator, opened before four workers are forked. Writes its orders to standard output.

python orders.py COUNT SEED
"""

import os
import random
import sys
import time

import leafid

WORKERS = 4
# As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece: the lines
# of the workers do not mix, and one that is killed leaves no half line.
BATCH = 50
PRICES = [249, 499, 899, 1290, 1999, 4950, 12900, 39900]


def make_orders(flake, count, seed, ids):
    rng = random.Random(seed)
    for done in range(0, count, BATCH):
        lines = []
        for id in ids(flake, min(BATCH, count - done)):
            customer = 1 + int(200 * rng.random()) * int(200 * rng.random())
            amount_cents = rng.choice(PRICES) * (1 + int(4 * rng.random()))
            created_ms = time.time_ns() // 1_000_000
            lines.append(f"{os.getpid()}\t{id}\tC-{customer:05}\t{amount_cents}\t{created_ms}\n")
        os.write(1, "".join(lines).encode())


def one_by_one(flake, n):
    return [flake.next() for _ in range(n)]


def in_batches(flake, n):
    return flake.take(n)


def main(count, seed):
    flake = leafid.Snowflake(worker=range(0, 32), name="orders")
    workers = []
    for worker in range(WORKERS):
        pid = os.fork()
        if pid == 0:
            # The first id claims a worker id of the child's own: nothing of the parent's is used twice.
            make_orders(flake, count, 10 * seed + worker, in_batches if worker % 2 else one_by_one)
            sys.exit()
        workers.append(pid)
    failed = [pid for pid in workers if os.waitpid(pid, 0)[1] != 0]
    if failed:
        sys.exit(f"workers {failed} failed")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
