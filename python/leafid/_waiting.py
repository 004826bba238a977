"""Calls for ids that wait in an event loop of asyncio's. Called by the native module."""

import asyncio
import threading
import weakref

from ._leafid import Call, FutureInbox

# An os.fork ends leafid's threads; a waiting call polls again and restarts them.
CALLS_AGAIN_S = 0.15


async def ids(call: Call) -> int | list[int]:
    """The ids of a call. Cancelled, it gives back what it had."""
    found: int | list[int] | None = call.ready()
    if found is not None:
        return found
    loop = waiting_here()
    try:
        while True:
            future = loop.loop.create_future()
            found = call.poll(loop.inbox, future)
            if found is not None:
                return found
            await loop.change(future)
    finally:
        call.end()


class Waiting:
    """The calls that wait in one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.inbox = FutureInbox(loop.call_soon_threadsafe)
        self.futures: set[asyncio.Future[None]] = set()
        self.timer: asyncio.TimerHandle | None = None

    async def change(self, future: asyncio.Future[None]) -> None:
        """Waits until the future is set."""
        self.futures.add(future)
        if self.timer is None:
            self.timer = self.loop.call_later(CALLS_AGAIN_S, self.call_again)
        try:
            await future
        finally:
            self.futures.discard(future)

    def call_again(self) -> None:
        """Makes one waiting call poll again."""
        self.timer = self.loop.call_later(CALLS_AGAIN_S, self.call_again) if self.futures else None
        for future in self.futures:
            if not future.done():
                future.set_result(None)
                break


_here = threading.local()


def waiting_here() -> Waiting:
    """The `Waiting` of the running loop."""
    loop = asyncio.get_running_loop()
    waiting: Waiting | None = getattr(_here, "waiting", lambda: None)()
    if waiting is None or waiting.loop is not loop:
        waiting = Waiting(loop)
        _here.waiting = weakref.ref(waiting)
    return waiting
