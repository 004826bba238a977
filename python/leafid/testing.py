"""Generators for tests: the same ids in each run. THESE IDS ARE NOT UNIQUE: no worker id is claimed, nothing is stored.

    from leafid.testing import FakeSnowflake

    flake = FakeSnowflake(clock=1_767_225_600_000)
    flake.next()  # the first id of that millisecond, by leafid.compose; then the second one

A FakeSnowflake has the methods of leafid.Snowflake, FakeSegments and its tags those of leafid.Segments.
"""

import ctypes
import datetime
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, SupportsIndex, TypeAlias, TypeVar

import leafid

from ._leafid import refuse

__all__ = ["FakeSegments", "FakeSnowflake", "FakeTag"]

_Time: TypeAlias = int | datetime.datetime
_Given: TypeAlias = Iterable[int | BaseException]
_Buffer = TypeVar("_Buffer")

#: 2026-01-01, the clock of a FakeSnowflake without one.
_NEW_YEAR_MS = 1_767_225_600_000


class _Ids:
    """What snowflakes and tags share: calls for ids."""

    def __init__(self, one: Callable[[], int]) -> None:
        self._one = one
        self._lock = threading.RLock()
        self._closed = False
        self._issued = 0

    def _check(self) -> None:
        if self._closed:
            raise leafid.ClosedError(f"this {type(self).__name__} is closed")

    def _take(self, n: SupportsIndex) -> list[int]:
        count = _whole("n", n, "0 to 16777216")
        if not 0 <= count <= 1 << 24:
            refuse("n", n, "0 to 16777216")
        with self._lock:
            self._check()
            ids = [self._one() for _ in range(count)]
            self._issued += count
            return ids

    def _fill(self, out: _Buffer) -> _Buffer:
        view = memoryview(out)  # type: ignore[arg-type]
        is_id = view.itemsize == 8 and view.format.lstrip("@=<") in {"q", "Q", "l", "L"}
        is_writable = is_id and not view.readonly and view.c_contiguous
        numbers: Any = (ctypes.c_int64 * (view.nbytes // 8)).from_buffer(view) if is_writable else None
        if numbers is None or (len(numbers) and ctypes.addressof(numbers) % 8):
            what = f"out is a buffer of format {view.format!r}"
            raise leafid.InvalidArgumentError(f"{what}; allowed: a writable, C-contiguous one of int64 or uint64")
        numbers[:] = self._take(len(numbers))
        return out

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        return self._take(1)[0]


class FakeSnowflake(_Ids):
    """A Snowflake for tests, whose ids are NOT unique.

    clock: Unix milliseconds, a datetime with a time zone, or a function that returns one of them. A clock that stands
        counts the sequence up, and then takes the next tick; one that goes back gives ids of the last tick. Default:
        2026-01-01 in UTC.
    ids: what next returns, in this order, instead; an exception among them is raised.
    worker_id, layout, epoch_ms: of the ids, as for Snowflake.
    """

    def __init__(
        self,
        *,
        clock: _Time | Callable[[], _Time] = _NEW_YEAR_MS,
        ids: _Given | None = None,
        worker_id: SupportsIndex = 0,
        layout: str | leafid.Layout | None = None,
        epoch_ms: SupportsIndex | None = None,
    ) -> None:
        super().__init__(self._composed if ids is None else _given(ids))
        # Lazy and without records: it checks the options, and claims nothing.
        options: dict[str, Any] = {"layout": layout, "epoch_ms": epoch_ms, "lazy": True, "persist": False}
        number = _whole("worker_id", worker_id, "a worker id of the layout")
        with leafid.Snowflake(number, name="leafid-testing", **options) as real:
            self._layout = real.layout
        self._worker_id = number
        self._clock = clock if callable(clock) else lambda: clock
        self._at_ms = self._sequence = -1

    def _composed(self) -> int:
        layout = self._layout
        now_ms = leafid.decode(leafid.first_id_at(self._clock(), layout), layout).timestamp_ms
        if now_ms > self._at_ms or self._sequence < 0:
            self._at_ms, self._sequence = now_ms, 0
        elif self._sequence + 1 < 1 << layout.sequence_bits:
            self._sequence += 1
        else:
            self._at_ms, self._sequence = self._at_ms + layout.tick_ms, 0
        return leafid.compose(self._at_ms, self._worker_id, self._sequence, layout)

    def next(self) -> int:
        """The next id."""
        return self._take(1)[0]

    def take(self, n: SupportsIndex) -> list[int]:
        """The next n ids."""
        return self._take(n)

    def next_str(self) -> str:
        """The next id as text."""
        return str(self.next())

    def take_strs(self, n: SupportsIndex) -> list[str]:
        """The next n ids as text."""
        return [str(id) for id in self.take(n)]

    def fill(self, out: _Buffer) -> _Buffer:
        """Fills a buffer of 64-bit integers with the next ids, and returns it."""
        return self._fill(out)

    def stats(self) -> leafid.Stats:
        """The Stats of a generator that has no record and no lease."""
        self._check()
        layout = self._layout
        return leafid.Stats(
            name="leafid-testing",
            worker_id=self._worker_id,
            state_dir="",
            layout=f"{layout.timestamp_bits}|{layout.worker_bits}|{layout.sequence_bits}",
            epoch_ms=layout.epoch_ms,
            expires_at_ms=layout.expires_at_ms,
            reserved_until_ms=layout.expires_at_ms,
            lead_ms=0,
            clock_lag_ms=0,
            lease_until_ms=None,
            ids=self._issued,
            claims=1,
            handles=1,
            renewals=0,
            renewal_failures=0,
            last_error=None,
        )

    def close(self) -> None:
        """Every later call raises ClosedError."""
        self._closed = True

    @property
    def worker_id(self) -> int:
        """The worker id of the ids."""
        self._check()
        return self._worker_id

    @property
    def layout(self) -> leafid.Layout:
        """The layout of the ids."""
        return self._layout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exception: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<leafid.testing.FakeSnowflake worker_id={self._worker_id}: for tests, not unique>"


class FakeTag(_Ids):
    """A tag of FakeSegments."""

    def __init__(self, name: str, one: Callable[[], int]) -> None:
        super().__init__(one)
        self._name = name

    def next(self, timeout_ms: SupportsIndex | None = None) -> int:
        """The next id."""
        return self._take(1)[0]

    def try_next(self) -> int | None:
        """The next id: a FakeTag always has one."""
        return self._take(1)[0]

    def take(self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None) -> list[int]:
        """The next n ids."""
        return self._take(n)

    def next_str(self, timeout_ms: SupportsIndex | None = None) -> str:
        """The next id as text."""
        return str(self.next())

    def take_strs(self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None) -> list[str]:
        """The next n ids as text."""
        return [str(id) for id in self.take(n)]

    def fill(self, out: _Buffer, timeout_ms: SupportsIndex | None = None) -> _Buffer:
        """Fills a buffer of 64-bit integers with the next ids, and returns it."""
        return self._fill(out)

    async def next_async(self, timeout_ms: SupportsIndex | None = None) -> int:
        """The next id."""
        return self._take(1)[0]

    async def take_async(self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None) -> list[int]:
        """The next n ids."""
        return self._take(n)

    def stats(self) -> leafid.TagStats:
        """The TagStats of a tag that fetches nothing."""
        self._check()
        return leafid.TagStats(self._name, None, None, 0, self._issued, 0, False, 0, 0, 0, 0, None)

    @property
    def name(self) -> str:
        """The tag."""
        return self._name

    def __repr__(self) -> str:
        return f"<leafid.testing.FakeTag {self._name!r}: for tests, not unique>"


class FakeSegments:
    """Segments for tests, whose ids are NOT unique: each tag counts from `first`.

    first: the first id of each tag.
    ids: instead, what each tag returns, in this order; an exception among them is raised, and a tag that is not there
        is unknown.
    """

    def __init__(self, *, first: int = 1, ids: Mapping[str, _Given] | None = None) -> None:
        self._first = _whole("first", first, "the first id of each tag")
        self._ids = ids
        self._tags: dict[str, FakeTag] = {}
        self._closed = False

    def tag(self, name: str) -> FakeTag:
        """The tag of this name: the same object each time."""
        if self._closed:
            raise leafid.ClosedError("these FakeSegments are closed")
        if name not in self._tags:
            self._tags[name] = FakeTag(name, self._source(name))
        return self._tags[name]

    def _source(self, name: str) -> Callable[[], int]:
        if self._ids is None:
            return itertools.count(self._first).__next__
        unknown = leafid.UnknownTagError(f"the test gave no ids of the tag {name!r}")
        return _given(self._ids.get(name, itertools.repeat(unknown)))

    def stats(self) -> leafid.SegmentsStats:
        """The SegmentsStats of segments without a source."""
        tags = {name: tag.stats() for name, tag in self._tags.items()}
        return leafid.SegmentsStats("leafid-testing", "testing", {}, "", tags)

    def close(self) -> None:
        """Every later call raises ClosedError."""
        self._closed = True
        for tag in self._tags.values():
            tag._closed = True

    @property
    def name(self) -> str:
        """The id space."""
        return "leafid-testing"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exception: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<leafid.testing.FakeSegments: for tests, not unique>"


def _whole(name: str, value: SupportsIndex, allowed: str) -> int:
    """A whole number."""
    if not isinstance(value, SupportsIndex) or isinstance(value, bool):
        refuse(name, value, allowed)
    return value.__index__()


def _given(ids: _Given) -> Callable[[], int]:
    """Each of these once. A text would be one of its digits each."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        refuse("ids", ids, "ids and exceptions, as a list or another iterable")
    iterator = iter(ids)

    def one() -> int:
        for id in iterator:
            if isinstance(id, BaseException):
                raise id
            return _whole("id", id, "an id or an exception")
        raise AssertionError("the test gave no more ids")

    return one
