//! Leases: a worker id and a span of its ticks, from a source that other hosts use too.

use crate::sorted::sorted;
use crate::spelling::name::FROM_MS;
use crate::{Code, Error, Layout, Result, Rules, Span, Utc};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The result of a claim: a worker id, and a span that no other holder gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The worker id.
    pub worker_id: i64,
    /// The start of the span, Unix milliseconds: at or above the `until_ms` of every earlier holder.
    pub from_ms: i64,
    /// The end of the span, exclusive, Unix milliseconds. The source stores it before it returns it.
    pub until_ms: i64,
    /// How long the source reserves the id for this holder without a renewal, milliseconds. Default: until `until_ms`.
    pub lease_ms: Option<i64>,
    /// The token by which the source identifies this holder. It is sent with each renewal and release.
    pub token: Option<String>,
    /// The clocks of other holders, Unix milliseconds. [`peers_agree`] compares them with this clock.
    pub peer_times_ms: Vec<i64>,
}

/// The worker id and the token of a lease.
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub(crate) type LeaseKey = (i64, Option<String>);

/// The result of a renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Renewal {
    /// The worker id, if the source repeats it: that of the lease.
    pub worker_id: Option<i64>,
    /// The new end of the span, exclusive, Unix milliseconds. An end below the last one has no effect.
    pub until_ms: i64,
    /// As [`Lease::lease_ms`]; `None` keeps the last one.
    pub lease_ms: Option<i64>,
    /// As [`Lease::token`]; `None` keeps the last one.
    pub token: Option<String>,
}

/// The longest lease, in milliseconds. A longer one is probably an error of the unit.
const LONGEST_LEASE_MS: i64 = 7 * 86_400_000;

impl Lease {
    /// The allowed values of `lease_ms`, for error messages.
    pub(crate) const ALLOWED_MS: &str = "1 to 604800000 milliseconds, or none";

    /// The ticks of the lease.
    ///
    /// Errors: `invalid_argument` for a worker id outside the layout, and for a span that is empty or ends more than a
    /// week ahead; `worker_lost` for a span that has ended; `worker_in_use` for one that starts further ahead than the
    /// rules allow.
    pub fn span(&self, layout: &Layout, rules: &Rules, now_ms: i64) -> Result<Span> {
        layout.claimed_id(self.worker_id)?;
        check_lease_ms(self.lease_ms)?;
        let span = layout.tick_from(self.from_ms.max(layout.epoch_ms())).zip(ticks_until(
            layout,
            self.until_ms,
            now_ms,
        )?);
        let Some((from, until)) = span.filter(|(from, until)| from < until) else {
            let value = format!("{} for {FROM_MS} {}", self.until_ms, self.from_ms);
            let allowed = format!("Unix milliseconds, above {FROM_MS} and after the layout's epoch");
            return Err(Error::invalid("until_ms", value, &allowed));
        };
        if self.until_ms <= now_ms {
            return Err(self.passed(self.until_ms, now_ms, "the lease"));
        }
        let ahead_ms = layout.tick_start_ms(from) - now_ms;
        let bound = rules.bridged_ms();
        if ahead_ms > bound {
            let message = format!(
                "worker id {} belongs to its last holder until {} ms ({}), {ahead_ms} ms from now; at most {bound} ms are \
                 bridged: the source must grant an id whose last span has passed",
                self.worker_id,
                self.from_ms,
                Utc(self.from_ms)
            );
            return Err(Error::new(Code::WorkerInUse, message));
        }
        Ok(Span { from, until })
    }

    /// Whether the claim of this lease's id failed with `error` because the id is held on this host, such as by a process
    /// that was stopped for longer than its lease. Then the lease is not released but left to end. Otherwise the same id
    /// would be leased again at once.
    pub fn is_held_here(&self, error: &Error, layout: &Layout, rules: &Rules, now_ms: i64) -> bool {
        // Another possible reason is that its span begins too far ahead.
        error.code() == Code::WorkerInUse && self.span(layout, rules, now_ms).is_ok()
    }

