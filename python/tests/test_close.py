"""close, in all the ways in which a generator can end."""

import gc
import threading
import weakref

import numpy
import pytest

import leafid


def test_use_after_close(space):
    flake = leafid.Snowflake(7, **space)
    flake.next()
    flake.close()
    flake.close()
    for use in (
        flake.next,
        lambda: next(flake),
        lambda: flake.take(3),
        lambda: flake.take(10_000),
        lambda: flake.fill(numpy.zeros(3, numpy.int64)),
        lambda: flake.fill(numpy.zeros(10_000, numpy.int64)),
        flake.stats,
        lambda: flake.worker_id,
    ):
        with pytest.raises(leafid.ClosedError):
            use()
    assert flake.layout == leafid.Layout() and space["name"] in repr(flake)


def test_with_closes_and_lets_errors_pass(space):
    with pytest.raises(LookupError, match="mine"), leafid.Snowflake(7, **space) as flake:
        raise LookupError("mine")
    with pytest.raises(leafid.ClosedError):
        flake.next()


def test_a_clean_close_records_the_first_unused_tick(space, record):
    with leafid.Snowflake(7, **space) as flake:
        last = leafid.decode(flake.take(10_000)[-1]).timestamp_ms
        assert record(7)["until_ms"] > last + 1
    assert record(7)["until_ms"] == last + 1


def test_dropping_the_last_reference_closes(space, record, run):
    flake = leafid.Snowflake(7, **space)
    last = leafid.decode(flake.next()).timestamp_ms
    gone = weakref.ref(flake)
    del flake
    assert gone() is None and record(7)["until_ms"] == last + 1
    assert run("say(leafid.Snowflake(7, **space).worker_id)") == "7\n"


def test_a_generator_in_a_cycle_is_closed_by_the_collector(space, record):
    flake = leafid.Snowflake(7, **space)
    last = leafid.decode(flake.next()).timestamp_ms
    cycle = [flake]
    cycle.append(cycle)
    del flake, cycle
    gc.collect()
    assert record(7)["until_ms"] == last + 1


@pytest.mark.parametrize("kind", ["next", "take", "fill"])
def test_close_while_others_make_ids(space, kind):
    """They end with ClosedError, and whoever opens next starts above all that was issued."""
    for _ in range(5):
        flake = leafid.Snowflake(7, **space)
        begun = threading.Barrier(5)
        highest, ended = [], []

        def work(flake=flake, begun=begun, highest=highest, ended=ended):
            buffer = numpy.zeros(500, numpy.int64)
            calls = {"next": flake.next, "take": lambda: flake.take(500)[-1], "fill": lambda: flake.fill(buffer)[-1]}
            call = calls[kind]
            last = call()
            begun.wait()
            try:
                while True:
                    last = call()
            except leafid.ClosedError:
                ended.append(True)
            highest.append(int(last))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        flake.close()
        with leafid.Snowflake(7, **space) as again:
            first = again.next()
        for thread in threads:
            thread.join()
            assert not thread.is_alive()
        assert len(ended) == 4 and 0 < max(highest) < first


EXITS = {
    "end": "",
    "sys.exit": "sys.exit(0)",
    "in an exit handler": "import atexit; atexit.register(lambda: say(leafid.decode(flake.next()).timestamp_ms))",
    "in a cycle": "keep = [flake]; keep.append(keep)",
    "in a module": "sys.modules['keeper'] = flake",
    "in a C container": "import functools; hold = functools.partial(print, flake); hold.me = hold",
    "daemon thread": """
import threading, time
def work():
    try:
        while True: flake.next()
    except leafid.ClosedError: pass
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
}


@pytest.mark.parametrize("how", EXITS.values(), ids=EXITS)
def test_the_end_of_the_interpreter_is_a_clean_close(space, run, record, how):
    code = "flake = leafid.Snowflake(7, **space)\nsay(leafid.decode(flake.next()).timestamp_ms)\n"
    last = int(run(code + how).split()[-1])
    until = record(7)["until_ms"]
    if "thread" in how:
        assert last < until and record(7)["until_ms"] <= record(7)["granted_at_ms"] + 1
    else:
        assert until == last + 1


def test_an_uncaught_exception_is_a_clean_close_too(space, start, record):
    program = start("flake = leafid.Snowflake(7, **space)\nsay(leafid.decode(flake.next()).timestamp_ms)\n1 / 0")
    last = int(program.line())
    assert "ZeroDivisionError" in program.process.communicate()[1]
    assert record(7)["until_ms"] == last + 1


def test_the_exit_handler_keeps_nothing_alive(space):
    flakes = [leafid.Snowflake(id, **space) for id in range(20)]
    gone = [weakref.ref(flake) for flake in flakes]
    del flakes
    assert [reference() for reference in gone] == [None] * 20
