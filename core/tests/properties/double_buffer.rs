//! The double buffer, beside a list of all that was offered.

use crate::cases::holds;
use leafid_core::{DoubleBuffer, Empty, Run, Segment};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    /// A segment of this many ids by a stride, so far above the last, and the prefetch.
    Offer(i64, i64, i64, u32),
    Take,
    TakeMany(usize),
    TakeRun(usize),
    TakePart(usize, u64),
    Seal,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let length = prop_oneof![4 => 1..12i64, 2 => 1..300i64, 1 => Just(1 << 40)];
    let prefetch = prop_oneof![3 => Just(10u32), 2 => 0..=100u32, 1 => any::<u32>()];
    let many = || prop_oneof![8 => 0..40usize, 1 => Just(1 << 24), 1 => Just(usize::MAX)];
    let operation = prop_oneof![
        6 => (length, prop_oneof![3 => Just(1), 1 => 1..9i64], 0..5i64, prefetch).prop_map(|(l, s, g, p)| Operation::Offer(l, s, g, p)),
        10 => Just(Operation::Take),
        4 => many().prop_map(Operation::TakeMany),
        4 => many().prop_map(Operation::TakeRun),
        4 => (many(), 1..20u64).prop_map(|(most, parts)| Operation::TakePart(most, parts)),
        1 => prop_oneof![9 => Just(Operation::Take), 1 => Just(Operation::Seal)],
    ];
    prop::collection::vec(operation, 1..200)
}

/// A segment, how many ids of it are taken, and during whose take the next fetch is asked for.
#[derive(Clone, Debug)]
struct Part {
    segment: Segment,
    taken: u64,
    fetch_at: u64,
}

impl Part {
    fn left(&self) -> u64 {
        self.segment.len() - self.taken
    }
}

/// All that was offered, of which nothing is ever thrown away.
#[derive(Debug, Default)]
struct Model {
    parts: Vec<Part>,
    sealed: bool,
}

impl Model {
    fn has_room(&self) -> bool {
        !self.sealed && self.parts.iter().filter(|part| part.left() > 0).count() < 2
    }

    fn offer(&mut self, segment: Segment, prefetch: u32) -> Result<(), Segment> {
        if !self.has_room() {
            return Err(segment);
        }
        let fetch_at = (u128::from(segment.len()) * u128::from(prefetch) / 100 + 1) as u64;
        self.parts.push(Part { segment, taken: 0, fetch_at });
        Ok(())
    }

    /// `ends`: a run that is issued later ends before the id that asks for the next fetch.
    fn take(&mut self, most: u64, ends: bool) -> Result<(Run, bool), Empty> {
        if self.sealed {
            return Err(Empty::Sealed);
        }
        let part = self.parts.iter_mut().find(|part| part.left() > 0).ok_or(Empty::UsedUp)?;
        let at = part.taken;
        let most = if ends && at < part.fetch_at { most.min(part.fetch_at - at) } else { most };
        let count = part.left().min(most);
        part.taken += count;
        let (stride, first) =
            (part.segment.stride(), part.segment.start() + at as i64 * part.segment.stride());
        Ok((Run { first, stride, count: count as usize }, (at..at + count).contains(&part.fetch_at)))
    }

    /// How much one of this many parts of the segment is that is issued.
    fn part(&self, parts: u64) -> u64 {
        let current = self.parts.iter().find(|part| part.left() > 0);
        current.map_or(0, |part| part.segment.len().div_ceil(parts))
    }

    fn wants_fetch(&self) -> bool {
        let used = self.parts.last().is_none_or(|last| last.left() == 0 || last.taken > last.fetch_at);
        self.has_room() && used
    }

    fn rest(&self) -> Vec<Segment> {
        let rest = |part: &Part| {
            let segment = part.segment;
            Segment::new(segment.id(part.taken)?, segment.last() + 1, segment.stride()).ok()
        };
        self.parts.iter().filter_map(rest).collect()
    }

    fn left(&self) -> u64 {
        self.parts.iter().map(Part::left).sum()
    }

    fn is_low(&self) -> bool {
        self.left() < self.parts.last().map_or(0, |last| last.segment.len().div_ceil(10))
    }
}

#[test]
fn it_does_what_a_queue_of_two_segments_does() {
    holds(3_000, operations(), |operations| {
        let (buffer, mut filler) = DoubleBuffer::new();
        let (mut model, mut end) = (Model::default(), 0i64);
        for operation in operations {
            match operation {
                Operation::Offer(length, stride, above, prefetch) => {
                    let start = end + above;
                    let segment = Segment::new(start, start + length * stride, stride).unwrap();
                    prop_assert_eq!(
                        buffer.offer(&mut filler, segment, prefetch),
                        model.offer(segment, prefetch)
                    );
                    end = segment.end();
                }
                Operation::Take => {
                    let taken = buffer.take();
                    prop_assert_eq!(taken, model.take(1, false).map(|(run, wants)| (run.first, wants)));
                }
                Operation::TakeMany(most) => {
                    prop_assert_eq!(buffer.take_many(most), model.take(most as u64, false));
                }
                Operation::TakeRun(most) => {
                    prop_assert_eq!(buffer.take_run(most), model.take(most as u64, true));
                }
                Operation::TakePart(most, parts) => {
                    let at_most = model.part(parts).min(most as u64);
                    prop_assert_eq!(buffer.take_part(most, parts), model.take(at_most, true));
                }
                Operation::Seal => {
                    let rest = if model.sealed { Vec::new() } else { model.rest() };
                    prop_assert_eq!(buffer.seal(&filler), rest);
                    model.sealed = true;
                }
            }
            prop_assert_eq!(buffer.has_room(&filler), model.has_room());
            prop_assert_eq!(buffer.wants_fetch(&filler), model.wants_fetch());
            if !model.sealed {
                prop_assert_eq!(buffer.left(&filler), model.left());
                prop_assert_eq!(
                    buffer.taken(&filler),
                    model.parts.iter().map(|part| part.taken).sum::<u64>()
                );
                prop_assert_eq!(buffer.is_low(&filler), model.is_low());
                prop_assert_eq!(buffer.segments(&filler), model.rest());
            }
        }
        Ok(())
    });
}
