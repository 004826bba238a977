//! The close of a supply: what is left of the buffers is stored, or given back, for a bounded time.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | open | closed | stores; closed, if nothing is to be stored |
//! | stores | a write ends, and others are left | stores: an error is remembered |
//! | stores | the last write ends | closed |
//! | stores | its time is over | closed, with `state_io` |

use super::agenda::{Agenda, Timer};
use super::fetch_texts::mixed_up;
use super::mark_read::MarkKey;
use super::mark_update::MarkUpdate;
use super::settings::SupplySettings;
use super::supply_call::{Call, GiveBack, Notice, SupplyEnd};
use crate::call::CallId;
use crate::{Code, Error, Result, Segment};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The largest number of writes beside each other.
const MOST_WRITES: usize = 16;

/// A close that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Closing {
    /// Each tag with its unused ids, at least one segment.
    waiting: VecDeque<(Arc<str>, Vec<Segment>)>,
    /// At most [`MOST_WRITES`].
    writes: Vec<CallId>,
    failed: Option<Error>,
    is_over: bool,
}

impl Closing {
    /// Begins to store what is left of each tag, until `by`.
    pub(super) fn new(
        rest: VecDeque<(Arc<str>, Vec<Segment>)>,
        by: Duration,
        agenda: &mut Agenda,
    ) -> Closing {
        let mut closing = Closing { waiting: rest, writes: Vec::new(), failed: None, is_over: false };
        agenda.set(by, Timer::Close);
        closing.end_if_done(agenda);
        closing
    }

    /// The next write.
    pub(super) fn next_call(
        &mut self,
        settings: &SupplySettings,
        source: &Arc<str>,
        agenda: &mut Agenda,
    ) -> Option<(CallId, Call)> {
        let (tag, rest) = if self.has_calls() { self.waiting.pop_front()? } else { return None };
        let call = CallId(agenda.number());
        self.writes.push(call);
        let Some(start) = settings.keeps_for() else {
            // A store takes back what it gave last.
            return Some((call, Call::GiveBack(GiveBack { tag, ids: *rest.last()?, call })));
        };
        let key = MarkKey { source: Arc::clone(source), tag };
        let update = MarkUpdate::keep_unused(call, key, settings.advice, start.clone(), rest);
        Some((call, Call::UpdateMark(Box::new(update))))
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.is_over && !self.waiting.is_empty() && self.writes.len() < MOST_WRITES
    }

    /// A write has ended.
    pub(super) fn done(&mut self, call: CallId, end: SupplyEnd, agenda: &mut Agenda) {
        let Some(at) = self.writes.iter().position(|write| *write == call) else { return };
        self.writes.remove(at);
        if self.is_over {
            return;
        }
        let (notes, stored) = match end {
            SupplyEnd::Updated(end) => (end.notes, end.result.map(drop)),
            SupplyEnd::GivenBack(_, given) => (Vec::new(), given),
            _ => (Vec::new(), Err(mixed_up())),
        };
        notes.into_iter().for_each(|(level, line)| agenda.log(level, line));
        if let Err(error) = stored {
            self.failed.get_or_insert(error);
        }
        self.end_if_done(agenda);
    }

    /// The time for all writes is over.
    pub(super) fn late(&mut self, settings: &SupplySettings, agenda: &mut Agenda) {
        let message = match settings.is_held() {
            true => "the store did not answer in time; some unused ids are not given back",
            false => "the disk did not answer in time; some unused ids of the segments are not stored",
        };
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
