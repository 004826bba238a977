"""Several hosts, each a network namespace with a clock of its own, whose processes lease worker ids from one server
through a proxy that delays, cuts off, repeats and mixes up. Processes are killed, stopped, and started again on other
hosts, with their directory or without; links go down for longer than a lease lasts. No id comes twice.

`make hosts SECONDS=60 SEED=7`: for longer, and what befalls them again.
"""

import heapq
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

from harness import HERE, Skip, need, need_root, test, wait_for
from lessees import Pool
from tricks import faketime, leashed, offset, secluded

sys.path.append(str(HERE.parent / "chaos"))
from judge import sort  # noqa: E402
from schedule import Event, digest, times  # noqa: E402

from balancer import LENGTH, read  # noqa: E402

SECONDS = int(os.environ.get("SECONDS") or 14)
SEED = int(os.environ.get("SEED") or 0)
LEASE_MS, THRESHOLD_MS = 1_200, 1_500
# In the end nothing happens to them: all must continue.
QUIET_S = 3
HOSTS = (1, 2, 3, 4)
# Their clocks are so far from the true one, and wander.
CLOCKS = {1: 0.0, 2: -1.0, 3: 0.9, 4: -2.5}
PODS = {
    "rust-1": 1, "rust-2": 2, "c-1": 3, "c-2": 4, "python-1": 1, "python-2": 3, "node-1": 2, "node-2": 4,
}  # fmt: skip
LIVES_S = {"rust": 2.5, "c": 2.5, "python": 5, "node": 6}
MODES = ("delays", "cuts off", "asks twice", "repeats answers", "answers two alike", "swaps answers")
# While the world is as bad as here. Anything else is wrong.
MAY_HAPPEN = {"worker_in_use", "worker_lost", "source_invalid", "clock_backwards"}


def schedule(seed, seconds):
    """What happens, by time, made of the seed alone."""
    end, events = seconds - QUIET_S, []
    for part in (killed, stopped, parted, moved, mixed_up):
        events += [event for event in part(random.Random(f"{seed} {part.__name__}"), end) if event.at < end]
    return sorted(events)


def killed(chance, end):
    """The next one begins on the same host, on another one with the directory, or without it."""
    for pod in PODS:
        for at in times(chance, end, LIVES_S[pod.split("-")[0]], first=1.5):
            how = chance.choice(("stays", "moves", "loses"))
            yield Event(at, "kill", pod, (how, chance.choice(HOSTS), chance.choice((0, 0, 0.1, 0.5))))
    # All at once.
    for at in times(chance, end, 4.0, first=2.5):
        for pod in PODS:
            yield Event(at, "kill", pod, (chance.choice(("stays", "moves", "loses")), chance.choice(HOSTS), 0))


def stopped(chance, end):
    for turn, at in enumerate(times(chance, end, 2.5)):
        yield Event(at, "stop", chance.choice([*PODS]), (0.3 if turn % 2 else 3.5,))


def parted(chance, end):
    """Every other time for longer than a lease can last."""
    for turn, at in enumerate(times(chance, end, 2.5)):
        yield Event(at, "part", chance.choice(HOSTS), (0.6 if turn % 2 else chance.uniform(3.2, 4.0),))


def moved(chance, end):
    for host in HOSTS:
        for at in times(chance, end, 2.0):
            yield Event(at, "clock", host, (CLOCKS[host] + chance.uniform(-0.5, 0.5),))


def mixed_up(chance, end):
    """One mode of the proxy after another, each before any comes again."""
    deck, at = [], 0.5
    while at < end:
        deck = deck or chance.sample(MODES, len(MODES))
        seconds = chance.uniform(0.5, 1.4)
        yield Event(at, "proxy", deck.pop(), (seconds,))
        at += seconds + chance.uniform(0, 0.3)


