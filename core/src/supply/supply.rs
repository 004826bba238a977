//! The supply of ids of all tags of one source: what its callers get, what its host carries out, and in which order.
//!
//! Construct: [`Supply::new`]. Needs, from any thread: [`Supply::tag`], [`Supply::wants_more`], [`Supply::wait`],
//! [`Supply::take_range`], [`Supply::collect`], [`Supply::cancel`], [`Supply::put_back`], [`Supply::forget`],
//! [`Supply::close`]. Driving, by any number of threads: [`Supply::next_call`], [`Supply::done`],
//! [`Supply::next_notice`], [`Supply::next_time`]. Queries: all others. None of them waits or does IO. A host holds one
//! lock around them, and none while it carries out a call.
//!
//! Ids are taken from the buffer of a tag, without this machine. Who finds it empty gets a ticket. The fetch of a tag
//! goes from state to state; any of its errors leads to `Rests`:
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | `Rests` | ids are wanted, and its back-off is over | `Queues` |
//! | `Queues` | its turn comes: the source is up, or probed, and has room | `TakesUnused`, the first time, if they are kept; else `ReadsMark`; `Asks` where the supply holds the marks |
//! | `Queues` | its turn comes, and no ids are wanted any more | `Rests` |
//! | `Queues` | it is forgotten, and its last ticket is collected or cancelled | `Rests`, and the tag is gone |
//! | `TakesUnused` | unused ids of an earlier process are gone from the file | `Rests`: they are issued |
//! | `TakesUnused` | there are none | `ReadsMark` |
//! | `ReadsMark` | which ids were given before is known | `Asks` |
//! | `Asks` | the source gave segments | `Marks` |
//! | `Marks` | the mark above them is durable | `Rests`: only now are their ids issued |
//!
//! A forgotten tag goes from `Rests` as soon as no ticket of it is left. Segments go to the callers that wait, and then
//! to the buffer. Closed, all ends of calls are without effect but those that store unused ids or give them back.

use super::caller_errors::{error_of, late_of};
use super::close::Closing;
use super::fetch_texts::closed;
use super::fetches::Fetches;
use super::prewarming::Prewarming;
use super::settings::{SupplySettings, TagId};
use super::supply_call::{Call, CallEnd, Notice, SupplyEnd};
use super::supply_stats::{SupplyStats, TagStats};
use super::tag_supply::TagSupply;
use super::tickets::{Collected, Outcome, Ticket, Wish};
use crate::call::{CallId, Clocks};
use crate::{Code, DoubleBuffer, Error, Result, Run};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::time::Duration;

/// The supply of ids of all tags of one source.
///
/// A clone has the same ids as the original, in buffers of its own: only one of the two may issue them. It is for
/// searches through the states. Two are equal if the same comes next, whatever their numbers and statistics.
#[derive(Clone, Debug)]
pub struct Supply {
    fetches: Fetches,
    prewarming: Prewarming,
    closing: Option<Closing>,
    /// When it was polled last.
    polled: Duration,
}

impl Supply {
    /// With these valid options. `seed` makes back-off times differ from those of other processes; it proves nothing.
    pub fn new(settings: SupplySettings, seed: u64) -> Supply {
        let fetches = Fetches::new(settings, seed);
        Supply { prewarming: Prewarming::new(&fetches.needs), fetches, closing: None, polled: Duration::ZERO }
    }

    /// A tag, and the buffer from which its ids are taken. Nothing is fetched yet.
    ///
    /// Errors: `invalid_argument` for a name that this source does not accept; `closed`.
    pub fn tag(&mut self, name: &str) -> Result<(TagId, Arc<DoubleBuffer>)> {
        let id = self.fetches.needs.tag(name)?;
        self.buffer(id).map(|buffer| (id, buffer)).ok_or_else(closed)
    }

    /// The buffer of a tag: of a clone it is another one.
    pub fn buffer(&self, tag: TagId) -> Option<Arc<DoubleBuffer>> {
        self.fetches.needs.tags.get(&tag).map(|tag| Arc::clone(&tag.buffer))
    }

