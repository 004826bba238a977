//! Three processes without records, on hosts whose clocks differ, and a server that leases them one worker id.
//!
//! Assumed: the server stores the end of a span before it answers, and lowers it only for a release (docs/LEASES.md). It
//! may lose everything else, such as the holder in its last commit. Requests and answers arrive in any order, late, or
//! never. An answer repeats the number of its request, and one that repeats another is not used (`worker/`).
//!
//! A server that breaks the first rule, and loses the whole of its last span, may give two processes one span. Even then
//! no process issues an id twice.
//!
//! Faults: a process is killed; a call times out, and its request or answer arrives later; a request arrives twice; an
//! answer goes to another call; the server forgets its holder, or the holder and its span.

use crate::bounds::LeaseBounds;
use crate::generator::Generator;
use leafid_core::snowflake::{
    ExtensionAction, HeldLease, LeaseLoss, LossAction, RenewalEnd, SPAN_WISH_MS, SpanExtension, Start,
    StartAction,
};
use leafid_core::{Code, Error, Layout, LayoutFields, Lease, Order, Record, Renewal, RenewalAnswer, Rules};
use stateright::Property;
use std::collections::BTreeSet;
use std::time::Duration;

const TICK_MS: i64 = 1_000;
/// All times are whole ticks. The server's clock begins here, and those of the processes apart from it.
const START: i64 = 20;
const LEASE_MS: i64 = TICK_MS;
/// A call that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Model {
    pub bounds: LeaseBounds,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    passed: i64,
    /// How far each process's clock is from the server's, in ticks.
    clocks: &'static [i64],
    server: Row,
    processes: Vec<Process>,
    /// On their way.
    requests: BTreeSet<Request>,
    answers: BTreeSet<Answer>,
    /// The call that ends before anything else happens.
    prompt: Option<u32>,
    /// The number of calls that may take longer.
    late: u32,
    /// The number of calls of each process: each call has a number of its own.
    calls: [u32; 3],
    issued: BTreeSet<i64>,
    starts: u32,
    faults: u32,
    /// Whether the server lost a span.
    lost_span: bool,
    wrong: Option<Wrong>,
}

