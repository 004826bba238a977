//! Three processes without records, on hosts whose clocks differ, and a server that leases them one worker id.
//!
//! Assumed: the server stores the end of a span before it answers, and lowers it only for a release (docs/LEASES.md). It
//! may lose everything else, such as the holder in its last commit. Requests and answers arrive in any order, late, or
//! never. An answer repeats the number of its request, and one that repeats another is not used (`worker/`).
//!
//! Faults: a process is killed; a call times out, and its request or answer arrives later; a request arrives twice; an
//! answer goes to another call; the server forgets its holder.

use crate::bounds::Bounds;
use crate::generator::Generator;
use leafid_core::{
    Admission, Code, Error, ExtensionAction, HeldLease, Layout, LayoutFields, Lease, LeaseLoss, LossAction,
    Order, Record, Renewal, RenewalAnswer, RenewalEnd, Rules, SPAN_WISH_MS, Span, SpanExtension, next_until,
};
use stateright::Property;
use std::collections::BTreeSet;
use std::time::Duration;

const TICK_MS: i64 = 1_000;
/// All times are whole ticks. The server's clock begins here, and those of the processes apart from it.
const START: i64 = 20;
const CLOCKS: [i64; 3] = [0, -1, 1];
const LEASE_MS: i64 = TICK_MS;
/// A call that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Model {
    pub bounds: Bounds,
    /// At most three.
    pub processes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    passed: i64,
    server: Row,
    processes: Vec<Process>,
    /// On their way.
    requests: BTreeSet<Request>,
    answers: BTreeSet<Answer>,
    /// The number of calls so far: each has its own.
    calls: u32,
    issued: BTreeSet<i64>,
    starts: u32,
    faults: u32,
    wrong: Option<Wrong>,
}

