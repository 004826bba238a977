//! Leases: a worker id and a span of its ticks from a source that other hosts ask too.

use crate::{Code, Error, Layout, Result, Rules, Span, Utc};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The answer of a lease source to a claim: a worker id, and a span that no other holder gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// The worker id.
    pub worker_id: i64,
    /// Where the span begins, Unix milliseconds: at or above the `until_ms` of every holder before.
    pub from_ms: i64,
    /// Where the span ends, exclusive, Unix milliseconds. The source has stored it before it answers.
    pub until_ms: i64,
    /// How long the source keeps the id for this holder without a renewal, milliseconds. Without it: until `until_ms`.
    pub lease_ms: Option<i64>,
    /// The token by which the source knows this holder: sent with each renewal and release.
    pub token: Option<String>,
    /// What the clocks of other holders read, Unix milliseconds: compared with this one by [`peers_agree`].
    pub peer_times_ms: Vec<i64>,
}

/// The answer of a lease source to a renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// The worker id, where it is said again: the lease's own.
    pub worker_id: Option<i64>,
    /// Where the span ends now, exclusive, Unix milliseconds; one below the last is no gain and no loss.
    pub until_ms: i64,
    /// As [`Lease::lease_ms`]; none keeps the last.
    pub lease_ms: Option<i64>,
    /// As [`Lease::token`]; none keeps the last.
    pub token: Option<String>,
}

/// The longest lease, in milliseconds: a longer one is a mistake in the unit.
const LONGEST_LEASE_MS: i64 = 7 * 86_400_000;

impl Lease {
    /// The lease's ticks.
    ///
    /// Errors: `invalid_argument` for a worker id outside the layout, a span that is empty or longer than a week ahead;
    /// `worker_lost` for one that has ended; `worker_in_use` for one that begins further ahead than the rules bridge.
    pub fn span(&self, layout: &Layout, rules: &Rules, now_ms: i64) -> Result<Span> {
        layout.claimed_id(self.worker_id)?;
        check_lease_ms(self.lease_ms)?;
        let span = layout.tick_from(self.from_ms.max(layout.epoch_ms())).zip(ticks_until(
            layout,
            self.until_ms,
            now_ms,
        )?);
        let Some((from, until)) = span.filter(|(from, until)| from < until) else {
            let value = format!("{} for from_ms {}", self.until_ms, self.from_ms);
            return Err(Error::invalid(
                "until_ms",
                value,
                "Unix milliseconds, above from_ms and after the layout's epoch",
            ));
        };
        if self.until_ms <= now_ms {
            return Err(self.passed(self.until_ms, now_ms, "the lease"));
        }
        let ahead_ms = layout.tick_start_ms(from) - now_ms;
        let bound = rules.bridged_ms();
        if ahead_ms > bound {
            let message = format!(
                "worker id {} belongs to its last holder until {} ms ({}), {ahead_ms} ms from now; at most {bound} ms are \
                 bridged: a claim is to be given an id whose last span has passed",
                self.worker_id,
                self.from_ms,
                Utc(self.from_ms)
            );
            return Err(Error::new(Code::WorkerInUse, message));
        }
        Ok(Span { from, until })
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

    /// The lease as a renewal leaves it, and the first tick outside it. Errors:
    /// `invalid_argument`, and `worker_lost` for an end that has passed.
    pub fn renewed(&self, renewal: Renewal, layout: &Layout, now_ms: i64) -> Result<(Lease, u64)> {
        if let Some(other) = renewal.worker_id.filter(|id| *id != self.worker_id) {
            let allowed = format!("{}, for a renewal keeps the worker id", self.worker_id);
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
    /// The worker id that a claim answered. Errors: `invalid_argument` for one outside the layout.
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
            Err(Error::invalid("lease_ms", ms, "1 to 604800000 milliseconds, or none"))
        }
        _ => Ok(()),
    }
}

/// The first tick that begins at or after `until_ms`. None before the epoch.
fn ticks_until(layout: &Layout, until_ms: i64, now_ms: i64) -> Result<Option<u64>> {
    if until_ms.saturating_sub(now_ms) > LONGEST_LEASE_MS {
        let allowed = format!("Unix milliseconds at most a week ahead of the clock, which reads {now_ms}");
        return Err(Error::invalid("until_ms", until_ms, &allowed));
    }
    Ok(layout.tick_from(until_ms).map(|tick| tick.min(layout.last_tick() + 1)))
}

/// How far a clock may be from its peers' at the start.
pub const PEERS_THRESHOLD_MS: i64 = 10_000;

/// The start-up check of Leaf's blog: whether this clock agrees with those of its peers. Their median counts, so that one
/// wrong clock stops nobody; fewer than three decide nothing.
///
/// Errors: `clock_backwards` when the clock is `threshold_ms` or more from the median.
pub fn peers_agree(now_ms: i64, samples_ms: &[i64], threshold_ms: i64) -> Result<()> {
    if samples_ms.len() < 3 {
        return Ok(());
    }
    let mut sorted = samples_ms.to_vec();
    sorted.sort_unstable();
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
