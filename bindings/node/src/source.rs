//! User callbacks as the host's source of worker ids and of peers' clocks.
//!
//! The user callbacks run on the thread that opens a generator, so an opening cannot wait for them. It uses a result
//! that was supplied, or ends and reports which one it needs. JavaScript then calls the callback, supplies its result
//! and opens again. All later calls come from threads of leafid, through the environment's queue of calls.

use crate::answers::{AnswerObject, CallObject, LeaseObject, RequestObject};
use crate::calls::Calls;
use leafid::{Answer, ClaimRequest, Code, Error, Lease, Renewal, WorkerLeases, WorkerSource};
use napi_derive::napi;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The results that an opening still needs.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NeededResults {
    /// The clocks of peers.
    pub times: bool,
    /// A worker id.
    pub claim: Option<RequestObject>,
}

/// The use of the user callbacks by one handle.
pub(crate) struct Use {
    /// A number that is unique in this process.
    pub(crate) number: i64,
    calls: Arc<Calls>,
    patience: Duration,
    opening: Mutex<Opening>,
    /// The generator is open: from now on, claims are for a generator that replaces it.
    opened: AtomicBool,
}

#[derive(Default)]
struct Opening {
    needed: Option<NeededResults>,
    times: Option<Result<Vec<i64>, String>>,
    claim: Option<AnswerObject>,
    /// The time of the first request for the claim, by a clock that stops in suspend, and by the clock that may be set.
    asked: Option<(Instant, i64)>,
    /// How long before the use of the result that was.
    asked_ago: Duration,
}

/// A number that no other object of this process has.
#[napi(catch_unwind)]
pub fn unique_number() -> i64 {
    static NUMBERS: AtomicI64 = AtomicI64::new(1);
    NUMBERS.fetch_add(1, Relaxed)
}

impl Use {
    pub(crate) fn new(calls: Arc<Calls>, patience: Duration) -> Arc<Use> {
        let opened = AtomicBool::new(false);
        Arc::new(Use { number: unique_number(), calls, patience, opening: Mutex::default(), opened })
    }

    fn opening(&self) -> MutexGuard<'_, Opening> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The results that the last opening needed, returned once.
    pub(crate) fn needed(&self) -> Option<NeededResults> {
        self.opening().needed.take()
    }

    /// Supplies a result: the peers' clocks for the whole opening, a worker id for one use.
    pub(crate) fn supply(&self, answer: AnswerObject) {
        let mut opening = self.opening();
        match answer.times_ms {
            Some(times) => opening.times = Some(Ok(times)),
            None => opening.claim = Some(answer),
        }
    }

    /// The callback for the peers' clocks failed.
    pub(crate) fn supply_no_times(&self, why: String) {
        self.opening().times = Some(Err(why));
    }

    /// Ends an opening. Returns a lease that was not used, for JavaScript to release.
    pub(crate) fn settle(&self) -> Option<LeaseObject> {
        std::mem::take(&mut *self.opening()).claim.and_then(|answer| answer.lease)
    }

    /// Records the end of the opening.
    pub(crate) fn opens(&self) {
        self.opened.store(true, Relaxed);
    }

    /// The clocks of peers.
    pub(crate) fn times(&self) -> Answer<Vec<i64>> {
        if self.opened.load(Relaxed) {
            let answer = self.calls.ask(self.call("times"), self.patience)?;
            return Ok(answer.field(|answer| answer.times_ms)?.unwrap_or_default());
        }
        let mut opening = self.opening();
        match &opening.times {
            Some(Ok(times)) => Ok(times.clone()),
            Some(Err(why)) => Err(why.clone().into()),
            None => {
                opening.needed.get_or_insert_default().times = true;
                // Only this code ends an opening. Other errors are logged, and the opening continues.
                Err(missing(Code::InvalidArgument))
            }
        }
    }

    fn claimed<T>(
        &self,
        request: &ClaimRequest,
        pick: impl FnOnce(AnswerObject) -> Option<T>,
    ) -> Answer<Option<T>> {
        let mut opening = self.opening();
        if let Some(answer) = opening.claim.take() {
            let asked = opening.asked.take();
            // The host counts from now on. The lease source counts from its call, or at the latest from its result.
            opening.asked_ago = asked.map_or(Duration::ZERO, |(at, now_ms)| {
                at.elapsed().max(Duration::from_millis((request.now_ms - now_ms).max(0) as u64))
            });
            return answer.field(pick);
        }
        opening.asked.get_or_insert((Instant::now(), request.now_ms));
        opening.needed.get_or_insert_default().claim = Some(request.into());
        Err(missing(Code::WouldBlock))
    }

    fn call(&self, kind: &str) -> CallObject {
        CallObject { kind: kind.into(), used_by: self.number, ..CallObject::default() }
    }
}

/// No user sees this error, because JavaScript checks the needed results first.
fn missing(code: Code) -> Box<Error> {
    Box::new(Error::new(code, "the user callback must be called first; report this"))
}

/// Reports that this use no longer needs the user's object.
impl Drop for Use {
    fn drop(&mut self) {
        self.calls.post(self.call("gone"));
    }
}

/// A source of worker ids. `identity` is the number of the user's object.
pub(crate) fn source(used: &Arc<Use>, identity: i64, leases: bool) -> WorkerSource {
    let used = Arc::clone(used);
    let source = match leases {
        true => WorkerSource::leases(Leases(used)),
        false => WorkerSource::callback(move |request| used.claimed(request, |answer| answer.worker_id)),
    };
    // It is never negative, because numbers start at 1.
    source.with_identity((identity as usize, 0))
}

struct Leases(Arc<Use>);

impl WorkerLeases for Leases {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let pick = |answer: AnswerObject| answer.lease.map(Lease::from);
        if request.previous.is_none() {
            return self.0.claimed(request, pick);
        }
        // This is not an opening, but a claim after a lost lease.
        let call = CallObject { request: Some(request.into()), ..self.0.call("claim") };
        self.0.calls.ask(call, self.0.patience)?.field(pick)
    }

    fn asked_ago(&self) -> Duration {
        self.0.opening().asked_ago
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let call = CallObject { lease: Some(lease.into()), until_ms: Some(until_ms), ..self.0.call("renew") };
        self.0.calls.ask(call, self.0.patience)?.field(|answer| answer.renewal.map(Renewal::from))
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        let lease = Some(lease.into());
        self.0.calls.post(CallObject { lease, until_ms: Some(until_ms), ..self.0.call("release") });
        Ok(())
    }

    fn runs_on_callers_thread(&self) -> bool {
        true
    }

    fn has_queued(&self) -> bool {
        self.0.calls.has_queued(self.0.number)
    }

    fn withdraw(&self) {
        self.0.calls.forget(self.0.number);
    }
}
