#!/usr/bin/env python3
"""Plays the scenarios of api/ by the public interface of a language, on the clock of the machine.

    play.py LANGUAGE COMMAND...      SCENARIO='after a loss' plays those whose names contain it

COMMAND starts an agent (tests/agents/*/scenarios.*), a process for each that a scenario opens. It reads and writes a
line of JSON each, and obeys these commands:

    {"do": "open", "handle", "of", "options"}    "opened" with a "worker_id"; functions of the options ask here
    {"do": "take", "by", "handle", "count", "tag", "timeout_ms"}      "begun" once it waits; then "got" with "ids"
    {"do": "try", "by", "handle", "tag"}         "got" at once: one id that is at hand, or the error would_block
    {"do": "leave", "by"}                        it waits no longer
    {"do": "close", "handle"}                    "closed"
    {"do": "stats", "handle", "tag"}             "stats" with "fields"
    {"do": "answer", "call", "gives"}            what a function gives; or "fails" with a text, or "code" and "text"
    {"do": "sync"}                               "synced"

What it says: {"is": one of these words, …}, with "code" and "text" where a call failed; {"is": "asks", "call",
"handle", "asks", "sent"}; {"is": "log", "level", "text"}.
"""

import concurrent.futures
import contextlib
import http.server
import itertools
import json
import os
import queue
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: For what never comes.
HANG = 900
AT_ONCE = 6
TIMES = {"from", "until", "now", "server_time", "peer_times", "from_ms", "until_ms", "now_ms", "peer_times_ms"}
EPOCH_MS = int(json.loads((HERE.parent / "vectors/snowflake.json").read_text())["layouts"]["leaf"]["epoch_ms"])


def fits(said, text):
    return text is None or re.fullmatch(".*".join(map(re.escape, said.split("…"))), text, re.S)


def moved(value, by, name=""):
    """Times of a scenario count from its beginning."""
    match value:
        case dict():
            return {name: moved(each, by, name) for name, each in value.items()}
        case list():
            return [moved(each, by, name) for each in value]
        case int() if name in TIMES:
            return value + by
    return value


def snake(text):
    """As options are named everywhere but in JavaScript."""
    return re.sub(
        r"\b[a-z]+([A-Z][a-z]+)+\b", lambda name: re.sub("[A-Z]", lambda at: f"_{at[0].lower()}", name[0]), text
    )


