"""Power cuts: a file system on a loop device is copied as it is, without a sync, and the next run begins on the copy.
Snowflakes, leases, counters of `file:`, marks and what a clean close keeps are on it. No id comes twice in all runs."""

import collections
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from harness import PATIENT, Skip, duplicates, need, need_root, place, test, wait_for
from lessees import Lessee
from servers import FakeServer
from subjects import LANGUAGES, Stream, words
from tricks import faketime, leashed, offset, pretended, secluded

# As much as one may take that is made of the smallest images.
KINDS = {
    "ext4": (24 << 20, ["mkfs.ext4", "-q"], "e2fsprogs"),
    "xfs": (300 << 20, ["mkfs.xfs", "-q"], "xfsprogs"),
}
# `make power-cuts SECONDS=…` has it continue for longer.
SECONDS = int(os.environ.get("SECONDS") or 8)
STEP = 100
# Within `max_backwards_ms`.
MOST_BACK_S = 4.0
WHAT = ("flakes", "new flakes", "leases", "counters", "marks", "kept")
# A server of leases that is away for the whole run of a process, and one that was.
MAY_BE_REFUSED = {"leases": {"worker_lost", "worker_in_use"}, "marks": {"segment_regressed"}}


class Disk:
    """It is mounted where only this process and its children see it, and made of memory: others do not slow it down."""

    def __init__(self, where, kind):
        size, mkfs, package = KINDS[kind]
        self.kind, self.path, memory = kind, where / "disk", where / "memory"
        self.image, self.copy = memory / "image", memory / "copy"
        for path in (self.path, memory):
            path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", memory], check=True)
        with open(self.image, "wb") as file:
            file.truncate(size)
        subprocess.run([need(mkfs[0], package), *mkfs[1:], self.image], check=True, capture_output=True)
        self.mount()

    def mount(self):
        # What nobody syncs ext4 writes by itself after 5 s otherwise.
        options = {"ext4": "loop,commit=300", "xfs": "loop"}[self.kind]
        done = subprocess.run(
            ["mount", "-t", self.kind, "-o", options, self.image, self.path], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise Skip(f"{self.kind} cannot be mounted on a loop device here: {done.stderr.strip()}")
        lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        (device,) = (line[0] for line in lines if line[1] == str(self.path))
        self.counters = Path(f"/sys/block/{Path(device).name}/stat")

    def unmount(self):
        wait_for(lambda: subprocess.run(["umount", self.path], capture_output=True).returncode == 0, "umount")

    def cut(self, issued):
        """Copies what has reached the disk, at one moment: again if something is written meanwhile. Answers what
        `issued` said right before that moment; None if it is written to without a pause."""
        for _ in range(10):
            before, so_far = self.written(), issued()
            subprocess.run(["cp", "--sparse=always", self.image, self.copy], check=True)
            if before is not None and before == self.written():
                return so_far
        return None

    def written(self):
        """How much was; nothing while more is on its way."""
        fields = self.counters.read_text().split()
        return (fields[4], fields[6]) if fields[8] == "0" else None

    def return_of_power(self):
        self.unmount()
        self.copy.rename(self.image)
        self.mount()


class Machine:
    """What of leafid keeps something on the disk, through all runs of the machine."""

    def __init__(self, kind):
        need_root("a loop device can be mounted by root alone")
        secluded()
        self.where, self.before = place(), leashed()
        self.disk = Disk(self.where.dir, kind)
        self.clock = self.where.write("clock", "+0")
        self.env = faketime(FAKETIME_TIMESTAMP_FILE=str(self.clock))
        self.source, self.lease_server = FakeServer(), FakeServer(pool=16, lease_ms=6_000, threshold_ms=4_000)
        self.made, self.wrong = {what: [] for what in WHAT}, []
        self.living, self.counts, self.newest = {}, collections.Counter(), 100

    def turn_clock(self, seconds):
        self.where.write("clock", offset(seconds))

    def flake(self, what, worker, language):
        own = what.replace(" ", "-")
        given = {"worker": worker, "name": f"{self.where.name}-{own}", "random_start": 0, "pause_us": 200, **PATIENT}
        self.living[what] = Lessee(self.where, language, self.env, self.where.dir / f"disk/{own}", given, self.before)

    def tag(self, what, language, **more):
        given = {"adaptive": "no", "step": STEP, "batch": 5, "pause_us": 500, **more}
        given = words(self.where, state=f"disk/{what}", name=f"{self.where.name}-{what}", **given)
        return Stream(language, given, before=self.before)

    def keep_some(self, language):
        """What a start, some ids and a clean close keep; what was kept before is used up in it, or is kept again."""
        stream = self.tag("kept", language, servers=self.source.url, tag="shop", keep="yes", count=15, then="close")
        self.close("kept", stream.end(), stream.errors)

    def start(self, is_lease_server_there=True, gives_again=0, is_new=True):
        """A run of all of them. The source of marks may give again this many of those that it gave before. `is_new`: one
        has a worker id that the disk has never seen, and not that of the run before."""
        self.newest += is_new
        chosen = [*LANGUAGES]
        random.shuffle(chosen)
        if not is_lease_server_there:
            self.lease_server.dead("refused")
        if gives_again:
            highest = max(max(ids, default=0) for ids in self.made["marks"])
            self.source.do("tag", tag="order", next=max(1, highest - gives_again), heeds_after=False)
        self.flake("flakes", 7, chosen[0])
        self.flake("new flakes", self.newest, chosen[1])
        self.flake("leases", self.lease_server.url, chosen[2])
        self.living["counters"] = self.tag("counters", chosen[3], servers=f"file:{self.disk.path}/file")
        self.living["marks"] = self.tag("marks", chosen[0], servers=self.source.url)
        self.living["kept"] = self.tag("kept", chosen[1], servers=self.source.url, tag="shop", keep="yes")

    def issued(self):
        """How many ids of each were seen so far."""
        return {
            what: len(one.ids()) if isinstance(one, Lessee) else len(one.bytes) // 8 for what, one in self.living.items()
        }

    def await_ids(self, besides=()):
        def all_are_in():
            return all(count > 0 for what, count in self.issued().items() if what not in besides)

        try:
            wait_for(all_are_in, "all of them to make ids")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.issued()}") from None

    def close(self, what, ids, told):
        self.made[what].append(ids)
        self.counts["rests that were used"] += what == "kept" and bool(ids) and ids[0] % STEP != 1
        codes = {line.split()[1].rstrip(":") for line in told.splitlines() if line.startswith("error ")}
        if codes - MAY_BE_REFUSED.get(what, set()) or "panicked" in told:
            self.wrong.append(f"{what}: {told}")

    def stop(self):
        for one in self.living.values():
            one.process.send_signal(signal.SIGSTOP)
        for one in self.living.values():
            # Left to be waited for, should it have ended.
            os.waitid(os.P_PID, one.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def kill(self, counts=None):
        """Ends the run; of ids that were made after the cut nothing is known."""
        for what, one in self.living.items():
            if isinstance(one, Lessee):
                one.kill()
                ids = one.ids()
                told = "\n".join(f"error {text}" for _, _, text in one.notes("refused", "error"))
                told += one.said.read_text()
            else:
                ids = one.kill()
                told = one.errors
            self.close(what, ids[: counts[what]] if counts else ids, told)
        self.living = {}
        self.lease_server.back()

    def cut(self, is_stopped):
        """The power goes, and comes back."""
        counts = None if is_stopped else self.disk.cut(self.issued)
        self.counts["cut while they ran"] += counts is not None
        if counts is None:
            self.stop()
            wait_for(lambda: self.disk.cut(self.issued), "a disk that is not written to")
        self.kill(counts)
        self.disk.return_of_power()

    def twice(self):
        return {what: duplicates(streams) for what, streams in self.made.items()}

    def told(self):
        counts = ", ".join(f"{what} {sum(map(len, streams))}" for what, streams in self.made.items())
        return f"ids: {counts}; " + ", ".join(f"{what} {count}" for what, count in self.counts.items())

    def begin(self):
        """A first run, which is on the disk."""
        made = self.tag("counters", "rust", servers=f"file:{self.disk.path}/file", create="yes", tags="order:1:100", count=1)
        assert made.ready(), made.errors
        self.close("counters", made.kill(), made.errors)
        self.start()
        self.await_ids()
        self.kill()
        self.keep_some("rust")
        self.disk.unmount()
        self.disk.mount()


for _kind in KINDS:

    @test(f"power cuts on {_kind} at any moment: no id twice, whatever was kept there")
    def _(kind=_kind):
        machine = Machine(kind)
        machine.begin()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            machine.turn_clock(random.uniform(-MOST_BACK_S, 0))
            if random.random() < 0.5:
                machine.keep_some(random.choice(("rust", "c")))
            gives_again, is_new = random.choice((0, 1, STEP, 2 * STEP)), random.random() < 0.5
            machine.start(random.random() < 0.6, gives_again, is_new)
            if random.random() < 0.3:
                time.sleep(random.uniform(0, 0.2))
            else:
                wait_for(lambda: machine.issued()["flakes"], "the first id")
                time.sleep(random.uniform(0, 1.2) ** 2)
            machine.cut(is_stopped=random.random() < 0.6)
            machine.counts["cuts"] += 1
        # After all that: each continues.
        machine.start()
        machine.await_ids(besides=("marks",))
        machine.kill()
        twice = machine.twice()
        assert not any(twice.values()), f"ids were issued twice after a power cut: {twice}; {machine.told()}"
        assert not machine.wrong, machine.wrong[:3]
        assert machine.counts["cuts"], machine.told()
        return machine.told()


@test("power cuts where fsync and fdatasync do nothing: ids of each kind come twice, so these tests see it")
def _():
    machine = Machine("ext4")
    machine.lease_server.do("pool", size=16, lease_ms=120_000, threshold_ms=10_000)
    # On a busy machine the kernel may write some of it by itself.
    for _ in range(6):
        machine.turn_clock(0)
        machine.before = leashed()
        machine.begin()
        machine.before = leashed() + pretended("sync")
        begun = time.time()
        machine.start(is_lease_server_there=False)
        # Half of its lease may have been written, by which nothing is held.
        machine.await_ids(besides=("leases",))
        time.sleep(0.5)
        took = time.time() - begun
        machine.cut(is_stopped=True)
        # What was issued since `begin` is gone from the disk, and its time comes again.
        machine.turn_clock(begun - time.time())
        machine.start(is_lease_server_there=False, gives_again=len(machine.made["marks"][-1]), is_new=False)
        machine.await_ids(besides=("leases",))
        time.sleep(took)
        machine.cut(is_stopped=True)
        twice = machine.twice()
        if all(twice.values()):
            return f"twice: {twice}"
    raise AssertionError(f"nothing came twice of some: {twice}; {machine.told()}; {machine.wrong[:3]}")
