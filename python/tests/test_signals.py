"""Signals during a long wait: Ctrl-C ends it at once, a handler that returns lets it continue."""

import signal
import time

import pytest


@pytest.fixture
def space(on_disk):
    return on_disk


LONG = """
import time
layout = leafid.Layout(timestamp_bits=20, sequence_bits=0, worker_bits=3, tick_ms=3_600_000)
# The next tick begins in half an hour.
epoch_ms = int(time.time() * 1000) + 1_800_000 - 100 * layout.tick_ms
slow = leafid.Snowflake(1, **space | {"timeout_ms": 3_600_000}, layout=layout, epoch_ms=epoch_ms)
slow.next()
"""

WAITS = {
    "next": LONG + "call = slow.next",
    "take": LONG + "call = lambda: slow.take(3)",
    "fill": LONG + "import numpy\ncall = lambda: slow.fill(numpy.zeros(3, numpy.int64))",
    "iteration": LONG + "call = lambda: next(slow)",
    "large takes": """
flake = leafid.Snowflake(1, **space)
def call():
    while True:
        flake.take(2**24)
""",
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_an_interrupt_ends_a_wait(start, wait):
    program = start(
        wait
        + """
try:
    say("waits")
    call()
except KeyboardInterrupt:
    say("interrupted")
"""
    )
    program.end_by_interrupt()


def test_a_handler_that_returns_lets_the_wait_go_on(space, start):
    program = start("""
import signal, threading
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(say("handled")))
layout = leafid.Layout(timestamp_bits=32, sequence_bits=0, worker_bits=3, tick_ms=1000)
flake = leafid.Snowflake(1, **space, layout=layout)
# The second is made as its tick begins: the third waits for a whole second.
flake.take(2)
say("waits")
last = flake.next()
# On a slow machine the signal comes after that second.
while not handled: last = flake.next()
say(last)
""")
    assert program.line() == "waits"
    time.sleep(0.1)
    program.process.send_signal(signal.SIGUSR1)
    assert program.line() == "handled"
    assert int(program.line()) > 0
    program.end()


def test_after_an_interrupt_the_generator_goes_on(run):
    out = run("""
import signal
flake = leafid.Snowflake(1, **space)
def stop(*_): raise TimeoutError
signal.signal(signal.SIGALRM, stop)
before = flake.next()
try:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    flake.take(2**24)
except TimeoutError:
    say("stopped")
say(before < flake.next())
""")
    assert out == "stopped\nTrue\n"
