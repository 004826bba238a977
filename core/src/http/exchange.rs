//! An exchange with the servers of a source: one request, sent to one server after the other until there is a result.
//!
//! Construct: [`Exchange::claim`] and its like. Poll: [`Exchange::poll`]. Events: [`Exchange::ended`], by which the
//! call that was handed out ends; [`Exchange::overdue`] and [`Exchange::close`], which give up. Queries: all others.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | ready | polled; a server may be asked in the time that is left | sent: one call |
//! | ready | polled; none may, or the time is over | done: the error that tells most |
//! | ready | polled; a tinyid gave no ids, and no other server gave any | ready: all are asked for the reason, once |
//! | sent | polled | sent |
//! | sent | ended by an answer, or an error that all servers would return | done |
//! | sent | ended otherwise | ready: the next server; or the same, if it had closed a kept connection, once |
//! | sent | ended by the end of another call | ready: as a failure, so that no answer goes astray |
//! | sent | overdue: its end did not come in time | done: a claim that may still be answered is not sent again |
//! | ready, sent | closed | done: the end that comes later is a late one |

use super::http_call::{HttpCall, HttpEnd, HttpOutcome, no_response};
use super::http_servers::HttpServers;
use super::no_response::NoResponse;
use super::subject::{HttpAnswer, Subject};
use crate::aside::{Aside, OfCall};
use crate::server::ServersHealth;
use crate::server::fail_over::{FailOver, FailOverAction, RequestEnd};
use crate::server::health::ServerFailure;
use crate::snowflake::lease_claims::{leaves_unanswered, of_a_claim};
use crate::wire::Verdict;
use crate::wire::leaf::LeafMode;
use crate::wire::range::RangeRequest;
use crate::{Code, Error, Fetched, Lease, LeaseClaim, RenewalAnswer, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

/// How long after its time a call is given up whose host does not report its end.
const GRACE: Duration = Duration::from_millis(500);

/// One request to the servers of a source. Times are of a clock that only goes forward.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exchange {
    servers: Arc<HttpServers>,
    subject: Subject,
    fail_over: FailOver<String>,
    /// Makes the back-off times differ. It proves nothing.
    seed: Aside<u64>,
    answer_by: Duration,
    /// The number of calls so far.
    calls: u64,
    /// The call that was handed out.
    sent: Option<Sent>,
    /// Whether a server itself has responded, correctly or not.
    has_reached: bool,
    /// Whether the last response said that a tinyid has no ids.
    is_empty: bool,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sent {
    server: usize,
    /// The end of its time.
    by: Duration,
}

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExchangeStep {
    /// Have the host send this.
    Send(Box<HttpCall>),
    /// A call was handed out and has not ended.
    Sent,
    /// The exchange is over.
    Done(HttpResult),
}

/// What came of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HttpResult {
    /// Of [`Exchange::claim`].
    Claimed(ClaimEnd),
    /// Of [`Exchange::renewal`].
    Renewed(RenewalAnswer),
    /// Of [`Exchange::release`].
    Released(Result<()>),
    /// Of a request for ids.
    Ids(Result<Fetched>),
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimEnd {
    /// The lease. Errors: `worker_lost` where no server answered; those of the servers.
    pub lease: Result<Lease>,
    /// The time before the claim was sent first: the lease may have started then.
    pub asked: Duration,
    /// The claim to send again, as it was: a server may have leased an id for it.
    pub unanswered: Option<LeaseClaim>,
    /// Whether it failed because no server was reachable: none responded to it, nor to its last request before.
    pub is_unreachable: bool,
}

impl Exchange {
    /// The claim of a worker id in the id space `name`, until about `until_ms`. `unanswered`: the last claim, if no
    /// server answered it; it is sent again as it was, and takes no second worker id.
    pub fn claim(
        servers: &Arc<HttpServers>,
        name: &str,
        unanswered: Option<LeaseClaim>,
        (now_ms, until_ms): (i64, i64),
        seed: u64,
        boot: Duration,
    ) -> Exchange {
        let (instance, asked) = unanswered.map_or((None, boot), |claim| (Some(claim.instance), claim.asked));
        let subject = Subject::Claim { name: name.into(), instance, asked, now_ms, until_ms };
        Exchange::new(servers, subject, seed, boot)
    }

    /// The renewal of a lease until about `until_ms`.
    pub fn renewal(
        servers: &Arc<HttpServers>,
        name: &str,
        lease: &Lease,
        until_ms: i64,
        seed: u64,
        boot: Duration,
    ) -> Exchange {
        let subject = Subject::Renewal { name: name.into(), lease: lease.clone(), until_ms };
        Exchange::new(servers, subject, seed, boot)
    }

    /// The release of a lease: no id at or after `until_ms` was or will be issued.
    pub fn release(
        servers: &Arc<HttpServers>,
        name: &str,
        lease: &Lease,
        until_ms: i64,
        seed: u64,
        boot: Duration,
    ) -> Exchange {
        let subject = Subject::Release { name: name.into(), lease: lease.clone(), until_ms };
        Exchange::new(servers, subject, seed, boot)
    }

    /// A range of ids, in leafid's own protocol.
    pub fn range(servers: &Arc<HttpServers>, wish: RangeRequest<'_>, seed: u64, boot: Duration) -> Exchange {
        let RangeRequest { tag, step, after, ordered } = wish;
        Exchange::new(servers, Subject::Range { tag: tag.into(), step, after, ordered }, seed, boot)
    }

    /// The next id, or block of ids, of a Leaf.
    pub fn leaf(
        servers: &Arc<HttpServers>,
        mode: LeafMode,
        tag: &str,
        seed: u64,
        boot: Duration,
    ) -> Exchange {
        Exchange::new(servers, Subject::Leaf { mode, tag: tag.into() }, seed, boot)
    }

    /// A range of ids of a tinyid. `token` is tinyid's own, not a header.
    pub fn tinyid(servers: &Arc<HttpServers>, tag: &str, token: &str, seed: u64, boot: Duration) -> Exchange {
        let subject = Subject::Tinyid { tag: tag.into(), token: token.into(), unexplained: None };
        Exchange::new(servers, subject, seed, boot)
    }

    fn new(servers: &Arc<HttpServers>, subject: Subject, seed: u64, boot: Duration) -> Exchange {
        let once = subject.request(0).once;
        // A caller may start to wait while a server that failed before is asked.
        let urgent = true;
        let whose = subject.tag().into();
        let count = servers.servers.len();
        Exchange {
            fail_over: FailOver::new(whose, urgent, once, seed.into(), count, servers.connect_timeout),
            answer_by: boot.saturating_add(servers.request_timeout),
            servers: Arc::clone(servers),
            subject,
            seed: Aside(seed),
            calls: 0,
            sent: None,
            has_reached: false,
            is_empty: false,
        }
    }

    /// The next action. After `Done` it is not polled again.
    pub fn poll(&mut self, health: &mut ServersHealth, boot: Duration) -> ExchangeStep {
        if self.sent.is_some() {
            return ExchangeStep::Sent;
        }
        loop {
            let left = self.answer_by.saturating_sub(boot);
            match self.fail_over.poll(health, whole_ms(boot), left) {
                FailOverAction::Send { server, within, reconnect, .. } => {
                    self.calls += 1;
                    self.sent = Some(Sent { server, by: boot.saturating_add(within) });
                    return ExchangeStep::Send(Box::new(HttpCall {
                        server,
                        within,
                        connect_within: self.servers.connect_timeout.min(within),
                        reconnect,
                        servers: Arc::clone(&self.servers),
                        subject: self.subject.clone(),
                        number: self.calls,
                        of: OfCall::default(),
                        random: None,
                    }));
                }
                FailOverAction::Stop(error) => match &mut self.subject {
                    // The other call returns the reason.
                    Subject::Tinyid { unexplained: unexplained @ None, .. } if self.is_empty => {
                        *unexplained = Some(error);
                        let again = Exchange::new(&self.servers, self.subject.clone(), self.seed.0, boot);
                        *self = Exchange { calls: self.calls, ..again };
                    }
                    _ => return ExchangeStep::Done(self.failed(health, error)),
                },
            }
        }
    }

    /// The call that was handed out has ended. Returns what came of the exchange; `None` if it is polled again. Without
    /// such a call it has no effect.
    pub fn ended(&mut self, health: &mut ServersHealth, end: HttpEnd, boot: Duration) -> Option<HttpResult> {
        self.sent.take()?;
        let is_of_call = (end.number, &end.subject) == (self.calls, &self.subject);
        if !is_of_call {
            return self.told(health, RequestEnd::None(strayed()), None, boot);
        }
        // Every server is sent the same claim, so that none leases a second id for it.
        if let Some(claim) = self.subject.claim(end.random) {
            self.subject.name_claim(claim);
        }
        match end.how {
            HttpOutcome::None(failure) => self.told(health, RequestEnd::None(failure), None, boot),
            HttpOutcome::Stale(failure) => self.told(health, RequestEnd::Stale(failure), None, boot),
            HttpOutcome::Response(verdict) => {
                self.has_reached |= end.has_reached;
                self.is_empty = matches!(verdict, Verdict::TryNext(_));
                let mut answer = None;
                let verdict = verdict.map(|came| answer = Some(came));
                self.told(health, RequestEnd::Response(verdict), answer, boot)
            }
        }
    }

    fn told(
        &mut self,
        health: &mut ServersHealth,
        end: RequestEnd,
        answer: Option<HttpAnswer>,
        boot: Duration,
    ) -> Option<HttpResult> {
        let result = self.fail_over.ended(health, end, whole_ms(boot))?;
        Some(match result.and(answer.ok_or_else(|| strayed().error)) {
            Ok(answer) => self.succeeded(answer),
            Err(error) => self.failed(health, error),
        })
    }

    /// The time at which a call is given up whose host has not reported its end.
    pub fn overdue_at(&self) -> Option<Duration> {
        self.sent.map(|sent| sent.by.saturating_add(GRACE))
    }

    /// Gives up at [`Exchange::overdue_at`]. `None` before.
    pub fn overdue(&mut self, health: &mut ServersHealth, boot: Duration) -> Option<HttpResult> {
        let sent = self.sent.filter(|sent| boot >= sent.by.saturating_add(GRACE))?;
        let server = &self.servers.servers[sent.server];
        let late = |path| NoResponse::TimedOut.error(&server.shown(path), server, self.servers.option);
        let failure = no_response(late(&self.subject.request(0).path), late(""));
        let error = failure.error.clone();
        self.fail_over.ended(health, RequestEnd::None(failure), whole_ms(boot));
        Some(self.failed(health, error))
    }

    /// Gives up, because no caller wants the result any more.
    pub fn close(&mut self, health: &mut ServersHealth) -> HttpResult {
        self.fail_over.cancelled(health);
        self.failed(health, Error::new(Code::Closed, "the source was closed while it was asked"))
    }

    /// Whether no server is reachable: none has responded to this claim, nor to its last request before.
    pub fn is_unreachable(&self, health: &ServersHealth) -> bool {
        let is_known =
            |error: Option<&Error>| error.is_some_and(|error| error.code() != Code::SegmentUnavailable);
        !self.has_reached && !health.last_errors().any(is_known)
    }

    fn succeeded(&self, answer: HttpAnswer) -> HttpResult {
        match (answer, &self.subject) {
            (HttpAnswer::Lease(lease), Subject::Claim { asked, .. }) => {
                let (asked, unanswered) = (*asked, None);
                HttpResult::Claimed(ClaimEnd { lease: Ok(lease), asked, unanswered, is_unreachable: false })
            }
            (HttpAnswer::Renewal(RenewalAnswer::Failed(error)), _) => not_renewed(&error),
            (HttpAnswer::Renewal(answer), _) => HttpResult::Renewed(answer),
            (HttpAnswer::Ids(fetched), _) => HttpResult::Ids(Ok(fetched)),
            (HttpAnswer::Released | HttpAnswer::Lease(_), _) => HttpResult::Released(Ok(())),
        }
    }

    fn failed(&self, health: &ServersHealth, error: Error) -> HttpResult {
        match &self.subject {
            Subject::Claim { asked, .. } => {
                // One that is under way may still be answered, and is not sent twice at a time.
                let unanswered = self.subject.claim(None);
                let unanswered = unanswered.filter(|_| self.sent.is_none() && leaves_unanswered(&error));
                let is_unreachable = self.is_unreachable(health);
                let lease = Err(of_a_claim(error));
                HttpResult::Claimed(ClaimEnd { lease, asked: *asked, unanswered, is_unreachable })
            }
            // Its own error: the response is not the one to this request.
            Subject::Renewal { .. } if error.code() == Code::SourceInvalid => {
                HttpResult::Renewed(RenewalAnswer::Failed(error))
            }
            Subject::Renewal { .. } => not_renewed(&error),
            Subject::Release { .. } => HttpResult::Released(Err(error)),
            Subject::Range { .. } | Subject::Leaf { .. } | Subject::Tinyid { .. } => {
                HttpResult::Ids(Err(error))
            }
        }
    }
}

/// Only a server's answer says that the lease is lost. Whatever this error's code is, it does not.
fn not_renewed(error: &Error) -> HttpResult {
    let message = format!("the renewal of the lease failed: {}", error.message());
    HttpResult::Renewed(RenewalAnswer::Failed(Error::new(Code::WorkerLost, message)))
}

/// The failure of a call to which the end of another one was given.
fn strayed() -> ServerFailure {
    let message = "a request ended with the response to another one, of which nothing is used; report this";
    let error = Error::new(Code::Internal, message);
    no_response(error.clone(), error)
}

fn whole_ms(boot: Duration) -> i64 {
    i64::try_from(boot.as_millis()).unwrap_or(i64::MAX)
}
