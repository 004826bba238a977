//! The client of lease servers.

use super::lease_protocol::{self, LeaseRequest};
#[cfg(test)]
use crate::http::Request;
use crate::http::{HttpOptions, Response, ServerPool, Verdict};
use crate::os::PerProcess;
use crate::os::env;
use crate::os::mutex::lock;
use crate::tasks::user_calls::Answer;
use crate::worker::leases::{ClaimRequest, WorkerLeases};
use leafid_core::{Code, Error, Lease, Renewal, Result};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::time::Duration;

/// The servers that lease the worker ids of one id space.
pub(crate) struct HttpLeases {
    http: ServerPool,
    options: HttpOptions,
    name: String,
    /// Whether the last claim got a response, a correct one or not.
    reached: AtomicBool,
    #[cfg(test)]
    simulated: Option<Simulated>,
}

#[cfg(test)]
type Exchange = dyn Fn(&Request) -> Option<Response> + Send + Sync;

/// The simulation's replacement for connections and random numbers.
#[cfg(test)]
pub(crate) struct Simulated {
    /// The response, if one comes.
    pub(crate) exchange: Box<Exchange>,
    pub(crate) number: Box<dyn Fn() -> u128 + Send + Sync>,
}

/// Claims without a response, by servers and id space. If one is sent again, its response is the same, and it takes no
/// second worker id. A forked child creates its own.
static UNANSWERED: PerProcess<Mutex<BTreeMap<String, Unanswered>>> = PerProcess::new();

struct Unanswered {
    instance: String,
    /// The boot time before the claim was sent first. The lease may have started then.
    asked: Duration,
}

/// What a server decided: a success, or an error that each server would return.
type Said<T> = std::result::Result<T, Error>;

