//! The claims of leases that no server has answered.
//!
//! A server that gets a claim with the same `instance` again returns the same lease. So a claim without an answer is
//! sent again as it was, and takes no second worker id: by one run alone, because two with one `instance` would get one
//! lease.

#[cfg(feature = "wire")]
use crate::{Code, Error};
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

/// Whether a claim that failed so may have leased an id: the error is no answer to it.
#[cfg(feature = "wire")]
pub(crate) fn leaves_unanswered(error: &Error) -> bool {
    !matches!(error.code(), Code::WorkerInUse | Code::InvalidArgument)
}

/// The error of a failed claim for its caller.
#[cfg(feature = "wire")]
pub(crate) fn of_a_claim(error: Error) -> Error {
    match error.code() {
        // The transport reports these for every kind of request.
        Code::SegmentUnavailable | Code::Closed => Error::new(Code::WorkerLost, error.message()),
        _ => error,
    }
}

#[cfg(all(test, feature = "wire"))]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_no_id_is_leased_ends_a_claim() {
        for (code, again, returned) in [
            (Code::WorkerInUse, false, Code::WorkerInUse),
            (Code::InvalidArgument, false, Code::InvalidArgument),
            (Code::WorkerLost, true, Code::WorkerLost),
            (Code::SourceInvalid, true, Code::SourceInvalid),
            (Code::SegmentUnavailable, true, Code::WorkerLost),
            (Code::Closed, true, Code::WorkerLost),
            (Code::StateIo, true, Code::StateIo),
        ] {
            let error = Error::new(code, "said");
            assert_eq!(leaves_unanswered(&error), again, "{code:?}");
            let error = of_a_claim(error);
            assert_eq!((error.code(), error.message()), (returned, "said"), "{code:?}");
        }
    }
}
