//! What a supply has to do: the tags whose turn comes, its timers, and its notices for the host.

use super::settings::TagId;
use super::supply_call::Notice;
use super::tickets::{Ticket, Tickets};
use crate::call::{CallId, Level};
use crate::sorted_map::SortedMap;
use alloc::collections::VecDeque;
use alloc::string::String;
use core::time::Duration;

/// The largest number of timers of one poll, so that no poll holds the lock of a supply for long.
pub(super) const MOST_TIMERS: usize = 64;

/// How much a tag is in need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Urgency {
    /// Its fetch is under way, and needs the next call.
    GoesOn,
    /// A caller waits.
    Waits,
    /// No caller waits yet.
    Ahead,
}

/// The place of a tag among those whose turn comes: by urgency, then by number.
pub(super) type QueuePlace = (Urgency, i64);

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Timer {
    /// The time of a caller is over.
    Caller(Ticket),
    /// The back-off of a tag is over.
    Tag(TagId),
    /// The end of a call was not reported in time.
    Call(CallId),
    /// Ids that came one by one were gathered for long enough.
    Gathered(TagId),
    /// A close takes too long.
    Close,
}

/// What has to be done, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    ready: SortedMap<(QueuePlace, TagId), ()>,
    timers: SortedMap<(Duration, Timer), ()>,
    notices: VecDeque<Notice>,
    /// The last place at the end, and the first one at the front.
    last: i64,
    first: i64,
    numbers: u64,
}

impl Agenda {
    /// A number that was never given before: of a ticket, a tag or a call.
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Puts a tag among those whose turn comes, before or behind all others of its urgency.
    pub(super) fn queue(&mut self, tag: TagId, urgency: Urgency, comes_first: bool) -> QueuePlace {
        let number = if comes_first { &mut self.first } else { &mut self.last };
        *number += if comes_first { -1 } else { 1 };
        let place = (urgency, *number);
        self.ready.insert((place, tag), ());
        place
    }

    /// A tag that waits for its turn is more urgent now; returns its place.
    pub(super) fn move_up(&mut self, tag: TagId, place: QueuePlace, urgency: Urgency) -> QueuePlace {
        if urgency >= place.0 {
            return place;
        }
        self.ready.remove(&(place, tag));
        let place = (urgency, place.1);
        self.ready.insert((place, tag), ());
        place
    }

    pub(super) fn leave(&mut self, tag: TagId, place: QueuePlace) {
        self.ready.remove(&(place, tag));
    }

    /// The next tag, and whether its fetch goes on.
    pub(super) fn next(&self) -> Option<(QueuePlace, TagId)> {
        self.ready.first().map(|(next, _)| *next)
    }

    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    pub(super) fn set(&mut self, at: Duration, timer: Timer) {
        self.timers.insert((at, timer), ());
    }

    pub(super) fn unset(&mut self, at: Duration, timer: Timer) {
        self.timers.remove(&(at, timer));
    }

    /// The next timer whose time has come. `ran`: the number of timers that this poll has run before.
    pub(super) fn due(&mut self, now: Duration, ran: usize) -> Option<Timer> {
        let (first, _) = *self.timers.first().filter(|((at, _), _)| *at <= now && ran < MOST_TIMERS)?;
        self.timers.remove(&first);
        Some(first.1)
    }

    /// The time of the next timer.
    pub(super) fn next_time(&self) -> Option<Duration> {
        self.timers.first().map(|((at, _), _)| *at)
    }

    pub(super) fn wake(&mut self, ticket: Ticket) {
        self.notices.push_back(Notice::Wake(ticket));
    }

    pub(super) fn log(&mut self, level: Level, line: String) {
        self.notices.push_back(Notice::Log(level, line));
    }

    pub(super) fn tell(&mut self, notice: Notice) {
        self.notices.push_back(notice);
    }

    /// The next notice; none for a ticket that was collected or cancelled meanwhile.
    pub(super) fn notice(&mut self, callers: &Tickets) -> Option<Notice> {
        loop {
            match self.notices.pop_front()? {
                Notice::Wake(ticket) if callers.get(ticket).is_none() => {}
                notice => return Some(notice),
            }
        }
    }

    /// Nothing comes next any more. Notices stay.
    pub(super) fn clear(&mut self) {
        self.ready.clear();
        self.timers.clear();
    }
}
