"""What befalls the programs, and when: made of the seed alone, so that a seed replays it."""

import hashlib
import random
from typing import NamedTuple

LEASE_MS = 1_500
THRESHOLD_MS = 1_000
# The last seconds are quiet: what was damaged must have come back by itself.
QUIET_S = 5
HOUR = 3600
YEARS = 3650 * 86_400

# Of one program: its language, its words, whose clock it reads (none: the true one), and whether it forks. `host` is a
# state directory of its own, in namespaces that make it another host to leafid.
PROGRAMS = {
    "c-range": ("c", {"worker": "range"}, "a", True),
    "c-threads": ("c", {"worker": "range", "tags": "order,shop", "threads": 4}, None, True),
    "c-fixed": ("c", {"worker": "fixed"}, "b", False),
    "c-lease": ("c", {"worker": "lease"}, "a", True),
    "c-guest": ("c", {"worker": "lease", "host": "guest-c"}, "c", False),
    "c-tags": ("c", {"tags": "order,shop"}, None, True),
    "python-range": ("python", {"worker": "range"}, "a", True),
    "python-threads": ("python", {"worker": "range", "tags": "order,user", "threads": 3}, None, True),
    "python-guest": ("python", {"worker": "lease", "host": "guest-python"}, "d", False),
    "node-range": ("node", {"worker": "range", "tags": "order,user"}, "a", False),
    "node-lease": ("node", {"worker": "lease", "tags": "shop,user"}, None, False),
    "node-guest": ("node", {"worker": "lease", "host": "guest-node"}, "c", False),
    "java-range": ("java", {"worker": "range", "tags": "order,shop"}, "a", False),
    "java-lease": ("java", {"worker": "lease", "threads": 3}, None, False),
}
TAGS = ("order", "shop", "user")
CLOCKS = ("a", "b", "c", "d")
LIVES_S = {"c": 2.5, "python": 6, "node": 8, "java": 10}

# Faults of the source of segments, for how long at most: lies that every client can see through, failures, delays.
LIES = {
    "a range twice": {"duplicate": True},
    "another tag's range": {"other": "elsewhere"},
    "another tag's answer, late": {"late_other": {"tag": "elsewhere", "after_ms": 5}},
    "a wrong nonce": {"answer": {"nonce": "x"}},
    "an end below its start": {"answer": {"start": "7", "end": "7"}},
    "an end past 64 bits": {"answer": {"end": "9223372036854775808"}},
    "a cached answer": {"headers": {"Age": "5"}},
    "half an answer": {"cut": "half"},
    "no framing": {"framing": "none"},
    "a page of HTML": {"body": "<html>busy</html>"},
    "an error 500": {"status": 500, "body": "broken"},
    "no such tag": {"status": 404, "body": {"error": "unknown_tag", "message": "gone"}},
    "a redirect": {"status": 302, "body": "", "headers": {"Location": "http://127.0.0.1:9/"}},
    "a lost answer": {"lost": True},
    "a request made twice": {"retry": True},
    "a reset": {"reset": True},
    "a hang": {"hang": True},
    "slowness": {"delay_ms": 300},
    "a delay past the client's patience": {"delay_ms": 1500},
}
# To the server of leases nothing is said that would give one id to two hosts: that is not promised.
LEASE_LIES = {
    "a span that is over": {"answer": {"until": 7}},
    "a worker id that there is not": {"answer": {"worker_id": 5000}},
    "a lease that is lost": {"status": 409, "body": {"error": "worker_lost", "message": "gone"}},
    **{key: LIES[key] for key in ("a lost answer", "a request made twice", "a reset", "a hang", "slowness")},
    **{key: LIES[key] for key in ("half an answer", "an error 500", "a cached answer", "a page of HTML")},
    "an answer given to two": {"duplicate": True},
    "requests made one": {"collapse": 2},
    "an answer to no request": {"answer": {"instance": "x", "nonce": "x"}},
}
ACTIONS = ("refused", "hangs", "restarted")


class Event(NamedTuple):
    at: float
    what: str
    who: str
    more: tuple = ()


