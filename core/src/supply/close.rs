//! The close of a supply: what is left of the buffers is stored, for a bounded time.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | open | closed | stores; closed, if nothing is to be stored |
//! | stores | a write ends, and others are left | stores: an error is remembered |
//! | stores | the last write ends | closed |
//! | stores | 2 s are over | closed, with `state_io` |

use super::agenda::{Agenda, Timer};
use super::mark_read::MarkKey;
use super::mark_update::{MarkUpdate, MarkUpdated};
use super::settings::SupplySettings;
use super::supply_call::{Call, Notice};
use crate::call::CallId;
use crate::{Code, Error, Result, Segment};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

/// How long a close waits for the disk.
const CLOSE_WAITS: Duration = Duration::from_secs(2);
/// The largest number of writes beside each other.
const MOST_WRITES: usize = 16;

/// A close that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Closing {
    waiting: VecDeque<(MarkKey, Vec<Segment>)>,
    writes: BTreeSet<CallId>,
    failed: Option<Error>,
    is_over: bool,
}

impl Closing {
    /// Begins to store what is left of each tag.
    pub(super) fn new(
        rest: VecDeque<(MarkKey, Vec<Segment>)>,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Closing {
        let mut closing = Closing { waiting: rest, writes: BTreeSet::new(), failed: None, is_over: false };
        agenda.set(now.saturating_add(CLOSE_WAITS), Timer::Close);
        closing.end_if_done(agenda);
        closing
    }

    /// The next write.
    pub(super) fn next_call(
        &mut self,
        settings: &SupplySettings,
        agenda: &mut Agenda,
    ) -> Option<(CallId, Call)> {
        let start = settings.keeps_for().filter(|_| self.has_calls())?;
        let (key, rest) = self.waiting.pop_front()?;
        let call = CallId(agenda.number());
        self.writes.insert(call);
        let update = MarkUpdate::keep_unused(call, key, settings.advice, start.clone(), rest);
        Some((call, Call::UpdateMark(Box::new(update))))
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.is_over && !self.waiting.is_empty() && self.writes.len() < MOST_WRITES
    }

    /// A write has ended.
    pub(super) fn done(&mut self, call: CallId, end: MarkUpdated, agenda: &mut Agenda) {
        if !self.writes.remove(&call) || self.is_over {
            return;
        }
        end.notes.into_iter().for_each(|(level, line)| agenda.log(level, line));
        if let Err(error) = end.result {
            self.failed.get_or_insert(error);
        }
        self.end_if_done(agenda);
    }

    /// The time for all writes is over.
    pub(super) fn late(&mut self, agenda: &mut Agenda) {
        let message = "the disk did not answer in time; some unused ids of the segments are not stored";
        self.end(Err(Error::new(Code::StateIo, message)), agenda);
    }

    fn end_if_done(&mut self, agenda: &mut Agenda) {
        if self.waiting.is_empty() && self.writes.is_empty() {
            let stored = self.failed.take().map_or(Ok(()), Err);
            self.end(stored, agenda);
        }
    }

    fn end(&mut self, stored: Result<()>, agenda: &mut Agenda) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        agenda.clear();
        for call in core::mem::take(&mut self.writes) {
            agenda.tell(Notice::Abandon(call));
        }
        agenda.tell(Notice::Closed(stored));
    }
}
