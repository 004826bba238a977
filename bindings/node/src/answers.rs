//! Calls of user callbacks and their results, in the form for JavaScript.

use crate::error::code;
use leafid::{Answer, ClaimRequest, Error, Lease, Renewal};
use napi_derive::napi;

/// A call that JavaScript must make.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct CallObject {
    /// `claim`, `renew`, `release`, `times`, or `gone` (this use will make no more calls).
    pub kind: String,
    /// The number of the use of a source.
    pub used_by: i64,
    /// The ticket of the result; 0 if no result is needed.
    pub ticket: i64,
    /// For a claim.
    pub request: Option<RequestObject>,
    /// For a renewal or a release.
    pub lease: Option<LeaseObject>,
    /// For a renewal or a release, Unix milliseconds.
    pub until_ms: Option<i64>,
}

/// A request for a worker id.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct RequestObject {
    /// The id space.
    pub name: String,
    /// 128 random bits in hex.
    pub instance: String,
    /// The worker id that was held before.
    pub previous: Option<u32>,
    /// The time of the clock, Unix milliseconds.
    pub now_ms: i64,
    /// The requested end, Unix milliseconds.
    pub until_ms: i64,
}

/// A lease.
#[napi(object)]
pub struct LeaseObject {
    /// The worker id.
    pub worker_id: i64,
    /// The start of the span, Unix milliseconds.
    pub from_ms: i64,
    /// The end of the span, exclusive, Unix milliseconds.
    pub until_ms: i64,
    /// How long the lease source reserves the id without a renewal, milliseconds.
    pub lease_ms: Option<i64>,
    /// The token by which the lease source identifies the holder.
    pub token: Option<String>,
    /// The clocks of other holders, Unix milliseconds.
    pub peer_times_ms: Option<Vec<i64>>,
}

/// The result of a renewal.
#[napi(object, object_to_js = false)]
pub struct RenewalObject {
    /// The lease's worker id, if the source repeats it.
    pub worker_id: Option<i64>,
    /// The new end of the span, Unix milliseconds.
    pub until_ms: i64,
    /// How long the lease source reserves the id without a renewal, milliseconds.
    pub lease_ms: Option<i64>,
    /// The token by which the lease source identifies the holder.
    pub token: Option<String>,
}

/// The result of a user callback: one of these fields, or none of them for no result.
#[napi(object, object_to_js = false)]
pub struct AnswerObject {
    /// The text of a failure.
    pub failed: Option<String>,
    /// For a failure: the name of its code, if the callback or a check of its result set one.
    pub code: Option<String>,
    /// The worker id that a callback returned.
    pub worker_id: Option<i64>,
    /// The lease that a claim returned.
    pub lease: Option<LeaseObject>,
    /// The result of a renewal.
    pub renewal: Option<RenewalObject>,
    /// The clocks of peers.
    pub times_ms: Option<Vec<i64>>,
}

impl AnswerObject {
    /// One of its fields, or the failure.
    pub(crate) fn field<T>(self, pick: impl FnOnce(AnswerObject) -> Option<T>) -> Answer<Option<T>> {
        let Some(text) = self.failed else { return Ok(pick(self)) };
        Err(match self.code.as_deref().and_then(code) {
            Some(code) => Box::new(Error::new(code, text)),
            None => text.into(),
        })
    }
}

impl From<&ClaimRequest> for RequestObject {
    fn from(request: &ClaimRequest) -> RequestObject {
        RequestObject {
            name: request.name.clone(),
            instance: request.instance.clone(),
            previous: request.previous,
            now_ms: request.now_ms,
            until_ms: request.until_ms,
        }
    }
}

impl From<&Lease> for LeaseObject {
    fn from(lease: &Lease) -> LeaseObject {
        let times = &lease.peer_times_ms;
        LeaseObject {
            worker_id: lease.worker_id,
            from_ms: lease.from_ms,
            until_ms: lease.until_ms,
            lease_ms: lease.lease_ms,
            token: lease.token.clone(),
            peer_times_ms: (!times.is_empty()).then(|| times.clone()),
        }
    }
}

impl From<LeaseObject> for Lease {
    fn from(lease: LeaseObject) -> Lease {
        Lease {
            worker_id: lease.worker_id,
            from_ms: lease.from_ms,
            until_ms: lease.until_ms,
            lease_ms: lease.lease_ms,
            token: lease.token,
            peer_times_ms: lease.peer_times_ms.unwrap_or_default(),
        }
    }
}

impl From<RenewalObject> for Renewal {
    fn from(renewal: RenewalObject) -> Renewal {
        Renewal {
            worker_id: renewal.worker_id,
            until_ms: renewal.until_ms,
            lease_ms: renewal.lease_ms,
            token: renewal.token,
        }
    }
}
