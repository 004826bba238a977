//! The fetches of all tags: what each asks for next, and how it ends.

use super::agenda::{MOST_TIMERS, Timer, Urgency};
use super::asked_servers::{AskStep, AskedServers};
use super::counter_update::{CounterUpdate, NamedCounter};
use super::fetch_texts::{closed, log_once, mixed_up, not_taken, of_tag, unknown};
use super::forgetting::leave_if_unused;
use super::mark_read::{MarkKey, MarkRead};
use super::mark_update::{MarkOutcome, MarkUpdate};
use super::memory_mark::Accepted;
use super::needs::{MOST_NEED, Needs, ms};
use super::ranges::Ranges;
use super::settings::{MarkStore, Source, SupplySettings, TagId};
use super::singles::{Gathered, Singles};
use super::supply_call::{Call, FetchCall, Notice, SupplyEnd};
use super::tickets::{Outcome, Ticket};
use super::work::{FetchStage, Work};
use crate::call::{CallId, Level};
use crate::server::circuit_breaker::{FetchEnd, ServersReadiness};
use crate::sorted_map::SortedMap;
use crate::{Code, Error, Fetched, LARGEST_STEP, Result, Segment};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;
use core::time::Duration;

/// The fetches of a supply, and the source that they share.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    pub(super) needs: Needs,
    pub(super) source_name: Arc<str>,
    pub(super) servers: Option<AskedServers>,
    pub(super) singles: Option<Singles>,
    pub(super) ranges: Ranges,
    /// The calls of fetches that are under way.
    pub(super) calls: SortedMap<CallId, TagId>,
    seed: u64,
    /// The number of tags whose fetches ended, or were not needed, since the last look at this.
    pub(super) ended: usize,
    /// The last look for a call ended before one was found.
    pub(super) is_behind: bool,
}

impl Fetches {
    pub(super) fn new(settings: SupplySettings, seed: u64) -> Fetches {
        Fetches {
            source_name: settings.source_name.as_str().into(),
            servers: AskedServers::of(&settings.source),
            singles: Singles::of(&settings.source),
            needs: Needs::new(settings),
            ranges: Ranges::default(),
            calls: SortedMap::new(),
            seed,
            ended: 0,
            is_behind: false,
        }
    }

    /// Runs the timers whose time has come, a bounded number of them.
    pub(super) fn run_timers(&mut self, now: Duration) -> bool {
        let mut ran = 0;
        while let Some(timer) = self.needs.agenda.due(now, ran) {
            ran += 1;
            match timer {
                Timer::Caller(ticket) => {
                    let call = self.needs.caller_timer(ticket, now);
                    self.ranges.leave(ticket, call, &mut self.needs.agenda);
                }
                Timer::Tag(id) => self.needs.tag_timer(id, now),
                Timer::Call(call) => self.overdue(call, now),
                Timer::Gathered(id) => {
                    let singles = self.singles.as_mut();
                    let came = singles.and_then(|singles| singles.timer(id, &mut self.needs.agenda, now));
                    self.gathered(came, now);
                }
                Timer::Close => return true,
            }
        }
        false
    }

    /// Whether a call can be handed out now.
    pub(super) fn has_calls(&self, now: Duration) -> bool {
        let is_turn = |((urgency, _), _)| urgency == Urgency::GoesOn || self.needs.opens(now).is_some();
        self.ranges.is_ready()
            || self.singles.as_ref().is_some_and(Singles::is_ready)
            || self.needs.agenda.next().is_some_and(is_turn)
    }

    /// The next call: of a fetch that goes on, then of one that begins.
    pub(super) fn next_call(&mut self, now: Duration) -> Option<(CallId, Call)> {
        self.is_behind = false;
        for _ in 0..MOST_TIMERS {
            let next = self.needs.agenda.next();
            if let Some((place, id)) = next.filter(|(place, _)| place.0 == Urgency::GoesOn) {
                self.needs.leave(id, place);
                match self.hand_out(id, now) {
                    None => continue,
                    call => return call,
                }
            }
            if let Some(range) = self.ranges.next(&mut self.needs) {
                return Some(range);
            }
            // Tags with callers come before the next request of another tag, so that all of them take turns.
            let opens = self.needs.opens(now);
            let waits = opens.is_some() && next.is_some_and(|(place, _)| place.0 == Urgency::Waits);
            if !waits && self.singles.as_ref().is_some_and(Singles::is_ready) {
                match self.ask_for_one(now) {
                    None => continue,
                    call => return call,
                }
            }
            let ((place, id), probes) = (next?, opens?);
            self.needs.leave(id, place);
            if self.begin(id, probes, now)
                && let Some(call) = self.hand_out(id, now)
            {
                return Some(call);
            }
        }
        self.is_behind = true;
        None
    }

