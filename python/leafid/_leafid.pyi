# The types of the native module. Its docstrings are written here by python/docstrings.py.

import asyncio
import datetime
import sys
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, ClassVar, Literal, NoReturn, Protocol, Self, SupportsIndex, TypeAlias, TypedDict, TypeVar, final

__all__ = [
    "BeforeEpochError",
    "Call",
    "ClaimRequest",
    "ClockBackwardsError",
    "ClosedError",
    "Error",
    "FutureInbox",
    "InternalError",
    "InvalidArgumentError",
    "Layout",
    "Lease",
    "Parts",
    "PublicIds",
    "SegmentRegressedError",
    "SegmentUnavailableError",
    "Segments",
    "SegmentsStats",
    "Snowflake",
    "SourceInvalidError",
    "StateCorruptError",
    "StateIoError",
    "StateMismatchError",
    "Stats",
    "Tag",
    "TagStats",
    "TimeExhaustedError",
    "UnknownTagError",
    "WorkerInUseError",
    "WorkerLostError",
    "WouldBlockError",
    "__version__",
    "cli",
    "compose",
    "decode",
    "first_id_at",
    "format_id",
    "id_to_uuid",
    "last_id_at",
    "metrics",
    "parse_id",
    "refuse",
    "uuid_to_id",
]

# Before 3.12 classes cannot say that they are buffers, and NumPy's arrays do not.
if sys.version_info >= (3, 12):
    from collections.abc import Buffer

    _B = TypeVar("_B", bound=Buffer)
else:
    _B = TypeVar("_B")
_Order: TypeAlias = Literal["worker-sequence", "sequence-worker"]
_TextForm: TypeAlias = Literal["decimal", "base32", "base62", "uuid"]

__version__: str

# What worker ids may come from. An async def is run, too.
_WorkerId: TypeAlias = SupportsIndex | None
_LeaseAnswer: TypeAlias = Lease | Mapping[str, object] | None
_RenewAnswer: TypeAlias = Lease | Mapping[str, object] | SupportsIndex | None
_ClaimId: TypeAlias = Callable[[str, int | None], _WorkerId | Awaitable[_WorkerId]]
_PeerTimes: TypeAlias = Iterable[SupportsIndex]

class _WorkerLeases(Protocol):
    def claim(self, request: ClaimRequest, /) -> _LeaseAnswer | Awaitable[_LeaseAnswer]: ...
    def renew(self, lease: Lease, until_ms: int, /) -> _RenewAnswer | Awaitable[_RenewAnswer]: ...
    def release(self, lease: Lease, until_ms: int, /) -> object: ...

