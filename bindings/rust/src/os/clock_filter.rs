//! The clock as it is believed: a leap forward is not followed before it has stood for a while.

use crate::os::log_queue::{self, Level};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

/// A clock this much further ahead than the suspend-counting one says is a leap.
const LEAP_NS: i64 = 60_000_000_000;
/// A leap that has stood for so long is the time.
const STANDS_NS: i64 = 60_000_000_000;
/// A leap that moves by more than this is another one.
const SAME_NS: i64 = 5_000_000_000;
/// How long a reading further ahead is remembered after the clock went back: its return is no leap.
const RETURNS_NS: i64 = 3_600_000_000_000;
/// A process younger than this may have begun during a leap, and has issued little.
const YOUNG_NS: i64 = 5_000_000_000;
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
    /// When the first reading was believed.
    first_ns: AtomicI64,
    /// What the latest record that was learnt from says that the suspend-counting clock read.
    learnt_ns: AtomicI64,
    /// Whether a generator was opened by it.
    used: AtomicBool,
}

impl Timeline {
    pub(crate) const fn new() -> Timeline {
        Timeline {
            offset_ns: AtomicI64::new(NONE),
            highest_ns: AtomicI64::new(NONE),
            highest_at_ns: AtomicI64::new(0),
            leap_ns: AtomicI64::new(0),
            since_ns: AtomicI64::new(NONE),
            first_ns: AtomicI64::new(NONE),
            learnt_ns: AtomicI64::new(NONE),
            used: AtomicBool::new(false),
        }
    }

