//! A circuit breaker for a source: while the source is down, one key at a time probes it, and the others wait.
//!
//! A key identifies a fetch, such as a tag. Construct: [`CircuitBreaker::new`]. Events:
//! [`CircuitBreaker::enter`], [`CircuitBreaker::cancelled`], [`CircuitBreaker::ended`], [`CircuitBreaker::timer`]; each
//! returns the next action. Query: [`CircuitBreaker::is_down`].
//!
//! | State | Event | Next state | Action |
//! | --- | --- | --- | --- |
//! | closed | a key enters | closed | it asks the source |
//! | closed | a fetch fails, and too many have failed | open | wait, or wake at the end of the back-off |
//! | open | a key enters | open: the key is queued | wait, or wake at the end of the back-off |
//! | open | the back-off is over | half open | the first of the queue probes |
//! | half open | a key enters | half open: the key is queued | wait, or wake after 1 s |
//! | half open | the probe takes longer than 1 s | half open | the next one probes |
//! | half open | the probe was not needed | open | the next one probes |
//! | half open | the probe fails | open, for longer | wait, or wake at the end of the back-off |
//! | open, half open | a fetch gets a response | closed | all of the queue ask the source |

use crate::BackOff;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::take;

/// After this number of failures in a row, of any keys, a source without known servers is down.
const DOWN: u32 = 3;
/// Servers that respond without ids to this number of keys in a row are down too. A wrong response to one key may be
/// caused by that key.
const DOWN_FOR: usize = 8;
/// A source that is down gets at most this number of requests within [`PER_MS`], with those that ran when it went down.
const MOST_ASKED: usize = 5;
const PER_MS: i64 = 1_000;

/// The state of the circuit breaker of one source. Times are boot times in milliseconds.
#[derive(Clone, Debug)]
pub struct CircuitBreaker<K> {
    back_off: BackOff,
    /// No key asks before this time, and then one at a time. `None` while closed.
    down_until_ms: Option<i64>,
    /// The keys that failed since the last response, at most [`DOWN_FOR`] of them.
    failing: Vec<K>,
    /// The times of the last failed requests.
    failed_ms: VecDeque<i64>,
    /// The start of the running probe. After [`PER_MS`] other keys may probe too.
    probing_since_ms: Option<i64>,
    /// The waiting keys, in order.
    queue: VecDeque<K>,
    /// The time of the latest [`BreakerAction::WakeAt`].
    due_ms: Option<i64>,
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakerAction<K> {
    /// The source responds again: all of these keys ask it now.
    ReleaseAll(VecDeque<K>),
    /// This key probes the source.
    Probe(K),
    /// Call [`CircuitBreaker::timer`] at this time.
    WakeAt(i64),
    /// Nothing.
    Wait,
}

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchEnd {
    /// The source responded, with ids or without.
    Answered,
    /// There was no usable response from the source.
    Failed {
        /// The number of requests of the fetch.
        requests: usize,
        /// Whether its servers back off.
        servers: ServersRest,
    },
}

/// Whether a source's servers back off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServersRest {
    /// The source has no servers that are known.
    Unknown,
    /// At least one server may be asked now.
    Ready,
    /// All servers back off for this many milliseconds.
    For(i64),
}

impl<K: Clone + PartialEq> CircuitBreaker<K> {
    /// A closed circuit breaker: every key may ask.
    pub const fn new() -> CircuitBreaker<K> {
        CircuitBreaker {
            back_off: BackOff::new(),
            down_until_ms: None,
            failing: Vec::new(),
            failed_ms: VecDeque::new(),
            probing_since_ms: None,
            queue: VecDeque::new(),
            due_ms: None,
        }
    }

    /// Whether the source is down.
    pub const fn is_down(&self) -> bool {
        self.down_until_ms.is_some()
    }

    /// A key wants to ask the source. Returns `None` if it may. Otherwise the key is queued, and the next action is
    /// returned.
    ///
    /// `probes`: [`BreakerAction::Probe`] chose the key. `failed`: its own last fetch failed. Keys that did not fail
    /// come first, because a failed key may be at fault itself, and not the source.
    pub fn enter(&mut self, key: &K, probes: bool, failed: bool, now_ms: i64) -> Option<BreakerAction<K>> {
        if probes || !self.is_down() {
            return None;
        }
        match failed {
            true => self.queue.push_back(key.clone()),
            false => self.queue.push_front(key.clone()),
        }
        Some(self.poll(now_ms))
    }

