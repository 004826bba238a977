//! How long something lasted, as a histogram for metrics.

use crate::atomic::statistics::{AtomicU32, AtomicU64, Ordering::Relaxed};
use core::time::Duration;

/// The ends of the buckets in microseconds. The last bucket has no end.
const BOUNDS_US: [u64; 8] = [500, 1_000, 5_000, 10_000, 100_000, 500_000, 1_000_000, 10_000_000];
const BUCKETS: usize = BOUNDS_US.len() + 1;

/// A histogram of durations, which any number of threads add to. It only counts: nothing is decided by it.
#[derive(Debug)]
pub struct Durations {
    /// They are many, and begin at 0 again after 2^32, as a counter of a new process does.
    counts: [AtomicU32; BUCKETS],
    sum_us: AtomicU64,
}

/// The counts of [`Durations`] at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationCounts {
    /// The number of durations in each bucket.
    counts: [u64; BUCKETS],
    /// The sum of all durations in microseconds.
    pub sum_us: u64,
}

impl Durations {
    /// Without a duration.
    pub const fn new() -> Durations {
        Durations { counts: [const { AtomicU32::new(0) }; BUCKETS], sum_us: AtomicU64::new(0) }
    }

    /// Adds one.
    pub fn add(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BUCKETS - 1);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum_us.fetch_add(us, Relaxed);
    }

    /// The counts so far.
    pub fn counts(&self) -> DurationCounts {
        let counts = core::array::from_fn(|at| self.counts[at].load(Relaxed).into());
        DurationCounts { counts, sum_us: self.sum_us.load(Relaxed) }
    }
}

impl Clone for Durations {
    fn clone(&self) -> Durations {
        let counts = core::array::from_fn(|at| AtomicU32::new(self.counts[at].load(Relaxed)));
        Durations { counts, sum_us: AtomicU64::new(self.sum_us.load(Relaxed)) }
    }
}

impl Default for Durations {
    fn default() -> Durations {
        Durations::new()
    }
}

impl DurationCounts {
    /// The number of all durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The end of each bucket in microseconds, inclusive and `None` for the last, and the number of durations in it.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        BOUNDS_US.iter().copied().map(Some).chain([None]).zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::Durations;
    use alloc::vec::Vec;
    use core::time::Duration;

    #[test]
    fn a_duration_counts_in_the_first_bucket_that_holds_it() {
        let durations = Durations::new();
        for us in [0, 500, 501, 10_000_000, 10_000_001] {
            durations.add(Duration::from_micros(us));
        }
        let counts = durations.counts();
        assert_eq!((counts.count(), counts.sum_us), (5, 20_001_002));
        let used: Vec<_> = counts.buckets().filter(|(_, count)| *count > 0).collect();
        assert_eq!(used, [(Some(500), 2), (Some(1_000), 1), (Some(10_000_000), 1), (None, 1)]);
    }
}
