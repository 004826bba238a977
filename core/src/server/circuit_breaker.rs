//! A circuit breaker for a source: while the source is down, one key at a time probes it, and the others wait. It also
//! limits the concurrent calls of a source that has no threads to limit them.
//!
//! A key identifies a fetch, such as a tag. The keys wait in a queue of their own. Construct: [`CircuitBreaker::new`],
//! [`CircuitBreaker::limited_to`]. Events: [`CircuitBreaker::begun`], [`CircuitBreaker::cancelled`],
//! [`CircuitBreaker::ended`]. Queries: all others.
//!
//! | State | Event | Next state | The next key may ask |
//! | --- | --- | --- | --- |
//! | closed | a key asks, and fewer calls run than may | closed | now |
//! | closed | a key asks, and as many calls run as may | closed | when one of them ends, or is slow |
//! | closed | a fetch fails | closed | now |
//! | closed | a fetch fails, and too many have failed | open | at the end of the back-off, and probes |
//! | open | a key probes | half open | after 1 s, and probes |
//! | half open | the probe was not needed | open | at once, and probes |
//! | half open | the probe fails | open, for longer | at the end of the back-off, and probes |
//! | open, half open | a fetch gets a response | closed | now |

use crate::BackOff;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// After this number of failures in a row, of any keys, a source without known servers is down.
const DOWN: u32 = 3;
/// Servers that respond without ids to this number of keys in a row are down too. A wrong response to one key may be
/// caused by that key.
const DOWN_FOR: usize = 8;
/// A source that is down gets at most this number of requests within [`PER_MS`], with those that ran when it went down.
const MOST_ASKED: usize = 5;
const PER_MS: i64 = 1_000;

/// The state of the circuit breaker of one source. Times are boot times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CircuitBreaker<K> {
    back_off: BackOff,
    /// No key asks before this time, and then one at a time. `None` while closed.
    down_until_ms: Option<i64>,
    /// The keys that failed since the last response, at most [`DOWN_FOR`] of them.
    failing: Vec<K>,
    /// The times of the last failed requests.
    failed_ms: VecDeque<i64>,
    /// The start of the running probe. After [`PER_MS`] other keys may probe too.
    probing_since_ms: Option<i64>,
    calls: Option<Calls<K>>,
}

/// How many calls of a source may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallLimit {
    /// At first and after a failure.
    pub(crate) few: usize,
    /// After many responses.
    pub(crate) many: usize,
    /// A call that runs for this long is slow: it keeps no other from being made.
    pub(crate) slow_ms: i64,
    /// The largest number of calls, with the slow ones.
    pub(crate) all: usize,
}

/// The running calls of a limited source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Calls<K> {
    /// Each call and its start. A slow one does not count.
    running: Vec<(K, i64)>,
    most: usize,
    limit: CallLimit,
}

impl<K: PartialEq> Calls<K> {
    fn new(limit: CallLimit) -> Calls<K> {
        Calls { running: Vec::new(), most: limit.few, limit }
    }

    fn ended(&mut self, key: &K) {
        self.running.retain(|(running, _)| running != key);
    }

    /// Whether no more calls can run, however slow these are.
    fn is_at_limit(&self) -> bool {
        self.running.len() >= self.limit.all
    }

    /// The time at which the next call may begin, unless that takes the end of one.
    fn opens_ms(&self) -> i64 {
        let running = self.running.len();
        // Begun one after the other, so that they are slow in this order.
        let slow = running.checked_sub(self.most).and_then(|counted| self.running.get(counted));
        slow.map_or(i64::MIN, |(_, since_ms)| since_ms + self.limit.slow_ms)
    }
}

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FetchEnd {
    /// The source responded, with ids or without.
    Answered,
    /// There was no usable response from the source.
    Failed {
        /// The number of requests of the fetch.
        requests: usize,
        /// Whether its servers back off.
        servers: ServersReadiness,
    },
}

/// Whether a source's servers back off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ServersReadiness {
    /// The source has no servers that are known.
    Unknown,
    /// At least one server may be asked now.
    Ready,
    /// All servers back off for this many milliseconds.
    BackOff(i64),
}

impl<K: Clone + PartialEq> CircuitBreaker<K> {
    /// A closed circuit breaker: every key may ask.
    pub(crate) const fn new() -> CircuitBreaker<K> {
        CircuitBreaker {
            back_off: BackOff::new(),
            down_until_ms: None,
            failing: Vec::new(),
            failed_ms: VecDeque::new(),
            probing_since_ms: None,
            calls: None,
        }
    }

    /// As `new`, with this limit.
    pub(crate) fn limited_to(limit: CallLimit) -> CircuitBreaker<K> {
        CircuitBreaker { calls: Some(Calls::new(limit)), ..CircuitBreaker::new() }
    }

