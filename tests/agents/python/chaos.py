"""`chaos` in Python: as in C, with the same words and files."""

import array
import errno
import logging
import os
import random
import select
import signal
import sys
import threading
import time

import leafid

LONG_MS = 200
WORDS = dict(word.partition("=")[::2] for word in sys.argv[2:])
THREADS, BATCH = int(WORDS.get("threads", 1)), int(WORDS.get("batch", 64))
PAUSE_S = int(WORDS.get("pause_us", 2000)) / 1e6
NOTES = os.open(WORDS["notes"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


class Signals:
    ending = fork_wanted = False


def now_ms():
    return time.monotonic_ns() // 1_000_000


def kept_waiting_us():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) // 1000


def note(what, text=""):
    os.write(NOTES, f"{now_ms()} {os.getpid()} {what} {text}"[:1190].replace("\n", " ").encode() + b"\n")


def rest(made):
    # Not time.sleep: libfaketime refuses its absolute times while the monotonic clock is true.
    select.select([], [], [], PAUSE_S if made else 0.02)


class Line:
    """What one thread makes ids of one kind for."""

    def __init__(self, number, kind, take, take_one):
        self.number, self.kind, self.take, self.take_one = number, kind, take, take_one
        self.code = ""

    def open_file(self, is_alone):
        order = "rising" if self.kind == "flakes" and is_alone else "mixed"
        path = f"{WORDS['out']}/{self.kind}/{order}-{WORDS['run']}-{os.getpid()}-{self.number}"
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self.last_ms = self.sampled_ms = self.waited_us = self.turn = 0

    def make(self):
        """Ids of one kind, once: whether there were any."""
        n = (1, 7, BATCH)[self.turn % 3]
        self.turn += 1
        try:
            ids = array.array("q", [self.take_one()] if n == 1 else self.take(n)).tobytes()
        except leafid.Error as error:
            self.note_error(error)
            return False
        if os.write(self.file, ids) != len(ids):
            sys.exit("a write was cut short")
        now = now_ms()
        if not self.last_ms:
            self.waited_us, self.sampled_ms = kept_waiting_us(), now
        elif now - self.last_ms > LONG_MS or now - self.sampled_ms > LONG_MS / 2:
            self.note_pause(now)
        self.last_ms, self.code = now, ""
        return True

    def note_error(self, error):
        """It counts once until ids come again, or another one."""
        if error.code != self.code:
            self.code = error.code
            note("error", f"{self.kind} {error.code}: {error}")

    def note_pause(self, now):
        waited_us = kept_waiting_us()
        if now - self.last_ms > LONG_MS:
            waited_ms = (waited_us - self.waited_us) // 1000
            note("pause", f"{self.kind} {self.last_ms} {now} {waited_ms} {self.code or '-'}")
        self.sampled_ms, self.waited_us = now, waited_us

    def keep_making(self):
        while not Signals.ending:
            rest(self.make())
        self.end()

    def end(self):
        if self.last_ms:
            self.note_pause(now_ms())


def opened(make):
    """Opens again and again: a refusal is no end."""
    line = Line(0, "opening", None, None)
    while not Signals.ending:
        try:
            return make()
        except leafid.Error as error:
            line.note_error(error)
            select.select([], [], [], 0.05)


def open_all():
    shared = {"name": WORDS["name"], "state_dir": WORDS["dir"]}
    flake = segments = None
    lines = []
    if WORDS.get("worker"):
        begun = now_ms()
        flake = opened(lambda: leafid.Snowflake(WORDS["worker"], **shared))
        if flake:
            note("in", f"{flake.worker_id} {now_ms() - begun}")
            lines += [("flakes", flake.take, flake.next)] * max(THREADS - 1, 1)
    if WORDS.get("tags"):
        servers = {"protocol": "range", "adaptive": False}
        segments = opened(lambda: leafid.Segments(WORDS["servers"], **servers, **shared))
        for name in WORDS["tags"].split(",") if segments else ():
            tag = segments.tag(name)
            lines.append((name, tag.take, tag.next))
    return flake, segments, [Line(number, *line) for number, line in enumerate(lines)]


def be_child(seed, lines, handles):
    """Goes on with all handles by turns, for at most three seconds, and ends in one of four ways."""
    chance = random.Random(seed)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    # The parent's threads are not here: one line is enough for all snowflakes.
    mine = list({line.kind: line for line in lines}.values())
    for line in lines:
        os.close(line.file)
    for line in mine:
        line.code = ""
        line.open_file(True)
    end = now_ms() + chance.randrange(20, 3000)
    while not Signals.ending and now_ms() < end:
        rest(any([line.make() for line in mine]))
    match chance.randrange(4):
        case 0:
            sys.exit(0)
        case 1:
            os._exit(0)
        case 2:
            os.kill(os.getpid(), signal.SIGKILL)
    for handle in handles:
        handle.close()
    sys.exit(0)


def reap(how):
    try:
        while (ended := os.waitpid(-1, how))[0]:
            code = os.waitstatus_to_exitcode(ended[1])
            note("child", f"signal {-code}" if code < 0 else f"code {code}")
    except OSError as error:
        if error.errno != errno.ECHILD:
            raise


def main():
    # Warnings have a log of their own: what is logged here is a crash.
    logging.getLogger("leafid").addHandler(logging.NullHandler())
    signal.signal(signal.SIGTERM, lambda *_: setattr(Signals, "ending", True))
    signal.signal(signal.SIGUSR1, lambda *_: setattr(Signals, "fork_wanted", True))
    chance = random.Random(int(WORDS.get("seed", 1)))
    flake, segments, lines = open_all()
    handles = [handle for handle in (flake, segments) if handle]
    for line in lines:
        line.open_file(THREADS == 1)
    apart = lines[1:] if THREADS > 1 else []
    others = [threading.Thread(target=line.keep_making) for line in apart]
    for thread in others:
        thread.start()
    while not Signals.ending and lines:
        rest(any([line.make() for line in lines if line not in apart]))
        reap(os.WNOHANG)
        if Signals.fork_wanted:
            seed, Signals.fork_wanted = chance.randrange(1 << 30), False
            if os.fork() == 0:
                be_child(seed, lines, handles)
            note("fork")
    for line in lines:
        if line not in apart:
            line.end()
    for thread in others:
        thread.join()
    for handle in handles:
        handle.close()
    reap(0)
    note("done")
