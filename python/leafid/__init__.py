"""Unique 64-bit ids made in the caller's own process.

    import leafid

    flake = leafid.Snowflake(worker=range(0, 32))
    order_id = flake.next()
    leafid.decode(order_id).time

Ids are ints from 0 to 2**63 - 1, unique across threads, processes, forks, crashes, restarts and clock movements. All
exceptions are leafid.Error, with a `code`.
"""

from ._leafid import (
    BeforeEpochError,
    ClockBackwardsError,
    ClosedError,
    Error,
    InternalError,
    InvalidArgumentError,
    Layout,
    Parts,
    SegmentRegressedError,
    SegmentUnavailableError,
    Snowflake,
    SourceInvalidError,
    StateCorruptError,
    StateIoError,
    StateMismatchError,
    Stats,
    TimeExhaustedError,
    UnknownTagError,
    WorkerInUseError,
    WorkerLostError,
    WouldBlockError,
    __version__,
    compose,
    decode,
)

__all__ = [
    "BeforeEpochError",
    "ClockBackwardsError",
    "ClosedError",
    "Error",
    "InternalError",
    "InvalidArgumentError",
    "Layout",
    "Parts",
    "SegmentRegressedError",
    "SegmentUnavailableError",
    "Snowflake",
    "SourceInvalidError",
    "StateCorruptError",
    "StateIoError",
    "StateMismatchError",
    "Stats",
    "TimeExhaustedError",
    "UnknownTagError",
    "WorkerInUseError",
    "WorkerLostError",
    "WouldBlockError",
    "__version__",
    "compose",
    "decode",
]
