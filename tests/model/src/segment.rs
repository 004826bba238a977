//! Two processes of one state directory, and a source of segments that repeats itself or goes back.
//!
//! Assumed: a lock lets one process at a time compare segments with the mark and write it (`storage/shared_file.rs`). A
//! write that failed left the mark as it was. An operator raises the counter of a source that went back.
//!
//! Faults: the source goes back, or repeats its last answer; a request fails; a mark is not written; a process is killed.

use crate::bounds::Bounds;
use leafid_core::{
    AdaptiveStep, BreakerAction, CircuitBreaker, Code, DoubleBuffer, Error, FetchAction, FetchEnd,
    FetchPhase, FetchState, Filler, Guard, IdOrder, PendingSegments, SHORTEST_MS, Segment, ServersReadiness,
};
use stateright::Property;
use std::collections::BTreeSet;

/// The number of ids of a segment.
const STEP: i64 = 2;
/// The time that passes at once. The back-off of a call that is waited for is at most 400 ms.
const PASS_MS: i64 = 500;
const PREFETCH: u32 = 10;

pub struct Model {
    pub bounds: Bounds,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    passed: i64,
    /// The next id of the source's counter.
    counter: i64,
    last: Option<Segment>,
    /// As the mark's file holds it.
    mark: Guard,
    clients: [Client; 2],
    issued: BTreeSet<i64>,
    starts: u32,
    faults: u32,
    wrong: Option<Wrong>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    fetch: FetchState,
    breaker: CircuitBreaker<()>,
    pending: PendingSegments,
    buffer: Buffer,
    /// The request under way.
    asked: Option<Asked>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asked {
    /// The mark before it.
    after: i64,
    wanted: i64,
    answer: Option<Segment>,
}

/// A double buffer as plain data: the calls that changed it. The real one, which has atomics, is made again from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Buffer(Vec<Call>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Take,
    Offer(Segment),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Pass,
    Ask(usize),
    Answer(usize),
    Receive(usize),
    Take(usize),
    SourceGoesBack,
    SourceRepeats(usize),
    RequestFails(usize),
    MarkIsNotWritten(usize),
    Kill(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    IssuedTwice,
    AboveMark,
}

fn error(code: Code) -> Error {
    Error::new(code, "as the model says")
}

impl Buffer {
    fn real(&self) -> (DoubleBuffer, Filler) {
        let (buffer, mut filler) = DoubleBuffer::new();
        for call in &self.0 {
            match call {
                Call::Take => drop(buffer.take()),
                Call::Offer(segment) => drop(buffer.offer(&mut filler, *segment, PREFETCH)),
            }
        }
        (buffer, filler)
    }

    fn take(&mut self) -> Option<i64> {
        let (id, _) = self.real().0.take().ok()?;
        self.0.push(Call::Take);
        Some(id)
    }

    fn offer(&mut self, segment: Segment) -> bool {
        let (buffer, mut filler) = self.real();
        let is_taken = buffer.offer(&mut filler, segment, PREFETCH).is_ok();
        if is_taken {
            self.0.push(Call::Offer(segment));
        }
        is_taken
    }

    fn wants_fetch(&self) -> bool {
        let (buffer, filler) = self.real();
        buffer.wants_fetch(&filler)
    }
}

impl Client {
    fn new() -> Client {
        Client {
            fetch: FetchState::new(AdaptiveStep::new(STEP, false)),
            breaker: CircuitBreaker::new(),
            pending: PendingSegments::new(),
            buffer: Buffer::default(),
            asked: None,
        }
    }

    /// As `TagState::refill`.
    fn refill(&mut self) {
        while let Some(segment) = self.pending.first(u64::MAX)
            && self.buffer.offer(segment)
        {
            self.pending.drop_first(segment.len());
        }
    }

    /// As `segments/fetcher.rs` for a caller that waits: `want`, `look`, then `fetch`.
    fn ask(&mut self, after: i64, now_ms: i64) -> Option<()> {
        self.refill();
        if !self.buffer.wants_fetch() {
            return None;
        }
        // Its timer is due by then, if it set one.
        if let FetchAction::WakeAt(at_ms) = self.fetch.poll(true, true, now_ms) {
            return self.fetch.timer(at_ms.min(now_ms)).then_some(());
        }
        if self.fetch.phase() != FetchPhase::Queued {
            return None;
        }
        let probes = match self.breaker.timer(now_ms) {
            BreakerAction::Probe(()) => true,
            BreakerAction::Release(..) => false,
            BreakerAction::WakeAt(_) => return None,
            BreakerAction::Wait => {
                self.breaker.enter(&(), false, true, now_ms) == Some(BreakerAction::Probe(()))
            }
        };
        if self.breaker.is_down() && !probes {
            return None;
        }
        let plan = self.fetch.begin(Some(0), STEP, now_ms)?;
        self.asked = Some(Asked { after, wanted: plan.wanted, answer: None });
        Some(())
    }

