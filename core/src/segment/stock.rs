//! The stock of a source that returns ids one by one: how many ids of a tag are kept in memory.
//!
//! It is a pure calculation without state, from the number of ids taken and the number left.

/// The first target of a stock that grows with the use. A process that takes one id fetches four.
const FIRST: u64 = 1;

/// The stock of a tag: it is filled up to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stock {
    /// The largest target: the `step` of the tag.
    pub(crate) most: u64,
    /// Whether it grows with the use, because a program that needs one id must not fetch a thousand.
    pub(crate) adaptive: bool,
    /// More than this percentage of it must be used before it is filled.
    pub(crate) prefetch: u64,
}

impl Stock {
    /// The number of ids to keep ready after `taken` ids were taken.
    pub(crate) fn target(&self, taken: u64) -> u64 {
        match self.adaptive {
            true => self.most.min(FIRST + 2 * taken.min(self.most)),
            false => self.most,
        }
    }

    /// The number of ids to fetch, if any. `left` ids are ready, and `taken` were taken so far.
    pub(crate) fn wants(&self, left: u64, taken: u64) -> Option<u64> {
        let target = self.target(taken);
        let used = target.saturating_sub(left);
        (left == 0 || used * 100 > target * self.prefetch).then_some(used.max(1))
    }

    /// The number of ids of one segment that one slot of the buffer may hold, so that the stock is checked often
    /// enough.
    pub(crate) fn piece(&self, length: u64, taken: u64) -> u64 {
        self.target(taken).max(length).div_ceil(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_use_and_is_filled_once_a_tenth_is_used() {
        let stock = Stock { most: 1_000, adaptive: true, prefetch: 10 };
        assert_eq!([0, 1, 100, 492, 10_000].map(|taken| stock.target(taken)), [1, 3, 201, 985, 1_000]);
        assert_eq!(stock.wants(0, 0), Some(1));
        assert_eq!(stock.wants(1, 0), None);
        assert_eq!(
            [899, 900, 1_000, 5_000].map(|left| stock.wants(left, 10_000)),
            [Some(101), None, None, None]
        );
        let fixed = Stock { adaptive: false, ..stock };
        assert_eq!((fixed.wants(0, 0), fixed.target(0)), (Some(1_000), 1_000));
        for prefetch in [0, 100] {
            assert_eq!(Stock { prefetch, ..fixed }.wants(0, 5), Some(1_000), "an empty one is filled");
        }
        assert_eq!([999, 1_000].map(|left| Stock { prefetch: 0, ..fixed }.wants(left, 0)), [Some(1), None]);
        assert_eq!(Stock { prefetch: 100, ..fixed }.wants(1, 0), None);
        assert_eq!((stock.piece(1, 0), stock.piece(1, 10_000), stock.piece(100_000, 0)), (1, 100, 10_000));
    }
}
