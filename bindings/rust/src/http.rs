//! Requests to servers over HTTP: connections, timeouts, fail-over, and checks of responses.
//!
//! The dialect defines the requests and the meaning of the responses, such as that of the ranges of
//! [`crate::segments`].
//!
//! A connection serves another request only after a correct response. An error or a timeout closes it, so that a late
//! response is never read for another request.
//!
//! ureq's own connector and resolver were tried in place of `connection`, `resolve` and `connection_state` (version
//! 3.5.1, with its timeouts for each request). They cannot replace them:
//! * A forked child keeps its parent's sockets open, because ureq shows no descriptor to register (`tests/forks.rs`).
//! * A connection serves again after a wrong response, because only its transport may refuse that
//!   (`right_answers_keep_the_connection_and_others_do_not`).
//! * The deadline of a running request cannot be shortened, so a wrong response without an end holds a thread for all
//!   of `request_timeout_ms` (`wrong_frames`).
//! * Its resolver starts a thread for each look-up, without a limit, and not by [`crate::os::spawn`].

mod checked_frame;
mod connection;
mod connection_state;
mod deadline;
mod forward;
mod no_proxy;
mod proxy;
mod resolve;
mod response;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;
mod tls_roots;
mod url;

pub(crate) use settings::HttpOptions;
#[cfg(fuzzing)]
pub(crate) use url::ServerUrl;

use crate::os::mutex::lock_signal_safe;
use crate::os::{self, PerProcess};
use deadline::Deadlines;
use leafid_core::http::{HttpCall, HttpEnd, HttpServers, NoResponse};
use leafid_core::wire::{Request, Response, Verdict};
use leafid_core::{Code, Error, FailOver, FailOverAction, RequestEnd, Result, ServersHealth};
use settings::Settings;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::time::Instant;
use ureq::Agent;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector};

/// The servers of one source, and the connections to them.
pub(crate) struct ServerPool {
    settings: Settings,
    /// A forked child starts with healthy servers and no connection.
    process: PerProcess<Process>,
    origin: Instant,
    is_closed: AtomicBool,
    /// How often the running requests were ended.
    endings: AtomicU64,
    /// The error code for a response that is not HTTP.
    pub(crate) not_http_code: Code,
}

struct Process {
    generation: u64,
    health: Mutex<ServersHealth>,
    /// The connections to each server.
    agents: Vec<Mutex<Option<Agent>>>,
}

