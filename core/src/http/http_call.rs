//! One request to one server. It is a value: it runs without the lock of the machine that made it.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | new | `request` | sent: the random number belongs to this request alone |
//! | new, sent | `request` | sent: only a response to the later request counts |
//! | sent | `end` | over: the response is judged |
//! | new | `end` | over: a failure, for nothing was asked |
//! | new, sent | `failed` | over: no response |

use super::frame::{BodyEnd, ResponseHead};
use super::http_servers::{HttpServer, HttpServers};
use super::no_response::NoResponse;
use super::subject::{HttpAnswer, Subject};
use crate::aside::OfCall;
use crate::server::health::ServerFailure;
use crate::snowflake::lease_claims::leaves_unanswered;
use crate::wire::{Request, Response, Verdict, lease_server, quoted};
use crate::{Code, Error, Lease, LeaseClaim, RenewalAnswer};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// A request to one server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpCall {
    /// The place of the server in the list.
    pub server: usize,
    /// The longest duration until the end of the response.
    pub within: Duration,
    /// The longest duration of name look-up, connection and TLS together.
    pub connect_within: Duration,
    /// Whether the kept connections to the server are given up before.
    pub reconnect: bool,
    pub(super) servers: Arc<HttpServers>,
    pub(super) subject: Subject,
    /// Its number in its exchange.
    pub(super) number: u64,
    pub(crate) of: OfCall,
    pub(super) random: Option<u128>,
}

/// How a call ended. Only [`HttpCall`] makes one, so that no host can give an answer that did not come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpEnd {
    pub(super) number: u64,
    pub(crate) of: OfCall,
    pub(super) subject: Subject,
    pub(super) random: Option<u128>,
    /// Whether the server itself has responded, correctly or not.
    pub(super) has_reached: bool,
    pub(super) how: HttpOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum HttpOutcome {
    Response(Verdict<HttpAnswer, ServerFailure>),
    None(ServerFailure),
    /// The server had closed the kept connection, so it may not have seen the request.
    Stale(ServerFailure),
}

/// What is left of a call whose end came after its exchange was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LateEnd {
    /// A lease, which is unused: it is released.
    Lease(Lease),
    /// The answer to a renewal. Its token is the one that a release needs.
    Renewal(RenewalAnswer),
    /// A claim that still has no answer: it may be sent again as it was.
    Unanswered(LeaseClaim),
    /// Nothing. Ids that came are a gap.
    Nothing,
}

impl HttpCall {
    /// The request. `random` is drawn by the host now, from a source that no copy of this process repeats.
    pub fn request(&mut self, random: u128) -> Request {
        self.random = Some(random);
        self.subject.request(random)
    }

    /// The response that came.
    pub fn response(&self, head: &ResponseHead<'_>, body: Vec<u8>, end: BodyEnd<'_>) -> Response {
        Response {
            url: self.url(),
            status: head.status(),
            location: head.location.map(quoted),
            flaw: head.flaw_with(end, body.len(), self.subject.is_self_evident()),
            body,
            option: self.servers.option,
        }
    }

    /// The URL without its query, and the proxy.
    fn url(&self) -> String {
        self.to().shown(&self.subject.request(0).path)
    }

    /// Judges the response. Also returns whether its connection may serve another request: only after a correct one.
    pub fn end(self, reply: &Response) -> (HttpEnd, bool) {
        let Some(random) = self.random else {
            let message = "a response came to a request that was not made; report this";
            let error = Error::new(Code::Internal, message);
            return (self.ended(false, HttpOutcome::None(no_response(error.clone(), error))), false);
        };
        let failure = |error, is_denied| reply.server_failure(&self.to().shown(""), error, is_denied);
        let verdict = match self.subject.judge(reply, random) {
            Verdict::Answer(answer) => Verdict::Answer(answer),
            Verdict::Refused(error) => Verdict::Refused(error),
            Verdict::TryNext(error) => Verdict::TryNext(error),
            Verdict::BadServer(error) => Verdict::BadServer(failure(error, false)),
            Verdict::Denied(error) => Verdict::Denied(failure(error, true)),
        };
        let is_wrong = matches!(verdict, Verdict::BadServer(_) | Verdict::Denied(_)) || reply.flaw.is_some();
        let has_reached = lease_server::is_servers_own(reply);
        (self.ended(has_reached, HttpOutcome::Response(verdict)), !is_wrong)
    }

    /// No response came. `is_stale`: the connection was kept from before, and the server had closed it.
    pub fn failed(mut self, why: NoResponse<'_>, is_stale: bool) -> HttpEnd {
        let error = |url: &str| {
            let error = why.error(url, self.to(), self.servers.option);
            match error.code() {
                // What is not HTTP is not from a lease server, which says nothing about the lease.
                Code::SourceInvalid if self.subject.is_of_leases() => {
                    Error::new(Code::WorkerLost, error.message())
                }
                _ => error,
            }
        };
        let failure = no_response(error(&self.url()), error(&self.to().shown("")));
        // Kept and sent later, its number would be that of every copy of this process, and theirs one lease.
        self.random.take_if(|_| !why.may_be_sent());
        self.ended(false, if is_stale { HttpOutcome::Stale(failure) } else { HttpOutcome::None(failure) })
    }

    fn to(&self) -> &HttpServer {
        &self.servers.servers[self.server]
    }

    fn ended(self, has_reached: bool, how: HttpOutcome) -> HttpEnd {
        let HttpCall { number, of, subject, random, .. } = self;
        HttpEnd { number, of, subject, random, has_reached, how }
    }
}

impl HttpEnd {
    /// What is left of it, if its exchange was given up before.
    pub fn late(self) -> LateEnd {
        let error = match self.how {
            HttpOutcome::Response(Verdict::Answer(HttpAnswer::Lease(lease))) => return LateEnd::Lease(lease),
            HttpOutcome::Response(Verdict::Answer(HttpAnswer::Renewal(answer))) => {
                return LateEnd::Renewal(answer);
            }
            HttpOutcome::Response(Verdict::Answer(_)) => return LateEnd::Nothing,
            HttpOutcome::Response(Verdict::Refused(error) | Verdict::TryNext(error)) => error,
            HttpOutcome::Response(Verdict::BadServer(failure) | Verdict::Denied(failure))
            | HttpOutcome::None(failure)
            | HttpOutcome::Stale(failure) => failure.error,
        };
        self.subject
            .claim(self.random)
            .filter(|_| leaves_unanswered(&error))
            .map_or(LateEnd::Nothing, LateEnd::Unanswered)
    }
}

/// The failure of a request without a response.
pub(super) fn no_response(error: Error, of_server: Error) -> ServerFailure {
    ServerFailure { error, of_server, is_whole: true, is_denied: false }
}
