//! How many ids of a tick a thread takes at a time, to issue them one by one: more while it issues many ids of the tick
//! and no other thread does.
//!
//! Construct: [`TickRuns::new`]. Event: [`TickRuns::taken`]. Queries: [`TickRuns::next`], [`TickRuns::after`].
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | n ids of the tick were issued | a run that follows in the tick, and all of the run before were issued | n ids and this run |
//! | any | any other run, because the tick has changed or another caller took ids | this run |
//!
//! So few ids of a tick are taken one by one, and at most a [`SHARE`]th of the ids that were issued is wasted.

use crate::segment::LONGEST_RUN;
use crate::{Layout, Run};

/// A run has a `SHARE`th of the ids that were issued before it.
const SHARE: usize = 8;

/// The length of the next run of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TickRuns {
    layout: Layout,
    /// The number of ids in succession in one tick, and the position after them.
    issued: usize,
    after: u64,
}

impl TickRuns {
    /// Runs of a generator with this layout.
    pub const fn new(layout: Layout) -> TickRuns {
        TickRuns { layout, issued: 0, after: 0 }
    }

    /// The largest number of ids that the next run may have, if it follows the last one: see
    /// [`Snowflake::reserve_after`](crate::Snowflake::reserve_after).
    pub fn next(&self) -> usize {
        (self.issued / SHARE).clamp(1, LONGEST_RUN)
    }

    /// The position after the last run. Where the generator is at another one, other callers took ids since.
    pub const fn after(&self) -> u64 {
        self.after
    }

    /// Records a run. `dropped` is the number of ids of the run before that are never issued.
    pub fn taken(&mut self, run: Run, dropped: usize) {
        let first = self.layout.position(run.first);
        let follows = first == self.after && self.layout.is_begun(first) && dropped == 0;
        self.issued = if follows { self.issued.saturating_add(run.count) } else { run.count };
        self.after = first + run.count as u64;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn run(layout: Layout, tick: u64, sequence: u32, count: usize) -> Run {
        let first = layout.compose(layout.tick_start_ms(tick), 7, sequence).unwrap();
        Run { first, stride: 1, count }
    }

    #[test]
    fn few_ids_are_taken_one_by_one_and_later_runs_are_an_eighth_of_those_before() {
        let layout = Layout::LEAF;
        let mut runs = TickRuns::new(layout);
        let (mut sequence, mut lengths) = (70, Vec::new());
        while sequence < 4_000 {
            let count = runs.next();
            lengths.push(count);
            runs.taken(run(layout, 9, sequence as u32, count), 0);
            sequence += count;
            assert_eq!(runs.after(), (9 << 12) + sequence as u64);
        }
        assert_eq!(lengths[..18], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
        assert!(lengths.is_sorted());
        assert_eq!(lengths.last(), Some(&256));
    }

    #[test]
    fn another_tick_another_caller_and_a_dropped_rest_begin_with_one() {
        for layout in [Layout::LEAF, Layout::SONYFLAKE] {
            let mut busy = TickRuns::new(layout);
            busy.taken(run(layout, 9, 0, 200), 0);
            let after = |next: Run, dropped| {
                let mut runs = busy;
                runs.taken(next, dropped);
                runs.next()
            };
            assert_eq!(after(run(layout, 9, 200, 8), 0), 26, "it follows");
            assert_eq!(after(run(layout, 9, 201, 1), 0), 1, "another caller took one");
            assert_eq!(after(run(layout, 10, 200, 1), 0), 1, "another tick");
            assert_eq!(after(run(layout, 9, 200, 1), 1), 1, "one was dropped");
        }
        let mut whole = TickRuns::new(Layout::SONYFLAKE);
        whole.taken(run(Layout::SONYFLAKE, 9, 0, 256), 0);
        whole.taken(run(Layout::SONYFLAKE, 10, 0, 1), 0);
        assert_eq!(whole.next(), 1, "the tick was used up, and the next one begins");
    }
}
