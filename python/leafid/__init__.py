"""Unique 64-bit ids made in the caller's own process.

    import leafid

    flake = leafid.Snowflake()  # with LEAFID_WORKER=0-31 in the environment, which no other host has
    order_id = flake.next()
    leafid.decode(order_id).time

    ids = leafid.Segments(fetch=lambda tag, step: range(start, end))
    ids.tag("order").next()

Ids are ints from 0 to 2**63 - 1, unique across threads, processes, forks, crashes, restarts and clock movements; those
of segments are as unique as the ranges of their source. All exceptions are leafid.Error, with a `code`.
"""

from ._leafid import (
    BeforeEpochError,
    ClaimRequest,
    ClockBackwardsError,
    ClosedError,
    Error,
    InternalError,
    InvalidArgumentError,
    Layout,
    Lease,
    Parts,
    PublicIds,
    SegmentRegressedError,
    SegmentUnavailableError,
    Segments,
    SegmentsStats,
    Snowflake,
    SourceInvalidError,
    StateCorruptError,
    StateIoError,
    StateMismatchError,
    Stats,
    Tag,
    TagStats,
    TimeExhaustedError,
    UnknownTagError,
    WorkerInUseError,
    WorkerLostError,
    WouldBlockError,
    __version__,
    compose,
    decode,
    first_id_at,
    format_id,
    id_to_uuid,
    last_id_at,
    metrics,
    parse_id,
    uuid_to_id,
)

__all__ = [
    "BeforeEpochError",
    "ClaimRequest",
    "ClockBackwardsError",
    "ClosedError",
    "Error",
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
    "compose",
    "decode",
    "first_id_at",
    "format_id",
    "id_to_uuid",
    "last_id_at",
    "metrics",
    "parse_id",
    "uuid_to_id",
]


def _imported_by_the_native_module() -> None:
    """Never called. What makes one program of a package and its interpreter, as PyInstaller does, looks for import
    statements: those of the native module it cannot see."""
    import asyncio  # noqa: F401
    import atexit  # noqa: F401
    import builtins  # noqa: F401
    import collections.abc  # noqa: F401
    import datetime  # noqa: F401
    import importlib  # noqa: F401
    import inspect  # noqa: F401
    import os  # noqa: F401
    import sys  # noqa: F401
    import types  # noqa: F401
    import uuid  # noqa: F401
    import weakref  # noqa: F401

    from . import _green, _logs, _waiting  # noqa: F401
