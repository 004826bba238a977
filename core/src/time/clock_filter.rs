//! Filters the readings of a clock: a leap forward is followed only after it has lasted for a while.
//!
//! Construct: [`ClockFilter::new`]. Events: [`ClockFilter::filter`] (a reading), [`ClockFilter::observe`] (a record of
//! another process), [`ClockFilter::mark_used`]. Query: [`ClockFilter::leap`].
//!
//! | State | Reading | Next state | Filtered time |
//! | --- | --- | --- | --- |
//! | no reading yet | any | following | as read |
//! | following | at most 60 s ahead | following | as read |
//! | following | more than 60 s ahead | leap pending | as without the leap |
//! | leap pending | back | following | as read |
//! | leap pending | another leap | leap pending, from now | as without the leap |
//! | leap pending | the same leap, for less than 60 s | leap pending | as without the leap |
//! | leap pending | the same leap, for 60 s | following | as read |

use crate::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use core::fmt;

/// A clock that is further ahead of the boot time than this has leapt.
const LEAP_NS: i64 = 60_000_000_000;
/// A leap that has lasted for this long is followed.
const STANDS_NS: i64 = 60_000_000_000;
/// A leap that moves by more than this is a new leap.
const SAME_NS: i64 = 5_000_000_000;
/// How long a larger offset is stored after the clock went back. Within this time, its return is not a leap.
const RETURNS_NS: i64 = 3_600_000_000_000;
/// A process younger than this may have started during a leap, and has issued few ids.
const YOUNG_NS: i64 = 5_000_000_000;
const NONE: i64 = i64::MIN;

/// The last accepted offset of a clock from the boot time, which counts suspended time too.
///
/// Without the filter, a clock that leaps to 2036 for a second would put 2036 into the records, and no id could be
/// issued after it came back. The filter contains only atomics, so that a forked child continues with the state of its
/// parent. All times are nanoseconds.
#[derive(Debug)]
pub struct ClockFilter {
    offset_ns: AtomicI64,
    /// The largest offset accepted lately, and the boot time of that.
    highest_ns: AtomicI64,
    highest_at_ns: AtomicI64,
    leap_ns: AtomicI64,
    since_ns: AtomicI64,
    /// The boot time of the first accepted reading.
    first_ns: AtomicI64,
    /// The boot time of the latest observed record.
    observed_ns: AtomicI64,
    /// Whether a generator uses the filtered time.
    used: AtomicBool,
}

/// A change of a leap of the clock, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeapEvent {
    /// The clock leapt ahead. The leap is not followed yet.
    Seen {
        /// The size of the leap in seconds.
        seconds: i64,
    },
    /// The leap has lasted for 60 s. It is followed from now on.
    Followed {
        /// The size of the leap in seconds.
        seconds: i64,
    },
}

impl fmt::Display for LeapEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeapEvent::Seen { seconds } => {
                write!(f, "the clock jumped {seconds} s ahead; leafid follows it if it stays there for 60 s")
            }
            LeapEvent::Followed { seconds } => {
                write!(f, "the clock has stayed {seconds} s ahead for 60 s; leafid follows it now")
            }
        }
    }
}

impl ClockFilter {
    /// A filter without a reading.
    pub fn new() -> ClockFilter {
        ClockFilter {
            offset_ns: AtomicI64::new(NONE),
            highest_ns: AtomicI64::new(NONE),
            highest_at_ns: AtomicI64::new(0),
            leap_ns: AtomicI64::new(0),
            since_ns: AtomicI64::new(NONE),
            first_ns: AtomicI64::new(NONE),
            observed_ns: AtomicI64::new(NONE),
            used: AtomicBool::new(false),
        }
    }

    /// Filters a reading: the clock reads `now_ns` at the boot time `counted_ns`. Returns the filtered time since the
    /// Unix epoch, and what to log.
    pub fn filter(&self, now_ns: i64, counted_ns: i64) -> (i64, Option<LeapEvent>) {
        let offset = self.offset_ns.load(Relaxed);
        if offset == NONE {
            self.first_ns.store(counted_ns, Relaxed);
        }
        let found = now_ns.saturating_sub(counted_ns);
        let recent = counted_ns.saturating_sub(self.highest_at_ns.load(Relaxed)) <= RETURNS_NS;
        let known = if recent { offset.max(self.highest_ns.load(Relaxed)) } else { offset };
        let leap = found.saturating_sub(known);
        if offset == NONE || leap <= LEAP_NS {
            self.follow(found, counted_ns, found >= known.saturating_sub(SAME_NS));
            return (now_ns, None);
        }
        let since = self.since_ns.load(Relaxed);
        let same = leap.saturating_sub(self.leap_ns.load(Relaxed)).saturating_abs() <= SAME_NS;
        let seconds = leap / 1_000_000_000;
        let mut event = None;
        if since == NONE || !same {
            self.leap_ns.store(leap, Relaxed);
            self.since_ns.store(counted_ns, Relaxed);
            event = Some(LeapEvent::Seen { seconds });
        } else if counted_ns.saturating_sub(since) >= STANDS_NS {
            self.follow(found, counted_ns, true);
            return (now_ns, Some(LeapEvent::Followed { seconds }));
        }
        (counted_ns.saturating_add(offset), event)
    }

