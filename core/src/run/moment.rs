//! What each part of a run is given when something happens: the settings, the place, and the clocks of this moment.

use crate::call::{Clocks, disk_bound};
use crate::format::state::{StoredRecord, Writer};
use crate::place::Place;
use crate::run::cache_read::CacheSeeker;
use crate::run::notices::Notices;
use crate::run::settings::{RunSettings, Workers};
use crate::snowflake::claim_search::ClaimPatience;
use crate::spelling::name::TIMEOUT_MS;
use crate::time::LeapEvent;
use crate::{Code, Error, Rules};
use alloc::format;
use core::fmt::Display;
use core::time::Duration;

/// The earliest of these times.
pub(crate) fn earliest(times: &[Option<Duration>]) -> Option<Duration> {
    times.iter().flatten().min().copied()
}

pub(crate) struct Moment<'m> {
    pub(crate) settings: &'m RunSettings,
    pub(crate) place: &'m Place,
    pub(crate) notices: &'m mut Notices,
    clocks: Clocks,
    /// The boot time.
    pub(crate) boot: Duration,
    /// The clock after the filter, Unix milliseconds.
    pub(crate) now_ms: i64,
}

impl<'m> Moment<'m> {
    pub(crate) fn new(
        settings: &'m RunSettings,
        place: &'m Place,
        notices: &'m mut Notices,
        clocks: Clocks,
    ) -> Moment<'m> {
        let mut moment = Moment { settings, place, notices, clocks, boot: clocks.boot, now_ms: 0 };
        moment.filter();
        moment
    }

    fn filter(&mut self) {
        let (wall_ns, boot_ns) = self.both();
        let (now_ns, event) = self.place.clock.filter(wall_ns, boot_ns);
        self.now_ms = now_ns.div_euclid(1_000_000);
        self.tell(event);
    }

    /// Passes to the clock filter what another process of this start of the machine recorded.
    pub(crate) fn observe(&mut self, stored: &StoredRecord) {
        let Some(writer) = stored.writer_since(&self.place.writer.boot) else { return };
        let ns = |ms: i64| ms.saturating_mul(1_000_000);
        let (then, counted) = (ns(stored.record.granted_at_ms), ns(writer.counted_ms));
        let leap = writer.leap_ms.map(|(leap_ms, since_ms)| (ns(leap_ms), ns(since_ms)));
        let event = self.place.clock.observe((then, counted), leap, self.both());
        self.tell(event);
        self.filter();
    }

    fn both(&self) -> (i64, i64) {
        let boot_ns = i64::try_from(self.boot.as_nanos()).unwrap_or(i64::MAX);
        (self.clocks.wall_ms.saturating_mul(1_000_000), boot_ns)
    }

    fn tell(&mut self, event: Option<LeapEvent>) {
        if let Some(event) = event {
            self.notices.warn(format!("{event}"));
        }
    }

    /// Whose cached leases a start may use.
    pub(crate) fn cache_seeker(&self) -> CacheSeeker {
        let servers = self.settings.workers.urls().unwrap_or_default();
        CacheSeeker { name: self.settings.name.clone(), servers, boot: self.place.writer.boot.clone() }
    }

    /// The error of a call of an opening that took too long.
    pub(crate) fn late(&self, what: &str) -> Error {
        let message = format!(
            "{what} did not answer within {TIMEOUT_MS} ({}); see what it waits for, or raise {TIMEOUT_MS}",
            self.settings.timeout.as_millis() as u64
        );
        Error::new(Code::WorkerLost, message)
    }

    /// A lease was not released. It ends by itself.
    pub(crate) fn tell_unreleased(&mut self, worker_id: i64, why: impl Display) {
        self.notices.warn(format!("worker id {worker_id} was not released: {why}; its lease ends by itself"));
    }

    /// The boot time at which the clock leapt, as long as that is not followed.
    pub(crate) fn leapt_at(&self) -> Option<Duration> {
        let (_, since_ns) = self.place.clock.leap()?;
        u64::try_from(since_ns).ok().map(Duration::from_nanos)
    }

    /// This process as the writer of a record, with the time of the clocks.
    pub(crate) fn writer(&self) -> Writer {
        let mut writer = self.place.writer.clone();
        let leap = self.place.clock.leap();
        writer.stamp(self.boot, leap.map(|(leap_ns, since_ns)| (leap_ns / 1_000_000, since_ns / 1_000_000)));
        writer
    }

    /// The rules of a generator: stricter ones if the record may not survive the machine's next start.
    pub(crate) fn rules(&self) -> Rules {
        self.place.rules(self.settings.rules)
    }

    /// How long an opening waits for the disk.
    pub(crate) fn disk_bound(&self) -> Duration {
        disk_bound(self.settings.timeout)
    }

    /// The longest duration of a renewal of a lease.
    pub(crate) fn call_bound(&self) -> Duration {
        self.settings.timeout.max(Duration::from_secs(1))
    }

    /// How a claim waits for a worker id that is held. `limits_waits`: the opener limits its waits for the clock.
    pub(crate) fn patience(&self, inherited: bool, limits_waits: bool) -> ClaimPatience {
        ClaimPatience {
            is_range: matches!(self.settings.workers, Workers::Within { first, last } if first != last),
            inherited,
            lazy: self.settings.lazy,
            limits_waits,
            timeout: self.settings.timeout,
        }
    }

    /// How long the disk may take for a claim, with its waits.
    pub(crate) fn claim_bound(&self, patience: &ClaimPatience) -> Duration {
        patience.claim_bound(self.disk_bound(), &self.rules(), &self.settings.layout)
    }

    /// How long a claim after a loss may take.
    pub(crate) fn round_bound(&self) -> Duration {
        let of_peers = if self.settings.peer_times { self.settings.timeout } else { Duration::ZERO };
        let of_claim = self.claim_bound(&self.patience(false, false));
        self.call_bound().saturating_add(of_claim).saturating_add(of_peers)
    }
}
