//! A tick starts at a pseudo-random sequence number below `random_start`, never outside the sequence bits.

use crate::common::{NOW_MS, PLAIN, layout};
use leafid_core::{Layout, Rules, Snowflake, Span};

/// The first sequence number of each of `ticks` ticks.
fn starts(layout: Layout, random_start: u32, seed: u64, ticks: u64) -> Vec<u32> {
    let from = layout
        .tick_at(layout.epoch_ms().max(NOW_MS.min(layout.expires_at_ms() - 10_000_000)))
        .expect("a tick");
    let worker_id = layout.max_worker_id();
    let flake = Snowflake::new(layout, Rules { random_start, ..PLAIN }, worker_id, from, seed);
    flake.grant(Span { from, until: from + ticks });
    let first = |tick| {
        let now_ms = layout.tick_start_ms(tick);
        let parts = layout.decode(flake.next(now_ms).expect("granted")).expect("an id");
        assert_eq!(
            (parts.timestamp_ms, parts.worker_id),
            (now_ms, worker_id),
            "the start ran into other bits"
        );
        parts.sequence
    };
    (from..from + ticks).map(first).collect()
}

#[test]
fn starts_lie_below_the_bound_and_spread() {
    let starts = starts(Layout::LEAF, 100, 7, 10_000);
    let mut counts = [0u32; 100];
    for start in &starts {
        counts[*start as usize] += 1;
    }
    // 100 each is expected; 50 off is five standard deviations.
    assert!(counts.iter().all(|count| (50..=150).contains(count)), "{counts:?}");
}

#[test]
fn low_rates_are_not_all_even() {
    let odd = starts(Layout::LEAF, 100, 0, 1_000).iter().filter(|start| *start % 2 == 1).count();
    assert!((400..=600).contains(&odd), "{odd} odd of 1000");
}

#[test]
fn two_starts_at_zero_or_one() {
    let starts = starts(Layout::LEAF, 2, 3, 1_000);
    assert!(starts.contains(&0) && starts.contains(&1) && starts.iter().all(|start| *start < 2));
}

#[test]
fn a_bound_is_clamped_to_an_eighth_of_the_sequence() {
    for (layout, eighth) in [
        (Layout::YITTER, 8),
        (Layout::SONYFLAKE, 32),
        (Layout::JS_SAFE, 64),
        (layout(41, 16, 3, 1_288_834_974_657), 1),
        (layout(41, 20, 2, 1_288_834_974_657), 1),
        (layout(41, 22, 0, 1_288_834_974_657), 1),
    ] {
        for random_start in [100, 4_096, u32::MAX] {
            let most = starts(layout, random_start, 11, 2_000).into_iter().max().expect("2000 ticks");
            assert!(most < eighth, "{layout}: {most} under random_start {random_start}");
            assert!(eighth < 8 || most > eighth / 2, "{layout}: only up to {most}");
        }
    }
}
