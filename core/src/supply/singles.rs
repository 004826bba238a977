//! The requests to a source that returns ids one by one: several run beside each other, and all tags share them. The
//! table of [`SingleIds`] says when a fetch of a tag is completed by them.

use super::agenda::{Agenda, Timer};
use super::asked_servers::AskedServers;
use super::settings::{Source, TagId};
use crate::call::CallId;
use crate::http::{Exchange, HttpEnd};
use crate::segment::single_ids::{SingleIds, SingleIdsActions, SingleIdsAnswer};
use crate::sorted_map::SortedMap;
use crate::{Fetched, Result, Segment};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::Hash;
use core::time::Duration;

/// The requests of all tags of a Leaf.
#[derive(Clone, Debug)]
pub(super) struct Singles {
    ids: SingleIds<TagId, ()>,
    /// The number of ids in one response.
    each: u64,
    /// The requests that are under way.
    calls: SortedMap<CallId, (TagId, Box<Exchange>)>,
    /// Those that are sent to the next server.
    again: VecDeque<(TagId, Box<Exchange>)>,
}

/// What a fetch got.
pub(super) struct Gathered {
    pub(super) tag: TagId,
    pub(super) segments: Result<Vec<Segment>>,
    /// The number of requests that failed.
    pub(super) requests: usize,
}

impl Singles {
    /// `None` for other sources.
    pub(super) fn of(source: &Source) -> Option<Singles> {
        let (mode, connections) = source.leaf()?;
        let ids = SingleIds::new(connections.max(1));
        Some(Singles { ids, each: mode.each() as u64, calls: SortedMap::new(), again: VecDeque::new() })
    }

    /// The fetch of a tag wants this many ids. `waits`: a caller waits for them.
    pub(super) fn fetch(
        &mut self,
        tag: TagId,
        count: i64,
        waits: bool,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Option<Gathered> {
        let short = (count.max(1) as u64).div_ceil(self.each);
        let actions = self.ids.fetch(&tag, short, waits, (), now);
        act(tag, actions, agenda)
    }

    /// A caller waits for what the fetch of a tag has gathered.
    pub(super) fn hurry(&mut self, tag: TagId, now: Duration) -> Option<Gathered> {
        let answer = self.ids.hurry(&tag, now)?;
        Some(gathered(tag, answer))
    }

    /// The next tag to ask for, or to ask another server for.
    pub(super) fn next(&mut self, now: Duration) -> Option<(TagId, Option<Box<Exchange>>)> {
        if let Some((tag, exchange)) = self.again.pop_front() {
            return Some((tag, Some(exchange)));
        }
        self.ids.next(now).map(|tag| (tag, None))
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.again.is_empty() || self.ids.is_ready()
    }

    pub(super) fn begun(&mut self, call: CallId, tag: TagId, exchange: Box<Exchange>) {
        self.calls.insert(call, (tag, exchange));
    }

    /// The tag for which a request is under way.
    pub(super) fn tag_of(&self, call: CallId) -> Option<TagId> {
        self.calls.get(&call).map(|(tag, _)| *tag)
    }

    /// A request has ended. `end`: how; `None` if that was not reported in time.
    pub(super) fn call_ended(
        &mut self,
        servers: &mut AskedServers,
        call: CallId,
        end: Option<HttpEnd>,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Option<Gathered> {
        let (tag, mut exchange) = self.calls.remove(&call)?;
        let came = match end {
            Some(end) => servers.ended(&mut exchange, call, end, agenda, now),
            None => servers.overdue(&mut exchange, now),
        };
        match came {
            Some(came) => self.request_ended(tag, came, agenda, now),
            None => {
                self.again.push_back((tag, exchange));
                None
            }
        }
    }

    /// A request over all servers has ended.
    pub(super) fn request_ended(
        &mut self,
        tag: TagId,
        came: Result<Fetched>,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Option<Gathered> {
        let actions = self.ids.ended(&tag, came.map(|fetched| fetched.segment), now);
        act(tag, actions, agenda)
    }

    /// The time of [`Timer::Gathered`] has come.
    pub(super) fn timer(&mut self, tag: TagId, agenda: &mut Agenda, now: Duration) -> Option<Gathered> {
        let actions = self.ids.timer(&tag, now);
        act(tag, actions, agenda)
    }

    /// Since when requests for the tag have run without any response.
    pub(super) fn silent_since(&self, tag: TagId) -> Option<Duration> {
        self.ids.silent_since(&tag)
    }

    /// The tag is unused now. Returns false while requests for it run, or ids that came are not given yet.
    pub(super) fn forget(&mut self, tag: TagId) -> bool {
        self.ids.forget(&tag)
    }

    /// Gives up all requests; returns their numbers.
    pub(super) fn close(&mut self) -> impl Iterator<Item = CallId> + use<> {
        self.again.clear();
        core::mem::take(&mut self.calls).into_keys()
    }

    /// The state without numbers.
    pub(super) fn deciding(&self) -> impl Hash + Eq + '_ {
        (&self.ids, self.calls.values().collect::<Vec<_>>(), self.again.len())
    }
}

fn act(tag: TagId, actions: SingleIdsActions<()>, agenda: &mut Agenda) -> Option<Gathered> {
    actions.wake_at.into_iter().for_each(|at| agenda.set(at, Timer::Gathered(tag)));
    actions.answer.map(|answer| gathered(tag, answer))
}

fn gathered(tag: TagId, answer: SingleIdsAnswer<()>) -> Gathered {
    Gathered { tag, segments: answer.result, requests: answer.requests }
}
