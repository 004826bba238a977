"""What may never happen: looked for in the ids, the notes, the records and the counters of a run."""

import collections
import subprocess

from runs import RANGE, Counts
from schedule import PROGRAMS, TAGS

from harness import BUILD, record

SORTER = BUILD / "chaos/sorter"
# What a program may be refused with while the world is as bad as here. Anything else is wrong.
REFUSALS = {
    "worker_in_use", "worker_lost", "clock_backwards", "state_io",
    "segment_unavailable", "segment_regressed", "source_invalid", "unknown_tag",
}  # fmt: skip
# Without a reason, on a machine that others use, too: a call is bounded by two seconds.
LONGEST_PAUSE_MS = 15_000
# After what was damaged is mended: rests between tries, connections that are still waited for.
AFTER_MS = 2_500
# No run may be without.
MUST_HAPPEN = (
    "processes", "kills", "clean ends", "stops", "stops longer than a lease", "forks", "clock moves while running",
    "clock moves between runs", "source faults", "source restarts", "numbers given again", "lease_server faults",
    "disk full", "directory read-only", "locks tried", "of them held",
)  # fmt: skip


def sort(directory, scratch, *more):
    """What the sorter found: its numbers, and lines about ids that repeat."""
    done = subprocess.run([SORTER, directory, scratch, *map(str, more)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the sorter ended with {done.returncode}: {done.stderr.strip()}")
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    repeated = sorted(text for key, text in lines if key == "repeated")
    return {key: int(value) for key, value in lines if key != "repeated"}, repeated


class Judge:
    def __init__(self, run):
        self.run, self.counts, self.wrong = run, run.counts, list(run.complaints)
        self.refusals, self.pauses, self.slowest_start = collections.Counter(), [], (0, "")

    def verdict(self):
        self.counts["numbers given again"] = self.run.source.given_again
        self.read_notes()
        ids = {kind: sort(self.run.where / "ids" / kind, self.run.where / "scratch") for kind in ("flakes", *TAGS)}
        self.judge_ids(ids)
        self.judge_records(ids["flakes"][0])
        for code in set(self.refusals) - REFUSALS:
            self.wrong.append(f"programs were refused with {code} {self.refusals[code]} times")
        for what in MUST_HAPPEN:
            if not self.counts[what]:
                self.wrong.append(f"{what}: none, so this run showed nothing of it")
        self.tell(ids)
        return not self.wrong

    def judge_ids(self, ids):
        for kind, (found, repeated) in ids.items():
            if found["duplicates"]:
                self.wrong.append(f"{found['duplicates']} {kind} were issued twice: {'; '.join(repeated[:6])}")
            if found["negative"]:
                self.wrong.append(f"{found['negative']} {kind} are negative")
            if found["falls"]:
                self.wrong.append(f"{found['falls']} {kind} do not lie above the one before of the same generator")
            if found["ids"] < 100 * self.run.seconds / 30:
                self.wrong.append(f"only {found['ids']} {kind} were made")
            if kind in TAGS and found["largest"] >= self.run.source.next(kind):
                self.wrong.append(f"{found['largest']} of {kind} was never given by the source")

    def judge_records(self, found):
        """No id outside of what was durable: no record ends below the latest id of its worker."""
        ends = collections.Counter()
        for path in self.run.disk.bare.glob("*/*/worker-*.state"):
            of = record(path)
            spans = [[of["first_ms"], of["until_ms"]], *of["burnt_ms"], *of["former_ms"]]
            ends[f"worker-{of['worker_id']}"] = max(ends[f"worker-{of['worker_id']}"], *(until for _, until in spans))
        for worker, last_ms in found.items():
            if worker.startswith("worker-") and last_ms >= ends[worker]:
                self.wrong.append(f"{worker} made ids up to {last_ms}, its record ends at {ends[worker]}")
        first, last = map(int, RANGE.split("-"))
        for worker in (int(key.removeprefix("worker-")) for key in found if key.startswith("worker-")):
            if not (first <= worker <= last or worker == 600 or worker < 24):
                self.wrong.append(f"there are ids of worker {worker}, which no process was given")

    def read_notes(self):
        for path in (self.run.where / "notes").iterdir():
            name = path.name.rpartition(".")[0]
            for line in path.read_text().split("\n")[:-1]:
                at, pid, what, text = [*line.split(" ", 3), ""][:4]
                if what == "error":
                    self.refusals[text.split(" ")[1].rstrip(":")] += 1
                elif what == "fork":
                    self.counts["forks"] += 1
                    if text:
                        self.wrong.append(f"{path.name} could not fork: {text}")
                elif what == "child" and text not in ("code 0", "signal 9"):
                    self.wrong.append(f"a child of {path.name} ended with {text}")
                elif what == "in":
                    self.slowest_start = max(self.slowest_start, (int(text.split()[1]), path.name))
                elif what == "pause" and int(pid) == self.run.runs[path.name]:
                    self.read_pause(name, path.name, int(pid), *text.split(" "))

    def read_pause(self, name, run, pid, kind, begun, ended, waited, code):
        """Those of processes that were not stopped, whose clock, server and disk had no fault."""
        begun, ended = int(begun), int(ended)
        spans = [(a, b) for of, a, b in self.run.stops if of == pid]
        if kind != "flakes":
            spans += self.run.damage["source"] + self.run.damage["read-only"]
        elif PROGRAMS[name][1]["worker"] == "lease":
            spans += self.run.damage["lease_server"]
        is_starved = code != "-" or any(a < ended and begun < b + AFTER_MS for a, b in spans)
        if not is_starved:
            waited = min(max(int(waited), 0), ended - begun)
            self.pauses.append((ended - begun - waited, run, kind, waited))
            if self.pauses[-1][0] > LONGEST_PAUSE_MS:
                self.wrong.append(f"{run} made no {kind} for {ended - begun} ms, for no reason")

    def tell(self, ids):
        counts = self.counts
        flakes, duplicates = ids["flakes"][0], sum(found["duplicates"] for found, _ in ids.values())
        total = sum(found["ids"] for found, _ in ids.values())
        workers = sum(key.startswith("worker-") for key in flakes)
        longest = max(self.pauses, default=(0, "none", "", 0))
        languages = counts.of("c", "python", "node", "java")
        print(f"processes {counts['processes']} ({languages}) · forked children {counts['forks']}")
        print(counts.of("kills", "clean ends", "stops", "stops longer than a lease"))
        print(counts.of("clock moves while running", "clock moves between runs"))
        print(counts.of("source faults", "source restarts", "numbers given again"))
        print(counts.of("lease_server faults", "lease_server restarts"))
        print(counts.of("disk full", "directory read-only", "locks tried", "of them held"))
        print(f"refusals: {Counts(self.refusals).of(*sorted(self.refusals))}")
        numbers = " · ".join(f"{tag} {ids[tag][0]['ids']}" for tag in TAGS)
        print(f"snowflakes {flakes['ids']} of {workers} worker ids · segments: {numbers}")
        print(f"slowest start {self.slowest_start[0]} ms ({self.slowest_start[1]})")
        print(f"longest pause of a surviving process that was not stopped or starved: {longest[0]} ms "
              f"({longest[1]} {longest[2]}), and {longest[3]} ms without a processor")  # fmt: skip
        for text in self.wrong[:20]:
            print(f"FAIL {text}")
        if self.wrong:
            again = f"make chaos SECONDS={self.run.seconds} SEED={self.run.seed}"
            print(f"chaos FAILED: the files are in {self.run.where}; this schedule again: {again}")
        print(f"ids {total} · duplicates {duplicates}", flush=True)
