//! What the tests share: a seeded source of numbers, the vectors, and the part of a host that grants spans.

pub(crate) mod mark_file;

pub(crate) mod openings;

use leafid_core::{Layout, LayoutFields, Order, Rules, Snowflake, Span};
use serde_json::Value;

/// A time well inside every preset that has not ended.
pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

/// Leaf's rules, but every tick starts at sequence 0, so that each id can be foretold.
pub(crate) const PLAIN: Rules = Rules {
    on_clock_backwards: leafid_core::OnClockBackwards::Continue,
    max_backwards_ms: 5_000,
    on_exhausted: leafid_core::OnExhausted::Wait,
    random_start: 0,
};

/// PLAIN with Leaf's rule for a clock that goes back.
pub(crate) const PLAIN_WAIT: Rules =
    Rules { on_clock_backwards: leafid_core::OnClockBackwards::Wait, max_backwards_ms: 5, ..PLAIN };

/// Splitmix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `end`, exclusive.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Both ends included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Runs a simulation with each of `count` seeds and names the one that failed. LEAFID_CASES=50 runs fifty times as many,
/// LEAFID_SEED=7 that one alone.
pub(crate) fn each_seed(count: u64, simulate: impl Fn(u64)) {
    struct Named(u64);
    impl Drop for Named {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("failed with seed {0}; replay with LEAFID_SEED={0}", self.0);
            }
        }
    }
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    let seeds = match number("LEAFID_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("LEAFID_CASES").unwrap_or(1),
    };
    for seed in seeds {
        let named = Named(seed);
        simulate(seed);
        drop(named);
    }
}

/// A generator that begins at the tick of `now_ms`, with `ticks` ticks granted.
pub(crate) fn granted(layout: Layout, rules: Rules, worker_id: u32, now_ms: i64, ticks: u64) -> Snowflake {
    let from = layout.tick_at(now_ms).unwrap_or_else(|| panic!("{now_ms} lies before the epoch"));
    let flake = Snowflake::new(layout, rules, worker_id, from, 0);
    flake.grant(Span { from, until: (from + ticks).min(layout.last_tick() + 1) });
    flake
}

/// A layout of these bits and Leaf's order, 1 ms ticks, from `epoch_ms`.
pub(crate) fn layout(timestamp_bits: i64, worker_bits: i64, sequence_bits: i64, epoch_ms: i64) -> Layout {
    let order = Order::WorkerSequence;
    let fields = LayoutFields { epoch_ms, tick_ms: 1, timestamp_bits, worker_bits, sequence_bits, order };
    Layout::new(fields).unwrap_or_else(|error| panic!("{error}"))
}

/// The worker-sequence bits of the leaf layout: ids of one tick.
pub(crate) const PER_TICK: usize = 4_096;

pub(crate) fn snowflake_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/snowflake.json"))
}

pub(crate) fn text_form_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/text_forms.json"))
}

pub(crate) fn uuid_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/uuids.json"))
}

pub(crate) fn public_id_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/public_ids.json"))
}

pub(crate) fn error_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/errors.json"))
}

pub(crate) fn option_vectors() -> Value {
    parse(include_str!("../../../tests/vectors/options.json"))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("the vectors are no JSON: {error}"))
}

/// The entries of a section, which must have some.
pub(crate) fn entries<'v>(vectors: &'v Value, section: &str) -> &'v Vec<Value> {
    let list = vectors[section].as_array().unwrap_or_else(|| panic!("no list {section}"));
    assert!(!list.is_empty(), "{section} is empty");
    list
}

pub(crate) fn text<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry[key].as_str().unwrap_or_else(|| panic!("no text {key} in {entry}"))
}

/// A number, written as one or as text.
pub(crate) fn number(entry: &Value, key: &str) -> i64 {
    let found = entry[key].as_i64().or_else(|| entry[key].as_str()?.parse().ok());
    found.unwrap_or_else(|| panic!("no number {key} in {entry}"))
}

/// The layout of this name in the vectors.
pub(crate) fn layout_named(vectors: &Value, name: &str) -> Layout {
    let fields = &vectors["layouts"][name];
    let fields = LayoutFields {
        epoch_ms: number(fields, "epoch_ms"),
        tick_ms: number(fields, "tick_ms"),
        timestamp_bits: number(fields, "timestamp_bits"),
        worker_bits: number(fields, "worker_bits"),
        sequence_bits: number(fields, "sequence_bits"),
        order: Order::parse(text(fields, "order")).unwrap_or_else(|error| panic!("{error}")),
    };
    Layout::new(fields).unwrap_or_else(|error| panic!("{error}"))
}