@final
class Snowflake:
    """A generator of unique 64-bit ids.

    It claims a worker id in a state directory and makes ids from memory, unique across threads, processes, forks,
    crashes, restarts and clock movements. Opened twice in a process with the same options, it is one generator. None
    means an option's default. docs/OPTIONS.md of the project describes every option in full.

    worker: 7, range(0, 32), "0-31", "local" on this machine alone, "hostname:orders", "hostname:orders*8", URLs of lease
        servers, a callable claim(name, previous), or an object with claim, renew and release. Default: the environment's
        LEAFID_WORKER.
    name: the id space. Worker ids are unique within it, and two names can make the same id: give one name to all
        programs that write into one column. Default "default".
    state_dir: the directory of the records. Default: LEAFID_STATE_DIR, or a directory of the system or the user.
    layout: a preset ("leaf"), bits such as "35|5|23", or a Layout. Default "leaf".
    epoch_ms: the layout's epoch, Unix milliseconds. Default: the layout's own.
    on_clock_backwards: "continue" on a logical clock (default), or "wait" for the clock.
    max_backwards_ms: how far the clock may be behind the last id. Default 5000, or 5 under "wait".
    on_exhausted: "wait" for the next tick (default), or "borrow" it ahead of the clock.
    random_start: a new tick starts its sequence below this number; 0 is off. Default 100.
    timeout_ms: the longest wait of a call for its next id. Default 2000.
    persist: False stores no record and gives up restart safety. Default True.
    shared_fs: whether state_dir may be on a network file system with working locks. Default False.
    shared_group: whether the members of a group share state_dir. Default: LEAFID_SHARED_GROUP, else False.
    exclusive_range: your statement that no other container or host has this range, or that all that have it share
        state_dir. Default: LEAFID_EXCLUSIVE_RANGE, else False.
    no_record_wait_ms: how long a start without a record issues nothing. Default: LEAFID_NO_RECORD_WAIT_MS, else 0 (off).
    clock_source: "system" (default), or "coarse": cheaper to read, and late by up to Stats.clock_lag_ms.
    start_after: the largest existing id of this layout: every id will be of a later tick.
    lazy: whether to claim the worker id at the first id instead of here, with the environment of then. Default False.
    peer_times: a callable that returns the clocks of peers, ints of Unix milliseconds, before each claim.
    token: sent to lease servers as "Authorization: Bearer …". Default: LEAFID_TOKEN, or the file LEAFID_TOKEN_FILE. This and
        the next four need URLs of lease servers.
    headers: a mapping of more headers for lease servers.
    ca_file: a PEM file of authorities for lease servers, in addition to the system's. Default: LEAFID_CA_FILE.
    request_timeout_ms: the longest duration of a claim, renewal or release, over all servers. Default 1000.
    connect_timeout_ms: the longest duration of a connection to a server. Default 300.

    Exceptions of the user's callables are the __cause__ of the error. Raises InvalidArgumentError, WorkerInUseError,
    WorkerLostError, ClockBackwardsError, BeforeEpochError, TimeExhaustedError, StateIoError, StateCorruptError and
    StateMismatchError.
    """
    def __new__(
        cls,
        worker: SupportsIndex | range | str | list[str] | tuple[str, ...] | _ClaimId | _WorkerLeases | None = None,
        *,
        name: str | None = None,
        state_dir: str | PathLike[str] | None = None,
        layout: str | Layout | None = None,
        epoch_ms: SupportsIndex | None = None,
        on_clock_backwards: Literal["continue", "wait"] | None = None,
        max_backwards_ms: SupportsIndex | None = None,
        on_exhausted: Literal["wait", "borrow"] | None = None,
        random_start: SupportsIndex | None = None,
        timeout_ms: SupportsIndex | None = None,
        persist: bool | None = None,
        shared_fs: bool | None = None,
        shared_group: bool | None = None,
        exclusive_range: bool | None = None,
        no_record_wait_ms: SupportsIndex | None = None,
        clock_source: Literal["system", "coarse"] | None = None,
        start_after: SupportsIndex | None = None,
        lazy: bool | None = None,
        peer_times: Callable[[], _PeerTimes | Awaitable[_PeerTimes]] | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        ca_file: str | PathLike[str] | None = None,
        request_timeout_ms: SupportsIndex | None = None,
        connect_timeout_ms: SupportsIndex | None = None,
    ) -> Self: ...
    def next(self) -> int:
        """The next id, above every id that this generator made before.

        Waits at most timeout_ms. Meanwhile other threads run, greenlets too if gevent or eventlet has patched, and
        signals are handled. Raises ClockBackwardsError, TimeExhaustedError, BeforeEpochError, WouldBlockError (no id
        within timeout_ms), WorkerInUseError (in a forked child), WorkerLostError, StateIoError and ClosedError.
        """
    def take(self, n: SupportsIndex) -> list[int]:
        """A list of the next n ids, ascending; 0 to 16777216. Raises as next does, and for no ids ClosedError alone."""
    def next_str(self) -> str:
        """The next id as text of decimal digits, for JSON that JavaScript reads. Raises as next does."""
    def take_strs(self, n: SupportsIndex) -> list[str]:
        """A list of the next n ids as text of decimal digits. Raises as take does."""
    def fill(self, out: _B) -> _B:
        """Fills a buffer with the next ids, ascending, without a copy, all or nothing, and returns it.

        out: any writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements: a NumPy array, an
            array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
        """
    def stats(self) -> Stats:
        """The state of the generator: a Stats. Raises ClosedError."""
    def close(self) -> None:
        """Closes it. A second call does nothing. The last handle of a generator records the exact end and releases the
        worker id. Other threads may be in next: they get ClosedError. `with`, dropping the last reference and the end
        of the interpreter close it too.
        """
    @property
    def worker_id(self) -> int:
        """The worker id. Raises ClosedError."""
    @property
    def layout(self) -> Layout:
        """The layout of the ids: a Layout."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

# What a fetch may answer, and the fetches. An async def is run, too.
_Segment: TypeAlias = range | tuple[SupportsIndex, SupportsIndex] | None
_SegmentAnswer: TypeAlias = _Segment | Awaitable[_Segment]

class _FetchAfter(Protocol):
    def __call__(self, tag: str, step: int, /, *, after: int) -> _SegmentAnswer: ...

_Fetch: TypeAlias = Callable[[str, int], _SegmentAnswer] | _FetchAfter

class _FileTag(TypedDict, total=False):
    start: SupportsIndex
    step: SupportsIndex

@final
class Segments:
    """Ids from segments: ranges of counters, one counter for each tag, leased from a source and issued from memory.

    Each tag has two segments in memory, so that calls do not wait while the source is slow, or down for a while. None
    means an option's default. docs/OPTIONS.md of the project describes every option in full, docs/SEGMENTS.md fetch.

    servers: the URL of a server or a list of them, such as "http://leaf-1:8080"; or "file:DIR" alone, a directory that
        the processes of one host share.
    fetch: a callable instead of servers: fetch(tag, step), or fetch(tag, step, *, after), returns range(start, end) or
        (start, end), ids that were never given before, or None for an unknown tag. It may be an async def.
    protocol: "leaf" (default), "leaf-snowflake", "range" or "tinyid".
    step: how many ids to ask for at a time, 1 to 1000000; with a Leaf the size of the stock. Default: the source's own,
        or 1000.
    adaptive: whether the step, or a Leaf's stock, follows the use. Default True.
    prefetch: the next segment is fetched when more than this percentage is used, 0 to 100. Default 10.
    timeout_ms: the longest wait of a call for its next id. Default 2000.
    request_timeout_ms: the longest duration of a request, over all servers. Default 1000.
    connect_timeout_ms: the longest duration of a connection to a server. Default 300.
    connections: kept-alive connections to each server, 1 to 64. Default 4.
    block_size: with "leaf", how many ids each number stands for, 2 to 1000000; the tag must be called "...-xN". With
        others, 1 is your word that tags called so are no blocks of ids for anybody.
    token: sent to servers as "Authorization: Bearer …"; to tinyid as the token of its form. Default: LEAFID_TOKEN, or the
        file LEAFID_TOKEN_FILE.
    headers: a mapping of more headers for servers.
    ca_file: a PEM file of authorities for servers, in addition to the system's.
    name: the id space. Two databases or two clusters need two names. Default "default".
    state_dir: the directory of the marks. Default: as for a Snowflake.
    persist: False stores nothing: then only this process notices a source that repeats itself. Default True.
    shared_fs: whether state_dir and file:DIR may be on a network file system with working locks. Default False.
    shared_group: whether the members of a group share state_dir and file:DIR. Default: LEAFID_SHARED_GROUP, else False.
    tags: counters of file:DIR, created if missing: {"order": {"start": 1, "step": 1000}}.
    create: whether to create file:DIR if it is missing. Default False.
    prewarm: tags to fetch at once, in the background: a list of at most 1000, or "last-day".
    keep_unused: whether a clean close stores the unused ids for the next opening on this machine. Default False.
    ordered_source: whether to refuse a segment that lies below earlier ones. Default True; False for a Leaf and tinyid.

    An exception of fetch is the __cause__ of the error. Raises InvalidArgumentError, StateIoError, and with file:DIR
    UnknownTagError and StateCorruptError.
    """
    def __new__(
        cls,
        servers: str | Iterable[str] | None = None,
        *,
        fetch: _Fetch | None = None,
        protocol: Literal["leaf", "leaf-snowflake", "range", "tinyid"] | None = None,
        step: SupportsIndex | None = None,
        adaptive: bool | None = None,
        prefetch: SupportsIndex | None = None,
        timeout_ms: SupportsIndex | None = None,
        request_timeout_ms: SupportsIndex | None = None,
        connect_timeout_ms: SupportsIndex | None = None,
        connections: SupportsIndex | None = None,
        block_size: SupportsIndex | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        ca_file: str | PathLike[str] | None = None,
        name: str | None = None,
        state_dir: str | PathLike[str] | None = None,
        persist: bool | None = None,
        shared_fs: bool | None = None,
        shared_group: bool | None = None,
        tags: Mapping[str, _FileTag] | None = None,
        create: bool | None = None,
        prewarm: Iterable[str] | Literal["last-day"] | None = None,
        keep_unused: bool | None = None,
        ordered_source: bool | None = None,
    ) -> Self: ...
    def tag(self, name: str) -> Tag:
        """The tag of this name: a Tag. 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Raises
        InvalidArgumentError and ClosedError.
        """
    def stats(self) -> SegmentsStats:
        """The state of every tag that this process has used: a SegmentsStats. Raises ClosedError."""
    def close(self) -> None:
        """Closes all tags. A second call does nothing. Calls that wait raise ClosedError. `with`, dropping the last
        reference, of its tags too, and the end of the interpreter close it too. Raises StateIoError: it is closed
        anyway, but some ids that keep_unused should store are lost.
        """
    @property
    def name(self) -> str:
        """The id space."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

