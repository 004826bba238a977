//! The cached leases that a start without a lease server may use.

use leafid_core::Lease;
use leafid_core::format::cached_lease::{CachedLease, LeaseBinding, LeaseFile, LeaseSeeker, latest_first};
use leafid_core::format::shared::Found;
use std::time::Duration;

const NOW_MS: i64 = 1_800_000_000_000;
const OWNER: u128 = 7 << 100;
const BOUND: LeaseBinding<'_> = LeaseBinding { boot: "this start", owner: OWNER, file: (1, 2) };

fn servers() -> [String; 1] {
    ["http://a".to_owned()]
}

/// A lease of 30 s that was requested at the boot time 100 s, with a span of 20 s from the clock's reading.
fn lease() -> Lease {
    Lease {
        worker_id: 7,
        from_ms: NOW_MS - 10_000,
        until_ms: NOW_MS + 20_000,
        lease_ms: Some(30_000),
        token: Some("a token".into()),
        peer_times_ms: vec![1],
    }
}

fn cached() -> CachedLease {
    CachedLease::new(&lease(), Duration::from_secs(130), &BOUND, NOW_MS).unwrap()
}

fn found() -> Found<LeaseFile> {
    let content = LeaseFile { held: Some(cached()), ..LeaseFile::empty("shop", 7, &servers()).unwrap() };
    Found { content, damaged: false }
}

fn is_held(seeker: &LeaseSeeker<'_>, found: &Found<LeaseFile>, worker_id: u32) -> bool {
    let held = seeker.still_held(found, worker_id).is_some();
    let hint = seeker.hint(&found.content, worker_id);
    assert_eq!(hint, (held || found.damaged).then_some(130_000), "the hint says the same of a whole file");
    held
}

#[test]
fn a_lease_is_held_by_its_servers_start_and_clocks() {
    let (ours, theirs) = (servers(), ["http://b".to_owned()]);
    let now = LeaseSeeker {
        name: "shop",
        servers: &ours,
        boot: "this start",
        boot_time_ms: 100_000,
        now_ms: NOW_MS,
    };
    for (seeker, held) in [
        (now, true),
        (LeaseSeeker { name: "other", ..now }, false),
        (LeaseSeeker { servers: &theirs, ..now }, false),
        (LeaseSeeker { boot: "another start", ..now }, false),
        (LeaseSeeker { boot: "", ..now }, false),
        (LeaseSeeker { boot_time_ms: 129_999, ..now }, true),
        (LeaseSeeker { boot_time_ms: 130_000, ..now }, false),
        (LeaseSeeker { now_ms: NOW_MS + 19_999, ..now }, true),
        (LeaseSeeker { now_ms: NOW_MS + 20_000, ..now }, false),
        // Whatever the clock reads before.
        (LeaseSeeker { now_ms: NOW_MS - 1_000_000, ..now }, true),
    ] {
        assert_eq!(is_held(&seeker, &found(), 7), held, "{seeker:?}");
    }
    assert!(!is_held(&now, &found(), 8), "of another worker id");
    assert!(!is_held(&now, &Found { damaged: true, ..found() }, 7), "it may have been released");
    let nothing = Found { content: LeaseFile { held: None, ..found().content }, damaged: false };
    assert!(!is_held(&now, &nothing, 7));
}

#[test]
fn a_lease_of_an_unknown_start_of_the_machine_is_not_held() {
    let bound = LeaseBinding { boot: "", ..BOUND };
    let held = CachedLease::new(&lease(), Duration::from_secs(130), &bound, NOW_MS);
    let found = Found { content: LeaseFile { held, ..found().content }, damaged: false };
    let servers = servers();
    let seeker =
        LeaseSeeker { name: "shop", servers: &servers, boot: "", boot_time_ms: 100_000, now_ms: NOW_MS };
    assert!(!is_held(&seeker, &found, 7));
}

#[test]
fn a_lease_is_of_one_file_one_write_and_the_run_that_wrote_the_record_last() {
    for (file, owner, changed_ms, bound) in [
        ((1, 2), OWNER, 0, true),
        ((9, 2), OWNER, 0, false),
        ((1, 9), OWNER, 0, false),
        ((1, 2), OWNER + 1, 0, false),
        ((1, 2), OWNER, 3, true),
        ((1, 2), OWNER, 4, false),
        ((1, 2), OWNER, -10, true),
        ((1, 2), OWNER, -11, false),
    ] {
        assert_eq!(cached().is_bound(file, owner, NOW_MS + changed_ms), bound, "{file:?} {changed_ms}");
    }
}

#[test]
fn the_time_of_a_lease_counts_from_before_it_was_requested() {
    let found = cached().lease(7).unwrap();
    assert_eq!(found, (Lease { peer_times_ms: Vec::new(), ..lease() }, Duration::from_secs(100)));
    for (ends_ms, lease_ms) in [(29_999, 30_000), (0, i64::MAX), (i64::MAX as u64, i64::MIN)] {
        let lease = Lease { lease_ms: Some(lease_ms), ..lease() };
        let cached = CachedLease::new(&lease, Duration::from_millis(ends_ms), &BOUND, NOW_MS).unwrap();
        assert_eq!(cached.lease(7), None, "{ends_ms} {lease_ms}");
    }
}

#[test]
fn only_a_lease_with_an_end_and_a_token_is_cached() {
    for (lease_ms, token, boot, cacheable) in [
        (Some(1), Some("x"), "boot", true),
        (None, Some("x"), "boot", false),
        (Some(1), None, "boot", false),
        (Some(1), Some("x"), "", false),
    ] {
        let lease = Lease { lease_ms, token: token.map(str::to_owned), ..lease() };
        assert_eq!(CachedLease::is_cacheable(&lease, boot), cacheable);
        if boot == "boot" {
            assert_eq!(CachedLease::new(&lease, Duration::ZERO, &BOUND, NOW_MS).is_some(), cacheable);
        }
    }
}

#[test]
fn what_may_hold_a_lease_is_written_to_make_it_invalid() {
    for (held, damaged, needed) in
        [(true, false, true), (true, true, true), (false, true, true), (false, false, false)]
    {
        let content = LeaseFile { held: held.then(cached), ..found().content };
        assert_eq!(LeaseFile::needs_invalidation(&Found { content, damaged }), needed, "{held} {damaged}");
    }
}

#[test]
fn the_lease_that_ends_last_is_claimed_first() {
    assert_eq!(latest_first([(10, 3), (30, 1), (20, 2), (20, 4)].into_iter()), [1, 4, 2, 3]);
}

#[test]
fn servers_with_long_urls_have_no_cache() {
    let servers = |bytes: usize| ["a".repeat(600), "a".repeat(bytes - 600)];
    assert!(LeaseFile::empty("shop", 7, &servers(1_200)).is_ok());
    let text = LeaseFile::empty("shop", 7, &servers(1_201)).unwrap_err();
    assert_eq!(text, "the URLs of the lease servers have 1201 bytes: a lease is not cached with them");
}
