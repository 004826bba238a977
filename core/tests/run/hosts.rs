//! The hosts of a world, with their clocks.

use super::caches::Caches;
use super::disk::Disk;
use crate::common::NOW_MS;
use leafid_core::call::Clocks;
use std::time::Duration;

/// A machine. All times of the world are milliseconds since its beginning.
#[derive(Debug)]
pub(crate) struct Host {
    /// How far its clock is from the true time.
    pub(crate) off_ms: i64,
    /// Since when its clock stands still.
    pub(crate) stands_since: Option<u64>,
    /// When it started. Its boot clock began then.
    booted: u64,
    boots: u64,
    pub(crate) disk: Disk,
    pub(crate) caches: Caches,
    /// From when on it reaches each of the lease servers, which share one table.
    pub(crate) reaches_from: [u64; 2],
}

impl Host {
    pub(crate) fn new(off_ms: i64) -> Host {
        let (disk, caches) = Default::default();
        Host { off_ms, stands_since: None, booted: 0, boots: 0, disk, caches, reaches_from: [0; 2] }
    }

    /// `now` is the true time.
    pub(crate) fn clocks(&self, now: u64) -> Clocks {
        let wall = self.stands_since.unwrap_or(now);
        // The machine was up for a while when the world began.
        let boot = Duration::from_millis(now - self.booted + if self.boots == 0 { 1_000_000 } else { 3_000 });
        Clocks { wall_ms: NOW_MS + wall as i64 + self.off_ms, boot }
    }

    /// The time of the world when the boot clock reads this.
    pub(crate) fn time_at(&self, boot: Duration) -> u64 {
        let began = if self.boots == 0 { 1_000_000 } else { 3_000 };
        (self.booted + boot.as_millis() as u64).saturating_sub(began)
    }

    pub(crate) fn boot_id(&self) -> String {
        format!("boot-{}", self.boots)
    }

    /// The machine is started again, and its processes are gone.
    pub(crate) fn boot(&mut self, now: u64) {
        (self.booted, self.boots, self.stands_since) = (now, self.boots + 1, None);
    }
}