    /// What the clock is believed to read, in nanoseconds since the Unix epoch, when it reads `now_ns` and the
    /// suspend-counting clock `counted_ns`.
    pub(crate) fn believe(&self, now_ns: i64, counted_ns: i64) -> i64 {
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
            return now_ns;
        }
        let since = self.since_ns.load(Relaxed);
        let same = leap.saturating_sub(self.leap_ns.load(Relaxed)).saturating_abs() <= SAME_NS;
        if since == NONE || !same {
            self.leap_ns.store(leap, Relaxed);
            self.since_ns.store(counted_ns, Relaxed);
            // Later: the clock is read with locks held, too.
            let seconds = leap / 1_000_000_000;
            log_queue::later(
                Level::Warn,
                format_args!("the clock leapt {seconds} s ahead; it is followed if that stands for 60 s"),
            );
        } else if counted_ns.saturating_sub(since) >= STANDS_NS {
            let seconds = leap / 1_000_000_000;
            log_queue::later(
                Level::Warn,
                format_args!("the clock's leap of {seconds} s has stood for 60 s and is followed"),
            );
            self.follow(found, counted_ns, true);
            return now_ns;
        }
        counted_ns.saturating_add(offset)
    }

    /// Another process of this machine believed the clock to read `then_ns` when the suspend-counting one read
    /// `then_counted_ns`. If this process began during a leap, the first reading that it believed was of the leap; if
    /// during a step back, the clock's return is no leap.
    ///
    /// The latest of several counts. A process that lives for a while knows better than any record.
    /// `then` and `now`: the clock and the suspend-counting one. `leap`: the one that was not followed then, and since
    /// when: it may have stood for long enough over the lives of many processes.
    pub(crate) fn learn(&self, then: (i64, i64), leap: Option<(i64, i64)>, now: (i64, i64)) {
        let ((then_ns, then_counted_ns), (now_ns, counted_ns)) = (then, now);
        let young = counted_ns.saturating_sub(self.first_ns.load(Relaxed)) <= YOUNG_NS;
        // What was counted later is of another start of the machine.
        let later = (self.learnt_ns.load(Relaxed) + 1..=counted_ns).contains(&then_counted_ns);
        if !young || !later {
            return;
        }
        self.learnt_ns.store(then_counted_ns, Relaxed);
        let known = then_ns.saturating_sub(then_counted_ns);
        let found = now_ns.saturating_sub(counted_ns);
        let leapt = found.saturating_sub(known) > LEAP_NS;
        if leapt && self.used.load(Relaxed) {
            // A generator that was believed and followed cannot go back.
            return;
        }
        self.highest_ns.store(known, Relaxed);
        self.highest_at_ns.store(counted_ns, Relaxed);
        if !leapt {
            return self.follow(found, counted_ns, found >= known.saturating_sub(SAME_NS));
        }
        self.offset_ns.store(known, Relaxed);
        if let Some((leap_ns, since_ns)) = leap.filter(|(_, since_ns)| *since_ns <= counted_ns) {
            self.leap_ns.store(leap_ns, Relaxed);
            self.since_ns.store(since_ns, Relaxed);
        }
        self.believe(now_ns, counted_ns);
    }

    /// A generator goes by it from now on.
    pub(crate) fn use_it(&self) {
        self.used.store(true, Relaxed);
    }

    /// The leap that is not followed yet: how far, and since when.
    pub(crate) fn leap(&self) -> Option<(i64, i64)> {
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
    fn a_process_that_begins_during_a_leap_learns_it_from_the_record() {
        let line = Timeline::new();
        assert_eq!(line.believe(9_000 * S, 100 * S), 9_000 * S, "its first reading");
        line.learn((1_090 * S, 90 * S), None, (9_000 * S, 100 * S));
        assert_eq!(line.believe(9_001 * S, 101 * S), 1_101 * S);
        line.learn((1_000 * S, 50 * S), None, (9_001 * S, 101 * S));
        assert_eq!(line.believe(9_002 * S, 102 * S), 1_102 * S, "an older record says nothing new");
        assert_eq!(line.believe(1_103 * S, 103 * S), 1_103 * S, "it came back");
        // It stands over the lives of many processes, each of which began during it.
        let mut held = None;
        for second in (100..160).step_by(7) {
            let line = Timeline::new();
            line.believe((8_900 + second) * S, second * S);
            line.learn(
                ((1_000 + second - 1) * S, (second - 1) * S),
                held,
                ((8_900 + second) * S, second * S),
            );
            assert_eq!(line.believe((8_900 + second) * S, second * S), (1_000 + second) * S, "{second}");
            held = line.leap();
        }
        let line = Timeline::new();
        line.believe(9_060 * S, 160 * S);
        line.learn((1_159 * S, 159 * S), held, (9_060 * S, 160 * S));
        assert_eq!(line.believe(9_060 * S, 160 * S), 9_060 * S, "followed");
        // One that has stood, by a later record, is none.
        let line = Timeline::new();
        line.believe(9_000 * S, 100 * S);
        line.learn((1_050 * S, 50 * S), None, (9_000 * S, 100 * S));
        line.learn((8_999 * S, 99 * S), None, (9_000 * S, 100 * S));
        assert_eq!(line.believe(9_001 * S, 101 * S), 9_001 * S);
        // A generator goes by it: a record of another worker id changes nothing.
        let line = Timeline::new();
        line.believe(9_000 * S, 100 * S);
        line.use_it();
        line.learn((1_090 * S, 90 * S), None, (9_001 * S, 101 * S));
        assert_eq!(line.believe(9_001 * S, 101 * S), 9_001 * S);
        // A process that has lived, and a record of another start, decide nothing.
        let line = Timeline::new();
        line.believe(9_000 * S, 100 * S);
        line.learn((1_090 * S, 190 * S), None, (9_000 * S, 100 * S));
        line.learn((1_090 * S, 90 * S), None, (9_010 * S, 110 * S));
        assert_eq!(line.believe(9_011 * S, 111 * S), 9_011 * S);
    }

    #[test]
    fn a_return_from_a_step_back_before_the_start_is_no_leap() {
        let line = Timeline::new();
        assert_eq!(line.believe(96_400 * S, 200 * S), 96_400 * S, "its first reading");
        line.learn((100_000 * S, 100 * S), None, (96_401 * S, 201 * S));
        assert_eq!(line.believe(96_402 * S, 202 * S), 96_402 * S);
        assert_eq!(line.believe(100_103 * S, 203 * S), 100_103 * S, "it came back");
        assert_eq!(line.believe(96_404 * S, 204 * S), 96_404 * S);
        assert_eq!(line.believe(100_205 * S, 205 * S), 96_405 * S, "further than it ever was");
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
