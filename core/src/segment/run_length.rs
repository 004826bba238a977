//! How many ids a thread takes of a tag at a time, to issue them one by one: more while the tag is much in use.
//!
//! Construct: [`RunLength::default`], [`RunLength::shared`]. Event: [`RunLength::taken`]. Query: [`RunLength::next`].
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | 1 id | a full run | 8 ids |
//! | any length | a full run, less than a second after the one before | 8 times as many, at most 256; if shared, 2,048 |
//! | any length | a full run, later than that | 8 ids |
//! | any length | a shorter run | the same length |

/// The largest number of ids that a thread takes at a time.
pub const LONGEST_RUN: usize = 256;

/// That of a run that all threads of a process share: they hold one, where a run for each would hold up the ids of many.
const LONGEST_SHARED_RUN: usize = 2_048;

const LONGER: usize = 8;
/// The longest duration of a run while a tag is much in use.
const BUSY_MS: i64 = 1_000;

/// The length of the next run of one thread, or of all threads of a process. Times are of a clock that only goes forward, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunLength {
    next: usize,
    longest: usize,
    taken_at_ms: i64,
}

impl Default for RunLength {
    fn default() -> RunLength {
        RunLength { next: 1, longest: LONGEST_RUN, taken_at_ms: 0 }
    }
}

impl RunLength {
    /// For runs that all threads of a process share.
    pub const fn shared() -> RunLength {
        RunLength { next: 1, longest: LONGEST_SHARED_RUN, taken_at_ms: 0 }
    }

    /// The largest number of ids that the next run may have.
    pub const fn next(&self) -> usize {
        self.next
    }

    /// Records a run of this many ids. A shorter run than was asked for is often the rest of a segment, and says nothing
    /// of how much the tag is used.
    pub fn taken(&mut self, count: usize, now_ms: i64) {
        if count >= self.next {
            let is_busy = now_ms.saturating_sub(self.taken_at_ms) < BUSY_MS;
            self.next = if is_busy { (self.next * LONGER).min(self.longest) } else { LONGER };
        }
        self.taken_at_ms = now_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn runs_grow_while_they_last_less_than_a_second() {
        let mut length = RunLength::default();
        let lengths: Vec<usize> = [5_000, 5_001, 6_000, 6_999, 7_999, 8_998]
            .iter()
            .map(|&now_ms| {
                let next = length.next();
                length.taken(next, now_ms);
                length.next()
            })
            .collect();
        assert_eq!(lengths, [8, 64, 256, 256, 8, 64]);
        length.taken(3, 9_000);
        assert_eq!(length.next(), 64, "the rest of a segment says nothing");
        length.taken(64, 9_999);
        assert_eq!(length.next(), 256, "the time counts from the run before, however short");
    }

    #[test]
    fn shared_runs_grow_longer() {
        let mut length = RunLength::shared();
        for now_ms in 5_000..5_010 {
            length.taken(length.next(), now_ms);
        }
        assert_eq!(length.next(), 2_048);
    }
}