class Agent:
    """A process, and the handle that is open in it."""

    def __init__(self, command, name, happens):
        self.name, self.is_closed, self.claims_again = name, False, False
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.listening = threading.Thread(target=self.listen, args=[happens], daemon=True)
        self.listening.start()

    def listen(self, happens):
        for line in self.process.stdout:
            happens.put((self, json.loads(line)))
        happens.put((self, {"is": "ended"}))

    def tell(self, **words):
        self.process.stdin.write(json.dumps(words, ensure_ascii=False) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()
        # No other thread may close what it reads from.
        self.listening.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Player:
    """Has a method for each word with which a step begins."""

    def __init__(self, command, of, options, directory, servers):
        self.command, self.of, self.common, self.directory, self.servers = command, of, options, directory, servers
        self.happens, self.agents = queue.Queue(), []
        # What was asked and is not answered, what callers got, lines of the log, and what else was said.
        self.requests, self.outcomes, self.lines, self.said = [], {}, [], {}
        self.later, self.names, self.ids, self.calls = {}, {}, {}, {}
        self.unique = secrets.token_hex(6)
        self.begun_ms, self.passed_ms, self.until_ms = int(time.time() * 1000), 0, 0

    def play(self, step):
        (verb,) = step.keys() & {name for name in vars(Player) if name in VERBS}
        getattr(self, verb)(**step)

    def until(self, found, of=None):
        """Takes in what happens until there is something."""
        while not (value := found()):
            self.take_in(*self.happens.get(timeout=HANG))
        return value

    def take_in(self, agent, message):
        said = message.pop("is")
        if "text" in message:
            message["text"] = self.plain(message["text"])
        if said == "asks":
            self.requests.append((agent, message))
        elif said in ("got", "opened"):
            self.outcomes[message.get("by") or message["handle"]] = message
        elif said == "log":
            # Other scenarios hold the same worker ids in id spaces of their own.
            if "under another name" not in message["text"]:
                self.lines.append((message["level"], message["text"]))
        elif said == "ended":
            assert agent.process.poll() == -9 or agent.is_closed is None, f"{agent.name} ended"
        else:
            self.said[said, message.get("by") or message.get("handle")] = message or True

    def plain(self, text):
        """What a message says, with the names of the scenario."""
        text = text and snake(text).replace(f"-{self.unique}", "").replace(f"{self.directory}/", "").replace(
            "LookupError: ", ""
        ).replace("java.lang.IllegalStateException: ", "")
        for name, server in self.servers.items():
            text = text and text.replace(server.url, name)
        return text

    def agent(self, name=None):
        return next(agent for agent in reversed(self.agents) if name in (None, agent.name))

    def open(self, open, options=None, **outcome):
        its = {**self.common, **(options or {})}
        agent = next((agent for agent in self.agents if agent.name == open and not agent.is_closed), None)
        if not agent or agent.options != its:
            agent = Agent(self.command, open, self.happens)
            agent.options = its
            self.agents.append(agent)
        options = {
            "timeout_ms": HANG * 1000,
            **(self.directory and {"state_dir": self.directory} or {"persist": False}),
            **its,
        }
        options["name"] += f"-{self.unique}"
        for name in ("servers", "worker"):
            said = options.get(name)
            if "http" in str(said):
                options[name] = [self.servers[url].url for url in ([said] if isinstance(said, str) else said)]
                # A server that is slow is followed by the next one.
                options |= {"request_timeout_ms": HANG * 1000, "connect_timeout_ms": HANG * 1000}
        agent.tell(do="open", handle=open, of=self.of, options=options)
        if outcome or self.of == "segments":
            self.gets(open, **outcome)

    def take(self, take, of=None, tag="order", by="it", timeout_ms=HANG * 1000, blocks_ms=None, **outcome):
        agent = self.agent(of)
        while True:
            words = {"by": by, "handle": agent.name, "tag": tag if self.of == "segments" else None}
            agent.tell(do="take", **words, count=take, timeout_ms=timeout_ms) if blocks_ms is None else agent.tell(
                do="try", **words
            )
            self.until(lambda: by in self.outcomes or not outcome and self.said.pop(("begun", by), None))
            if not outcome:
                return
            if not self.is_before(by, outcome):
                return self.gets(by, **outcome)
            time.sleep(0.005)

    def is_before(self, by, outcome):
        """Whether these are ids of a lease whose loss is just being seen to; the clock of the scenario has no such time."""
        got, said = self.outcomes[by].get("ids"), outcome.get("ids")
        if self.of == "segments" or not got or not said:
            return False
        before = worker_of(got[0]) != (said["first"] if isinstance(said, dict) else said[0])[1]
        if before:
            self.check_ids(self.outcomes.pop(by)["ids"])
        return before

    def gets(self, gets, ids=None, worker_id=None, error=None, says="…"):
        got = self.until(lambda: self.outcomes.pop(gets, None))
        self.said.pop(("begun", gets), None)
        assert got.get("code") == error, got
        if error:
            assert fits(says, got["text"]), got["text"]
        elif ids is None:
            assert got.get("worker_id") == worker_id, got
        else:
            got = [*map(int, got["ids"])]
            if self.of == "snowflake":
                self.check_ids(got)
                got, ids = (
                    [*map(worker_of, got)],
                    [at[1] for at in ids]
                    if isinstance(ids, list)
                    else {**ids, "first": ids["first"][1], "last": ids["last"][1]},
                )
            assert ids == (got if isinstance(ids, list) else {"count": len(got), "first": got[0], "last": got[-1]}), got

    def check_ids(self, ids):
        """Those of a worker id rise, in whichever process they are made."""
        for an_id in map(int, ids):
            last = self.ids.get(worker_of(an_id), 0)
            assert an_id > last, f"{an_id} after {last}"
            self.ids[worker_of(an_id)] = an_id

    def asks(self, asks, of=None, later=None, **words):
        answer = {name: words.pop(name) for name in ANSWERS if name in words}

        # Of several tags they come in any order, where threads ask.
        def found():
            return next(
                (
                    its
                    for its in self.requests
                    if its[1]["asks"] == asks
                    and of in (None, its[0] and its[0].name)
                    and words.get("tag") in (None, its[1]["sent"].get("tag"))
                ),
                None,
            )

        its = self.until(found)
        self.requests.remove(its)
        for name, said in words.items():
            self.check_word(asks, its[1]["sent"], name, said)
        if later:
            self.later[later] = its
        else:
            self.answer(its, **answer)

    def check_word(self, asks, sent, name, said):
        value = sent[name]
        if name == "headers":
            assert said.items() <= value.items(), value
            return
        if name == "name":
            value = self.plain(value)
        if isinstance(said, str) and said.startswith("<"):
            assert self.names.setdefault(said, value) == value and list(self.names.values()).count(value) == 1
        elif name in TIMES:
            # An id's time counts from the layout's epoch.
            last = self.ids.get(sent.get("worker_id"), 0) >> 22
            least = last + EPOCH_MS if last and asks.endswith("release") else self.begun_ms - 60_000
            assert value > least, value
        else:
            assert value == said, f"{name}: {value}"

    def answer(self, its, gives=None, fails=None, **more):
        agent, message = its
        # Times of a scenario are of how late it is there.
        by = int(time.time() * 1000) - self.passed_ms
        if isinstance(gives, dict) and (until := gives.get("until_ms") or gives.get("until")):
            self.until_ms = until + by
        if agent and message["asks"] == "claim":
            # One that fails after a loss is made again by itself, some time.
            agent.claims_again = bool(fails) and message["sent"]["previous"] is not None
        if agent is None:
            return message["answer"](moved(gives, by), fails, **more)
        if isinstance(fails, dict):
            fails = {"code": fails["error"], "text": fails["says"]}
        elif fails:
            fails = {"fails": fails}
        agent.tell(do="answer", call=message["call"], **(fails or {"gives": moved(gives, by, message["asks"])}))

    def answers(self, answers, **answer):
        self.answer(self.later.pop(answers), **answer)

    def log(self, log, info=False):
        level = "info" if info else "warn"

        def found():
            return next((line for line in self.lines if line[0] == level and (not info or fits(log, line[1]))), None)

        line = self.until(found)
        self.lines.remove(line)
        assert fits(log, line[1]), line

    def waits(self, waits):
        self.settle()
        assert waits not in self.outcomes

    def leave(self, leave):
        for agent in self.agents:
            agent.tell(do="leave", by=leave)
        self.said.pop(("begun", leave), None)

    def close(self, close):
        self.agent(close).tell(do="close", handle=close)

    def closed(self, closed, error=None, says="…"):
        end = self.until(lambda: self.said.pop(("closed", closed), None))
        assert end.get("code") == error and fits(says, end.get("text")), end
        self.agent(closed).is_closed = True

    def stats(self, stats, tag="order", last_error=None, **said):
        agent = self.agent(stats)
        while True:
            agent.tell(do="stats", handle=stats, tag=tag if self.of == "segments" else None)
            fields = self.until(lambda: self.said.pop(("stats", stats), None))["fields"]
            # A time is as the last answer gave it.
            is_so = all(int(fields[name]) == (self.until_ms if name == "lease_until_ms" else value)
                        for name, value in said.items())  # fmt: skip
            if is_so and (last_error is None or fits(last_error, self.plain(fields["last_error"] or ""))):
                return
            time.sleep(0.005)

    def pass_ms(self, pass_ms):
        """What comes next comes by itself."""
        self.passed_ms += pass_ms

    def kill(self, kill):
        self.agent(kill).end()
        self.agents.remove(self.agent(kill))

    def damage(self, damage, slot="newest"):
        path = self.file(damage)
        data = bytearray(path.read_bytes())
        numbers = [json.loads(data[at : at + 4096])["number"] for at in (0, 4096)]
        newest = numbers.index(max(numbers))
        for at in {"newest": [newest], "older": [1 - newest], "both": [0, 1]}[slot]:
            data[4096 * at + 40] ^= 0x20
        path.write_bytes(data)

    def remove(self, remove):
        self.file(remove).unlink()

    def file(self, name):
        space, name = name.split("/")
        return Path(self.directory, f"{space}-{self.unique}", name)

    def comment(self, comment):
        pass

    def settle(self):
        """All that agents said so far is taken in."""
        for agent in self.agents:
            agent.tell(do="sync")
            self.until(lambda: self.said.pop(("synced", None), None))

    def nothing_is_left(self):
        self.settle()
        assert not self.outcomes, self.outcomes
        # What is asked again after a failure, and renewals and fetches, come by themselves, some time.
        left = [
            message
            for agent, message in self.requests
            if message["asks"].endswith("release")
            or message["asks"].endswith("claim") and not (agent and agent.claims_again and not agent.is_closed)
        ]
        assert not left, left
        told = [line for line in self.lines if line[0] == "warn"]
        assert not told, told

    def end(self):
        for agent in self.agents:
            agent.end()


VERBS = {"open", "take", "leave", "close", "kill", "pass_ms", "asks", "answers", "gets", "waits", "closed", "log", "damage",
         "remove", "stats", "comment"}  # fmt: skip
ANSWERS = {"gives", "fails", "status", "age", "ends_early"}


def worker_of(an_id):
    return int(an_id) >> 12 & 1023


class Server(http.server.ThreadingHTTPServer):
    """A server of the scenario: what it is asked the player answers. One that is down has a port without a listener."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, name, happens, is_down):
        super().__init__(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.name, self.happens = name, happens
        # No other process gets the port of one that is down.
        self.server_bind()
        self.url = f"http://127.0.0.1:{self.server_port}"
        if not is_down:
            self.server_activate()
            threading.Thread(target=self.serve_forever, args=[0.05], daemon=True).start()
        self.is_down = is_down

    def end(self):
        if not self.is_down:
            self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Who asked is gone."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        sent = fields(url.query)
        try:
            sent |= json.loads(body)
        except ValueError:
            sent |= fields(body)
        sent["headers"] = {name.lower(): value for name, value in self.headers.items()}
        answers = queue.Queue()
        asks = f"{self.command} {self.server.name}{url.path}"
        answer = lambda *given, **more: answers.put((given, more))  # noqa: E731
        self.server.happens.put((None, {"is": "asks", "asks": asks, "sent": sent, "answer": answer}))
        (gives, fails), more = answers.get()
        self.respond(gives, fails, sent, **more)

    do_POST = do_GET

    def respond(self, gives, fails, sent, status=200, age=None, ends_early=False):
        if fails:
            self.close_connection = True
            return
        body = "" if gives is None else gives if isinstance(gives, str) else json.dumps(gives)
        for name, value in sent.items():
            body = body.replace(f"${name}", str(value))
        self.send_response(status)
        if age:
            self.send_header("Age", age)
        if status != 204:
            self.send_header("Content-Length", str(len(body.encode()) + (5 if ends_early else 0)))
        self.close_connection = ends_early
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        """Nothing is printed."""


def fields(text):
    pairs = urllib.parse.parse_qsl(text)
    return {name: int(value) if value.isdecimal() and str(int(value)) == value else value for name, value in pairs}


def why_not(theme, of, scenario, language):
    """Why it cannot be played without a clock of its own, if it cannot: of the time nothing may be said but that
    something comes in the end."""
    steps = scenario["steps"]
    down, there = ({step["asks"].split("/api")[0] for step in steps if "http" in step.get("asks", "") and
                    (step.get("fails") == "no connection") == is_down} for is_down in (True, False))  # fmt: skip
    if down & there:
        return "a server ends"
    if language == "wasm" and theme in ("marks", "records"):
        return "no files are kept"
    reasons = json.loads((HERE / "left_out.json").read_text())["left_out"]
    for why, listed in reasons.items():
        if scenario["name"] in listed["scenarios"] and language in listed.get("languages", [language]):
            return why
    for step, after in itertools.zip_longest(steps, steps[1:], fillvalue={}):
        if {"clock_ms", "reboot_ms"} & step.keys():
            return "a clock is set"
        if step.get("timeout_ms", 60_000) < 60_000:
            return "a call has little time"
        if "blocks_ms" in step and (of == "snowflake" or step["take"] > 1):
            return "the interface tries for one id of a tag"
        if {"lead_ms", "reserved_until_ms"} & step.keys():
            return "a clock stands"
        if step.get("fails") == "no answer":
            return "a request has little time"
        # What else needs none of the time that passes.
        calls = {"take", "open"} if of == "snowflake" or step.get("pass_ms", 0) <= 100 else set()
        if "pass_ms" in step and after and not ({"asks", "pass_ms", "log", "gets"} | calls) & after.keys():
            return "time passes without an event"
    return None


def scenarios(language):
    for path in sorted((HERE / "api").glob("*.json")):
        file = json.loads(path.read_text())
        for scenario in file["scenarios"]:
            if os.environ.get("SCENARIO", "") in scenario["name"]:
                options = {**file["options"], **scenario.get("options", {})}
                yield (
                    f"{path.stem}: {scenario['name']}",
                    file["of"],
                    options,
                    scenario,
                    why_not(path.stem, file["of"], scenario, language),
                )


def play(language, command, of, options, scenario):
    steps = scenario["steps"]
    hosts = set(re.findall(r"http://\w+", json.dumps([options, steps])))
    down = {step["asks"].split()[1].split("/api")[0] for step in steps if step.get("fails") == "no connection"}
    has_files = language != "wasm"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, contextlib.ExitStack() as ends:
        servers = {}
        player = Player(command, of, options, has_files and directory, servers)
        servers |= {name: Server(name, player.happens, name in down) for name in hosts}
        for server in servers.values():
            ends.callback(server.end)
        ends.callback(player.end)
        for number, step in enumerate(steps, 1):
            try:
                if step.get("fails") != "no connection":
                    player.play(step)
            except BaseException as error:
                raise AssertionError(
                    f"step {number}, {step}: {error!r}; {player.lines} {player.outcomes} {player.requests}"
                ) from error
        player.nothing_is_left()


def main():
    language, *command = sys.argv[1:]
    failed = played = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as at_once:
        found = [(name, why, None if why else at_once.submit(play, language, command, *what))
                 for name, *what, why in scenarios(language)]  # fmt: skip
        for name, why, playing in found:
            error = playing and playing.exception()
            played, failed = played + bool(playing), failed + bool(error)
            print(
                f"{'not ok' if error else 'ok' if playing else 'left out'} - {name}{f': {error!r}' if error else f': {why}' if why else ''}",
                flush=True,
            )
    print(f"{language}: {played - failed} scenarios passed, {failed} failed, {len(found) - played} left out")
    return 1 if failed or not played else 0


if __name__ == "__main__":
    sys.exit(main())
