//! The clocks, and chance.

use leafid_core::{ClockFilter, Code, Error, Result};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// This host's clock.
static OWN: LazyLock<FilteredClock> = LazyLock::new(|| FilteredClock::new("this host"));

/// A clock whose leap forward is followed only after it has lasted. A time that was stored can never be taken back: the
/// worker ids of a year ahead would be blocked for that year.
#[derive(Debug)]
pub(crate) struct FilteredClock {
    whose: &'static str,
    filter: Arc<ClockFilter>,
}

impl FilteredClock {
    pub(crate) fn new(whose: &'static str) -> FilteredClock {
        FilteredClock { whose, filter: Arc::new(ClockFilter::new()) }
    }

    /// Unix milliseconds after the filter, of a clock that read `read_ms` just now.
    pub(crate) fn filtered_ms(&self, read_ms: i64) -> i64 {
        self.at(read_ms, running())
    }

    fn at(&self, read_ms: i64, running: Duration) -> i64 {
        let counted_ns = i64::try_from(running.as_nanos()).unwrap_or(i64::MAX);
        let (filtered_ns, event) = self.filter.filter(read_ms.saturating_mul(1_000_000), counted_ns);
        if let Some(event) = event {
            log::warn!("{}: {event}", self.whose);
        }
        filtered_ns.div_euclid(1_000_000)
    }
}

/// Unix milliseconds of this host's clock as it reads: only for what is shown.
pub(crate) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The same after the filter: for ids, and for all that is stored or decided.
pub(crate) fn filtered_ms() -> i64 {
    OWN.filtered_ms(unix_ms())
}

/// The filter of this host's clock, for the core's machines.
pub(crate) fn own_filter() -> Arc<ClockFilter> {
    Arc::clone(&OWN.filter)
}

/// Time since the machine started, including suspended time.
pub(crate) fn running() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    // Neither is ever negative.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The same, in milliseconds.
pub(crate) fn running_ms() -> i64 {
    i64::try_from(running().as_millis()).unwrap_or(i64::MAX)
}

/// 128 random bits in hex. Errors: `internal`.
pub(crate) fn random_hex() -> Result<String> {
    random().map(|number| format!("{number:032x}"))
}

/// 128 random bits. Errors: `internal`.
pub(crate) fn random() -> Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(Code::Internal, format!("the system gives no random numbers: {error}"))
    })?;
    Ok(u128::from_ne_bytes(bytes))
}

/// A number for jitter.
pub(crate) fn seed() -> u64 {
    getrandom::u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::FilteredClock;
    use std::time::Duration;

    #[test]
    fn a_leap_is_followed_once_it_has_stood() {
        let (clock, year_ms) = (FilteredClock::new("a store"), 365 * 86_400_000);
        let at = |read_ms, second| clock.at(read_ms, Duration::from_secs(second));
        assert_eq!(at(1_000_000, 100), 1_000_000);
        assert_eq!(at(1_001_000 + year_ms, 101), 1_001_000, "not stored");
        assert_eq!(at(1_002_000, 102), 1_002_000, "it came back");
        assert_eq!(at(1_003_000 + year_ms, 103), 1_003_000);
        assert_eq!(at(1_063_000 + year_ms, 163), 1_063_000 + year_ms, "it stays there");
        assert_eq!(at(1_064_000, 164), 1_064_000, "back is followed at once");
    }
}
