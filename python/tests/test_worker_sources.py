"""Worker ids from a callback of the user's: when it is called, and what becomes of its answers."""

import gc
import re
import threading
import time
import weakref

import numpy
import pytest

import leafid

pytestmark = pytest.mark.usefixtures("settled")


def test_it_is_called_once_on_a_thread_of_leafids(space):
    calls = []

    def claim(name, previous):
        calls.append((name, previous, threading.get_ident()))
        return 7

    with leafid.Snowflake(claim, **space) as flake, leafid.Snowflake(claim, **space) as same:
        assert leafid.decode(flake.next()).worker_id == flake.worker_id == same.worker_id == 7
        assert flake.stats().handles == 2 and flake.stats().claims == 1
    (name, previous, thread) = calls.pop()
    assert (name, previous) == (space["name"], None) and thread != threading.get_ident() and calls == []


def test_a_method_is_one_source_each_time_it_is_looked_up(space):
    class Pool:
        def __init__(self, id):
            self.id = id
            self.calls = 0

        def claim_id(self, name, previous):
            self.calls += 1
            return self.id

    pool, other = Pool(3), Pool(4)
    with leafid.Snowflake(pool.claim_id, **space) as flake, leafid.Snowflake(pool.claim_id, **space) as same:
        with leafid.Snowflake(other.claim_id, **space) as another:
            assert (flake.worker_id, same.worker_id, another.worker_id) == (3, 3, 4)
            assert flake.stats().handles == 2 and another.stats().handles == 1
    assert (pool.calls, other.calls) == (1, 1)


@pytest.mark.parametrize("answer", [numpy.int64(9), numpy.uint8(9), 9])
def test_an_answer_is_any_integer(space, answer):
    with leafid.Snowflake(lambda name, previous: answer, **space) as flake:
        assert flake.worker_id == 9


@pytest.mark.parametrize("answer", [1024, -1, True, 1.5, "7", "nonsense", b"7", 2**63, 2**64, -(2**64), [7], object()])
def test_a_wrong_answer_is_an_invalid_argument(space, answer):
    with pytest.raises(leafid.InvalidArgumentError, match="^worker_id is .*; allowed: ") as error:
        leafid.Snowflake(lambda name, previous: answer, **space)
    shown = (repr(answer), str(answer), f"of type {type(answer).__name__}")
    assert any(text in str(error.value) for text in shown)
    # It did not raise: there is nothing else to tell.
    assert error.value.__cause__ is None


def test_none_is_no_free_worker_id(space):
    with pytest.raises(leafid.WorkerInUseError, match=f'no free worker id for "{space["name"]}"'):
        leafid.Snowflake(lambda name, previous: None, **space)


RAISED = [
    (ValueError("text"), leafid.WorkerLostError, "ValueError: text"),
    (LookupError(), leafid.WorkerLostError, "LookupError"),
    (SystemExit(3), leafid.WorkerLostError, "SystemExit: 3"),
    (KeyboardInterrupt(), leafid.WorkerLostError, "KeyboardInterrupt"),
    (leafid.WorkerInUseError("all taken"), leafid.WorkerInUseError, "^all taken$"),
    (leafid.WorkerLostError("gone"), leafid.WorkerLostError, "^gone$"),
    (leafid.InvalidArgumentError("no such pool"), leafid.InvalidArgumentError, "^no such pool$"),
]


@pytest.mark.parametrize(("raised", "expected", "text"), RAISED, ids=[type(raised).__name__ for raised, _, _ in RAISED])
def test_what_it_raises_is_the_cause(space, raised, expected, text):
    def claim(name, previous):
        raise raised

    with pytest.raises(leafid.Error, match=text) as error:
        leafid.Snowflake(claim, **space)
    assert type(error.value) is expected and error.value.__cause__ is raised
    # It stays the answer of that call alone.
    with pytest.raises(leafid.InvalidArgumentError) as later:
        leafid.Snowflake(claim, **space | {"timeout_ms": 0})
    assert later.value.__cause__ is None


def test_what_it_raises_is_not_kept(space):
    class Mine(Exception):
        pass

    def claim(name, previous):
        local = Mine()
        gone.append(weakref.ref(local))
        raise local

    gone = []
    for lazy in (False, True):
        with pytest.raises(leafid.WorkerLostError):
            leafid.Snowflake(claim, **space, lazy=lazy).next()
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_wrong_arguments_are_the_users_error(space):
    call = re.escape("worker cannot be called as worker(name, previous): TypeError: ")
    with pytest.raises(leafid.InvalidArgumentError, match=f"^{call}.*positional") as error:
        leafid.Snowflake(lambda name: 7, **space)
    assert isinstance(error.value.__cause__, TypeError) and not error.value.can_retry

    class Leases:
        claim = renew = release = lambda self: None

    with pytest.raises(leafid.InvalidArgumentError, match=re.escape("worker cannot be called as claim(request): ")):
        leafid.Snowflake(Leases(), **space)
    with pytest.raises(leafid.InvalidArgumentError, match=re.escape("peer_times cannot be called as peer_times(): ")):
        leafid.Snowflake(7, peer_times=lambda clock: [], **space)


