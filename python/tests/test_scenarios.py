"""The scenarios of tests/scenarios whose time may be the real one: segments that a function gives."""

import asyncio
import concurrent.futures
import itertools
import json
import logging
import pathlib
import queue
import re
import threading
import time

import pytest

import leafid

#: For what never comes.
HANG = 900
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "scenarios" / "api"
ERRORS = {error.code: error for error in vars(leafid).values() if isinstance(error, type) and hasattr(error, "code")}


def can_be_played(steps):
    """Without a virtual clock: of the time nothing may be said but that something comes in the end."""
    for step, after in itertools.zip_longest(steps, steps[1:], fillvalue={}):
        needs_a_clock = {"clock_ms", "kill", "reboot_ms", "damage", "remove"} & step.keys()
        if needs_a_clock or step.get("timeout_ms", HANG * 1000) < 60_000 or ("blocks_ms" in step and step["take"] > 1):
            return False
        if "pass_ms" in step and not {"asks", "pass_ms"} & after.keys():
            return False
    return True


def scenarios():
    for path in sorted(FOLDER.glob("*.json")):
        file = json.loads(path.read_text())
        for scenario in file["scenarios"]:
            options = {**file["options"], **scenario.get("options", {})}
            if options.pop("fetch", "") == "<function>" and can_be_played(scenario["steps"]):
                yield pytest.param(options, scenario["steps"], id=f"{path.stem}: {scenario['name']}")


def fits(said, text):
    return re.fullmatch(".*".join(map(re.escape, said.split("…"))), text, re.S)


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.queue = queue.Queue()

    def emit(self, record):
        self.queue.put((record.levelno, record.getMessage()))


class Player:
    """Has a method for each word with which a step begins."""

    def __init__(self, options, loop, lines):
        self.options, self.loop, self.lines = options, loop, lines
        self.opened, self.callers, self.later = {}, {}, {}
        self.requests, self.asked = queue.Queue(), []

    def play(self, step):
        (verb,) = step.keys() & vars(Player).keys()
        getattr(self, verb)(**step)

    def open(self, open, options=None):
        def fetch(tag, step, after):
            answer = concurrent.futures.Future()
            self.requests.put((open, {"tag": tag, "step": step, "after": after}, answer))
            return answer.result()

        options = {"timeout_ms": HANG * 1000, **self.options, **(options or {})}
        self.opened[open] = leafid.Segments(fetch=fetch, **options)

    def take(self, take, of=None, tag="order", by="it", timeout_ms=HANG * 1000, blocks_ms=None, **outcome):
        try:
            tag = self.opened[of or list(self.opened)[-1]].tag(tag)
            if blocks_ms is None:
                before = tag.stats().waiting
                call = asyncio.run_coroutine_threadsafe(awaited(tag, take, timeout_ms), self.loop)
                while not outcome and not call.done() and tag.stats().waiting <= before:
                    time.sleep(0.001)
            else:
                call = done([tag.try_next()])
        except leafid.Error as error:
            call = failed(error)
        self.callers[by] = call
        if outcome:
            self.gets(by, **outcome)

    def gets(self, gets, ids=None, error=None, says="…"):
        call = self.callers.pop(gets)
        if error == "would_block":
            assert call.result(HANG) == [None]
        elif error:
            with pytest.raises(ERRORS[error]) as raised:
                call.result(HANG)
            assert fits(says, str(raised.value))
        else:
            got = call.result(HANG)
            assert ids == (got if isinstance(ids, list) else {"count": len(got), "first": got[0], "last": got[-1]})

    def asks(self, asks, of=None, later=None, gives=None, fails=None, **sent):
        def fits_it(request):
            return of in (None, request[0]) and sent.get("tag") in (None, request[1]["tag"])

        # Of several tags they come in any order.
        while not any(map(fits_it, self.asked)):
            self.asked.append(self.requests.get(timeout=HANG))
        its = next(filter(fits_it, self.asked))
        self.asked.remove(its)
        _, request, answer = its
        assert asks == "fetch" and sent.items() <= request.items()
        if later:
            self.later[later] = answer
        else:
            give(answer, gives, fails)

    def answers(self, answers, gives=None, fails=None):
        give(self.later.pop(answers), gives, fails)

    def log(self, log, info=False):
        level = logging.INFO if info else logging.WARNING
        while True:
            at, line = self.lines.queue.get(timeout=HANG)
            if at == level and (not info or fits(log, line)):
                break
        assert fits(log, line)

    def waits(self, waits):
        assert not self.callers[waits].done()

    def leave(self, leave):
        self.callers.pop(leave).cancel()

    def close(self, close):
        self.opened[close].close()

    def closed(self, closed):
        # It is, when `close` returns.
        pass

    def stats(self, stats, tag="order", last_error=None, **said):
        tag, end = self.opened[stats].tag(tag), time.monotonic() + HANG
        while {name: getattr(tag.stats(), name) for name in said} != said:
            assert time.monotonic() < end, tag.stats()
        assert last_error is None or fits(last_error, str(tag.stats().last_error))

    def pass_ms(self, pass_ms):
        # What is asked next comes by itself.
        pass

    def comment(self, comment):
        pass

    def end(self):
        for answer in [*self.later.values(), *(request[2] for request in [*self.asked, *self.requests.queue])]:
            give(answer, None, "the scenario is over")
        for ids in self.opened.values():
            ids.close()


async def awaited(tag, count, timeout_ms):
    return await tag.take_async(count, timeout_ms=timeout_ms)


async def ended():
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*tasks, return_exceptions=True)


def done(value):
    call = concurrent.futures.Future()
    call.set_result(value)
    return call


def failed(error):
    call = concurrent.futures.Future()
    call.set_exception(error)
    return call


def give(answer, gives, fails):
    if fails:
        answer.set_exception(ERRORS[fails["error"]](fails["says"]) if isinstance(fails, dict) else LookupError(fails))
    else:
        answer.set_result(gives and range(gives["start"], gives["end"], gives.get("stride", 1)))


@pytest.mark.parametrize(("options", "steps"), [*scenarios()])
def test_a_scenario(tmp_path, options, steps):
    loop, logger, lines = asyncio.new_event_loop(), logging.getLogger("leafid"), Lines()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    player = Player({"state_dir": str(tmp_path), **options}, loop, lines)
    logger.addHandler(lines)
    before, _ = logger.level, logger.setLevel(logging.INFO)
    try:
        for step in steps:
            player.play(step)
        assert player.requests.empty() and not player.asked and not player.callers
    finally:
        player.end()
        asyncio.run_coroutine_threadsafe(ended(), loop).result(HANG)
        logger.removeHandler(lines)
        logger.setLevel(before)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
