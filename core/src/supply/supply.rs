//! The supply of ids of all tags of one source: what its callers get, what its host carries out, and in which order.
//!
//! Construct: [`Supply::new`]. Needs, from any thread: [`Supply::tag`], [`Supply::wants_more`], [`Supply::wait`],
//! [`Supply::collect`], [`Supply::cancel`], [`Supply::put_back`], [`Supply::forget`], [`Supply::close`]. Driving, by any
//! number of threads: [`Supply::next_call`], [`Supply::done`], [`Supply::next_notice`], [`Supply::next_time`]. Queries:
//! all others. None of them waits or does IO. A host holds one lock around them, and none while it carries out a call.
//!
//! Ids are taken from the buffer of a tag, without this machine. Who finds it empty gets a ticket. The fetch of a tag
//! goes from state to state:
//!
//! | State | What is done | Next state |
//! | --- | --- | --- |
//! | Rests | ids are wanted: its back-off is awaited | Queues |
//! | Queues | its turn at the source comes: the source is up, or probed, and has room | ReadsMark, or Rests if nothing is wanted |
//! | ReadsMark | the mark says which ids were given before | Asks, or Rests after an error |
//! | Asks | the source gives a segment | Marks, or Rests after an error |
//! | Marks | the mark above the segment is made durable | Rests: only now are its ids issued; or without them |

use super::callers::{Collected, Outcome, Ticket, Wish};
use super::fetch_texts::closed;
use super::fetches::Fetches;
use super::settings::{SupplySettings, TagId};
use super::supply_call::{Call, CallEnd, Notice};
use super::tag_supply::TagSupply;
use crate::call::{CallId, Clocks};
use crate::options::check_tag;
use crate::{Code, DoubleBuffer, Error, Result, Run};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::hash::{Hash, Hasher};
use core::time::Duration;

/// The supply of ids of all tags of one source.
///
/// A clone has the same ids as the original, in buffers of its own: only one of the two may issue them. It is for
/// searches through the states.
#[derive(Clone, Debug)]
pub struct Supply {
    fetches: Fetches,
    names: BTreeMap<Arc<str>, TagId>,
}

impl Supply {
    /// With these valid options. `seed` makes back-off times differ from those of other processes; it proves nothing.
    pub fn new(settings: SupplySettings, seed: u64) -> Supply {
        let limit = settings.limit();
        Supply { fetches: Fetches::new(settings, limit, seed), names: BTreeMap::new() }
    }

    /// A tag, and the buffer from which its ids are taken. Nothing is fetched yet.
    ///
    /// Errors: `invalid_argument` for a name that this source does not accept; `closed`.
    pub fn tag(&mut self, name: &str) -> Result<(TagId, Arc<DoubleBuffer>)> {
        if self.fetches.is_closed {
            return Err(closed());
        }
        check_tag(name)?;
        let id = match self.names.get(name) {
            Some(id) => *id,
            None => {
                let (id, name) = (TagId(self.fetches.agenda.number()), Arc::<str>::from(name));
                let tag = TagSupply::new(Arc::clone(&name), &self.fetches.settings);
                self.fetches.tags.insert(id, Box::new(tag));
                self.names.insert(name, id);
                id
            }
        };
        self.buffer(id).map(|buffer| (id, buffer)).ok_or_else(closed)
    }

    /// The buffer of a tag: of a clone it is another one.
    pub fn buffer(&self, tag: TagId) -> Option<Arc<DoubleBuffer>> {
        self.fetches.tags.get(&tag).map(|tag| Arc::clone(&tag.buffer))
    }

    /// A taker got the id that requests the next fetch. Without it, the next caller that finds the buffer empty does.
    pub fn wants_more(&mut self, tag: TagId, clocks: Clocks) {
        self.fetches.decide(tag, clocks.boot);
    }

    /// A caller found the buffer empty, and waits. Its ids come from the source, or were put back. It may have ended
    /// when this returns: the host collects it first, and only then waits for its [`Notice::Wake`].
    ///
    /// Ends: its ids; `segment_unavailable` when its time is over, or the code of the source's last error with its text;
    /// `unknown_tag`, and the error of a source that denies the tag; `would_block`; `closed`.
    pub fn wait(&mut self, tag: TagId, wish: Wish, clocks: Clocks) -> Ticket {
        self.fetches.wait(tag, wish, clocks.boot)
    }

