//! The clocks of a host.

use super::setting::Setting;
use leafid_core::call::Clocks;
use std::time::Duration;

/// What the clock reads at the beginning, in ticks: more than the machines' clocks are apart.
const START: i64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HostClock {
    /// How long it has run.
    counted_ms: i64,
    /// How far it was set.
    off_ms: i64,
    stands: bool,
    /// How often its machine started again, and when it did so last.
    pub(crate) boots: u32,
    booted_ms: i64,
}

impl HostClock {
    pub(crate) const fn new(off_ms: i64) -> HostClock {
        HostClock { counted_ms: 0, off_ms, stands: false, boots: 0, booted_ms: 0 }
    }

    pub(crate) fn read(&self, setting: &Setting) -> Clocks {
        let up_ms = if self.boots == 0 { 100_000 } else { 3_000 };
        let boot = Duration::from_millis((up_ms + self.counted_ms - self.booted_ms) as u64);
        Clocks { wall_ms: START * setting.tick_ms + self.counted_ms + self.off_ms, boot }
    }

    /// This time passes, which the host takes for so long.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.counted_ms += ms;
        if self.stands {
            self.off_ms -= ms;
        }
    }

    pub(crate) fn set(&mut self, off_ms: i64) {
        (self.off_ms, self.stands) = (off_ms, false);
    }

    /// After so long since the beginning, it says how long.
    pub(crate) fn set_right(&mut self, passed_ms: i64) {
        self.set(passed_ms - self.counted_ms);
    }

    /// Whether it is set to another time than so far from the right one, or has run so fast that it is `apart_ms` ahead.
    pub(crate) fn is_off(&self, off_ms: i64, passed_ms: i64, apart_ms: i64) -> bool {
        self.off_ms != off_ms || self.counted_ms + self.off_ms - passed_ms >= apart_ms
    }

    /// `None`: it stood before.
    pub(crate) fn stops(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.stands, true)).then_some(())
    }

    pub(crate) fn runs(&mut self) {
        self.stands = false;
    }

    /// Its machine starts again.
    pub(crate) fn boots(&mut self) {
        (self.boots, self.booted_ms) = (self.boots + 1, self.counted_ms);
    }

    pub(crate) fn stood_long(&self) -> bool {
        self.stands && self.off_ms < -3_000
    }
}