    /// Observes a record of another process of this machine. `then` is the filtered time and the boot time of the
    /// record. `leap` is the leap that was not followed then, with its size and its start; it may have lasted long
    /// enough over the runs of many processes. `now` is the reading of both clocks here. Returns what to log.
    ///
    /// If this process started during a leap, the first reading that it accepted belongs to the leap. If it started
    /// while the clock was set back, the clock's return is not a leap. The latest of several records counts. A process
    /// that has run for a while ignores all records.
    pub fn observe(&self, then: (i64, i64), leap: Option<(i64, i64)>, now: (i64, i64)) -> Option<LeapEvent> {
        let ((then_ns, then_counted_ns), (now_ns, counted_ns)) = (then, now);
        let young = counted_ns.saturating_sub(self.first_ns.load(Relaxed)) <= YOUNG_NS;
        // A later boot time belongs to another start of the machine.
        let later = (self.observed_ns.load(Relaxed) + 1..=counted_ns).contains(&then_counted_ns);
        if !young || !later {
            return None;
        }
        self.observed_ns.store(then_counted_ns, Relaxed);
        let known = then_ns.saturating_sub(then_counted_ns);
        let found = now_ns.saturating_sub(counted_ns);
        let leapt = found.saturating_sub(known) > LEAP_NS;
        if leapt && self.used.load(Relaxed) {
            // A generator that already followed the clock cannot go back.
            return None;
        }
        self.highest_ns.store(known, Relaxed);
        self.highest_at_ns.store(counted_ns, Relaxed);
        if !leapt {
            self.follow(found, counted_ns, found >= known.saturating_sub(SAME_NS));
            return None;
        }
        self.offset_ns.store(known, Relaxed);
        if let Some((leap_ns, since_ns)) = leap.filter(|(_, since_ns)| *since_ns <= counted_ns) {
            self.leap_ns.store(leap_ns, Relaxed);
            self.since_ns.store(since_ns, Relaxed);
        }
        self.filter(now_ns, counted_ns).1
    }

    /// Records that a generator uses the filtered time from now on.
    pub fn mark_used(&self) {
        self.used.store(true, Relaxed);
    }

    /// The leap that is not followed yet: its size, and its start as boot time.
    pub fn leap(&self) -> Option<(i64, i64)> {
        let since = self.since_ns.load(Relaxed);
        (since != NONE).then(|| (self.leap_ns.load(Relaxed), since))
    }

    fn follow(&self, found: i64, counted_ns: i64, highest: bool) {
        self.offset_ns.store(found, Relaxed);
        self.since_ns.store(NONE, Relaxed);
        if highest {
            self.highest_ns.store(found, Relaxed);
            self.highest_at_ns.store(counted_ns, Relaxed);
        }
    }
}

impl Default for ClockFilter {
    fn default() -> ClockFilter {
        ClockFilter::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockFilter, LeapEvent};
    use alloc::string::ToString;
    const S: i64 = 1_000_000_000;

    #[test]
    fn small_steps_and_steps_back_are_followed() {
        let filter = ClockFilter::new();
        assert_eq!(filter.filter(1_000 * S, 0).0, 1_000 * S);
        for (now, boot_time) in [(1_060, 0), (1_061, 1), (900, 2), (901, 3), (961, 3)] {
            assert_eq!(filter.filter(now * S, boot_time * S).0, now * S);
        }
    }

    #[test]
    fn a_leap_is_followed_once_it_has_stood() {
        let filter = ClockFilter::new();
        filter.filter(1_000 * S, 0);
        let seen = Some(LeapEvent::Seen { seconds: 8_000 });
        assert_eq!(filter.filter(9_010 * S, 10 * S), (1_010 * S, seen));
        assert_eq!(filter.filter(1_011 * S, 11 * S), (1_011 * S, None), "it came back");
        assert_eq!(filter.filter(9_020 * S, 20 * S), (1_020 * S, seen));
        assert_eq!(filter.filter(9_079 * S, 79 * S), (1_079 * S, None));
        let followed = LeapEvent::Followed { seconds: 8_000 };
        assert_eq!(filter.filter(9_080 * S, 80 * S), (9_080 * S, Some(followed)));
        assert_eq!(filter.filter(9_081 * S, 81 * S), (9_081 * S, None));
        assert_eq!(followed.to_string(), "the clock has stayed 8000 s ahead for 60 s; leafid follows it now");
    }

