//! The clocks: the one for the time in ids, and the one that counts since the machine started.

use crate::ClockSource;
use crate::os::log_queue::{self, Level};
use crate::os::{PerProcess, process};
use leafid_core::ClockFilter;
use leafid_core::call::Clocks;
use leafid_core::time::{ClockSteps, LeapEvent};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// The source of the time, for simulations.
pub(crate) trait ClockReader: Send + Sync {
    /// Nanoseconds since the Unix epoch; negative before it.
    fn now_ns(&self) -> i64;
    /// Time since the machine started, including suspended time. It never goes back.
    fn boot_time(&self) -> Duration;
    /// Sleeps.
    fn sleep(&self, time: Duration);
    /// Identifies the start of the machine from which `boot_time` counts.
    fn boot_id(&self) -> String;
}

/// The system's clock, read for each id without a call through a pointer; or a simulated one.
#[derive(Clone)]
pub(crate) enum Clock {
    System,
    /// The system's clock; for ids it is read as of its last timer interrupt.
    Coarse,
    #[cfg_attr(not(test), allow(dead_code))]
    Other(Arc<dyn ClockReader>, Arc<ClockFilter>),
}

/// The filter of the system's clock. A forked child continues with its parent's.
static SYSTEM: PerProcess<Arc<ClockFilter>> = PerProcess::new();

/// The steps of the system's clock that were seen since the start of this process or of its parent.
pub(crate) static STEPS: ClockSteps = ClockSteps::new();

impl Clock {
    /// Unix milliseconds, unfiltered: only for the time in ids. A clock far ahead of the spans issues no ids.
    #[inline]
    pub(crate) fn now_ms(&self) -> i64 {
        match self {
            Clock::System => now_ms(),
            Clock::Coarse => coarse_ms(),
            Clock::Other(clock, _) => clock.now_ns().div_euclid(1_000_000),
        }
    }

    /// This clock, with `source` for the time in ids.
    pub(crate) fn read_as(&self, source: ClockSource) -> Clock {
        match (self, source) {
            (Clock::System, ClockSource::Coarse) => Clock::Coarse,
            (clock, _) => clock.clone(),
        }
    }

    /// How late [`Clock::now_ms`] may be, in milliseconds.
    pub(crate) fn lag_ms(&self) -> i64 {
        match self {
            Clock::Coarse => coarse_lag_ms(),
            _ => 0,
        }
    }

    /// Unix milliseconds after the filter: for all records and decisions.
    pub(crate) fn filtered_ms(&self) -> i64 {
        self.filtered_ns().div_euclid(1_000_000)
    }

    /// As [`Clock::filtered_ms`], in nanoseconds.
    pub(crate) fn filtered_ns(&self) -> i64 {
        let (now_ns, counted_ns) = self.both();
        let (filtered_ns, event) = self.filter().filter(now_ns, counted_ns);
        warn(event);
        filtered_ns
    }

    /// Identifies this start of the machine; empty if it is unknown.
    pub(crate) fn boot_id(&self) -> String {
        match self {
            Clock::System | Clock::Coarse => boot_id(),
            Clock::Other(clock, _) => clock.boot_id(),
        }
    }

    /// Passes to the filter what another process of this start of the machine saw: a filtered time, the boot time at
    /// that moment, and the leap that was not followed yet with its start.
    pub(crate) fn observe(&self, then_ms: i64, counted_ms: i64, leap_ms: Option<(i64, i64)>) {
        let ns = |ms: i64| ms.saturating_mul(1_000_000);
        let leap = leap_ms.map(|(leap_ms, since_ms)| (ns(leap_ms), ns(since_ms)));
        warn(self.filter().observe((ns(then_ms), ns(counted_ms)), leap, self.both()));
    }

    /// The leap that is not followed yet: its size, and the boot time since when.
    pub(crate) fn leap_ms(&self) -> Option<(i64, i64)> {
        self.filter().leap().map(|(leap_ns, since_ns)| (leap_ns / 1_000_000, since_ns / 1_000_000))
    }

    /// The filter of this process, and of those that were forked from it.
    pub(crate) fn filter(&self) -> &Arc<ClockFilter> {
        match self {
            Clock::System | Clock::Coarse => system_filter(),
            Clock::Other(_, filter) => filter,
        }
    }

    /// Both clocks, without the filter.
    pub(crate) fn clocks(&self) -> Clocks {
        let (now_ns, counted_ns) = self.both();
        let boot = Duration::from_nanos(counted_ns.unsigned_abs());
        Clocks { wall_ms: now_ns.div_euclid(1_000_000), boot }
    }

    /// Reads both clocks within a second: the thread may lose the processor between two reads.
    fn both(&self) -> (i64, i64) {
        let mut before = nanoseconds(self.boot_time());
        loop {
            let now_ns = match self {
                Clock::System | Clock::Coarse => now_ns(),
                Clock::Other(clock, _) => clock.now_ns(),
            };
            let after = nanoseconds(self.boot_time());
            let within = after.saturating_sub(before);
            if within < 1_000_000_000 {
                if let Clock::System | Clock::Coarse = self {
                    STEPS.note(now_ns, after, within);
                }
                return (now_ns, after);
            }
            before = after;
        }
    }