    /// The time at which the next key may ask the source, and whether it probes then. `None`: not before a call ends,
    /// whether the source is down or not. Then [`CircuitBreaker::begun`] is called for the key.
    pub(crate) fn opens_ms(&self) -> Option<(i64, bool)> {
        let calls = self.calls.as_ref();
        if calls.is_some_and(Calls::is_at_limit) {
            return None;
        }
        let probes_ms = self.ready_ms().map(|ready_ms| (ready_ms, true));
        Some(probes_ms.unwrap_or_else(|| (calls.map_or(i64::MIN, Calls::opens_ms), false)))
    }

    /// A key asks the source. `probes`: [`CircuitBreaker::opens_ms`] said so.
    pub(crate) fn begun(&mut self, key: &K, probes: bool, now_ms: i64) {
        if probes {
            self.probing_since_ms = Some(now_ms);
        }
        self.calls.iter_mut().for_each(|calls| calls.running.push((key.clone(), now_ms)));
    }

    /// Whether the source is down.
    pub(crate) const fn is_down(&self) -> bool {
        self.down_until_ms.is_some()
    }

    /// Whether as many calls of a limited source run as may.
    pub(crate) fn is_full(&self) -> bool {
        self.calls.as_ref().is_some_and(|calls| calls.running.len() >= calls.most)
    }

    /// A key whose fetch failed since the last response.
    pub(crate) fn last_failed(&self) -> Option<&K> {
        self.failing.last()
    }

    /// The key did not need to ask the source. `probes`: it was to probe it.
    pub(crate) fn cancelled(&mut self, key: &K, probes: bool) {
        if probes {
            self.probing_since_ms = None;
        }
        self.calls.iter_mut().for_each(|calls| calls.ended(key));
    }

    /// A fetch has ended. `seed` makes the back-off differ between processes.
    pub(crate) fn ended(&mut self, key: &K, end: FetchEnd, now_ms: i64, seed: u64) {
        self.probing_since_ms = None;
        if let Some(calls) = &mut self.calls {
            calls.ended(key);
            let CallLimit { few, many, .. } = calls.limit;
            calls.most = if end == FetchEnd::Answered { many.min(calls.most.saturating_add(1)) } else { few };
        }
        let FetchEnd::Failed { requests, servers } = end else {
            self.back_off.succeeded();
            self.failing.clear();
            self.down_until_ms = None;
            return;
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
            ServersReadiness::BackOff(back_off_ms) => Some(now_ms + back_off_ms),
            // Urgent, because all keys depend on it.
            ServersReadiness::Unknown if self.back_off.failures() >= DOWN => self.back_off.ready_at_ms(true),
            ServersReadiness::Ready if self.failing.len() >= DOWN_FOR => self.back_off.ready_at_ms(true),
            ServersReadiness::Unknown | ServersReadiness::Ready => None,
        };
    }