/// The worker id at the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Row {
    from_ms: i64,
    until_ms: i64,
    /// What it may forget.
    holder: Option<RowHolder>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RowHolder {
    ends_ms: i64,
    token: u32,
    /// The claim that got it, which may come again.
    claim: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    from: usize,
    call: u32,
    what: Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Ask {
    Claim { wish_ms: i64 },
    Renew { token: u32, wish_ms: i64 },
    Release { token: u32, until_ms: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Answer {
    to: usize,
    call: u32,
    what: Told,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Told {
    Claimed {
        from_ms: i64,
        until_ms: i64,
        token: u32,
    },
    Renewed {
        until_ms: i64,
        token: u32,
    },
    /// The worker id is another's.
    No,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Process {
    Idle,
    Claiming(Claim),
    Open(Box<Open>),
    /// Sealed at this tick, with a renewal under way.
    Closing {
        held: HeldLease,
        call: u32,
        first_unused: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Claim {
    call: u32,
    /// The boot time of its first try, which is when its lease begins.
    asked: Duration,
    /// The round of a claim after a loss.
    round: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Open {
    generator: Generator,
    record: Record,
    extension: SpanExtension,
    held: HeldLease,
    /// The renewal under way, and the boot time before it.
    renewal: Option<(u32, Duration)>,
    loss: Option<LeaseLoss>,
    claim: Option<Claim>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Pass,
    Claim(usize),
    Renew(usize),
    NextId(usize),
    Close(usize),
    Serve(Request),
    Receive(Answer),
    Kill(usize),
    TimeOut(usize),
    ServeTwice(Request),
    ReceiveAsAnother(Answer, usize),
    ServerForgets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    IssuedTwice,
    OutsideLease,
}

fn layout() -> Layout {
    let (timestamp_bits, worker_bits, sequence_bits) = (20, 0, 0);
    let (order, tick_ms) = (Order::WorkerSequence, TICK_MS);
    let fields = LayoutFields { epoch_ms: 0, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
    Layout::new(fields).expect("at most 63 bits")
}

fn rules() -> Rules {
    Rules { max_backwards_ms: 3 * TICK_MS, random_start: 0, ..Rules::default() }
}

fn failed(why: &str) -> Error {
    Error::new(Code::WorkerLost, why)
}

impl Row {
    /// As docs/LEASES.md wants it.
    fn serve(&mut self, request: &Request, now_ms: i64) -> Option<Told> {
        let latest_ms = now_ms + LEASE_MS + TICK_MS;
        let held_by = |token| self.holder.as_ref().is_some_and(|holder| holder.token == token);
        Some(match request.what {
            Ask::Claim { wish_ms } => match &self.holder {
                Some(RowHolder { claim, token, .. }) if *claim == Some(request.call) => {
                    Told::Claimed { from_ms: self.from_ms, until_ms: self.until_ms, token: *token }
                }
                Some(RowHolder { ends_ms, .. }) if *ends_ms > now_ms => Told::No,
                _ if self.until_ms > now_ms => Told::No,
                _ => {
                    self.from_ms = self.until_ms;
                    self.until_ms = wish_ms.min(latest_ms).max(self.from_ms + TICK_MS);
                    let (token, claim) = (request.call, Some(request.call));
                    self.holder = Some(RowHolder { ends_ms: now_ms + LEASE_MS, token, claim });
                    Told::Claimed { from_ms: self.from_ms, until_ms: self.until_ms, token }
                }
            },
            Ask::Renew { token, wish_ms } if held_by(token) => {
                self.until_ms = wish_ms.min(latest_ms).max(self.until_ms);
                let token = request.call;
                self.holder = Some(RowHolder { ends_ms: now_ms + LEASE_MS, token, claim: None });
                Told::Renewed { until_ms: self.until_ms, token }
            }
            Ask::Release { token, until_ms } if held_by(token) => {
                self.until_ms = until_ms.max(self.from_ms).min(self.until_ms);
                self.holder = None;
                return None;
            }
            Ask::Renew { .. } => Told::No,
            Ask::Release { .. } => return None,
        })
    }
}

impl Open {
    /// As `worker/claim.rs`: `floor` is above all that this process issued before.
    fn begin(
        lease: Lease,
        claim: Claim,
        floor: u64,
        now_ms: i64,
        boot_time: Duration,
    ) -> Result<Open, Error> {
        let (layout, rules) = (layout(), rules());
        let span = lease.span(&layout, &rules, now_ms)?;
        // Its host knows no record of the worker id.
        let record = Record::unused(0, layout).raised_to(span.from.max(floor));
        let from = match record.admit(&rules, now_ms) {
            Admission::From(tick) => tick,
            Admission::WaitUntil(_) => return Err(failed("it would wait")),
            Admission::Refused(error) => return Err(error),
        };
        let until =
            next_until(&layout, &rules, &[], from, now_ms, 0).unwrap_or(from).min(span.until).max(from);
        let first = Span { from, until };
        let mut generator = Generator::new(layout, rules, 0, from);
        generator.grant(first);
        Ok(Open {
            generator,
            record: record.begin(first, now_ms, 0),
            extension: SpanExtension::new(boot_time),
            held: HeldLease::new(lease, span, claim.asked, now_ms, PATIENCE),
            renewal: None,
            loss: None,
            claim: None,
        })
    }

    /// As `snowflake/generator.rs` renews, for a caller that waits for a span. Its record is written at once. Returns the
    /// call to make.
    fn renew(&mut self, call: u32, now_ms: i64, boot_time: Duration) -> Option<Ask> {
        if self.loss.is_some() {
            return self.claim_again(call, now_ms, boot_time);
        }
        let lease_until = self.held.bound(boot_time);
        let first_unused = self.generator.first_unused();
        let action =
            self.extension.poll(&rules(), &self.record, first_unused, lease_until, now_ms, boot_time);
        if let ExtensionAction::Extend(span) = action {
            self.record = self.record.extend(span, now_ms);
            self.generator.grant(span);
        }
        let short = action == ExtensionAction::LeaseShort;
        if let Some(request) = self.held.begin_call(boot_time, now_ms, short) {
            self.renewal = Some((call, boot_time));
            let token = request.lease.token.expect("the server gave one");
            return Some(Ask::Renew { token: token.parse().expect("a number"), wish_ms: request.wish_ms });
        }
        if self.held.is_over(boot_time, layout().tick_at(now_ms).unwrap_or(0)) {
            self.lose(self.held.used_up(boot_time), boot_time);
            return self.claim_again(call, now_ms, boot_time);
        }
        None
    }

    fn lose(&mut self, why: Error, boot_time: Duration) {
        self.loss.get_or_insert_with(|| LeaseLoss::new(0, why, 0, boot_time));
    }

    /// As `snowflake/recovery.rs` begins.
    fn claim_again(&mut self, call: u32, now_ms: i64, boot_time: Duration) -> Option<Ask> {
        match self.loss.as_mut()?.poll(boot_time, PATIENCE, true) {
            LossAction::Claim(round) => {
                self.claim = Some(Claim { call, asked: boot_time, round });
                Some(Ask::Claim { wish_ms: now_ms + SPAN_WISH_MS })
            }
            LossAction::Wait(_) | LossAction::Failed(..) => None,
        }
    }

    fn take(&mut self, answer: RenewalAnswer, now_ms: i64, boot_time: Duration) {
        let Some((_, asked)) = self.renewal.take() else { return };
        if let RenewalEnd::Lost(why) = self.held.take(answer, &layout(), asked, boot_time, now_ms) {
            self.lose(why, boot_time);
        }
    }
}

impl Told {
    fn lease(self) -> Option<Lease> {
        let Told::Claimed { from_ms, until_ms, token } = self else { return None };
        let token = Some(token.to_string());
        Some(Lease {
            worker_id: 0,
            from_ms,
            until_ms,
            lease_ms: Some(LEASE_MS),
            token,
            peer_times_ms: Vec::new(),
        })
    }

    fn renewal(self) -> RenewalAnswer {
        match self {
            Told::Renewed { until_ms, token } => RenewalAnswer::Renewed(Renewal {
                worker_id: None,
                until_ms,
                lease_ms: Some(LEASE_MS),
                token: Some(token.to_string()),
            }),
            Told::No => RenewalAnswer::NotHeld,
            Told::Claimed { .. } => RenewalAnswer::Failed(failed("no renewal")),
        }
    }
}

impl State {
    fn now_ms(&self, who: usize) -> i64 {
        (START + self.passed + CLOCKS[who]) * TICK_MS
    }

    fn server_ms(&self) -> i64 {
        (START + self.passed) * TICK_MS
    }

    fn boot_time(&self) -> Duration {
        Duration::from_millis((100 + self.passed) as u64 * TICK_MS as u64)
    }

    fn ask(&mut self, from: usize, what: Ask) {
        self.requests.insert(Request { from, call: self.calls, what });
        self.calls += 1;
    }

    /// Begins a claim. One whose answer was lost is sent again as it was.
    fn claim(&mut self, who: usize) -> Option<()> {
        let wish_ms = self.now_ms(who) + SPAN_WISH_MS;
        match &self.processes[who] {
            Process::Idle => {
                let claim = Claim { call: self.calls, asked: self.boot_time(), round: 0 };
                self.processes[who] = Process::Claiming(claim);
                self.ask(who, Ask::Claim { wish_ms });
                Some(())
            }
            Process::Claiming(claim) => {
                let request = Request { from: who, call: claim.call, what: Ask::Claim { wish_ms } };
                let is_under_way = self.requests.iter().any(|sent| sent.call == claim.call)
                    || self.answers.iter().any(|answer| answer.call == claim.call);
                (!is_under_way && self.requests.insert(request)).then_some(())
            }
            _ => None,
        }
    }

    fn renew(&mut self, who: usize) -> Option<()> {
        let (call, now_ms, boot_time) = (self.calls, self.now_ms(who), self.boot_time());
        let Process::Open(open) = &mut self.processes[who] else { return None };
        let asks = open.renew(call, now_ms, boot_time);
        if let Some(what) = asks {
            self.ask(who, what);
        }
        Some(())
    }

    fn next_id(&mut self, who: usize) -> Option<()> {
        let now_ms = self.now_ms(who);
        let Process::Open(open) = &mut self.processes[who] else { return None };
        let id = open.generator.next(now_ms).ok()?;
        if !self.issued.insert(id) {
            self.wrong = Some(Wrong::IssuedTwice);
        } else if layout().tick_start_ms(id as u64) >= self.server.until_ms {
            self.wrong = Some(Wrong::OutsideLease);
        }
        Some(())
    }

    /// As `Generator::shut`: a lost lease is not released, and one that is being renewed after its answer.
    fn close(&mut self, who: usize) -> Option<()> {
        let Process::Open(open) = &self.processes[who] else { return None };
        if open.loss.is_some() {
            self.processes[who] = Process::Idle;
            return Some(());
        }
        let (first_unused, held) = (open.generator.first_unused(), open.held.clone());
        match open.renewal {
            Some((call, _)) => self.processes[who] = Process::Closing { held, call, first_unused },
            None => self.release(who, held, first_unused, None),
        }
        Some(())
    }

    fn release(&mut self, who: usize, held: HeldLease, first_unused: u64, late: Option<RenewalAnswer>) {
        self.processes[who] = Process::Idle;
        if let Some(lease) = held.into_released(late) {
            let token = lease.token.and_then(|token| token.parse().ok()).expect("the server gave one");
            self.ask(who, Ask::Release { token, until_ms: layout().tick_start_ms(first_unused) });
        }
    }

    fn serve(&mut self, request: Request) {
        let now_ms = self.server_ms();
        if let Some(what) = self.server.serve(&request, now_ms) {
            self.answers.insert(Answer { to: request.from, call: request.call, what });
        }
    }

    /// An answer comes to this process. `is_own`: as the answer of the call that it belongs to.
    fn receive(&mut self, who: usize, answer: Answer) -> Option<()> {
        let (now_ms, boot_time) = (self.now_ms(who), self.boot_time());
        match &mut self.processes[who] {
            Process::Claiming(claim) if claim.call == answer.call => {
                let begun = answer.what.lease().ok_or_else(|| failed("no id is free"));
                self.processes[who] =
                    match begun.and_then(|lease| Open::begin(lease, *claim, 0, now_ms, boot_time)) {
                        Ok(open) => Process::Open(Box::new(open)),
                        // Its lease ends by itself.
                        Err(_) => Process::Idle,
                    };
            }
            Process::Open(open) => match (open.renewal, open.claim) {
                (Some((call, _)), _) => {
                    let is_own = call == answer.call;
                    let answer = if is_own {
                        answer.what.renewal()
                    } else {
                        RenewalAnswer::Failed(failed("another's"))
                    };
                    open.take(answer, now_ms, boot_time);
                }
                (None, Some(claim)) => {
                    let lease = answer.what.lease().filter(|_| claim.call == answer.call);
                    self.claimed_again(who, claim, lease);
                }
                (None, None) => {}
            },
            Process::Closing { held, call, first_unused } if *call == answer.call => {
                let (held, first_unused) = (held.clone(), *first_unused);
                self.release(who, held, first_unused, Some(answer.what.renewal()));
            }
            // Nobody waits for it any more.
            Process::Claiming(_) | Process::Closing { .. } | Process::Idle => {}
        }
        Some(())
    }

    /// As `snowflake/recovery.rs` ends: the old generator is sealed before the next one begins.
    fn claimed_again(&mut self, who: usize, claim: Claim, lease: Option<Lease>) {
        let (now_ms, boot_time) = (self.now_ms(who), self.boot_time());
        let Process::Open(open) = &mut self.processes[who] else { return };
        open.claim = None;
        let Some(loss) = open.loss.as_mut().filter(|loss| loss.is_current(claim.round)) else { return };
        if let Some(first_unused) = open.generator.seal() {
            loss.sealed(first_unused);
        }
        let begun = lease.ok_or_else(|| failed("no id is free"));
        match begun.and_then(|lease| Open::begin(lease, claim, loss.floor(), now_ms, boot_time)) {
            Ok(next) => self.processes[who] = Process::Open(Box::new(next)),
            Err(error) => loss.claim_failed(claim.round, &error, boot_time),
        }
    }

    fn time_out(&mut self, who: usize) -> Option<()> {
        let (now_ms, boot_time) = (self.now_ms(who), self.boot_time());
        match &mut self.processes[who] {
            Process::Open(open) if open.renewal.is_some() => {
                open.take(RenewalAnswer::Failed(failed("no answer")), now_ms, boot_time);
            }
            Process::Open(open) if open.claim.is_some() => {
                let claim = open.claim.take()?;
                open.loss.as_mut()?.claim_failed(claim.round, &failed("no answer"), boot_time);
            }
            Process::Claiming(_) | Process::Closing { .. } => self.processes[who] = Process::Idle,
            Process::Open(_) | Process::Idle => return None,
        }
        Some(())
    }

    /// Drops the answers for which nobody waits any more.
    fn drop_answers(&mut self) {
        let waits = |process: &Process, call| match process {
            Process::Idle => false,
            Process::Claiming(claim) => claim.call == call,
            Process::Closing { call: renewal, .. } => *renewal == call,
            Process::Open(open) => {
                open.renewal.is_some_and(|(renewal, _)| renewal == call)
                    || open.claim.is_some_and(|claim| claim.call == call)
            }
        };
        let processes = &self.processes;
        self.answers.retain(|answer| waits(&processes[answer.to], answer.call));
    }

    /// What happens without further faults, when all other processes end: whether this one issues an id then.
    fn goes_on(mut self, who: usize) -> bool {
        for other in (0..self.processes.len()).filter(|other| *other != who) {
            self.processes[other] = Process::Idle;
        }
        for _ in 0..16 {
            // A renewal that is refused, a claim, an id.
            for _ in 0..3 {
                self.claim(who);
                self.renew(who);
                std::mem::take(&mut self.requests).into_iter().for_each(|request| self.serve(request));
                for answer in std::mem::take(&mut self.answers) {
                    self.receive(answer.to, answer);
                }
                if self.next_id(who).is_some() {
                    return true;
                }
            }
            // What was lost on its way.
            self.time_out(who);
            self.passed += 1;
        }
        false
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            passed: 0,
            server: Row::default(),
            processes: vec![Process::Idle; self.processes],
            requests: BTreeSet::new(),
            answers: BTreeSet::new(),
            calls: 0,
            issued: BTreeSet::new(),
            starts: 0,
            faults: 0,
            wrong: None,
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong.is_some() || state.issued.len() == self.bounds.ids {
            return;
        }
        if state.passed < self.bounds.ticks as i64 {
            events.push(Event::Pass);
        }
        let fails = state.faults < self.bounds.faults;
        for (who, process) in state.processes.iter().enumerate() {
            match process {
                Process::Idle if state.starts < self.bounds.starts => events.push(Event::Claim(who)),
                Process::Idle => continue,
                Process::Claiming(_) => events.push(Event::Claim(who)),
                Process::Open(_) => events.extend([Event::Renew(who), Event::NextId(who), Event::Close(who)]),
                Process::Closing { .. } => {}
            }
            if fails && !matches!(process, Process::Idle) {
                events.extend([Event::Kill(who), Event::TimeOut(who)]);
            }
        }
        events.extend(state.requests.iter().map(|request| Event::Serve(*request)));
        events.extend(state.answers.iter().map(|answer| Event::Receive(*answer)));
        if fails {
            events.extend(state.requests.iter().map(|request| Event::ServeTwice(*request)));
            for answer in &state.answers {
                events.extend((0..state.processes.len()).map(|who| Event::ReceiveAsAnother(*answer, who)));
            }
            events.push(Event::ServerForgets);
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        match event {
            Event::Pass => state.passed += 1,
            Event::Claim(who) => {
                state.starts += u32::from(state.processes[who] == Process::Idle);
                state.claim(who)?;
            }
            Event::Renew(who) => state.renew(who)?,
            Event::NextId(who) => state.next_id(who)?,
            Event::Close(who) => state.close(who)?,
            Event::Serve(request) => {
                state.requests.remove(&request);
                state.serve(request);
            }
            Event::Receive(answer) => {
                state.answers.remove(&answer);
                state.receive(answer.to, answer)?;
            }
            _ => state.faults += 1,
        }
        match event {
            Event::Kill(who) => state.processes[who] = Process::Idle,
            Event::TimeOut(who) => state.time_out(who)?,
            Event::ServeTwice(request) => state.serve(request),
            // The answer stays for its own call, too.
            Event::ReceiveAsAnother(answer, who) => state.receive(who, answer)?,
            Event::ServerForgets => drop(state.server.holder.take()?),
            _ => {}
        }
        state.drop_answers();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Model>> {
        vec![
            Property::always("no id is issued twice", |_, state: &State| {
                state.wrong != Some(Wrong::IssuedTwice)
            }),
            Property::always("no id is outside what the server stored", |_, state: &State| {
                state.wrong != Some(Wrong::OutsideLease)
            }),
            Property::always("each process alone issues ids again after the faults", |_, state: &State| {
                (0..state.processes.len()).all(|who| state.clone().goes_on(who))
            }),
            Property::sometimes("a lost lease is replaced by another", |_, state: &State| {
                state.server.from_ms > 0
                    && state.processes.iter().any(
                        |process| matches!(process, Process::Open(open) if open.loss.is_some() && open.claim.is_some()),
                    )
            }),
            Property::sometimes("two processes issue ids", |_, state: &State| {
                let issues =
                    |process: &&Process| matches!(process, Process::Open(open) if open.generator.last >= 0);
                state.processes.iter().filter(issues).count() > 1
            }),
        ]
    }
}
