//! Sealing ends a generator at once and tells the exact first unused tick, also in the midst of other threads' calls.

use crate::common::{NOW_MS, PER_TICK, PLAIN, granted};
use leafid_core::Layout;

const LEAF: Layout = Layout::LEAF;

#[test]
fn the_mark_is_the_tick_after_the_last_id() {
    let tick = LEAF.tick_at(NOW_MS).expect("after the epoch");
    for (ids, expected) in [(0, tick), (1, tick + 1), (PER_TICK, tick + 1), (PER_TICK + 1, tick + 2)] {
        let flake = granted(LEAF, PLAIN, 1, NOW_MS, 100);
        let mut now_ms = NOW_MS;
        let mut left = ids;
        while left > 0 {
            match flake.reserve(now_ms, left) {
                Ok(run) => left -= run.count,
                Err(_) => now_ms += 1,
            }
        }
        assert_eq!(flake.seal(), Some(expected), "after {ids} ids");
    }
}
