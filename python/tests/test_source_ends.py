"""Sources of worker ids at forks, signals and the end of the interpreter."""

import pytest

LEASES = """
import threading, time
class Leases:
    def __init__(self, span_ms=30_000):
        self.span_ms = span_ms
    def claim(self, request):
        return leafid.Lease(request.previous or 5, request.now_ms, request.now_ms + self.span_ms)
    def renew(self, lease, until_ms):
        return until_ms
    def release(self, lease, until_ms):
        say("released", lease.worker_id, until_ms)
def said(id):
    return leafid.decode(id).timestamp_ms + 1
"""

FORK = """
import multiprocessing, threading
main = os.getpid()
def claim(name, previous):
    say(os.getpid() == main, name == space["name"], previous, threading.get_native_id() != os.getpid())
    return 5 if previous is None else previous + 1
flake = leafid.Snowflake(claim, **space)
parents = flake.next()
def child():
    ids = flake.take(3)
    say("child", {leafid.decode(id).worker_id for id in ids}, parents in ids)
"""


FORKS = {
    "fork": """
if os.fork() == 0:
    child()
    os._exit(0)
status = os.wait()[1]
say(status, flake.worker_id)
""",
    "multiprocessing": """
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
say(process.exitcode, flake.worker_id)
""",
}


@pytest.mark.parametrize("how", FORKS.values(), ids=FORKS)
def test_a_forked_child_asks_once_more(run, how):
    assert run(FORK + how).splitlines() == [
        "True True None True",
        "False True 5 True",
        "child {6} False",
        "0 5",
    ]


def test_a_fork_while_a_claim_runs(run):
    """Of another thread: parent and child continue, and the parent's claim is answered."""
    out = run("""
import threading, warnings
# Here it is right: a thread of the user's is at work.
warnings.simplefilter("ignore", DeprecationWarning)
asked, let_go = threading.Event(), threading.Event()
def claim(name, previous):
    asked.set()
    let_go.wait()
    return 5
slow = []
thread = threading.Thread(target=lambda: slow.append(leafid.Snowflake(claim, **space)))
thread.start()
asked.wait()
other = leafid.Snowflake(range(8, 16), **space)
if os.fork() == 0:
    let_go.set()
    say(leafid.Snowflake(claim, **space).worker_id, leafid.decode(other.next()).worker_id in range(8, 16))
    os._exit(0)
say(os.wait()[1])
let_go.set()
thread.join()
try:
    say(slow[0].worker_id)
except leafid.WorkerInUseError:
    say("in use")
""")
    assert out == "5 True\n0\n5\n"


def test_no_thread_is_left_at_a_fork(run):
    """Python 3.12 and later warn of one; here that is an error."""
    out = run(
        LEASES
        + """
flake = leafid.Snowflake(Leases(), **space)
for _ in range(20):
    flake.next()
    forked()
"""
    )
    assert out.startswith("released 5 ")


def test_an_interrupt_ends_the_wait_for_a_claim(start):
    for call in ("leafid.Snowflake(claim, **space)", "lazy.next()"):
        program = start(f"""
import threading
def claim(name, previous):
    say("waits")
    threading.Event().wait()
lazy = leafid.Snowflake(claim, **space, lazy=True)
try:
    {call}
except KeyboardInterrupt:
    say("interrupted")
""")
        program.end_by_interrupt()


EXITS = {
    "end": "",
    "sys.exit": "sys.exit(0)",
    "in a cycle": "leases.flake = flake",
    "in a module": "sys.modules['keeper'] = flake",
    "with": "with flake: pass",
    "del": "del flake",
}


@pytest.mark.parametrize("how", EXITS.values(), ids=EXITS)
def test_the_end_gives_a_lease_back(run, record, how):
    out = run(LEASES + "leases = Leases()\nflake = leafid.Snowflake(leases, **space)\nsay(said(flake.next()))\n" + how)
    until, released = out.splitlines()
    assert released == f"released 5 {until}" and record(5)["until_ms"] == int(until)


POLLS = """
def poll():
    while True:
        time.sleep(0.0005)
def hang():
    threading.Event().wait()
def spin():
    while True:
        pass
class Slow:
    def __del__(self):
        # The interpreter has ended, the process has not.
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass
sys.modules["slow"] = type(sys)("slow")
sys.modules["slow"].keep = Slow()
"""
UNDER_WAY = {
    "a claim": """
begun = threading.Event()
class Bad(Leases):
    def claim(self, request):
        say("under way")
        begun.set()
        BUSY()
def work():
    try:
        leafid.Snowflake(Bad(), **space)
    except leafid.Error:
        pass
threading.Thread(target=work, daemon=True).start()
begun.wait()
""",
    "a renewal": """
begun = threading.Event()
class Bad(Leases):
    def renew(self, lease, until_ms):
        say("under way")
        begun.set()
        BUSY()
flake = leafid.Snowflake(Bad(2000), **space)
flake.next()
begun.wait()
""",
    "a release": """
class Bad(Leases):
    def release(self, lease, until_ms):
        say("under way")
        BUSY()
flake = leafid.Snowflake(Bad(), **space)
flake.next()
""",
}


CASES = [(call, busy) for call in UNDER_WAY for busy in ("poll", "hang", "spin")]
# The others are tried on one interpreter: each lasts as long as a close waits for the user callback.
EVERYWHERE = [("a claim", "hang"), ("a release", "spin")]
EVERY_CASE = [pytest.param(*case, marks=() if case in EVERYWHERE else pytest.mark.slow) for case in CASES]


@pytest.mark.parametrize(("call", "busy"), EVERY_CASE)
def test_the_interpreter_ends_while_a_call_is_under_way(start, call, busy):
    program = start(LEASES + POLLS + UNDER_WAY[call].replace("BUSY", busy))
    out, err = program.process.communicate()
    assert program.process.returncode == 0, (program.process.returncode, err)
    assert "under way" in out
