"""The packages of 64-bit ids that a Python program can pick instead."""

import sys

from harness import burst, emit, single


def measure():
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


class FakeSegments:
    """A segment server without the network."""

    def __init__(self):
        self.end = 0

    def allocate_segment(self, *_, segment_count=10_000, **__):
        start, self.end = self.end + 1, self.end + segment_count
        return type("Segment", (), dict(start=start, end=self.end))