    /// The turn of a tag has come. Returns whether it still wants ids.
    fn begin(&mut self, id: TagId, probes: bool, now: Duration) -> bool {
        let settings = &self.needs.settings;
        let stock = settings.stock();
        let Some(tag) = self.needs.tags.get_mut(&id) else { return false };
        tag.refill(stock, settings.prefetch);
        tag.fetch.needs(tag.need().min(MOST_NEED) as i64);
        let short = tag.wants_fetch(stock, settings.prefetch);
        let Some(plan) = tag.fetch.begin(short, settings.source_step(), ms(now)) else {
            self.ended += 1;
            self.leave_if_unused(id);
            return false;
        };
        let looks = settings.keeps_for().is_some() && !tag.has_looked;
        tag.has_looked = true;
        let stage = match settings.is_held() {
            true => FetchStage::Asks,
            false if looks => FetchStage::TakesUnused,
            false => FetchStage::ReadsMark,
        };
        let mut work = Work::new(stage, plan, probes, now);
        work.after = tag.held.as_ref().map_or(0, |held| held.guard.mark());
        tag.work = Some(Box::new(work));
        self.needs.breaker.begun(&id, probes, ms(now));
        true
    }

    /// The call that a running fetch needs next. `None` if it has none: its requests are made for all tags together, or
    /// it has ended.
    fn hand_out(&mut self, id: TagId, now: Duration) -> Option<(CallId, Call)> {
        let seed = self.seed();
        let settings = Arc::clone(&self.needs.settings);
        let call = CallId(self.needs.agenda.number());
        let tag = self.needs.tags.get_mut(&id)?;
        let key = || MarkKey { source: Arc::clone(&self.source_name), tag: Arc::clone(&tag.name) };
        let (waits, work) = (tag.line.is_some(), tag.work.as_mut()?);
        let (after, step, advice) = (work.after, work.plan.step, settings.advice);
        let in_file = (settings.marks == MarkStore::Files).then_some(advice);
        // A mark that the supply holds is for its guard alone: a store that got it would raise a row that lost
        // data, unseen, and other processes may have given its ids.
        let (told, step) = match settings.is_held() {
            true => (0, step_of_row(step, tag.fetch.step().source())),
            false => (after, step),
        };
        let asks = match work.stage {
            FetchStage::Rests | FetchStage::Queues => return None,
            FetchStage::TakesUnused => {
                let start = settings.keeps_for()?.clone();
                Call::UpdateMark(Box::new(MarkUpdate::take_unused(call, key(), advice, start)))
            }
            FetchStage::ReadsMark => Call::ReadMark(MarkRead::new(call, key(), in_file)),
            FetchStage::Marks => {
                let segments = take(&mut work.segments);
                let order = settings.order;
                let update = MarkUpdate::accept(call, key(), in_file, order, after, segments);
                Call::UpdateMark(Box::new(update))
            }
            FetchStage::Asks => match (&mut self.singles, &mut self.servers) {
                (Some(singles), _) => {
                    let came = singles.fetch(id, step, waits, &mut self.needs.agenda, now);
                    self.gathered(came, now);
                    return None;
                }
                (None, None) => match &settings.source {
                    Source::File { directory, tags } => {
                        let named = tags.iter().find(|(named, _)| **named == *tag.name);
                        let named = named.map(|(_, named)| NamedCounter { told: tag.is_told, ..*named });
                        let (directory, name) = (Arc::clone(directory), Arc::clone(&tag.name));
                        let update = CounterUpdate::new(call, directory, name, step, told, named);
                        Call::UpdateCounter(Box::new(update))
                    }
                    Source::Callback { .. } | Source::Servers { .. } => {
                        let tag = Arc::clone(&tag.name);
                        Call::Fetch(FetchCall { tag, step, after: told, ticket: None, call })
                    }
                },
                (None, Some(servers)) => {
                    let exchange = work
                        .exchange
                        .get_or_insert_with(|| servers.exchange(&tag.name, step, told, seed, now));
                    match servers.ask(exchange, call, &mut self.needs.agenda, now)? {
                        AskStep::Call(call) => call,
                        AskStep::Over(came) => {
                            self.came(id, call, came.map(Some), now);
                            return None;
                        }
                    }
                }
            },
        };
        self.calls.insert(call, id);
        Some((call, asks))
    }

