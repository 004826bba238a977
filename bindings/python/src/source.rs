//! User callbacks and objects: worker ids from a callback or a lease object, and the clocks of peers.

mod lease;
mod user_code;
mod user_object;

pub(crate) use lease::{ClaimRequest, Lease};
pub(crate) use user_code::{awaited, described_call};
pub(crate) use user_object::{UserObjectHandle, asking};

use crate::arguments::{int, refused};
use crate::errors;
use leafid::{Answer, Error, Renewal, WorkerLeases, WorkerSource};
use pyo3::prelude::*;
use std::sync::Arc;
use user_code::{UserCall, ask};
use user_object::{UserObject, claiming};

/// The source of worker ids for this object, if it is one. An object with `claim` leases ids; a callable is a callback.
pub(crate) fn worker_source(value: &Bound<'_, PyAny>) -> PyResult<Option<(WorkerSource, UserObjectHandle)>> {
    let address = |object: &Bound<'_, PyAny>| object.as_ptr() as usize;
    let leases = value.hasattr("claim")?;
    if !leases && !value.is_callable() {
        return Ok(None);
    }
    let mut identity = (address(value), 0);
    if leases {
        check_methods(value)?;
    } else if value.is_instance(&value.py().import("types")?.getattr("MethodType")?)? {
        // Each access to a method creates another object.
        identity = (address(&value.getattr("__self__")?), address(&value.getattr("__func__")?));
    }
    let object = UserObjectHandle::of(value, identity, true);
    let target = object.target();
    let source = match leases {
        true => WorkerSource::leases(Leases(target)),
        false => WorkerSource::callback(move |request| claim_id(&target, request)),
    };
    Ok(Some((source.with_identity(identity), object)))
}

/// The callback for the clocks of peers.
pub(crate) fn peer_times(
    value: &Bound<'_, PyAny>,
) -> PyResult<(impl Fn() -> Answer<Vec<i64>> + Send + Sync + use<>, UserObjectHandle)> {
    if !value.is_callable() {
        return Err(refused("peer_times", value));
    }
    let object = UserObjectHandle::of(value, (value.as_ptr() as usize, 0), false);
    let target = object.target();
    let times = |times: &Bound<'_, PyAny>| lease::times_of("peer_times", times);
    let call = UserCall { option: "peer_times", method: None, signature: "peer_times()" };
    Ok((move || ask(&target, call, (), times), object))
}

fn check_methods(value: &Bound<'_, PyAny>) -> PyResult<()> {
    for name in ["claim", "renew", "release"] {
        if !value.hasattr(name)? || !value.getattr(name)?.is_callable() {
            let object = format!("an object without a method {name}, {}", crate::arguments::shown(value));
            let allowed = "an object with the methods claim(request), renew(lease, until_ms) and release(lease, until_ms)";
            return Err(errors::raise(value.py(), &Error::invalid("worker", object, allowed)));
        }
    }
    Ok(())
}

fn claim_id(target: &Arc<UserObject>, request: &leafid::ClaimRequest) -> Answer<Option<i64>> {
    let id = |answer: &Bound<'_, PyAny>| match answer.is_none() {
        true => Ok(None),
        false => int("worker_id", answer).map(Some),
    };
    let arguments = (&request.name, request.previous);
    let call = UserCall { option: "worker", method: None, signature: "worker(name, previous)" };
    claiming(target, &request.name, || ask(target, call, arguments, id))
}

/// A lease object.
struct Leases(Arc<UserObject>);

const fn method(name: &'static str, signature: &'static str) -> UserCall {
    UserCall { option: "worker", method: Some(name), signature }
}

const CLAIM: UserCall = method("claim", "claim(request)");
const RENEW: UserCall = method("renew", "renew(lease, until_ms)");
const RELEASE: UserCall = method("release", "release(lease, until_ms)");

impl WorkerLeases for Leases {
    fn claim(&self, request: &leafid::ClaimRequest) -> Answer<Option<leafid::Lease>> {
        let arguments = (ClaimRequest::from(request.clone()),);
        claiming(&self.0, &request.name, || ask(&self.0, CLAIM, arguments, lease::lease))
    }

    fn renew(&self, lease: &leafid::Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let arguments = (Lease::from(lease.clone()), until_ms);
        ask(&self.0, RENEW, arguments, lease::renewal)
    }

    fn release(&self, lease: &leafid::Lease, until_ms: i64) -> Answer<()> {
        let arguments = (Lease::from(lease.clone()), until_ms);
        ask(&self.0, RELEASE, arguments, |_| Ok(()))
    }
}