@final
class Tag:
    """The ids of one tag; made by Segments.tag. Tags of one name of the same Segments are equal, and share their ids.

    A forked child issues none of its parent's ids: it fetches its own segments.
    """
    def next(self, timeout_ms: SupportsIndex | None = None) -> int:
        """The next id. It comes from memory, unless both segments are used up: then the call waits for the next one, at
        most timeout_ms (1 to 3600000, default that of Segments). Meanwhile other threads run, greenlets too if gevent
        or eventlet has patched, and signals are handled.

        Raises UnknownTagError and ClosedError at once, and after timeout_ms SegmentUnavailableError,
        SegmentRegressedError, SourceInvalidError, StateIoError and StateCorruptError.
        """
    def try_next(self) -> int | None:
        """The next id, if one is in memory; else None, and the fetch of the next segment starts. It never waits. Raises
        UnknownTagError and ClosedError.
        """
    def take(self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None) -> list[int]:
        """A list of the next n ids, 0 to 16777216, in order, from as many segments as needed. The source is asked for that
        many at once, if it can give them. Raises as next does; the ids that it had are then put back and issued later.
        """
    def next_str(self, timeout_ms: SupportsIndex | None = None) -> str:
        """The next id as text of decimal digits, for JSON that JavaScript reads. Raises as next does."""
    def take_strs(self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None) -> list[str]:
        """A list of the next n ids as text of decimal digits. Raises as take does."""
    def fill(self, out: _B, timeout_ms: SupportsIndex | None = None) -> _B:
        """Fills a buffer with the next ids, in order, without a copy, all or nothing, and returns it.

        out: any writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements: a NumPy array, an
            array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
        """
    def next_async(self, timeout_ms: SupportsIndex | None = None) -> Coroutine[Any, Any, int]:
        """The same as next, as a coroutine for asyncio's event loop. A cancellation loses no id."""
    def take_async(
        self, n: SupportsIndex, timeout_ms: SupportsIndex | None = None
    ) -> Coroutine[Any, Any, list[int]]:
        """The same as take, as a coroutine for asyncio's event loop. A cancellation puts back the ids that it had."""
    def stats(self) -> TagStats:
        """The state of the tag: a TagStats. Raises ClosedError."""
    @property
    def name(self) -> str:
        """The tag's name."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class SegmentsStats:
    """The state of segments in this process at one moment; made by Segments.stats."""
    def __new__(
        cls,
        name: str,
        source: str,
        servers: dict[str, str | None],
        state_dir: str,
        tags: dict[str, TagStats],
    ) -> Self: ...
    @property
    def name(self) -> str:
        """The id space."""
    @property
    def source(self) -> str:
        """The kind of source, such as "callback"."""
    @property
    def servers(self) -> dict[str, str | None]:
        """The last error of each server, None after a success: a dict by URL, in the order of preference."""
    @property
    def state_dir(self) -> str:
        """The directory of the marks, with the id space's sub-directory; empty if nothing is stored."""
    @property
    def tags(self) -> dict[str, TagStats]:
        """Every tag that was used, in the order of their names: a dict of TagStats by name."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class TagStats:
    """The state of a tag in this process at one moment; made by Tag.stats."""
    def __new__(
        cls,
        tag: str,
        current: range | None,
        next: range | None,
        left: int,
        ids: int,
        step: int,
        fetching: bool,
        fetches: int,
        failures: int,
        waits: int,
        waiting: int,
        last_error: str | None,
    ) -> Self: ...
    @property
    def tag(self) -> str:
        """The tag."""
    @property
    def current(self) -> range | None:
        """The ids left of the current segment: a range, or None."""
    @property
    def next(self) -> range | None:
        """The segment after it: a range, or None."""
    @property
    def left(self) -> int:
        """Ids in memory."""
    @property
    def ids(self) -> int:
        """Ids that calls have taken, with those that a thread reserved for its next calls."""
    @property
    def step(self) -> int:
        """The step of the last fetch, or of the first one; 0 if the source sets it."""
    @property
    def fetching(self) -> bool:
        """Whether a fetch is running."""
    @property
    def fetches(self) -> int:
        """Fetches that have ended."""
    @property
    def failures(self) -> int:
        """The number of fetches that failed."""
    @property
    def waits(self) -> int:
        """Calls that found no id in memory."""
    @property
    def waiting(self) -> int:
        """Calls that wait now."""
    @property
    def last_error(self) -> str | None:
        """The last fetch's error, None after a success."""
    def __eq__(self, other: object, /) -> bool: ...

