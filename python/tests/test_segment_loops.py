"""Ids awaited in several event loops, of several kinds, across forks."""

import asyncio
import gc
import threading
import time
import warnings
import weakref

import pytest



def test_several_loops_wait_at_once(order, source):
    got = []

    async def main():
        return await asyncio.gather(*[order.next_async(timeout_ms=900_000) for _ in range(50)])

    threads = [threading.Thread(target=lambda: got.extend(asyncio.run(main()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 900
    while order.stats().waiting < 400 and time.monotonic() < end:
        time.sleep(0.001)
    source.let_go.set()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(1, 401))


def test_loops_one_after_the_other(order, source):
    source.let_go.set()
    assert sorted(n for _ in range(50) for n in asyncio.run(order.take_async(30))) == list(range(1, 1501))


def test_a_loop_closed_meanwhile_does_no_harm(order, source):
    """Its calls are gone; others continue, and what was waited for is still there."""
    gone = []

    async def waits():
        call = order.next_async(timeout_ms=900_000)
        gone.append(weakref.ref(call))
        await call

    loop = asyncio.new_event_loop()
    task = loop.create_task(waits())
    loop.call_later(0.1, loop.stop)
    loop.run_forever()
    assert order.stats().waiting == 1
    loop.close()
    with warnings.catch_warnings():
        # asyncio says that a task was left.
        warnings.simplefilter("ignore")
        source.let_go.set()
        assert order.next() == 2
        task._log_destroy_pending = False
        del loop, task
        end = time.monotonic() + 900
        while gone[0]() is not None and time.monotonic() < end:
            gc.collect()
            time.sleep(0.02)
    assert gone[0]() is None
    assert asyncio.run(order.next_async()) == 3
    # The closed loop's call had it.
    assert 1 in order.take(150)


class Plain(asyncio.AbstractEventLoop):
    """A loop that has nothing but what AbstractEventLoop names, as other implementations may."""

    def __init__(self):
        self.inner = asyncio.SelectorEventLoop()

    def run(self, callback, *args):
        inner = asyncio.get_running_loop()
        asyncio._set_running_loop(self)
        try:
            callback(*args)
        finally:
            asyncio._set_running_loop(inner)

    def call_soon(self, callback, *args, context=None):
        return self.inner.call_soon(self.run, callback, *args, context=context)

    def call_soon_threadsafe(self, callback, *args, context=None):
        return self.inner.call_soon_threadsafe(self.run, callback, *args, context=context)

    def call_later(self, delay, callback, *args, context=None):
        return self.inner.call_later(delay, self.run, callback, *args, context=context)

    def create_future(self):
        return asyncio.Future(loop=self)

    def get_debug(self):
        return False

    def is_closed(self):
        return self.inner.is_closed()

    def run_until_complete(self, coroutine):
        task = asyncio.Task(coroutine, loop=self)
        task.add_done_callback(lambda _: self.inner.stop())
        try:
            self.inner.run_forever()
        finally:
            self.inner.close()
        return task.result()


def test_a_loop_of_another_kind(order, source):
    async def main():
        asyncio.get_running_loop().call_later(0.2, source.let_go.set)
        first = await order.next_async()
        return first, await order.take_async(300), await order.next_async()

    assert Plain().run_until_complete(main()) == (1, list(range(2, 302)), 302)


def test_in_no_loop(order):
    call = order.next_async()
    with pytest.raises(RuntimeError, match="no running event loop"):
        call.send(None)
    # It is over.
    with pytest.raises(RuntimeError, match="already awaited"):
        call.send(None)


def test_it_waits_in_slices_after_a_fork(run):
    """The threads that would wake it were ended for the fork, and begin again by themselves."""
    out = run("""
import asyncio, logging, time
logging.getLogger("leafid").setLevel(logging.CRITICAL)
at = [0]
def fetch(tag, step):
    at[0] += 1
    if at[0] < 4:
        raise ConnectionError("away")
    return range(1, 1 + step)
async def main():
    ids = leafid.Segments(fetch=fetch, **space)
    calls = [asyncio.ensure_future(ids.tag("order").next_async()) for _ in range(10)]
    await asyncio.sleep(0.05)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    begun = time.monotonic()
    say(sorted(await asyncio.gather(*calls)), time.monotonic() - begun < 60)
asyncio.run(main())
""")
    assert out == f"{list(range(1, 11))} True\n"


def test_its_own_time_ends_after_a_fork(run):
    out = run("""
import asyncio, logging, time
logging.getLogger("leafid").setLevel(logging.CRITICAL)
def fetch(tag, step):
    raise ConnectionError("away")
async def main():
    order = leafid.Segments(fetch=fetch, **space).tag("order")
    order.try_next()
    while not order.stats().last_error:
        await asyncio.sleep(0.01)
    call = asyncio.ensure_future(order.next_async(timeout_ms=1000))
    await asyncio.sleep(0.1)
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    try:
        await call
    except leafid.SegmentUnavailableError as error:
        say("away" in str(error), time.monotonic() - begun < 60)
asyncio.run(main())
""")
    assert out == "True True\n"
