//! What is wanted of the tags: their callers, how these are served, and when a tag wants to be fetched.

use super::agenda::{Agenda, QueuePlace, Timer, Urgency};
use super::fetch_texts::{closed, gone};
use super::settings::{SupplySettings, TagId};
use super::tag_supply::TagSupply;
use super::tickets::{Caller, Outcome, Ticket, Tickets, Wish};
use crate::call::CallId;
use crate::segment::fetch_state::{FetchAction, FetchPhase};
use crate::server::circuit_breaker::CircuitBreaker;
use crate::sorted_map::SortedMap;
use crate::{Error, Fetched, Result, Run};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The largest number of ids that one fetch is asked for: as many as one call may take.
pub(super) const MOST_NEED: u64 = 1 << 24;

/// The tags of a supply and their callers.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    pub(super) settings: Arc<SupplySettings>,
    pub(super) tags: SortedMap<TagId, Box<TagSupply>>,
    pub(super) names: SortedMap<Arc<str>, TagId>,
    pub(super) callers: Tickets,
    pub(super) agenda: Agenda,
    pub(super) breaker: CircuitBreaker<TagId>,
    pub(super) is_closed: bool,
}

/// Whole milliseconds. A time that has come has come in milliseconds too.
pub(super) fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl Needs {
    pub(super) fn new(settings: SupplySettings) -> Needs {
        Needs {
            breaker: CircuitBreaker::limited_to(settings.limit()),
            settings: Arc::new(settings),
            tags: SortedMap::new(),
            names: SortedMap::new(),
            callers: Tickets::default(),
            agenda: Agenda::default(),
            is_closed: false,
        }
    }

    /// The tag of this name. Errors: `closed`, `invalid_argument`.
    pub(super) fn tag(&mut self, name: &str) -> Result<TagId> {
        if self.is_closed {
            return Err(closed());
        }
        if let Some(id) = self.names.get(name) {
            self.tags.get_mut(id).into_iter().for_each(|tag| tag.is_unused = false);
            return Ok(*id);
        }
        self.settings.check_tag(name)?;
        let (id, name) = (TagId(self.agenda.number()), Arc::<str>::from(name));
        let tag = TagSupply::new(Arc::clone(&name), &self.settings);
        self.tags.insert(id, Box::new(tag));
        self.names.insert(name, id);
        Ok(id)
    }

    /// Removes a tag.
    pub(super) fn forget(&mut self, id: TagId) {
        let Some(mut tag) = self.tags.remove(&id) else { return };
        tag.seal();
        tag.due.into_iter().for_each(|due| self.agenda.unset(due, Timer::Tag(id)));
        tag.place.into_iter().for_each(|place| self.agenda.leave(id, place));
        self.names.remove(&tag.name);
    }

    /// Begins the wait of a caller, unless its ids are at hand.
    pub(super) fn wait(&mut self, id: TagId, wish: Wish, now: Duration) -> Ticket {
        let ticket = Ticket(self.agenda.number());
        let blocks = wish.blocks_at_most.is_some() && self.settings.source.is_deferred();
        let mut caller = Caller::new(id, wish, now);
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.tickets += 1);
        let open = self.tags.get_mut(&id).filter(|_| !self.is_closed);
        caller.outcome = match &open {
            None => Some(Outcome::Failed(gone(self.is_closed))),
            Some(_) => None,
        };
        let Some(tag) = open else {
            self.callers.insert(ticket, caller);
            return ticket;
        };
        tag.line.get_or_insert_default().push(ticket, caller.left);
        caller.before = tag.fetch.begun();
        self.callers.insert(ticket, caller);
        self.serve(id, now);
        if let Some(caller) = self.callers.waiting(ticket) {
            caller.waits_since = Some(now);
            self.tags.get_mut(&id).into_iter().for_each(|tag| tag.waits());
            self.settle(id, now);
        } else {
            // It may have got the id that requests the next fetch.
            self.decide(id, now);
        }
        if let Some(caller) = self.callers.waiting(ticket) {
            let at = caller.ends_at();
            if blocks || at <= now {
                let blocked = blocks || caller.is_blocked(now);
                if blocked {
                    // No wait: none is counted.
                    caller.waits_since = None;
                    // It comes back for them, with none.
                    let had = caller.runs.iter().map(|run| run.count as u64).sum::<u64>();
                    let need = had.saturating_add(caller.left as u64).min(MOST_NEED) as i64;
                    self.tags.get_mut(&id).into_iter().for_each(|tag| {
                        tag.fetch.needs(need);
                        tag.waits_not();
                    });
                }
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

    /// Begins the wait of a caller for a range past the buffer.
    pub(super) fn wait_for_range(
        &mut self,
        id: TagId,
        timeout: Duration,
        refused: Option<Error>,
        now: Duration,
    ) -> Ticket {
        let ticket = Ticket(self.agenda.number());
        let mut caller = Caller::new(id, Wish { timeout, ..Wish::default() }, now);
        (caller.is_range, caller.is_quiet, caller.waits_since) = (true, false, Some(now));
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.tickets += 1);
        let is_open = !self.is_closed && self.tags.contains_key(&id);
        caller.outcome = refused.or_else(|| (!is_open).then(|| gone(self.is_closed))).map(Outcome::Failed);
        if caller.outcome.is_none() {
            caller.due = Some(caller.deadline);
            self.agenda.set(caller.deadline, Timer::Caller(ticket));
        }
        self.callers.insert(ticket, caller);
        ticket
    }

    /// A caller that waits for a range has it, or an error.
    pub(super) fn end_range(&mut self, ticket: Ticket, range: Result<Fetched>, now: Duration) {
        match range {
            Err(error) => self.fail(ticket, Outcome::Failed(error), now),
            Ok(range) => {
                let Some(caller) = self.callers.waiting(ticket) else { return };
                caller.outcome = Some(Outcome::Range(range));
                caller.due.take().into_iter().for_each(|due| self.agenda.unset(due, Timer::Caller(ticket)));
                self.agenda.wake(ticket);
            }
        }
    }

    /// Gives up a caller, or what it got.
    pub(super) fn cancel(&mut self, ticket: Ticket, now: Duration) -> Option<Box<Caller>> {
        self.fail(ticket, Outcome::WouldBlock, now);
        let caller = self.remove(ticket)?;
        if !caller.is_range {
            self.put_back(caller.tag, &caller.runs, now);
        }
        Some(caller)
    }

    /// Takes a ticket out, which is collected or cancelled.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Box<Caller>> {
        let caller = self.callers.remove(ticket)?;
        self.tags.get_mut(&caller.tag).into_iter().for_each(|tag| tag.tickets -= 1);
        Some(caller)
    }

    pub(super) fn put_back(&mut self, id: TagId, runs: &[Run], now: Duration) {
        if self.is_closed {
            return;
        }
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.put_back(runs));
        self.settle(id, now);
    }

    /// Ends a caller that waits without its ids; these are put back.
    pub(super) fn fail(&mut self, ticket: Ticket, outcome: Outcome, now: Duration) {
        let Some(caller) = self.callers.waiting(ticket) else { return };
        caller.outcome = Some(outcome);
        let (id, left, due, since) = (caller.tag, caller.left, caller.due.take(), caller.waits_since);
        let (runs, is_quiet) = (core::mem::take(&mut caller.runs), caller.is_quiet);
        let is_range = caller.is_range;
        due.into_iter().for_each(|due| self.agenda.unset(due, Timer::Caller(ticket)));
        if let Some(tag) = self.tags.get_mut(&id) {
            tag.put_back(&runs);
            if !is_range {
                tag.leave(left, &self.callers);
            }
            since.into_iter().for_each(|since| tag.waited(now.saturating_sub(since)));
        }
        if !is_quiet {
            self.agenda.wake(ticket);
        }
    }

    /// Gives the ids at hand to the callers that wait.
    fn serve(&mut self, id: TagId, now: Duration) {
        let Some(tag) = self.tags.get_mut(&id) else { return };
        let mut served = Vec::new();
        tag.serve(&mut self.callers, now, |ticket| served.push(ticket));
        for ticket in served {
            let Some(caller) = self.callers.get_mut(ticket) else { continue };
            let has_all = caller.left == 0;
            if let Some(since) = caller.waits_since.filter(|since| *since < now || has_all) {
                // What it still needs is another wait.
                tag.waited(now.saturating_sub(since));
                if !has_all {
                    tag.waits();
                }
                (caller.waits_since, caller.before) = (Some(now), tag.fetch.begun());
            }
            if has_all && caller.outcome.is_none() {
                caller.outcome = Some(Outcome::Given);
                caller.due.take().into_iter().for_each(|due| self.agenda.unset(due, Timer::Caller(ticket)));
                if !caller.is_quiet {
                    self.agenda.wake(ticket);
                }
            }
        }
    }

    /// Hands out what is there, tells callers of a refusal, and has the tag fetched if ids are wanted.
    pub(super) fn settle(&mut self, id: TagId, now: Duration) {
        loop {
            self.serve(id, now);
            if self.fail_refused(id, false, now) {
                continue;
            }
            self.decide(id, now);
            // Nothing is due that could change the answer.
            let is_idle = self.tags.get(&id).is_some_and(|tag| tag.fetch.phase() == FetchPhase::Idle);
            if !is_idle || !self.fail_refused(id, true, now) {
                return;
            }
        }
    }

    /// Ends the callers to whom the last fetch is an answer: the source does not know their tag, or denies it. An error
    /// of a fetch that began before their wait is too old. Returns whether there were any.
    fn fail_refused(&mut self, id: TagId, all: bool, now: Duration) -> bool {
        let Some(tag) = self.tags.get_mut(&id) else { return false };
        let (Some(error), Some(line)) = (tag.fetch.refused(), &mut tag.line) else { return false };
        let ended = tag.fetch.ended();
        // Once for each fetch: a line of many is not looked through for each that joins it.
        if !line.is_told_now(ended) && !all {
            return false;
        }
        let error = error.clone();
        let is_told = |ticket: &Ticket| {
            let waits = self.callers.get(*ticket).filter(|caller| caller.outcome.is_none());
            waits.is_some_and(|caller| all || caller.before < ended)
        };
        let told: Vec<Ticket> = line.tickets().filter(is_told).collect();
        told.iter().for_each(|ticket| self.fail(*ticket, Outcome::Failed(error.clone()), now));
        !told.is_empty()
    }

    /// Whether a fetch may begin now; and if so, whether it probes a source that is down.
    pub(super) fn opens(&self, now: Duration) -> Option<bool> {
        self.breaker.opens_ms().filter(|(at_ms, _)| *at_ms <= ms(now)).map(|(_, probes)| probes)
    }

    /// A tag leaves its place among those whose turn comes.
    pub(super) fn leave(&mut self, id: TagId, place: QueuePlace) {
        self.agenda.leave(id, place);
        self.tags.get_mut(&id).into_iter().for_each(|tag| tag.place = None);
    }

    /// Has a tag fetched, now or later, if its ids are used up, or soon will be.
    pub(super) fn decide(&mut self, id: TagId, now: Duration) {
        let stock = self.settings.stock();
        let Some(tag) = self.tags.get_mut(&id).filter(|_| !self.is_closed) else { return };
        tag.refill(stock, self.settings.prefetch);
        let waits = tag.waiting() > 0;
        if tag.fetch.is_fetching() {
            if let Some(place) = tag.place.filter(|_| waits) {
                tag.place = Some(self.agenda.move_up(id, place, Urgency::Waits));
            }
            return;
        }
        // A name that no source may know is asked for by its callers alone, where names come from anybody.
        let is_unseen = tag.held.as_ref().is_some_and(|held| held.guard.mark() == 0);
        let is_unneeded = !waits && (is_unseen || tag.goes());
        if is_unneeded || tag.wants_fetch(stock, self.settings.prefetch).is_none() {
            return;
        }
        let urgent = waits || tag.is_low(stock);
        let action = tag.fetch.poll(waits, urgent, ms(now));
        if action != FetchAction::Nothing {
            tag.due.take().into_iter().for_each(|due| self.agenda.unset(due, Timer::Tag(id)));
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

    /// The back-off of a tag is over.
    pub(super) fn tag_timer(&mut self, id: TagId, now: Duration) {
        let Some(tag) = self.tags.get_mut(&id) else { return };
        if tag.due.take().is_some_and(|due| tag.fetch.timer(ms(due))) {
            self.settle(id, now);
        }
    }

    /// The time of a caller is over, unless it got ids meanwhile. Returns the call that was made for it alone.
    pub(super) fn caller_timer(&mut self, ticket: Ticket, now: Duration) -> Option<CallId> {
        let caller = self.callers.waiting(ticket)?;
        let (id, at, call, is_range) = (caller.tag, caller.ends_at(), caller.call, caller.is_range);
        if at > now {
            caller.due = Some(at);
            self.agenda.set(at, Timer::Caller(ticket));
            return None;
        }
        caller.due = None;
        let blocked = caller.is_blocked(now);
        self.fail(ticket, if blocked { Outcome::WouldBlock } else { Outcome::Late(now) }, now);
        if !is_range {
            self.settle(id, now);
        }
        call
    }
}