# What leafid._waiting and leafid._green run.
@final
class Call:
    """One call. Private: `leafid._waiting` runs it."""
    def ready(self) -> int | None:
        """The id, if one is in memory and no more are requested; else None."""
    def poll(self, inbox: FutureInbox, future: asyncio.Future[None]) -> int | list[int] | None:
        """The ids, or None: then call this again when the future is set in its loop."""
    def look(self) -> Any:
        """The ids, or None: then call this again after `pause`."""
    def pause(self) -> float:
        """The time until the next `look`, in seconds."""
    def end(self) -> None:
        """Puts back its ids."""

@final
class FutureInbox:
    """The futures of one event loop that must be completed. Private."""
    def __new__(cls, call_soon_threadsafe: Callable[..., object]) -> Self: ...

@final
class Layout:
    """What the bits of an id mean: at most 63 together. The defaults are Leaf's; None means the default.

    timestamp_bits: of the tick counter, 1 to 62.
    worker_bits, sequence_bits: 0 to 31 each.
    epoch_ms: Unix milliseconds of tick 0.
    tick_ms: milliseconds a tick, 1 to 3600000.
    order: what follows the timestamp, "worker-sequence" (Leaf's) or "sequence-worker" (Sonyflake's).

    Raises InvalidArgumentError, naming the field.
    """
    def __new__(
        cls,
        *,
        timestamp_bits: SupportsIndex | None = 41,
        worker_bits: SupportsIndex | None = 10,
        sequence_bits: SupportsIndex | None = 12,
        epoch_ms: SupportsIndex | None = 1288834974657,
        tick_ms: SupportsIndex | None = 1,
        order: _Order | None = "worker-sequence",
    ) -> Self: ...
    @property
    def timestamp_bits(self) -> int:
        """Bits of the tick counter."""
    @property
    def worker_bits(self) -> int:
        """Bits of the worker id."""
    @property
    def sequence_bits(self) -> int:
        """Bits of the sequence."""
    @property
    def epoch_ms(self) -> int:
        """Unix milliseconds of tick 0."""
    @property
    def tick_ms(self) -> int:
        """Milliseconds a tick."""
    @property
    def order(self) -> _Order:
        """What follows the timestamp: "worker-sequence" or "sequence-worker"."""
    @property
    def expires_at_ms(self) -> int:
        """Unix milliseconds at which the timestamp bits are used up."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, int | str]]: ...

@final
class Parts:
    """What an id says; made by decode.

    timestamp_ms: Unix milliseconds. worker_id, sequence: 0 to 2**32 - 1.
    """
    def __new__(cls, timestamp_ms: SupportsIndex, worker_id: SupportsIndex, sequence: SupportsIndex) -> Self: ...
    @property
    def timestamp_ms(self) -> int:
        """When the id was made: Unix milliseconds, floored to the layout's tick."""
    @property
    def time(self) -> datetime.datetime:
        """When the id was made: an aware datetime in UTC, exact to the millisecond.

        Raises InvalidArgumentError after the year 9999, which datetime cannot represent; use timestamp_ms.
        """
    @property
    def worker_id(self) -> int:
        """The worker id."""
    @property
    def sequence(self) -> int:
        """The sequence number within the tick."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, int, int]: ...

@final
class Stats:
    """The state of a generator at one moment; made by Snowflake.stats."""
    def __new__(
        cls,
        name: str,
        worker_id: int,
        state_dir: str,
        layout: str,
        epoch_ms: int,
        expires_at_ms: int,
        reserved_until_ms: int,
        lead_ms: int,
        clock_lag_ms: int,
        lease_until_ms: int | None,
        ids: int,
        claims: int,
        handles: int,
        renewals: int,
        renewal_failures: int,
        last_error: str | None,
    ) -> Self: ...
    @property
    def name(self) -> str:
        """The id space."""
    @property
    def worker_id(self) -> int:
        """The worker id held."""
    @property
    def state_dir(self) -> str:
        """The directory of the records, with the id space's sub-directory; empty if none are stored."""
    @property
    def layout(self) -> str:
        """The layout: a preset's name, or bits as in "35|5|23"."""
    @property
    def epoch_ms(self) -> int:
        """The layout's epoch, Unix milliseconds."""
    @property
    def expires_at_ms(self) -> int:
        """When the layout's timestamp bits end, Unix milliseconds."""
    @property
    def reserved_until_ms(self) -> int:
        """Ids are durable up to here, exclusive, Unix milliseconds."""
    @property
    def lead_ms(self) -> int:
        """How far the logical clock is ahead of the clock, milliseconds; 0 when it is not."""
    @property
    def clock_lag_ms(self) -> int:
        """How late the clock of clock_source may be, milliseconds; 0 for the system's."""
    @property
    def lease_until_ms(self) -> int | None:
        """Where the lease of the worker id ends, Unix milliseconds; None without one."""
    @property
    def ids(self) -> int:
        """Ids issued since the claim of this worker id, with those that a thread reserved for its next calls."""
    @property
    def claims(self) -> int:
        """How often a worker id was claimed: more than once when leases were lost."""
    @property
    def handles(self) -> int:
        """Handles of this process that share the generator."""
    @property
    def renewals(self) -> int:
        """Spans made durable since the generator was opened, the first one not counted."""
    @property
    def renewal_failures(self) -> int:
        """The number of failed renewals of spans and leases."""
    @property
    def last_error(self) -> str | None:
        """The last error of a renewal, None after a success."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class ClaimRequest:
    """The argument of a lease object's claim."""
    def __new__(
        cls,
        name: str,
        instance: str,
        previous: int | None,
        now_ms: int,
        until_ms: int,
    ) -> Self: ...
    @property
    def name(self) -> str:
        """The id space."""
    @property
    def instance(self) -> str:
        """128 random bits in hex, new for each claim."""
    @property
    def previous(self) -> int | None:
        """The worker id that this generator held before, or its parent process; None at the first claim."""
    @property
    def now_ms(self) -> int:
        """The clock, Unix milliseconds."""
    @property
    def until_ms(self) -> int:
        """The requested end of the span, Unix milliseconds. You may grant more or less."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Lease:
    """A worker id, and a span of time in which no other holder may use it.

    worker_id: the worker id.
    from_ms: where the span begins, Unix milliseconds: at or above the until_ms of every holder before.
    until_ms: where it ends, exclusive, at most a week ahead. It is stored before it is answered.
    lease_ms: how long the lease source keeps the id without a renewal, 1 to 604800000 ms. Default: until until_ms.
    token: text by which the lease source knows this holder; renew and release get it back with the lease.
    peer_times_ms: the clocks of other holders, Unix milliseconds. The claim is refused if this clock differs by 10 s
        or more from the median of three or more.

    Raises InvalidArgumentError, naming the field.
    """
    def __new__(
        cls,
        worker_id: SupportsIndex,
        from_ms: SupportsIndex,
        until_ms: SupportsIndex,
        lease_ms: SupportsIndex | None = None,
        token: str | None = None,
        peer_times_ms: Iterable[SupportsIndex] | None = (),
    ) -> Self: ...
    @property
    def worker_id(self) -> int:
        """The worker id."""
    @property
    def from_ms(self) -> int:
        """Where the span begins, Unix milliseconds."""
    @property
    def until_ms(self) -> int:
        """Where the span ends, exclusive, Unix milliseconds."""
    @property
    def lease_ms(self) -> int | None:
        """How long the lease source keeps the id without a renewal, milliseconds; None: until until_ms."""
    @property
    def token(self) -> str | None:
        """The token by which the lease source knows this holder, or None."""
    @property
    def peer_times_ms(self) -> tuple[int, ...]:
        """The clocks of other holders, Unix milliseconds."""
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[int, int, int, int | None, str | None, tuple[int, ...]]: ...

def decode(id: SupportsIndex | str, layout: str | Layout | None = "leaf") -> Parts:
    """Takes an id apart.

    id: an int, or decimal text of digits only.
    layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.

    Raises InvalidArgumentError for what is no id of the layout.
    """
def compose(
    timestamp_ms: SupportsIndex,
    worker_id: SupportsIndex,
    sequence: SupportsIndex,
    layout: str | Layout | None = "leaf",
) -> int:
    """Makes the id of these parts: the reverse of decode.

    timestamp_ms: Unix milliseconds, floored to the layout's tick.
    worker_id, sequence: within their bits of the layout.
    layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.

    Raises InvalidArgumentError, BeforeEpochError and TimeExhaustedError.
    """
def first_id_at(timestamp: SupportsIndex | datetime.datetime, layout: str | Layout | None = "leaf") -> int:
    """The smallest id of the tick that contains a time.

    With last_id_at it finds the ids of a period, with all of its first and last tick:
    WHERE id BETWEEN first_id_at(start) AND last_id_at(end).

    timestamp: Unix milliseconds, or a datetime with a time zone.
    layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.

    Raises InvalidArgumentError, BeforeEpochError and TimeExhaustedError.
    """
def last_id_at(timestamp: SupportsIndex | datetime.datetime, layout: str | Layout | None = "leaf") -> int:
    """The largest id of the tick that contains a time. Otherwise as first_id_at."""
@final
class PublicIds:
    """Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G.

    docs/PUBLIC-IDS.md says what it hides and what it does not.

    key: 16, 24 or 32 bytes; or where to read hexadecimal digits of them, as text: "env:NAME", an environment variable, or
        "file:PATH". No error and no repr shows a key.
    version: of the key, 0 to 31. A text begins with it.
    others: keys by their versions, in a dict. They decrypt only.

    Raises InvalidArgumentError.
    """
    def __new__(
        cls, key: bytes | str, version: SupportsIndex, others: dict[int, bytes | str] | None = None
    ) -> Self: ...
    @property
    def version(self) -> int:
        """The version of the key that encrypts."""
    def encrypt(self, /, id: SupportsIndex | str) -> int:
        """The number that stands for an id, 0 to 2^63-1.

        id: an int, or decimal text of digits only, from 1.

        Raises InvalidArgumentError.
        """
    def decrypt(self, /, public_id: SupportsIndex, version: SupportsIndex) -> int:
        """The id of a number that encrypt made with the key of this version. A number of another key gives another id.

        Raises InvalidArgumentError.
        """
    def format_id(self, /, id: SupportsIndex | str, form: Literal["base32", "base62"]) -> str:
        """The text that stands for an id: a digit for the version, and the number of encrypt in base32 or base62.

        form: "base32", 14 characters together, or "base62", 12.

        Raises InvalidArgumentError.
        """
    def parse_id(self, /, text: str, form: Literal["base32", "base62"]) -> int:
        """The id of a text of format_id, with the key of its version.

        Raises InvalidArgumentError.
        """

def format_id(id: SupportsIndex | str, form: _TextForm) -> str:
    """The text of an id.

    id: an int, or decimal text of digits only.
    form: "decimal"; "base32", Crockford's in upper case, 13 characters; "base62", 11 characters of 0-9, A-Z and a-z; or
        "uuid", the text of id_to_uuid in lower case.
        The order of all texts but decimal ones, as bytes, is the order of the ids.

    Raises InvalidArgumentError.
    """
def parse_id(text: str, form: _TextForm) -> int:
    """The id of a text: the reverse of format_id.

    text: only what format_id makes: no other width, case or character, and no leading zero of decimal text.
    form: "decimal", "base32", "base62" or "uuid".

    Raises InvalidArgumentError.
    """
def id_to_uuid(id: SupportsIndex | str) -> uuid.UUID:
    """The UUID of an id, of version 8 (RFC 9562).

    Its first 64 bits without the version and the variant are the id, and 58 zeros follow. UUIDs have the order of their
    ids.

    id: an int, or decimal text of digits only.

    Raises InvalidArgumentError.
    """
def uuid_to_id(uuid: uuid.UUID) -> int:
    """The id of a UUID: the reverse of id_to_uuid.

    uuid: a uuid.UUID, only one that id_to_uuid makes. For text see parse_id.

    Raises InvalidArgumentError.
    """
def metrics() -> str:
    """The statistics of everything open in this process, in the OpenMetrics text format of Prometheus. Serve it as
    "application/openmetrics-text; version=1.0.0; charset=utf-8".

    Reads memory only. A forked child shows the generators that it has used itself.
    """

def refuse(name: str, value: object, allowed: str) -> NoReturn:
    """Raises `invalid_argument` for an argument that only Python's own modules have."""