    /// A taker got the id that requests the next fetch. Without it, the next caller that finds the buffer empty does.
    pub fn wants_more(&mut self, tag: TagId, clocks: Clocks) {
        self.fetches.needs.decide(tag, clocks.boot);
    }

    /// A caller found the buffer empty, and waits. Its ids come from the source, or were put back. It may have ended
    /// when this returns: the host collects it first, and only then waits for its [`Notice::Wake`].
    ///
    /// Ends: its ids; `segment_unavailable` when its time is over, or the code of the source's last error with its text;
    /// `unknown_tag`, and the error of a source that denies the tag; `would_block`; `closed`.
    pub fn wait(&mut self, tag: TagId, wish: Wish, clocks: Clocks) -> Ticket {
        let ticket = self.fetches.needs.wait(tag, wish, clocks.boot);
        self.fetches.hurry(tag, clocks.boot);
        ticket
    }

    /// A caller wants a range past the buffer: of `step` ids, or as many as the source gives if it is 0, none below
    /// `after`. Several of one tag may be under way.
    ///
    /// Ends: the range; the error of the source; `unknown_tag`; `segment_regressed` and `source_invalid` for ids that were
    /// given before; `segment_unavailable` when its time is over; `closed`; `invalid_argument` for a supply that does not
    /// hold its marks itself, where no range may go past them.
    pub fn take_range(
        &mut self,
        tag: TagId,
        step: i64,
        after: i64,
        timeout: Duration,
        clocks: Clocks,
    ) -> Ticket {
        let needs = &mut self.fetches.needs;
        let allowed = "a range from a supply that holds its marks";
        let refused = (!needs.settings.is_held()).then(|| Error::invalid("take_range", "called", allowed));
        let ticket = needs.wait_for_range(tag, timeout, refused, clocks.boot);
        if needs.callers.waiting(ticket).is_some() {
            self.fetches.ranges.push(ticket, step, after);
        }
        ticket
    }

    /// How a ticket ended. Once it has, it is collected, and gone.
    pub fn collect(&mut self, ticket: Ticket) -> Collected {
        match self.fetches.needs.callers.get(ticket) {
            None => {
                let error =
                    Error::new(Code::Internal, "this call was collected or cancelled before; report this");
                return Collected::Failed { error, by: None };
            }
            Some(caller) if caller.outcome.is_none() => return Collected::Waits,
            Some(_) => {}
        }
        let Some(mut caller) = self.fetches.needs.remove(ticket) else { return Collected::Waits };
        let tag = caller.tag;
        let collected = match caller.outcome.take() {
            None => Collected::Waits,
            Some(Outcome::Given) => Collected::Ids(caller.runs),
            Some(Outcome::Range(fetched)) => Collected::Range(fetched),
            Some(outcome) => {
                let failed_by = self.fetches.needs.tags.get(&caller.tag).and_then(|tag| tag.failed_by());
                let by = caller
                    .call
                    .or(failed_by)
                    .filter(|_| !matches!(outcome, Outcome::WouldBlock) && !self.fetches.needs.is_closed);
                Collected::Failed { error: error_of(&self.fetches, &caller, outcome), by }
            }
        };
        self.fetches.leave_if_unused(tag);
        collected
    }

    /// Ids that are at hand although the buffer is empty: `count` of them, behind those that the caller `had`. If there are
    /// fewer, a fetch is asked for, and what it had is put back. Errors: those of a caller that waits for nothing.
    pub fn at_hand(&mut self, tag: TagId, count: usize, had: Vec<Run>, clocks: Clocks) -> Result<Vec<Run>> {
        let (timeout, blocks_at_most) = (Duration::MAX, Some(Duration::ZERO));
        let ticket = self.wait(tag, Wish { count, had, timeout, blocks_at_most }, clocks);
        match self.collect(ticket) {
            Collected::Ids(runs) => Ok(runs),
            Collected::Failed { error, .. } => Err(error),
            Collected::Waits | Collected::Range(_) => {
                self.cancel(ticket, clocks);
                Err(closed())
            }
        }
    }

