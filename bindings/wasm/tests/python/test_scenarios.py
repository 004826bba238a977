"""The scenarios of tests/scenarios, played against the machines of leafid.wasm on virtual time: what crosses the border."""

import contextlib
import itertools
import json
import math
import os
import re
from pathlib import Path

import pytest

import leafid_wasm
from leafid_wasm import Files, LeafidError, Module
from scenario_host import START, Flake, Supply

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "tests/scenarios"
LEFT_OUT = json.loads((FOLDER / "wasm.json").read_text())["left_out"]
#: What the module ends itself.
ITS_OWN = {"names", "list_lease_caches", "read_lease_cache", "write_lease_cache", "drop_lease_cache"}
LOOKS = {"asks", "gets", "waits", "closed", "log", "abandons", "stats", "comment"}
HOW = {"gives", "fails", "twice", "status", "age", "ends_early"}
GIVEN = {"<function>": {"callback": True}, "<leases>": {"leases": True}}


def fits(said, text):
    return re.fullmatch(".*".join(map(re.escape, said.split("…"))), text, re.DOTALL)


def check_error(error, code, says):
    assert (error and error.code) == code, error
    assert error is None or fits(says, str(error))


class Stage:
    """What all processes share. Has a method for each word with which a step begins."""

    def __init__(self, of, options, calls):
        self.of, self.options, self.calls = of, options, calls
        self.wall, self.boot, self.boot_id = START, 1_000_000_000, "the first start"
        self.random, self.log, self.abandoned = itertools.count(1), [], []
        self.outcomes, self.closed_by, self.names, self.modules = {}, {}, {}, {}
        #: The last of a name is the one that is meant; those before have ended.
        self.processes = []

    def clocks(self):
        return float(self.wall), float(self.boot)

    def lists(self, name):
        return self.calls == "all" or name in (self.calls or ())

    def ends(self, outcomes, name, outcome):
        assert name not in outcomes, f"what {name} got before was not looked at"
        outcomes[name] = outcome

    @contextlib.contextmanager
    def outcome(self, by):
        """What a caller gets, if it is anything, or its error."""
        got = {}
        try:
            yield got
        except LeafidError as error:
            got["error"] = error
        if got:
            self.ends(self.outcomes, by, got.get("error") or got)

    def play(self, step):
        (verb,) = step.keys() & VERBS.keys()
        if verb not in LOOKS:
            self.nothing_is_asked()
        VERBS[verb](self, **step)
        for process in self.processes:
            process.drive()
        caller = step.get("by", step.get("open", "it"))
        said = {word: step[word] for word in ("error", "says", "ids", "worker_id") if word in step}
        if verb in ("open", "take") and (said or caller in self.outcomes):
            self.gets(caller, **said)

    def process(self, name):
        return [process for process in self.processes if name in (None, process.name)][-1]

    def nothing_is_asked(self):
        assert not [asked["name"] for process in self.processes for asked in process.asked]
        assert self.calls is None or not self.abandoned

    def end(self):
        self.nothing_is_asked()
        assert (self.outcomes, self.closed_by) == ({}, {})
        assert not [line for level, line in self.log if level]

    def open(self, open, options=None, **words):
        before = [process for process in self.processes if process.name == open][-1:]
        if before and isinstance(before[0], Flake) and not before[0].is_closed and before[0].said == options:
            return before[0].open(**words)
        of = words.get("in", open)
        if of not in self.modules or self.of == "segments":
            self.modules[of] = Module(ROOT / "build/wasm/leafid.wasm")
        given = {name: GIVEN.get(str(value), value) for name, value in {**self.options, **(options or {})}.items()}
        with self.outcome(open):
            kind = Supply if self.of == "segments" else Flake
            process = kind(self, open, given, self.modules[of])
            process.said = options
            self.processes.append(process)
            process.open(**words)

    def take(self, take, of=None, by="it", **words):
        self.process(of).take(by, take, **{word: words[word] for word in words.keys() - {"ids", "error", "says"}})

    def gets(self, gets, ids=None, worker_id=None, error=None, says="…"):
        outcome = self.outcomes.pop(gets)
        check_error(outcome if isinstance(outcome, LeafidError) else None, error, says)
        if error is None:
            assert outcome.get("worker_id") == worker_id
            got = outcome.get("ids")
            assert ids == (got if not isinstance(ids, dict) else {"count": len(got), "first": got[0], "last": got[-1]})

    def closed(self, closed, error=None, says="…"):
        check_error(self.closed_by.pop(closed), error, says)

    def waits(self, waits):
        assert any(process.waits(waits) for process in self.processes)

    def leave(self, leave):
        next(process for process in self.processes if process.waits(leave)).leave(leave)

    def close(self, close, **words):
        self.process(close).close(**words)

    def asks(self, asks, of=None, later=None, needs_loop=None, **words):
        if asks in ITS_OWN:
            return
        process = next(each for each in self.processes if of in (None, each.name) and each.asked)
        asked = process.asked.pop(0)
        assert asks == asked["name"]
        how = {word: words.pop(word) for word in [*words] if word in HOW}
        for word, said in words.items():
            sent = asked["sent"].get(word)
            if str(said).startswith("<"):
                assert sent == self.names.setdefault(said, sent) and list(self.names.values()).count(sent) == 1
            else:
                assert said == sent, word
        if needs_loop:
            process.at("run_needs_loop", asked["call"])
        if later or needs_loop:
            process.later[later or needs_loop] = asked
        else:
            process.end(asked, **how)

    def answers(self, answers, **how):
        process = next(each for each in self.processes if answers in each.later)
        process.end(process.later.pop(answers), **how)

    def abandons(self, abandons):
        calls = [(each, each.later[abandons]["call"]) for each in self.processes if abandons in each.later]
        self.abandoned.remove(calls[0])

    def line(self, log, info=False):
        lines = [at for at, (level, text) in enumerate(self.log) if (fits(log, text) if info else 1) and level != info]
        assert fits(log, self.log.pop(lines[0])[1])

    def stats(self, stats, tag="order", last_error="…", lost=None, **said):
        found = self.process(stats).stats(tag)
        assert fits(last_error, found["last_error"]) and said.items() <= found.items()

    def pass_ms(self, pass_ms):
        """All that is due happens on the way, each at its time."""
        end = self.boot + pass_ms
        while self.boot < end:
            times = itertools.chain.from_iterable(process.times() for process in self.processes)
            passed = max(math.ceil(min([end, *times])) - self.boot, 0)
            self.wall, self.boot = self.wall + passed, self.boot + passed
            for process in self.processes:
                process.drive()

    def clock_ms(self, clock_ms):
        self.wall += clock_ms

    def kill(self, kill):
        for process in [process for process in self.processes if process.name == kill]:
            process.files.close()
            process.files.unlock()
            self.processes.remove(process)
        self.modules.pop(kill, None)

    def reboot_ms(self, reboot_ms):
        for process in [*self.processes]:
            self.kill(process.name)
        self.boot_id = "another start"
        self.wall, self.boot = self.wall + reboot_ms, self.boot + reboot_ms

    def damage(self, damage, slot="newest"):
        content = bytearray(Path(damage).read_bytes())
        texts = [re.match(rb"\{.*\}", content[at:]) for at in (0, 4096)]
        older, newest = sorted((json.loads(text[0])["number"] if text else -1, at) for at, text in enumerate(texts))
        for _, at in {"newest": [newest], "older": [older], "both": [older, newest]}[slot]:
            content[4096 * at + 30] ^= 1
        Path(damage).write_bytes(content)

    def remove(self, remove):
        os.unlink(remove)

    def comment(self, comment):
        pass


VERBS = {**vars(Stage), "log": Stage.line}


def scenarios():
    left_out = set(itertools.chain.from_iterable(LEFT_OUT.values()))
    for path in sorted(FOLDER.glob("*/*.json")):
        file = json.loads(path.read_text())
        for scenario in file["scenarios"]:
            options = {**file["options"], **scenario.get("options", {})}
            if scenario["name"] not in left_out:
                calls = scenario.get("calls", file.get("calls"))
                name = f"{path.stem}: {scenario['name']}"
                yield pytest.param(file["of"], options, calls, scenario["steps"], id=name)


@pytest.mark.parametrize(("of", "options", "calls", "steps"), [*scenarios()])
def test_a_scenario(tmp_path, monkeypatch, of, options, calls, steps):
    monkeypatch.chdir(tmp_path)
    stage = Stage(of, options, calls)
    monkeypatch.setattr(leafid_wasm, "clocks", stage.clocks)
    monkeypatch.setattr(Files, "locks", f"leafid-scenario-{os.getpid()}")
    try:
        for number, step in enumerate(steps, 1):
            print(f"step {number}: {step}")
            stage.play(step)
        stage.end()
    finally:
        stage.reboot_ms(0)
