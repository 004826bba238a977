"""The processes of a scenario: a machine of leafid.wasm each, on clocks that the scenario sets.

Calls for files and locks are carried out by the host of leafid_wasm, on files and locks of this host.
"""

import itertools
import json
import math
import os
import re
import struct
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

import leafid_wasm
from leafid_wasm import DONE, FAILED, NO, SLEEP, UNTIL, Files, LeafidError

START = 2_000_000_000_000
REQUEST, NO_RECORDS, ONE_STORE = 5, 0, 2
# The kinds of calls of a run; of a supply some have other names.
KINDS = ["", "peer_times", "claim", "renew", "release", "", "lock_host", "unlock_host", "list_records", "peek_record"]
KINDS += ["open_record", "write_record", "close_record", "fetch"]
SUPPLY_KINDS = {8: "list_marks", 9: "read_mark", 11: "update_mark"}
SOURCE = {"peer_times", "claim", "renew", "release", "fetch"}
TIMES = {"from", "until", "now", "server_time", "peer_times", "from_ms", "until_ms", "now_ms"}
ERRORS = json.loads((Path(__file__).parents[4] / "tests/vectors/errors.json").read_text())["errors"]
NUMBERS = {each["code"]: each["number"] for each in ERRORS}
CODES = {number: code for code, number in NUMBERS.items()}


def moved(value, by, name=""):
    """Scenarios count their times from their beginning."""
    if isinstance(value, dict):
        return {name: moved(each, by, name) for name, each in value.items()}
    if isinstance(value, list):
        return [moved(each, by, name) for each in value]
    return value + by if name in TIMES and value is not None else value


class Marks(Files):
    """The marks of segments: each is read and written without a lock of its own, for all is one thread."""

    def list(self, call, _number, prefix, _doing):
        for path in self.directory.glob(f"{prefix}*"):
            self.module.call("call_found", call, leafid_wasm.clocks()[0], path.name, path.read_bytes())
        return DONE

    def update(self, call, number, name, doing):
        path = self.directory / name
        self.module.call("call_initial", call)
        if not path.exists() and self.module.output():
            path.write_bytes(self.module.output())
        self.file = os.open(path, os.O_RDWR) if path.exists() else None
        try:
            return super().update(call, number, name, doing) if self.file else self.read(call, number, name, doing)
        finally:
            self.close()