    /// As [`Supply::at_hand`], at most `most` of them, all of one run. `None`: there are none, and a fetch for `need` ids
    /// is asked for.
    pub fn run_at_hand(
        &mut self,
        tag: TagId,
        most: usize,
        need: usize,
        clocks: Clocks,
    ) -> Result<Option<Run>> {
        match self.at_hand(tag, need.max(1), Vec::new(), clocks) {
            Ok(mut runs) => {
                let run = runs.first_mut().map(|first| first.take_first(most)).ok_or_else(closed)?;
                self.put_back(tag, &runs, clocks);
                Ok(Some(run))
            }
            Err(error) if error.code() == Code::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The tag of a ticket that was not collected or cancelled.
    pub fn tag_of(&self, ticket: Ticket) -> Option<TagId> {
        self.fetches.needs.callers.get(ticket).map(|caller| caller.tag)
    }

    /// The error of a caller that has waited for so long elsewhere, as in a line of its binding.
    pub fn late(&self, tag: TagId, waited: Duration, clocks: Clocks) -> Error {
        late_of(&self.fetches, tag, waited, clocks.boot)
    }

    /// A caller has gone: its future was dropped, its signal aborted, its wait interrupted. Its ids are put back, also
    /// those of a ticket that was not collected.
    pub fn cancel(&mut self, ticket: Ticket, clocks: Clocks) {
        let Some(caller) = self.fetches.needs.cancel(ticket, clocks.boot) else { return };
        self.fetches.ranges.leave(ticket, caller.call, &mut self.fetches.needs.agenda);
        self.fetches.leave_if_unused(caller.tag);
    }

    /// Ids that were taken from the buffer, or collected, and will not be issued. They are issued after those in the
    /// buffer. After a close they are a gap.
    pub fn put_back(&mut self, tag: TagId, runs: &[Run], clocks: Clocks) {
        self.fetches.needs.put_back(tag, runs, clocks.boot);
    }

    /// A tag is unused from now on, until [`Supply::tag`] asks for its name again. If it never had ids, nothing of it
    /// stays: names that the source does not know fill no memory. It goes at once, or as soon as its fetch has ended and
    /// its last ticket is collected or cancelled. On a tag that had ids it has no effect: they, and its mark, stay.
    pub fn forget(&mut self, tag: TagId) {
        self.fetches.needs.tags.get_mut(&tag).into_iter().for_each(|tag| tag.is_unused = true);
        self.fetches.leave_if_unused(tag);
    }

    /// Ends all callers with `closed`, and all buffers. Unused ids are stored, if they are kept, or given back to a store
    /// that takes them. [`Notice::Closed`] comes once, within 2 s, or the time of the store. A second close has no effect.
    pub fn close(&mut self, clocks: Clocks) {
        if self.closing.is_some() {
            return;
        }
        let listing = self.prewarming.close();
        self.fetches.close(clocks.boot);
        let needs = &mut self.fetches.needs;
        listing.into_iter().for_each(|call| needs.agenda.tell(Notice::Abandon(call)));
        let within = needs.settings.closes_within();
        let rest = needs.tags.values_mut().map(|tag| (Arc::clone(&tag.name), tag.seal()));
        let rest = rest.filter(|(_, rest)| within.is_some() && !rest.is_empty()).collect();
        let by = clocks.boot.saturating_add(within.unwrap_or_default());
        self.closing = Some(Closing::new(rest, by, &mut needs.agenda));
    }

    /// The next call to carry out; `None` until something changes, or the time of [`Supply::next_time`] has come. Whoever
    /// is free takes one.
    pub fn next_call(&mut self, clocks: Clocks) -> Option<(CallId, Call)> {
        self.poll(clocks.boot);
        let needs = &mut self.fetches.needs;
        if let Some(closing) = &mut self.closing {
            return closing.next_call(&needs.settings, &self.fetches.source_name, &mut needs.agenda);
        }
        let list = self.prewarming.next_call(&self.fetches.source_name, needs);
        list.or_else(|| self.fetches.next_call(clocks.boot))
    }

    /// Whether [`Supply::next_call`] would return a call.
    pub fn has_calls(&self, clocks: Clocks) -> bool {
        match &self.closing {
            Some(closing) => closing.has_calls(),
            None => self.prewarming.is_ready() || self.fetches.has_calls(clocks.boot),
        }
    }

    /// A call has ended. A second end, and one after [`Notice::Abandon`], have no effect: ids of it are a gap.
    pub fn done(&mut self, call: CallId, end: impl Into<CallEnd>, clocks: Clocks) {
        let (end, agenda): (CallEnd, _) = (end.into(), &mut self.fetches.needs.agenda);
        if !end.is_of(call) {
            return;
        }
        match (&mut self.closing, end.0) {
            (Some(closing), end) => closing.done(call, end, agenda),
            (None, SupplyEnd::Listed(end)) => self.prewarming.listed(call, end, agenda),
            (None, end) => self.fetches.done(call, end, clocks.boot),
        }
        self.poll_prewarming(clocks.boot);
    }

    /// The next notice for the host. It is carried out without the lock: a logger may ask for an id.
    pub fn next_notice(&mut self, clocks: Clocks) -> Option<Notice> {
        self.poll(clocks.boot);
        let needs = &mut self.fetches.needs;
        needs.agenda.notice(&needs.callers)
    }

    /// When to poll again, by the boot time, if nothing happens until then: a time that has passed means now. Calls that
    /// can be taken already do not count: after each event the host asks [`Supply::has_calls`].
    pub fn next_time(&self) -> Option<Duration> {
        let needs = &self.fetches.needs;
        let opens = || {
            let (at_ms, _) = needs.breaker.opens_ms().filter(|_| needs.agenda.ready() > 0)?;
            Some(Duration::from_millis(u64::try_from(at_ms).unwrap_or(0)))
        };
        let behind = self.fetches.is_behind.then_some(Duration::ZERO);
        let opens = behind.or_else(|| opens().filter(|at| *at > self.polled));
        [needs.agenda.next_time(), opens].into_iter().flatten().min()
    }

    /// The state of a tag; `None` once it is forgotten.
    pub fn tag_stats(&self, tag: TagId) -> Option<TagStats> {
        let needs = &self.fetches.needs;
        needs.tags.get(&tag).map(|tag| TagStats::of(tag, needs.settings.stock()))
    }

    /// All tags, in the order of their names.
    pub fn tags(&self) -> impl Iterator<Item = (&str, TagId)> {
        self.fetches.needs.names.iter().map(|(name, id)| (&**name, *id))
    }

    /// The state of the supply.
    pub fn stats(&self) -> SupplyStats {
        SupplyStats::of(&self.fetches)
    }

    /// Runs what is due.
    fn poll(&mut self, now: Duration) {
        self.polled = now;
        if self.fetches.run_timers(now)
            && let Some(closing) = &mut self.closing
        {
            let needs = &mut self.fetches.needs;
            closing.late(&needs.settings, &mut needs.agenda);
        }
        self.poll_prewarming(now);
    }

    fn poll_prewarming(&mut self, now: Duration) {
        self.prewarming.ended(core::mem::take(&mut self.fetches.ended));
        self.prewarming.go_on(&mut self.fetches.needs, now);
    }

    /// What decides about what comes next, without statistics and numbers.
    fn deciding(&self) -> impl Hash + Eq + '_ {
        let needs = &self.fetches.needs;
        let tags: Vec<&TagSupply> = needs.tags.values().map(|tag| &**tag).collect();
        let ended = |tag| needs.tags.get(&tag).map_or(0, |tag| tag.fetch.ended());
        let callers: Vec<_> = needs.callers.states().map(|each| each.deciding(ended(each.tag))).collect();
        let fetches = (self.fetches.deciding(), &needs.breaker, needs.is_closed);
        (tags, callers, fetches, &self.prewarming, &self.closing)
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