    /// While the source is down: the time at which it may be probed.
    fn ready_ms(&self) -> Option<i64> {
        let rested_ms = self.down_until_ms?;
        let often = self.failed_ms.front().filter(|_| self.failed_ms.len() == MOST_ASKED);
        let asked_ms = often.map_or(rested_ms, |first_ms| rested_ms.max(first_ms + PER_MS));
        Some(self.probing_since_ms.map_or(asked_ms, |since_ms| asked_ms.max(since_ms + PER_MS)))
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

    const UNKNOWN: ServersReadiness = ServersReadiness::Unknown;

    fn failed(servers: ServersReadiness) -> FetchEnd {
        FetchEnd::Failed { requests: 1, servers }
    }

    /// A circuit breaker that is open after three failures at 0 ms.
    fn down() -> CircuitBreaker<u32> {
        let mut breaker = CircuitBreaker::new();
        (0..3).for_each(|key| breaker.ended(&key, failed(UNKNOWN), 0, 0));
        breaker
    }

    /// Whether a key may ask now; then it does.
    fn asks(breaker: &mut CircuitBreaker<u32>, key: u32, now_ms: i64) -> bool {
        let opens = breaker.opens_ms().filter(|(at_ms, _)| *at_ms <= now_ms);
        opens.into_iter().for_each(|(_, probes)| breaker.begun(&key, probes, now_ms));
        opens.is_some()
    }

    /// A new key comes at each millisecond. Returns the times of the failed requests, from the first failure on.
    fn requests(under_way: u32, servers: impl Fn(i64) -> ServersReadiness) -> Vec<i64> {
        let (mut breaker, mut made) = (CircuitBreaker::new(), vec![0; under_way as usize]);
        (0..under_way).for_each(|key| assert!(asks(&mut breaker, key, 0)));
        (0..under_way).for_each(|key| breaker.ended(&key, failed(servers(0)), 0, 0));
        for now_ms in 0..5_000 {
            let key = 100 + now_ms as u32;
            if asks(&mut breaker, key, now_ms) {
                made.push(now_ms);
                breaker.ended(&key, failed(servers(now_ms)), now_ms, 0);
            }
        }
        made
    }

    #[test]
    fn a_source_that_is_down_is_asked_five_times_a_second_at_most() {
        for under_way in 1..=4 {
            for made in
                [requests(under_way, |_| UNKNOWN), requests(under_way, |_| ServersReadiness::BackOff(200))]
            {
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
    fn all_pass_once_it_answers() {
        let mut breaker = down();
        assert!(!asks(&mut breaker, 10, 1), "it backs off");
        assert!(asks(&mut breaker, 10, 500));
        assert_eq!(breaker.opens_ms(), Some((1_500, true)), "one probes it");
        breaker.ended(&10, FetchEnd::Answered, 502, 0);
        assert_eq!(breaker.opens_ms(), Some((i64::MIN, false)));
    }

    #[test]
    fn a_probe_that_is_not_needed_leaves_its_turn_to_the_next() {
        let mut breaker = down();
        assert!(asks(&mut breaker, 10, 500));
        breaker.cancelled(&10, true);
        assert!(asks(&mut breaker, 11, 501));
    }

    #[test]
    fn servers_that_give_nothing_to_many_keys_are_down_and_one_key_s_trouble_is_its_own() {
        let (mut breaker, bad) = (CircuitBreaker::new(), 1);
        for ms in 0..20 {
            breaker.ended(&bad, failed(ServersReadiness::Ready), ms, 0);
            assert!(!breaker.is_down(), "they may answer others");
        }
        for key in 10..10 + DOWN_FOR {
            breaker.ended(&key, failed(ServersReadiness::Ready), 20, 0);
        }
        assert!(breaker.is_down());
        breaker.ended(&bad, FetchEnd::Answered, 21, 0);
        assert!(!breaker.is_down());
    }

    /// A limited circuit breaker with four running calls at 0 ms, 1 to 4.
    fn full() -> CircuitBreaker<u32> {
        let limit = CallLimit { few: 4, many: 16, slow_ms: PER_MS, all: 20 };
        let mut breaker = CircuitBreaker::limited_to(limit);
        (1..=4).for_each(|key| assert!(asks(&mut breaker, key, 0)));
        breaker
    }

    #[test]
    fn more_calls_of_a_limited_source_run_while_it_answers() {
        let mut breaker = full();
        assert!(breaker.is_full() && !CircuitBreaker::<u32>::new().is_full());
        assert_eq!(breaker.opens_ms(), Some((1_000, false)), "when one is slow");
        breaker.ended(&1, FetchEnd::Answered, 20, 0);
        assert_eq!(
            [5, 6, 7].map(|key| asks(&mut breaker, key, 20)),
            [true, true, false],
            "one more than before"
        );
        breaker.cancelled(&6, false);
        assert!(asks(&mut breaker, 7, 22), "it leaves its turn to the next");
        let (mut running, mut key): (VecDeque<u32>, u32) = ([2, 3, 4, 5, 7].into(), 8);
        for _ in 0..12 {
            breaker.ended(&running.pop_front().unwrap_or(0), FetchEnd::Answered, 30, 0);
            while asks(&mut breaker, key, 30) {
                running.push_back(key);
                key += 1;
            }
        }
        assert_eq!(running.len(), 16);
        breaker.ended(&running[0], failed(UNKNOWN), 40, 0);
        breaker.ended(&running[1], FetchEnd::Answered, 50, 0);
        assert!(!asks(&mut breaker, key, 50), "few after a failure");
    }

    #[test]
    fn no_more_calls_run_than_all_however_slow_they_are() {
        let mut breaker = full();
        (1..=4).for_each(|second| {
            (0..4)
                .for_each(|call| assert!(asks(&mut breaker, 10 * second + call, i64::from(second) * 1_000)));
        });
        assert_eq!(breaker.opens_ms(), None);
        breaker.ended(&1, FetchEnd::Answered, 4_001, 0);
        assert!(breaker.opens_ms().is_some());
    }

    #[test]
    fn a_limited_source_that_goes_down_is_probed_by_one_key() {
        let mut breaker = full();
        (1..=3).for_each(|key| breaker.ended(&key, failed(UNKNOWN), 2, 0));
        assert!(breaker.is_down());
        assert_eq!(breaker.last_failed(), Some(&3));
        assert_eq!([3, 500, 501].map(|ms| asks(&mut breaker, 5, ms)), [false, true, false]);
        breaker.ended(&5, FetchEnd::Answered, 501, 0);
        assert!(asks(&mut breaker, 6, 501));
    }
}
