"""Segments at signals and at the end of the interpreter."""

import signal
import time

import pytest

QUIET = """
import asyncio, logging, threading, time
logging.getLogger("leafid").setLevel(logging.CRITICAL)
begun = threading.Event()
"""
HANGS = (
    QUIET
    + """
def fetch(tag, step):
    say("waits")
    threading.Event().wait()
ids = leafid.Segments(fetch=fetch, **space | {"timeout_ms": 3_600_000})
order = ids.tag("order")
"""
)
WAITS = {
    "next": "order.next()",
    "next with a time": "order.next(timeout_ms=3_600_000)",
    "take": "order.take(3)",
    "fill": "order.fill(__import__('numpy').zeros(3, int))",
    "iteration": "next(order)",
    "await": "asyncio.run(order.next_async())",
}


# The other calls wait as these do: they are tried on one interpreter.
EVERY_WAIT = [
    pytest.param(wait, id=name, marks=() if name in ("next", "iteration", "await") else pytest.mark.slow)
    for name, wait in WAITS.items()
]


@pytest.mark.parametrize("wait", EVERY_WAIT)
def test_an_interrupt_ends_a_wait(start, wait):
    program = start(HANGS + f"try:\n    {wait}\nexcept KeyboardInterrupt:\n    say('interrupted')\n")
    program.end_by_interrupt()


def test_a_handler_that_returns_lets_the_wait_go_on(start):
    program = start(
        QUIET
        + """
import signal
signal.signal(signal.SIGUSR1, lambda *_: (say("handled"), let_go.set()))
let_go = threading.Event()
def fetch(tag, step):
    say("waits")
    let_go.wait()
    return range(1, 1 + step)
say(leafid.Segments(fetch=fetch, **space).tag("order").next())
"""
    )
    assert program.line() == "waits"
    time.sleep(0.1)
    program.process.send_signal(signal.SIGUSR1)
    assert [program.line(), program.line()] == ["handled", "1"]
    program.end()


def test_a_take_that_was_interrupted_puts_back_what_it_had(run):
    out = run(
        QUIET
        + """
import signal
def stop(*_): raise TimeoutError
signal.signal(signal.SIGALRM, stop)
given = []
def fetch(tag, step):
    if given:
        threading.Event().wait(900)
    given.append(step)
    return range(1, 6)
order = leafid.Segments(fetch=fetch, **space).tag("order")
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    order.take(50)
except TimeoutError:
    say("stopped")
say(order.take(5))
"""
    )
    assert out == "stopped\n[1, 2, 3, 4, 5]\n"


BUSY = {
    "sleep": "time.sleep(3600)",
    "poll": "while True: time.sleep(0.0005)",
    "hang": "threading.Event().wait()",
    "spin": "while True: pass",
    "async sleep": "asyncio.run(asyncio.sleep(3600))",
    "raises": "time.sleep(0.3); raise LookupError('late')",
    "answers": "time.sleep(0.3); return range(1, 1 + step)",
}
ASKS = {
    "no caller": "ids = leafid.Segments(fetch=fetch, **space, prewarm=['order'])",
    "a thread": """
def work():
    try:
        leafid.Segments(fetch=fetch, **space).tag("order").next()
    except leafid.Error:
        pass
threading.Thread(target=work, daemon=True).start()
""",
    "a loop": """
async def main():
    ids = leafid.Segments(fetch=fetch, **space)
    await asyncio.wait([asyncio.ensure_future(ids.tag("order").next_async()) for _ in range(100)], timeout=0.3)
asyncio.run(main())
""",
    "a prefetch": """
asked = []
slow = fetch
def fetch(tag, step):
    asked.append(tag)
    return slow(tag, step) if len(asked) > 1 else range(1, 1 + step)
ids = leafid.Segments(fetch=fetch, **space, step=10)
ids.tag("order").take(9)
""",
}
# A module that ends late: the interpreter has ended, the process has not.
LATE = """
class Slow:
    def __del__(self):
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            pass
sys.modules["slow"] = type(sys)("slow")
sys.modules["slow"].keep = Slow()
"""


