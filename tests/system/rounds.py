"""A thousand of everything, one after another: what the process costs afterwards is what it cost before."""

import os
import time

from harness import place, test
from servers import FakeServer
from subjects import LANGUAGES, Serve, environment, words

ROUNDS = 1_000
WARM = 100
# V8 fills tables of its own for longer.
WARM_NODE = 4_000
WARM_SEGMENTS_NODE = 1_200
IDS = 32
# With threads of its own, several heaps and large spaces V8's memory wanders by more than a leak would add.
STEADY_NODE = ["node", "--single-threaded", "--max-semi-space-size=1", *LANGUAGES["node"][1:]]
# What memory may grow by: a quarter of a KiB a round, and in Node, whose pages are larger, one; a worker thread leaves
# pieces of the freed heap between others'.
KIB, KIB_NODE, KIB_WORKERS = 256, 1_024, 4_096
MAPPINGS = 8


def cost(subject):
    """Resident KiB, mappings, threads and descriptors of a subject once it is at rest."""
    before, end, proc = None, time.monotonic() + 2, f"/proc/{subject.pid}"
    while True:
        with open(f"{proc}/statm") as statm, open(f"{proc}/maps") as maps:
            now = {"KiB": int(statm.read().split()[1]) * 4, "mappings": len(maps.readlines())}
        now |= {"threads": subject.threads(), "descriptors": len(os.listdir(f"{proc}/fd"))}
        if now == before or time.monotonic() > end:
            return now
        before = now
        time.sleep(0.1)


def come_back(subject, where, action, warm, kib):
    """As `comes_back`. No id of the range may be lost by it."""
    note = comes_back(subject, action, warm, kib)
    other = Serve()
    for worker in range(IDS):
        other.do("open", worker, *where.options(worker=worker))
    other.quit()
    return note


def comes_back(subject, action, warm, kib):
    """Does the action `warm` times, and then `ROUNDS` times more: up to four times, for a leak grows each time, and what a
    language's memory manager does with its heap does not."""
    action(warm)
    limits = {"KiB": kib, "mappings": MAPPINGS, "threads": 0, "descriptors": 0}
    after, grown = cost(subject), []
    for _ in range(4):
        before = after
        action(ROUNDS)
        after = cost(subject)
        grown.append({key: after[key] - before[key] for key in before})
        if all(grown[-1][key] <= limits[key] for key in limits):
            subject.quit()
            return f"grown by {grown[-1]['KiB']} KiB of {before['KiB']}, {grown[-1]['mappings']} mappings"
    raise AssertionError(f"grown each time, by {grown}, to {after}")


def subject_of(language):
    program = STEADY_NODE if language == "node" else LANGUAGES[language]
    # With one arena: how many of them there are depends on which threads happened to run side by side.
    return Serve(program=program, env=environment(MALLOC_ARENA_MAX="1"))


for _language in LANGUAGES:

    @test(f"1,000 times open, an id, close: everything comes back, in {_language}", long=_language in ("node", "rust"))
    def _(language=_language):
        where, subject = place(), subject_of(language)

        def rounds(count):
            # One id of the range: of another one the next id may lie below.
            assert subject.do("rounds", count, *where.options(worker=7)) == f"{count} true"

        node = language == "node"
        return come_back(subject, where, rounds, WARM_NODE if node else WARM, KIB_NODE if node else KIB)


for _language in ("rust", "c", "python"):

    @test(f"1,000 forks, each makes an id and ends: everything comes back, in {_language}", long=_language == "python")
    def _(language=_language):
        where, subject = place(), subject_of(language)

        def forks(count):
            subject.do("open", "a", *where.options(worker=f"0-{IDS - 1}"))
            assert subject.do("forks", "a", count) == f"{2 * count} {2 * count} 0", "an id is missing, or came twice"
            subject.do("close", "a")

        return come_back(subject, where, forks, WARM, KIB)


@test("1,000 worker threads of Node, each opens, makes ids and ends without a close: everything comes back", long=True)
def _():
    where, subject = place(), subject_of("node")

    def workers(count):
        told = subject.do("workers", count, *where.options(worker=7))
        assert told.startswith(f"{count} true "), told

    return come_back(subject, where, workers, WARM, KIB_WORKERS)


SOURCES = {"rust": ("a callback", "a server", "a file: directory"), "node": ("a server",)}

for _language in LANGUAGES:
    for _source in SOURCES.get(_language, ("a callback", "a server")):

        @test(f"1,000 times open segments of {_source}, an id, close: everything comes back, in {_language}")
        def _(language=_language, source=_source):
            where, more = place(), {"adaptive": "no"}
            if source == "a server":
                more["servers"] = FakeServer().url
            if source == "a file: directory":
                more |= {"servers": f"file:{where.dir}/counters", "create": "yes", "tags": "order:1:10"}
            node = language == "node"
            subject = subject_of(language)

            def rounds(count):
                assert subject.do("rounds", count, *words(where, **more)) == f"{count} true"

            return comes_back(subject, rounds, WARM_SEGMENTS_NODE if node else WARM, KIB_NODE if node else KIB)
