//! Tests of a fetcher whose clock stands still and whose threads are the test's own.

use super::*;
use crate::os::mutex::lock;
use crate::segments::simulated::{BEGIN_MS, Play};
use crate::segments::source::source_properties::Servers;
use crate::segments::{Fetched, Segments, SegmentsBuilder};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Servers with this state.
#[derive(Default)]
struct Says {
    back_off_ms: Option<i64>,
    denies: bool,
    rested: AtomicUsize,
    closed: AtomicUsize,
}

impl Servers for Says {
    fn back_off_ms(&self, _: bool) -> Option<i64> {
        self.back_off_ms
    }
    fn denies(&self, _: &str) -> bool {
        self.denies
    }
    fn last_errors(&self) -> Vec<(String, Option<Error>)> {
        Vec::new()
    }
    fn close_idle(&self) {
        self.rested.fetch_add(1, SeqCst);
    }
    fn close(&self) {
        self.closed.fetch_add(1, SeqCst);
    }
}

fn fail(play: &Play, tag_state: &Arc<TagState>, code: Code) {
    play.fetcher.failed_to_ask(tag_state, Error::new(code, "as asked"));
}

fn is_down(play: &Play) -> bool {
    lock(&play.fetcher.breaker).is_down()
}

fn of<R>(tag_state: &TagState, action: impl FnOnce(&mut TagInner) -> R) -> R {
    tag_state.locked(action).unwrap()
}

/// Gives a tag ids from a source, with `left` of them unused.
fn give(tag_state: &TagState, segment: Segment, left: u64) {
    of(tag_state, |state| {
        state.pending.push_back(segment);
        tag_state.refill(state);
    });
    while tag_state.locked(|state| tag_state.left(state) > left) == Some(true) {
        let most = of(tag_state, |state| tag_state.left(state)) - left;
        tag_state.buffer.take_many(most as usize).unwrap();
        of(tag_state, |state| tag_state.refill(state));
    }
}

fn ids(start: i64, count: i64) -> Segment {
    Segment::new(start, start + count, 1).unwrap()
}

fn somebody_waits(tag_state: &TagState) -> u64 {
    tag_state.subscribe(tag_state.version(), None, Box::new(|| {})).ok().unwrap()
}

fn thousand() -> SegmentsBuilder {
    Segments::builder().step(1_000).adaptive(false)
}

/// The next action for a tag without a running fetch. `waits`: whether a caller waits.
fn action(play: &Play, tag_state: &TagState, waits: bool, now_ms: i64) -> FetchAction {
    play.set_clock(now_ms);
    of(tag_state, |state| {
        state.fetch.cancelled();
        play.fetcher.decide(tag_state, state, waits).1
    })
}

/// Sets the number of failed fetches of a tag.
fn has_failed(tag_state: &TagState, code: Code, is_denied: bool, times: usize) {
    of(tag_state, |state| {
        for _ in 0..times {
            state.fetch.failed(Error::new(code, "as asked"), is_denied, false, BEGIN_MS, 0);
        }
    });
}

fn phase(tag_state: &TagState) -> FetchPhase {
    of(tag_state, |state| state.fetch.phase())
}

#[test]
fn a_tag_that_failed_is_asked_for_sooner_where_somebody_waits_or_soon_will() {
    let play = Play::open(thousand(), |_| {});
    let tag_state = play.tag("order");
    give(&tag_state, ids(1, 1_000), 500);
    // It backs off for 800 ms, or 400.
    has_failed(&tag_state, Code::SegmentUnavailable, false, 3);
    let at = |waits, ms| action(&play, &tag_state, waits, BEGIN_MS + ms);
    let wake = |ms| FetchAction::WakeAt(BEGIN_MS + ms);
    assert_eq!([100, 799].map(|ms| at(false, ms)), [wake(500), wake(800)]);
    assert_eq!(at(false, 800), FetchAction::Fetch);
    assert_eq!([399, 400].map(|ms| at(true, ms)), [wake(400), FetchAction::Fetch]);
    let number = somebody_waits(&tag_state);
    assert_eq!(at(false, 400), FetchAction::Fetch);
    assert!(tag_state.unsubscribe(number).is_some());
    assert_eq!(at(false, 400), wake(800));
    tag_state.buffer.take_many(450).unwrap();
    assert_eq!(at(false, 400), FetchAction::Fetch, "few are left");
}

