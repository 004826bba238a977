//! Two machines and one record, such as on a volume that moves between them. Each machine has a clock of its own.
//!
//! Assumed: a lock lets one process at a time use the record (`os/`). A write is durable once it is synced. One that is
//! not may be read again, become durable later, or be lost with its machine. An operator may reset the record while no
//! process uses it, whether there is a reason or not.
//!
//! Faults: a clock that steps, a write that fails, a process that is killed in any state. Or the newest slot of the file
//! is lost while no clock ever stepped: then a start continues from the older slot.

use crate::bounds::Bounds;
use crate::generator::Generator;
use leafid_core::snowflake::{Admission, ExtensionAction, SpanExtension, Start, StartAction};
use leafid_core::{
    Action as Next, Layout, LayoutFields, OnClockBackwards, OnExhausted, Order, Record, Rules, Span,
};
use stateright::Property;
use std::collections::BTreeSet;
use std::time::Duration;

/// The tick at which all begins.
const START: i64 = 20;

pub struct Model {
    pub bounds: Bounds,
}

/// The length of a tick decides what fits into the core's constants: a span of 0.5 to 3 s; two runs less than 60 s apart
/// are joined; a start is refused a day ahead; no run is longer than a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Setting {
    tick_ms: i64,
    rules: Rules,
    /// By how many ticks a clock may step.
    steps: &'static [i64],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    setting: Setting,
    /// The ticks that have passed.
    passed: u64,
    /// The tick that each machine's clock shows.
    clocks: [i64; 2],
    /// What a crash leaves.
    durable: Record,
    /// What was written and not synced. A reader finds this one.
    unsynced: Option<Record>,
    /// The other slot of the file: what was durable before.
    older: Option<Record>,
    newest: Slot,
    holder: Option<Holder>,
    issued: BTreeSet<i64>,
    faults: u32,
    starts: u32,
    resets: u32,
    wrong: Option<Wrong>,
}

/// The newest slot of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    Whole,
    Lost,
    /// It was lost, and written again.
    Replaced,
}

/// The process that has the lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Holder {
    machine: usize,
    /// The record that it read or wrote last.
    record: Record,
    /// The record that it is writing, and the span that it grants afterwards.
    writing: Option<(Record, Span)>,
    phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// It makes its first span durable, which begins at this tick.
    Claiming(u64),
    Resetting,
    Open {
        generator: Generator,
        extension: SpanExtension,
    },
    /// Its generator was sealed: the first tick without an id.
    Closing(u64),
    /// It writes that.
    Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Pass,
    ClockSteps { machine: usize, ticks: i64 },
    Claim { machine: usize },
    Extend,
    NextId,
    Close,
    Reset { machine: usize },
    WriteIsSynced,
    WriteFails { reached: bool },
    Kill { reached: bool },
    UnsyncedIsLost,
    UnsyncedIsSynced,
    SlotIsLost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    IssuedTwice,
    NotIncreasing,
    NotDurable,
    TooFarAhead,
    OwnRecordRefused,
}

impl Setting {
    fn all() -> Vec<Setting> {
        let mut all = Vec::new();
        for (tick_ms, max_backwards_ms, steps) in [
            (1_000, 2_000, &[-3, -1, 5][..]),
            (30_000, 60_000, &[-3, 3]),
            (3_600_000, 3_600_000, &[-9_000, 9_000]),
        ] {
            let (on_clock_backwards, on_exhausted) = (OnClockBackwards::Continue, OnExhausted::Wait);
            let rules = Rules { on_clock_backwards, max_backwards_ms, on_exhausted, random_start: 0 };
            all.push(Setting { tick_ms, rules, steps });
            all.push(Setting { tick_ms, rules: rules.never_ahead(), steps });
        }
        all.push(Setting { rules: Rules { on_exhausted: OnExhausted::Borrow, ..all[0].rules }, ..all[0] });
        all
    }

    /// Two ids a tick, and one worker id.
    fn layout(&self) -> Layout {
        let (timestamp_bits, worker_bits, sequence_bits) = (20, 0, 1);
        let (order, tick_ms) = (Order::WorkerSequence, self.tick_ms);
        let fields = LayoutFields { epoch_ms: 0, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
        Layout::new(fields).expect("at most 63 bits")
    }
}

impl State {
    fn now_ms(&self, machine: usize) -> i64 {
        self.clocks[machine] * self.setting.tick_ms
    }

    /// The boot time.
    fn boot_time(&self) -> Duration {
        Duration::from_millis(self.passed * self.setting.tick_ms as u64)
    }

