"""gevent and eventlet: a greenlet that waits for ids lets the others run."""

import pytest

KINDS = {
    "gevent": """
from gevent import monkey
monkey.patch_all()
import gevent
real_sleep = monkey.get_original("time", "sleep")
spawn, sleep, Timeout = gevent.spawn, gevent.sleep, gevent.Timeout
def value(greenlet):
    return greenlet.get()
""",
    "eventlet": """
import eventlet
eventlet.monkey_patch()
from eventlet import patcher
real_sleep = patcher.original("time").sleep
spawn, sleep, Timeout = eventlet.spawn, eventlet.sleep, eventlet.Timeout
def value(greenlet):
    return greenlet.wait()
""",
}

CODE = """
import array, threading, time

ticks, lasts = 0, False

# Lasts until others have run, where that is tried; else not at all.
def slow():
    while lasts and ticks < 5:
        real_sleep(0.001)

class Counter:
    last, fails = 0, False

    def fetch(self, tag, step):
        slow()
        if self.fails:
            raise RuntimeError("it is down")
        self.last += step
        return range(self.last - step + 1, self.last + 1)

counter = Counter()
ids = leafid.Segments(fetch=counter.fetch, step=10, adaptive=False, prefetch=100, **space)
order = ids.tag("order")

def ticks_during(call):
    global ticks, lasts
    ticks, lasts = 0, True
    def tick():
        global ticks
        while lasts:
            ticks += 1
            sleep(0.005)
    ticker = spawn(tick)
    answer = value(spawn(call))
    lasts = False
    value(ticker)
    assert ticks >= 5, "it did not wait"
    return answer

# Gives the call up before it can have an answer.
def given_up(call):
    global ticks, lasts
    ticks, lasts = 0, True
    try:
        with Timeout(0.05):
            call()
    except Timeout:
        return True
    finally:
        lasts = False
"""


@pytest.fixture(params=sorted(KINDS))
def green(request, run):
    pytest.importorskip(request.param)
    prelude = "import warnings\nwarnings.simplefilter('ignore')\n" + KINDS[request.param] + CODE
    return lambda code: run(prelude + code)


def test_other_greenlets_run_while_one_waits_for_a_segment(green):
    green("""
assert ticks_during(order.next) == 1
order.take(9)
assert ticks_during(lambda: next(order)) == 11
assert ticks_during(lambda: order.take(19)) == list(range(12, 31))
buffer = array.array("q", bytes(80))
assert ticks_during(lambda: order.fill(buffer)) is buffer and list(buffer) == list(range(31, 41))
assert order.take(0) == []
""")


def test_other_greenlets_run_while_one_waits_for_a_worker_id(green):
    green("""
def claim(name, previous):
    slow()
    return 7
def lazy(name):
    return leafid.Snowflake(claim, lazy=True, **(space | {"name": name}))
assert ticks_during(lazy("one").next) > 0
assert len(ticks_during(lambda: lazy("two").take(3))) == 3
buffer = array.array("q", bytes(80))
three = lazy("three")
assert ticks_during(lambda: three.fill(buffer)) is buffer and all(buffer)
# Ticks that are used up.
flake = leafid.Snowflake(8, **space)
many = [flake.next() for _ in range(20_000)]
assert many == sorted(set(many))
""")


def test_other_greenlets_run_while_one_opens_and_closes(green):
    green("""
class Leases:
    released = 0
    def claim(self, request):
        slow()
        return leafid.Lease(7, request.now_ms, request.now_ms + 3_600_000)
    def renew(self, lease, until_ms):
        return lease
    def release(self, lease, until_ms):
        slow()
        self.released += 1
leases = Leases()
flake = ticks_during(lambda: leafid.Snowflake(leases, **space))
assert flake.next() > 0
ticks_during(flake.close)
assert leases.released == 1
with leafid.Snowflake(leases, **space) as flake:
    assert flake.next() > 0
    leave = flake.__exit__
    ticks_during(lambda: leave(None, None, None))
assert leases.released == 2

def refused(name, previous):
    slow()
    raise RuntimeError("there are none")
def opened():
    try:
        leafid.Snowflake(refused, **space)
    except leafid.WorkerLostError as error:
        return repr(error.__cause__)
assert "there are none" in ticks_during(opened)

assert given_up(lambda: leafid.Snowflake(leases, **space))
while leases.released < 3:
    sleep(0.01)
""")


def test_segments_open_and_close_away_from_the_hub(green):
    green("""
from leafid import _green
waits, calls = _green.waits, []
def away(call):
    calls.append(call)
    return waits().away(call)
_green.waits = lambda: waits() and waits()._replace(away=away)
def opened_and_closed():
    with leafid.Segments(fetch=counter.fetch, **(space | {"name": "other"})):
        assert len(calls) == 1
value(spawn(opened_and_closed))
assert len(calls) == 2
""")


def test_what_is_open_at_the_end_is_closed(green):
    said = green("""
# What a busy disk is warned of at the end would reach logging beside its own end, whose lock is gevent's.
import logging
logging.disable()
class Leases:
    def claim(self, request):
        return leafid.Lease(7, request.now_ms, request.now_ms + 3_600_000)
    def renew(self, lease, until_ms):
        return lease
    def release(self, lease, until_ms):
        say("released")
flake = leafid.Snowflake(Leases(), **space)
sleep(0)
""")
    assert said == "released\n"


def test_an_error_comes_in_time_however_many_wait(green):
    green("""
import logging
logging.disable()
counter.fails = True
def refused():
    try:
        order.next(timeout_ms=3000)
    except leafid.SegmentUnavailableError as error:
        return str(error)
begun = time.monotonic()
waiting = [spawn(refused) for _ in range(100)]
assert all("it is down" in value(one) for one in waiting)
assert time.monotonic() - begun < 60
""")


def test_a_greenlet_that_gives_up_loses_no_id(green):
    green("""
assert given_up(lambda: order.take(5))
assert order.take(10) == list(range(1, 11))
""")


def test_a_thread_without_greenlets_waits_as_ever(green):
    green("""
import _thread
said, lasts = [], True
original = "monkey" in globals() and monkey.get_original("_thread", "start_new_thread") or patcher.original("_thread").start_new_thread
original(lambda: said.append(order.next()), ())
while not order.stats().waiting:
    sleep(0.01)
lasts = False
while not said:
    sleep(0.01)
assert said == [1]
""")
