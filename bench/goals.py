"""What each figure is compared with, and what it is to reach. A goal that is missed is said, and fails nothing."""

from dataclasses import dataclass, field

from limits import above, least, linear, most, scaled, times, times_and, unless_noise


@dataclass(frozen=True)
class Row:
    """A measure: what it is, its unit, the name of its floor and the goal by language, "" for any other."""

    measure: str
    what: str
    unit: str = "ns"
    floors: dict = field(default_factory=dict)
    goals: dict = field(default_factory=dict)


def every(value):
    return {"": value}


CLOCK_ADD = {"rust": "clock read + atomic add", "c": "clock read + atomic add", "python": "method: clock + counter", "node": "Date.now",
             "wasm": "Date.now + empty i64 call"}
ADD = {"": "atomic add", "python": "method: counter"}
TWO_CLOCK = {"": "two: clock read + one counter", "python": "two: method, clock + counter"}
TWO_ADD = {"": "two: add to one counter", "python": "two: method, counter"}
WRITE = {"": "writing numbers", "python": "copying numbers", "node": "copying numbers", "wasm": "copying numbers"}
FILL = {"rust": most(0.5), "python": most(0.5), "node": most(0.5), "wasm": most(0.6)}
READ = every("BigInt64Array read")
# What a list of ints is made of is the list's own business.
LIST = every("cheapest list of such ints")
EMPTY_LOOP = every("empty loop, same pace")
NUMBERS = (1, 100, 500, 1_000, 5_000, 10_000)


# Of a source of 200 ms that fails one time in five, the step adaptive.
TAIL = [
    Row("tail_p50", "slow source: half of the calls of next", "us", EMPTY_LOOP),
    Row("tail_p99", "slow source: 99 %", "us", EMPTY_LOOP),
    Row("tail_p99_9", "slow source: 99.9 %", "us", EMPTY_LOOP),
    Row("tail_p99_99", "slow source: 99.99 %", "us", EMPTY_LOOP, every(unless_noise(20))),
    Row("tail_max", "slow source: the longest", "us", EMPTY_LOOP),
    Row("tail_errors", "slow source: errors after warm-up", "", goals=every(most(0))),
    Row("tail_waits", "slow source: waits after warm-up", "", goals=every(most(0))),
    Row("tail_errors_warm_up", "slow source: errors before", ""),
    Row("tail_rate", "slow source: calls a second", "", every("wished")),
    Row("tail_warm_up", "slow source: warm-up", "s"),
    Row("tail_failed_fetches", "slow source: failed fetches", "", every("fetches")),
]
GROWTH = [
    *(Row(f"cost_tags_{n}", f"tag.next, {n:,} tags", floors=every("of one tag"), goals=every(times(1.2))) for n in NUMBERS),
    *(Row(f"cost_tags_{n}_in_turn", f"tag.next, {n:,} tags in turn", floors=every("adds, counters in turn")) for n in NUMBERS),
    *(Row(f"cost_generators_{n}", f"next, {n:,} generators", floors=every("of one generator"), goals=every(times(1.2)))
      for n in NUMBERS),
    *(Row(f"cost_generators_{n}_in_turn", f"next, {n:,} generators in turn", floors=every("adds, counters in turn"))
      for n in NUMBERS),
    *(Row(f"threads_{of}_{n}", f"{of.replace('_', ', ')}: {n} threads", "M ids/s", every("adds to one counter"))
      for of in ("tag", "snowflake", "tag_local", "snowflake_local") for n in (1, 2, 4, 8, 16, 32, 64)),
    *(Row(f"threads_{of}_kept", f"{of}: least of 4 to 64 threads, to 2", "share", every("adds"), every(least(0.8)))
      for of in ("tag", "snowflake")),
    *(Row(f"threads_{of}_local_cpu", f"{of}, own handles: most of 1 to 64 threads", "ns cpu", every("of one"), every(times(1.2)))
      for of in ("tag", "snowflake")),
    Row("memory_tag", "slope of memory by tags", "KiB", every("of the first thousands"), every(linear(1))),
    Row("memory_generator", "slope of memory by generators", "KiB", every("of the first hundreds"), every(linear(64))),
    Row("threads with 10000 tags", "threads with 10,000 tags", "", goals=every(most(5))),
]  # fmt: skip
START = [
    Row("start_import", "import leafid, above an empty process", "ms", every("empty process"), every(most(10))),
    Row("start_require", "require('leafid'), above an empty process", "ms", every("empty process"), every(most(15))),
    Row("first_id", "first id after a restart", "ms", every("write + fdatasync"), every(times_and(2, 2))),
    Row("first_id_new", "first id, all files new", "ms", every("write + fdatasync")),
]