#[test]
fn a_tag_is_looked_at_when_its_rest_is_over_and_not_at_another_time() {
    let play = Play::open(thousand(), |_| {});
    let tag_state = play.tag("order");
    has_failed(&tag_state, Code::SegmentUnavailable, false, 1);
    assert_eq!(action(&play, &tag_state, false, BEGIN_MS), FetchAction::WakeAt(BEGIN_MS + 200));
    play.fetcher.fetch_timer(&tag_state, BEGIN_MS + 100);
    assert_eq!(phase(&tag_state), FetchPhase::BackingOff(BEGIN_MS + 200), "another rest is not over");
    play.set_clock(BEGIN_MS + 200);
    play.fetcher.fetch_timer(&tag_state, BEGIN_MS + 200);
    assert_eq!(phase(&tag_state), FetchPhase::Queued);
}

#[test]
fn nothing_is_fetched_for_who_has_enough_nor_after_the_close() {
    let play = Play::open(thousand(), |_| {});
    let (full, empty) = (play.tag("full"), play.tag("empty"));
    give(&full, ids(1, 1_000), 1_000);
    assert_eq!(action(&play, &full, true, BEGIN_MS), FetchAction::Nothing);
    play.fetcher.closed.store(true, SeqCst);
    assert_eq!(action(&play, &empty, true, BEGIN_MS), FetchAction::Nothing);
}

#[test]
fn who_finds_nothing_learns_what_is_under_way() {
    let play = Play::open(thousand(), |_| {});
    let tag_state = play.tag("order");
    of(&tag_state, |state| {
        for _ in 0..2 {
            state.fetch.succeeded(1_000, None, None, BEGIN_MS);
        }
        state.fetch.begin(Some(0), STEP, BEGIN_MS)
    });
    let progress = play.want(&tag_state, Some(5));
    assert_eq!((progress.ended, progress.begun, progress.awaited, progress.refilled), (2, 3, true, false));
    assert!(progress.refused.is_none());
    for (code, is_denied, refused) in [
        (Code::SegmentUnavailable, false, false),
        (Code::SegmentUnavailable, true, true),
        (Code::UnknownTag, false, true),
    ] {
        let tag_state = play.tag(&format!("{code:?} {is_denied}"));
        has_failed(&tag_state, code, is_denied, 1);
        let progress = play.want(&tag_state, None);
        assert_eq!(progress.refused.is_some(), refused, "{code:?}");
        assert_eq!(progress.awaited, code != Code::UnknownTag, "it is asked for by who waits");
        assert_eq!(progress.begun, 1);
    }
    let enough = play.tag("enough");
    of(&enough, |state| {
        state.pending.push_back(ids(1, 1_000));
        state.pending.push_back(ids(2_000, 1_000));
    });
    let progress = play.want(&enough, Some(1));
    assert!(progress.refilled && progress.awaited && progress.refused.is_none());
    assert_eq!(phase(&enough), FetchPhase::Idle);
}

#[test]
fn what_is_due_by_the_clock_that_stands_is_due_as_much_later() {
    let play = Play::open(thousand(), |_| {});
    let later = Duration::from_millis(1_001);
    let before = Instant::now();
    let due = play.fetcher.instant(BEGIN_MS + 1_000);
    assert!((before + later..=Instant::now() + later).contains(&due));
    assert!(play.fetcher.instant(BEGIN_MS - 1_000) <= Instant::now() + Duration::from_millis(1), "at once");
}

#[test]
fn a_source_is_asked_for_its_own_step_or_for_more_if_more_is_needed() {
    let cases = [
        (None, None, 0),
        (None, Some(1), 0),
        (None, Some(1_000), 0),
        (None, Some(1_001), 1_001),
        (Some(10), None, 10),
        (Some(10), Some(5), 10),
        (Some(10), Some(25), 25),
    ];
    for (step, need, wanted) in cases {
        let builder = step.map_or(Segments::builder(), |step| Segments::builder().step(step));
        let play = Play::open(builder, |settings| settings.source.native = true);
        assert_eq!(play.asked(&play.tag("order"), need).0, wanted, "{step:?} {need:?}");
    }
}

#[test]
fn a_stock_is_filled_and_while_that_fails_one_id_is_asked_for() {
    let builder = || Segments::builder().step(100).adaptive(false);
    let asked = |need, before: &dyn Fn(&mut TagInner)| {
        let play = Play::open(builder(), |settings| settings.source.one_by_one = true);
        let tag_state = play.tag("order");
        of(&tag_state, before);
        play.set_clock(BEGIN_MS + 1_000);
        play.asked(&tag_state, need).0
    };
    assert_eq!(asked(None, &|_| {}), 100);
    assert_eq!(asked(Some(150), &|_| {}), 150);
    let fails = |state: &mut TagInner, may_skip| {
        state.fetch.failed(Error::new(Code::SegmentRegressed, "as asked"), false, may_skip, BEGIN_MS, 0);
    };
    assert_eq!(asked(None, &|state| fails(state, false)), 1);
    assert_eq!(asked(None, &|state| fails(state, true)), 1);
    assert_eq!(asked(Some(7), &|state| fails(state, true)), 7);
}

