//! A worker id over several lives: whatever its clock reads and wherever its processes end.

use crate::cases::holds;
use crate::ids::layout;
use leafid_core::snowflake::Admission;
use leafid_core::{
    Action, Code, Layout, OnClockBackwards, OnExhausted, Record, Rules, Run, Snowflake, Span, next_until,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// The clock goes so far, up or down.
    Clock(i64),
    /// It reads this.
    ClockAt(i64),
    /// It goes where the last answer said.
    Follow,
    Next,
    Reserve(usize),
    /// The span is extended before or when it is used up; `lost`: written, and never granted.
    Extend {
        lost: bool,
    },
    /// The process ends, with a clean close or without.
    End {
        clean: bool,
    },
    /// Given up by hand, while it has no holder.
    Reset,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let far = prop_oneof![4 => -6_000..6_000i64, 1 => -400_000_000..400_000_000i64];
    let step = prop_oneof![
        6 => prop_oneof![3 => 0..3i64, 2 => -20..200i64].prop_map(Step::Clock),
        2 => far.prop_map(Step::Clock),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()].prop_map(Step::ClockAt),
        5 => Just(Step::Follow),
        12 => Just(Step::Next),
        8 => prop_oneof![1..50usize, 1..10_000usize, Just(1 << 24), Just(usize::MAX)].prop_map(Step::Reserve),
        4 => any::<bool>().prop_map(|lost| Step::Extend { lost }),
        2 => any::<bool>().prop_map(|clean| Step::End { clean }),
        1 => Just(Step::Reset),
    ];
    prop::collection::vec(step, 1..250)
}

fn rules() -> impl Strategy<Value = Rules> {
    let backwards = prop_oneof![Just(OnClockBackwards::Continue), Just(OnClockBackwards::Wait)];
    let exhausted = prop_oneof![Just(OnExhausted::Wait), Just(OnExhausted::Borrow)];
    let start = prop_oneof![Just(0), Just(100), any::<u32>()];
    (backwards, exhausted, start, 0..10_000i64, any::<bool>()).prop_map(
        |(on_clock_backwards, on_exhausted, random_start, bound, default)| {
            let (least, most) = on_clock_backwards.max_ms_range();
            let bound = if default { on_clock_backwards.default_max_ms() } else { bound };
            let max_backwards_ms = bound.clamp(least, most);
            Rules { on_clock_backwards, max_backwards_ms, on_exhausted, random_start }
        },
    )
}

/// A process that holds the worker id.
struct Life {
    flake: Snowflake,
    begun_ms: i64,
    granted: Vec<Span>,
}

/// The worker id, and all that was issued of it.
struct Machine {
    layout: Layout,
    rules: Rules,
    worker_id: u32,
    seed: u64,
    now_ms: i64,
    follow_ms: i64,
    /// Durable.
    record: Record,
    life: Option<Life>,
    /// First and last position of each run: tick and sequence, without the worker id.
    issued: BTreeMap<u64, u64>,
    /// No id may come at or below it, unless a reset starts again.
    last: Option<i64>,
}

impl Machine {
    fn begin(&mut self) -> Result<(), TestCaseError> {
        let from = match self.record.admit(&self.rules, self.now_ms) {
            Admission::From(from) => from,
            Admission::WaitUntil(ms) => {
                prop_assert!(ms > self.now_ms);
                self.follow_ms = ms;
                return Ok(());
            }
            Admission::Refused(error) => {
                // Never a record that a generator could continue from within a day.
                let behind_ms = self.record.granted_at_ms.saturating_sub(self.now_ms);
                let lead_ms = self.layout.tick_start_ms(self.record.run.until).saturating_sub(self.now_ms);
                prop_assert!(
                    error.code() != Code::ClockBackwards
                        || self.rules.on_clock_backwards == OnClockBackwards::Wait
                        || behind_ms > self.rules.max_backwards_ms
                        || lead_ms > 86_400_000,
                    "{}",
                    error
                );
                return Ok(());
            }
        };
        let until =
            next_until(&self.layout, &self.rules, &self.record.skipped, from, self.now_ms, 0).unwrap_or(from);
        let first = Span { from, until };
        self.record = self.record.begin(first, self.now_ms, 1);
        let flake = Snowflake::new(self.layout, self.rules, self.worker_id, from, self.seed);
        flake.grant(first);
        self.life = Some(Life { flake, begun_ms: self.now_ms, granted: vec![first] });
        Ok(())
    }

    /// As the host does it: recorded, then granted.
    fn extend(&mut self, lost: bool) -> Result<(), TestCaseError> {
        let Some(life) = &mut self.life else { return Ok(()) };
        let Some(now) = self.layout.tick_at(self.now_ms).filter(|now| *now <= self.layout.last_tick()) else {
            return Ok(());
        };
        let Some(first_unused) = life.flake.first_unused() else { return Ok(()) };
        let from = self.record.first_free(first_unused.max(now));
        let lived = self.now_ms.saturating_sub(life.begun_ms);
        let until = next_until(&self.layout, &self.rules, &self.record.skipped, from, self.now_ms, lived);
        let Some(until) = until.filter(|until| *until > self.record.run.until) else { return Ok(()) };
        let span = Span { from, until };
        if self.rules.on_clock_backwards == OnClockBackwards::Continue {
            let most = self.layout.tick_from(self.now_ms.saturating_add(self.rules.max_backwards_ms));
            prop_assert!(most.is_some_and(|most| until <= most), "further ahead than a restart may begin");
        }
        self.record = self.record.extend(span, self.now_ms);
        if lost {
            // It ends between the two.
            self.life = None;
        } else {
            life.flake.grant(span);
            life.granted.push(span);
        }
        Ok(())
    }

