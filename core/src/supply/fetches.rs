//! The fetches of all tags: what each does next, and how it ends.

use super::agenda::{Agenda, MOST_TIMERS, Timer, Urgency};
use super::callers::{Caller, Callers, Outcome, Ticket, Wish};
use super::fetch_texts::{LateCall, closed, log_once, would_block};
use super::mark_calls::{MarkRead, MarkUpdate};
use super::settings::{SupplySettings, TagId};
use super::supply_call::{Accepted, Call, CallEnd, Ended, FetchCall, Notice};
use super::tag_supply::{Stage, TagSupply, Work};
use crate::call::CallId;
use crate::{
    CallLimit, CircuitBreaker, Code, Error, FetchAction, FetchEnd, FetchPhase, Fetched, Result, Run,
    ServersReadiness,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The largest number of ids that one fetch is asked for: as many as one call may take.
const MOST_NEED: u64 = 1 << 24;

/// The tags of a supply, and the source that they share.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    pub(super) settings: Arc<SupplySettings>,
    source_name: Arc<str>,
    pub(super) tags: BTreeMap<TagId, Box<TagSupply>>,
    pub(super) callers: Callers,
    pub(super) agenda: Agenda,
    pub(super) breaker: CircuitBreaker<TagId>,
    /// The calls that are under way.
    pub(super) calls: BTreeMap<CallId, TagId>,
    seed: u64,
    pub(super) is_closed: bool,
}

