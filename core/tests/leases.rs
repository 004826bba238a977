//! The core's use of a lease source's results, and of the clocks of peers.

use leafid_core::snowflake::{PEERS_THRESHOLD_MS, peers_agree};
use leafid_core::{Code, Layout, Lease, OnClockBackwards, Renewal, Rules};

const NOW: i64 = 1_700_000_000_000;
const WEEK_MS: i64 = 7 * 86_400_000;

fn lease() -> Lease {
    Lease { worker_id: 7, from_ms: NOW - 10, until_ms: NOW + 30_000, ..Lease::default() }
}

fn tick(ms: i64) -> u64 {
    Layout::LEAF.tick_from(ms).unwrap()
}

#[test]
fn nonsense_is_refused_by_name() {
    let rules = Rules::default();
    for (wrong, code, says) in [
        (
            Lease { worker_id: 1_024, ..lease() },
            Code::InvalidArgument,
            "worker_id is 1024; allowed: as the claim's answer 0 to 1023",
        ),
        (Lease { worker_id: -1, ..lease() }, Code::InvalidArgument, "worker_id is -1"),
        (Lease { until_ms: NOW - 10, ..lease() }, Code::InvalidArgument, "until_ms"),
        (Lease { until_ms: 0, ..lease() }, Code::InvalidArgument, "until_ms"),
        (Lease { until_ms: i64::MAX, ..lease() }, Code::InvalidArgument, "a week ahead"),
        (Lease { lease_ms: Some(0), ..lease() }, Code::InvalidArgument, "lease_ms is 0"),
        (
            Lease { from_ms: NOW - 100, until_ms: NOW - 1, ..lease() },
            Code::WorkerLost,
            "which this clock has passed",
        ),
        (Lease { from_ms: NOW + 5_001, ..lease() }, Code::WorkerInUse, "5001 ms from now"),
    ] {
        let error = wrong.span(&Layout::LEAF, &rules, NOW).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    let bridged = Lease { from_ms: NOW + 5_000, ..lease() };
    assert!(bridged.span(&Layout::LEAF, &rules, NOW).is_ok());
    let wait = Rules { on_clock_backwards: OnClockBackwards::Wait, max_backwards_ms: 5, ..rules };
    let waited_for = Lease { from_ms: NOW + 3_000, ..lease() };
    assert!(waited_for.span(&Layout::LEAF, &wait, NOW).is_ok());
    assert!(bridged.span(&Layout::LEAF, &wait, NOW).is_err());
}

#[test]
fn a_renewal_never_lowers_and_keeps_what_it_does_not_say() {
    let token = |text: &str| Some(text.to_owned());
    let held = Lease { lease_ms: Some(9_000), token: token("a"), ..lease() };
    let renew = |renewal| held.renewed(renewal, &Layout::LEAF, NOW);
    let (next, until) = renew(Renewal { until_ms: NOW + 60_000, ..Renewal::default() }).unwrap();
    assert_eq!(
        (next.until_ms, next.lease_ms, next.token.as_deref(), until),
        (NOW + 60_000, Some(9_000), Some("a"), tick(NOW + 60_000))
    );
    let lower = Renewal { worker_id: Some(7), until_ms: NOW + 1, lease_ms: Some(5), token: token("b") };
    let (next, until) = renew(lower).unwrap();
    assert_eq!(
        (next.until_ms, next.lease_ms, next.token.as_deref(), until),
        (NOW + 30_000, Some(5), Some("b"), tick(NOW + 30_000))
    );
    let late =
        held.renewed(Renewal { until_ms: NOW + 40_000, ..Renewal::default() }, &Layout::LEAF, NOW + 40_000);
    assert_eq!(late.unwrap_err().code(), Code::WorkerLost);
    let seconds_for_microseconds = Renewal { until_ms: (NOW + 60_000) * 1_000, ..Renewal::default() };
    assert_eq!(renew(seconds_for_microseconds).unwrap_err().code(), Code::InvalidArgument);
    let (week, _) = renew(Renewal { until_ms: NOW + WEEK_MS, ..Renewal::default() }).unwrap();
    assert_eq!(week.until_ms, NOW + WEEK_MS);
    let more = Renewal { until_ms: NOW + WEEK_MS + 1, ..Renewal::default() };
    assert_eq!(renew(more).unwrap_err().code(), Code::InvalidArgument);
    let other = Renewal { worker_id: Some(8), until_ms: NOW + 60_000, ..Renewal::default() };
    let error = renew(other).unwrap_err();
    assert_eq!(error.message(), "worker_id is 8; allowed: 7, because a renewal keeps the worker id");
}

#[test]
fn a_lease_past_the_end_of_the_layout_ends_there() {
    let end_ms = Layout::LEAF.expires_at_ms();
    let held = Lease { worker_id: 7, from_ms: 0, until_ms: end_ms - 1, ..Lease::default() };
    let renewal = Renewal { until_ms: end_ms + 60_000, ..Renewal::default() };
    let (next, until) = held.renewed(renewal, &Layout::LEAF, end_ms - 5).unwrap();
    assert_eq!((next.until_ms, until), (end_ms + 60_000, Layout::LEAF.last_tick() + 1));
}

#[test]
fn the_median_of_three_peers_or_more_decides() {
    let agree = |samples: &[i64]| {
        let samples: Vec<i64> = samples.iter().map(|off| NOW + off).collect();
        peers_agree(NOW, &samples, PEERS_THRESHOLD_MS)
    };
    assert!(agree(&[]).is_ok());
    assert!(agree(&[3_600_000, 3_600_000]).is_ok(), "two decide nothing");
    assert!(agree(&[0, 5, 86_400_000]).is_ok(), "one wrong clock stops no process");
    assert!(agree(&[9_999, 9_999, 9_999]).is_ok());
    for samples in [[10_000; 3], [-10_000; 3]] {
        let error = agree(&samples).unwrap_err();
        assert_eq!(error.code(), Code::ClockBackwards);
        let side =
            if samples[0] > 0 { "10000 ms behind the median of its 3 peers" } else { "10000 ms ahead of" };
        assert!(error.message().contains(side), "{error}");
    }
    assert!(agree(&[0, 0, 20_000, 20_000]).is_err(), "of an even number, the middle");
    assert!(agree(&[0, 0, 19_990, 20_000]).is_ok());
    let between = agree(&[21_000, 22_000, 23_000, 25_000, 26_000, 27_000]).unwrap_err();
    assert!(between.message().contains("24000 ms behind the median of its 6 peers"), "{between}");
    assert!(peers_agree(0, &[i64::MIN, i64::MIN, i64::MAX], PEERS_THRESHOLD_MS).is_err());
}
