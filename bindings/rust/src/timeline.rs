//! The clock as it is believed: a leap forward is not followed before it has stood for a while.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// A clock this much further ahead than the suspend-counting one says is a leap.
const LEAP_NS: i64 = 60_000_000_000;
/// A leap that has stood for so long is the time.
const STANDS_NS: i64 = 60_000_000_000;
/// A leap that moves by more than this is another one.
const SAME_NS: i64 = 5_000_000_000;
/// How long a reading further ahead is remembered after the clock went back: its return is no leap.
const RETURNS_NS: i64 = 3_600_000_000_000;
const NONE: i64 = i64::MIN;

/// What the clock was last believed to read, as an offset from the suspend-counting clock.
///
/// A clock that leaps to 2036 for a second would otherwise put 2036 into the records, and no id could be issued after it
/// came back. Atomics alone: a forked child goes on with its parent's.
pub(crate) struct Timeline {
    offset_ns: AtomicI64,
    /// The furthest ahead it was believed lately, and when.
    highest_ns: AtomicI64,
    highest_at_ns: AtomicI64,
    leap_ns: AtomicI64,
    since_ns: AtomicI64,
}

impl Timeline {
    pub(crate) const fn new() -> Timeline {
        Timeline {
            offset_ns: AtomicI64::new(NONE),
            highest_ns: AtomicI64::new(NONE),
            highest_at_ns: AtomicI64::new(0),
            leap_ns: AtomicI64::new(0),
            since_ns: AtomicI64::new(NONE),
        }
    }

    /// What the clock is believed to read, in nanoseconds since the Unix epoch, when it reads `now_ns` and the
    /// suspend-counting clock `counted_ns`.
    pub(crate) fn believe(&self, now_ns: i64, counted_ns: i64) -> i64 {
        let offset = self.offset_ns.load(Relaxed);
        let found = now_ns.saturating_sub(counted_ns);
        let recent = counted_ns.saturating_sub(self.highest_at_ns.load(Relaxed)) <= RETURNS_NS;
        let known = if recent { offset.max(self.highest_ns.load(Relaxed)) } else { offset };
        let leap = found.saturating_sub(known);
        if offset == NONE || leap <= LEAP_NS {
            self.follow(found, counted_ns, found >= known.saturating_sub(SAME_NS));
            return now_ns;
        }
        let since = self.since_ns.load(Relaxed);
        let same = leap.saturating_sub(self.leap_ns.load(Relaxed)).saturating_abs() <= SAME_NS;
        if since == NONE || !same {
            self.leap_ns.store(leap, Relaxed);
            self.since_ns.store(counted_ns, Relaxed);
            log::warn!(
                "leafid: the clock leapt {} s ahead; it is followed if that stands for 60 s",
                leap / 1_000_000_000
            );
        } else if counted_ns.saturating_sub(since) >= STANDS_NS {
            log::warn!(
                "leafid: the clock's leap of {} s has stood for 60 s and is followed",
                leap / 1_000_000_000
            );
            self.follow(found, counted_ns, true);
            return now_ns;
        }
        counted_ns.saturating_add(offset)
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

#[cfg(test)]
mod tests {
    use super::Timeline;
    const S: i64 = 1_000_000_000;

    #[test]
    fn small_steps_and_steps_back_are_followed() {
        let line = Timeline::new();
        assert_eq!(line.believe(1_000 * S, 0), 1_000 * S);
        for (now, counted) in [(1_060, 0), (1_061, 1), (900, 2), (901, 3), (961, 3)] {
            assert_eq!(line.believe(now * S, counted * S), now * S);
        }
    }

    #[test]
    fn a_leap_is_followed_once_it_has_stood() {
        let line = Timeline::new();
        line.believe(1_000 * S, 0);
        assert_eq!(line.believe(9_010 * S, 10 * S), 1_010 * S);
        assert_eq!(line.believe(1_011 * S, 11 * S), 1_011 * S, "it came back");
        assert_eq!(line.believe(9_020 * S, 20 * S), 1_020 * S);
        assert_eq!(line.believe(9_079 * S, 79 * S), 1_079 * S);
        assert_eq!(line.believe(9_080 * S, 80 * S), 9_080 * S);
        assert_eq!(line.believe(9_081 * S, 81 * S), 9_081 * S);
    }

    #[test]
    fn a_return_from_a_step_back_is_no_leap_for_an_hour() {
        let line = Timeline::new();
        line.believe(100_000 * S, 0);
        assert_eq!(line.believe(96_401 * S, S), 96_401 * S);
        assert_eq!(line.believe(100_002 * S, 2 * S), 100_002 * S);
        assert_eq!(line.believe(96_403 * S, 3 * S), 96_403 * S);
        assert_eq!(line.believe(98_000 * S, 1_600 * S), 98_000 * S);
        assert_eq!(line.believe(104_000 * S, 4_000 * S), 100_400 * S, "forgotten");
    }

    #[test]
    fn a_leap_that_moves_begins_anew() {
        let line = Timeline::new();
        line.believe(1_000 * S, 0);
        line.believe(9_000 * S, S);
        assert_eq!(line.believe(20_000 * S, 50 * S), 1_050 * S);
        assert_eq!(line.believe(20_020 * S, 70 * S), 1_070 * S);
        assert_eq!(line.believe(20_060 * S, 110 * S), 20_060 * S);
    }
}