class Process:
    """A machine, and those who take ids of it."""

    files_of = Files

    def __init__(self, stage, name, options, module):
        self.stage, self.name, self.options, self.module = stage, name, options, module
        self.asked, self.later, self.is_closed = [], {}, False
        directory = Path(options["name"])
        directory.mkdir(exist_ok=True)
        self.files = self.files_of(module, directory)

    def at(self, name, *arguments):
        return self.module.call(name, self.machine, *arguments, *leafid_wasm.clocks())

    def due(self):
        due = self.module.exports["next_time"](self.module.store, self.machine)
        return math.inf if due < 0 else due

    def drive(self):
        events = True
        while events or self.due() <= self.stage.boot:
            events = False
            while call := self.at("next_call"):
                self.begins(call)
                events = True
            while notice := self.at("next_notice"):
                self.told(notice, self.module.numbers(1)[0])
                events = True
            self.serve()

    def told(self, notice, number):
        if notice == 1:
            assert all(asked["call"] != number for asked in self.asked), "what it does not answer is given up"
            self.stage.abandoned.append((self, number))
        elif notice == 2:
            self.woken(number)
        elif notice == 3:
            self.stage.log.append((number, self.module.output().decode()))
        else:
            error = LeafidError(CODES[number], self.module.output().decode()) if number else None
            self.stage.ends(self.stage.closed_by, self.name, error)

    def begins(self, call):
        kind = self.module.call("call_request", call, 5, next(self.stage.random))
        numbers, texts = self.module.numbers(5), self.module.texts()
        name, sent = self.sent(kind, numbers, texts)
        asked = {"call": call, "kind": kind, "name": name, "sent": moved(sent, -START)}
        if kind == REQUEST or name in SOURCE or self.stage.lists(name):
            self.asked.append(asked)
        else:
            self.end(asked)

    def sent(self, kind, numbers, texts):
        """The name of a call, and what it sends."""
        if kind == REQUEST:
            (url, content_type, body), (post, *_) = texts[:3], numbers
            parts, is_json = urlsplit(url), content_type == "application/json"
            fields = parse_qsl(parts.query) + ([] if is_json else parse_qsl(body or ""))
            fields = {name: int(text) if re.fullmatch("0|[1-9][0-9]{0,17}", text) else text for name, text in fields}
            name = f"{'POST' if post else 'GET'} {parts.scheme}://{parts.netloc}{parts.path}"
            return name, {**fields, **(json.loads(body) if is_json else {})}
        name = (SUPPLY_KINDS if isinstance(self, Supply) else {}).get(kind, KINDS[kind])
        first, *others = [None if math.isnan(number) else number for number in numbers]
        if name == "fetch":
            return name, {"tag": texts[1], "step": first, "after": int(texts[0])}
        if name.endswith("_mark"):
            return name, {"tag": re.sub(r"^.*-|\.mark$", "", texts[0])}
        if name == "claim":
            return name, {"name": texts[0], "previous": first, "now_ms": others[0], "until_ms": others[1]}
        if name in SOURCE:
            return name, {"worker_id": first, "token": texts and texts[0], "until_ms": others[3]}
        return name, {"worker_id": first}

    def end(self, asked, **how):
        """A call ends as a step says."""
        twice = how.pop("twice", False)
        self.ends(asked, **how)
        if twice:
            with pytest.raises(LeafidError, match="a call ended a second time"):
                self.module.call("call_end", asked["call"], DONE, 0, "")
        if self.machine:
            self.at("done", asked["call"])

    def ends(self, asked, gives="", fails=None, status=200, age=None, ends_early=False):
        call, name, ended = asked["call"], asked["name"], self.module.call
        if asked["kind"] == REQUEST and fails:
            return ended("call_end", call, {"closed": 3, "no answer": 4, "no connection": 5}[fails], 0, fails)
        if asked["kind"] == REQUEST:
            text = "" if gives is None else gives if isinstance(gives, str) else json.dumps(moved(gives, START))
            body = re.sub(r"\$(\w+)", lambda found: asked["sent"][found[1]], text)
            length = str(len(body) + (1 if ends_early else 0))
            return ended("call_response", call, status, 0, None, age, length, None, body)
        if name not in SOURCE and fails:
            action = leafid_wasm.WRITE if name in ("write_record", "update_mark") else leafid_wasm.READ
            return ended("call_failed", call, action, 3, asked["name"], fails, "")
        if name not in SOURCE:
            return ended("call_end", call, NO, 0, "") if gives == "held" else self.files.carry_out(call)
        if isinstance(fails, dict):
            return ended("call_end", call, FAILED, NUMBERS[fails["error"]], fails["says"])
        if fails or gives is None:
            return ended("call_end", call, FAILED if fails else DONE if name == "release" else NO, 0, fails or "")
        if name == "fetch":
            return ended("call_fetched", call, gives["start"], gives["end"], gives.get("stride", 1))
        lease = {"peer_times_ms": gives} if name == "peer_times" else gives
        lease = {"worker_id": gives} if isinstance(gives, int) else lease
        numbers = [lease.get(name, math.nan) for name in ("worker_id", "from_ms", "until_ms", "lease_ms")]
        given = [float(number + by) for number, by in zip(numbers, (0, START, START, 0), strict=True)]
        times = [time + START for time in lease.get("peer_times_ms", [])]
        return ended("call_answered", call, *given, lease.get("token"), struct.pack(f"<{len(times)}q", *times))


