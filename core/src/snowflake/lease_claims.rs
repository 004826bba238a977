//! The claims of leases that no server has answered: which of them is sent again, and when its lease may have started.
//!
//! A server that gets a claim with the same `instance` again returns the same lease. So a claim without an answer is
//! sent again as it was, and takes no second worker id. Events: [`LeaseClaims::begin`], [`LeaseClaims::failed`]. A claim
//! that succeeds is dropped by its caller.
//!
//! | State of a key | Event | Next state | Returns |
//! | --- | --- | --- | --- |
//! | no claim | begin | sent: no claim | the new claim |
//! | unanswered | begin | sent: no claim | the unanswered claim: its `instance`, its time |
//! | any | failed: no free worker id, or a claim that the server cannot understand | the same | the error |
//! | any | failed otherwise: the server may have leased an id | unanswered | the error |
//!
//! While a claim is sent, its key has none. Two callers with one `instance` would get one lease.

use crate::{Code, Error};
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

/// A claim of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseClaim {
    /// The number by which the servers identify the claim.
    pub instance: String,
    /// The boot time before the claim was sent first. The lease may have started then.
    pub asked: Duration,
}

/// The unanswered claims of a process, each by the servers and the id space that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeaseClaims {
    unanswered: BTreeMap<String, LeaseClaim>,
}

impl LeaseClaims {
    /// The claim to send for this key: the unanswered one, or else `new`.
    pub fn begin(&mut self, key: &str, new: LeaseClaim) -> LeaseClaim {
        self.unanswered.remove(key).unwrap_or(new)
    }

    /// The claim failed. Returns the error for the caller: `worker_lost` where no server answered.
    pub fn failed(&mut self, key: String, claim: LeaseClaim, error: Error) -> Error {
        if leaves_unanswered(&error) {
            self.unanswered.insert(key, claim);
        }
        of_a_claim(error)
    }
}

/// Whether a claim that failed so may have leased an id: the error is no answer to it.
pub(crate) fn leaves_unanswered(error: &Error) -> bool {
    !matches!(error.code(), Code::WorkerInUse | Code::InvalidArgument)
}

/// The error of a failed claim for its caller.
pub(crate) fn of_a_claim(error: Error) -> Error {
    match error.code() {
        // The transport reports these for every kind of request.
        Code::SegmentUnavailable | Code::Closed => Error::new(Code::WorkerLost, error.message()),
        _ => error,
    }
}
