"""What a Python call costs before any id is made."""

import gc
import time
from _thread import get_ident

import pyfloor
from harness import batch, raw


def measure():
    def noop():
        pass

    batch("floor", "empty loop", None, 1)
    raw("floor", "def noop()", noop)
    raw("floor", "C METH_NOARGS -> bool (gc.isenabled)", gc.isenabled)
    raw("floor", "C METH_NOARGS -> int (get_ident)", get_ident)
    raw("floor", "time.monotonic", time.monotonic)
    raw("floor", "time.time", time.time)
    raw("floor", "time.time_ns", time.time_ns)
    raw("floor", "pyo3 fn noop() -> None", pyfloor.noop)
    raw("floor", "pyo3 fn count() -> u64", pyfloor.count)
    c = pyfloor.Counter()
    raw("floor", "pyo3 method next_id() -> u64, bound once", c.next_id)
    raw("floor", "pyo3 method, clock and counter", c.next_at)
    raw("floor", "pyo3 method next_id() -> u64, looked up per call", lambda: c.next_id())
    batch("floor", "pyo3 __next__ -> u64 by for loop", c, 1)
    batch("floor", "[count() for _ in range(1000)]", lambda: [pyfloor.count() for _ in range(1000)], 1000)
    batch("floor", "pyo3 Vec<u64> of 1000 -> list", lambda: pyfloor.count_list(1000), 1000)
    batch("floor", "pyo3 bytes of 1000 u64", lambda: pyfloor.count_bytes(1000), 1000)