class Flake(Process):
    """With a snowflake."""

    def __init__(self, *given):
        super().__init__(*given)
        # So that it is no warning that another host may have the worker id.
        options = json.dumps({"exclusive_range": True, **self.options})
        checked = self.module.call("options_of_run", options, "", "here")
        self.module.call("layout_fields", checked)
        *fields, order = self.module.numbers(6)
        self.layout = self.module.call("layout_new", *fields, ["worker-sequence", "sequence-worker"][int(order)])
        texts = (self.options["name"], "ext4", "here", self.stage.boot_id, "another process")
        store = ONE_STORE if self.options.get("persist", True) else NO_RECORDS
        self.machine = self.module.call("run_new", checked, store, 0, 42, *texts, 7, *leafid_wasm.clocks())
        self.takers, self.opens = {}, None

    def open(self, blocks_ms=math.nan, blocks_loop=False, **_):
        self.opens = self.at("run_want", 0, not blocks_loop, 0, float(blocks_ms))

    def drive(self):
        super().drive()
        if self.opens is not None:
            with self.stage.outcome(self.name) as got:
                if self.at("run_answer", self.opens):
                    self.module.call("run_generator", self.machine)
                    got.update(worker_id=self.module.numbers(1)[0])
            if got:
                self.opens = None

    def times(self):
        stage, times = self.stage, [self.due()]
        for taker in self.takers.values():
            times += [taker["until"] - stage.wall + stage.boot, taker["sleeps"]]
        return [time for time in times if time > stage.boot]

    def woken(self, _):
        pass

    def take(self, by, take, blocks_ms=math.nan, **_):
        self.takers[by] = {"left": take, "longest": float(blocks_ms), "ids": [], "wait": 0, "until": 0, "sleeps": 0}

    def serve(self):
        for by, taker in sorted(self.takers.items()):
            with self.stage.outcome(by) as got:
                self.step(taker, got)
            if got:
                del self.takers[by]

    def step(self, taker, got):
        """All its ids, or nothing if it has to wait."""
        module = self.module
        while (now := module.call("filtered_ms", *leafid_wasm.clocks())) >= taker["until"]:
            most, count = min(taker["left"], 4096), -1
            if not taker["wait"]:
                flake = module.call("run_generator", self.machine)
                count = module.exports["snowflake_reserve"](module.store, flake, now, most)
            if count < 0:
                taker["wait"] = taker["wait"] or module.call("run_wait_new", self.machine, 0, taker["longest"])
                count = self.at("run_wait", taker["wait"], most)
            (number,) = module.numbers(1)
            taker.update(
                until=number if count == UNTIL else 0, sleeps=self.stage.boot + number if count == SLEEP else 0
            )
            if count == SLEEP:
                return
            if count > 0:
                taker["ids"] += map(self.parts, module.ids(count))
                taker["left"] -= count
                if taker["wait"]:
                    taker["wait"] = module.call("run_wait_end", self.machine, taker["wait"])
            if taker["left"] == 0:
                return got.update(ids=taker["ids"])

    def parts(self, found):
        self.module.call("decode", self.layout, found)
        time, *others = self.module.numbers(3)
        return [time - START, *others]

    def waits(self, by):
        return by in self.takers or (by == self.name and self.opens is not None)

    def leave(self, by):
        if self.takers.pop(by, None) is None:
            self.at("run_give_up", self.opens)
            self.opens = None

    def close(self, quietly=False, from_source=False):
        self.is_closed = True
        self.at("run_want", 2, quietly, not from_source, math.nan)

    def stats(self, _):
        self.at("run_stats")
        names = ("reserved_until_ms", "lead_ms", "lease_until_ms", "ids", "claims", "renewals", "renewal_failures")
        found = dict(zip(names, self.module.numbers(7), strict=True))
        for name in ("reserved_until_ms", "lease_until_ms"):
            found[name] -= START
        found["last_error"] = self.module.output().decode()
        self.module.call("run_generator", self.machine)
        return {**found, "worker_id": self.module.numbers(1)[0]}