CASES = [("a loop", busy) for busy in BUSY]
CASES += [(asks, busy) for asks in ("no caller", "a thread", "a prefetch") for busy in ("poll", "spin", "answers")]
# The others are tried on one interpreter: each lasts as long as leafid waits for the user callback.
EVERYWHERE = [("a loop", "spin"), ("a thread", "poll"), ("a prefetch", "spin"), ("no caller", "answers")]
EVERY_CASE = [pytest.param(*case, marks=() if case in EVERYWHERE else pytest.mark.slow) for case in CASES]


@pytest.mark.parametrize(("asks", "busy"), EVERY_CASE)
def test_the_interpreter_ends_while_a_fetch_is_under_way(start, asks, busy):
    fetch = f"def fetch(tag, step):\n    say('under way')\n    begun.set()\n    {BUSY[busy]}\n"
    program = start(QUIET + LATE + fetch + ASKS[asks] + "\nbegun.wait()\n")
    out, err = program.process.communicate()
    assert (program.process.returncode, err) == (0, ""), (program.process.returncode, err)
    assert "under way" in out


def test_the_interpreter_ends_while_an_async_fetch_is_under_way(start):
    program = start(
        QUIET
        + LATE
        + """
async def fetch(tag, step):
    say("under way")
    begun.set()
    await asyncio.sleep(3600)
ids = leafid.Segments(fetch=fetch, **space, prewarm=["order"])
begun.wait()
"""
    )
    out, err = program.process.communicate()
    assert (program.process.returncode, err, out) == (0, "", "under way\n")


def test_the_interpreter_ends_while_a_server_is_asked(start):
    program = start(
        QUIET
        + """
import socket
silent = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{silent.getsockname()[1]}"
ids = leafid.Segments(url, protocol="range", prewarm=["order"], request_timeout_ms=3_600_000, **space | {"timeout_ms": 3_600_000})
connection, _ = silent.accept()
say("under way" if connection.recv(10) else "closed")
connection.detach(), silent.detach()
"""
    )
    out, err = program.process.communicate()
    assert (program.process.returncode, err, out) == (0, "", "under way\n")


ENDS = {
    "end": "",
    "sys.exit": "sys.exit(0)",
    "in a cycle": "fetch.ids = ids",
    "in a module": "sys.modules['keeper'] = ids",
    "with": "with ids: pass",
    "del": "del ids, order",
}


@pytest.mark.parametrize("how", ENDS.values(), ids=ENDS)
def test_the_end_closes(run, mark, how):
    """So that what is left is kept, where that is wanted."""
    program = (
        QUIET
        + """
def fetch(tag, step, after):
    return range(max(after, 1), max(after, 1) + step)
ids = leafid.Segments(fetch=fetch, **space, keep_unused=True)
order = ids.tag("order")
say(order.take(2))
"""
    )
    assert run(program + how) == "[1, 2]\n"
    assert mark()["kept"]["segments"][0][0] == "3"


def test_an_abandoned_coroutine_at_the_end(start):
    """One that waits in a loop that is never run again."""
    program = start(
        QUIET
        + """
def fetch(tag, step):
    time.sleep(0.3)
    return range(1, 1 + step)
order = leafid.Segments(fetch=fetch, **space).tag("order")
loop = asyncio.new_event_loop()
task = loop.create_task(order.__class__.next_async(order))
task._log_destroy_pending = False
loop.call_later(0.1, loop.stop)
loop.run_forever()
say("left")
"""
    )
    out, err = program.process.communicate()
    assert program.process.returncode == 0 and out == "left\n"
    assert "Fatal" not in err and "panic" not in err, err


def test_what_is_used_after_the_end(run):
    """By an object that outlives the interpreter: an error of leafid's, with one of the callable's before."""
    out = run(
        QUIET
        + """
def fetch(tag, step):
    raise LookupError("mine")
class Late:
    def __init__(self):
        self.order = leafid.Segments(fetch=fetch, **space | {"timeout_ms": 2000}).tag("order")
        self.call, self.error = say, leafid.Error
    def __del__(self):
        try:
            self.order.next()
        except self.error as error:
            self.call(type(error).__name__)
sys.modules["late"] = type(sys)("late")
sys.modules["late"].keep = late = Late()
late.order.try_next()
while not late.order.stats().last_error:
    time.sleep(0.01)
try:
    late.order.next()
except leafid.Error as error:
    say(error.__cause__)
del late
"""
    )
    assert out == "mine\nClosedError\n"