    /// The next request for one id.
    fn ask_for_one(&mut self, now: Duration) -> Option<(CallId, Call)> {
        let seed = self.seed();
        let (singles, servers) = (self.singles.as_mut()?, self.servers.as_mut()?);
        let (id, exchange) = singles.next(now)?;
        let call = CallId(self.needs.agenda.number());
        let name = self.needs.tags.get(&id).map(|tag| Arc::clone(&tag.name)).unwrap_or_default();
        let mut exchange = exchange.unwrap_or_else(|| servers.exchange(&name, 1, 0, seed, now));
        match servers.ask(&mut exchange, call, &mut self.needs.agenda, now)? {
            AskStep::Call(asks) => {
                singles.begun(call, id, exchange);
                Some((call, asks))
            }
            AskStep::Over(came) => {
                let came = singles.request_ended(id, came, &mut self.needs.agenda, now);
                self.gathered(came, now);
                self.leave_if_unused(id);
                None
            }
        }
    }

    /// The ids of a fetch came one by one, or an error did.
    fn gathered(&mut self, came: Option<Gathered>, now: Duration) {
        let Some(Gathered { tag: id, segments, requests }) = came else { return };
        let work = self.needs.tags.get_mut(&id).and_then(|tag| tag.work.as_mut());
        let Some(work) = work.filter(|work| work.stage == FetchStage::Asks) else { return };
        work.requests = requests;
        match segments {
            Ok(segments) => self.mark(id, segments, None, now),
            Err(error) => self.ended(id, Err(error), now),
        }
    }

    /// A caller may wait for ids that were gathered.
    pub(super) fn hurry(&mut self, id: TagId, now: Duration) {
        let waits = self.needs.tags.get(&id).is_some_and(|tag| tag.waiting() > 0);
        let came = self.singles.as_mut().filter(|_| waits).and_then(|singles| singles.hurry(id, now));
        self.gathered(came, now);
    }

    /// Nothing stays of an unused tag, as soon as nothing is done for it.
    pub(super) fn leave_if_unused(&mut self, id: TagId) {
        let (singles, servers) = (self.singles.as_mut(), self.servers.as_mut());
        self.ended += usize::from(leave_if_unused(&mut self.needs, singles, servers, id));
    }

    /// A call has ended. An end of a call that has ended before, or of another call, has no effect.
    pub(super) fn done(&mut self, call: CallId, end: SupplyEnd, now: Duration) {
        if self.ranges.contains(call) {
            if let SupplyEnd::Fetched(_, answer) = end {
                self.ranges.ended(call, answer, &mut self.needs, now);
            }
            return;
        }
        if let (Some(singles), Some(servers)) = (&mut self.singles, &mut self.servers)
            && let Some(id) = singles.tag_of(call)
        {
            if let SupplyEnd::Http(end) = end {
                let came = singles.call_ended(servers, call, Some(*end), &mut self.needs.agenda, now);
                self.gathered(came, now);
                self.leave_if_unused(id);
            }
            return;
        }
        let Some(id) = self.calls.remove(&call) else { return };
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        let Some(work) = &mut tag.work else { return };
        match (work.stage, end) {
            (FetchStage::TakesUnused, SupplyEnd::Updated(end)) => {
                let name = Arc::clone(&tag.name);
                self.log_all(end.notes);
                match end.result {
                    Ok(MarkOutcome::Taken(kept)) if !kept.is_empty() => self.use_unused(id, kept, now),
                    Ok(_) => self.go_on(id, FetchStage::ReadsMark),
                    Err(error) => {
                        self.needs.agenda.log(Level::Warn, not_taken(&name, &error));
                        self.go_on(id, FetchStage::ReadsMark);
                    }
                }
            }
            (FetchStage::ReadsMark, SupplyEnd::MarkRead(end)) => match end.result {
                Ok(after) => {
                    work.after = after;
                    self.go_on(id, FetchStage::Asks);
                }
                Err(error) => self.ended(id, Err(error), now),
            },
            (FetchStage::Asks, SupplyEnd::Counted(mut end)) => {
                let (notes, came) = (take(&mut end.notes), end.into_result());
                tag.is_told |= came.is_ok();
                self.log_all(notes);
                self.came(id, call, came.map(Some), now);
            }
            (FetchStage::Asks, SupplyEnd::Fetched(_, answer)) => self.came(id, call, answer, now),
            (FetchStage::Asks, SupplyEnd::Http(end)) => {
                let (Some(servers), Some(exchange)) = (&mut self.servers, &mut work.exchange) else { return };
                match servers.ended(exchange, call, *end, &mut self.needs.agenda, now) {
                    Some(came) => self.came(id, call, came.map(Some), now),
                    None => self.go_on(id, FetchStage::Asks),
                }
            }
            (FetchStage::Marks, SupplyEnd::Updated(end)) => {
                self.log_all(end.notes);
                let accepted = match end.result {
                    Ok(MarkOutcome::Accepted(accepted)) => Ok(accepted),
                    Ok(MarkOutcome::Taken(_) | MarkOutcome::Kept) => Err(mixed_up()),
                    Err(error) => Err(error),
                };
                self.ended(id, accepted, now);
            }
            _ => self.ended(id, Err(mixed_up()), now),
        }
    }