class Proxy:
    """In front of the server of leases. `forges`: it writes into an answer what the request wants to be echoed."""

    def __init__(self, port):
        self.port_behind, self.mode, self.forges, self.patience_s = port, None, False, 0.3
        self.lock, self.meetings, self.last, self.counts = threading.Lock(), {}, {}, Counter()
        self.socket = socket.create_server(("0.0.0.0", 0), backlog=256)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.converse, args=[client], daemon=True).start()

    def converse(self, client):
        try:
            with client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while request := read(client):
                    answer = self.answer(request, self.mode)
                    client.sendall(answer)
                    if not whole(answer):
                        return
        except OSError:
            # Either side has gone.
            pass

    def ask(self, request):
        with socket.create_connection(("127.0.0.1", self.port_behind), timeout=3) as server:
            server.sendall(request)
            return read(server)

    def answer(self, request, mode):
        path = request.split(b" ", 2)[1]
        if mode == "delays":
            self.counts[mode] += 1
            before = random.uniform(0, 0.9)
            time.sleep(before)
            answer = self.ask(request)
            time.sleep(0.9 - before)
        elif mode == "cuts off":
            self.counts[mode] += 1
            lost = random.randrange(3)
            answer = self.ask(request) if lost else b""
            answer = answer[: random.randrange(len(answer))] if lost == 2 else b""
        elif mode == "asks twice":
            self.counts[mode] += 1
            self.ask(request)
            answer = self.ask(request)
        elif mode == "repeats answers" and path in self.last:
            self.counts[mode] += 1
            answer = self.last[path]
        elif mode in ("answers two alike", "swaps answers"):
            return self.meet(path, request, mode == "swaps answers")
        else:
            answer = self.ask(request)
        if answer.startswith(b"HTTP/1.1 200"):
            self.last[path] = answer
        return forged(answer, request) if self.forges else answer

    def meet(self, path, request, swaps):
        """Waits for others with this path, all of whom are given one answer; or for one, whose answers are swapped."""
        with self.lock:
            meeting = self.meetings.setdefault(path, Meeting())
            nth = next(meeting.places)
            if swaps and nth == 1:
                del self.meetings[path]
        if nth == 0:
            if meeting.second.wait(self.patience_s) and not swaps:
                # More than two may come.
                time.sleep(0.1)
            with self.lock:
                if self.meetings.get(path) is meeting:
                    del self.meetings[path]
            meeting.answers[0] = self.ask(request)
            meeting.done[0].set()
            answer = meeting.answers[0]
            if swaps and next(meeting.places) > 1:
                meeting.done[1].wait(2)
                answer = meeting.answers.get(1, b"")
        else:
            self.counts["swaps answers" if swaps else "answers two alike"] += 1
            meeting.second.set()
            if swaps:
                meeting.answers[1] = self.ask(request)
                meeting.done[1].set()
            meeting.done[0].wait(3)
            answer = meeting.answers.get(0, b"")
        return forged(answer, request) if self.forges else answer


class Meeting:
    def __init__(self):
        self.places, self.answers, self.second = itertools.count(), {}, threading.Event()
        self.done = (threading.Event(), threading.Event())


def whole(answer):
    head, end, body = answer.partition(b"\r\n\r\n")
    length = head.lower().partition(LENGTH)[2].split(b"\r\n")[0]
    return bool(end) and len(body) == int(length or 0)


