//! What a reset skips: whatever was granted at or above the clock, by this run or a former one.

use crate::common::{NOW_MS, PLAIN, Random};
use leafid_core::snowflake::{Admission, MOST_FORMER, MOST_SKIPPED};
use leafid_core::{Code, Layout, Record, Span, next_until};

const LEAF: Layout = Layout::LEAF;
const YEAR_MS: i64 = 365 * 86_400_000;
const MINUTE_MS: i64 = 60_000;

fn tick(ms: i64) -> u64 {
    LEAF.tick_at(ms).expect("after the epoch")
}

fn span(from_ms: i64, until_ms: i64) -> Span {
    Span { from: tick(from_ms), until: tick(until_ms) }
}

/// A worker id, its record, and all that was ever granted of it.
struct Machine {
    record: Record,
    granted: Vec<Span>,
}

impl Machine {
    fn new() -> Machine {
        Machine::of(LEAF)
    }

    fn of(layout: Layout) -> Machine {
        Machine { record: Record::unused(7, layout), granted: Vec::new() }
    }

    /// A run at this time: a first span, renewals a little apart, and a crash or a close. False if it was refused.
    fn live(&mut self, now_ms: i64, renewals: u64, random: &mut Random) -> bool {
        let layout = self.record.layout;
        let Admission::From(from) = self.record.admit(&PLAIN, now_ms) else { return false };
        let skipped = self.record.skipped.clone();
        let until = next_until(&layout, &PLAIN, &skipped, from, now_ms, 0).unwrap_or(from);
        self.record = self.record.begin(Span { from, until }, now_ms, 1);
        self.grant(Span { from, until });
        let mut now_ms = now_ms;
        for _ in 0..renewals {
            now_ms += random.between(0, 2_000) + if random.below(5) == 0 { 4 * MINUTE_MS } else { 0 };
            let from = self
                .record
                .first_free(self.record.run.until.max(layout.tick_at(now_ms).expect("after the epoch")));
            let Some(until) = next_until(&layout, &PLAIN, &self.record.skipped, from, now_ms, 9_000) else {
                continue;
            };
            self.record = self.record.extend(Span { from, until }, now_ms);
            self.grant(Span { from, until });
        }
        if random.below(2) == 0 && self.record.run.until > self.record.run.from {
            // A close gives back the last tick, which then was not used.
            self.record.run.until -= 1;
            let last = self.granted.last_mut().expect("the run's span");
            last.until = last.until.min(self.record.run.until);
            self.granted.retain(|span| !span.is_empty());
        }
        true
    }

    fn grant(&mut self, span: Span) {
        let twice = self.granted.iter().find(|other| span.from < other.until && other.from < span.until);
        assert!(twice.is_none(), "{span:?} was granted before, in {twice:?}");
        if !span.is_empty() {
            self.granted.push(span);
        }
    }
}

#[test]
fn every_run_in_the_future_is_skipped() {
    let future = NOW_MS + 12 * YEAR_MS;
    let mut machine = Machine::new();
    let random = &mut Random(1);
    assert!(machine.live(NOW_MS, 0, random));
    for days in [0, 1, 2] {
        assert!(machine.live(future + days * 86_400_000, 3, random));
    }
    let Admission::Refused(error) = machine.record.admit(&PLAIN, NOW_MS + 9_000) else { panic!("admitted") };
    assert_eq!(error.code(), Code::ClockBackwards);
    machine.record = machine.record.reset(NOW_MS + 9_000).expect("there is room");
    assert!(machine.record.skipped.len() >= 3 && machine.record.skipped[0].from == tick(future));
    assert_eq!(machine.record.admit(&PLAIN, NOW_MS + 9_000), Admission::From(tick(NOW_MS + 9_000)));
    // The clock comes round: at each granted millisecond, and before and after.
    let mut times: Vec<i64> = machine.granted.iter().map(|span| LEAF.tick_start_ms(span.from)).collect();
    times.sort_unstable();
    for ms in times.into_iter().filter(|&ms| ms > NOW_MS + 9_000) {
        for ms in (ms - 2_000..ms + 9_000).step_by(250) {
            machine.live(ms, 0, random);
        }
    }
}

