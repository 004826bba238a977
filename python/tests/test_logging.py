"""leafid's records in Python's logging: the logger "leafid"."""

import logging
import pathlib
import sys
import threading
import time

import pytest

import leafid

OTHER_NAME = "is held on this host under another name"
#: Of a handle that an earlier test left to the garbage collector, in the middle of a renewal.
UNRELEASED = "is not released: a renewal is running"

# Programs that collect what the logger says.
COLLECT = """
import logging, threading, time
logger = logging.getLogger("leafid")
# Other tests may hold the same worker id. This filter comes before those of the tests.
logger.addFilter(lambda record: "is held on this host under another name" not in record.getMessage())
class Collect(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
messages = []
logger.addHandler(Collect())
logger.setLevel(logging.INFO)
def arrived(count):
    end = time.monotonic() + 900
    while len(messages) < count and time.monotonic() < end:
        time.sleep(0.001)
    return messages
"""


class Collect(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records, self.other_names = [], []

    def emit(self, record):
        message = record.getMessage()
        if UNRELEASED not in message:
            (self.other_names if OTHER_NAME in message else self.records).append(record)

    def arrived(self, count):
        """The records once there are this many."""
        end = time.monotonic() + 900
        while len(self.records) < count and time.monotonic() < end:
            time.sleep(0.001)
        return self.records


@pytest.fixture
def space(on_disk):
    return on_disk


@pytest.fixture
def collected():
    logger, collect = logging.getLogger("leafid"), Collect()
    logger.addHandler(collect)
    try:
        yield logger, collect
    finally:
        logger.removeHandler(collect)
        logger.setLevel(logging.NOTSET)


def damage(space, worker=7):
    """Opens and closes the worker id, and spoils a slot of its record: the next opening warns."""
    leafid.Snowflake(worker, **space).close()
    with pathlib.Path(space["state_dir"], space["name"], f"worker-{worker}.state").open("r+b") as file:
        file.write(b"damaged")


def test_an_opening_is_information(space, collected):
    logger, collect = collected
    logger.setLevel(logging.INFO)
    leafid.Snowflake(7, **space).close()
    (record,) = collect.arrived(1)
    assert (record.name, record.levelno, record.threadName) == ("leafid", logging.INFO, "leafid-log")
    directory = pathlib.Path(space["state_dir"], space["name"])
    assert record.getMessage().startswith(f'state directory {directory}, worker id 7 of "{space["name"]}"')


def test_a_damaged_slot_is_a_warning(space, collected):
    damage(space)
    leafid.Snowflake(7, **space).close()
    (record,) = collected[1].arrived(1)
    assert record.levelno == logging.WARNING and "is damaged" in record.getMessage()


def test_a_worker_id_under_another_name_is_a_warning_that_says_what_to_do(space, collected):
    worker = 917
    with leafid.Snowflake(worker, **space), leafid.Snowflake(worker, **space | {"name": "importer"}) as importer:
        importer.next()
        end = time.monotonic() + 900
        while not (told := collected[1].other_names) and time.monotonic() < end:
            time.sleep(0.001)
    (record,) = told
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f'worker id {worker} of "importer" is held on this host under another name')
    assert f'"{space["name"]}"' in record.getMessage() and "give all of them one name" in record.getMessage()


def test_warnings_are_seen_without_any_set_up(space, start):
    damage(space)
    program = start("leafid.Snowflake(7, **space).close()")
    out, err = program.communicate()
    assert program.process.returncode == 0
    assert err.startswith("one slot of ") and err.count("\n") == 1, err


def test_logging_is_not_imported_for_leafid(space, start):
    damage(space)
    program = start("""
for worker in (7, 8):
    leafid.Snowflake(worker, **space).close()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
assert "logging" not in sys.modules, "it takes longer than leafid"
""")
    out, err = program.communicate()
    assert program.process.returncode == 0, err
    assert err.startswith("one slot of ") and err.count("\n") == 1, err


def test_what_is_filtered_starts_no_thread(space, collected, monkeypatch):
    logger, collect = collected
    logger.setLevel(logging.WARNING)
    asked, ask = [], logger.isEnabledFor

    def is_enabled_for(level):
        if threading.current_thread() is not threading.main_thread():
            asked.append(level)
        return ask(level)

    monkeypatch.setattr(logger, "isEnabledFor", is_enabled_for)
    damage(space)
    leafid.Snowflake(7, **space).close()
    collect.arrived(1)
    # Perhaps of another name, too. The openings' information would have come first.
    assert set(asked) == {logging.WARNING}


