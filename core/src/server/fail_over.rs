//! One request over the servers of a source: which server is asked next, for how long, and which error is returned in
//! the end.
//!
//! Construct: [`FailOver::new`]. Poll: [`FailOver::poll`], which returns the next action. Events: [`FailOver::ended`], by
//! which a sent request ends, returns the result once there is one; [`FailOver::cancelled`].
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | ready | polled; a server may be asked in the time that is left | asked |
//! | ready | polled; none may, or the time is over | done: the error that tells most |
//! | asked | a correct response, or an error that all servers would return | done |
//! | asked | a wrong response, or none | ready: the server backs off, and is not asked again |
//! | asked | an error that says nothing about the server | ready: the server is not asked again |
//! | asked, by the first request | the server had closed the kept connection | ready: it is asked once more |
//! | ready, asked | cancelled | done: a probe that was not made, or has not ended, may be made by others |

use crate::Error;
use crate::aside::Aside;
use crate::server::health::{Attempt, ServerFailure, ServersHealth};
use crate::wire::Verdict;
use alloc::vec::Vec;
use core::time::Duration;

/// A request that is sent to one server after the other. `W` is the text of the tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FailOver<W> {
    whose: W,
    urgent: bool,
    once: bool,
    connect_timeout: Duration,
    /// The next request has the nonce `nonce` plus this number.
    nonce: Aside<u128>,
    requests: u64,
    untried: Vec<usize>,
    attempt: Option<Attempt>,
    /// The server that is asked once more.
    again: Option<Attempt>,
    /// The last error of a server that backs off, and of one that does not.
    failed: Option<Error>,
    refused: Option<Error>,
}

/// The next action of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FailOverAction {
    /// Send the request, then call [`FailOver::ended`].
    Send {
        /// The place of the server in the list.
        server: usize,
        /// The nonce of the request.
        nonce: u128,
        /// The longest duration until the end of the response.
        within: Duration,
        /// Whether the kept connections to the server are given up before.
        reconnect: bool,
    },
    /// No server can be asked.
    Stop(Error),
}

/// The end of a sent request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestEnd {
    /// A response.
    Response(Verdict<(), ServerFailure>),
    /// No response.
    None(ServerFailure),
    /// The server had closed the kept connection, so it may not have seen the request.
    Stale(ServerFailure),
}

impl<W: AsRef<str>> FailOver<W> {
    /// A request for a tag, or for "" if all requests are alike, to `servers` servers.
    ///
    /// `urgent`: a caller waits. `once`: the servers do it only once, so the response of the same server is awaited for
    /// all the time. The nonce makes back-off times differ.
    pub fn new(
        whose: W,
        urgent: bool,
        once: bool,
        nonce: u128,
        servers: usize,
        connect_timeout: Duration,
    ) -> FailOver<W> {
        FailOver {
            whose,
            urgent,
            once,
            connect_timeout,
            nonce: Aside(nonce),
            requests: 0,
            untried: (0..servers).collect(),
            attempt: None,
            again: None,
            failed: None,
            refused: None,
        }
    }

    /// The next action. `left`: the time that is left for all of the request.
    pub fn poll(&mut self, health: &mut ServersHealth, now_ms: i64, left: Duration) -> FailOverAction {
        if left.is_zero() {
            self.cancelled(health);
            return FailOverAction::Stop(self.error(health));
        }
        let again = self.again.take().map(|attempt| Attempt { begun_ms: now_ms, ..attempt });
        let reconnect = again.is_some();
        let chosen = again.or_else(|| health.choose(self.whose.as_ref(), &self.untried, now_ms, self.urgent));
        let Some(attempt) = chosen else { return FailOverAction::Stop(self.error(health)) };
        self.attempt = Some(attempt);
        self.untried.retain(|&other| other != attempt.server);
        let is_ready = |&other: &usize| health.is_ready(other, self.whose.as_ref(), now_ms, self.urgent);
        // While another server could respond, a slow one does not use up all the time.
        let shares = !self.once && self.untried.iter().any(is_ready);
        let within = if shares { self.connect_timeout.min(left / 2) } else { left };
        let nonce = self.nonce.0.wrapping_add(self.requests.into());
        self.requests += 1;
        FailOverAction::Send { server: attempt.server, nonce, within, reconnect }
    }

    /// No further server is asked, and the end of a sent request has no effect.
    pub fn cancelled(&mut self, health: &mut ServersHealth) {
        let begun = [self.attempt.take(), self.again.take()];
        begun.into_iter().flatten().for_each(|attempt| health.cancelled(attempt, self.whose.as_ref()));
    }

    /// A sent request has ended. Returns the result of all of it; `None` if the next server is asked.
    pub fn ended(
        &mut self,
        health: &mut ServersHealth,
        end: RequestEnd,
        now_ms: i64,
    ) -> Option<Result<(), Error>> {
        let attempt = self.attempt.take()?;
        let failure = match end {
            RequestEnd::Response(Verdict::Answer(())) => {
                health.succeeded(attempt, self.whose.as_ref());
                return Some(Ok(()));
            }
            RequestEnd::Response(Verdict::Refused(error)) => {
                health.succeeded(attempt, self.whose.as_ref());
                return Some(Err(error));
            }
            RequestEnd::Response(Verdict::TryNext(error)) => {
                health.succeeded(attempt, self.whose.as_ref());
                self.refused = Some(error);
                return None;
            }
            // It closed a kept connection, which is no failure. The other kept ones are as old.
            RequestEnd::Stale(_) if self.requests == 1 => {
                self.again = Some(attempt);
                return None;
            }
            RequestEnd::Response(Verdict::BadServer(failure) | Verdict::Denied(failure))
            | RequestEnd::None(failure)
            | RequestEnd::Stale(failure) => failure,
        };
        self.failed = Some(failure.error.clone());
        let seed = (self.nonce.0 as u64).wrapping_add(self.requests.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Rounded up: a back-off is never too short.
        health.failed(attempt, self.whose.as_ref(), now_ms + 1, seed, failure);
        None
    }

    /// An error that a server returns tells more than a failed connection to another one.
    fn error(&mut self, health: &ServersHealth) -> Error {
        let known = self.refused.take().or(self.failed.take());
        known.unwrap_or_else(|| health.error(self.whose.as_ref()))
    }
}