#[test]
fn a_clock_that_goes_back_after_the_reset_is_noticed_and_may_be_reset_again() {
    let mut machine = Machine::new();
    let random = &mut Random(2);
    assert!(machine.live(NOW_MS + YEAR_MS, 2, random));
    machine.record = machine.record.reset(NOW_MS).expect("there is room");
    assert!(!machine.live(NOW_MS - MINUTE_MS, 0, random), "further back than the bound");
    assert!(machine.live(NOW_MS, 2, random));
    // What lay below the first reset lies above the second.
    machine.record = machine.record.reset(NOW_MS - YEAR_MS).expect("there is room");
    for ms in [NOW_MS - YEAR_MS, NOW_MS - 100, NOW_MS, NOW_MS + YEAR_MS - 100, NOW_MS + YEAR_MS + 9_000] {
        machine.live(ms, 2, random);
    }
}

#[test]
fn what_lies_below_the_clock_is_not_skipped_and_not_forgotten() {
    let record = Record { run: span(NOW_MS - 1_000, NOW_MS + 1_000), ..Record::unused(7, LEAF) };
    let reset = record.reset(NOW_MS).expect("there is room");
    assert_eq!(reset.skipped, [span(NOW_MS, NOW_MS + 1_000)]);
    assert_eq!(reset.former, [span(NOW_MS - 1_000, NOW_MS)]);
    assert_eq!((reset.run, reset.granted_at_ms), (span(NOW_MS, NOW_MS), NOW_MS));
    // Once passed it is a former run like others, and makes room.
    let begun = reset.begin(span(NOW_MS + 2_000, NOW_MS + 3_000), NOW_MS + 2_000, 2);
    assert_eq!(
        (&begun.skipped[..], &begun.former[..]),
        (&[][..], &[span(NOW_MS - 1_000, NOW_MS + 1_000)][..])
    );
    // Nor is what lies above the clock a former run as well.
    let former =
        [span(NOW_MS - YEAR_MS, NOW_MS - 2 * MINUTE_MS), span(NOW_MS + YEAR_MS, NOW_MS + 2 * YEAR_MS)];
    let reset = Record { former: former.to_vec(), ..record }.reset(NOW_MS).expect("there is room");
    assert_eq!(reset.former, [former[0], span(NOW_MS - 1_000, NOW_MS)]);
}

#[test]
fn runs_less_than_a_minute_apart_are_one() {
    for (gap_ms, runs) in [(MINUTE_MS - 1, 1), (MINUTE_MS, 2)] {
        let mut record = Record::unused(7, LEAF).begin(span(NOW_MS, NOW_MS + 1_000), NOW_MS, 1);
        let second_ms = NOW_MS + 1_000 + gap_ms;
        for ms in [second_ms, NOW_MS + YEAR_MS] {
            record = record.begin(span(ms, ms + 1_000), ms, 1);
        }
        assert_eq!(record.former.len(), runs, "{gap_ms} ms apart");
    }
}

#[test]
fn ticks_that_a_leap_left_out_are_not_skipped() {
    let record = Record { run: span(NOW_MS, NOW_MS + 3_000), ..Record::unused(7, LEAF) };
    let leapt = span(NOW_MS + YEAR_MS, NOW_MS + YEAR_MS + 3_000);
    let leapt_record = record.extend(leapt, NOW_MS + YEAR_MS);
    let reset = leapt_record.reset(NOW_MS + 5_000).expect("there is room");
    assert_eq!(reset.skipped, [leapt]);
    assert_eq!(reset.former, [span(NOW_MS, NOW_MS + 3_000)]);
    let next = span(NOW_MS + 4_000, NOW_MS + 6_000);
    assert_eq!(record.extend(next, NOW_MS + 4_000).run, span(NOW_MS, NOW_MS + 6_000), "a little gap is none");
    // Nor those before the first span of a run that began without one.
    let empty = Record { run: span(NOW_MS, NOW_MS), ..Record::unused(7, LEAF) };
    assert_eq!(empty.extend(leapt, NOW_MS + YEAR_MS).run, leapt);
}