    /// The machines are alike, so the one whose clock is behind is called the first.
    fn order_machines(&mut self) {
        let [one, other] = self.clocks;
        if let Some(holder) = self.holder.as_mut().filter(|_| one >= other) {
            holder.machine = if one == other { 0 } else { 1 - holder.machine };
        }
        self.clocks.sort_unstable();
    }

    /// As `run/record_open.rs` reads it.
    fn found(&self, machine: usize) -> Record {
        match &self.unsynced {
            Some(unsynced) => unsynced.clone(),
            None if self.newest == Slot::Lost => {
                self.durable.clone().after_lost_slot(&self.setting.rules, self.now_ms(machine))
            }
            None => self.durable.clone(),
        }
    }

    /// The holder ends, too, if there is one.
    fn slot_is_lost(&mut self) -> Option<()> {
        self.durable = self.older.take().filter(|_| self.unsynced.is_none())?;
        (self.newest, self.holder) = (Slot::Lost, None);
        Some(())
    }

    /// As `run/id_claim.rs` makes the first span durable.
    fn claim(&mut self, machine: usize) -> Option<()> {
        self.claim_from(self.found(machine), machine)
    }

    /// A start that waits reads the record once, before it waits.
    fn claim_from(&mut self, record: Record, machine: usize) -> Option<()> {
        let now_ms = self.now_ms(machine);
        if record.check().is_err() {
            self.wrong = Some(Wrong::OwnRecordRefused);
        }
        let rules = &self.setting.rules;
        let start =
            Start { rules, lease: None, floor: 0, start_after: 0, no_record_wait_ms: 0, forgets: false };
        let StartAction::Begin { first, .. } = start.poll(&record, now_ms) else { return None };
        let writing = Some((record.begin(first, now_ms, 0), first));
        self.holder = Some(Holder { machine, record, writing, phase: Phase::Claiming(first.from) });
        Some(())
    }

    /// As `worker/reset.rs`.
    fn reset(&mut self, machine: usize) -> Option<()> {
        let record = self.found(machine);
        let after = record.reset(self.now_ms(machine)).ok()?;
        let none = Span { from: 0, until: 0 };
        self.holder = Some(Holder { machine, record, writing: Some((after, none)), phase: Phase::Resetting });
        Some(())
    }

    /// As `run/seat.rs`.
    fn extend(&mut self) -> Option<()> {
        let (boot_time, rules) = (self.boot_time(), self.setting.rules);
        let now_ms = self.now_ms(self.holder.as_ref()?.machine);
        let holder = self.holder.as_mut().filter(|holder| holder.writing.is_none())?;
        let Phase::Open { generator, extension } = &holder.phase else { return None };
        let first_unused = generator.first_unused();
        match extension.poll(&rules, &holder.record, first_unused, u64::MAX, now_ms, boot_time) {
            ExtensionAction::Extend(span) => {
                holder.writing = Some((holder.record.extend(span, now_ms), span))
            }
            _ => return None,
        }
        Some(())
    }

    fn next_id(&mut self) -> Option<()> {
        let now_ms = self.now_ms(self.holder.as_ref()?.machine);
        let Phase::Open { generator, .. } = &mut self.holder.as_mut()?.phase else { return None };
        let last = generator.last;
        let id = generator.next(now_ms).ok()?;
        let tick = id as u64 >> 1;
        let most_ahead_ms = match self.setting.rules.on_clock_backwards {
            OnClockBackwards::Continue => self.setting.rules.max_backwards_ms,
            OnClockBackwards::Wait => 0,
        };
        let holds = |span: &Span| (span.from..span.until).contains(&tick);
        if !self.issued.insert(id) {
            self.wrong = Some(Wrong::IssuedTwice);
        } else if id <= last {
            self.wrong = Some(Wrong::NotIncreasing);
        } else if tick as i64 * self.setting.tick_ms - now_ms > most_ahead_ms {
            self.wrong = Some(Wrong::TooFarAhead);
        } else if !holds(&self.durable.run) && !self.durable.former.iter().any(holds) {
            self.wrong = Some(Wrong::NotDurable);
        }
        Some(())
    }

    /// Seals the generator; its end is written once no other write is under way (`Generator::shut`).
    fn close(&mut self) -> Option<()> {
        let holder = self.holder.as_mut()?;
        let Phase::Open { generator, .. } = &mut holder.phase else { return None };
        holder.phase = Phase::Closing(generator.seal()?);
        self.write_end()
    }