    /// How a ticket ended. Once it has, it is collected, and gone.
    pub fn collect(&mut self, ticket: Ticket) -> Collected {
        let Some(caller) = self.fetches.callers.get(ticket) else {
            let error =
                Error::new(Code::Internal, "this call was collected or cancelled before; report this");
            return Collected::Failed { error, by: None };
        };
        if caller.outcome.is_none() {
            return Collected::Waits;
        }
        let Some(mut caller) = self.fetches.callers.remove(ticket) else { return Collected::Waits };
        match caller.outcome.take() {
            None => Collected::Waits,
            Some(Outcome::Given) => Collected::Ids(caller.runs),
            Some(outcome) => {
                let by = self.fetches.tags.get(&caller.tag).and_then(|tag| tag.failed_by);
                let is_of_source = !matches!(outcome, Outcome::WouldBlock) && !self.fetches.is_closed;
                let error = self.fetches.error_of(&caller, outcome);
                Collected::Failed { error, by: by.filter(|_| is_of_source) }
            }
        }
    }

    /// A caller has gone: its future was dropped, its signal aborted, its wait interrupted. Its ids are put back, also
    /// those of a ticket that was not collected.
    pub fn cancel(&mut self, ticket: Ticket, clocks: Clocks) {
        self.fetches.cancel(ticket, clocks.boot);
    }

    /// Ids that were taken from the buffer, or collected, and will not be issued. They are issued next. After a close
    /// they are a gap.
    pub fn put_back(&mut self, tag: TagId, runs: &[Run], clocks: Clocks) {
        self.fetches.put_back(tag, runs, clocks.boot);
    }

    /// Nobody uses a tag any more. If it never had ids, nothing of it stays: names that the source does not know fill no
    /// memory. Otherwise it has no effect.
    pub fn forget(&mut self, tag: TagId) {
        let is_unused = |tag: &mut TagSupply| {
            tag.received == 0 && tag.work.is_none() && tag.place.is_none() && tag.waiting() == 0
        };
        if self.fetches.tags.get_mut(&tag).is_some_and(|tag| is_unused(tag))
            && let Some(gone) = self.fetches.remove(tag)
        {
            self.names.remove(&gone);
        }
    }

    /// Ends all callers with `closed`, and all buffers. [`Notice::Closed`] comes once. A second close has no effect.
    pub fn close(&mut self, clocks: Clocks) {
        if !self.fetches.is_closed {
            self.fetches.close(clocks.boot);
        }
    }

    /// The next call to carry out; `None` until something changes, or the time of [`Supply::next_time`] has come. Whoever
    /// is free takes one.
    pub fn next_call(&mut self, clocks: Clocks) -> Option<(CallId, Call)> {
        self.fetches.run_timers(clocks.boot);
        self.fetches.next_call(clocks.boot)
    }

    /// Whether [`Supply::next_call`] would return a call.
    pub fn has_calls(&self, clocks: Clocks) -> bool {
        self.fetches.has_calls(clocks.boot)
    }

    /// A call has ended. A second end, and one after [`Notice::Abandon`], have no effect: ids of it are a gap.
    pub fn done(&mut self, call: CallId, end: CallEnd, clocks: Clocks) {
        self.fetches.done(call, end, clocks.boot);
    }

    /// What the host has to be told. It is carried out without the lock: a logger may ask for an id.
    pub fn next_notice(&mut self, clocks: Clocks) -> Option<Notice> {
        self.fetches.run_timers(clocks.boot);
        self.fetches.agenda.notice(&self.fetches.callers)
    }

    /// When to poll again, by the boot time, whatever happens until then: a time that has passed means now.
    pub fn next_time(&self) -> Option<Duration> {
        let opens = || {
            let (at_ms, _) = self.fetches.breaker.opens_ms().filter(|_| self.fetches.agenda.ready() > 0)?;
            Some(Duration::from_millis(u64::try_from(at_ms).unwrap_or(0)))
        };
        [self.fetches.agenda.next_time(), opens()].into_iter().flatten().min()
    }
}

impl Supply {
    /// What decides about what comes next, without statistics and numbers.
    fn deciding(&self) -> impl Hash + Eq + '_ {
        let tags: alloc::vec::Vec<&TagSupply> = self.fetches.tags.values().map(|tag| &**tag).collect();
        let callers: alloc::vec::Vec<_> = self.fetches.callers.states().collect();
        (tags, callers, &self.fetches.breaker, self.fetches.calls.len(), self.fetches.is_closed)
    }
}

impl PartialEq for Supply {
    fn eq(&self, other: &Supply) -> bool {
        self.deciding() == other.deciding()
    }
}

impl Eq for Supply {}

impl Hash for Supply {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.deciding().hash(state);
    }
}
