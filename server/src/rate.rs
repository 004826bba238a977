//! The rate of requests that one client may make: a bucket that holds a burst and refills evenly.
//!
//! It is the generic cell rate algorithm (ITU-T I.371): a bucket is the time at which it is full again. A request moves
//! that time on by one interval, and is refused if it would then lie further ahead than a whole burst.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// How many requests a client may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestRate {
    interval_ns: u64,
    burst_ns: u64,
}

/// The requests of one client. Times are those of a clock that only goes forward.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    full_at_ns: AtomicU64,
}

impl RequestRate {
    /// `per_second` requests, and `burst` at once; both at least one.
    pub(crate) fn new(per_second: u32, burst: u32) -> RequestRate {
        let interval_ns = SECOND_NS / u64::from(per_second.max(1));
        RequestRate { interval_ns, burst_ns: interval_ns * u64::from(burst.max(1)) }
    }
}

impl Bucket {
    /// Counts a request. The error says after which time one more is allowed; then nothing is counted.
    pub(crate) fn take(&self, rate: RequestRate, now: Duration) -> Result<(), Duration> {
        let now_ns = nanoseconds(now);
        let mut full_at_ns = self.full_at_ns.load(Relaxed);
        loop {
            let next_ns = full_at_ns.max(now_ns) + rate.interval_ns;
            if let Some(wait_ns) =
                (next_ns - now_ns).checked_sub(rate.burst_ns).filter(|wait_ns| *wait_ns > 0)
            {
                return Err(Duration::from_nanos(wait_ns));
            }
            match self.full_at_ns.compare_exchange_weak(full_at_ns, next_ns, Relaxed, Relaxed) {
                Ok(_) => return Ok(()),
                Err(changed_ns) => full_at_ns = changed_ns,
            }
        }
    }

    /// Whether it is as a new one.
    pub(crate) fn is_full(&self, now: Duration) -> bool {
        self.full_at_ns.load(Relaxed) <= nanoseconds(now)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The requests at this time until one is refused, and the wait that it is told.
    fn drain(bucket: &Bucket, rate: RequestRate, now: Duration) -> (u32, Duration) {
        let mut taken = 0;
        loop {
            match bucket.take(rate, now) {
                Ok(()) => taken += 1,
                Err(wait) => return (taken, wait),
            }
        }
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (bucket, rate) = (Bucket::default(), RequestRate::new(10, 5));
        assert_eq!(drain(&bucket, rate, at(1_000)), (5, at(100)));
        assert_eq!(drain(&bucket, rate, at(1_040)), (0, at(60)));
        assert_eq!(drain(&bucket, rate, at(1_100)), (1, at(100)));
        let after_a_second: u32 = (1_101..=2_100).map(|ms| drain(&bucket, rate, at(ms)).0).sum();
        assert_eq!(after_a_second, 10);
        assert_eq!(drain(&bucket, rate, at(60_000)), (5, at(100)), "it holds no more than a burst");
    }

    #[test]
    fn the_wait_that_is_told_is_enough_and_a_refusal_costs_nothing() {
        let (bucket, rate) = (Bucket::default(), RequestRate::new(3, 1));
        let (mut now, mut refusals) = (at(5), 0);
        for _ in 0..100 {
            while let Err(wait) = bucket.take(rate, now) {
                refusals += 1;
                assert!(bucket.take(rate, now).is_err() && !bucket.is_full(now));
                now += wait;
            }
        }
        assert_eq!((refusals, now.as_millis()), (99, 5 + 99 * 1_000 / 3 - 1));
        assert!(bucket.is_full(now + at(334)));
    }

    #[test]
    fn threads_together_get_no_more_than_one_would() {
        let (bucket, rate) = (Bucket::default(), RequestRate::new(1, 1_000));
        let taken: u32 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| drain(&bucket, rate, at(0)).0)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
        });
        assert_eq!(taken, 1_000);
    }
}