    /// As `SpanWriter::write_end`.
    fn write_end(&mut self) -> Option<()> {
        let now_ms = self.now_ms(self.holder.as_ref()?.machine);
        let holder = self.holder.as_mut()?;
        if let (Phase::Closing(first_unused), None) = (&holder.phase, &holder.writing) {
            let closed = holder.record.clone().closed(*first_unused, now_ms);
            let run = closed.run;
            holder.writing = Some((closed, run));
            holder.phase = Phase::Ending;
        }
        Some(())
    }

    fn write_is_synced(&mut self) -> Option<()> {
        let (layout, rules) = (self.setting.layout(), self.setting.rules);
        let boot_time = self.boot_time();
        let holder = self.holder.as_mut()?;
        let (record, span) = holder.writing.take()?;
        self.older = Some(std::mem::replace(&mut self.durable, record.clone()));
        self.unsynced = None;
        if self.newest == Slot::Lost {
            self.newest = Slot::Replaced;
        }
        holder.record = record;
        match &mut holder.phase {
            Phase::Claiming(from) => {
                let mut generator = Generator::new(layout, rules, 0, *from);
                generator.grant(span);
                holder.phase = Phase::Open { generator, extension: SpanExtension::new(boot_time) };
            }
            Phase::Open { generator, extension } => {
                extension.written();
                generator.grant(span);
            }
            Phase::Closing(_) => return self.write_end(),
            Phase::Resetting | Phase::Ending => self.holder = None,
        }
        Some(())
    }

    fn write_fails(&mut self, reached: bool) -> Option<()> {
        let holder = self.holder.as_mut()?;
        let (record, _) = holder.writing.take()?;
        if reached {
            self.unsynced = Some(record);
        }
        match &mut holder.phase {
            Phase::Open { extension, .. } => extension.failed(),
            Phase::Closing(_) => return self.write_end(),
            Phase::Claiming(_) | Phase::Resetting | Phase::Ending => self.holder = None,
        }
        Some(())
    }

    fn kill(&mut self, reached: bool) -> Option<()> {
        let holder = self.holder.take()?;
        match holder.writing {
            Some((record, _)) if reached => self.unsynced = Some(record),
            None if reached => return None,
            _ => {}
        }
        Some(())
    }

    /// What happens without further faults: all writes are synced, clocks reach the time that the core waits for, and a
    /// record that is refused is reset. Returns whether an id is issued then.
    fn goes_on(mut self) -> bool {
        let mut resets = 0;
        for _ in 0..20 {
            let Some(holder) = &self.holder else {
                let (found, now_ms) = (self.found(0), self.now_ms(0));
                match found.admit(&self.setting.rules, now_ms) {
                    Admission::From(_) => self.claim(0),
                    Admission::WaitUntil(ms) => {
                        self.clock_arrives(0, ms);
                        self.claim_from(found, 0)
                    }
                    Admission::Refused(_) if resets == 0 => {
                        resets += 1;
                        self.reset(0)
                    }
                    // Under `wait` a start waits for the end of what was skipped, but not for long.
                    Admission::Refused(_) => {
                        let free = found.first_free(self.clocks[0] as u64);
                        self.clock_arrives(0, self.setting.layout().tick_start_ms(free))
                    }
                };
                continue;
            };
            let machine = holder.machine;
            let now_ms = self.now_ms(machine);
            match (&holder.phase, &holder.writing) {
                (_, Some(_)) => self.write_is_synced(),
                (Phase::Open { generator, .. }, None) => match generator.clone().next(now_ms) {
                    Ok(_) => return true,
                    Err(Next::WaitUntil(ms)) => self.clock_arrives(machine, ms),
                    // There is room for a span a tick later at the latest.
                    Err(Next::NeedSpan) => {
                        self.extend().or_else(|| self.clock_arrives(machine, now_ms + self.setting.tick_ms))
                    }
                    Err(Next::ClockBackwards { last_ms, .. }) => {
                        self.clock_arrives(machine, last_ms - self.setting.rules.max_backwards_ms)
                    }
                    Err(_) => return false,
                },
                (Phase::Claiming(_) | Phase::Resetting | Phase::Closing(_) | Phase::Ending, None) => {
                    return false;
                }
            };
        }
        false
    }

