//! Two processes of one state directory, each with a whole `Supply` of one tag, and a callback over one counter.
//!
//! Assumed: a lock lets one process at a time change the mark. An operator raises the counter of a source that went back.
//! The host takes notices and calls as soon as there are any; each step of a call may be as late as it likes.
//!
//! Faults: a call is reported as failed, before its effect or after it; an end is reported again; the host leaves out the
//! write of a mark; the source repeats its last answer; a caller goes away. Besides these a process is killed, and the
//! counter is restored to where it began.

use crate::bounds::SupplyBounds;
use leafid_core::call::{CallId, Clocks, FileAdvice, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::mark::Mark;
use leafid_core::format::{shared, two_slots};
use leafid_core::segment::Guard;
use leafid_core::supply::{
    Call, CallEnd, Collected, MarkStore, Notice, Prewarm, Source, Supply, SupplySettings, Ticket, Wish,
};
use leafid_core::{IdOrder, Segment};
use stateright::Property;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

const TAG: &str = "order";
/// Where the counter begins, and the mark.
const FIRST: i64 = 5;
const WALL_MS: i64 = 1_800_000_000_000;
/// The time that passes at once. The back-off of a call that is waited for is at most 400 ms.
const PASS: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_secs(1);
/// Once nothing goes wrong any more, a process has an id within this time.
const SOON: Duration = Duration::from_secs(30);

pub struct Model {
    pub bounds: SupplyBounds,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    step: i64,
    order: IdOrder,
    passed: u32,
    /// The next id of the source's counter.
    counter: i64,
    last: Option<Segment>,
    file: File,
    /// The process that holds the lock of the file.
    locked: Option<usize>,
    clients: [Client; 2],
    issued: BTreeSet<i64>,
    starts: u32,
    restores: u32,
    faults: u32,
    wrong: Option<Wrong>,
}

/// The mark's file. Two files are equal if they say the same: how often they were written does not matter.
#[derive(Clone, Debug)]
struct File {
    bytes: Arc<Vec<u8>>,
    mark: Arc<Mark>,
}

#[derive(Clone, Debug)]
struct Client {
    supply: Supply,
    calls: Vec<UnderWay>,
    /// The last end, and its call: it may be reported again.
    ended: Option<(CallId, CallEnd)>,
    waits: Option<Ticket>,
}

#[derive(Clone, Debug)]
struct UnderWay {
    id: CallId,
    call: Call,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    New,
    /// The mark was read.
    Read(File),
    /// The source has answered.
    Answered(Segment),
    /// The mark is written, and locked.
    Written,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Time passes.
    Pass,
    /// A caller takes an id, or waits for one.
    Ask(usize),
    /// The next step of the call that is under way.
    Go(usize),
    Fails(usize),
    EndsAgain(usize),
    ForgetsToWrite(usize),
    SourceRepeats(usize),
    CallerLeaves(usize),
    Kill(usize),
    Restore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    IssuedTwice,
    AboveMark,
    TwoCalls,
}

impl File {
    fn new(bytes: Vec<u8>) -> File {
        let (found, ..) = shared::read::<Mark>("the mark", &bytes).expect("a whole file");
        File { bytes: Arc::new(bytes), mark: Arc::new(found.content) }
    }

    /// Of a tag that was used: every id below [`FIRST`] was given.
    fn used(order: IdOrder) -> File {
        let mut guard = Guard::new(order);
        guard.offer(Segment::new(1, FIRST, 1).expect("a segment"), 0).expect("the first one");
        let mut mark = Mark::unused("source", TAG);
        mark.remember(&guard, order, WALL_MS);
        let slot = |number| shared::seal(number, &mark);
        File::new(two_slots::new_file(slot).expect("it fits").to_vec())
    }

    fn write(&mut self, offset: usize, slot: &[u8]) {
        let mut bytes = (*self.bytes).clone();
        bytes[offset..offset + slot.len()].copy_from_slice(slot);
        *self = File::new(bytes);
    }
}

impl PartialEq for File {
    fn eq(&self, other: &File) -> bool {
        self.mark == other.mark
    }
}

impl Eq for File {}

impl Hash for File {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.mark.hash(state);
    }
}

/// What its end will say is decided by its kind and stage, and by what the machine and the file hold.
impl UnderWay {
    fn key(&self) -> (u8, i64, i64, &Stage) {
        match &self.call {
            Call::ReadMark(_) => (0, 0, 0, &self.stage),
            Call::UpdateMark(_) => (1, 0, 0, &self.stage),
            Call::Fetch(fetch) => (2, fetch.step, fetch.after, &self.stage),
            _ => (3, 0, 0, &self.stage),
        }
    }
}

impl PartialEq for UnderWay {
    fn eq(&self, other: &UnderWay) -> bool {
        self.key() == other.key()
    }
}

impl Eq for UnderWay {}

impl Hash for UnderWay {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Client {
    fn new(order: IdOrder, step: i64) -> Client {
        let settings = SupplySettings {
            source: Source::Callback { is_deferred: false },
            source_name: "source".into(),
            order,
            step: Some(step),
            adaptive: false,
            prefetch: 10,
            marks: MarkStore::Files,
            advice: FileAdvice::StateDir,
            machine_start: None,
            keep_unused: false,
            prewarm: Prewarm::None,
        };
        Client { supply: Supply::new(settings, 1), calls: Vec::new(), ended: None, waits: None }
    }

