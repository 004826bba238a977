//! The double buffer of a tag: the segment that is issued, and the one that comes after it.

use crate::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use crate::{Run, Segment};
use alloc::vec::Vec;
use core::hint::spin_loop;

/// The next ticket of a sealed buffer. No ticket is ever so large.
const SEALED: u64 = u64::MAX;
/// How long a thread that lost a ticket leaves the cache line to others: pauses of 15 to 50 ns each.
const PAUSES: usize = 32;

/// Two segments, taken from by many threads without a lock.
///
/// Each id has a ticket: a number that goes up by one with every id and is never used again. A slot holds the tickets from
/// `first` to `end`. Who takes reads the next ticket, finds the slot that holds it, and moves the ticket on by a compare
/// and exchange; where that succeeds nobody took the ticket before.
///
/// A slot is filled anew only once its tickets are all taken: `end` is written last and read first. Who read the old
/// `end` therefore has a ticket below it, which is lost if the slot was filled anew, so that the exchange fails whatever
/// else it read; who read the new one sees all that was written before it.
#[derive(Debug)]
pub struct DoubleBuffer {
    next: AtomicU64,
    /// Where to look first: a hint.
    turn: AtomicU32,
    slots: [Slot; 2],
}

/// A segment and its tickets.
#[derive(Debug)]
struct Slot {
    first: AtomicU64,
    /// The ticket after its last: written last, and read first.
    end: AtomicU64,
    start: AtomicU64,
    stride: AtomicU64,
    /// Of the id, counted from 0, during whose take the next fetch is asked for.
    fetch_at: AtomicU64,
}

/// The right to fill a [`DoubleBuffer`]: whoever holds it is the only one.
#[derive(Debug)]
pub struct Filler {
    /// The ticket after the last segment's last.
    end: u64,
    /// The slot to fill next.
    slot: usize,
}

/// The reason why a buffer returns no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// Both segments are used up.
    UsedUp,
    /// The buffer was sealed.
    Sealed,
}

impl DoubleBuffer {
    /// An empty buffer, and the right to fill it.
    pub const fn new() -> (DoubleBuffer, Filler) {
        let slots = [const { Slot::unused() }; 2];
        (DoubleBuffer { next: AtomicU64::new(0), turn: AtomicU32::new(0), slots }, Filler { end: 0, slot: 0 })
    }

    /// The next id, and whether the next segment is to be fetched now: said once for each segment.
    #[inline]
    pub fn take(&self) -> Result<(i64, bool), Empty> {
        loop {
            let ticket = self.next.load(Relaxed);
            let Some((slot, at)) = self.find(ticket) else {
                self.why_empty(ticket)?;
                continue;
            };
            let (id, wants_fetch) = (slot.id(at), at == slot.fetch_at.load(Relaxed));
            if self.next.compare_exchange_weak(ticket, ticket + 1, Release, Relaxed).is_ok() {
                return Ok((id, wants_fetch));
            }
            pause_for_others();
        }
    }

    /// The next ids, at most `most`, all of one segment; at least one unless `most` is 0.
    pub fn take_many(&self, most: usize) -> Result<(Run, bool), Empty> {
        self.take_at_most(most, |_, _| u64::MAX)
    }

    /// As [`DoubleBuffer::take_many`], for ids that are issued later: the one that asks for the next fetch is the first of
    /// its run, so that the fetch is not asked for before its time.
    pub fn take_run(&self, most: usize) -> Result<(Run, bool), Empty> {
        self.take_at_most(most, Slot::before_fetch)
    }

    /// As [`DoubleBuffer::take_run`], and at most one of so many parts of the segment: the others are left to others.
    pub fn take_part(&self, most: usize, parts: u64) -> Result<(Run, bool), Empty> {
        self.take_at_most(most, |slot, at| slot.before_fetch(at).min(slot.len().div_ceil(parts)))
    }

    #[inline]
    fn take_at_most(&self, most: usize, bound: impl Fn(&Slot, u64) -> u64) -> Result<(Run, bool), Empty> {
        loop {
            let ticket = self.next.load(Relaxed);
            let Some((slot, at)) = self.find(ticket) else {
                self.why_empty(ticket)?;
                continue;
            };
            let most = bound(slot, at).min(most as u64);
            // The slot may have been filled anew since it was found: then the ticket is lost.
            let count = slot.end.load(Relaxed).saturating_sub(ticket).min(most);
            let wants_fetch = (at..at + count).contains(&slot.fetch_at.load(Relaxed));
            let (first, stride) = (slot.id(at), slot.stride.load(Relaxed) as i64);
            if self.next.compare_exchange_weak(ticket, ticket + count, Release, Relaxed).is_ok() {
                return Ok((Run { first, stride, count: count as usize }, wants_fetch));
            }
        }
    }

    /// The slot that holds a ticket, and which of its ids that is.
    #[inline]
    fn find(&self, ticket: u64) -> Option<(&Slot, u64)> {
        let turn = self.turn.load(Relaxed) as usize & 1;
        if let Some(at) = self.slots[turn].place_of(ticket) {
            return Some((&self.slots[turn], at));
        }
        let at = self.slots[1 - turn].place_of(ticket)?;
        self.turn.store(1 - turn as u32, Relaxed);
        Some((&self.slots[1 - turn], at))
    }