/// Whole milliseconds. A time that has come has come in milliseconds too.
pub(super) fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl Fetches {
    pub(super) fn new(settings: SupplySettings, limit: CallLimit, seed: u64) -> Fetches {
        Fetches {
            source_name: settings.source_name.as_str().into(),
            settings: Arc::new(settings),
            tags: BTreeMap::new(),
            callers: Callers::default(),
            agenda: Agenda::default(),
            breaker: CircuitBreaker::limited_to(limit),
            calls: BTreeMap::new(),
            seed,
            is_closed: false,
        }
    }

    /// Begins the wait of a caller, unless its ids are at hand.
    pub(super) fn wait(&mut self, id: TagId, wish: Wish, now: Duration) -> Ticket {
        let ticket = Ticket(self.agenda.number());
        let blocks = wish.blocks_at_most.is_some() && self.settings.source.is_deferred();
        let mut caller = Caller::new(id, wish, now);
        let Some(tag) = self.tags.get_mut(&id).filter(|_| !self.is_closed) else {
            caller.outcome = Some(Outcome::Failed(closed()));
            self.callers.insert(ticket, caller);
            return ticket;
        };
        if caller.left == 0 {
            caller.outcome = Some(Outcome::Given);
            self.callers.insert(ticket, caller);
            return ticket;
        }
        tag.line.get_or_insert_default().push(ticket, caller.left);
        caller.before = tag.fetch.begun();
        self.callers.insert(ticket, caller);
        self.serve(id, now);
        if let Some(caller) = self.waiting(ticket) {
            caller.waits_since = Some(now);
            self.count_wait(id);
            self.settle(id, now);
        }
        if let Some(caller) = self.waiting(ticket) {
            let at = caller.ends_at();
            if blocks || at <= now {
                let blocked = blocks || caller.blocks_until.is_some_and(|until| until <= now);
                self.fail(ticket, if blocked { Outcome::WouldBlock } else { Outcome::Late(now) }, now);
                self.settle(id, now);
            } else {
                caller.due = Some(at);
                self.agenda.set(at, Timer::Caller(ticket));
            }
        }
        self.callers.get_mut(ticket).into_iter().for_each(|caller| caller.is_quiet = false);
        ticket
    }

    fn waiting(&mut self, ticket: Ticket) -> Option<&mut Caller> {
        self.callers.get_mut(ticket).filter(|caller| caller.outcome.is_none())
    }

    fn count_wait(&mut self, id: TagId) {
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.counts().waits += 1);
    }

    /// Gives up a caller, or what it got.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Duration) {
        let Some(caller) = self.callers.get(ticket) else { return };
        let (id, was_given) = (caller.tag, caller.outcome == Some(Outcome::Given));
        self.fail(ticket, Outcome::WouldBlock, now);
        let Some(caller) = self.callers.remove(ticket) else { return };
        if was_given {
            self.put_back(id, &caller.runs, now);
        } else {
            self.settle(id, now);
        }
    }

    pub(super) fn put_back(&mut self, id: TagId, runs: &[Run], now: Duration) {
        if self.is_closed {
            return;
        }
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.put_back(runs));
        self.settle(id, now);
    }

    /// Ends a caller that waits without its ids; these are put back.
    fn fail(&mut self, ticket: Ticket, outcome: Outcome, now: Duration) {
        let Some(caller) = self.waiting(ticket) else { return };
        caller.outcome = Some(outcome);
        let (id, left, due, since) = (caller.tag, caller.left, caller.due.take(), caller.waits_since);
        let (runs, is_quiet) = (core::mem::take(&mut caller.runs), caller.is_quiet);
        if let Some(due) = due {
            self.agenda.unset(due, Timer::Caller(ticket));
        }
        if let Some(tag) = self.tags.get_mut(&id) {
            tag.put_back(&runs);
            if let Some(line) = &mut tag.line {
                line.leave(left, &self.callers);
            }
            if tag.waiting() == 0 {
                tag.line = None;
            }
            since.into_iter().for_each(|since| tag.counts().wait_times.add(now.saturating_sub(since)));
        }
        if !is_quiet {
            self.agenda.wake(ticket);
        }
    }

    /// Gives the ids at hand to the callers that wait.
    fn serve(&mut self, id: TagId, now: Duration) {
        let Some(tag) = self.tags.get_mut(&id) else { return };
        let mut served = Vec::new();
        tag.serve(&mut self.callers, now, |_, ticket, has_all| served.push((ticket, has_all)));
        for (ticket, has_all) in served {
            let Some(caller) = self.callers.get_mut(ticket) else { continue };
            if let Some(since) = caller.waits_since.filter(|since| *since < now || has_all) {
                tag.counts().wait_times.add(now.saturating_sub(since));
                tag.counts().waits += u64::from(!has_all);
                (caller.waits_since, caller.before) = (Some(now), tag.fetch.begun());
            }
            if has_all {
                caller.outcome = Some(Outcome::Given);
                if let Some(due) = caller.due.take() {
                    self.agenda.unset(due, Timer::Caller(ticket));
                }
                if !caller.is_quiet {
                    self.agenda.wake(ticket);
                }
            }
        }
    }

    /// Hands out what is there, tells callers of a refusal, and fetches if ids are wanted.
    pub(super) fn settle(&mut self, id: TagId, now: Duration) {
        loop {
            self.serve(id, now);
            if self.fail_refused(id, false, now) {
                continue;
            }
            self.decide(id, now);
            // Nothing is due that could change the answer.
            let idle = |tag: &TagSupply| tag.fetch.phase() == FetchPhase::Idle;
            if !self.tags.get(&id).is_some_and(|tag| idle(tag)) || !self.fail_refused(id, true, now) {
                return;
            }
        }
    }

    /// Ends the callers to whom the last fetch is an answer: the source does not know their tag, or denies it. Returns
    /// whether there were any.
    fn fail_refused(&mut self, id: TagId, all: bool, now: Duration) -> bool {
        let Some(tag) = self.tags.get(&id) else { return false };
        let (Some(error), Some(line)) = (tag.fetch.refused(), &tag.line) else { return false };
        let (error, ended) = (error.clone(), tag.fetch.ended());
        let is_told = |ticket: &Ticket| {
            let waits = self.callers.get(*ticket).filter(|caller| caller.outcome.is_none());
            waits.is_some_and(|caller| all || caller.before < ended)
        };
        let told: Vec<Ticket> = line.tickets().filter(is_told).collect();
        for ticket in &told {
            self.fail(*ticket, Outcome::Failed(error.clone()), now);
        }
        !told.is_empty()
    }

    /// Has a tag fetched, now or later, if its ids are used up, or soon will be.
    pub(super) fn decide(&mut self, id: TagId, now: Duration) {
        let (stock, prefetch) = (self.settings.stock(), self.settings.prefetch);
        let Some(tag) = self.tags.get_mut(&id).filter(|_| !self.is_closed) else { return };
        tag.refill(stock, prefetch);
        let waits = tag.waiting() > 0;
        if tag.fetch.is_fetching() {
            if let Some(place) = tag.place.filter(|_| waits) {
                tag.place = Some(self.agenda.move_up(id, place, Urgency::Waits));
            }
            return;
        }
        if tag.wants_fetch(stock).is_none() {
            return;
        }
        let urgent = waits || tag.is_low(stock);
        let action = tag.fetch.poll(waits, urgent, ms(now));
        if action != FetchAction::Nothing
            && let Some(due) = tag.due.take()
        {
            self.agenda.unset(due, Timer::Tag(id));
        }
        match action {
            FetchAction::Nothing => {}
            FetchAction::Fetch => {
                let urgency = if waits { Urgency::Waits } else { Urgency::Ahead };
                // While the source is down: the tag of a failed fetch may be at fault itself.
                let comes_first = self.breaker.is_down() && !tag.fetch.has_failed();
                tag.place = Some(self.agenda.queue(id, urgency, comes_first));
            }
            FetchAction::WakeAt(at_ms) => {
                let at = Duration::from_millis(u64::try_from(at_ms).unwrap_or(0));
                tag.due = Some(at);
                self.agenda.set(at, Timer::Tag(id));
            }
        }
    }

    /// Runs the timers whose time has come, a bounded number of them.
    pub(super) fn run_timers(&mut self, now: Duration) {
        let mut ran = 0;
        while let Some(timer) = self.agenda.due(now, ran) {
            ran += 1;
            match timer {
                Timer::Caller(ticket) => self.caller_timer(ticket, now),
                Timer::Tag(id) => {
                    let due = self.tags.get_mut(&id).and_then(|tag| {
                        let due = tag.due.take()?;
                        tag.fetch.timer(ms(due)).then_some(())
                    });
                    if due.is_some() {
                        self.settle(id, now);
                    }
                }
            }
        }
    }

    fn caller_timer(&mut self, ticket: Ticket, now: Duration) {
        let Some(caller) = self.waiting(ticket) else { return };
        let (id, at) = (caller.tag, caller.ends_at());
        if at > now {
            // It got ids meanwhile, and so has more time.
            caller.due = Some(at);
            return self.agenda.set(at, Timer::Caller(ticket));
        }
        caller.due = None;
        let blocked = caller.blocks_until.is_some_and(|until| until <= now);
        self.fail(ticket, if blocked { Outcome::WouldBlock } else { Outcome::Late(now) }, now);
        self.settle(id, now);
    }

    /// Whether a call can be handed out now.
    pub(super) fn has_calls(&self, now: Duration) -> bool {
        self.agenda.next().is_some_and(|((urgency, _), _)| {
            urgency == Urgency::GoesOn || self.breaker.opens_ms().is_some_and(|(at_ms, _)| at_ms <= ms(now))
        })
    }

    /// The next call.
    pub(super) fn next_call(&mut self, now: Duration) -> Option<(CallId, Call)> {
        for _ in 0..MOST_TIMERS {
            let (place, id) = self.agenda.next()?;
            let mut is_begun = place.0 == Urgency::GoesOn;
            if !is_begun {
                let (_, probes) = self.breaker.opens_ms().filter(|(at_ms, _)| *at_ms <= ms(now))?;
                is_begun = self.begin(id, probes, now);
            }
            self.agenda.leave(id, place);
            self.tags.get_mut(&id).into_iter().for_each(|tag| tag.place = None);
            if is_begun && let Some(call) = self.hand_out(id) {
                return Some(call);
            }
        }
        None
    }

    /// The turn of a tag has come. Returns whether it still wants ids.
    fn begin(&mut self, id: TagId, probes: bool, now: Duration) -> bool {
        let stock = self.settings.stock();
        let Some(tag) = self.tags.get_mut(&id) else { return false };
        tag.refill(stock, self.settings.prefetch);
        let short = tag.wants_fetch(stock);
        let need = tag.need().min(MOST_NEED) as i64;
        if need > 1 {
            tag.fetch.needs(need);
        }
        let Some(plan) = tag.fetch.begin(short, self.settings.source_step(), ms(now)) else { return false };
        self.breaker.begun(&id, probes, ms(now));
        tag.work = Some(Box::new(Work {
            stage: Stage::ReadsMark,
            call: None,
            plan,
            probes,
            began: now,
            after: 0,
            segments: Vec::new(),
            step: None,
            requests: 1,
        }));
        true
    }

    /// The call that a running fetch needs next.
    fn hand_out(&mut self, id: TagId) -> Option<(CallId, Call)> {
        let call = CallId(self.agenda.number());
        let tag = self.tags.get_mut(&id)?;
        let (name, source) = (Arc::clone(&tag.name), Arc::clone(&self.source_name));
        let work = tag.work.as_mut()?;
        work.call = Some(call);
        self.calls.insert(call, id);
        let after = work.after;
        let asks = match work.stage {
            Stage::ReadsMark => Call::ReadMark(MarkRead { tag: name, source, call }),
            Stage::Asks => Call::Fetch(FetchCall { tag: name, step: work.plan.step, after, call }),
            Stage::Marks => Call::UpdateMark(Box::new(MarkUpdate {
                tag: name,
                source,
                call,
                order: self.settings.order,
                after,
                segments: work.segments.clone(),
                accepted: None,
                is_done: false,
            })),
        };
        Some((call, asks))
    }

    /// A call has ended. An end of a call that has ended before, or of another call, has no effect.
    pub(super) fn done(&mut self, call: CallId, end: CallEnd, now: Duration) {
        if end.call != call {
            return;
        }
        let Some(id) = self.calls.remove(&call) else { return };
        let Some(tag) = self.tags.get_mut(&id).filter(|_| !self.is_closed) else { return };
        let Some(work) = tag.work.as_mut().filter(|work| work.call == Some(call)) else { return };
        work.call = None;
        let next = match (work.stage, end.how) {
            (Stage::ReadsMark, Ended::MarkRead(Ok(after))) => {
                work.after = after;
                Ok(Stage::Asks)
            }
            (Stage::Asks, Ended::Fetched(Ok(Some(Fetched { segment, step })))) => {
                (work.segments, work.step) = (Vec::from([segment]), step);
                Ok(Stage::Marks)
            }
            (Stage::Asks, Ended::Fetched(answer)) => {
                let name = &tag.name;
                let unknown =
                    || format!("the source knows no tag {name:?}; make it there, or correct the name");
                tag.failed_by = answer.is_err().then_some(call);
                Err(Err(answer.err().unwrap_or_else(|| Error::new(Code::UnknownTag, unknown()))))
            }
            (Stage::Marks, Ended::Accepted(outcome)) => Err(outcome),
            (_, Ended::MarkRead(Err(error)) | Ended::Accepted(Err(error))) => Err(Err(error)),
            _ => Err(Err(Error::new(Code::Internal, "a call ended as another one; report this"))),
        };
        match next {
            Ok(stage) => {
                work.stage = stage;
                tag.place = Some(self.agenda.queue(id, Urgency::GoesOn, false));
            }
            Err(outcome) => self.ended(id, outcome, now),
        }
    }

    /// A fetch has ended.
    fn ended(&mut self, id: TagId, outcome: Result<Accepted>, now: Duration) {
        let (now_ms, seed, was_down) = (ms(now), self.seed(), self.breaker.is_down());
        let Some(tag) = self.tags.get_mut(&id) else { return };
        let Some(work) = tag.work.take() else { return };
        let error = match &outcome {
            Ok(accepted) => accepted.refused.clone(),
            Err(error) => Some(error.clone()),
        };
        let before = tag.fetch.error().map(Error::code);
        tag.counts().fetch_times.add(now.saturating_sub(work.began));
        let failures = match outcome {
            Ok(Accepted { segments, refused }) => {
                tag.failed_by = None;
                // A source that returns no step has shown its step when the request left the number to it.
                let shown =
                    segments.first().filter(|_| work.plan.wanted == 0).map(|first| first.len() as i64);
                let own = self.settings.step.or(work.step).or(shown);
                tag.fetch.succeeded(work.plan.wanted, own, refused, now_ms);
                segments.into_iter().for_each(|segment| tag.receive(segment));
                0
            }
            Err(error) => {
                *tag.counts().failures.entry(error.code()).or_default() += 1;
                let may_skip = self.settings.source.is_one_by_one() && error.code() == Code::SegmentRegressed;
                tag.fetch.failed(error, false, may_skip, now_ms, seed)
            }
        };
        let answered = error.as_ref().is_none_or(|error| error.code() != Code::SegmentUnavailable);
        let end = match answered {
            true => FetchEnd::Answered,
            false => FetchEnd::Failed { requests: work.requests, servers: ServersReadiness::Unknown },
        };
        self.breaker.ended(&id, end, now_ms, seed);
        if let Some(error) = error.filter(|_| answered || !was_down)
            && let Some((level, line)) = log_once(&tag.name, &error, before, failures)
        {
            self.agenda.log(level, line);
        }
        self.settle(id, now);
    }

    fn seed(&mut self) -> u64 {
        // The steps of splitmix64.
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }

    /// The error of a caller.
    pub(super) fn error_of(&self, caller: &Caller, outcome: Outcome) -> Error {
        let Some(tag) = self.tags.get(&caller.tag) else { return closed() };
        match outcome {
            Outcome::Failed(error) => error,
            Outcome::WouldBlock => would_block(&tag.name, self.settings.source.is_deferred()),
            Outcome::Late(at) => {
                let down = || {
                    let failed = self.breaker.last_failed().filter(|_| self.breaker.is_down())?;
                    let failed = self.tags.get(failed)?;
                    Some((&*failed.name, failed.fetch.error()?))
                };
                let silent_for = tag.work.as_ref().map(|work| at.saturating_sub(work.began));
                let down = if tag.work.is_none() { down() } else { None };
                LateCall {
                    tag: &tag.name,
                    waited: caller.timeout,
                    error: tag.fetch.error(),
                    is_asked: tag.work.is_some(),
                    silent_for,
                    down,
                    is_full: self.breaker.is_full(),
                }
                .error()
            }
            Outcome::Given => closed(),
        }
    }

    /// Removes a tag; returns its name.
    pub(super) fn remove(&mut self, id: TagId) -> Option<Arc<str>> {
        let tag = self.tags.remove(&id)?;
        tag.due.into_iter().for_each(|due| self.agenda.unset(due, Timer::Tag(id)));
        Some(tag.name)
    }

    /// Ends everything: callers, calls and buffers. Returns nothing of what is left: it is a gap.
    pub(super) fn close(&mut self, now: Duration) {
        self.is_closed = true;
        let waiting: Vec<Ticket> = self.callers.numbers().collect();
        waiting.into_iter().for_each(|ticket| self.fail(ticket, Outcome::Failed(closed()), now));
        self.tags.values_mut().for_each(|tag| drop(tag.seal()));
        for call in core::mem::take(&mut self.calls).into_keys() {
            self.agenda.tell(Notice::Abandon(call));
        }
        self.agenda.clear();
        self.agenda.tell(Notice::Closed(Ok(())));
    }
}