    fn clock_arrives(&mut self, machine: usize, ms: i64) -> Option<()> {
        self.clocks[machine] =
            self.clocks[machine].max((ms as u64).div_ceil(self.setting.tick_ms as u64) as i64);
        Some(())
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let begin = |setting: Setting| State {
            passed: 0,
            clocks: [START; 2],
            durable: Record::unused(0, setting.layout()),
            unsynced: None,
            older: None,
            newest: Slot::Whole,
            holder: None,
            issued: BTreeSet::new(),
            faults: 0,
            starts: 0,
            resets: 0,
            wrong: None,
            setting,
        };
        Setting::all().into_iter().map(begin).collect()
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong.is_some() || state.issued.len() == self.bounds.ids {
            return;
        }
        if state.passed < self.bounds.ticks {
            events.push(Event::Pass);
        }
        if state.holder.is_none() {
            if state.starts < self.bounds.starts {
                events.extend([0, 1].map(|machine| Event::Claim { machine }));
            }
            if state.resets == 0 {
                events.extend([0, 1].map(|machine| Event::Reset { machine }));
            }
            if state.unsynced.is_some() {
                events.extend([Event::UnsyncedIsLost, Event::UnsyncedIsSynced]);
            }
        } else {
            events.extend([Event::Extend, Event::NextId, Event::Close, Event::WriteIsSynced]);
        }
        if state.faults == 0 {
            events.push(Event::SlotIsLost);
        }
        if state.faults < self.bounds.faults {
            for machine in 0..2 {
                events.extend(state.setting.steps.iter().map(|&ticks| Event::ClockSteps { machine, ticks }));
            }
            for reached in [false, true] {
                events.extend([Event::WriteFails { reached }, Event::Kill { reached }]);
            }
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        let is_fault =
            matches!(event, Event::ClockSteps { .. } | Event::WriteFails { .. } | Event::Kill { .. });
        state.faults += u32::from(is_fault);
        match event {
            Event::Pass => {
                state.passed += 1;
                state.clocks = state.clocks.map(|clock| clock + 1);
            }
            Event::ClockSteps { machine, ticks } => {
                state.clocks[machine] += ticks;
                if state.clocks[machine] < 0 {
                    return None;
                }
            }
            Event::Claim { machine } => {
                state.starts += 1;
                state.claim(machine)?;
            }
            Event::Extend => state.extend()?,
            Event::NextId => state.next_id()?,
            Event::Close => state.close()?,
            Event::Reset { machine } => {
                state.resets += 1;
                state.reset(machine)?;
            }
            Event::WriteIsSynced => state.write_is_synced()?,
            Event::WriteFails { reached } => state.write_fails(reached)?,
            Event::Kill { reached } => state.kill(reached)?,
            Event::UnsyncedIsLost => state.unsynced = None,
            Event::UnsyncedIsSynced => state.durable = state.unsynced.take()?,
            Event::SlotIsLost => {
                state.slot_is_lost()?;
                // A clock that steps afterwards may hide what the slot held: docs/RELIABILITY.md.
                state.faults = self.bounds.faults;
            }
        }
        if state.faults > 0 {
            // It is not lost any more.
            state.older = None;
        }
        state.order_machines();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Model>> {
        vec![
            Property::always("no id is issued twice", |_, state: &State| {
                state.wrong != Some(Wrong::IssuedTwice)
            }),
            Property::always("ids of a generator increase", |_, state: &State| {
                state.wrong != Some(Wrong::NotIncreasing)
            }),
            Property::always("no id is outside what is durable", |_, state: &State| {
                state.wrong != Some(Wrong::NotDurable)
            }),
            Property::always(
                "no id is further ahead of the clock than the rules allow",
                |_, state: &State| state.wrong != Some(Wrong::TooFarAhead),
            ),
            Property::always("a record of leafid's own is accepted", |_, state: &State| {
                state.wrong != Some(Wrong::OwnRecordRefused)
            }),
            Property::always("ids are issued again after the faults", |_, state: &State| {
                state.clone().goes_on()
            }),
            Property::sometimes("an id is issued after a reset", |_, state: &State| {
                state.resets > 0
                    && matches!(&state.holder, Some(Holder { phase: Phase::Open { generator, .. }, .. }) if generator.last >= 0)
            }),
            Property::sometimes("an id is issued after the loss of a slot", |_, state: &State| {
                let issues = |holder: &Holder| matches!(&holder.phase, Phase::Open { generator, .. } if generator.last >= 0);
                state.newest == Slot::Replaced && state.holder.as_ref().is_some_and(issues)
            }),
            Property::sometimes("a record has a skipped span", |_, state: &State| {
                !state.durable.skipped.is_empty()
            }),
            Property::sometimes("a record has a former span", |_, state: &State| {
                !state.durable.former.is_empty()
            }),
        ]
    }
}
