//! The double buffer of a tag: the segment from which ids are issued, and the one after it.
//!
//! Construct: [`DoubleBuffer::new`]. Events: [`DoubleBuffer::take`] and its kinds, which return ids and whether to
//! fetch, [`DoubleBuffer::offer`], [`DoubleBuffer::seal`]. Queries: all others.
//!
//! | State | Event | Result, next state |
//! | --- | --- | --- |
//! | both slots used up | `take` | `Empty`; the same |
//! | a slot used up | `offer` | it holds the new segment |
//! | two segments | `offer` | refused; the same |
//! | one segment or two | `take` | ids of the first; one take of each segment asks for the next fetch |
//! | any | `seal` | what is left is returned; sealed: no id, no offer |

use crate::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence};
use crate::{Run, Segment};
use alloc::vec::Vec;
use core::hint::spin_loop;

/// The next ticket of a sealed buffer. No other ticket is this large.
const SEALED: u64 = u64::MAX;
/// How long a thread that lost a ticket leaves the cache line to other threads: pauses of 15 to 50 ns each.
const PAUSES: usize = 32;

/// Two segments. Many threads take ids from them without a lock.
///
/// Each id has a ticket: a number that increases by one with every id and is never used again. A slot holds the tickets
/// from `first` to `end`. A thread reads the next ticket, finds the slot that holds it, and advances the ticket by a
/// compare and exchange. If that succeeds, no other thread took the ticket before.
///
/// A slot is refilled only after all its tickets were taken: `end` is written last and read first. So a thread that
/// read the old `end` has a ticket below it. If the slot was refilled, that ticket is lost, and the exchange fails
/// whatever else the thread has read. A thread that read the new `end` sees everything that was written before it.
#[derive(Debug)]
pub struct DoubleBuffer {
    next: AtomicU64,
    /// A hint: the slot to check first.
    turn: AtomicU32,
    slots: [Slot; 2],
}

/// A segment and its tickets.
#[derive(Debug)]
struct Slot {
    first: AtomicU64,
    /// The ticket after the last one. It is written last and read first.
    end: AtomicU64,
    start: AtomicU64,
    stride: AtomicU64,
    /// The number of the id, from 0, that requests the next fetch when it is taken. Below 0, as a signed number, if it
    /// was taken before.
    fetch_at: AtomicU64,
}

/// The right to fill a [`DoubleBuffer`]: only its holder may fill it. A clone fills a copy of the buffer.
#[derive(Clone, Debug)]
pub struct Filler {
    /// The ticket after the last one of the last segment.
    end: u64,
    /// The slot to fill next.
    slot: usize,
}

/// The reason why a buffer returns no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Empty {
    /// Both segments are used up.
    UsedUp,
    /// The buffer was sealed.
    Sealed,
}

impl DoubleBuffer {
    /// An empty buffer, and the right to fill it.
    pub fn new() -> (DoubleBuffer, Filler) {
        let slots = [Slot::unused(), Slot::unused()];
        (DoubleBuffer { next: AtomicU64::new(0), turn: AtomicU32::new(0), slots }, Filler { end: 0, slot: 0 })
    }

    /// Takes the next id. Also returns whether to fetch the next segment now, which is true once for each segment.
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

    /// Takes the next ids, at most `most`, all of one segment; at least one unless `most` is 0.
    pub fn take_many(&self, most: usize) -> Result<(Run, bool), Empty> {
        self.take_at_most(most, |_, _| u64::MAX)
    }

    /// As [`DoubleBuffer::take_many`], for ids that are issued later. The id that requests the next fetch is the first
    /// of its run, so that the fetch is not requested too early.
    pub fn take_run(&self, most: usize) -> Result<(Run, bool), Empty> {
        self.take_at_most(most, Slot::before_fetch)
    }