    /// What the same lease has in the hands of the same holder.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn key(&self) -> LeaseKey {
        (self.worker_id, self.token.clone())
    }

    fn passed(&self, until_ms: i64, now_ms: i64, what: &str) -> Error {
        let message = format!(
            "{what} of worker id {} ends at {until_ms} ms ({}), which this clock has passed: it reads {now_ms} ms; see \
             that the clocks agree, and that a lease ends well after the clock",
            self.worker_id,
            Utc(until_ms)
        );
        Error::new(Code::WorkerLost, message)
    }

    /// The lease after a renewal, and the first tick outside it. Errors: `invalid_argument`; `worker_lost` for an end
    /// that has passed.
    pub fn renewed(&self, renewal: Renewal, layout: &Layout, now_ms: i64) -> Result<(Lease, u64)> {
        if let Some(other) = renewal.worker_id.filter(|id| *id != self.worker_id) {
            let allowed = format!("{}, because a renewal keeps the worker id", self.worker_id);
            return Err(Error::invalid("worker_id", other, &allowed));
        }
        check_lease_ms(renewal.lease_ms)?;
        let until_ms = renewal.until_ms.max(self.until_ms);
        ticks_until(layout, renewal.until_ms, now_ms)?;
        let until = ticks_until(layout, until_ms, now_ms)?.unwrap_or(0);
        if until_ms <= now_ms {
            return Err(self.passed(until_ms, now_ms, "the renewed lease"));
        }
        let lease = Lease {
            until_ms,
            lease_ms: renewal.lease_ms.or(self.lease_ms),
            token: renewal.token.or_else(|| self.token.clone()),
            ..self.clone()
        };
        Ok((lease, until))
    }
}

impl Layout {
    /// Checks the worker id of a claim. Errors: `invalid_argument` for one outside the layout.
    pub fn claimed_id(&self, worker_id: i64) -> Result<u32> {
        let most = self.max_worker_id();
        u32::try_from(worker_id).ok().filter(|id| *id <= most).ok_or_else(|| {
            Error::invalid("worker_id", worker_id, &format!("as the claim's answer 0 to {most} ({self})"))
        })
    }
}

fn check_lease_ms(lease_ms: Option<i64>) -> Result<()> {
    match lease_ms {
        Some(ms) if !(1..=LONGEST_LEASE_MS).contains(&ms) => {
            Err(Error::invalid("lease_ms", ms, Lease::ALLOWED_MS))
        }
        _ => Ok(()),
    }
}

/// The first tick that starts at or after `until_ms`; `None` before the epoch.
fn ticks_until(layout: &Layout, until_ms: i64, now_ms: i64) -> Result<Option<u64>> {
    if until_ms.saturating_sub(now_ms) > LONGEST_LEASE_MS {
        let allowed = format!("Unix milliseconds at most a week ahead of the clock, which reads {now_ms}");
        return Err(Error::invalid("until_ms", until_ms, &allowed));
    }
    Ok(layout.tick_from(until_ms).map(|tick| tick.min(layout.last_tick() + 1)))
}

/// How far a clock may be from the clocks of its peers at the start.
pub const PEERS_THRESHOLD_MS: i64 = 10_000;

/// The start-up check of Leaf's blog: compares this clock with the median of its peers' clocks. So one wrong clock
/// stops no process. With fewer than three peers it accepts every clock.
///
/// Errors: `clock_backwards` if the clock differs by `threshold_ms` or more from the median.
pub fn peers_agree(now_ms: i64, samples_ms: &[i64], threshold_ms: i64) -> Result<()> {
    if samples_ms.len() < 3 {
        return Ok(());
    }
    let sorted = sorted(samples_ms.to_vec());
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    let median_ms = low + (high.saturating_sub(low)) / 2;
    let off_ms = now_ms.saturating_sub(median_ms);
    if off_ms.saturating_abs() < threshold_ms {
        return Ok(());
    }
    let side = if off_ms > 0 { "ahead of" } else { "behind" };
    let message = format!(
        "the clock reads {now_ms} ms ({}), {} ms {side} the median of its {} peers, {median_ms} ms ({}); less than \
         {threshold_ms} ms are allowed at the start: correct the clock",
        Utc(now_ms),
        off_ms.saturating_abs(),
        sorted.len(),
        Utc(median_ms)
    );
    Err(Error::new(Code::ClockBackwards, message))
}