    fn key(&self) -> impl Hash + Eq + '_ {
        (&self.supply, &self.calls, self.ended.is_some(), self.waits.is_some())
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Client) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Client {}

impl Hash for Client {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl State {
    fn boot(&self) -> Duration {
        Duration::from_secs(1_000) + PASS * self.passed
    }

    fn clocks(&self) -> Clocks {
        Clocks { wall_ms: WALL_MS, boot: self.boot() }
    }

    fn issue(&mut self, id: i64) {
        if !self.issued.insert(id) {
            self.wrong = Some(Wrong::IssuedTwice);
        } else if id >= self.file.mark.mark.0 {
            self.wrong = Some(Wrong::AboveMark);
        }
    }

    /// A caller takes an id, or waits for one.
    fn ask(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks();
        let client = &mut self.clients[who];
        if client.waits.is_some() {
            return None;
        }
        let (tag, buffer) = client.supply.tag(TAG).expect("a valid tag");
        match buffer.take() {
            Ok((id, wants_more)) => {
                if wants_more {
                    client.supply.wants_more(tag, clocks);
                }
                self.issue(id);
            }
            Err(_) => {
                let wish = Wish { count: 1, had: Vec::new(), timeout: TIMEOUT, blocks_at_most: None };
                client.waits = Some(client.supply.wait(tag, wish, clocks));
            }
        }
        Some(())
    }

    /// The host takes what there is: notices, calls, and what its callers got.
    fn drive(&mut self, who: usize) {
        let clocks = self.clocks();
        let client = &mut self.clients[who];
        while let Some((id, call)) = client.supply.next_call(clocks) {
            client.calls.push(UnderWay { id, call, stage: Stage::New });
        }
        while let Some(notice) = client.supply.next_notice(clocks) {
            if let Notice::Abandon(id) = notice {
                client.calls.retain(|call| call.id != id);
            }
        }
        if client.calls.len() > 1 {
            self.wrong = Some(Wrong::TwoCalls);
        }
        let Some(ticket) = self.clients[who].waits else { return };
        match self.clients[who].supply.collect(ticket) {
            Collected::Waits => {}
            Collected::Ids(runs) => {
                self.clients[who].waits = None;
                runs.iter().for_each(|run| self.issue(run.first));
            }
            _ => self.clients[who].waits = None,
        }
    }

    fn end(&mut self, who: usize, id: CallId, end: CallEnd) {
        if self.locked == Some(who) {
            self.locked = None;
        }
        let clocks = self.clocks();
        self.clients[who].supply.done(id, end.clone(), clocks);
        self.clients[who].ended = Some((id, end));
    }

    /// The next step of the call that is under way.
    fn go(&mut self, who: usize, repeats: bool) -> Option<()> {
        let UnderWay { id, call, stage } = self.clients[who].calls.pop()?;
        let stage = match (call.clone(), stage) {
            (Call::ReadMark(_), Stage::New) if !repeats => Stage::Read(self.file.clone()),
            (Call::ReadMark(read), Stage::Read(file)) if !repeats => {
                self.end(who, id, read.end(Some(&file.bytes), "the mark").into());
                return Some(());
            }
            (Call::Fetch(_), Stage::New) => {
                let segment = match repeats {
                    true => self.last?,
                    false => Segment::new(self.counter, self.counter + self.step, 1).ok()?,
                };
                if !repeats {
                    self.counter = segment.end();
                }
                self.last = Some(segment);
                Stage::Answered(segment)
            }
            (Call::Fetch(fetch), Stage::Answered(segment)) if !repeats => {
                self.end(who, id, fetch.end(Ok(Some(segment.into()))).into());
                return Some(());
            }
            (Call::UpdateMark(mut update), stage) if !repeats => {
                if self.locked.is_some_and(|holder| holder != who) {
                    return None;
                }
                match update.step(&self.file.bytes, FileFacts::of_store(WALL_MS), "the mark") {
                    FileStep::Write { offset, bytes, .. } if stage == Stage::New => {
                        self.file.write(offset, &bytes[..]);
                        self.locked = Some(who);
                        self.clients[who].calls.push(UnderWay {
                            id,
                            call: Call::UpdateMark(update),
                            stage: Stage::Written,
                        });
                        return Some(());
                    }
                    _ => {
                        self.end(who, id, update.end().into());
                        return Some(());
                    }
                }
            }
            _ => return None,
        };
        self.clients[who].calls.push(UnderWay { id, call, stage });
        Some(())
    }

    /// The call that is under way is reported as failed, whatever effect it had.
    fn fails(&mut self, who: usize) -> Option<()> {
        let UnderWay { id, call, .. } = self.clients[who].calls.pop()?;
        let end = match call {
            Call::ReadMark(read) => read.failed("the mark", &SharedFailure::Replaced).into(),
            Call::UpdateMark(update) => update.failed("the mark", &SharedFailure::Replaced).into(),
            Call::Fetch(fetch) => fetch.failed("as the model says").into(),
            _ => return None,
        };
        self.end(who, id, end);
        Some(())
    }

