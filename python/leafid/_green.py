"""Waits that other greenlets run through, where gevent or eventlet has put them in the place of threads. Called by the
native module, which imports this only where one of the two is loaded."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from ._leafid import Call


class Waits(NamedTuple):
    """How the greenlets of one kind wait."""

    sleep: Callable[[float], object]
    # Calls something on another thread.
    away: Callable[[Callable[[], object]], object]

    def ids(self, call: Call) -> Any:
        """The ids of a call. Ended by an exception of another greenlet's, it gives back what it had."""
        try:
            while (found := call.look()) is None:
                self.sleep(call.pause())
            return found
        finally:
            call.end()


def waits() -> Waits | None:
    """Those of this thread; none where no greenlets run in it, and in the one that runs them."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("threading"):
        return _gevent()
    patcher = sys.modules.get("eventlet.patcher")
    if patcher is not None and patcher.is_monkey_patched("thread"):
        return _eventlet()
    return None


def _gevent() -> Waits | None:
    gevent = import_module("gevent")
    hub = import_module("gevent._hub_local").get_hub_if_exists()
    if hub is None or gevent.getcurrent() is hub:
        return None

    return Waits(gevent.sleep, hub.threadpool.apply)


def _eventlet() -> Waits | None:
    eventlet = import_module("eventlet")
    tpool = import_module("eventlet.tpool")
    hub = getattr(eventlet.hubs._threadlocal, "hub", None)
    if hub is None or eventlet.getcurrent() is hub.greenlet:
        return None
    return Waits(eventlet.sleep, tpool.execute)
