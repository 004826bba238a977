//! The search for a free worker id: which id is claimed next, how long it takes, and the error it ends with.

use leafid_core::snowflake::{
    ClaimAction, ClaimCandidates, ClaimPatience, ClaimSearch, LONGEST_SPAN_MS, OfflineRefusal,
};
use leafid_core::{Code, Error, Layout, OnClockBackwards, Record, Rules, Span};
use std::time::Duration;

const NOW_MS: i64 = 1_800_000_000_000;
const CLAIMS_OF_ONE: ClaimPatience = ClaimPatience {
    is_range: false,
    inherited: false,
    lazy: false,
    limits_waits: false,
    timeout: Duration::from_millis(2_000),
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn error(code: Code, message: &str) -> Error {
    Error::new(code, message)
}

fn in_use() -> Error {
    error(Code::WorkerInUse, "held")
}

/// A search that begins at the boot time 0.
fn search(candidates: ClaimCandidates, patience: ClaimPatience) -> ClaimSearch {
    ClaimSearch::new("shop", candidates, &patience, 0, ms(0))
}

fn within(first: u32, last: u32) -> ClaimSearch {
    search(ClaimCandidates::Within { first, last }, ClaimPatience { is_range: true, ..CLAIMS_OF_ONE })
}

fn cached(worker_ids: &[u32]) -> ClaimSearch {
    let why = error(Code::WorkerLost, "the servers are down");
    search(ClaimCandidates::Cached { worker_ids: worker_ids.into(), why }, CLAIMS_OF_ONE)
}

fn claim(worker_id: u32) -> ClaimAction {
    ClaimAction::Claim { worker_id, names_holder: false }
}

/// A record whose run ends at this time, relative to the clock.
fn ends(worker_id: u32, ms: i64) -> Record {
    let layout = Layout::LEAF;
    let until = layout.tick_at(NOW_MS + ms).unwrap();
    Record { run: Span { from: until - 1, until }, ..Record::unused(worker_id, layout) }
}

/// The ids that one search claims, in order, if each is refused with `refusal`. `record` is what a peek finds.
fn claimed(
    search: &mut ClaimSearch,
    boot_time: Duration,
    record: impl Fn(u32) -> Option<Record>,
    refusal: impl Fn(u32) -> Error,
) -> (Vec<u32>, ClaimAction) {
    let mut ids = Vec::new();
    loop {
        match search.poll(boot_time) {
            ClaimAction::Peek(id) => search.peeked(record(id).as_ref(), NOW_MS),
            ClaimAction::Claim { worker_id, .. } => {
                ids.push(worker_id);
                search.refused(refusal(worker_id));
            }
            ClaimAction::Warn(_) | ClaimAction::WarnOfStranger(_) => {}
            end => return (ids, end),
        }
    }
}

#[test]
fn how_long_a_held_id_is_tried_again() {
    for (is_range, inherited, lazy, limits_waits, timeout_ms, patience_ms) in [
        (true, false, false, false, 2_000, 2_000),
        (true, false, true, false, 2_000, 2_000),
        (true, false, false, true, 2_000, 2_000),
        (true, true, false, false, 2_000, 2_000),
        (true, false, false, false, 1, 100),
        (true, false, true, true, 2_000, 100),
        (true, true, true, true, 2_000, 100),
        (false, true, false, false, 2_000, 500),
        (false, false, false, false, 2_000, 50),
        (false, false, true, true, 1, 50),
    ] {
        let patience = ClaimPatience { is_range, inherited, lazy, limits_waits, timeout: ms(timeout_ms) };
        assert_eq!(patience.duration(), ms(patience_ms), "{patience:?}");
    }
}

#[test]
fn a_claim_that_waits_for_the_clock_may_last_for_the_longest_span_longer() {
    let layout = Layout::LEAF;
    let bound = |on_clock_backwards| {
        let rules = Rules { on_clock_backwards, ..Rules::default() };
        CLAIMS_OF_ONE.claim_bound(ms(1_000), &rules, &layout)
    };
    assert_eq!(bound(OnClockBackwards::Continue), ms(1_050));
    assert_eq!(bound(OnClockBackwards::Wait), ms(1_050 + (LONGEST_SPAN_MS + layout.tick_ms()) as u64));
}

#[test]
fn the_only_id_is_tried_again_until_the_patience_is_over_and_then_its_holder_is_named() {
    let mut search = search(ClaimCandidates::One(7), CLAIMS_OF_ONE);
    for now in [0, 3, 49] {
        assert_eq!(search.poll(ms(now)), claim(7));
        search.refused(error(Code::WorkerInUse, "an earlier holder"));
        assert_eq!(search.poll(ms(now)), ClaimAction::Sleep(ms(3)));
    }
    assert_eq!(search.poll(ms(50)), ClaimAction::Claim { worker_id: 7, names_holder: true });
    search.refused(in_use());
    for now in [50, 60] {
        assert_eq!(search.poll(ms(now)), ClaimAction::Failed(in_use()));
    }
}

#[test]
fn a_reset_tries_again_as_long_as_a_claim_of_one_id() {
    let mut search = ClaimSearch::one("shop", 7, ms(1_000));
    assert_eq!(search.poll(ms(1_049)), claim(7));
    search.refused(in_use());
    assert_eq!(search.poll(ms(1_049)), ClaimAction::Sleep(ms(3)));
    assert_eq!(search.poll(ms(1_050)), ClaimAction::Claim { worker_id: 7, names_holder: true });
}

#[test]
fn pauses_are_longer_once_a_race_is_over() {
    let mut search = search(ClaimCandidates::One(7), ClaimPatience { inherited: true, ..CLAIMS_OF_ONE });
    for (now, pause) in [(0, 3), (99, 3), (100, 20), (499, 20)] {
        assert_eq!(search.poll(ms(now)), claim(7));
        search.refused(in_use());
        assert_eq!(search.poll(ms(now)), ClaimAction::Sleep(ms(pause)), "{now}");
    }
    assert_eq!(search.poll(ms(500)), ClaimAction::Claim { worker_id: 7, names_holder: true });
}

#[test]
fn ids_whose_record_the_clock_has_passed_are_claimed_first_and_the_others_by_their_time() {
    let record = |id| match id {
        0 => Some(ends(0, 2_000)),
        1 => Some(ends(1, 1_000)),
        2 => Some(ends(2, -5)),
        3 => None,
        4 => Some(ends(4, 1_000)),
        // Its ticks are skipped for another second.
        5 => {
            let now = Layout::LEAF.tick_at(NOW_MS).unwrap();
            Some(Record { skipped: vec![Span { from: now - 10, until: now + 500 }], ..ends(5, -100) })
        }
        _ => Some(ends(6, 0)),
    };
    let mut search = within(0, 6);
    let (ids, _) = claimed(&mut search, ms(0), record, |_| in_use());
    assert_eq!(ids, [2, 3, 6, 5, 1, 4, 0]);
}

#[test]
fn an_id_without_a_record_that_has_to_wait_is_as_far_ahead_as_its_wait() {
    let candidates = ClaimCandidates::Within { first: 0, last: 3 };
    let patience = ClaimPatience { is_range: true, ..CLAIMS_OF_ONE };
    let mut search = ClaimSearch::new("shop", candidates, &patience, 1_000, ms(0));
    let record = |id| match id {
        0 => None,
        1 => Some(ends(1, 1_001)),
        2 => Some(ends(2, 999)),
        _ => Some(ends(3, -1)),
    };
    assert_eq!(claimed(&mut search, ms(0), record, |_| in_use()).0, [3, 2, 0, 1]);
}

#[test]
fn which_refusals_skip_an_id_and_which_end_the_claim() {
    use Code::{BeforeEpoch, ClockBackwards, Internal, StateCorrupt, StateIo, StateMismatch, WorkerLost};
    for (code, one, range, cached_lease) in [
        (ClockBackwards, false, true, false),
        (StateCorrupt, false, true, true),
        (StateIo, false, true, true),
        (StateMismatch, false, false, true),
        (WorkerLost, false, false, true),
        (BeforeEpoch, false, false, true),
        (Internal, false, false, true),
    ] {
        let refusal = |id| if id == 3 { error(code, "met") } else { in_use() };
        let only = search(ClaimCandidates::One(3), CLAIMS_OF_ONE);
        for (mut search, skips) in [(only, one), (within(3, 4), range), (cached(&[3, 4]), cached_lease)] {
            let (ids, end) = claimed(&mut search, ms(0), |_| None, refusal);
            assert_eq!(ids.len() > 1, skips, "{code:?}");
            assert_eq!(end == ClaimAction::Failed(error(code, "met")), !skips, "{code:?}: {end:?}");
        }
    }
}

#[test]
fn a_full_range_says_what_is_held_and_for_how_long_it_was_waited() {
    let mut search = within(3, 4);
    let (ids, end) = claimed(&mut search, ms(1_999), |_| None, |_| in_use());
    assert_eq!((ids, end), (vec![3, 4], ClaimAction::Sleep(ms(20))));
    let refusal = |id| if id == 3 { error(Code::StateIo, "no disk") } else { in_use() };
    let (ids, end) = claimed(&mut search, ms(2_000), |_| None, refusal);
    assert_eq!(ids, [3, 4]);
    let text = "no worker id of 3-4 of \"shop\" came free within 2000 ms (1 held); besides: no disk; widen the range to twice \
                as many ids as processes, or end a process";
    assert_eq!(end, ClaimAction::Failed(error(Code::WorkerInUse, text)));
}

#[test]
fn a_lazy_handle_says_how_it_can_wait_longer() {
    let patience = ClaimPatience { is_range: true, lazy: true, limits_waits: true, ..CLAIMS_OF_ONE };
    let mut search = search(ClaimCandidates::Within { first: 3, last: 4 }, patience);
    let (_, end) = claimed(&mut search, ms(100), |_| None, |_| in_use());
    let ClaimAction::Failed(error) = end else { unreachable!("{end:?}") };
    assert!(error.message().contains("came free within 100 ms"), "{error}");
    assert!(error.message().ends_with(", or `await Snowflake.open` without lazy, which waits longer"));
}

#[test]
fn a_problem_of_one_id_is_logged_by_the_first_search_alone() {
    let mut search = within(3, 5);
    let warnings = |search: &mut ClaimSearch, now| {
        let mut warnings = Vec::new();
        loop {
            match search.poll(ms(now)) {
                // The record of 5 is ahead: who holds it is of no interest yet.
                ClaimAction::Peek(id) => search.peeked((id == 5).then(|| ends(5, 1_000)).as_ref(), NOW_MS),
                ClaimAction::Claim { worker_id: 4, .. } => search.refused(error(Code::StateIo, "no disk")),
                ClaimAction::Claim { .. } => search.refused(in_use()),
                ClaimAction::Warn(text) => warnings.push(text),
                ClaimAction::WarnOfStranger(id) => warnings.push(id.to_string()),
                _ => return warnings,
            }
        }
    };
    assert_eq!(
        warnings(&mut search, 0),
        ["3", "state_io: no disk; the next worker id of the range is tried"]
    );
    assert!(warnings(&mut search, 3).is_empty());
}

#[test]
fn the_wait_for_a_full_range_is_logged_once_when_a_race_is_over() {
    let mut search = within(3, 4);
    let warns = |search: &mut ClaimSearch, now| {
        let mut warned = None;
        loop {
            match search.poll(ms(now)) {
                ClaimAction::Peek(_) => search.peeked(None, NOW_MS),
                ClaimAction::Claim { .. } => search.refused(in_use()),
                ClaimAction::Warn(text) => warned = Some(text),
                ClaimAction::WarnOfStranger(_) => {}
                _ => return warned,
            }
        }
    };
    assert_eq!(warns(&mut search, 99), None);
    let text = warns(&mut search, 100).unwrap();
    assert!(
        text.starts_with("every worker id of the range of \"shop\" is held; waiting up to 2000 ms"),
        "{text}"
    );
    assert_eq!(warns(&mut search, 120), None);
    assert_eq!(warns(&mut search, 2_000), None, "the last search does not wait");
    // One id is no range, and the last search never waits.
    assert_eq!(warns(&mut within(3, 4), 2_000), None);
    let child = ClaimPatience { inherited: true, ..CLAIMS_OF_ONE };
    assert_eq!(warns(&mut self::search(ClaimCandidates::One(3), child), 200), None);
}

#[test]
fn cached_leases_are_claimed_in_their_order_and_a_held_one_is_tried_again() {
    let mut search = cached(&[9, 2, 5]);
    let (ids, end) = claimed(&mut search, ms(0), |_| None, |_| in_use());
    assert_eq!((ids, end), (vec![9, 2, 5], ClaimAction::Sleep(ms(3))));
    assert_eq!(search.poll(ms(50)), claim(9), "no holder is named");
}

#[test]
fn what_a_start_without_servers_ends_with() {
    use Code::{ClockBackwards, StateCorrupt, WorkerInUse, WorkerLost};
    let why = error(WorkerLost, "the servers are down");
    let failed = |refusal: OfflineRefusal| ClaimAction::Failed(refusal.error(&why));
    for (met, last, end) in [
        (&[WorkerInUse, StateCorrupt][..], false, ClaimAction::Sleep(ms(3))),
        (&[WorkerInUse, StateCorrupt], true, failed(OfflineRefusal::InUse)),
        (&[StateCorrupt], false, failed(OfflineRefusal::NoneHeld)),
        (&[StateCorrupt], true, failed(OfflineRefusal::NoneHeld)),
        (&[ClockBackwards, WorkerInUse], true, ClaimAction::Failed(error(ClockBackwards, "met"))),
    ] {
        let ids: Vec<u32> = (0..met.len() as u32).collect();
        let now = if last { ms(50) } else { ms(0) };
        let refusal = |id: u32| error(met[id as usize], "met");
        assert_eq!(claimed(&mut cached(&ids), now, |_| None, refusal).1, end, "{met:?}, {last}");
    }
    for (refusal, text) in [
        (OfflineRefusal::NotPersisted, "with persist = false no lease is cached"),
        (OfflineRefusal::NoneHeld, "no cached lease is still valid here"),
        (OfflineRefusal::InUse, "other processes hold the cached leases"),
    ] {
        let message = format!("no lease server can be reached, and {text}: the servers are down");
        assert_eq!(refusal.error(&why), error(WorkerLost, &message));
    }
}

#[test]
fn what_is_logged_of_cached_leases() {
    let mut search = cached(&[9, 2]);
    assert_eq!(search.poll(ms(0)), claim(9));
    search.refused(error(Code::StateIo, "no disk"));
    let text = "state_io: no disk; the lease of worker id 9 is left alone";
    assert_eq!(search.poll(ms(0)), ClaimAction::Warn(text.into()));
    assert_eq!(search.poll(ms(0)), claim(2));
    let text = "worker_lost: the servers are down; worker id 2 continues with the lease that it still holds";
    assert_eq!(search.success_warning(2).as_deref(), Some(text));
    assert_eq!(within(3, 4).success_warning(3), None);
}