class Supply(Process):
    """With segments, and the lines of those who wait for ids of its tags."""

    files_of = Marks

    def __init__(self, *given):
        super().__init__(*given)
        self.machine = self.module.call("supply_new", json.dumps(self.options), "", 7)
        (self.timeout,) = self.module.numbers(1)
        self.module.call("supply_place", self.machine, self.options["name"])
        #: By the number of the tag: who waits, and ids of those who left.
        self.lines = {}

    def open(self, **_):
        pass

    def drive(self):
        if self.machine:
            super().drive()

    def tag(self, name):
        number = self.module.call("supply_tag", self.machine, name)
        self.lines.setdefault(number, ([], []))
        return number

    def of(self, name, tag, *arguments):
        return self.module.call(f"supply_{name}", self.machine, tag, *arguments, float(self.stage.boot))

    def take(self, by, take, tag="order", blocks_ms=None, timeout_ms=None):
        with self.stage.outcome(by) as got:
            number = self.tag(tag)
            if blocks_ms is not None:
                ids = self.module.ids(self.of("take", number, float(take)))
                while len(ids) < take:
                    ids += self.module.ids(self.module.call("supply_taken", self.machine))
                got.update(ids=ids)
        if got:
            return
        caller = {"by": by, "left": take, "ids": [], "timeout": timeout_ms or self.timeout, "since": self.stage.boot}
        self.lines[number][0].append(caller)
        self.woken(number)

    def woken(self, tag):
        """Serves the line of a tag."""
        callers, back = self.lines[tag]
        while callers:
            caller = callers[0]
            need = float(sum(each["left"] for each in callers))
            ids, back[:] = back[: caller["left"]], back[caller["left"] :]
            try:
                count = len(ids) or self.of("run", tag, min(caller["left"], 4096), need)
                if count == SLEEP:
                    if self.of("wait", tag, 1):
                        continue
                    return
            except LeafidError as error:
                for each in callers:
                    self.stage.ends(self.stage.outcomes, each["by"], error)
                callers.clear()
                break
            caller["ids"] += ids or self.module.ids(count)
            caller.update(left=caller["left"] - count, since=self.stage.boot)
            if caller["left"] == 0:
                self.stage.ends(self.stage.outcomes, callers.pop(0)["by"], {"ids": caller["ids"]})
        if self.machine:
            self.of("wait", tag, 0)

    def serve(self):
        """Those whose time is over."""
        for tag, (callers, _) in self.lines.items():
            for each in [each for each in callers if each["since"] + each["timeout"] <= self.stage.boot]:
                with self.stage.outcome(each["by"]):
                    self.of("late", tag, float(each["timeout"]))
                self.leave(each["by"])

    def times(self):
        callers = itertools.chain.from_iterable(callers for callers, _ in self.lines.values())
        return [self.due(), *(each["since"] + each["timeout"] for each in callers)] if self.machine else []

    def waits(self, by):
        return any(each["by"] == by for callers, _ in self.lines.values() for each in callers)

    def leave(self, by):
        for tag, (callers, back) in self.lines.items():
            for each in [each for each in callers if each["by"] == by]:
                callers.remove(each)
                back += each["ids"]
                if not callers:
                    self.of("wait", tag, 0)

    def close(self):
        self.module.call("free", self.machine)
        self.machine = 0
        for tag, (callers, _) in self.lines.items():
            if callers:
                self.woken(tag)
        self.stage.ends(self.stage.closed_by, self.name, None)

    def stats(self, tag):
        number = self.tag(tag)
        self.module.call("supply_tag_stats", self.machine, number)
        left, ids, step, _, fetches, failures = self.module.numbers(6)
        callers, back = self.lines[number]
        found = {"left": left + len(back), "ids": ids - len(back), "step": step, "fetches": fetches}
        return {**found, "failures": failures, "waiting": len(callers), "last_error": self.module.texts()[0] or ""}