impl ServerPool {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions) -> Result<ServerPool> {
        let settings = Settings::parse(options)?;
        Ok(ServerPool {
            settings,
            process: PerProcess::new(),
            origin: Instant::now(),
            is_closed: AtomicBool::new(false),
            endings: AtomicU64::new(0),
            not_http_code: Code::SourceInvalid,
        })
    }

    /// Sends a request to the servers until one returns a response or the time of a request is over.
    ///
    /// It starts with the first server that does not back off. If all of them back off, it returns the last error at
    /// once. It runs on a thread of leafid.
    ///
    /// `ask` creates each request from its nonce: `nonce` and the next ones. `read` judges the response, which may be a
    /// failure, with that nonce. `whose` is the requested tag, or "" if all requests are alike. `urgent`: a caller
    /// waits. The nonce also makes the back-off times differ.
    ///
    /// Errors: those of `read`; `segment_unavailable`, `source_invalid`, `closed`.
    pub(crate) fn ask<T>(
        &self,
        whose: &str,
        urgent: bool,
        nonce: u128,
        ask: &dyn Fn(u128) -> Request,
        read: &dyn Fn(u128, &Response) -> Verdict<T>,
    ) -> Result<T> {
        let mut answer = None;
        self.ask_untyped(whose, urgent, nonce, ask, &mut |nonce, reply| {
            read(nonce, reply).map(|read| answer = Some(read))
        })?;
        // Every success has set it.
        answer.ok_or_else(forked)
    }

    /// [`ServerPool::ask`], compiled once for all types of answers: `read` keeps the answer.
    fn ask_untyped(
        &self,
        whose: &str,
        urgent: bool,
        nonce: u128,
        ask: &dyn Fn(u128) -> Request,
        read: &mut dyn FnMut(u128, &Response) -> Verdict<()>,
    ) -> Result<()> {
        let process = self.process();
        let endings = self.endings.load(Acquire);
        let Settings { servers, request_timeout, connect_timeout, .. } = &self.settings;
        let answer_by = Instant::now() + *request_timeout;
        let once = ask(nonce).once;
        let mut request = FailOver::new(whose, urgent, once, nonce, servers.len(), *connect_timeout);
        loop {
            if self.is_closed.load(Acquire) || self.endings.load(Acquire) != endings {
                process.with(|health| request.cancelled(health));
                return Err(Error::new(Code::Closed, "the source was closed while it was asked"));
            }
            let left = answer_by.saturating_duration_since(Instant::now());
            let action = process.with(|health| request.poll(health, self.now_ms(), left));
            let (server, nonce, within, reconnect) = match action.ok_or_else(forked)? {
                FailOverAction::Send { server, nonce, within, reconnect } => {
                    (server, nonce, within, reconnect)
                }
                FailOverAction::Stop(error) => return Err(error),
            };
            if reconnect {
                drop(process.forget_connections(server));
            }
            let begun = Instant::now();
            let bounds = Deadlines { connect_by: begun + *connect_timeout, answer_by: begun + within };
            let end = self.one(process, server, bounds, &ask(nonce), &mut |reply| read(nonce, reply));
            if let Some(result) =
                process.with(|health| request.ended(health, end, self.now_ms())).ok_or_else(forked)?
            {
                return result;
            }
        }
    }

    /// The servers, as the machines of the core know them.
    pub(crate) fn servers(&self) -> HttpServers {
        self.settings.known()
    }

    /// Carries out a call, on a thread of leafid. `random` was drawn for it, and is in no other request.
    pub(crate) fn carry_out(&self, mut call: HttpCall, random: u128) -> HttpEnd {
        let process = self.process();
        if self.is_closed.load(Acquire) {
            return call.failed(NoResponse::Other("the source was closed"), false);
        }
        if call.reconnect {
            drop(process.forget_connections(call.server));
        }
        let begun = Instant::now();
        let bounds = Deadlines { connect_by: begun + call.connect_within, answer_by: begun + call.within };
        let request = call.request(random);
        match self.agent(process, call.server) {
            Some(agent) => response::send(&agent, call, &request, &self.settings, bounds),
            None => call.failed(NoResponse::Forked, false),
        }
    }

    /// The URL of each server, and its last error if there was one.
    pub(crate) fn last_errors(&self) -> Vec<(String, Option<Error>)> {
        let errors =
            self.process().with(|servers| servers.last_errors().map(Option::<&Error>::cloned).collect());
        let errors: Vec<_> = errors.unwrap_or_else(|| vec![None; self.settings.servers.len()]);
        self.settings.servers.iter().map(|server| server.url.to_string()).zip(errors).collect()
    }

    /// Closes the connections that no request uses. Called some time after the last request.
    pub(crate) fn close_idle(&self) {
        let process = self.process();
        for at in 0..process.agents.len() {
            // Dropped without the lock.
            drop(process.forget_connections(at));
        }
    }

    /// Ends the running requests; later ones return `closed`. In a forked child it touches nothing of the parent.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Release);
        self.end_requests();
    }

    /// Ends the running requests, but not later ones.
    pub(crate) fn end_requests(&self) {
        self.endings.fetch_add(1, AcqRel);
        let Some(process) = self.process.get() else { return };
        for at in 0..process.agents.len() {
            if let Some(agent) = process.forget_connections(at) {
                agent.shutdown();
            }
        }
    }

    fn process(&self) -> &Process {
        self.process.get_or_install(|| Process {
            generation: os::process::generation(),
            health: Mutex::new(ServersHealth::new(self.settings.servers.len())),
            agents: self.settings.servers.iter().map(|_| Mutex::default()).collect(),
        })
    }

    /// Sends one request to one server.
    fn one(
        &self,
        process: &Process,
        at: usize,
        bounds: Deadlines,
        ask: &Request,
        read: &mut dyn FnMut(&Response) -> Verdict<()>,
    ) -> RequestEnd {
        let server = &self.settings.servers[at];
        let Some(agent) = self.agent(process, at) else {
            let what = format!("{server} was asked by the parent of this process");
            let error = Error::new(Code::SegmentUnavailable, what);
            return RequestEnd::None(response::unanswered(error.clone(), error));
        };
        let (reply, exchange) = match response::ask(&agent, ask, &self.settings, server, bounds) {
            Ok(answered) => answered,
            Err(failed) if failed.is_stale => return RequestEnd::Stale(failed.failure),
            Err(mut failed) => {
                if failed.failure.error.code() == Code::SourceInvalid {
                    failed.failure.error = Error::new(self.not_http_code, failed.failure.error.message());
                }
                return RequestEnd::None(failed.failure);
            }
        };
        let server = server.to_string();
        let failure = |error, is_denied| reply.server_failure(&server, error, is_denied);
        let verdict = match read(&reply) {
            Verdict::Answer(()) => Verdict::Answer(()),
            Verdict::Refused(error) => Verdict::Refused(error),
            Verdict::TryNext(error) => Verdict::TryNext(error),
            Verdict::BadServer(error) => {
                return RequestEnd::Response(Verdict::BadServer(failure(error, false)));
            }
            Verdict::Denied(error) => return RequestEnd::Response(Verdict::Denied(failure(error, true))),
        };
        exchange.prove();
        RequestEnd::Response(verdict)
    }

    /// Milliseconds of a clock that only goes forward.
    fn now_ms(&self) -> i64 {
        // It has room for 292 million years.
        self.origin.elapsed().as_millis() as i64
    }

    /// The connections to a server. `None` in a forked child.
    fn agent(&self, process: &Process, at: usize) -> Option<Agent> {
        let server = &self.settings.servers[at];
        let make = || {
            let chain = ().chain(ConnectProxyConnector::default()).chain(connection::Connect);
            let chain = chain.chain(RustlsConnector::default()).chain(server.forward());
            let config = self.settings.config(server);
            let chain = chain.chain(checked_frame::Connected { has_tunnel: config.proxy().is_some() });
            Agent::with_parts(config, chain, resolve::NoLookup)
        };
        process.with_agent(at, |agent| agent.get_or_insert_with(make).clone())
    }
}

impl Process {
    /// Returns `None` in a forked child.
    fn with<R>(&self, action: impl FnOnce(&mut ServersHealth) -> R) -> Option<R> {
        lock_signal_safe(&self.health, self.generation, action)
    }

    /// Returns `None` in a forked child.
    fn with_agent<R>(&self, at: usize, action: impl FnOnce(&mut Option<Agent>) -> R) -> Option<R> {
        lock_signal_safe(&self.agents[at], self.generation, action)
    }

    /// Forgets the connections to a server. They are closed when no request uses them any more.
    fn forget_connections(&self, at: usize) -> Option<Agent> {
        self.with_agent(at, Option::take).flatten()
    }
}

/// The error of a request that began in the parent of this process.
fn forked() -> Error {
    Error::new(Code::SegmentUnavailable, "no server could be asked in time")
}
