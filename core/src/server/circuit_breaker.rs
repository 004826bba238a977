//! A circuit breaker for a source: while the source is down, one key at a time probes it, and the others wait. It also
//! limits the concurrent calls of a source that has no threads to limit them.
//!
//! A key identifies a fetch, such as a tag. Construct: [`CircuitBreaker::new`], [`CircuitBreaker::limited`]. Events:
//! [`CircuitBreaker::enter`], [`CircuitBreaker::cancelled`], [`CircuitBreaker::ended`], [`CircuitBreaker::timer`]; each
//! returns the next action. Queries: all others.
//!
//! | State | Event | Next state | Action |
//! | --- | --- | --- | --- |
//! | closed | a key enters | closed | it asks the source |
//! | closed, with as many calls as may run | a key enters | closed: the key is queued | wait, or wake when a call is slow |
//! | closed, with a queue | a call ends, or is slow | closed | the next of the queue ask the source |
//! | closed | a fetch fails, and too many have failed | open | wait, or wake at the end of the back-off |
//! | open | a key enters | open: the key is queued | wait, or wake at the end of the back-off |
//! | open | the back-off is over | half open | the first of the queue probes |
//! | half open | a key enters | half open: the key is queued | wait, or wake after 1 s |
//! | half open | the probe takes longer than 1 s | half open | the next one probes |
//! | half open | the probe was not needed | open | the next one probes |
//! | half open | the probe fails | open, for longer | wait, or wake at the end of the back-off |
//! | open, half open | a fetch gets a response | closed | the queue asks the source, as far as the limit allows |

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
/// The number of concurrent calls of a limited source: at first and after a failure, and after many responses.
const FEW: usize = 4;
const MANY: usize = 16;

/// The state of the circuit breaker of one source. Times are boot times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// The time at which [`CircuitBreaker::timer`] was requested.
    due_ms: Option<i64>,
    calls: Option<Calls<K>>,
}