    /// The end of a call was not reported in time.
    fn overdue(&mut self, call: CallId, now: Duration) {
        let Some(servers) = &mut self.servers else { return };
        if let Some(singles) = &mut self.singles
            && let Some(id) = singles.tag_of(call)
        {
            let came = singles.call_ended(servers, call, None, &mut self.needs.agenda, now);
            self.needs.agenda.tell(Notice::Abandon(call));
            self.gathered(came, now);
            return self.leave_if_unused(id);
        }
        let Some(id) = self.calls.remove(&call) else { return };
        self.needs.agenda.tell(Notice::Abandon(call));
        let work = self.needs.tags.get_mut(&id).and_then(|tag| tag.work.as_mut());
        let exchange = work.and_then(|work| work.exchange.as_mut());
        let came = exchange.and_then(|exchange| servers.overdue(exchange, now));
        self.came(id, call, came.unwrap_or_else(|| Err(mixed_up())).map(Some), now);
    }

    /// The next call of a running fetch is for this.
    fn go_on(&mut self, id: TagId, stage: FetchStage) {
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        tag.work.iter_mut().for_each(|work| work.stage = stage);
        tag.place = Some(self.needs.agenda.queue(id, Urgency::GoesOn, false));
    }

    /// The source answered.
    fn came(&mut self, id: TagId, call: CallId, answer: Result<Option<Fetched>>, now: Duration) {
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        match answer {
            Ok(Some(Fetched { segment, step })) => self.mark(id, Vec::from([segment]), step, now),
            Ok(None) => {
                let error = unknown(&tag.name);
                self.ended(id, Err(error), now);
            }
            Err(error) => {
                tag.counts().failed_by = Some(call);
                self.ended(id, Err(error), now);
            }
        }
    }

    /// What the source gave goes into the mark, before any of it is used.
    fn mark(&mut self, id: TagId, segments: Vec<Segment>, step: Option<i64>, now: Duration) {
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        let Some(work) = &mut tag.work else { return };
        (work.step, work.exchange) = (step, None);
        if let Some(held) = &mut tag.held {
            let accepted = held.accept(&segments, work.after);
            let accepted = accepted.map_err(|error| of_tag(error, &tag.name));
            return self.ended(id, accepted, now);
        }
        work.segments = segments;
        self.go_on(id, FetchStage::Marks);
    }

    /// The unused ids of an earlier process are used, and no fetch is needed.
    fn use_unused(&mut self, id: TagId, kept: Vec<Segment>, now: Duration) {
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        let Some(work) = tag.work.take() else { return };
        tag.fetch.cancelled();
        kept.into_iter().for_each(|segment| tag.receive(segment));
        self.needs.breaker.cancelled(&id, work.probes);
        self.ended += 1;
        self.needs.settle(id, now);
        self.leave_if_unused(id);
    }

