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
use leafid_core::Result;
use leafid_core::http::{HttpCall, HttpEnd, HttpServers, NoResponse};
use settings::Settings;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::time::Instant;
use ureq::Agent;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector};

/// The servers of one source, and the connections to them.
pub(crate) struct ServerPool {
    settings: Settings,
    /// A forked child starts without a connection.
    process: PerProcess<Process>,
    is_closed: AtomicBool,
}

struct Process {
    generation: u64,
    /// The connections to each server.
    agents: Vec<Mutex<Option<Agent>>>,
}

impl ServerPool {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions) -> Result<ServerPool> {
        let settings = Settings::parse(options)?;
        Ok(ServerPool { settings, process: PerProcess::new(), is_closed: AtomicBool::new(false) })
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
            agents: self.settings.servers.iter().map(|_| Mutex::default()).collect(),
        })
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
    fn with_agent<R>(&self, at: usize, action: impl FnOnce(&mut Option<Agent>) -> R) -> Option<R> {
        lock_signal_safe(&self.agents[at], self.generation, action)
    }

    /// Forgets the connections to a server. They are closed when no request uses them any more.
    fn forget_connections(&self, at: usize) -> Option<Agent> {
        self.with_agent(at, Option::take).flatten()
    }
}