    /// As [`DoubleBuffer::take_run`], and at most one of `parts` parts of the segment. The other parts are for other
    /// threads.
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
            // The slot may have been refilled since it was found: then the ticket is lost.
            let count = slot.end.load(Relaxed).saturating_sub(ticket).min(most);
            let wants_fetch = (at..at + count).contains(&slot.fetch_at.load(Relaxed));
            let (first, stride) = (slot.id(at), slot.stride.load(Relaxed) as i64);
            if self.next.compare_exchange_weak(ticket, ticket + count, Release, Relaxed).is_ok() {
                return Ok((Run { first, stride, count: count as usize }, wants_fetch));
            }
        }
    }

    /// The slot that holds a ticket, and the number of its id in the slot.
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

    /// Why a ticket was in neither slot. That also happens if other threads took so many ids that both slots were
    /// refilled, and if the ticket was read before the slot that was refilled for it.
    #[cold]
    fn why_empty(&self, ticket: u64) -> Result<(), Empty> {
        // With the `first` of `offer`: who found a slot refilled sees that its ticket is gone.
        fence(Acquire);
        match self.next.load(Acquire) {
            SEALED => Err(Empty::Sealed),
            next if next == ticket && self.find(ticket).is_none() => Err(Empty::UsedUp),
            _ => Ok(()),
        }
    }

    /// Adds a segment after the others. When more than `prefetch` percent of it are used, the next fetch is requested.
    /// If both slots are in use, or the buffer was sealed, returns the segment as the error.
    #[cfg(any(feature = "parts", test))]
    pub fn offer(&self, filler: &mut Filler, segment: Segment, prefetch: u32) -> Result<(), Segment> {
        self.offer_rest(filler, segment, prefetch, 0)
    }

    /// As `offer`, with what is left of a segment whose first `used` ids never were in the buffer.
    pub(crate) fn offer_rest(
        &self,
        filler: &mut Filler,
        segment: Segment,
        prefetch: u32,
        used: u64,
    ) -> Result<(), Segment> {
        if !self.has_room(filler) {
            return Err(segment);
        }
        let slot = &self.slots[filler.slot];
        // A thread that still reads the segment that was here has lost its ticket.
        let fetch_at = fetch_at(segment.len().saturating_add(used), prefetch).wrapping_sub(used);
        slot.first.store(filler.end, Release);
        slot.start.store(segment.start() as u64, Relaxed);
        slot.stride.store(segment.stride() as u64, Relaxed);
        slot.fetch_at.store(fetch_at, Relaxed);
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

    /// Whether to fetch a segment: a slot is free, and the issued segment is used up to `fetch_at`.
    pub fn wants_fetch(&self, filler: &Filler) -> bool {
        let next = self.next.load(Acquire);
        let current = &self.slots[1 - filler.slot];
        let used = next.saturating_sub(current.first.load(Relaxed));
        let is_due = used as i64 > current.fetch_at.load(Relaxed) as i64;
        self.has_room(filler) && (next >= filler.end || is_due)
    }

    /// The number of unused ids.
    pub fn left(&self, filler: &Filler) -> u64 {
        filler.end.saturating_sub(self.next.load(Relaxed))
    }

    /// The number of ids that were taken so far.
    pub fn taken(&self, filler: &Filler) -> u64 {
        filler.end - self.left(filler)
    }

    /// Whether so few ids are left, less than a tenth of the last segment, that a caller will wait soon.
    pub fn is_low(&self, filler: &Filler) -> bool {
        self.left(filler) < self.slots[1 - filler.slot].len().div_ceil(10)
    }

    /// The rest of the segment from which ids are issued, and the one after it.
    pub fn segments(&self, filler: &Filler) -> Vec<Segment> {
        self.rest(filler, self.next.load(Relaxed))
    }

    /// Seals the buffer: no id is issued from then on. Returns exactly the unused ids, and nothing at a second call.
    pub fn seal(&self, filler: &Filler) -> Vec<Segment> {
        match self.next.swap(SEALED, Relaxed) {
            SEALED => Vec::new(),
            next => self.rest(filler, next),
        }
    }

    fn rest(&self, filler: &Filler, next: u64) -> Vec<Segment> {
        self.slots(filler).filter_map(|slot| slot.rest(next)).collect()
    }

    /// The older one first.
    fn slots(&self, filler: &Filler) -> impl Iterator<Item = &Slot> {
        [&self.slots[filler.slot], &self.slots[1 - filler.slot]].into_iter()
    }
}

/// The number of the id of a segment of so many ids, from 0, that requests the next fetch: more than `prefetch` percent
/// are used before it.
pub(crate) fn fetch_at(length: u64, prefetch: u32) -> u64 {
    let percent = u64::from(prefetch);
    let number = (length / 100).saturating_mul(percent).saturating_add(length % 100 * percent / 100 + 1);
    number.min(i64::MAX as u64)
}

/// Meanwhile the thread that won takes a few ids in a row. Two threads that contend for each id need four times as
/// long.
#[cold]
#[inline(never)]
fn pause_for_others() {
    (0..PAUSES).for_each(|_| spin_loop());
}

impl Slot {
    fn unused() -> Slot {
        Slot {
            first: AtomicU64::new(0),
            end: AtomicU64::new(0),
            start: AtomicU64::new(0),
            stride: AtomicU64::new(0),
            fetch_at: AtomicU64::new(0),
        }
    }

    /// The number of the id with this ticket in the segment.
    #[inline]
    fn place_of(&self, ticket: u64) -> Option<u64> {
        let end = self.end.load(Acquire);
        let first = self.first.load(Relaxed);
        (first <= ticket && ticket < end).then(|| ticket - first)
    }

    /// It wraps only for a ticket that was lost in between.
    #[inline]
    fn id(&self, at: u64) -> i64 {
        self.start.load(Relaxed).wrapping_add(at.wrapping_mul(self.stride.load(Relaxed))) as i64
    }

    /// The number of ids before the one that requests the next fetch; without a bound from that one on.
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

    /// At least 0, also while the slot is refilled.
    fn len(&self) -> u64 {
        self.end().saturating_sub(self.first.load(Relaxed))
    }