    /// The time of [`BreakerAction::WakeAt`] has come.
    pub fn timer(&mut self, now_ms: i64) -> BreakerAction<K> {
        self.due_ms = None;
        self.poll(now_ms)
    }

    /// The chosen key did not need to probe the source.
    pub fn cancelled(&mut self, now_ms: i64) -> BreakerAction<K> {
        self.probing_since_ms = None;
        self.poll(now_ms)
    }

    /// A fetch has ended. `seed` makes the back-off differ between processes.
    pub fn ended(&mut self, key: &K, end: FetchEnd, now_ms: i64, seed: u64) -> BreakerAction<K> {
        self.probing_since_ms = None;
        let FetchEnd::Failed { requests, servers } = end else {
            self.back_off.succeeded();
            self.failing.clear();
            self.down_until_ms = None;
            return self.poll(now_ms);
        };
        self.back_off.failed(now_ms, seed);
        if self.failing.len() < DOWN_FOR && !self.failing.contains(key) {
            self.failing.push(key.clone());
        }
        for _ in 0..requests.clamp(1, MOST_ASKED) {
            self.failed_ms.push_back(now_ms);
        }
        while self.failed_ms.len() > MOST_ASKED {
            self.failed_ms.pop_front();
        }
        self.down_until_ms = match servers {
            ServersRest::For(rest_ms) => Some(now_ms + rest_ms),
            // Urgent, because all keys depend on it.
            ServersRest::Unknown if self.back_off.failures() >= DOWN => self.back_off.ready_at_ms(true),
            ServersRest::Ready if self.failing.len() >= DOWN_FOR => self.back_off.ready_at_ms(true),
            ServersRest::Unknown | ServersRest::Ready => None,
        };
        self.poll(now_ms)
    }

    /// Chooses the next probe, if its time has come.
    fn poll(&mut self, now_ms: i64) -> BreakerAction<K> {
        let Some(rested_ms) = self.down_until_ms else {
            return BreakerAction::ReleaseAll(take(&mut self.queue));
        };
        let often = self.failed_ms.front().filter(|_| self.failed_ms.len() == MOST_ASKED);
        let asked_ms = often.map_or(rested_ms, |first_ms| rested_ms.max(first_ms + PER_MS));
        let ready_ms = self.probing_since_ms.map_or(asked_ms, |since_ms| asked_ms.max(since_ms + PER_MS));
        if ready_ms > now_ms {
            if self.due_ms == Some(ready_ms) || self.queue.is_empty() {
                return BreakerAction::Wait;
            }
            self.due_ms = Some(ready_ms);
            return BreakerAction::WakeAt(ready_ms);
        }
        let Some(key) = self.queue.pop_front() else { return BreakerAction::Wait };
        self.probing_since_ms = Some(now_ms);
        BreakerAction::Probe(key)
    }
}