/// How many calls of a source may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallLimit {
    /// At first and after a failure.
    pub few: usize,
    /// After many responses.
    pub many: usize,
    /// A call that runs for this long is slow: it keeps no other from being made.
    pub slow_ms: i64,
    /// The largest number of calls, with the slow ones.
    pub all: usize,
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

    fn contains(&self, key: &K) -> bool {
        self.running.iter().any(|(running, _)| running == key)
    }

    fn ended(&mut self, key: &K) {
        self.running.retain(|(running, _)| running != key);
    }

    /// The number of calls that may begin.
    fn free(&self, now_ms: i64) -> usize {
        let slow_ms = self.limit.slow_ms;
        let counted = self.running.iter().filter(|(_, since_ms)| since_ms + slow_ms > now_ms).count();
        self.most.saturating_sub(counted).min(self.limit.all.saturating_sub(self.running.len()))
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

    /// The time at which the oldest call that counts is slow.
    fn slow_ms(&self, now_ms: i64) -> Option<i64> {
        let slow = self.running.iter().map(|(_, since_ms)| since_ms + self.limit.slow_ms);
        slow.filter(|slow_ms| *slow_ms > now_ms).min()
    }
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BreakerAction<K> {
    /// All of these keys ask the source now. If there is a time, call [`CircuitBreaker::timer`] then.
    Release(VecDeque<K>, Option<i64>),
    /// This key probes the source.
    Probe(K),
    /// Call [`CircuitBreaker::timer`] at this time.
    WakeAt(i64),
    /// Nothing.
    Wait,
}

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchEnd {
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
pub enum ServersReadiness {
    /// The source has no servers that are known.
    Unknown,
    /// At least one server may be asked now.
    Ready,
    /// All servers back off for this many milliseconds.
    BackOff(i64),
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
            calls: None,
        }
    }

    /// As `new`, for a source that starts any number of calls at once: 4 run concurrently, up to 16 while it responds.
    pub fn limited() -> CircuitBreaker<K> {
        CircuitBreaker::limited_to(CallLimit { few: FEW, many: MANY, slow_ms: PER_MS, all: usize::MAX })
    }

    /// As `new`, with this limit.
    pub fn limited_to(limit: CallLimit) -> CircuitBreaker<K> {
        CircuitBreaker { calls: Some(Calls::new(limit)), ..CircuitBreaker::new() }
    }

    /// For keys that wait in a queue of their own: the time at which the first of them may ask the source, and whether
    /// it probes then. `None`: not before a call ends, whether the source is down or not. Then
    /// [`CircuitBreaker::begun`] is called for the key.
    pub fn opens_ms(&self) -> Option<(i64, bool)> {
        let calls = self.calls.as_ref();
        if calls.is_some_and(Calls::is_at_limit) {
            return None;
        }
        let probes_ms = self.ready_ms().map(|ready_ms| (ready_ms, true));
        Some(probes_ms.unwrap_or_else(|| (calls.map_or(i64::MIN, Calls::opens_ms), false)))
    }

    /// A key of another queue asks the source. `probes`: the gate said so.
    pub fn begun(&mut self, key: &K, probes: bool, now_ms: i64) {
        if probes {
            self.probing_since_ms = Some(now_ms);
        }
        self.calls.iter_mut().for_each(|calls| calls.running.push((key.clone(), now_ms)));
    }

    /// Whether the source is down.
    pub const fn is_down(&self) -> bool {
        self.down_until_ms.is_some()
    }

    /// Whether as many calls of a limited source run as may.
    pub fn is_full(&self) -> bool {
        self.calls.as_ref().is_some_and(|calls| calls.running.len() >= calls.most)
    }

    /// A key whose fetch failed since the last response.
    pub fn last_failed(&self) -> Option<&K> {
        self.failing.last()
    }

    /// A key wants to ask the source. Returns `None` if it may. Otherwise the key is queued, and the next action is
    /// returned.
    ///
    /// `probes`: [`BreakerAction::Probe`] chose the key. `failed`: its own last fetch failed. Keys that did not fail
    /// come first, because a failed key may be at fault itself, and not the source.
    pub fn enter(&mut self, key: &K, probes: bool, failed: bool, now_ms: i64) -> Option<BreakerAction<K>> {
        if probes || !self.is_down() {
            let calls = self.calls.as_mut()?;
            if calls.contains(key) {
                return None;
            }
            // A probe is a single call, so it may exceed the limit.
            if probes || (self.queue.is_empty() && calls.free(now_ms) > 0) {
                calls.running.push((key.clone(), now_ms));
                return None;
            }
            self.queue.push_back(key.clone());
            return Some(self.poll(now_ms));
        }
        // The source went down after the key was released.
        self.calls.iter_mut().for_each(|calls| calls.ended(key));
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

    /// The key did not need to ask the source. `probes`: it was chosen to probe it.
    pub fn cancelled(&mut self, key: &K, probes: bool, now_ms: i64) -> BreakerAction<K> {
        if probes {
            self.probing_since_ms = None;
        }
        self.calls.iter_mut().for_each(|calls| calls.ended(key));
        self.poll(now_ms)
    }

    /// A fetch has ended. `seed` makes the back-off differ between processes.
    pub fn ended(&mut self, key: &K, end: FetchEnd, now_ms: i64, seed: u64) -> BreakerAction<K> {
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
            ServersReadiness::BackOff(back_off_ms) => Some(now_ms + back_off_ms),
            // Urgent, because all keys depend on it.
            ServersReadiness::Unknown if self.back_off.failures() >= DOWN => self.back_off.ready_at_ms(true),
            ServersReadiness::Ready if self.failing.len() >= DOWN_FOR => self.back_off.ready_at_ms(true),
            ServersReadiness::Unknown | ServersReadiness::Ready => None,
        };
        self.poll(now_ms)
    }

    /// Chooses the next probe, or the next calls, if their time has come.
    fn poll(&mut self, now_ms: i64) -> BreakerAction<K> {
        let Some(ready_ms) = self.ready_ms() else { return self.release(now_ms) };
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

    /// While the source is down: the time at which it may be probed.
    fn ready_ms(&self) -> Option<i64> {
        let rested_ms = self.down_until_ms?;
        let often = self.failed_ms.front().filter(|_| self.failed_ms.len() == MOST_ASKED);
        let asked_ms = often.map_or(rested_ms, |first_ms| rested_ms.max(first_ms + PER_MS));
        Some(self.probing_since_ms.map_or(asked_ms, |since_ms| asked_ms.max(since_ms + PER_MS)))
    }

    fn release(&mut self, now_ms: i64) -> BreakerAction<K> {
        let Some(calls) = &mut self.calls else { return BreakerAction::Release(take(&mut self.queue), None) };
        let count = calls.free(now_ms).min(self.queue.len());
        let released: VecDeque<K> = (0..count).filter_map(|_| self.queue.pop_front()).collect();
        calls.running.extend(released.iter().map(|key| (key.clone(), now_ms)));
        let slow_ms = calls.slow_ms(now_ms).filter(|_| !self.queue.is_empty() && self.due_ms.is_none());
        self.due_ms = self.due_ms.or(slow_ms);
        BreakerAction::Release(released, slow_ms)
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
        (0..3).for_each(|key| drop(breaker.ended(&key, failed(UNKNOWN), 0, 0)));
        breaker
    }

    /// A new key enters at each millisecond. Returns the times of the failed requests, from the first failure on.
    fn requests(under_way: usize, servers: impl Fn(i64) -> ServersReadiness) -> Vec<i64> {
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
                Some(BreakerAction::Release(..)) => unreachable!("it is down"),
                Some(BreakerAction::WakeAt(_) | BreakerAction::Wait) => continue,
            }
            breaker.ended(&key, failed(servers(now_ms)), now_ms, 0);
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
    fn a_source_that_says_how_long_it_rests_is_left_alone_for_that_time() {
        let mut breaker = CircuitBreaker::new();
        breaker.ended(&1, failed(ServersReadiness::BackOff(300)), 1_000, 0);
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
        assert_eq!(released, BreakerAction::Release([11, 12].into(), None));
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
        assert_eq!(breaker.cancelled(&10, true, 501), BreakerAction::Probe(11));
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
        let mut breaker = CircuitBreaker::limited();
        (1..=4).for_each(|key| assert_eq!(breaker.enter(&key, false, false, 0), None));
        breaker
    }

    fn release<const N: usize>(keys: [u32; N], wake_ms: Option<i64>) -> BreakerAction<u32> {
        BreakerAction::Release(keys.into(), wake_ms)
    }

    #[test]
    fn calls_of_a_limited_source_wait_in_order_and_more_run_while_it_answers() {
        let mut breaker = full();
        assert!(breaker.is_full() && !CircuitBreaker::<u32>::new().is_full());
        assert_eq!(
            breaker.enter(&5, false, false, 10),
            Some(release([], Some(1_000))),
            "wake when it is slow"
        );
        (6..40).for_each(|key| assert_eq!(breaker.enter(&key, false, false, 11), Some(release([], None))));
        assert_eq!(
            breaker.ended(&1, FetchEnd::Answered, 20, 0),
            release([5, 6], None),
            "one more than before"
        );
        assert_eq!(breaker.enter(&5, false, false, 21), None, "it was released");
        assert_eq!(breaker.cancelled(&6, false, 22), release([7], None), "it leaves its turn to the next");
        let mut running: VecDeque<u32> = [2, 3, 4, 5, 7].into();
        for _ in 0..12 {
            let BreakerAction::Release(keys, _) = breaker.ended(&running[0], FetchEnd::Answered, 30, 0)
            else {
                unreachable!("it is closed")
            };
            running.pop_front();
            running.extend(keys);
        }
        assert_eq!(running.len(), MANY);
        breaker.ended(&running[0], failed(UNKNOWN), 40, 0);
        assert_eq!(
            breaker.ended(&running[1], FetchEnd::Answered, 50, 0),
            release([], None),
            "few after a failure"
        );
    }

    #[test]
    fn a_slow_call_of_a_limited_source_keeps_no_other_from_being_made() {
        let mut breaker = full();
        assert_eq!(breaker.ended(&4, FetchEnd::Answered, 500, 0), release([], None));
        assert_eq!(
            (5..=6).map(|key| breaker.enter(&key, false, false, 500)).collect::<Vec<_>>(),
            [None, None]
        );
        assert_eq!(breaker.enter(&7, false, false, 501), Some(release([], Some(1_000))));
        assert_eq!(breaker.enter(&8, false, false, 502), Some(release([], None)));
        assert_eq!(breaker.timer(999), release([], Some(1_000)));
        assert_eq!(breaker.timer(1_000), release([7, 8], None));
        assert_eq!(breaker.ended(&1, FetchEnd::Answered, 1_001, 0), release([], None), "it was not counted");
    }

    #[test]
    fn a_limited_source_that_goes_down_is_probed_by_the_released_and_the_queued() {
        let mut breaker = full();
        for key in 5..=7 {
            assert!(breaker.enter(&key, false, false, 1).is_some());
        }
        assert_eq!(breaker.ended(&1, failed(UNKNOWN), 2, 0), release([5], None));
        assert_eq!(breaker.ended(&2, failed(UNKNOWN), 2, 0), release([6], None));
        breaker.ended(&3, failed(UNKNOWN), 2, 0);
        assert!(breaker.is_down());
        assert_eq!(breaker.last_failed(), Some(&3));
        for key in [6, 5] {
            assert!(breaker.enter(&key, false, false, 3).is_some(), "it waits with the others");
        }
        assert_eq!(breaker.timer(500), BreakerAction::Probe(5));
        assert_eq!(breaker.enter(&5, true, false, 500), None);
        assert_eq!(breaker.ended(&5, FetchEnd::Answered, 501, 0), release([6, 7], None));
    }
}
