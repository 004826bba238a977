//! The calls that wait for ids: what each has and still needs, and in which order they are served.
//!
//! | State of a ticket | Event | Next state |
//! | --- | --- | --- |
//! | waits | it has all its ids | given |
//! | waits | its time is over; the source refuses its tag; the supply is closed | failed: its ids are put back |
//! | waits | a thread that may not wait that long waits no longer | failed, with `would_block` |
//! | any | cancelled | gone: its ids are put back |
//! | given, failed | collected | gone |
//!
//! Calls for one id are served in the order in which they came. Larger ones take turns, so that no call keeps the
//! others waiting, however many ids it needs: after so many ids for calls of one id, one of them gets as many.

use super::settings::TagId;
use crate::call::CallId;
use crate::sorted_map::SortedMap;
use crate::{Error, Fetched, Run};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hash::Hash;
use core::time::Duration;

/// The number of ids of one turn, if not many more are at hand.
const TURN: u64 = 256;
/// At most about this number of turns share the ids at hand.
const TURNS: u64 = 64;

/// A call that waits for ids. It ends in exactly one way, and is collected or cancelled once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a caller wishes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wish {
    /// The number of ids that it still needs, without those of `had`. With 0 it waits until there are some.
    pub count: usize,
    /// The ids that it took from the buffer before. They are collected before the others, or put back.
    pub had: Vec<Run>,
    /// How long it waits for the next ids. Each time it gets some, this time begins again.
    pub timeout: Duration,
    /// For a thread that may wait only so long, or for one of a source that needs this thread's event loop.
    pub blocks_at_most: Option<Duration>,
}

/// How a ticket ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Collected {
    /// It has not ended. Its [`super::Notice::Wake`] will come.
    Waits,
    /// All its ids, in the order in which they are issued.
    Ids(Vec<Run>),
    /// The range of [`super::Supply::take_range`].
    Range(Fetched),
    /// It got nothing; what it had was put back.
    Failed {
        /// Why.
        error: Error,
        /// The call to the source that failed last for its tag, if the error comes from one: a host may have the error
        /// object of its language.
        by: Option<CallId>,
    },
}

/// How a ticket ended, before its text is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Given,
    Range(Fetched),
    Failed(Error),
    /// At this time.
    Late(Duration),
    WouldBlock,
}

/// The state of one ticket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    pub(super) tag: TagId,
    pub(super) left: usize,
    pub(super) runs: Vec<Run>,
    pub(super) timeout: Duration,
    pub(super) deadline: Duration,
    /// When its thread may wait no longer.
    pub(super) blocks_until: Option<Duration>,
    /// The number of fetches of its tag that had begun when its wait began. Their errors are too old for it.
    pub(super) before: u64,
    /// Since when it waits; `None` before that.
    pub(super) waits_since: Option<Duration>,
    /// The time of its entry among the timers.
    pub(super) due: Option<Duration>,
    pub(super) outcome: Option<Outcome>,
    /// It waits for a range past the buffer.
    pub(super) is_range: bool,
    /// The call that is made for it alone.
    pub(super) call: Option<CallId>,
    /// Its end is reported by what its caller gets back, not by a notice.
    pub(super) is_quiet: bool,
}

impl Caller {
    pub(super) fn new(tag: TagId, wish: Wish, now: Duration) -> Caller {
        let blocks_until = wish.blocks_at_most.map(|most| now.saturating_add(most));
        Caller {
            tag,
            left: wish.count,
            runs: wish.had,
            timeout: wish.timeout,
            deadline: now.saturating_add(wish.timeout),
            blocks_until,
            before: 0,
            waits_since: None,
            due: None,
            outcome: None,
            is_range: false,
            call: None,
            is_quiet: true,
        }
    }

    /// The time at which it ends if nothing comes.
    pub(super) fn ends_at(&self) -> Duration {
        self.blocks_until.map_or(self.deadline, |until| until.min(self.deadline))
    }

    /// Whether its thread may wait no longer.
    pub(super) fn is_blocked(&self, now: Duration) -> bool {
        self.blocks_until.is_some_and(|until| until <= now)
    }

    /// The same without numbers, to compare two of them. So many fetches of its tag have ended.
    pub(super) fn deciding(&self, ended: u64) -> Caller {
        let (before, call) = (self.before.saturating_sub(ended), self.call.map(|_| CallId(0)));
        Caller { before, call, ..self.clone() }
    }

    fn receive(&mut self, run: Run, now: Duration) {
        self.left -= run.count;
        self.deadline = now.saturating_add(self.timeout);
        match self.runs.last_mut() {
            Some(last) if goes_on(last, &run) => last.count += run.count,
            _ => self.runs.push(run),
        }
    }
}

/// Whether the second run continues the first.
fn goes_on(first: &Run, second: &Run) -> bool {
    let next = (first.count as i64).checked_mul(first.stride).and_then(|ids| first.first.checked_add(ids));
    first.stride == second.stride && next == Some(second.first)
}