impl<K: Clone + PartialEq> Default for CircuitBreaker<K> {
    fn default() -> CircuitBreaker<K> {
        CircuitBreaker::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const UNKNOWN: ServersRest = ServersRest::Unknown;

    fn failed(servers: ServersRest) -> FetchEnd {
        FetchEnd::Failed { requests: 1, servers }
    }

    /// A circuit breaker that is open after three failures at 0 ms.
    fn down() -> CircuitBreaker<u32> {
        let mut breaker = CircuitBreaker::new();
        (0..3).for_each(|key| drop(breaker.ended(&key, failed(UNKNOWN), 0, 0)));
        breaker
    }

    /// A new key enters at each millisecond. Returns the times of the failed requests, from the first failure on.
    fn requests(under_way: usize, servers: impl Fn(i64) -> ServersRest) -> Vec<i64> {
        let (mut breaker, mut made) = (CircuitBreaker::new(), vec![0; under_way]);
        for key in 0..under_way {
            assert!(breaker.enter(&key, false, true, 0).is_none());
        }
        for key in 0..under_way {
            breaker.ended(&key, failed(servers(0)), 0, 0);
        }
        for now_ms in 0..5_000 {
            let key = 100 + now_ms as usize;
            match breaker.enter(&key, false, true, now_ms) {
                None | Some(BreakerAction::Probe(_)) => made.push(now_ms),
                Some(BreakerAction::ReleaseAll(_)) => unreachable!("it is down"),
                Some(BreakerAction::WakeAt(_) | BreakerAction::Wait) => continue,
            }
            breaker.ended(&key, failed(servers(now_ms)), now_ms, 0);
        }
        made
    }

    #[test]
    fn a_source_that_is_down_is_asked_five_times_a_second_at_most() {
        for under_way in 1..=4 {
            for made in [requests(under_way, |_| UNKNOWN), requests(under_way, |_| ServersRest::For(200))] {
                for (at, first) in made.iter().enumerate() {
                    let within = made[at..].iter().filter(|later| *later - first < 1_000).count();
                    assert!(within <= 5, "{within} within a second: {made:?}");
                }
                let pauses = made.windows(2).skip(8).map(|pair| pair[1] - pair[0]);
                assert!(pauses.max() <= Some(400), "{made:?}");
            }
        }
    }

    #[test]
    fn a_source_that_says_how_long_it_rests_is_left_alone_for_that_time() {
        let mut breaker = CircuitBreaker::new();
        breaker.ended(&1, failed(ServersRest::For(300)), 1_000, 0);
        assert_eq!(breaker.enter(&2, false, true, 1_001), Some(BreakerAction::WakeAt(1_300)));
    }

    #[test]
    fn a_source_that_does_not_say_so_is_down_after_three_failures() {
        let mut breaker = CircuitBreaker::new();
        let down = [0, 1, 2].map(|ms| {
            breaker.ended(&1, failed(UNKNOWN), ms, 0);
            breaker.is_down()
        });
        assert_eq!(down, [false, false, true]);
    }

    #[test]
    fn all_pass_once_it_answers() {
        let mut breaker = down();
        assert!(matches!(breaker.enter(&10, false, true, 1), Some(BreakerAction::WakeAt(_))));
        assert_eq!(breaker.enter(&11, false, true, 2), Some(BreakerAction::Wait), "the timer is set already");
        assert_eq!(breaker.timer(500), BreakerAction::Probe(10));
        let waits = breaker.enter(&12, false, true, 501);
        assert_eq!(waits, Some(BreakerAction::WakeAt(1_500)), "one probes it");
        assert_eq!(breaker.enter(&10, true, true, 501), None, "that one");
        let released = breaker.ended(&10, FetchEnd::Answered, 502, 0);
        assert_eq!(released, BreakerAction::ReleaseAll([11, 12].into()));
        assert_eq!(breaker.enter(&13, false, true, 503), None);
    }

    #[test]
    fn a_probe_that_takes_long_keeps_no_other_from_probing() {
        let mut breaker = down();
        assert!(breaker.enter(&10, false, true, 1).is_some());
        assert!(breaker.enter(&11, false, true, 2).is_some());
        assert_eq!(breaker.timer(500), BreakerAction::Probe(10));
        assert_eq!(breaker.timer(1_499), BreakerAction::WakeAt(1_500));
        assert_eq!(breaker.timer(1_500), BreakerAction::Probe(11), "it has not answered for a second");
    }

    #[test]
    fn a_probe_that_is_not_needed_leaves_its_turn_to_the_next() {
        let mut breaker = down();
        assert!(breaker.enter(&10, false, true, 1).is_some());
        assert!(breaker.enter(&11, false, true, 2).is_some());
        assert_eq!(breaker.timer(500), BreakerAction::Probe(10));
        assert_eq!(breaker.cancelled(501), BreakerAction::Probe(11));
    }

    #[test]
    fn a_key_that_did_not_fail_goes_first() {
        let mut breaker = down();
        assert!(breaker.enter(&10, false, true, 1).is_some());
        assert!(breaker.enter(&11, false, false, 2).is_some());
        assert_eq!(breaker.timer(500), BreakerAction::Probe(11));
    }

    #[test]
    fn servers_that_give_nothing_to_many_keys_are_down_and_one_key_s_trouble_is_its_own() {
        let (mut breaker, bad) = (CircuitBreaker::new(), 1);
        for ms in 0..20 {
            breaker.ended(&bad, failed(ServersRest::Ready), ms, 0);
            assert!(!breaker.is_down(), "they may answer others");
        }
        for key in 10..10 + DOWN_FOR {
            breaker.ended(&key, failed(ServersRest::Ready), 20, 0);
        }
        assert!(breaker.is_down());
        breaker.ended(&bad, FetchEnd::Answered, 21, 0);
        assert!(!breaker.is_down());
    }
}
