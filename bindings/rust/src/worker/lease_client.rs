//! The client of lease servers.

use crate::http::{HttpOptions, ServerPool};
use crate::os::PerProcess;
use crate::os::env;
use crate::os::mutex::lock;
use crate::tasks::user_calls::Answer;
use crate::worker::leases::{ClaimRequest, WorkerLeases};
use leafid_core::wire::{Request, Response, Verdict, lease_server};
use leafid_core::{Code, Error, Lease, LeaseClaim, LeaseClaims, Renewal, RenewalAnswer, Result};
use std::hash::{DefaultHasher, Hash, Hasher};
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

/// Claims without an answer. A forked child creates its own.
static CLAIMS: PerProcess<Mutex<LeaseClaims>> = PerProcess::new();

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

    /// Sends a request to any reachable server. `judge` judges its response.
    ///
    /// Errors: those of `judge`; else the reason why no server responded.
    fn ask<T>(&self, request: &Request, judge: &dyn Fn(&Response) -> Verdict<T>) -> Result<T> {
        let read = |_: u128, reply: &Response| {
            if lease_server::is_servers_own(reply) {
                self.reached.store(true, Release);
            }
            judge(reply)
        };
        #[cfg(test)]
        if let Some(simulated) = &self.simulated {
            let lost = || Error::new(Code::SegmentUnavailable, "no answer came");
            return read(0, &(simulated.exchange)(request).ok_or_else(lost)?).into_result();
        }
        let mut seed = DefaultHasher::new();
        request.body.as_ref().map_or("", |body| &body.text).hash(&mut seed);
        self.http.ask("", true, seed.finish().into(), &|_| request.clone(), &read)
    }

    /// Claims a lease. `asked` is the boot time. Also returns the boot time before the lease was requested first.
    pub(crate) fn claim_since(&self, request: &ClaimRequest, asked: Duration) -> Result<(Lease, Duration)> {
        let claims = CLAIMS.get_or_install(Mutex::default);
        let key = format!("{} {}", self.name, self.options.servers.join(" "));
        let claim = LeaseClaim { instance: request.instance.clone(), asked };
        let claim = lock(claims).begin(&key, claim);
        match self.try_claim(&ClaimRequest { instance: claim.instance.clone(), ..request.clone() }) {
            Ok(lease) => Ok((lease, claim.asked)),
            Err(error) => Err(lock(claims).failed(key, claim, error)),
        }
    }

    pub(crate) fn try_claim(&self, request: &ClaimRequest) -> Result<Lease> {
        self.reached.store(false, Release);
        let ClaimRequest { name, instance, now_ms, until_ms, .. } = request;
        let claim = lease_server::claim(name, instance, *now_ms, *until_ms);
        self.ask(&claim, &|reply| lease_server::judge_claim(reply, &self.name, instance))
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
}

impl WorkerLeases for HttpLeases {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        Ok(Some(self.claim_since(request, env::of_process().clock.boot_time())?.0))
    }

    fn renew(&self, held: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let nonce = format!("{:032x}", self.number()?);
        let request = lease_server::renewal(&self.name, held, until_ms, &nonce);
        match self.ask(&request, &|reply| lease_server::judge_renewal(reply, &nonce)) {
            Ok(RenewalAnswer::Renewed(renewal)) => Ok(Some(renewal)),
            Ok(RenewalAnswer::NotHeld) => Ok(None),
            Ok(RenewalAnswer::Lost(error)) => Err(error.into()),
            Err(error) if error.code() == Code::SourceInvalid => Err(error.into()),
            // As text only: a server that is unreachable has not said that the lease is lost.
            Ok(RenewalAnswer::Failed(error)) | Err(error) => Err(error.message().into()),
        }
    }

    fn release(&self, held: &Lease, until_ms: i64) -> Answer<()> {
        let request = lease_server::release(&self.name, held, until_ms);
        Ok(self.ask(&request, &lease_server::judge_release)?)
    }
}
