"""Each way in which a generator can end: a clean close writes the exact end, a crash leaves the record above it."""

import resource
import signal
import time

from harness import now_ms, place, record, test, time_of, wait_for
from subjects import LANGUAGES, Serve

# The command by which a subject ends its generators, or the signal it is sent. `quit` is the end of its program.
CLEAN = {
    "rust": ["close a", "drop a", "quit", "end panic"],
    "c": ["close a"],
    # An unhandled SIGINT is an exception there.
    "python": ["close a", "quit", "end exit", "end raise", "end atexit", "end collect", signal.SIGINT],
    "node": ["close a", "quit", "end exit", "end throw", "end reject", "end collect"],
}
KILLS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, "end abort"]
CRASHES = {
    "rust": [*KILLS, signal.SIGINT, "end exit"],
    # A C program closes by itself or not at all.
    "c": [*KILLS, signal.SIGINT, "end exit", "quit"],
    "python": [*KILLS, "end _exit"],
    "node": [*KILLS, signal.SIGINT],
}
# These leave the process running.
STAYS = ("close a", "drop a", "end collect")


def default_signals():
    """A runner in the background may have passed on that they are ignored. And no dump of `abort` is kept."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def end(language, how):
    """Ends a generator so; answers its last id and where the record ends, and that the next start is above."""
    where = place()
    subject = Serve(language, preexec_fn=default_signals).open("a", *where.options(worker=2))
    _, _, _, last = subject.run("a", 20)
    if isinstance(how, signal.Signals):
        subject.process.send_signal(how)
    elif how in STAYS:
        subject.do(how)
    else:
        subject.send(how)
        if how == "end atexit":
            last = int(subject.answer())
    if how not in STAYS:
        subject.process.wait()
    until = record(where.file(2))["until_ms"]
    again = Serve().open("a", *where.options(worker=2))
    fresh = again.ids("a")[0]
    assert fresh > last, f"{how}: {fresh} after {last}: began below ids issued"
    again.quit()
    subject.kill()
    return time_of(last), until, time_of(fresh)


for _language in LANGUAGES:

    @test(f"each clean close writes the exact end, and a restart does not begin ahead, in {_language}")
    def _(language=_language):
        for how in CLEAN[language]:
            last, until, fresh = end(language, how)
            assert until == last + 1, f"{how}: the record ends {until - last} ms after the last id"
            assert fresh <= now_ms(), f"{how}: the restart began {fresh - now_ms()} ms ahead of the clock"

    @test(f"each crash leaves the record as it was, above the ids issued, in {_language}")
    def _(language=_language):
        for how in CRASHES[language]:
            last, until, fresh = end(language, how)
            assert until > last + 1, f"{how}: the record ends {until - last} ms after the last id"
            assert fresh >= until, f"{how}: the restart began at {fresh}, inside a span that ended at {until}"


@test("a worker thread of Node that ends, or calls process.exit, writes the exact end")
def _():
    # Every other one ends by process.exit.
    for count in (1, 2):
        where, subject = place(), Serve("node")
        told, rising, last = subject.do("workers", count, *where.options(worker=2)).split()
        assert (told, rising) == (str(count), "true")
        until = record(where.file(2))["until_ms"]
        after = until - time_of(int(last))
        assert after == 1, f"{count}: the record ends {after} ms after the last id"
        subject.quit()


@test("no thread before the first id is asked for, none after the close, in all languages")
def _():
    for language in LANGUAGES:
        where, subject = place(), Serve(language)
        # Node's own threads come with its first work.
        subject.do("open", "a", *where.options(worker=1))
        subject.do("close", "a")
        before = settled(subject)
        subject.do("open", "a", *where.options(worker=1))
        wait_for(lambda: subject.threads() == before, f"{language}: the end of the threads of the opening")
        in_use(subject, before + 1)
        subject.do("close", "a")
        wait_for(lambda: subject.threads() == before, f"{language}: the end of the thread after the close")
        subject.quit()


def in_use(subject, threads):
    """Waits until it has so many while it makes ids, for the thread of a generator at rest ends. It never has more."""

    def has_them():
        subject.ids("a")
        now = subject.threads()
        assert now <= threads, f"{now} threads in use, not {threads}"
        return now == threads

    wait_for(has_them, f"{threads} threads in use")


def settled(subject):
    """The threads of a subject once their number stands."""
    before, since = subject.threads(), time.monotonic()
    while time.monotonic() < since + 2:
        time.sleep(0.05)
        if (now := subject.threads()) != before:
            before, since = now, time.monotonic()
    return before
