"""The agent in Python of ../../scenarios/play.py, which lists its commands."""

import asyncio
import concurrent.futures
import itertools
import json
import logging
import sys
import threading

import leafid

ERRORS = {error.code: error for error in vars(leafid).values() if isinstance(error, type) and hasattr(error, "code")}
LOOP, SAYING, NUMBERS = asyncio.new_event_loop(), threading.Lock(), itertools.count()
OPENED, ASKED, CALLERS = {}, {}, {}


def say(**message):
    with SAYING:
        print(json.dumps(message, default=str), flush=True)


class Lines(logging.Handler):
    def emit(self, record):
        say(**{"is": "log", "level": record.levelname.lower()[:4], "text": record.getMessage()})


class Asking:
    """What the options have of functions: each call is answered by the player."""

    def __init__(self, handle):
        self.handle = handle

    def ask(self, asks, **sent):
        answer, call = concurrent.futures.Future(), next(NUMBERS)
        ASKED[call] = answer
        say(**{"is": "asks", "call": call, "handle": self.handle, "asks": asks, "sent": sent})
        return answer.result()

    def fetch(self, tag, step, after):
        gives = self.ask("fetch", tag=tag, step=step, after=after)
        return gives and range(gives["start"], gives["end"], gives.get("stride", 1))

    def worker(self, name, previous):
        return self.ask("claim", name=name, previous=previous)

    def peer_times(self):
        return self.ask("peer_times")

    def claim(self, request):
        asked = ("name", "instance", "previous", "now_ms", "until_ms")
        gives = self.ask("claim", **{name: getattr(request, name) for name in asked})
        return gives and leafid.Lease(**gives)

    def renew(self, lease, until_ms):
        return self.ask("renew", worker_id=lease.worker_id, token=lease.token, until_ms=until_ms)

    def release(self, lease, until_ms):
        return self.ask("release", worker_id=lease.worker_id, token=lease.token, until_ms=until_ms)


def chosen(handle, options):
    asking = Asking(handle)
    named = {"<leases>": lambda _: asking, "<function>": lambda name: getattr(asking, name)}
    return {
        name: named[value](name) if value in ("<leases>", "<function>") else value for name, value in options.items()
    }


def told(named, call):
    """Says how it ended."""
    try:
        say(**named, **call())
    except leafid.Error as error:
        say(**named, code=error.code, text=str(error))
    except concurrent.futures.CancelledError:
        pass


def opened(handle, of, options):
    made = leafid.Snowflake if of == "snowflake" else leafid.Segments
    OPENED[handle] = made(**chosen(handle, options))
    return {"worker_id": getattr(OPENED[handle], "worker_id", None)}


async def awaited(by, tag, count, timeout_ms):
    before = tag.stats().waiting
    call = asyncio.ensure_future(tag.take_async(count, timeout_ms=timeout_ms))
    CALLERS[by] = call
    while not call.done() and tag.stats().waiting <= before:
        await asyncio.sleep(0.001)
    say(**{"is": "begun", "by": by})
    return await call


def taken(handle, by, count, tag, timeout_ms):
    if tag is None:
        return {"ids": OPENED[handle].take(count)}
    call = awaited(by, OPENED[handle].tag(tag), count, timeout_ms)
    return {"ids": asyncio.run_coroutine_threadsafe(call, LOOP).result()}


def tried(handle, tag):
    an_id = OPENED[handle].tag(tag).try_next()
    return {"code": "would_block"} if an_id is None else {"ids": [an_id]}


def stats(handle, tag):
    its = OPENED[handle].tag(tag).stats() if tag else OPENED[handle].stats()
    return {name: getattr(its, name) for name in dir(its) if not name.startswith("_")}


def answer(call, gives=None, fails=None, code=None, text=None):
    if fails or code:
        ASKED.pop(call).set_exception(ERRORS[code](text) if code else LookupError(fails))
    else:
        ASKED.pop(call).set_result(gives)


def obey(do, **words):
    named = {name: words[name] for name in ("by", "handle") if name in words and (name == "by" or "by" not in words)}
    match do:
        case "open":
            told({"is": "opened", **named}, lambda: opened(**words))
        case "take":
            told(
                {"is": "got", **named},
                lambda: taken(words["handle"], words["by"], words["count"], words["tag"], words["timeout_ms"]),
            )
        case "try":
            told({"is": "got", **named}, lambda: tried(words["handle"], words["tag"]))
        case "leave":
            if words["by"] in CALLERS:
                LOOP.call_soon_threadsafe(CALLERS[words["by"]].cancel)
        case "close":
            told({"is": "closed", **named}, lambda: OPENED[words["handle"]].close() or {})
        case "stats":
            say(**{"is": "stats", **named}, fields=stats(**words))
        case "answer":
            answer(**words)
        case "sync":
            say(**{"is": "synced"})


logging.getLogger("leafid").addHandler(Lines())
logging.getLogger("leafid").setLevel(logging.INFO)
threading.Thread(target=LOOP.run_forever, daemon=True).start()
for line in sys.stdin:
    words = json.loads(line)
    if words["do"] in ("answer", "leave", "stats", "sync", "try"):
        obey(**words)
    else:
        # They may wait.
        threading.Thread(target=obey, kwargs=words, daemon=True).start()
