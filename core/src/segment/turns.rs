//! The order of requests to a source that returns one id at a time: the tag of the next request.
//!
//! Construct: [`Turns::new`]. Events: [`Turns::want`], [`Turns::ended`], [`Turns::forget`]. Poll: [`Turns::begin`]. Queries: all others.
//!
//! Tags take turns. The next request is for a tag with the fewest running requests. Among several, it is for the one
//! that was served longest ago. So a tag that starts waits for one free connection, however many others are busy, and
//! equally busy tags get the same number of requests.
//!
//! | State of a tag | Event | Next state |
//! | --- | --- | --- |
//! | nothing planned | `want` | ready |
//! | ready | `begin`, and it is the tag's turn | a request runs: ready, if more are planned and may run beside it |
//! | ready | `begin`, and as many requests of all tags run as may | the same |
//! | as many of its requests run as may | `ended` | ready, if more are planned |
//! | ready | `want` of 0 | nothing planned |
//! | any, and none of its requests runs | `forget` | gone |
//! | any, and one of its requests runs | `forget` | nothing planned |

use crate::sorted_map::SortedMap;

/// The planned and the running requests of each tag. Each call takes a time that is logarithmic in the number of tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Turns<T> {
    /// The number of concurrent requests, for all tags together.
    most: usize,
    under_way: usize,
    lines: SortedMap<T, Line>,
    /// The tags that are ready, the next one first. `came` makes each rank the only one of its kind.
    ready: SortedMap<Rank, T>,
    number: u64,
}

/// The rank of a tag that is ready: its running requests, its last request, and when it came.
type Rank = (usize, u64, u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    wanted: u64,
    under_way: usize,
    /// The number of concurrent requests of this tag.
    most: usize,
    /// The number of its last request; 0 before the first.
    served: u64,
    came: u64,
}

impl Line {
    fn rank(&self) -> Option<Rank> {
        let is_ready = self.wanted > 0 && self.under_way < self.most;
        is_ready.then_some((self.under_way, self.served, self.came))
    }
}

impl<T: Ord + Clone> Turns<T> {
    /// With this number of concurrent requests, at least one.
    pub fn new(most: usize) -> Turns<T> {
        let most = most.max(1);
        Turns { most, under_way: 0, lines: SortedMap::new(), ready: SortedMap::new(), number: 0 }
    }

    /// Plans `wanted` requests for a tag, at most `most` of them at the same time.
    pub fn want(&mut self, tag: &T, wanted: u64, most: usize) {
        self.change(tag, |line| (line.wanted, line.most) = (wanted, most));
    }

    /// Begins a request and returns its tag. `None` if no request is planned, or if as many run as may.
    pub fn begin(&mut self) -> Option<T> {
        if self.under_way >= self.most {
            return None;
        }
        let tag = self.ready.first()?.1.clone();
        self.number += 1;
        self.under_way += 1;
        let number = self.number;
        self.change(&tag, |line| {
            line.wanted -= 1;
            line.under_way += 1;
            line.served = number;
        });
        Some(tag)
    }

    /// Whether [`Turns::begin`] returns a tag.
    pub fn is_ready(&self) -> bool {
        self.under_way < self.most && !self.ready.is_empty()
    }

    /// A request of [`Turns::begin`] has ended.
    pub fn ended(&mut self, tag: &T) {
        self.under_way -= 1;
        self.change(tag, |line| line.under_way -= 1);
    }

    /// The tag is unused now: nothing is planned for it, and its line goes. Returns false if that stays,
    /// because one of its requests runs.
    pub fn forget(&mut self, tag: &T) -> bool {
        if self.lines.contains_key(tag) {
            self.change(tag, |line| line.wanted = 0);
        }
        let is_resting = self.under_way(tag) == 0;
        if is_resting {
            self.lines.remove(tag);
        }
        is_resting
    }

    /// The number of planned requests for a tag.
    pub fn wanted(&self, tag: &T) -> u64 {
        self.lines.get(tag).map_or(0, |line| line.wanted)
    }

    /// The number of running requests for a tag.
    pub fn under_way(&self, tag: &T) -> usize {
        self.lines.get(tag).map_or(0, |line| line.under_way)
    }

    fn change(&mut self, tag: &T, change: impl FnOnce(&mut Line)) {
        if !self.lines.contains_key(tag) {
            self.number += 1;
            let line = Line { wanted: 0, under_way: 0, most: 1, served: 0, came: self.number };
            self.lines.insert(tag.clone(), line);
        }
        let Some(line) = self.lines.get_mut(tag) else { return };
        let rank = line.rank();
        change(line);
        let next = line.rank();
        if next == rank {
            return;
        }
        let tag = rank.and_then(|rank| self.ready.remove(&rank)).unwrap_or_else(|| tag.clone());
        if let Some(next) = next {
            self.ready.insert(next, tag);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;

    /// The tags of the next requests. Each request ends when there is no room for another, the first one first.
    fn served(turns: &mut Turns<u32>, count: usize) -> Vec<u32> {
        let (mut under_way, mut served) = (VecDeque::new(), Vec::new());
        while served.len() < count {
            match turns.begin() {
                Some(tag) => {
                    under_way.push_back(tag);
                    served.push(tag);
                }
                None => turns.ended(&under_way.pop_front().unwrap()),
            }
        }
        under_way.into_iter().for_each(|tag| turns.ended(&tag));
        served
    }

    #[test]
    fn one_that_begins_is_next_and_one_that_comes_again_is_not() {
        for busy in [1, 3, 5, 11] {
            let mut turns = Turns::new(4);
            (0..busy).for_each(|tag| turns.want(&tag, 1_000, 4));
            served(&mut turns, 2 * busy as usize);
            let under_way: Vec<u32> = (0..4).map(|_| turns.begin().unwrap()).collect();
            turns.want(&99, 1, 4);
            assert_eq!(turns.begin(), None, "four are under way");
            turns.ended(&under_way[0]);
            assert_eq!(turns.begin(), Some(99), "{busy} busy ones");
            turns.ended(&99);
            turns.want(&99, 1, 4);
            turns.ended(&under_way[1]);
            let others = busy.saturating_sub(4) as usize;
            let next = served(&mut turns, others + 3);
            assert!(next.contains(&99), "{busy} busy ones: {next:?}");
            assert!(others == 0 || next[0] != 99, "it was served last: {next:?}");
        }
    }

    #[test]
    fn a_tag_that_fails_has_one_request_at_a_time() {
        let mut turns = Turns::new(4);
        turns.want(&1, 10, 1);
        assert_eq!((turns.begin(), turns.begin()), (Some(1), None));
        turns.ended(&1);
        assert_eq!((turns.begin(), turns.wanted(&1), turns.under_way(&1)), (Some(1), 8, 1));
    }
}