def forged(answer, request):
    """The answer as if it were to this request."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        return answer
    asked = json.loads(request.partition(b"\r\n\r\n")[2])
    told = json.loads(body) | {key: asked[key] for key in ("instance", "nonce") if key in asked}
    body = json.dumps(told).encode()
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(LENGTH)]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


def ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(map(str, words))}: {done.stderr.strip()}"


class World(Pool):
    """The hosts, the network between them, the server and its proxy; and what runs there."""

    def __init__(self):
        need_root("network namespaces with links between them")
        need("ip", "iproute2")
        secluded(network=True)
        # Names of namespaces are kept in /run: in one of our own they are gone with us.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        ip("link", "set", "lo", "up")
        try:
            ip("link", "add", "tried", "type", "veth", "peer", "name", "other")
            ip("link", "del", "tried")
        except AssertionError as error:
            raise Skip(f"the kernel does not link network namespaces (veth): {error}") from None
        super().__init__(size=24, lease_ms=LEASE_MS, threshold_ms=THRESHOLD_MS)
        self.clocks = {}
        for host in HOSTS:
            ip("netns", "add", f"h{host}")
            ip("link", "add", f"v{host}", "type", "veth", "peer", "name", "eth0", "netns", f"h{host}")
            ip("addr", "add", f"10.77.{host}.1/24", "dev", f"v{host}")
            ip("link", "set", f"v{host}", "up")
            ip("-n", f"h{host}", "addr", "add", f"10.77.{host}.2/24", "dev", "eth0")
            ip("-n", f"h{host}", "link", "set", "eth0", "up")
            ip("-n", f"h{host}", "link", "set", "lo", "up")
            # What a host has in /run is its own, too.
            (self.where.dir / f"run-{host}").mkdir()
            self.clock(host, CLOCKS[host])
        self.proxy = Proxy(self.server.port)

    def clock(self, host, seconds):
        self.clocks[host] = self.where.write(f"clock-{host}", offset(seconds))

    def begin(self, host, directory, language, **words):
        """A process on this host."""
        inside = 'mount --bind "$0" /run && exec "$@"'
        before = [*leashed(), "ip", "netns", "exec", f"h{host}", "sh", "-c", inside, self.where.dir / f"run-{host}"]
        env = faketime(FAKETIME_TIMESTAMP_FILE=str(self.clocks[host]))
        given = {"worker": f"http://10.77.{host}.1:{self.proxy.port}", "random_start": 0, "timeout_ms": 1_500, **words}
        return self.start(language, env, directory, before=map(str, before), **given)

    def found(self):
        """What the sorter found in all ids."""
        ids, scratch = self.where.dir / "all-ids", self.where.dir / "scratch"
        for path in (ids, scratch):
            path.mkdir()
        for lessee in self.lessees:
            if lessee.files["ids"].exists():
                (ids / f"mixed-{lessee.name}").symlink_to(lessee.files["ids"])
        return sort(ids, scratch)

    def kill_all(self):
        for lessee in self.lessees:
            if not lessee.killed:
                lessee.kill()


class Run:
    """The programs, and what befalls them."""

    def __init__(self, seed):
        self.events = schedule(seed, SECONDS)
        self.told = f"SEED={seed} SECONDS={SECONDS}, {len(self.events)} events (schedule {digest(self.events)})"
        self.world, self.counts = World(), Counter()
        self.pods = {name: Pod(self, name, host) for name, host in PODS.items()}
        self.later, self.numbers = [], itertools.count()

    def at(self, seconds, action):
        heapq.heappush(self.later, (time.monotonic() + seconds, next(self.numbers), action))

    def befall(self):
        for pod in self.pods.values():
            pod.start()
        for event in self.events:
            self.at(event.at, lambda event=event: getattr(self, event.what)(event.who, *event.more))
        end = time.monotonic() + SECONDS - QUIET_S
        # What was begun before the quiet end is ended in it.
        while self.later:
            due, _, action = heapq.heappop(self.later)
            time.sleep(max(0, due - time.monotonic()))
            action()
        time.sleep(max(0, end - time.monotonic()))

    def kill(self, name, how, host, dead_s):
        pod = self.pods[name]
        if pod.lessee is None:
            self.at(0.1, lambda: self.kill(name, how, host, dead_s))
            return
        pod.lessee.kill()
        pod.lessee = None
        self.counts[f"{how} after a kill"] += 1
        if how == "loses":
            pod.directory = f"{name}-{next(self.numbers)}"
        if how != "stays":
            pod.host = host
        self.at(dead_s, pod.start)

    def stop(self, name, seconds):
        lessee = self.pods[name].lessee
        if lessee is None:
            self.at(0.1, lambda: self.stop(name, seconds))
            return
        os.kill(lessee.pid, signal.SIGSTOP)
        self.counts["stopped for longer than a lease" if seconds > 3 else "stopped"] += 1
        self.at(seconds, lambda: lessee.killed or os.kill(lessee.pid, signal.SIGCONT))

    def part(self, host, seconds):
        ip("link", "set", f"v{host}", "down")
        self.counts["parted for longer than a lease" if seconds > 3 else "parted"] += 1
        self.at(seconds, lambda: ip("link", "set", f"v{host}", "up"))

    def clock(self, host, seconds):
        self.world.clock(host, seconds)
        self.counts["clocks moved"] += 1

    def proxy(self, mode, seconds):
        self.world.proxy.mode = mode
        self.at(seconds, lambda: self.proxy_is_right(mode))

    def proxy_is_right(self, mode):
        if self.world.proxy.mode == mode:
            self.world.proxy.mode = None


class Pod:
    def __init__(self, run, name, host):
        self.run, self.name, self.host, self.directory, self.lessee = run, name, host, name, None

    def start(self):
        language = self.name.split("-")[0]
        # Files stay small however long it runs.
        pause_us = 1_500 * max(1, SECONDS // 60)
        self.lessee = self.run.world.begin(self.host, self.directory, language, pause_us=pause_us)


@test("hosts: moved, parted, stopped, their clocks apart, behind a proxy that mixes up: no id twice")
def _():
    run = Run(SEED or random.randrange(1 << 31))
    try:
        told = judged(run)
    except AssertionError as error:
        raise AssertionError(f"{error}; again: make hosts {run.told}") from None
    return f"{run.told}; {told}"


def judged(run):
    run.befall()
    living = [pod.lessee for pod in run.pods.values()]
    for lessee in living:
        lessee.await_ids()
    for lessee in run.world.lessees:
        lessee.close()
    found, repeated = run.world.found()
    assert not found["duplicates"], f"{found['duplicates']} of {found['ids']} ids were issued twice: {repeated[:4]}"
    count = run.world.judge(200 * SECONDS)
    wrong = {code: lessee.notes("error", "refused") for lessee in run.world.lessees for code in lessee.codes() - MAY_HAPPEN}
    assert not wrong, wrong
    counts = run.counts + run.world.proxy.counts
    missing = [f"{how} after a kill" for how in ("stays", "moves", "loses")]
    missing += ["stopped for longer than a lease", "parted for longer than a lease", "clocks moved"]
    missing = [what for what in missing if not counts[what]]
    assert not missing, f"none was seen of {missing}, so this run shows nothing of it"
    assert sum(counts[mode] for mode in MODES) > SECONDS, f"the proxy had too little to do: {run.world.proxy.counts.total()}"
    told = " · ".join(f"{what} {count}" for what, count in sorted(counts.items()))
    workers = sum(key.startswith("worker-") for key in found)
    return f"{count} ids of {workers} worker ids and {len(run.world.lessees)} processes: {told}"


@test("hosts: two that are given one worker id, and a proxy that forges, are found out, so the judge judges")
def _():
    world = World()
    for host in HOSTS:
        world.clock(host, 0.0)
    for host in (1, 2):
        world.begin(host, f"fixed-{host}", "rust", worker=5, name="fixed")
    # What no client can see through: one lease to all, with the echo that each wants.
    world.proxy.mode, world.proxy.forges, world.proxy.patience_s = "answers two alike", True, 8.0
    for host in (3, 4):
        world.begin(host, f"leased-{host}", "c", name="leased", timeout_ms=12_000, request_timeout_ms=10_000)

    def in_both(name):
        one, other = (set(lessee.ids()) for lessee in world.lessees if lessee.given["name"] == name)
        return len(one & other)

    for name in ("fixed", "leased"):
        wait_for(lambda: in_both(name), f"an id of {name} that came twice")
    world.kill_all()
    twice = {name: in_both(name) for name in ("fixed", "leased")}
    found, repeated = world.found()
    assert schedule(7, 60) == schedule(7, 60) != schedule(8, 60), "a seed does not repeat what befalls them"
    assert all(twice.values()) and found["duplicates"] >= sum(twice.values()) and repeated, f"{twice}, {found}"
    return f"twice: {twice}, found {found['duplicates']}"
