//! The close of a run: until when it waits, and the lease that it releases.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | the lease is kept | the worker id is given back, and no renewal is under way | released: with the token of the last renewal |
//! | the lease is kept | the worker id is given back, and a renewal is under way | kept: until the renewal ends |
//! | the lease is kept | the source said that it is lost | nothing is released |
//! | the lease is kept | a renewal of servers was given up, and has no answer | nothing is released |

use crate::call::CLOSE_WAITS;
use crate::snowflake::lease_schedule::HeldLease;
use crate::{Layout, Lease, RenewalAnswer};
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Farewell {
    /// Whether no server is asked any more.
    pub(crate) quietly: bool,
    /// Whether the end waits for a renewal that is under way.
    pub(crate) waits_for_source: bool,
    /// When the close is reported, whatever is left.
    pub(crate) until: Duration,
    /// The lease, and the first tick without an id.
    lease: Option<(HeldLease, u64)>,
    /// The answer that says most of the renewals that ended since, and when it was asked for.
    late: Option<(Duration, RenewalAnswer)>,
}

impl Farewell {
    pub(crate) fn new(quietly: bool, waits_for_source: bool, boot: Duration) -> Farewell {
        let until = boot.saturating_add(CLOSE_WAITS);
        Farewell { quietly, waits_for_source, until, lease: None, late: None }
    }

    /// The lease of the generator that was sealed.
    pub(crate) fn keep(&mut self, lease: Option<HeldLease>, first_unused: u64) {
        self.lease = lease.map(|held| (held, first_unused));
    }

    pub(crate) fn keeps_lease(&self) -> bool {
        self.lease.is_some()
    }

    /// The lease that is kept.
    pub(crate) fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref().map(|(held, _)| held.lease())
    }

    /// A renewal of the lease ended, which was asked for at `since`. One that made a token counts, also if one that was sent
    /// after it with the old token was refused; of several the last one does.
    pub(crate) fn renewed(&mut self, since: Duration, answer: RenewalAnswer) {
        // A renewal after this one has made another token, of which this one knows nothing.
        if self.lease.as_ref().is_some_and(|(held, _)| since < held.asked()) {
            return;
        }
        let rank = |since: Duration, answer: &RenewalAnswer| match answer {
            RenewalAnswer::Failed(_) => (0, since),
            RenewalAnswer::NotHeld | RenewalAnswer::Lost(_) => (1, since),
            RenewalAnswer::Renewed(_) => (2, since),
        };
        let known = self.late.as_ref().map(|(since, answer)| rank(*since, answer));
        if known.is_none_or(|known| rank(since, &answer) >= known) {
            self.late = Some((since, answer));
        }
    }

    /// A renewal that was given up has no answer. Unless one that was asked for later has succeeded, the source may have
    /// made a token unknown here: nothing is released by an old one. Returns the worker id that is not released.
    pub(crate) fn unanswered(&mut self, since: Duration) -> Option<i64> {
        let is_last = |(held, _): &mut (HeldLease, u64)| since >= held.asked();
        let says_nothing = self.late.as_ref().is_none_or(|(known, _)| since >= *known);
        let (held, _) = self.lease.take_if(|lease| says_nothing && is_last(lease))?;
        Some(held.lease().worker_id)
    }

    /// The lease to release, and the time from which on no id was issued. No renewal of it is under way.
    pub(crate) fn release(&mut self, layout: &Layout) -> Option<(Lease, i64)> {
        let late = self.late.take().map(|(_, answer)| answer);
        let (held, first_unused) = self.lease.take()?;
        Some((held.into_released(late)?, layout.tick_start_ms(first_unused)))
    }
}