#[test]
fn it_is_urgent_while_somebody_waits_or_what_is_left_is_no_more_than_what_is_short() {
    let urgent = |one_by_one, left, waits| {
        let builder = Segments::builder().step(100).adaptive(false);
        let play = Play::open(builder, |settings| settings.source.one_by_one = one_by_one);
        let tag_state = play.tag("order");
        give(&tag_state, ids(1, 100), left);
        if waits {
            somebody_waits(&tag_state);
        }
        play.asked(&tag_state, None).1
    };
    assert_eq!([0, 50].map(|left| urgent(false, left, false)), [true, false]);
    assert_eq!([50, 51].map(|left| urgent(true, left, false)), [true, false]);
    assert!(urgent(false, 50, true) && urgent(true, 51, true));
}

#[test]
fn a_source_that_does_not_say_its_step_shows_it_where_it_has_the_choice() {
    let step = |builder, native, said| {
        let play = Play::open(builder, |settings| settings.source.native = native);
        let tag_state = play.tag("order");
        play.asked(&tag_state, None);
        play.answer(Ok(Some(Fetched { segment: ids(1, 50), step: said })));
        of(&tag_state, |state| {
            assert_eq!((state.fetch.ended(), state.fetch.failures()), (1, 0));
            state.fetch.step().source()
        })
    };
    assert_eq!(step(Segments::builder(), true, None), 50);
    assert_eq!(step(Segments::builder(), true, Some(70)), 70);
    assert_eq!(step(Segments::builder().step(10), true, Some(70)), 10);
    assert_eq!(step(Segments::builder(), false, None), STEP);
}

#[test]
fn ids_that_may_have_been_given_before_are_left_out_four_times_in_a_row() {
    let regressed = || Err(Error::new(Code::SegmentRegressed, "as asked").into());
    let play = Play::open(thousand(), |settings| settings.source.one_by_one = true);
    let tag_state = play.tag("order");
    play.want(&tag_state, Some(1));
    play.work();
    let seen = [(); 5].map(|_| {
        play.answer(regressed());
        of(&tag_state, |state| (state.fetch.ended(), state.fetch.failures()))
    });
    assert_eq!(seen, [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1)]);
    play.set_clock(BEGIN_MS + 1_000);
    play.asked(&tag_state, Some(1));
    play.answer(Ok(Some(ids(1, 1).into())));
    assert_eq!(of(&tag_state, |state| (state.fetch.failures(), state.fetch.ended())), (1, 6));
    assert_eq!(play.tags_asked(), ["order"], "and it is asked for more at once");
    // For another error, and for a source that returns ranges, there is none.
    for (one_by_one, code) in [(true, Code::SegmentUnavailable), (false, Code::SegmentRegressed)] {
        let play = Play::open(thousand(), |settings| settings.source.one_by_one = one_by_one);
        let tag_state = play.tag("order");
        fail(&play, &tag_state, code);
        assert_eq!(of(&tag_state, |state| state.fetch.failures()), 1);
        let rests = FetchPhase::BackingOff(BEGIN_MS + 200);
        assert_eq!(phase(&tag_state), rests, "it is looked at by itself");
    }
}

#[test]
fn only_a_source_that_gives_no_answer_is_down() {
    let fails = |code, servers: Option<Says>| {
        let servers = servers.map(|says| Arc::new(says) as Arc<dyn Servers>);
        let play = Play::open(thousand(), |settings| settings.source.servers = servers);
        ["a", "b", "c"].iter().for_each(|tag| fail(&play, &play.tag(tag), code));
        let is_denied = of(&play.tag("a"), |state| state.fetch.refused().is_some());
        (is_down(&play), is_denied)
    };
    assert_eq!(fails(Code::SegmentUnavailable, None), (true, false));
    assert_eq!(fails(Code::SourceInvalid, None), (false, false));
    for denies in [false, true] {
        let says = Says { back_off_ms: Some(300), denies, ..Says::default() };
        assert_eq!(fails(Code::SegmentUnavailable, Some(says)), (!denies, denies));
    }
    let play = Play::open(thousand(), |_| {});
    for tag in ["a", "b", "c"] {
        play.asked(&play.tag(tag), None);
        play.answer(Ok(Some(ids(1, 10).into())));
        assert!(!is_down(&play), "it answers");
    }
}

