//! The tags that are fetched before their first use, a few at a time.

use super::agenda::Agenda;
use super::mark_read::{MarkList, MarksListed};
use super::needs::Needs;
use super::settings::MarkStore;
use super::supply_call::Call;
use crate::call::{CallId, Level};
use crate::options::Prewarm;
use crate::segment::fetch_state::FetchPhase;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The number of tags that are fetched beside each other before their first use.
const AT_ONCE: usize = 8;

/// The tags to come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Prewarming {
    /// They are taken from the end.
    waiting: Vec<String>,
    lists: bool,
    call: Option<CallId>,
    /// The number of tags that may begin.
    room: usize,
}

impl Prewarming {
    pub(super) fn new(needs: &Needs) -> Prewarming {
        let waiting = match &needs.settings.prewarm {
            Prewarm::Tags(tags) => tags.iter().rev().cloned().collect(),
            Prewarm::None | Prewarm::LastDay => Vec::new(),
        };
        let lists = needs.settings.prewarm == Prewarm::LastDay && needs.settings.marks == MarkStore::Files;
        Prewarming { waiting, lists, call: None, room: AT_ONCE }
    }

    /// Whether it has a call, or tags for [`Prewarming::go_on`].
    pub(super) fn is_ready(&self) -> bool {
        self.lists || (self.room > 0 && !self.waiting.is_empty())
    }

    /// The call that lists the tags, once.
    pub(super) fn next_call(&mut self, source: &Arc<str>, needs: &mut Needs) -> Option<(CallId, Call)> {
        if !core::mem::take(&mut self.lists) {
            return None;
        }
        let call = CallId(needs.agenda.number());
        self.call = Some(call);
        let list = MarkList::new(call, Arc::clone(source), needs.settings.advice);
        Some((call, Call::ListMarks(Box::new(list))))
    }

    /// The list came. Returns false if it is not the one that was asked for.
    pub(super) fn listed(&mut self, call: CallId, end: MarksListed, agenda: &mut Agenda) {
        if self.call.take_if(|of| *of == call).is_none() {
            return;
        }
        match end.into_result() {
            Ok(tags) => self.waiting = tags.into_iter().rev().collect(),
            Err(error) => agenda.log(Level::Warn, alloc::format!("no tags are fetched ahead: {error}")),
        }
    }

    /// Fetches of this number of tags have ended: as many others may begin.
    pub(super) fn ended(&mut self, count: usize) {
        self.room = (self.room + count).min(AT_ONCE);
    }

    /// Begins fetches, as far as there is room. A tag that has ids already leaves its turn to the next.
    pub(super) fn go_on(&mut self, needs: &mut Needs, now: Duration) {
        while self.room > 0
            && let Some(name) = self.waiting.pop()
        {
            let Ok(id) = needs.tag(&name) else { continue };
            let prewarmed = needs.settings.prewarmed();
            needs.tags.get_mut(&id).into_iter().for_each(|tag| tag.fetch.needs(prewarmed));
            needs.decide(id, now);
            let is_due = needs.tags.get(&id).is_some_and(|tag| tag.fetch.phase() != FetchPhase::Idle);
            self.room -= usize::from(is_due);
        }
    }

    /// Nothing is fetched any more.
    pub(super) fn close(&mut self) -> Option<CallId> {
        self.waiting.clear();
        self.lists = false;
        self.call.take()
    }
}