    #[test]
    fn a_return_from_a_step_back_is_no_leap_for_an_hour() {
        let filter = ClockFilter::new();
        filter.filter(100_000 * S, 0);
        assert_eq!(filter.filter(96_401 * S, S).0, 96_401 * S);
        assert_eq!(filter.filter(100_002 * S, 2 * S).0, 100_002 * S);
        assert_eq!(filter.filter(96_403 * S, 3 * S).0, 96_403 * S);
        assert_eq!(filter.filter(98_000 * S, 1_600 * S).0, 98_000 * S);
        assert_eq!(filter.filter(104_000 * S, 4_000 * S).0, 100_400 * S, "forgotten");
    }

    #[test]
    fn a_process_that_begins_during_a_leap_learns_it_from_the_record() {
        let filter = ClockFilter::new();
        assert_eq!(filter.filter(9_000 * S, 100 * S).0, 9_000 * S, "its first reading");
        filter.observe((1_090 * S, 90 * S), None, (9_000 * S, 100 * S));
        assert_eq!(filter.filter(9_001 * S, 101 * S).0, 1_101 * S);
        filter.observe((1_000 * S, 50 * S), None, (9_001 * S, 101 * S));
        assert_eq!(filter.filter(9_002 * S, 102 * S).0, 1_102 * S, "an older record says nothing new");
        assert_eq!(filter.filter(1_103 * S, 103 * S).0, 1_103 * S, "it came back");
        // It lasts over the runs of many processes, each of which started during it.
        let mut held = None;
        for second in (100..160).step_by(7) {
            let filter = ClockFilter::new();
            filter.filter((8_900 + second) * S, second * S);
            filter.observe(
                ((1_000 + second - 1) * S, (second - 1) * S),
                held,
                ((8_900 + second) * S, second * S),
            );
            assert_eq!(filter.filter((8_900 + second) * S, second * S).0, (1_000 + second) * S, "{second}");
            held = filter.leap();
        }
        let filter = ClockFilter::new();
        filter.filter(9_060 * S, 160 * S);
        filter.observe((1_159 * S, 159 * S), held, (9_060 * S, 160 * S));
        assert_eq!(filter.filter(9_060 * S, 160 * S).0, 9_060 * S, "followed");
        // A leap that has lasted, by a later record, is not a leap any more.
        let filter = ClockFilter::new();
        filter.filter(9_000 * S, 100 * S);
        filter.observe((1_050 * S, 50 * S), None, (9_000 * S, 100 * S));
        filter.observe((8_999 * S, 99 * S), None, (9_000 * S, 100 * S));
        assert_eq!(filter.filter(9_001 * S, 101 * S).0, 9_001 * S);
        // A generator uses the filtered time: a record of another worker id changes nothing.
        let filter = ClockFilter::new();
        filter.filter(9_000 * S, 100 * S);
        filter.mark_used();
        filter.observe((1_090 * S, 90 * S), None, (9_001 * S, 101 * S));
        assert_eq!(filter.filter(9_001 * S, 101 * S).0, 9_001 * S);
        // A process that has run for a while ignores records, and a record of another start is ignored.
        let filter = ClockFilter::new();
        filter.filter(9_000 * S, 100 * S);
        filter.observe((1_090 * S, 190 * S), None, (9_000 * S, 100 * S));
        filter.observe((1_090 * S, 90 * S), None, (9_010 * S, 110 * S));
        assert_eq!(filter.filter(9_011 * S, 111 * S).0, 9_011 * S);
    }

    #[test]
    fn a_record_that_a_clock_is_ahead_of_by_60_s_is_followed() {
        for (ahead, followed) in [(60, true), (61, false)] {
            let filter = ClockFilter::new();
            filter.filter(1_100 * S, 100 * S);
            filter.mark_used();
            filter.observe((90 * S, 90 * S), None, ((101 + ahead) * S, 101 * S));
            // Back at its first reading, it leaps from where it was followed to.
            let filtered = if followed { 102 + ahead } else { 1_102 };
            assert_eq!(filter.filter(1_102 * S, 102 * S).0, filtered * S, "{ahead}");
        }
    }
}