/// The worker id at the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Row {
    /// How far a span may end after its lease.
    spare_ms: i64,
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
        ends_ms: i64,
    },
    Renewed {
        until_ms: i64,
        token: u32,
        ends_ms: i64,
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
        held: Box<HeldLease>,
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
    /// When the lease ends at the server, which no answer says.
    ends_ms: i64,
    /// The renewal under way, and the boot time before it.
    renewal: Option<(u32, Duration)>,
    loss: Option<LeaseLoss>,
    claim: Option<Claim>,
    /// All ids of this process.
    own: BTreeSet<i64>,
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
    ServerLosesSpan,
    /// A call takes longer.
    IsLate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    IssuedTwice,
    IssuedTwiceByOne,
    OutsideLease,
    AfterLease,
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
    /// A new one for each span, also for a claim that comes again after another holder.
    fn token(&self, request: &Request) -> u32 {
        1_000 * request.call + (self.from_ms / TICK_MS) as u32
    }

    /// As docs/LEASES.md wants it.
    fn serve(&mut self, request: &Request, now_ms: i64) -> Option<Told> {
        let latest_ms = now_ms + LEASE_MS + self.spare_ms;
        let held_by = |token| self.holder.as_ref().is_some_and(|holder| holder.token == token);
        Some(match request.what {
            Ask::Claim { wish_ms } => match &self.holder {
                Some(RowHolder { claim, token, ends_ms }) if *claim == Some(request.call) => {
                    let (from_ms, until_ms) = (self.from_ms, self.until_ms);
                    Told::Claimed { from_ms, until_ms, token: *token, ends_ms: *ends_ms }
                }
                Some(RowHolder { ends_ms, .. }) if *ends_ms > now_ms => Told::No,
                _ if self.until_ms > now_ms => Told::No,
                _ => {
                    self.from_ms = self.until_ms;
                    self.until_ms = wish_ms.min(latest_ms).max(self.from_ms + TICK_MS);
                    let (token, claim, ends_ms) =
                        (self.token(request), Some(request.call), now_ms + LEASE_MS);
                    self.holder = Some(RowHolder { ends_ms, token, claim });
                    Told::Claimed { from_ms: self.from_ms, until_ms: self.until_ms, token, ends_ms }
                }
            },
            Ask::Renew { token, wish_ms } if held_by(token) => {
                self.until_ms = wish_ms.min(latest_ms).max(self.until_ms);
                let (token, ends_ms) = (self.token(request), now_ms + LEASE_MS);
                self.holder = Some(RowHolder { ends_ms, token, claim: None });
                Told::Renewed { until_ms: self.until_ms, token, ends_ms }
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
    /// As `run/id_claim.rs`, without a record. `floor` is above all that this process issued before.
    fn begin(told: Told, claim: Claim, floor: u64, now_ms: i64, boot_time: Duration) -> Result<Open, Error> {
        let (lease, ends_ms) = told.lease().ok_or_else(|| failed("no id is free"))?;
        let (layout, rules) = (layout(), rules());
        let span = lease.span(&layout, &rules, now_ms)?;
        let start = Start {
            rules: &rules,
            lease: Some(span),
            floor,
            start_after: 0,
            no_record_wait_ms: 0,
            forgets: false,
        };
        let found = Record::unused(0, layout);
        let first = match start.poll(&found, now_ms) {
            StartAction::Begin { first, .. } => first,
            StartAction::WaitUntil(_) => return Err(failed("it would wait")),
            StartAction::Refused(error) => return Err(error),
        };
        let mut generator = Generator::new(layout, rules, 0, first.from);
        generator.grant(first);
        Ok(Open {
            generator,
            record: found.begin(first, now_ms, 0),
            extension: SpanExtension::new(boot_time),
            held: HeldLease::new(lease, span, claim.asked, now_ms, PATIENCE),
            ends_ms,
            renewal: None,
            loss: None,
            claim: None,
            own: BTreeSet::new(),
        })
    }

    /// As `run/seat.rs` renews, for a caller that waits for a span. Its record is written at once. Returns the
    /// call to make, and whether a span was granted.
    fn renew(&mut self, call: u32, now_ms: i64, boot_time: Duration) -> (Option<Ask>, bool) {
        if self.loss.is_some() {
            return (self.claim_again(call, now_ms, boot_time), false);
        }
        let lease_until = self.held.bound(boot_time);
        let first_unused = self.generator.first_unused();
        let action =
            self.extension.poll(&rules(), &self.record, first_unused, lease_until, now_ms, boot_time);
        let mut extends = false;
        if let ExtensionAction::Extend(span) = action {
            self.record = self.record.extend(span, now_ms);
            self.generator.grant(span);
            extends = true;
        }
        let short = action == ExtensionAction::LeaseShort;
        if let Some(request) = self.held.begin_call(boot_time, now_ms, short) {
            self.renewal = Some((call, boot_time));
            let token = request.lease.token.expect("the server gave one");
            let token = token.parse().expect("a number");
            return (Some(Ask::Renew { token, wish_ms: request.wish_ms }), extends);
        }
        if self.held.is_over(boot_time, layout().tick_at(now_ms).unwrap_or(0)) {
            self.lose(self.held.used_up(boot_time), boot_time);
            return (self.claim_again(call, now_ms, boot_time), extends);
        }
        (None, extends)
    }

    fn lose(&mut self, why: Error, boot_time: Duration) {
        self.loss.get_or_insert_with(|| LeaseLoss::new(0, why, 0, boot_time, PATIENCE));
    }

    /// As `run/order.rs` begins a round.
    fn claim_again(&mut self, call: u32, now_ms: i64, boot_time: Duration) -> Option<Ask> {
        match self.loss.as_mut()?.poll(boot_time, PATIENCE, true) {
            LossAction::Claim(round) => {
                self.claim = Some(Claim { call, asked: boot_time, round });
                Some(Ask::Claim { wish_ms: now_ms + SPAN_WISH_MS })
            }
            LossAction::Wait(_) | LossAction::Failed(..) => None,
        }
    }

    /// `told`: nothing after a failure.
    fn take(&mut self, told: Option<Told>, now_ms: i64, boot_time: Duration) {
        let Some((_, asked)) = self.renewal.take() else { return };
        let answer = told.map_or_else(|| RenewalAnswer::Failed(failed("no answer")), Told::renewal);
        match self.held.call_ended(answer, &layout(), asked, boot_time, now_ms) {
            RenewalEnd::Lost(why) => self.lose(why, boot_time),
            RenewalEnd::Kept => self.ends_ms = told.map_or(self.ends_ms, Told::ends_ms),
            RenewalEnd::Failed(_) => {}
        }
    }
}

impl Told {
    /// The lease, and its end at the server.
    fn lease(self) -> Option<(Lease, i64)> {
        let Told::Claimed { from_ms, until_ms, token, ends_ms } = self else { return None };
        let (lease_ms, token) = (Some(LEASE_MS), Some(token.to_string()));
        let lease = Lease { worker_id: 0, from_ms, until_ms, lease_ms, token, ..Lease::default() };
        Some((lease, ends_ms))
    }

    fn ends_ms(self) -> i64 {
        match self {
            Told::Claimed { ends_ms, .. } | Told::Renewed { ends_ms, .. } => ends_ms,
            Told::No => i64::MIN,
        }
    }

    fn renewal(self) -> RenewalAnswer {
        match self {
            Told::Renewed { until_ms, token, .. } => RenewalAnswer::Renewed(Renewal {
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
        (START + self.passed + self.clocks[who]) * TICK_MS
    }

    fn server_ms(&self) -> i64 {
        (START + self.passed) * TICK_MS
    }

    fn boot_time(&self) -> Duration {
        Duration::from_millis((100 + self.passed) as u64 * TICK_MS as u64)
    }

    /// The number of the next call of this process. The numbers of one do not depend on the other processes, so that
    /// fewer states differ.
    fn next_call(&self, who: usize) -> u32 {
        3 * self.calls[who] + who as u32
    }

    fn ask(&mut self, from: usize, what: Ask) {
        let call = self.next_call(from);
        self.requests.insert(Request { from, call, what });
        self.calls[from] += 1;
        self.prompt = Some(call);
    }

    fn is_under_way(&self, call: u32) -> bool {
        self.requests.iter().any(|request| request.call == call)
            || self.answers.iter().any(|answer| answer.call == call)
    }

    /// Begins a claim. One whose answer was lost is sent again as it was.
    fn claim(&mut self, who: usize) -> Option<()> {
        let wish_ms = self.now_ms(who) + SPAN_WISH_MS;
        match &self.processes[who] {
            Process::Idle => {
                let claim = Claim { call: self.next_call(who), asked: self.boot_time(), round: 0 };
                self.processes[who] = Process::Claiming(claim);
                self.ask(who, Ask::Claim { wish_ms });
                Some(())
            }
            Process::Claiming(claim) => {
                let request = Request { from: who, call: claim.call, what: Ask::Claim { wish_ms } };
                if self.is_under_way(claim.call) {
                    return None;
                }
                self.prompt = Some(claim.call);
                self.requests.insert(request);
                Some(())
            }
            _ => None,
        }
    }

    fn renew(&mut self, who: usize) -> Option<()> {
        let (call, now_ms, boot_time) = (self.next_call(who), self.now_ms(who), self.boot_time());
        let server_ms = self.server_ms();
        let Process::Open(open) = &mut self.processes[who] else { return None };
        let (asks, extends) = open.renew(call, now_ms, boot_time);
        if extends && server_ms >= open.ends_ms {
            self.wrong = Some(Wrong::AfterLease);
        }
        if let Some(what) = asks {
            self.ask(who, what);
        }
        Some(())
    }

    fn next_id(&mut self, who: usize) -> Option<()> {
        let now_ms = self.now_ms(who);
        let Process::Open(open) = &mut self.processes[who] else { return None };
        let id = open.generator.next(now_ms).ok()?;
        let (is_own, is_known) = (!open.own.insert(id), !self.issued.insert(id));
        if is_own {
            self.wrong = Some(Wrong::IssuedTwiceByOne);
        } else if self.lost_span {
            // Other processes may have it.
        } else if is_known {
            self.wrong = Some(Wrong::IssuedTwice);
        } else if layout().tick_start_ms(id as u64) >= self.server.until_ms {
            self.wrong = Some(Wrong::OutsideLease);
        }
        Some(())
    }

    /// As `Generator::shut`: a lost lease is not released, and one that is being renewed after its answer.
    fn close(&mut self, who: usize) -> Option<()> {
        let Process::Open(open) = &mut self.processes[who] else { return None };
        let (true, Some(first_unused)) = (open.loss.is_none(), open.generator.seal()) else {
            self.processes[who] = Process::Idle;
            return Some(());
        };
        let held = open.held.clone();
        match open.renewal {
            Some((call, _)) => {
                let held = Box::new(held);
                self.processes[who] = Process::Closing { held, call, first_unused };
            }
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
                self.processes[who] = match Open::begin(answer.what, *claim, 0, now_ms, boot_time) {
                    Ok(open) => Process::Open(Box::new(open)),
                    // Its lease ends by itself.
                    Err(_) => Process::Idle,
                };
            }
            Process::Open(open) => match (open.renewal, open.claim) {
                (Some((call, _)), _) => {
                    open.take(Some(answer.what).filter(|_| call == answer.call), now_ms, boot_time);
                }
                (None, Some(claim)) => {
                    let told = Some(answer.what).filter(|_| claim.call == answer.call);
                    self.claimed_again(who, claim, told.unwrap_or(Told::No));
                }
                (None, None) => {}
            },
            Process::Closing { held, call, first_unused } if *call == answer.call => {
                let (held, first_unused) = ((**held).clone(), *first_unused);
                self.release(who, held, first_unused, Some(answer.what.renewal()));
            }
            // Nobody waits for it any more.
            Process::Claiming(_) | Process::Closing { .. } | Process::Idle => {}
        }
        Some(())
    }

    /// As `run/order.rs` ends a round. A lease that comes after its round was given up ends by itself.
    fn claimed_again(&mut self, who: usize, claim: Claim, told: Told) {
        let (now_ms, boot_time) = (self.now_ms(who), self.boot_time());
        let Process::Open(open) = &mut self.processes[who] else { return };
        open.claim = None;
        let Open { generator, loss: Some(loss), own, .. } = &mut **open else { return };
        if told == Told::No {
            return loss.claim_failed(claim.round, &failed("no id is free"), boot_time);
        }
        let Some(floor) = loss.take_over(claim.round, || generator.seal()) else { return };
        match Open::begin(told, claim, floor, now_ms, boot_time) {
            Ok(next) => {
                let own = std::mem::take(own);
                self.processes[who] = Process::Open(Box::new(Open { own, ..next }));
            }
            Err(error) => loss.claim_failed(claim.round, &error, boot_time),
        }
    }

    fn time_out(&mut self, who: usize) -> Option<()> {
        let (now_ms, boot_time) = (self.now_ms(who), self.boot_time());
        match &mut self.processes[who] {
            Process::Open(open) if open.renewal.is_some() => {
                open.take(None, now_ms, boot_time);
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
        self.prompt = self.prompt.filter(|call| self.is_under_way(*call));
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
            clocks: self.bounds.clocks,
            server: Row { spare_ms: self.bounds.spare * TICK_MS, ..Row::default() },
            processes: vec![Process::Idle; self.bounds.clocks.len()],
            requests: BTreeSet::new(),
            answers: BTreeSet::new(),
            prompt: None,
            late: 0,
            calls: [0; 3],
            issued: BTreeSet::new(),
            starts: 0,
            faults: 0,
            lost_span: false,
            wrong: None,
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong.is_some() || state.issued.len() == self.bounds.ids {
            return;
        }
        if let Some(call) = state.prompt {
            if self.bounds.late.is_some_and(|most| state.late < most) {
                events.push(Event::IsLate);
            }
            let requests = state.requests.iter().filter(|request| request.call == call);
            events.extend(requests.map(|request| Event::Serve(*request)));
            let answers = state.answers.iter().filter(|answer| answer.call == call);
            return events.extend(answers.map(|answer| Event::Receive(*answer)));
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
            events.extend([Event::ServerForgets, Event::ServerLosesSpan]);
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
            Event::IsLate => {
                state.late += 1;
                state.prompt = None;
            }
            _ => state.faults += 1,
        }
        match event {
            Event::Kill(who) => state.processes[who] = Process::Idle,
            Event::TimeOut(who) => state.time_out(who)?,
            Event::ServeTwice(request) => state.serve(request),
            // The answer stays for its own call, too.
            Event::ReceiveAsAnother(answer, who) => state.receive(who, answer)?,
            Event::ServerForgets => {
                state.server.holder.take()?;
            }
            Event::ServerLosesSpan => {
                state.server.holder.take()?;
                state.server.until_ms = state.server.from_ms;
                state.lost_span = true;
            }
            _ => {}
        }
        state.drop_answers();
        if self.bounds.late.is_none() {
            state.prompt = None;
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Model>> {
        let all_meet = match self.bounds.starts {
            3 => "three holders are there at once, and each has issued an id",
            _ => "two holders are there at once, and each has issued an id",
        };
        vec![
            Property::always("no id is issued twice", |_, state: &State| {
                state.wrong != Some(Wrong::IssuedTwice)
            }),
            Property::always(
                "no process issues an id twice, whatever the server loses",
                |_, state: &State| state.wrong != Some(Wrong::IssuedTwiceByOne),
            ),
            Property::always("no id is outside what the server stored", |_, state: &State| {
                state.wrong != Some(Wrong::OutsideLease)
            }),
            Property::always("no span is granted after the end of the lease", |_, state: &State| {
                state.wrong != Some(Wrong::AfterLease)
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
            Property::sometimes(all_meet, |model: &Model, state: &State| {
                let issues =
                    |process: &&Process| matches!(process, Process::Open(open) if open.generator.last >= 0);
                state.processes.iter().filter(issues).count() == model.bounds.starts as usize
            }),
        ]
    }
}