def cli(arguments: list[str], /) -> int:
    """Runs a command line without the program's name, with the streams of this process, and returns the exit code."""

class Error(Exception):
    """The root of leafid's exceptions. `code` is the error's name in every language, `number` its number in C, `can_retry` whether the same call can succeed later with nothing changed by hand."""
    code: ClassVar[str]
    number: ClassVar[int]
    can_retry: ClassVar[bool]

class InvalidArgumentError(Error, ValueError):
    """An option or an argument is not of the allowed kind or outside the allowed values."""
class ClockBackwardsError(Error):
    """The clock is further behind the last id than the bound allows."""
class BeforeEpochError(Error):
    """The clock, or the requested time, is before the layout's epoch."""
class TimeExhaustedError(Error):
    """The layout's timestamp bits are used up."""
class WorkerInUseError(Error):
    """Another generator holds the worker id, or every id of the range."""
class WorkerLostError(Error):
    """This generator no longer holds the worker id."""
class StateIoError(Error):
    """The state directory or file cannot be read, written or locked."""
class StateCorruptError(Error):
    """The state file is damaged or not leafid's."""
class StateMismatchError(Error):
    """The state file was written with another layout or epoch."""
class UnknownTagError(Error):
    """The source of segments does not know the tag."""
class SegmentUnavailableError(Error):
    """No segment arrived in time."""
class SegmentRegressedError(Error):
    """The source returned ids that it had returned before."""
class SourceInvalidError(Error):
    """The source's response is not valid."""
class WouldBlockError(Error):
    """The call would have to wait where waiting is not allowed."""
class ClosedError(Error):
    """The handle was closed."""
class InternalError(Error):
    """A defect in leafid."""
