//! The calls of a user's source of worker ids, and of the clocks of peers.

use crate::aside::OfCall;
use crate::quoted::Quoted;
use crate::run::call_end::{Claimed, End, RunCallEnd, SourceFailure};
use crate::{Code, Error, Lease, Renewal, RenewalAnswer, RenewalRequest};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Call the user's `peer_times`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PeersCall {
    pub(crate) of: OfCall,
}

impl PeersCall {
    /// The clocks of the peers, Unix milliseconds, or why there are none.
    pub fn end(self, times_ms: Result<Vec<i64>, SourceFailure>) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::Times(times_ms) }
    }
}

/// A request for a worker id.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimRequest {
    /// The id space.
    pub name: String,
    /// 128 random bits in hex, new for each claim.
    pub instance: String,
    /// The worker id that this generator, or the parent of this forked child, held before; `None` at the first claim.
    pub previous: Option<u32>,
    /// The clock, Unix milliseconds.
    pub now_ms: i64,
    /// The requested end of the span, Unix milliseconds. The source may return an earlier or a later one.
    pub until_ms: i64,
}

/// Call the user's `claim`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimCall {
    pub(crate) name: String,
    pub(crate) previous: Option<u32>,
    pub(crate) now_ms: i64,
    pub(crate) until_ms: i64,
    pub(crate) of: OfCall,
}

impl ClaimCall {
    /// The request. `random` is drawn from the system now, for this call alone.
    pub fn request(&self, random: u128) -> ClaimRequest {
        let ClaimCall { name, previous, now_ms, until_ms, .. } = self.clone();
        ClaimRequest { name, instance: format!("{random:032x}"), previous, now_ms, until_ms }
    }

    /// What the source returned: `None` if no id is free.
    pub fn end(self, claimed: Result<Option<Claimed>, SourceFailure>) -> RunCallEnd {
        let claimed = match claimed {
            Ok(Some(claimed)) => Ok(claimed),
            Ok(None) => {
                let message = format!(
                    "the claim found no free worker id for {}; end a process, or widen the pool",
                    Quoted(&self.name)
                );
                Err(Error::new(Code::WorkerInUse, message))
            }
            Err(SourceFailure::Panicked) => Err(Error::new(
                Code::WorkerLost,
                "the claim of a worker id panicked; see the code that gives worker ids, then try again",
            )),
            Err(failure) => Err(failure.error("the claim of a worker id")),
        };
        RunCallEnd { of: self.of, end: End::Claimed(claimed) }
    }
}

/// Call the user's `renew`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenewCall {
    pub(crate) request: RenewalRequest,
    pub(crate) of: OfCall,
}

impl RenewCall {
    /// The lease, and the end that is wished for.
    pub fn request(&self) -> &RenewalRequest {
        &self.request
    }

    /// What the source returned: `None` if this holder has lost the id.
    pub fn end(self, renewed: Result<Option<Renewal>, SourceFailure>) -> RunCallEnd {
        let answer = match renewed {
            Ok(Some(renewal)) => RenewalAnswer::Renewed(renewal),
            Ok(None) => RenewalAnswer::NotHeld,
            Err(SourceFailure::Coded(error)) if error.code() == Code::WorkerLost => {
                RenewalAnswer::Lost(error)
            }
            Err(SourceFailure::Coded(error)) => RenewalAnswer::Failed(error),
            // As text: whatever its code, the source has not said that the lease is lost.
            Err(SourceFailure::NotBegun(failure)) => {
                let text = failure.of_worker_source().message().into();
                RenewalAnswer::Failed(SourceFailure::Text(text).error("the renewal of the lease"))
            }
            Err(SourceFailure::Panicked) => {
                let text = "the renewal panicked".into();
                RenewalAnswer::Failed(SourceFailure::Text(text).error("the renewal of the lease"))
            }
            Err(failure) => RenewalAnswer::Failed(failure.error("the renewal of the lease")),
        };
        RunCallEnd { of: self.of, end: End::Renewed(answer) }
    }
}

/// Call the user's `release`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReleaseCall {
    pub(crate) lease: Lease,
    pub(crate) until_ms: i64,
    pub(crate) of: OfCall,
}

impl ReleaseCall {
    /// The lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// No id at or after this time was or will be issued, Unix milliseconds.
    pub fn until_ms(&self) -> i64 {
        self.until_ms
    }

    /// Whether it was released.
    pub fn end(self, released: Result<(), SourceFailure>) -> RunCallEnd {
        let text = |failure| match failure {
            SourceFailure::Coded(error) => format!("{error}"),
            SourceFailure::Text(text) => text,
            SourceFailure::Panicked => "the release panicked".into(),
            SourceFailure::NotBegun(failure) => format!("{}", failure.of_worker_source()),
        };
        RunCallEnd { of: self.of, end: End::Released(self.lease.worker_id, released.map_err(text)) }
    }
}
