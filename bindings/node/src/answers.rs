//! Calls of the user's code and their answers, as JavaScript sees them.

use crate::error::code;
use leafid::{Answer, ClaimRequest, Error, Lease, Renewal};
use napi_derive::napi;

/// A call for JavaScript to make.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct CallObject {
    /// `claim`, `renew`, `release`, `times`, or `gone`: nothing will be asked of this use any more.
    pub kind: String,
    /// Which use of a source it is for.
    pub used_by: i64,
    /// Whom to answer; 0 for nobody.
    pub ticket: i64,
    /// Of a claim.
    pub request: Option<RequestObject>,
    /// Of a renewal or a release.
    pub lease: Option<LeaseObject>,
    /// Of a renewal or a release, Unix milliseconds.
    pub until_ms: Option<i64>,
}

/// What a worker id is claimed with.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct RequestObject {
    /// The id space.
    pub name: String,
    /// 128 random bits in hex.
    pub instance: String,
    /// The worker id held before.
    pub previous: Option<u32>,
    /// The clock, Unix milliseconds.
    pub now_ms: i64,
    /// The wish, Unix milliseconds.
    pub until_ms: i64,
}

/// A lease.
#[napi(object)]
pub struct LeaseObject {
    /// The worker id.
    pub worker_id: i64,
    /// Where the span begins, Unix milliseconds.
    pub from_ms: i64,
    /// Where it ends, exclusive, Unix milliseconds.
    pub until_ms: i64,
    /// How long the id is kept without a renewal.
    pub lease_ms: Option<i64>,
    /// What the giver knows the holder by.
    pub token: Option<String>,
    /// What the clocks of other holders read, Unix milliseconds.
    pub peer_times_ms: Option<Vec<i64>>,
}

/// What a renewal changed.
#[napi(object, object_to_js = false)]
pub struct RenewalObject {
    /// The lease's worker id, where it is said again.
    pub worker_id: Option<i64>,
    /// Where the span ends now, Unix milliseconds.
    pub until_ms: i64,
    /// How long the id is kept without a renewal.
    pub lease_ms: Option<i64>,
    /// What the giver knows the holder by.
    pub token: Option<String>,
}

/// What the user's code answered: one of these fields, or none for nothing.
#[napi(object, object_to_js = false)]
pub struct AnswerObject {
    /// That it failed, with these words.
    pub failed: Option<String>,
    /// Of a failure: the code's name, where the user's code or a check of its answer said one.
    pub code: Option<String>,
    /// The worker id that a callback answered.
    pub worker_id: Option<i64>,
    /// The lease that a claim answered.
    pub lease: Option<LeaseObject>,
    /// What a renewal answered.
    pub renewal: Option<RenewalObject>,
    /// What the clocks of peers read.
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