    /// A ticket was in neither slot. That also happens if others took so many ids that both were filled anew meanwhile.
    #[cold]
    fn why_empty(&self, ticket: u64) -> Result<(), Empty> {
        match self.next.load(Acquire) {
            SEALED => Err(Empty::Sealed),
            next if next == ticket => Err(Empty::UsedUp),
            _ => Ok(()),
        }
    }

    /// Adds a segment behind what is there; `prefetch`: of how much of it, in percent, more must be used before the next
    /// one is asked for. Answers it back while both slots are taken, or when the buffer was sealed.
    pub fn offer(&self, filler: &mut Filler, segment: Segment, prefetch: u32) -> Result<(), Segment> {
        if !self.has_room(filler) {
            return Err(segment);
        }
        let slot = &self.slots[filler.slot];
        // Whoever still reads the segment that was here has lost its ticket.
        let fetch_at = u128::from(segment.len()) * u128::from(prefetch) / 100 + 1;
        slot.first.store(filler.end, Relaxed);
        slot.start.store(segment.start() as u64, Relaxed);
        slot.stride.store(segment.stride() as u64, Relaxed);
        slot.fetch_at.store(u64::try_from(fetch_at).unwrap_or(u64::MAX), Relaxed);
        filler.end += segment.len();
        slot.end.store(filler.end, Release);
        filler.slot = 1 - filler.slot;
        Ok(())
    }

    /// Whether a slot is free.
    pub fn has_room(&self, filler: &Filler) -> bool {
        let slot = &self.slots[filler.slot];
        let next = self.next.load(Acquire);
        next != SEALED && slot.end() <= next
    }

    /// Whether a segment is to be fetched: a slot is free, and what is issued is used as far as `fetch_at` says.
    pub fn wants_fetch(&self, filler: &Filler) -> bool {
        let next = self.next.load(Acquire);
        let current = &self.slots[1 - filler.slot];
        let used = next.saturating_sub(current.first.load(Relaxed));
        self.has_room(filler) && (next >= filler.end || used > current.fetch_at.load(Relaxed))
    }

    /// How many ids are left.
    pub fn left(&self, filler: &Filler) -> u64 {
        filler.end.saturating_sub(self.next.load(Relaxed))
    }

    /// How many ids were taken so far.
    pub fn taken(&self, filler: &Filler) -> u64 {
        filler.end - self.left(filler)
    }

    /// Whether so little is left, a tenth of the last segment, that somebody will wait soon.
    pub fn is_low(&self, filler: &Filler) -> bool {
        self.left(filler) < self.slots[1 - filler.slot].len().div_ceil(10)
    }

    /// What is left of the segment that is issued, and the one after it.
    pub fn segments(&self, filler: &Filler) -> Vec<Segment> {
        self.rest(filler, self.next.load(Relaxed))
    }

    /// Ends the buffer: no id is issued from here on. Answers what is left, exactly; nothing the second time.
    pub fn seal(&self, filler: &Filler) -> Vec<Segment> {
        match self.next.swap(SEALED, Relaxed) {
            SEALED => Vec::new(),
            next => self.rest(filler, next),
        }
    }

    fn rest(&self, filler: &Filler, next: u64) -> Vec<Segment> {
        // The older one first.
        let slots = [&self.slots[filler.slot], &self.slots[1 - filler.slot]];
        slots.into_iter().filter_map(|slot| slot.rest(next)).collect()
    }
}

/// The thread that won takes a few ids in a row meanwhile. Two that contend for every one take four times as long for each.
#[cold]
#[inline(never)]
fn pause_for_others() {
    (0..PAUSES).for_each(|_| spin_loop());
}

impl Slot {
    const fn unused() -> Slot {
        Slot {
            first: AtomicU64::new(0),
            end: AtomicU64::new(0),
            start: AtomicU64::new(0),
            stride: AtomicU64::new(0),
            fetch_at: AtomicU64::new(0),
        }
    }

    /// Which id of the segment has this ticket.
    #[inline]
    fn place_of(&self, ticket: u64) -> Option<u64> {
        let end = self.end.load(Acquire);
        let first = self.first.load(Relaxed);
        (first <= ticket && ticket < end).then(|| ticket - first)
    }

    /// Wraps only for a ticket that was lost meanwhile.
    #[inline]
    fn id(&self, at: u64) -> i64 {
        self.start.load(Relaxed).wrapping_add(at.wrapping_mul(self.stride.load(Relaxed))) as i64
    }

    /// How many ids come before the one that asks for the next fetch; without end from that one on.
    #[inline]
    fn before_fetch(&self, at: u64) -> u64 {
        match self.fetch_at.load(Relaxed).checked_sub(at) {
            None | Some(0) => u64::MAX,
            Some(before) => before,
        }
    }

    fn end(&self) -> u64 {
        self.end.load(Relaxed)
    }

    /// 0 at the least, also while it is filled anew.
    fn len(&self) -> u64 {
        self.end().saturating_sub(self.first.load(Relaxed))
    }

    /// What is left of it from this ticket on. Only for who may fill.
    fn rest(&self, next: u64) -> Option<Segment> {
        let (first, start, stride) = (self.first.load(Relaxed), self.id(0), self.stride.load(Relaxed) as i64);
        let whole = Segment::new(start, self.id(self.len().checked_sub(1)?) + 1, stride).ok()?;
        let from = whole.id(next.saturating_sub(first))?;
        Segment::new(from, whole.end(), stride).ok()
    }
}