#[test]
fn a_source_that_is_down_is_tried_with_a_tag_that_did_not_fail() {
    let play = Play::open(thousand(), |_| {});
    let (bad, good, worse) = (play.tag("bad"), play.tag("good"), play.tag("worse"));
    for tag_state in [&bad, &worse, &bad] {
        fail(&play, tag_state, Code::SegmentUnavailable);
    }
    assert!(is_down(&play));
    play.set_clock(BEGIN_MS + 399);
    for tag_state in [bad, good, worse] {
        action(&play, &tag_state, true, BEGIN_MS + 399);
        play.fetcher.clone().fetch(tag_state, false);
    }
    play.set_clock(BEGIN_MS + 5_000);
    play.fetcher.breaker_timer();
    play.work();
    assert_eq!(play.tags_asked(), ["good"]);
}

#[test]
fn an_event_loop_s_source_has_four_calls_at_first_and_those_that_wait_learn_why_it_is_down() {
    let event_loop = |settings: &mut SegmentsSettings| settings.max_wait = Some(Duration::ZERO);
    let play = Play::open(thousand(), event_loop);
    let tags: Vec<_> = (0..8).map(|n| play.tag(&format!("t{n}"))).collect();
    tags.iter().for_each(|tag_state| drop(play.want(tag_state, Some(1))));
    play.work();
    assert_eq!(play.tags_asked(), ["t0", "t1", "t2", "t3"]);
    play.answer(Ok(Some(ids(1, 10).into())));
    assert_eq!(play.tags_asked(), ["t1", "t2", "t3", "t4", "t5"], "one more than before");
    let late = || play.fetcher.late(&tags[7], Duration::from_millis(300));
    assert!(late().message().contains(": its source has not answered requests for other tags;"));
    (0..3).for_each(|_| play.answer(Err("away".into())));
    assert!(is_down(&play));
    let late = late();
    assert_eq!(
        (late.code(), late.message()),
        (
            Code::SegmentUnavailable,
            "no id of the tag \"t7\" within 300 ms: its source is down, so it was not asked for this tag; see the \
             source, or raise timeout_ms; it failed for the tag \"t3\": the fetch of a segment failed: away"
        )
    );
    play.set_clock(BEGIN_MS + 5_000);
    play.fetcher.breaker_timer();
    play.work();
    let probe = play.tags_asked().pop();
    assert_eq!(probe.as_deref(), Some("t7"), "it did not fail");
    play.answer(Ok(Some(ids(1, 10).into())));
    assert!(!is_down(&play));
}

#[test]
fn tags_are_fetched_ahead_eight_at_a_time_but_for_those_that_have_ids() {
    let tags: Vec<String> = (0..20).map(|n| format!("t{n:02}")).collect();
    let play = Play::prewarmed(thousand(), |_| {}, tags.clone());
    give(&play.tag("t00"), ids(1, 1_000), 1_000);
    play.fetcher.begin();
    play.work();
    assert_eq!(play.tags_asked(), tags[1..9]);
    play.answer(Ok(Some(ids(1, 1_000).into())));
    assert_eq!(play.tags_asked(), tags[2..10]);
    // If they come one by one, a few are enough.
    let builder = Segments::builder().step(100);
    let one_by_one = |settings: &mut SegmentsSettings| settings.source.one_by_one = true;
    let play = Play::prewarmed(builder, one_by_one, vec!["order".into()]);
    play.fetcher.begin();
    play.work();
    assert_eq!(lock(&play.asked)[0].0.step, PREWARMED);
}

#[test]
fn nothing_that_was_kept_leads_to_a_fetch_at_once() {
    let play = Play::open(thousand(), |settings| settings.keep_unused = true);
    assert_eq!(play.asked(&play.tag("order"), None).0, 1_000);
}

#[test]
fn servers_are_closed_by_who_has_them() {
    for (close, closed) in [(true, 1), (false, 0)] {
        let says = Arc::new(Says::default());
        let servers = Arc::clone(&says) as Arc<dyn Servers>;
        let play = Play::open(thousand(), |settings| settings.source.servers = Some(servers));
        assert!(play.fetcher.is_deferred());
        play.fetcher.close_idle();
        assert_eq!(says.rested.load(SeqCst), 1);
        let tag_state = play.tag("order");
        for _ in 0..2 {
            if close { play.fetcher.close() } else { play.fetcher.close_unused() }.unwrap();
        }
        assert!(play.fetcher.is_closed() && play.fetcher.tag_state(&"order".into()).unwrap().is_err());
        assert_eq!(tag_state.buffer.take(), Err(leafid_core::Empty::Sealed));
        assert_eq!(says.closed.load(SeqCst), closed);
    }
}
