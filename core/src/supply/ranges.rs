//! Ranges that go past the buffer: a server takes them for its clients, several of one tag at a time.

use super::agenda::Agenda;
use super::fetch_texts::{no_range, of_tag, unknown};
use super::needs::Needs;
use super::supply_call::{Call, FetchCall, Notice};
use super::tickets::Ticket;
use crate::call::{CallId, Level};
use crate::sorted_map::SortedMap;
use crate::{Error, Fetched, Result};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::time::Duration;

/// The requests for ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Those that no call was made for yet: the caller, its step and its bound.
    waiting: VecDeque<(Ticket, i64, i64)>,
    /// Those that are under way, with the mark before the call.
    calls: SortedMap<CallId, (Ticket, i64)>,
}

impl Ranges {
    pub(super) fn push(&mut self, ticket: Ticket, step: i64, after: i64) {
        self.waiting.push_back((ticket, step, after));
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn contains(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    /// The next call.
    pub(super) fn next(&mut self, needs: &mut Needs) -> Option<(CallId, Call)> {
        while let Some((ticket, step, after)) = self.waiting.pop_front() {
            let Some(id) = needs.callers.waiting(ticket).map(|caller| caller.tag) else { continue };
            let Some(tag) = needs.tags.get(&id) else { continue };
            let (tag, mark) = (Arc::clone(&tag.name), tag.held.as_ref().map_or(0, |held| held.guard.mark()));
            let call = CallId(needs.agenda.number());
            needs.callers.waiting(ticket).into_iter().for_each(|caller| caller.call = Some(call));
            self.calls.insert(call, (ticket, mark));
            return Some((call, Call::Fetch(FetchCall { tag, step, after, ticket: Some(ticket), call })));
        }
        None
    }

    /// A call has ended. Its range is refused if its ids were given before: to anybody, or below the mark before the
    /// call; a range that was asked for later may have come earlier.
    pub(super) fn ended(
        &mut self,
        call: CallId,
        answer: Result<Option<Fetched>>,
        needs: &mut Needs,
        now: Duration,
    ) {
        let Some((ticket, mark)) = self.calls.remove(&call) else { return };
        let Some(id) = needs.callers.waiting(ticket).map(|caller| caller.tag) else { return };
        let Some(tag) = needs.tags.get_mut(&id) else { return };
        let known = answer.and_then(|fetched| fetched.ok_or_else(|| unknown(&tag.name)));
        let range = known.and_then(|fetched| {
            if let Some(held) = &mut tag.held {
                let wrong = |error: Error| {
                    needs.agenda.log(Level::Warn, no_range(&tag.name, &error));
                    of_tag(error, &tag.name)
                };
                held.guard.offer(fetched.segment, mark).map_err(wrong)?;
                held.ranged += fetched.segment.len();
            }
            Ok(fetched)
        });
        needs.end_range(ticket, range, now);
    }

    /// A caller has gone, or its time is over.
    pub(super) fn leave(&mut self, ticket: Ticket, call: Option<CallId>, agenda: &mut Agenda) {
        if let Some(call) = call.filter(|call| self.calls.remove(call).is_some_and(|(of, _)| of == ticket)) {
            agenda.tell(Notice::Abandon(call));
        }
    }

    /// Gives up all; returns the calls that are under way.
    pub(super) fn close(&mut self) -> impl Iterator<Item = CallId> + use<> {
        self.waiting.clear();
        core::mem::take(&mut self.calls).into_keys()
    }

    /// How many wait, and how many are under way.
    pub(super) fn deciding(&self) -> (usize, usize) {
        (self.waiting.len(), self.calls.len())
    }
}