def schedule(seed, seconds):
    """All events, by time."""
    end = seconds - QUIET_S
    events = []
    for part in (killed, stopped, forked, moved, starved):
        # Each has a chance of its own: what is changed in one leaves the others as they were.
        chance = random.Random(f"{seed} {part.__name__}")
        events += [event for event in part(chance, end) if event.at < end]
    for server, lies, seldom in (("source", LIES, 2.0), ("lease_server", LEASE_LIES, 3.5)):
        events += misled(random.Random(f"{seed} {server}"), end, server, lies, seldom)
    return sorted(events)


def digest(events):
    return hashlib.sha256(repr(events).encode()).hexdigest()[:12]


def times(chance, end, mean, first=1.0):
    at = first + chance.random() * mean
    while at < end:
        yield at
        at += mean * chance.uniform(0.3, 1.7)


def killed(chance, end):
    """Lives end by SIGKILL, some of them cleanly; the next one begins soon, some on a clock that was moved meanwhile."""
    for name, (language, _, clock, _) in PROGRAMS.items():
        for turn, at in enumerate(times(chance, end, LIVES_S[language], first=0.5 + 0.2 * LIVES_S[language])):
            how = "end" if turn % 8 == 3 else "kill"
            dead_s = chance.choice((0, 0, 0.03, 0.2, 1.0))
            move = chance.uniform(-4.5, 4.5) if clock in ("b", "d") and turn % 2 else None
            yield Event(at, how, name, (dead_s, move))


def stopped(chance, end):
    for turn, at in enumerate(times(chance, end, 2.0)):
        name = chance.choice([*PROGRAMS])
        if turn % 2:
            # Of those with a lease, for longer than it and its span can last.
            name = chance.choice([name for name, of in PROGRAMS.items() if of[1].get("worker") == "lease"])
        seconds = chance.uniform(2.6, 4.0) if turn % 2 else chance.uniform(0.03, 1.0)
        yield Event(at, "stop", name, (seconds,))


def forked(chance, end):
    for name, (_, _, _, forks) in PROGRAMS.items():
        for at in times(chance, end, 1.5) if forks else ():
            yield Event(at, "fork", name)


def moved(chance, end):
    for clock in CLOCKS:
        for at in times(chance, end, 1.6):
            kind = chance.random()
            if kind < 0.7 or at > end - 15:
                far = 4.5 if kind < 0.5 else 0.05
                yield Event(at, "clock", clock, (chance.uniform(-far, far),))
                continue
            far = -HOUR if kind < 0.8 else YEARS if kind < 0.9 else chance.uniform(-9, 9)
            yield Event(at, "clock", clock, (far,))
            yield Event(at + chance.uniform(0.2, 1.2), "clock", clock, (chance.uniform(-2, 2),))


def starved(chance, end):
    """The disk is full, or the directory read-only, by turns."""
    for turn, at in enumerate(times(chance, end - 3, 3.5)):
        yield Event(at, ("full", "read-only")[turn % 2], "disk", (chance.uniform(0.4, 2.5),))


def misled(chance, end, server, lies, mean):
    """One fault after another, each once before any comes twice."""
    deck, tags = [], TAGS if server == "source" else ("claim", "renew", "release")
    at = 1.0
    while at < end - 2:
        if not deck:
            deck = [*lies, *ACTIONS, *(("rewound",) * 3 if server == "source" else ())]
            chance.shuffle(deck)
            if at == 1.0:
                # Also in a short run.
                deck.sort(key=("restarted", "rewound").__contains__)
        what = deck.pop()
        seconds = chance.uniform(0.2, 0.8 * mean)
        if what in lies:
            yield Event(at, "lie", server, (what, chance.choice((None, *tags)), seconds))
        elif what == "rewound":
            yield Event(at, what, server, (chance.choice(tags), chance.choice((1, 1_000, 30_000)), seconds))
        else:
            # A server of leases that knows its table for the latest, or one that has to take it for an old one.
            yield Event(at, what, server, (seconds, chance.random() < 0.7))
        at += seconds + chance.uniform(0.05, 0.4) * mean