#[test]
fn the_nearest_runs_become_one_when_there_are_many() {
    let mut record = Record::unused(7, LEAF);
    // An hour apart, but for two pairs that are two minutes apart; then some less than a minute apart.
    let mut starts: Vec<i64> = (0..20).map(|hour| NOW_MS + hour * 60 * MINUTE_MS).collect();
    starts.extend([NOW_MS + 2 * MINUTE_MS, NOW_MS + 60 * MINUTE_MS + 2 * MINUTE_MS, NOW_MS + 59_000]);
    starts.sort_unstable();
    for &ms in &starts {
        record = record.begin(span(ms, ms + 1_000), ms, 1);
    }
    assert_eq!(record.former.len(), MOST_FORMER);
    assert_eq!(record.former[0].from, tick(NOW_MS));
    for &ms in &starts {
        let kept = record.former.iter().chain([&record.run]);
        assert!(kept.clone().any(|s| s.from <= tick(ms) && tick(ms + 1_000) <= s.until), "{ms} is forgotten");
    }
}

#[test]
fn runs_far_apart_stay_apart_where_others_are_nearer() {
    // A day between the first two, an hour between the others, and two minutes between the last two.
    let hours = (0..MOST_FORMER as i64 - 1).map(|hour| NOW_MS + (24 + hour) * 60 * MINUTE_MS);
    let mut starts: Vec<i64> = [NOW_MS].into_iter().chain(hours).collect();
    let last = starts[MOST_FORMER - 1] + 2 * MINUTE_MS;
    starts.extend([last, last + 60 * MINUTE_MS]);
    let begun = |record: Record, &ms: &i64| record.begin(span(ms, ms + 1_000), ms, 1);
    let record = starts.iter().fold(Record::unused(7, LEAF), begun);
    assert_eq!(record.former.len(), MOST_FORMER);
    assert_eq!(record.former[0], span(NOW_MS, NOW_MS + 1_000));
    assert_eq!(record.former[MOST_FORMER - 1], span(last - 2 * MINUTE_MS, last + 1_000));
}

#[test]
fn a_run_that_no_rules_can_have_made_is_skipped_for_what_can_have_been_granted() {
    const HOUR_MS: i64 = 60 * MINUTE_MS;
    let of = |run: Span| Record { run, granted_at_ms: NOW_MS, ..Record::unused(7, LEAF) };
    let forged = of(span(NOW_MS - 1_000, NOW_MS + 30 * YEAR_MS)).reset(NOW_MS).expect("there is room");
    assert_eq!(forged.skipped, [span(NOW_MS, NOW_MS + HOUR_MS + 3_000)]);
    assert_eq!(forged.former, [span(NOW_MS - 1_000, NOW_MS)]);
    // A clock that was wrong makes these.
    for run in [span(NOW_MS, NOW_MS + YEAR_MS), span(NOW_MS + 1, NOW_MS + 9 * YEAR_MS)] {
        assert_eq!(of(run).reset(NOW_MS).expect("there is room").skipped, [run]);
    }
    let at_the_clock = of(span(NOW_MS, NOW_MS + 9 * YEAR_MS)).reset(NOW_MS).expect("there is room");
    assert_eq!(at_the_clock.skipped, [span(NOW_MS, NOW_MS + HOUR_MS + 3_000)]);
}

#[test]
fn more_skipped_spans_than_fit_are_refused_and_none_is_lost() {
    let mut record = Record::unused(7, LEAF);
    record.skipped = (1..=MOST_SKIPPED as i64)
        .map(|day| span(NOW_MS + day * 86_400_000, NOW_MS + day * 86_400_000 + 1))
        .collect();
    assert_eq!(record.reset(NOW_MS).expect("they fit").skipped, record.skipped);
    record.run = span(NOW_MS + 10, NOW_MS + 20);
    let error = record.reset(NOW_MS).expect_err("one too many");
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().contains("another worker id"), "{error}");
    // One that touches another takes no room.
    record.run = span(NOW_MS + 86_400_000 - 5, NOW_MS + 86_400_000);
    assert_eq!(record.reset(NOW_MS).expect("they fit").skipped.len(), MOST_SKIPPED);
}

#[test]
fn a_time_outside_the_layout_is_refused() {
    let record = Record::unused(7, LEAF);
    assert_eq!(record.reset(LEAF.epoch_ms() - 1).expect_err("early").code(), Code::BeforeEpoch);
    assert_eq!(record.reset(LEAF.expires_at_ms()).expect_err("late").code(), Code::TimeExhausted);
    let last = Span { from: LEAF.last_tick(), until: LEAF.last_tick() };
    assert_eq!(record.reset(LEAF.expires_at_ms() - 1).expect("in time").run, last);
}