    fn issue(&mut self, most: usize, run: bool) -> Result<(), TestCaseError> {
        if self.life.is_none() {
            self.begin()?;
        }
        let Some(life) = &self.life else { return Ok(()) };
        let before = (life.flake.first_unused(), life.flake.until());
        let issued = match run {
            true => life.flake.reserve(self.now_ms, most),
            false => life.flake.next(self.now_ms).map(|first| Run { first, stride: 1, count: 1 }),
        };
        match issued {
            Ok(run) => {
                prop_assert!((1..=most).contains(&run.count));
                self.check(run)
            }
            Err(action) => {
                prop_assert_eq!((life.flake.first_unused(), life.flake.until()), before, "{:?}", action);
                match action {
                    Action::WaitUntil(ms) => {
                        prop_assert!(ms > self.now_ms, "until {} at {}", ms, self.now_ms);
                        self.follow_ms = ms;
                        Ok(())
                    }
                    Action::NeedSpan => self.extend(false),
                    _ => Ok(()),
                }
            }
        }
    }

    fn check(&mut self, run: Run) -> Result<(), TestCaseError> {
        let Some(life) = &self.life else { return Ok(()) };
        let end = run.first + (run.count as i64 - 1) * run.stride;
        prop_assert!(run.first >= 0 && self.last.is_none_or(|last| last < run.first), "{:?}", run);
        let (low, high) = (self.layout.decode(run.first).unwrap(), self.layout.decode(end).unwrap());
        prop_assert_eq!((low.worker_id, high.worker_id), (self.worker_id, self.worker_id));
        prop_assert_eq!(low.timestamp_ms, high.timestamp_ms, "a run is of one tick");
        prop_assert_eq!((high.sequence - low.sequence) as usize, run.count - 1);
        let tick = self.layout.tick_at(low.timestamp_ms).unwrap();
        let holds = |span: &Span| span.from <= tick && tick < span.until;
        prop_assert!(life.granted.iter().any(holds), "tick {} was not granted", tick);
        prop_assert!(holds(&self.record.run), "tick {} is not in the record's {:?}", tick, self.record.run);
        prop_assert!(!self.record.skipped.iter().any(holds), "tick {} was skipped", tick);
        let position = |sequence: u32| tick << self.layout.fields().sequence_bits | u64::from(sequence);
        let (first, last) = (position(low.sequence), position(high.sequence));
        let below = self.issued.range(..=last).next_back();
        prop_assert!(below.is_none_or(|(_, end)| *end < first), "{:?} again, after {:?}", run, below);
        self.issued.insert(first, last);
        self.last = Some(end);
        Ok(())
    }

    fn end(&mut self, clean: bool) -> Result<(), TestCaseError> {
        let Some(life) = self.life.take() else { return Ok(()) };
        if clean {
            let unused = life.flake.first_unused();
            let end = life.flake.seal();
            prop_assert_eq!(end, unused);
            let refused = life
                .flake
                .next(self.now_ms)
                .is_err_and(|action| !matches!(action, Action::WaitUntil(_) | Action::NeedSpan));
            prop_assert!(refused, "a sealed one says so");
            let run = self.record.run;
            let run = Span { from: run.from, until: end.unwrap().clamp(run.from, run.until) };
            // As the host does: a step back is not hidden from the next start.
            let granted_at_ms = self.now_ms.max(self.record.granted_at_ms);
            self.record = Record { run, granted_at_ms, ..self.record.clone() };
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Clock(by) => self.now_ms = self.now_ms.saturating_add(by),
            // A generator of the past lives on in its record; the next reading is near it again.
            Step::ClockAt(ms) => {
                let before = std::mem::replace(&mut self.now_ms, ms);
                self.issue(5, true)?;
                self.now_ms = before;
            }
            Step::Follow => self.now_ms = self.follow_ms,
            Step::Next => self.issue(1, false)?,
            Step::Reserve(most) => self.issue(most, true)?,
            Step::Extend { lost } => self.extend(lost)?,
            Step::End { clean } => self.end(clean)?,
            Step::Reset => {
                self.life = None;
                if let Ok(record) = self.record.reset(self.now_ms) {
                    self.record = record;
                    // Below what was issued before: each id still comes once.
                    self.last = None;
                }
            }
        }
        prop_assert_eq!(self.record.check(), Ok(()), "{:?}", self.record);
        Ok(())
    }
}

#[test]
fn ids_increase_and_come_once_whatever_the_clock_reads_and_wherever_a_process_ends() {
    let whole = (layout(), rules(), any::<u32>(), any::<u64>(), 0..1_000_000u64, steps());
    holds(4_000, whole, |(layout, rules, worker, seed, at, steps)| {
        // Anywhere in the layout's life, often at its end.
        let life = layout.expires_at_ms() - layout.epoch_ms();
        let now_ms = layout.epoch_ms() + (i128::from(life) * i128::from(at) / 1_000_000) as i64;
        let worker_id = worker & layout.max_worker_id();
        let record = Record::unused(worker_id, layout);
        let mut machine = Machine {
            layout,
            rules,
            worker_id,
            seed,
            now_ms,
            follow_ms: now_ms,
            record,
            life: None,
            issued: BTreeMap::new(),
            last: None,
        };
        steps.into_iter().try_for_each(|step| machine.step(step))
    });
}