    /// The host carries out the call, but for the write.
    fn forgets(&mut self, who: usize) -> Option<()> {
        let UnderWay { id, call, stage } = self.clients[who].calls.pop()?;
        let Call::UpdateMark(mut update) = call else { return None };
        if stage != Stage::New || self.locked.is_some() {
            return None;
        }
        update.step(&self.file.bytes, FileFacts::of_store(WALL_MS), "the mark");
        self.end(who, id, update.end().into());
        Some(())
    }

    /// What happens without further faults: whether this process issues a new id soon.
    fn goes_on(mut self, who: usize) -> bool {
        self.counter = self.counter.max(self.file.mark.mark.0);
        let (until, issued) = (self.boot() + SOON, self.issued.len());
        if let Some(other) = self.locked.filter(|&other| other != who) {
            while self.locked.is_some() && self.go(other, false).is_some() {}
        }
        while self.boot() < until && self.wrong.is_none() {
            self.drive(who);
            while self.go(who, false).is_some() {
                self.drive(who);
            }
            if self.issued.len() > issued {
                return self.wrong.is_none();
            }
            if self.ask(who).is_none() {
                self.passed += 1;
            }
        }
        false
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let begin = |(order, step)| State {
            step,
            order,
            passed: 0,
            counter: FIRST,
            last: None,
            file: File::used(order),
            locked: None,
            clients: [Client::new(order, step), Client::new(order, step)],
            issued: BTreeSet::new(),
            starts: 2,
            restores: 0,
            faults: 0,
            wrong: None,
        };
        [(IdOrder::Ascending, 1), (IdOrder::Ranges, 1), (IdOrder::Ranges, 2)].map(begin).into()
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong.is_some() || state.issued.len() == self.bounds.ids {
            return;
        }
        if state.passed < self.bounds.ticks {
            events.push(Event::Pass);
        }
        for who in 0..2 {
            events.extend([Event::Ask(who), Event::Go(who)]);
            if state.faults < self.bounds.faults {
                events.extend([
                    Event::Fails(who),
                    Event::EndsAgain(who),
                    Event::ForgetsToWrite(who),
                    Event::SourceRepeats(who),
                    Event::CallerLeaves(who),
                ]);
            }
            if state.starts < self.bounds.starts {
                events.push(Event::Kill(who));
            }
        }
        if state.restores < self.bounds.restores && state.counter > FIRST {
            events.push(Event::Restore);
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        if !matches!(event, Event::Pass | Event::Ask(_) | Event::Go(_) | Event::Kill(_) | Event::Restore) {
            state.faults += 1;
        }
        match event {
            Event::Pass => state.passed += 1,
            Event::Ask(who) => state.ask(who)?,
            Event::Go(who) => state.go(who, false)?,
            Event::SourceRepeats(who) => state.go(who, true)?,
            Event::Fails(who) => state.fails(who)?,
            Event::ForgetsToWrite(who) => state.forgets(who)?,
            Event::EndsAgain(who) => {
                let (id, end) = state.clients[who].ended.take()?;
                let clocks = state.clocks();
                state.clients[who].supply.done(id, end, clocks);
            }
            Event::CallerLeaves(who) => {
                let ticket = state.clients[who].waits.take()?;
                let clocks = state.clocks();
                state.clients[who].supply.cancel(ticket, clocks);
            }
            Event::Kill(who) => {
                state.starts += 1;
                state.locked = state.locked.filter(|&holder| holder != who);
                state.clients[who] = Client::new(state.order, state.step);
            }
            Event::Restore => {
                state.restores += 1;
                state.counter = FIRST;
            }
        }
        (0..2).for_each(|who| state.drive(who));
        if state.faults == self.bounds.faults {
            // Nothing ends again from here on.
            state.clients.iter_mut().for_each(|client| client.ended = None);
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Model>> {
        vec![
            Property::always("no id is issued twice", |_, state: &State| {
                state.wrong != Some(Wrong::IssuedTwice)
            }),
            Property::always("no id is at or above the durable mark", |_, state: &State| {
                state.wrong != Some(Wrong::AboveMark)
            }),
            Property::always("a tag has one call at a time", |_, state: &State| {
                state.wrong != Some(Wrong::TwoCalls)
            }),
            Property::always("each process issues ids again after the faults", |_, state: &State| {
                state.wrong.is_some() || (0..2).all(|who| state.clone().goes_on(who))
            }),
            Property::sometimes("a process waits for the lock", |_, state: &State| {
                state.locked.is_some_and(|holder| {
                    let is_update = |call: &UnderWay| matches!(call.call, Call::UpdateMark(_));
                    state.clients[1 - holder].calls.iter().any(is_update)
                })
            }),
            Property::sometimes("an id is issued after a kill and a restore", |model, state: &State| {
                state.starts == model.bounds.starts
                    && state.restores == model.bounds.restores
                    && !state.issued.is_empty()
            }),
        ]
    }
}