/// All tickets that were not collected yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tickets(SortedMap<Ticket, Box<Caller>>);

impl Tickets {
    pub(super) fn insert(&mut self, ticket: Ticket, caller: Caller) {
        self.0.insert(ticket, Box::new(caller));
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Caller> {
        self.0.get(&ticket).map(|caller| &**caller)
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Caller> {
        self.0.get_mut(&ticket).map(|caller| &mut **caller)
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Box<Caller>> {
        self.0.remove(&ticket)
    }

    /// The caller, while it waits.
    pub(super) fn waiting(&mut self, ticket: Ticket) -> Option<&mut Caller> {
        self.get_mut(ticket).filter(|caller| caller.outcome.is_none())
    }

    /// The states without their numbers, in their order.
    pub(super) fn states(&self) -> impl Iterator<Item = &Caller> {
        self.0.values().map(|caller| &**caller)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Ticket> {
        self.0.iter().map(|(ticket, _)| *ticket)
    }
}

/// The waiting calls of one tag.
#[derive(Clone, Debug, Default)]
pub(super) struct CallerLine {
    /// Calls for one id, and calls for more. Calls that have ended meanwhile are passed over.
    one: VecDeque<Ticket>,
    many: VecDeque<Ticket>,
    /// The number of calls that wait.
    waiting: usize,
    /// The number of ids that they need, all together.
    need: u64,
    /// The number of ids for calls of one id since the last turn of another, and those of the running turn of one.
    of_one: u64,
    of_many: u64,
    /// The number of fetches that had ended when the line got the error of the last one, if that refused its tag.
    told: u64,
}

impl CallerLine {
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) fn need(&self) -> u64 {
        self.need
    }

    pub(super) fn push(&mut self, ticket: Ticket, left: usize) {
        self.waiting += 1;
        self.need += left as u64;
        if left <= 1 { self.one.push_back(ticket) } else { self.many.push_back(ticket) }
    }

    /// A call that waited has ended without its ids.
    pub(super) fn leave(&mut self, left: usize, callers: &Tickets) {
        self.waiting -= 1;
        self.need -= left as u64;
        // Those that have gone are as many as those that wait, at most.
        if self.one.len() + self.many.len() > 2 * self.waiting + 16 {
            let waits = |ticket: &Ticket| callers.get(*ticket).is_some_and(|caller| caller.outcome.is_none());
            self.one.retain(waits);
            self.many.retain(waits);
        }
    }

    /// Whether the fetch that ended last is not reported to it yet. A later caller does not hear of it.
    pub(super) fn is_told_now(&mut self, ended: u64) -> bool {
        core::mem::replace(&mut self.told, ended) != ended
    }

    /// The calls that wait.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.one.iter().chain(&self.many).copied()
    }

    /// The same without numbers: calls for one id are in the order of their tickets; the others have places.
    pub(super) fn deciding(&self) -> impl Hash + Eq + use<> {
        let place = |ticket: &Ticket| self.many.iter().filter(|other| *other < ticket).count();
        let places: Vec<usize> = self.many.iter().map(place).collect();
        (self.one.len(), places, self.waiting, self.need, self.of_one, self.of_many)
    }

    /// Gives ids, of which `at_hand` are there, until no call waits or `take` has none. Calls `got` for each served.
    pub(super) fn serve(
        &mut self,
        callers: &mut Tickets,
        at_hand: u64,
        now: Duration,
        mut take: impl FnMut(usize) -> Option<Run>,
        mut got: impl FnMut(Ticket),
    ) {
        while self.waiting > 0 {
            let is_many = self.one.is_empty() || (self.of_one >= TURN && !self.many.is_empty());
            let line = if is_many { &mut self.many } else { &mut self.one };
            let Some(&ticket) = line.front() else { return };
            let Some(caller) = callers.waiting(ticket) else {
                line.pop_front();
                if is_many {
                    self.of_many = 0;
                }
                continue;
            };
            let turn = match is_many {
                true if self.one.is_empty() && self.many.len() == 1 => u64::MAX,
                true => TURN.max(at_hand / TURNS).saturating_sub(self.of_many).max(1),
                false => 1,
            };
            let count = if caller.left == 0 {
                0
            } else {
                let most = caller.left.min(usize::try_from(turn).unwrap_or(usize::MAX));
                let Some(run) = take(most) else { return };
                caller.receive(run, now);
                run.count as u64
            };
            self.need -= count;
            let has_all = caller.left == 0;
            let turn_ends = has_all || count >= turn;
            if !is_many {
                self.of_one += count;
                self.one.pop_front();
            } else {
                self.of_many += count;
                if turn_ends {
                    (self.of_one, self.of_many) = (0, 0);
                    let front = self.many.pop_front().filter(|_| !has_all);
                    self.many.extend(front);
                }
            }
            self.waiting -= usize::from(has_all);
            got(ticket);
        }
    }
}