    /// As `Fetcher::ended`.
    fn ended(&mut self, wanted: i64, outcome: Result<Segment, Error>, now_ms: i64) {
        let failed = FetchEnd::Failed { requests: 1, servers: ServersReadiness::BackOff(SHORTEST_MS) };
        let end = match outcome {
            Ok(segment) => {
                self.fetch.succeeded(wanted, None, None, now_ms);
                self.pending.push_back(segment);
                self.refill();
                FetchEnd::Answered
            }
            Err(error) => {
                let end = if error.code() == Code::SegmentUnavailable { failed } else { FetchEnd::Answered };
                self.fetch.failed(error, false, false, now_ms, 0);
                end
            }
        };
        self.breaker.ended(&(), end, now_ms, 0);
    }
}

impl State {
    fn now_ms(&self) -> i64 {
        self.passed * PASS_MS
    }

    fn answer(&mut self, who: usize, repeats: bool) -> Option<()> {
        let asked = self.clients[who].asked.as_mut().filter(|asked| asked.answer.is_none())?;
        let segment = match repeats {
            true => self.last?,
            false => {
                let segment = Segment::new(self.counter, self.counter + STEP, 1).ok()?;
                self.counter += STEP;
                segment
            }
        };
        (asked.answer, self.last) = (Some(segment), Some(segment));
        Some(())
    }

    /// As `HighWaterMarks::accept`: compared, made durable, then used.
    fn receive(&mut self, who: usize, is_written: bool) -> Option<()> {
        let now_ms = self.now_ms();
        let client = &mut self.clients[who];
        let segment = client.asked.as_ref()?.answer?;
        let Asked { after, wanted, .. } = client.asked.take()?;
        let mut mark = self.mark.clone();
        let outcome = mark.offer(segment, after).map(|()| segment);
        let outcome = if is_written { outcome } else { outcome.and(Err(error(Code::StateIo))) };
        if outcome.is_ok() {
            self.mark = mark;
        }
        client.ended(wanted, outcome, now_ms);
        Some(())
    }

    fn take(&mut self, who: usize) -> Option<()> {
        let id = self.clients[who].buffer.take()?;
        self.clients[who].refill();
        if !self.issued.insert(id) {
            self.wrong = Some(Wrong::IssuedTwice);
        } else if id >= self.mark.mark() {
            self.wrong = Some(Wrong::AboveMark);
        }
        Some(())
    }

    /// What happens without further faults: whether this process issues an id that is new.
    fn goes_on(mut self, who: usize) -> bool {
        self.counter = self.counter.max(self.mark.mark());
        for _ in 0..12 {
            if self.take(who).is_some() {
                return self.wrong.is_none();
            }
            let (after, now_ms) = (self.mark.mark(), self.now_ms());
            self.clients[who].ask(after, now_ms);
            self.answer(who, false);
            self.receive(who, true);
            self.passed += 1;
        }
        false
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let begin = |order| State {
            passed: 1,
            counter: 1,
            last: None,
            mark: Guard::new(order),
            clients: [Client::new(), Client::new()],
            issued: BTreeSet::new(),
            starts: 2,
            faults: 0,
            wrong: None,
        };
        [IdOrder::Ascending, IdOrder::Ranges, IdOrder::Sparse].map(begin).into()
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong.is_some() || state.issued.len() == self.bounds.ids {
            return;
        }
        if state.passed <= self.bounds.ticks as i64 {
            events.push(Event::Pass);
        }
        for who in 0..2 {
            events.extend([Event::Ask(who), Event::Answer(who), Event::Receive(who), Event::Take(who)]);
            if state.faults < self.bounds.faults {
                events.extend([
                    Event::SourceRepeats(who),
                    Event::RequestFails(who),
                    Event::MarkIsNotWritten(who),
                ]);
                if state.starts < self.bounds.starts {
                    events.push(Event::Kill(who));
                }
            }
        }
        if state.faults < self.bounds.faults {
            events.push(Event::SourceGoesBack);
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        let (after, now_ms) = (state.mark.mark(), state.now_ms());
        match event {
            Event::Pass => state.passed += 1,
            Event::Ask(who) => state.clients[who].ask(after, now_ms)?,
            Event::Answer(who) => state.answer(who, false)?,
            Event::Receive(who) => state.receive(who, true)?,
            Event::Take(who) => state.take(who)?,
            _ => state.faults += 1,
        }
        match event {
            Event::SourceGoesBack => state.counter = 1,
            Event::SourceRepeats(who) => state.answer(who, true)?,
            Event::MarkIsNotWritten(who) => state.receive(who, false)?,
            Event::RequestFails(who) => {
                let Asked { wanted, .. } = state.clients[who].asked.take()?;
                state.clients[who].ended(wanted, Err(error(Code::SegmentUnavailable)), now_ms);
            }
            Event::Kill(who) => {
                state.starts += 1;
                state.clients[who] = Client::new();
            }
            _ => {}
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
            Property::always("each process issues ids again after the faults", |_, state: &State| {
                (0..2).all(|who| state.clone().goes_on(who))
            }),
            Property::sometimes("both processes issue ids", |_, state: &State| {
                state.clients.iter().all(|client| client.buffer.0.contains(&Call::Take))
            }),
            Property::sometimes("a circuit breaker is open", |_, state: &State| {
                state.clients.iter().any(|client| client.breaker.is_down())
            }),
            Property::sometimes("a segment is refused", |_, state: &State| {
                let refused = |client: &Client| {
                    client.fetch.error().is_some_and(|error| error.code() == Code::SegmentRegressed)
                };
                state.clients.iter().any(refused)
            }),
        ]
    }
}
