//! The number of issued ids, for metrics: exact at rest, and it never falls.

use crate::common::{NOW_MS, PLAIN, Random, each_seed, granted};
use leafid_core::{Layout, OnExhausted, Rules, Span};

const LEAF: Layout = Layout::LEAF;

#[test]
fn ids_are_counted_over_ticks_and_gaps_of_the_spans() {
    each_seed(200, |seed| {
        let mut random = Random(seed);
        let random_start = random.pick(&[0, 2, 100, 512]);
        let on_exhausted = random.pick(&[OnExhausted::Wait, OnExhausted::Borrow]);
        let rules = Rules { random_start, on_exhausted, ..PLAIN };
        let flake = granted(LEAF, rules, 1, NOW_MS, 50);
        let (mut now_ms, mut issued) = (NOW_MS, 0);
        for _ in 0..300 {
            match random.below(4) {
                0 => now_ms += random.between(-3, 6),
                1 if flake.next(now_ms).is_ok() => issued += 1,
                2 => {
                    // Up to the end of a tick, exactly or in parts.
                    let most = random.pick(&[1, 7, 4_095, 4_096, 10_000]);
                    issued += flake.reserve(now_ms, most).map_or(0, |run| run.count as u64);
                }
                _ if random.below(20) == 0 => {
                    let from = flake.until() + random.below(3);
                    flake.grant(Span { from, until: from + 1 + random.below(30) });
                }
                _ => {}
            }
            assert_eq!(flake.issued(), issued);
        }
        flake.seal();
        assert_eq!(flake.issued(), issued, "after the seal");
    });
}