    /// A fetch has ended.
    fn ended(&mut self, id: TagId, outcome: Result<Accepted>, now: Duration) {
        let (now_ms, seed, was_down) = (ms(now), self.seed(), self.needs.breaker.is_down());
        let settings = &self.needs.settings;
        let Some(tag) = self.needs.tags.get_mut(&id) else { return };
        let Some(work) = tag.work.take() else { return };
        let error = match &outcome {
            Ok(accepted) => accepted.refused.clone(),
            Err(error) => Some(error.clone()),
        };
        let is_held = settings.is_held();
        let is_denied = outcome.as_ref().is_err_and(|error| match &self.servers {
            Some(servers) => servers.denies(&tag.name),
            None => is_held && error.code() == Code::InvalidArgument,
        });
        let before = tag.fetch.error().map(Error::code);
        tag.fetched(now.saturating_sub(work.began));
        let failures = match outcome {
            Ok(Accepted { segments, refused }) => {
                tag.failed_by_none();
                // A source that returns no step has shown its step when the request left the number to it.
                let shown =
                    segments.first().filter(|_| work.plan.wanted == 0).map(|first| first.len() as i64);
                let own = settings.step.or(work.step).or(shown);
                tag.fetch.succeeded(work.plan.wanted, own, refused, now_ms);
                segments.into_iter().for_each(|segment| tag.receive(segment));
                0
            }
            Err(error) => {
                if work.stage != FetchStage::Asks {
                    tag.failed_by_none();
                }
                tag.counts().failed(error.code());
                let may_skip = settings.source.leaf().is_some() && error.code() == Code::SegmentRegressed;
                tag.fetch.failed(error, is_denied, may_skip, now_ms, seed)
            }
        };
        // Each tag of a server is asked for by itself, also while the store is down.
        let answered = is_held
            || is_denied
            || error.as_ref().is_none_or(|error| error.code() != Code::SegmentUnavailable);
        let servers = self.servers.as_ref().map_or(ServersReadiness::Unknown, |all| all.readiness(now_ms));
        let end = match answered {
            true => FetchEnd::Answered,
            false => FetchEnd::Failed { requests: work.requests, servers },
        };
        self.needs.breaker.ended(&id, end, now_ms, seed);
        // Clients of a server name what they like.
        let is_theirs =
            |error: &Error| is_held && matches!(error.code(), Code::UnknownTag | Code::InvalidArgument);
        if let Some(error) = error.filter(|error| (answered || !was_down) && !is_theirs(error))
            && let Some((level, line)) = log_once(&tag.name, is_held, &error, before, failures)
        {
            self.needs.agenda.log(level, line);
        }
        self.ended += 1;
        self.needs.settle(id, now);
        self.leave_if_unused(id);
    }

    fn log_all(&mut self, notes: Vec<(Level, String)>) {
        notes.into_iter().for_each(|(level, line)| self.needs.agenda.log(level, line));
    }

    fn seed(&mut self) -> u64 {
        // The steps of splitmix64.
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }

    /// Ends all callers, and gives up all calls.
    pub(super) fn close(&mut self, now: Duration) {
        self.needs.is_closed = true;
        let waiting: Vec<Ticket> = self.needs.callers.numbers().collect();
        waiting.into_iter().for_each(|ticket| self.needs.fail(ticket, Outcome::Failed(closed()), now));
        let singles = self.singles.as_mut().into_iter().flat_map(Singles::close);
        let calls = take(&mut self.calls).into_keys().chain(singles).chain(self.ranges.close());
        calls.for_each(|call| self.needs.agenda.tell(Notice::Abandon(call)));
        self.needs.agenda.clear();
    }

    /// The state without statistics and numbers.
    pub(super) fn deciding(&self) -> impl core::hash::Hash + Eq + '_ {
        let singles = self.singles.as_ref().map(Singles::deciding);
        (&self.servers, singles, self.ranges.deciding(), self.calls.len(), self.is_behind)
    }
}

/// What the store of a server is asked for, whose row has this step of its own: 0 is the row's own step, as it is by
/// then. A batch may need more, in several ranges.
fn step_of_row(step: i64, own: i64) -> i64 {
    let step = step.min(LARGEST_STEP.max(own));
    if step == own { 0 } else { step }
}