    /// Time since the machine started, including suspended time.
    pub(crate) fn boot_time(&self) -> Duration {
        match self {
            Clock::System | Clock::Coarse => boot_time(),
            Clock::Other(clock, _) => clock.boot_time(),
        }
    }

    pub(crate) fn sleep(&self, time: Duration) {
        match self {
            Clock::System | Clock::Coarse => std::thread::sleep(time),
            Clock::Other(clock, _) => clock.sleep(time),
        }
    }
}

fn system_filter() -> &'static Arc<ClockFilter> {
    loop {
        if let Some(filter) = SYSTEM.load_any() {
            return filter;
        }
        // If another thread was first, this one is dropped.
        let _ = SYSTEM.install(Arc::default(), process::generation());
    }
}

/// Logs a leap on the log thread, because the clock is also read under locks.
fn warn(event: Option<LeapEvent>) {
    if let Some(event) = event {
        log_queue::log_later(Level::Warn, format_args!("{event}"));
    }
}

/// It has room for 292 years.
fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Nanoseconds since the Unix epoch, to the year 2262.
pub(crate) fn now_ns() -> i64 {
    since_epoch_ns(SystemTime::now())
}

fn since_epoch_ns(time: SystemTime) -> i64 {
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => nanoseconds(since),
        Err(before) => -nanoseconds(before.duration()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn the_coarse_clock_reads_about_the_time_and_has_the_timer_s_lag() {
        let (before, coarse, after) = (now_ms(), coarse_ms(), now_ms());
        let lag = coarse_lag_ms();
        // On a machine that is too busy, the timer itself is late.
        assert!((before - 60_000..=after).contains(&coarse), "{before} {coarse} {after}");
        // 20 ms: a busy timer, or Windows.
        assert!((0..=20).contains(&lag), "{lag} ms");
        #[cfg(target_os = "linux")]
        {
            let step = rustix::time::clock_getres(rustix::time::ClockId::RealtimeCoarse).tv_nsec;
            assert!((0..1_000_000).contains(&(lag * 1_000_000 - step)), "{lag} ms for {step} ns");
        }
    }

    /// The readings to come; the last one stays.
    struct Scripted(Mutex<Vec<(i64, u64)>>);

    impl Scripted {
        /// Milliseconds since the epoch, and since the start of the machine.
        fn clock(readings: &[(i64, u64)]) -> Clock {
            let readings = readings.iter().rev().copied().collect();
            Clock::Other(Arc::new(Scripted(Mutex::new(readings))), Arc::new(ClockFilter::new()))
        }
    }

    impl ClockReader for Scripted {
        fn now_ns(&self) -> i64 {
            self.0.lock().unwrap().last().unwrap().0 * 1_000_000
        }
        /// Read after the other one, but for the first time: then comes the next reading.
        fn boot_time(&self) -> Duration {
            let mut readings = self.0.lock().unwrap();
            let (_, boot_ms) =
                if readings.len() > 1 { readings.pop() } else { readings.last().copied() }.unwrap();
            Duration::from_millis(boot_ms)
        }
        fn sleep(&self, _: Duration) {}
        fn boot_id(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn both_clocks_are_read_within_a_second() {
        for (second, found) in [((2_000, 999), (2_000, 999)), ((2_000, 1_000), (3_000, 1_500))] {
            // The second one is read for both, the third one in a second try.
            let clock = Scripted::clock(&[(1_000, 0), second, (3_000, 1_500)]);
            let found = (found.0 * 1_000_000, found.1 * 1_000_000);
            assert_eq!(clock.both(), found, "{second:?}");
        }
    }

    #[test]
    fn a_leap_is_known_until_it_is_followed() {
        let clock = Scripted::clock(&[(1_000_000, 10_000)]);
        assert_eq!((clock.now_ms(), clock.filtered_ms(), clock.leap_ms()), (1_000_000, 1_000_000, None));
        clock.observe(900_000, 9_999, None);
        assert_eq!((clock.now_ms(), clock.filtered_ms()), (1_000_000, 900_001));
        assert_eq!(clock.leap_ms(), Some((99_999, 10_000)));
        let used = Scripted::clock(&[(1_000_000, 10_000)]);
        assert_eq!(used.filtered_ms(), 1_000_000);
        used.filter().mark_used();
        used.observe(900_000, 9_999, None);
        assert_eq!((used.filtered_ms(), used.leap_ms()), (1_000_000, None));
    }

    #[test]
    fn times_before_1970_are_negative() {
        let second = Duration::from_secs(1);
        assert_eq!(
            [UNIX_EPOCH - second, UNIX_EPOCH + second].map(since_epoch_ns),
            [-1_000_000_000, 1_000_000_000]
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_boot_id_is_the_kernel_s() {
        assert_eq!(boot_id().len(), 36, "{}", boot_id());
    }
}
