"""The packages that a Python program can pick instead, and two of the standard library."""

import asyncio
import sys
import uuid
from itertools import repeat

from harness import batch, burst, emit, single


def measure():
    # --- an array of NumPy's over bytes
    import numpy
    import pyfloor

    batch(
        "floor",
        "pyo3 bytes of 1000 u64 -> numpy.frombuffer",
        lambda: numpy.frombuffer(pyfloor.count_bytes(1000), numpy.uint64),
        1000,
    )

    # --- 64-bit
    from snowflake import SnowflakeGenerator

    g = SnowflakeGenerator(42)
    step = g.__next__
    single("snowflake-id", "next(gen), None when exhausted", step)
    burst("snowflake-id", "next(gen)", step)

    from sonyflake import SonyFlake

    g = SonyFlake(machine_id=lambda: 1)
    single("sonyflake-py", "next_id (256 ids per 10 ms)", g.next_id, n=10_000, reps=3)
    burst("sonyflake-py", "next_id", g.next_id, k=100, tick_ms=10, n=10_000)

    from snowflake_id_toolkit import TwitterSnowflakeIDGenerator

    g = TwitterSnowflakeIDGenerator(node_id=1)
    single("snowflake-id-toolkit", "generate_next_id", g.generate_next_id)
    burst("snowflake-id-toolkit", "generate_next_id", g.generate_next_id)

    from kxy_open_id_client import IdGenerator  # segment mode; its server is stubbed out

    g = IdGenerator(FakeSegments(), "system", "db", "table", "id", segment_count=10_000)
    single("kxy-open-id-client", "segment IdGenerator.next_id, segments of 10000", g.next_id)

    try:
        from snowflake_tool import SnowflakeGenerator as Tool
    except ImportError as e:
        emit("snowflake-tool", "gen_id", "sustained", None, f"cannot be imported on {sys.version.split()[0]}: {e}")
    else:
        g = Tool(1)
        single("snowflake-tool", "gen_id", g.gen_id)
        burst("snowflake-tool", "gen_id", g.gen_id)

        async def agen(k):
            return [await g.agen_id() for _ in repeat(None, k)]

        batch("snowflake-tool", "await agen_id", lambda: asyncio.run(agen(100_000)), 100_000)

    # --- 128-bit
    single("stdlib", "uuid.uuid4", uuid.uuid4)
    single("stdlib", "uuid.uuid1", uuid.uuid1)
    if hasattr(uuid, "uuid7"):
        single("stdlib", "uuid.uuid7", uuid.uuid7)

    import uuid_utils

    single("uuid_utils", "uuid7", uuid_utils.uuid7)
    single("uuid_utils", "uuid7().int", lambda: uuid_utils.uuid7().int)
    single("uuid_utils", "compat.uuid7 (a stdlib UUID)", __import__("uuid_utils.compat").compat.uuid7)
    single("uuid_utils", "uuid4", uuid_utils.uuid4)

    import uuid7_rs

    single("uuid7_rs", "uuid7", uuid7_rs.uuid7)
    single("uuid7_rs", "compat.uuid7 (a stdlib UUID)", uuid7_rs.compat.uuid7)

    import fastuuid

    single("fastuuid", "uuid7", fastuuid.uuid7)
    single("fastuuid", "uuid4", fastuuid.uuid4)
    batch("fastuuid", "uuid7_bulk(1000)", lambda: fastuuid.uuid7_bulk(1000), 1000)
    batch("fastuuid", "uuid7_as_strings_bulk(1000)", lambda: fastuuid.uuid7_as_strings_bulk(1000), 1000)

    import uuid6

    single("uuid6", "uuid7", uuid6.uuid7)

    import ulid

    single("python-ulid", "ULID()", ulid.ULID)

    import ulid_transform

    single("ulid-transform", "ulid_now() -> str", ulid_transform.ulid_now)
    single("ulid-transform", "ulid_now_bytes() -> bytes", ulid_transform.ulid_now_bytes)

    import cyksuid.v2

    single("cyksuid", "v2.ksuid()", cyksuid.v2.ksuid)


class FakeSegments:
    """A segment server without the network."""

    def __init__(self):
        self.end = 0

    def allocate_segment(self, *_, segment_count=10_000, **__):
        start, self.end = self.end + 1, self.end + segment_count
        return type("Segment", (), dict(start=start, end=self.end))