impl HttpLeases {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, name: String) -> Result<HttpLeases> {
        let mut http = ServerPool::new(options.clone())?;
        http.not_http_code = Code::WorkerLost;
        Ok(HttpLeases {
            http,
            options,
            name,
            reached: AtomicBool::new(false),
            #[cfg(test)]
            simulated: None,
        })
    }

    /// The same client, without connections.
    #[cfg(test)]
    pub(crate) fn over(self, simulated: Simulated) -> HttpLeases {
        HttpLeases { simulated: Some(simulated), ..self }
    }

    /// A random number.
    fn number(&self) -> Result<u128> {
        #[cfg(test)]
        if let Some(simulated) = &self.simulated {
            return Ok((simulated.number)());
        }
        env::of_process().number()
    }

    /// Whether they are the same servers with the same options. It makes no difference which option named them.
    pub(crate) fn is_same(&self, other: &HttpLeases) -> bool {
        let named_alike = HttpOptions { option: self.options.option, ..other.options.clone() };
        self.options == named_alike && self.name == other.name
    }

    /// Sends a request to any reachable server. `read` judges its response; `None` for a response without a meaning.
    ///
    /// Errors: `source_invalid` for the response to another request, `worker_lost` for a wrong one; else the reason why
    /// no server responded.
    fn ask<T>(
        &self,
        request: &LeaseRequest,
        read: &dyn Fn(&Response) -> Option<Result<Said<T>>>,
    ) -> Result<Said<T>> {
        let verdict = |_: u32, reply: &Response| {
            if matches!(reply.status, 502..=504) {
                // From a proxy in front of a server that is down, or from a server without its database.
                return Verdict::BadServer(
                    reply.failure().unwrap_or_else(|| lease_protocol::wrong(reply, "is none")),
                );
            }
            self.reached.store(true, Release);
            if let Some(error) = reply.failure() {
                return Verdict::BadServer(Error::new(Code::WorkerLost, error.message()));
            }
            match read(reply) {
                Some(Ok(said)) => Verdict::Answer(said),
                Some(Err(error)) => Verdict::BadServer(error),
                None => Verdict::BadServer(lease_protocol::wrong(reply, "is no lease server's")),
            }
        };
        #[cfg(test)]
        if let Some(simulated) = &self.simulated {
            let lost = || Error::new(Code::SegmentUnavailable, "no answer came");
            return match verdict(0, &(simulated.exchange)(&request.ask()).ok_or_else(lost)?) {
                Verdict::Answer(said) => Ok(said),
                Verdict::Refused(error)
                | Verdict::TryNext(error)
                | Verdict::BadServer(error)
                | Verdict::Denied(error) => Err(error),
            };
        }
        self.http.ask("", true, request.seed(), &|_| request.ask(), &verdict)
    }

    /// Claims a lease. Also returns how long before this call it was requested.
    pub(crate) fn claim_since(&self, request: &ClaimRequest) -> Result<(Lease, Duration)> {
        let now = env::of_process().clock.boot_time();
        let unanswered = UNANSWERED.get_or_install(Mutex::default);
        let key = format!("{} {}", self.name, self.options.servers.join(" "));
        // No other thread sends the same claim meanwhile: both would get the same lease.
        let before = lock(unanswered).remove(&key);
        let claim = before.unwrap_or_else(|| Unanswered { instance: request.instance.clone(), asked: now });
        let asked_ago = now.saturating_sub(claim.asked);
        match self.try_claim(&ClaimRequest { instance: claim.instance.clone(), ..request.clone() }) {
            Ok(lease) => Ok((lease, asked_ago)),
            Err(error) => {
                if !matches!(error.code(), Code::WorkerInUse | Code::InvalidArgument) {
                    lock(unanswered).insert(key, claim);
                }
                Err(match error.code() {
                    // The transport reports this for every kind of request.
                    Code::SegmentUnavailable | Code::Closed => Error::new(Code::WorkerLost, error.message()),
                    _ => error,
                })
            }
        }
    }

    pub(crate) fn try_claim(&self, request: &ClaimRequest) -> Result<Lease> {
        self.reached.store(false, Release);
        let said = self.ask(&LeaseRequest::claim(request)?, &|reply| match (
            reply.status,
            lease_protocol::refusal(reply),
        ) {
            (200, _) => Some(lease_protocol::claimed(reply, &request.instance).map(Ok)),
            (409, Some((Code::WorkerInUse, told))) => {
                let message = format!(
                    "no free worker id for {:?}: {told}; end a process, or widen the pool",
                    self.name
                );
                Some(Ok(Err(Error::new(Code::WorkerInUse, message))))
            }
            (400, Some((Code::InvalidArgument, told))) => {
                Some(Ok(Err(Error::new(Code::InvalidArgument, format!("the claim was refused: {told}")))))
            }
            _ => None,
        });
        said?
    }

    /// Whether the last claim failed because no server was reachable: none responded to it, nor to its last request
    /// before.
    pub(crate) fn is_unreachable(&self) -> bool {
        let unknown = |error: &Option<Error>| {
            error.as_ref().is_none_or(|error| error.code() == Code::SegmentUnavailable)
        };
        !self.reached.load(Acquire) && self.http.last_errors().iter().all(|(_, error)| unknown(error))
    }

    /// Ends the running requests.
    pub(crate) fn end_calls(&self) {
        self.http.end_requests();
    }

    /// The URLs as the user wrote them.
    pub(crate) fn urls(&self) -> &[String] {
        &self.options.servers
    }

    fn is_lost(&self, reply: &Response) -> Option<Error> {
        let (code, told) = lease_protocol::refusal(reply).filter(|_| reply.status == 409)?;
        let message = format!(
            "the lease is no longer this holder's: {told}; a new one is claimed by itself, ask again"
        );
        (code == Code::WorkerLost).then(|| Error::new(Code::WorkerLost, message))
    }

    /// The error of a renewal or a release that every server would return.
    fn refused<T>(&self, reply: &Response) -> Option<Result<Said<T>>> {
        let (_, told) = lease_protocol::refusal(reply).filter(|_| matches!(reply.status, 400 | 409))?;
        Some(Ok(Err(Error::new(Code::InvalidArgument, format!("it was refused: {told}")))))
    }
}

impl WorkerLeases for HttpLeases {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        Ok(Some(self.claim_since(request)?.0))
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let nonce = format!("{:032x}", self.number()?);
        let request = LeaseRequest::renewal(&self.name, lease, until_ms, &nonce)?;
        let said = self.ask(&request, &|reply| match reply.status {
            200 => Some(lease_protocol::renewed(reply, &nonce).map(Ok)),
            _ => self.is_lost(reply).map(|lost| Ok(Err(lost))).or_else(|| self.refused(reply)),
        });
        match said {
            Ok(Ok(renewal)) => Ok(Some(renewal)),
            Ok(Err(lost)) if lost.code() == Code::WorkerLost => Err(lost.into()),
            Ok(Err(error)) => Err(error.message().into()),
            Err(error) if error.code() == Code::SourceInvalid => Err(error.into()),
            // As text only: a server that is unreachable has not said that the lease is lost.
            Err(error) => Err(error.message().into()),
        }
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        let request = LeaseRequest::release(&self.name, lease, until_ms)?;
        let said = self.ask(&request, &|reply| match reply.status {
            204 => Some(Ok(Ok(()))),
            _ => self.is_lost(reply).map(|lost| Ok(Err(lost))).or_else(|| self.refused(reply)),
        });
        Ok(said??)
    }
}
