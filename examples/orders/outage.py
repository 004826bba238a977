"""What it means to who takes ids that their server dies: nothing, for as long as what is at hand lasts.

Takes invoice numbers at a steady rate from `range_server.py`, which is killed and started again meanwhile.

python outage.py DIRECTORY
"""

import logging
import pathlib
import select
import subprocess
import sys
import time

import leafid

SERVER = pathlib.Path(__file__).resolve().parents[1] / "range_server.py"
RATE = 2_400  # numbers a second; the server gives 10,000 at a time
SECONDS = 900  # at most
KILLED_AT, STARTED_AT = 2, 5
SLICES = 100  # of a second
FORM = "{:>6}  {:<6} {:>7} {:>8} {:>8} {:>8} {:>11}"


class Server:
    def __init__(self, database):
        self.database, self.port = database, 0
        self.start()
        self.port = int(self.process.stdout.readline())

    def start(self):
        """After the first time on the same port; `is_up` tells when it listens."""
        command = [sys.executable, str(SERVER), str(self.database), str(self.port), "invoice"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def is_up(self):
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def run(directory):
    """Prints a line a second. Answers what was not as it must be, in words."""
    # The reason is shown below.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    server = Server(directory / "invoices.db")
    url = f"http://127.0.0.1:{server.port}"
    try:
        # A step that does not grow, so that what is at hand is soon used and fetched.
        settings = {"protocol": "range", "adaptive": False, "name": "invoices", "state_dir": directory / "outage"}
        with leafid.Segments(url, **settings, timeout_ms=60_000) as segments:
            return list(watch(server, segments.tag("invoice")))
    except leafid.Error as error:
        return [f"invoice: {error}"]
    finally:
        server.kill()


def watch(server, invoice):
    numbers = [invoice.next()]  # the first one waits for the server
    print(FORM.format("second", "server", "issued", "fetches", "failed", "at hand", "slowest"))
    begun, last, slowest_ms, was = time.monotonic(), invoice.stats(), 0, "up"
    first_waits, waits, seen, back, fetched = last.waits, 0, None, None, None
    for tick in range(1, SECONDS * SLICES + 1):
        for _ in range(RATE // SLICES):
            asked = time.monotonic()
            numbers.append(invoice.next())
            slowest_ms = max(slowest_ms, (time.monotonic() - asked) * 1000)
        now = invoice.stats()
        if was == "starts" and server.is_up():
            back, was, fetches = time.monotonic(), "up", succeeded(now)
        if back and not fetched and succeeded(now) > fetches:
            fetched = time.monotonic()
        if was == "down":
            seen = now.last_error or seen
        if tick % SLICES == 0:
            counts = [succeeded(now) - succeeded(last), now.failures - last.failures]
            print(FORM.format(tick // SLICES, was, f"{RATE:,}", *counts, f"{now.left:,}", f"{slowest_ms:.2f} ms"))
            last, slowest_ms = now, 0
            if fetched:
                break
        if tick == KILLED_AT * SLICES:
            # Until what is at hand outlasts the outage.
            while server.process.poll() is None and invoice.stats().left < (STARTED_AT - KILLED_AT + 1) * RATE:
                time.sleep(0.01)
            begun = time.monotonic() - tick / SLICES
            server.kill()
            was = "down"
        if tick == STARTED_AT * SLICES:
            server.start()
            was, waits = "starts", now.waits - first_waits
        time.sleep(max(0, begun + tick / SLICES - time.monotonic()))

    print(f"\nThe statistics said meanwhile: {seen}")
    print(f"{len(numbers):,} numbers, {numbers[0]:,} to {numbers[-1]:,}; {waits} calls waited while it was down")
    if fetched:
        print(f"It was back, and {(fetched - back) * 1000:.0f} ms later the next numbers were fetched")
    if numbers != sorted(set(numbers)):
        yield "invoice: a number came twice, or out of order"
    if not fetched:
        yield "invoice: nothing was fetched after the server was back"
    if waits:
        yield f"invoice: {waits} calls waited, though what was at hand outlasts the outage"


def succeeded(stats):
    return stats.fetches - stats.failures


if __name__ == "__main__":
    sys.exit("; ".join(run(pathlib.Path(sys.argv[1]))) or None)