ROWS = [
    Row("call", "next", floors=CLOCK_ADD, goals={"rust": times(1.1), "python": times(1.15), "node": times(1.2), "wasm": times(1.3)}),
    Row("call_closure", "next", floors=every("napi-rs closure -> BigInt")),
    Row("coarse", "next, coarse clock", floors=every("coarse clock read + atomic add"), goals={"rust": times(1.15)}),
    Row("local", "next of a thread's own handle", floors=every("coarse clock read")),
    Row("two", "next, two threads", floors=TWO_CLOCK, goals={"rust": times(1.25), "python": times(1.15)}),
    Row("two_coarse", "next, coarse clock, two threads", floors=every("two: coarse read + one counter")),
    Row("iter", "for id in flake", floors=every("calls of next"), goals=every(times(1))),
    Row("loop", "plain loop, share of 4096/ms", "share", goals=every(least(0.995))),
    Row("list", "take(1000), a list", "ns/id", LIST, every(times(1.2))),
    Row("fill", "fill of 1,000,000", "ns/id", WRITE, FILL),
    Row("fill_cached", "fill of 65,536", "ns/id", WRITE, FILL),
    Row("public_id", "encrypt of public ids", floors=every("ten blocks of AES-128")),
    Row("idle", "processor while idle", "%"),
    Row("idle_ferroid", "processor while idle: ferroid's clock", "%"),
    Row("tag", "tag.next", floors=ADD, goals={"rust": times(1.15), "python": times(1.15)}),
    Row("tag_two", "tag.next, two threads", floors=TWO_ADD, goals={"rust": times(1.5), "python": times(1.15)}),
    Row("tag_local", "next of a thread's own handle of a tag", floors=ADD, goals=every(most(2))),
    Row("tag_iter", "for id in tag", floors=every("calls of tag.next"), goals=every(times(1))),
    Row("tag_sync", "tag.nextSync", floors=READ, goals=every(scaled(12, 5, 10))),
    Row("tag_try", "tag.tryNext", floors=READ, goals=every(scaled(12, 5, 10))),
    Row("tag_await", "await tag.next()", floors=every("await of a resolved promise"), goals=every(times(2))),
    Row("tag_list", "tag.take(1000), a list", "ns/id", LIST, every(times(1.2))),
    Row("tag_fill", "tag.fill of 1,000,000", "ns/id", WRITE, FILL),
    Row("tag_fill_cached", "tag.fill of 65,536", "ns/id", WRITE, FILL),
    Row("tag_take", "tag.take, 1,000,000 in all", "ns/id", WRITE, {"rust": most(0.5)}),
    Row("threads before the first id", "threads before the first id", "", goals=every(most(0))),
    Row("threads while in use", "threads while in use", "", goals=every(most(1))),
    Row("threads with 1000 in use", "threads with 1,000 generators", "", goals=every(most(1))),
    Row("KiB a generator", "memory of a generator", "KiB", goals=every(most(64))),
    Row("KiB a tag", "memory of a tag", "KiB", goals=every(most(1))),
]
ROWS += TAIL + GROWTH + START

# Of two languages: the figure of the one, with that of the other as its floor.
ACROSS = [
    ("c", "rust", "call", "next above Rust's", above(3)),
    ("c", "rust", "tag", "tag.next above Rust's", above(3)),
]


@dataclass(frozen=True)
class Ahead:
    """A subject of leafid's that is to be cheaper than each of these peers; of those named for show, `goal` is false."""

    lang: str
    what: str
    peers: tuple
    among: str
    kind: str = ""
    goal: bool = True


PYTHON_64 = ("snowflake-id", "sonyflake-py", "snowflake-id-toolkit", "kxy-open-id-client", "snowflake-tool")
NODE_64 = (
    "nodejs-snowflake", "@sapphire/snowflake", "snowyflake", "snowflake-id", "flakeid", "flake-idgen", "simple-flakeid",
    "simpleflakes",
)  # fmt: skip
# Without ferroid: its clock is a thread that stands still in a forked child.
RUST_CLOCKS = ("snowdon", "idgen_rs", "idgenerator", "uuid", "snowflaked", "snowflake-ng", "ulid")

AHEAD = [
    Ahead("rust", "Snowflake::next wide 5+23", RUST_CLOCKS, "peers that read a clock"),
    Ahead("rust", "Snowflake::next wide 5+23", RUST_CLOCKS, "peers that read a clock", "2 threads"),
    Ahead("rust", "Snowflake::next wide 5+23, coarse", ("ferroid",), "ferroid, its clock a thread", goal=False),
    Ahead("rust", "Snowflake::next wide 5+23, coarse", ("ferroid",), "ferroid, its clock a thread", "2 threads", goal=False),
    Ahead("python", "Snowflake.next wide 5+23", PYTHON_64, "peers that make 64-bit ids"),
    Ahead("python", "Tag.next, bound once", PYTHON_64, "peers that make 64-bit ids"),
    Ahead("node", "next -> BigInt wide 5+23", NODE_64, "snowflake packages"),
    Ahead("node", "tag.nextSync -> BigInt", ("hyperid",), "hyperid"),
]