    /// The unused ids of the slot from this ticket on. Only for the holder of the filler.
    fn rest(&self, next: u64) -> Option<Segment> {
        let (first, start, stride) = (self.first.load(Relaxed), self.id(0), self.stride.load(Relaxed) as i64);
        let whole = Segment::new(start, self.id(self.len().checked_sub(1)?) + 1, stride).ok()?;
        let from = whole.id(next.saturating_sub(first))?;
        Segment::new(from, whole.end(), stride).ok()
    }
}

/// For a search through the states of a machine. No user gets a second buffer with the same ids.
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
impl DoubleBuffer {
    /// A copy, from which the same ids are taken: for a search through the states of a machine, and for nothing else.
    pub(crate) fn copied(&self) -> DoubleBuffer {
        let next = AtomicU64::new(self.next.load(Relaxed));
        let slots = [self.slots[0].copied(), self.slots[1].copied()];
        DoubleBuffer { next, turn: AtomicU32::new(self.turn.load(Relaxed)), slots }
    }

    /// All that decides what it does next, whatever the number of ids that were taken before. Two buffers whose states
    /// are equal are equal.
    pub(crate) fn state(&self, filler: &Filler) -> [u64; 10] {
        let next = self.next.load(Relaxed);
        if next == SEALED {
            return [SEALED; 10];
        }
        let older = self.slots[filler.slot].state(next);
        let newer = self.slots[1 - filler.slot].state(next);
        core::array::from_fn(|at| if at < 5 { older[at] } else { newer[at - 5] })
    }
}

#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
impl Slot {
    fn copied(&self) -> Slot {
        let copy = |number: &AtomicU64| AtomicU64::new(number.load(Relaxed));
        Slot {
            first: copy(&self.first),
            end: copy(&self.end),
            start: copy(&self.start),
            stride: copy(&self.stride),
            fetch_at: copy(&self.fetch_at),
        }
    }

    /// Its unused ids, relative to the next ticket; of a used-up slot only whether it was ever filled.
    fn state(&self, next: u64) -> [u64; 5] {
        let (first, end) = (self.first.load(Relaxed), self.end());
        if end <= next {
            return [0, 0, 0, 0, u64::from(self.len() > 0)];
        }
        let (start, stride) = (self.start.load(Relaxed), self.stride.load(Relaxed));
        [first.wrapping_sub(next), end - next, start, stride, self.fetch_at.load(Relaxed)]
    }
}

#[cfg(all(test, feature = "format", feature = "options", feature = "wire"))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn filled(segments: &[(i64, i64, i64)]) -> (DoubleBuffer, Filler) {
        let (buffer, mut filler) = DoubleBuffer::new();
        for &(start, end, stride) in segments {
            buffer.offer(&mut filler, Segment::new(start, end, stride).unwrap(), 10).unwrap();
        }
        (buffer, filler)
    }

    fn ids(segments: &[Segment]) -> Vec<i64> {
        segments.iter().flat_map(|segment| (0..segment.len()).map(|n| segment.id(n).unwrap())).collect()
    }

    #[test]
    fn a_copy_goes_on_by_itself_and_equal_states_go_on_alike() {
        let (buffer, filler) = filled(&[(1, 4, 1), (10, 13, 1)]);
        let (copy, copy_filler) = (buffer.copied(), filler.clone());
        assert_eq!(buffer.state(&filler), copy.state(&copy_filler));
        assert_eq!((buffer.take().unwrap().0, copy.take().unwrap().0), (1, 1), "each issues its own");
        assert_eq!(buffer.take().unwrap().0, 2);
        assert_ne!(buffer.state(&filler), copy.state(&copy_filler));
        assert_eq!(ids(&copy.segments(&copy_filler)), [2, 3, 10, 11, 12]);

        // The number of ids that were taken before does not matter.
        let (other, mut other_filler) = filled(&[(500, 600, 1), (600, 601, 1)]);
        assert_eq!((other.take_many(100).unwrap().0.count, other.take().unwrap().0), (100, 600));
        let (less, mut less_filler) = filled(&[(9, 10, 1), (10, 11, 1)]);
        assert_eq!(less.take_many(1).and(less.take_many(1)).unwrap().0.first, 10);
        assert_eq!(other.state(&other_filler), less.state(&less_filler), "what is used up is over");
        for (of, of_filler) in [(&other, &mut other_filler), (&less, &mut less_filler)] {
            of.offer(of_filler, Segment::new(1_000, 1_004, 1).unwrap(), 10).unwrap();
        }
        assert_eq!(other.state(&other_filler), less.state(&less_filler));
        assert_ne!(other.state(&other_filler), filled(&[(1_000, 1_005, 1)]).0.state(&other_filler));
        assert!(other.seal(&other_filler).len() == 1 && buffer.seal(&filler).len() == 2);
        assert_eq!(other.state(&other_filler), buffer.state(&filler), "sealed ones are equal");
    }
}