def test_a_type_error_inside_is_one_of_the_users_code(space):
    with pytest.raises(leafid.WorkerLostError, match="TypeError: .*unsupported") as error:
        leafid.Snowflake(lambda name, previous: name - 1, **space)
    assert error.value.can_retry


def test_an_async_def_is_run(space):
    async def claim(name, previous):
        import asyncio

        await asyncio.sleep(0.01)
        return 8

    async def fails(name, previous):
        raise LookupError("mine")

    with leafid.Snowflake(claim, **space) as flake:
        assert flake.worker_id == 8
    with pytest.raises(leafid.WorkerLostError, match="LookupError: mine"):
        leafid.Snowflake(fails, **space)


def test_its_thread_has_room(space):
    """As much of a stack as Python counts on."""
    nested = []
    for _ in range(900):
        nested = [nested]

    def claim(name, previous):
        return len(repr(nested)) // 1000

    with leafid.Snowflake(claim, **space) as flake:
        assert flake.worker_id == 1


def test_it_may_use_another_generator(space):
    other = leafid.Snowflake(1, **space)
    with leafid.Snowflake(lambda name, previous: leafid.decode(other.next()).worker_id + 1, **space) as flake:
        assert flake.worker_id == 2
    other.close()


def test_one_that_asks_the_generator_that_waits_for_it(space):
    """At once: each time that one gave up, the next would begin."""
    begun = time.monotonic()

    def opens(name, previous):
        return leafid.Snowflake(opens, **space).worker_id

    def asks(name, previous):
        return leafid.decode(lazy.next()).worker_id

    with pytest.raises(leafid.WorkerLostError, match="asks the generator that waits for it") as error:
        leafid.Snowflake(opens, **space)
    assert isinstance(error.value.__cause__, leafid.WorkerLostError)
    lazy = leafid.Snowflake(asks, **space, lazy=True)
    with pytest.raises(leafid.WorkerLostError, match="asks the generator that waits for it"):
        lazy.next()
    lazy.close()
    assert time.monotonic() - begun < 30


def test_one_that_has_another_thread_ask_gives_up(space, wait):
    asked = []

    def asks(name, previous):
        asking = threading.Thread(target=lambda: asked.append(pytest.raises(leafid.Error, lazy.next)))
        asking.start()
        asking.join()

    lazy = leafid.Snowflake(asks, **space | {"timeout_ms": 2000}, lazy=True)
    with pytest.raises(leafid.WorkerLostError, match="did not answer"):
        lazy.next()
    lazy.close()
    wait(lambda: asked)


def test_lazy_asks_at_the_first_id(space):
    calls = []

    def claim(name, previous):
        calls.append(name)
        return 7

    with leafid.Snowflake(claim, **space, lazy=True) as flake:
        assert space["name"] in repr(flake) and calls == []
        assert leafid.decode(flake.next()).worker_id == 7 and len(calls) == 1
        flake.take(10)
        assert len(calls) == 1


def test_lazy_that_fails_says_why_and_asks_again(space):
    calls = []

    def claim(name, previous):
        calls.append(name)
        if len(calls) < 3:
            raise LookupError(f"call {len(calls)}")
        return 7

    with leafid.Snowflake(claim, **space, lazy=True) as flake:
        for call in ("call 1", "call 2"):
            with pytest.raises(leafid.WorkerLostError, match=call) as error:
                flake.next()
            assert str(error.value.__cause__) == call
        flake.next()


def test_one_that_holds_its_generator_is_collected(space, record, wait):
    class Pool:
        def claim_id(self, name, previous):
            return 7

    pool = Pool()
    pool.flake = leafid.Snowflake(pool.claim_id, **space)
    last = leafid.decode(pool.flake.next()).timestamp_ms
    gone = weakref.ref(pool), weakref.ref(pool.flake)
    del pool
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    # A close waits two seconds for a busy disk, which goes on.
    wait(lambda: record(7)["until_ms"] == last + 1)


def test_two_generators_of_one_object_are_collected_together(space):
    class Pool:
        def claim_id(self, name, previous):
            return 7

    pool = Pool()
    pool.flakes = [leafid.Snowflake(pool.claim_id, **space) for _ in range(3)]
    pool.flakes.pop(0).close()
    gc.collect()
    assert all(flake.next() for flake in pool.flakes)
    pool.flakes.pop(0)
    gc.collect()
    assert pool.flakes[0].next()
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None


def test_it_is_kept_while_it_is_needed_and_no_longer(space):
    def claim(name, previous):
        return 7

    gone = weakref.ref(claim)
    flake = leafid.Snowflake(claim, **space)
    del claim
    gc.collect()
    assert gone() is not None
    flake.next()
    flake.close()
    del flake
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("worker", [object(), None.__class__, [7]], ids=["object", "class", "list"])
def test_what_is_no_source(space, worker):
    with pytest.raises(leafid.Error, match="^worker is|TypeError"):
        leafid.Snowflake(worker, **space)