def test_an_error_of_a_filter_is_reported_and_the_next_record_comes(space, collected, monkeypatch):
    logger, collect = collected
    logger.setLevel(logging.INFO)
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: raised.append(repr(unraisable.exc_value)))

    def refuse(record):
        if "worker id 7" in record.getMessage() and OTHER_NAME not in record.getMessage():
            raise LookupError("mine")
        return True

    logger.addFilter(refuse)
    try:
        leafid.Snowflake(7, **space).close()
        leafid.Snowflake(8, **space).close()
        (record,) = collect.arrived(1)
    finally:
        logger.removeFilter(refuse)
    assert raised == ["LookupError('mine')"]
    assert "worker id 8" in record.getMessage()


def test_a_handler_may_want_a_lock_of_the_caller(space, collected):
    logger, collect = collected
    logger.setLevel(logging.INFO)
    lock = threading.Lock()

    def want(record):
        with lock:
            return True

    logger.addFilter(want)
    try:
        with lock:
            flakes = [leafid.Snowflake(worker, **space) for worker in range(3)]
            assert len({flake.next() for flake in flakes}) == 3
            assert collect.records == []
        assert len(collect.arrived(3)) == 3
    finally:
        logger.removeFilter(want)


def test_a_handler_may_use_leafid(space, run):
    run(COLLECT + """
class Uses(logging.Handler):
    def emit(self, record):
        if "worker id 7" in record.getMessage():
            with leafid.Snowflake(8, **space) as other:
                other.next()
logger.addHandler(Uses())
with leafid.Snowflake(7, **space) as flake:
    flake.next()
    assert len(arrived(2)) == 2, messages
""")


def test_forks_see_no_thread_and_repeat_nothing(run):
    # -W error: Python 3.12 and later warn at a fork of a process with threads.
    said = run(COLLECT + """
flakes = []
for worker in range(20):
    flakes.append(leafid.Snowflake(worker, **space))
    child = os.fork()
    if child == 0:
        own = len(messages)
        assert all(f"worker id {known} " in message for known, message in enumerate(messages)), messages
        flakes[-1].close()
        leafid.Snowflake(100, **space).close()
        assert "worker id 100" in arrived(own + 1)[own], messages
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
assert [f"worker id {worker} " in message for worker, message in enumerate(arrived(20))] == [True] * 20, messages
say("done")
""")
    assert said == "done\n"


def test_a_fork_while_a_handler_lasts(run):
    said = run(COLLECT + """
import threading, warnings
let_go = threading.Event()
logger.addFilter(lambda record: let_go.wait())
flake = leafid.Snowflake(7, **space)
with warnings.catch_warnings():
    # It has threads indeed.
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
# It waited, but not for the handler.
let_go.set()
if child == 0:
    time.sleep(1)
    assert messages == [], "its parent's"
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(arrived(1)) == 1
say("done")
""")
    assert said == "done\n"


def test_what_waits_at_the_end_is_delivered(run):
    said = run(COLLECT + """
import atexit
ends = threading.Event()
logger.addFilter(lambda record: ends.wait() and say(record.getMessage()) or True)
flakes = [leafid.Snowflake(worker, **space) for worker in range(5)]
# The last one to be registered is called first.
atexit.register(ends.set)
""")
    # A busy disk may be logged besides.
    opened = [line for line in said.splitlines() if line.startswith("state directory ")]
    assert [f", worker id {worker} of " in line for worker, line in enumerate(opened)] == [True] * 5


@pytest.mark.parametrize("last", ["time.sleep(3600)", "any(False for _ in range(2 ** 40))"])
def test_the_end_does_not_wait_for_a_handler_that_lasts(start, last):
    program = start(COLLECT + f"""
def lasts(record):
    {last}
logger.addFilter(lasts)
flake = leafid.Snowflake(7, **space)
time.sleep(0.1)
""")
    out, err = program.process.communicate()
    assert program.process.returncode == 0, (program.process.returncode, err)
