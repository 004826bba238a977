//! When a source that failed is asked again.

use leafid_core::BackOff;

fn back_offs(failures: u32, urgent: bool, seed: u64) -> i64 {
    let mut back_off = BackOff::new();
    for _ in 0..failures {
        back_off.failed(1_000, seed);
    }
    back_off.ready_at_ms(urgent).unwrap() - 1_000
}

#[test]
fn rests_grow_up_to_a_bound_that_is_lower_while_somebody_waits() {
    let urgent: Vec<i64> = (1..=8).map(|failures| back_offs(failures, true, 0)).collect();
    assert_eq!(urgent, [200, 400, 400, 400, 400, 400, 400, 400]);
    let calm: Vec<i64> = (1..=8).map(|failures| back_offs(failures, false, 0)).collect();
    assert_eq!(calm, [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
}

#[test]
fn nobody_is_asked_more_than_five_times_a_second_nor_all_at_once() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..1_024 {
        for failures in 1..=20 {
            for urgent in [true, false] {
                let back_off = back_offs(failures, urgent, seed);
                assert!((200..=if urgent { 400 } else { 10_000 }).contains(&back_off), "{back_off}");
                assert!(back_off * 4 >= back_offs(failures, urgent, 0) * 3);
            }
        }
        seen.insert(back_offs(3, true, seed));
    }
    assert!(seen.len() > 50, "{} different back-offs", seen.len());
}

#[test]
fn an_answer_ends_the_rests() {
    let mut back_off = BackOff::new();
    assert_eq!(back_off.ready_at_ms(true), None);
    back_off.failed(5, 0);
    assert_eq!((back_off.failures(), back_off.ready_at_ms(true)), (1, Some(205)));
    back_off.succeeded();
    assert_eq!((back_off.failures(), back_off.ready_at_ms(true)), (0, None));
    back_off.failed(i64::MAX, 0);
    assert_eq!(back_off.ready_at_ms(false), Some(i64::MAX));
}
