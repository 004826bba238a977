//! Lease servers: the exchange that is under way on the lane of the source, and the releases beside it.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | idle | a claim or a renewal begins | asking |
//! | asking | the exchange is done, or takes too long | idle: its result |
//! | asking | given up | idle: what a call that is under way brings comes late |
//! | any | a release begins | the same; the release is asked beside |
//! | any | the releases are given up | the same; no server is asked for them any more |
//! | any | a claim ended without an answer, or ended so late | the same; it is for the process |
//! | idle | a claim begins | asking: for one without an answer, as it was; or for a new one |

use crate::aside::Aside;
use crate::call::CallId;
use crate::http::{ClaimEnd, Exchange, ExchangeStep, HttpCall, HttpEnd, HttpResult, HttpServers};
use crate::run::moment::{Moment, earliest};
use crate::server::ServersHealth;
use crate::snowflake::SPAN_WISH_MS;
use crate::snowflake::lease::LeaseKey;
use crate::{Lease, LeaseClaim, RenewalRequest};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ServerLeases {
    servers: Arc<HttpServers>,
    health: ServersHealth,
    asking: Option<Asking>,
    releases: Vec<Releasing>,
    /// The claims that no server has answered, until the process has them.
    unanswered: Vec<LeaseClaim>,
    /// For jitter alone.
    seed: Aside<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asking {
    exchange: Exchange,
    is_renewal: bool,
    /// The boot time before it began.
    since: Duration,
    /// When it is given up, besides its own time.
    until: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Releasing {
    exchange: Exchange,
    lease: LeaseKey,
    /// The call that is under way.
    call: Option<Aside<CallId>>,
}

/// What is next on the lane of the source.
pub(crate) enum ServerStep {
    Nothing,
    Send(Box<HttpCall>),
    /// The result, and the boot time before it was asked for.
    Done(HttpResult, Duration),
}

impl ServerLeases {
    pub(crate) fn new(servers: Arc<HttpServers>, health: ServersHealth, seed: u64) -> ServerLeases {
        let (releases, unanswered) = (Vec::new(), Vec::new());
        ServerLeases { servers, health, asking: None, releases, unanswered, seed: Aside(seed) }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.asking.is_none()
    }

    /// Whether a renewal is asked for.
    pub(crate) fn renews(&self) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.is_renewal)
    }

    /// A claim that has no answer, and is not sent by anybody.
    pub(crate) fn keep_unanswered(&mut self, claim: LeaseClaim) {
        self.unanswered.push(claim);
    }

    /// The claims without an answer. They are not kept here any more.
    pub(crate) fn take_unanswered(&mut self) -> Vec<LeaseClaim> {
        take(&mut self.unanswered)
    }

    fn next_seed(&mut self) -> u64 {
        let next = self.seed.0.wrapping_mul(6_364_136_223_846_793_005);
        self.seed = Aside(next.wrapping_add(1_442_695_040_888_963_407));
        self.seed.0
    }

    /// Begins a claim, or sends `unanswered` again. It is given up after `within`.
    pub(crate) fn claim(&mut self, unanswered: Option<LeaseClaim>, within: Option<Duration>, m: &Moment<'_>) {
        let seed = self.next_seed();
        let times = (m.now_ms, m.now_ms.saturating_add(SPAN_WISH_MS));
        let exchange = Exchange::claim(&self.servers, &m.settings.name, unanswered, times, seed, m.boot);
        let until = within.map(|within| m.boot.saturating_add(within));
        self.asking = Some(Asking { exchange, is_renewal: false, since: m.boot, until });
    }

    pub(crate) fn renew(&mut self, request: &RenewalRequest, m: &Moment<'_>) {
        let seed = self.next_seed();
        let RenewalRequest { lease, wish_ms } = request;
        let exchange = Exchange::renewal(&self.servers, &m.settings.name, lease, *wish_ms, seed, m.boot);
        self.asking = Some(Asking { exchange, is_renewal: true, since: m.boot, until: None });
    }

    pub(crate) fn release(&mut self, lease: &Lease, until_ms: i64, m: &Moment<'_>) {
        let seed = self.next_seed();
        let exchange = Exchange::release(&self.servers, &m.settings.name, lease, until_ms, seed, m.boot);
        self.releases.push(Releasing { exchange, lease: lease.key(), call: None });
    }

    /// The next step on the lane of the source. No call is under way there.
    pub(crate) fn poll(&mut self, boot: Duration) -> ServerStep {
        let Some(asking) = &mut self.asking else { return ServerStep::Nothing };
        match asking.exchange.poll(&mut self.health, boot) {
            ExchangeStep::Send(call) => ServerStep::Send(call),
            ExchangeStep::Sent => ServerStep::Nothing,
            ExchangeStep::Done(result) => self.over(result),
        }
    }

    fn over(&mut self, result: HttpResult) -> ServerStep {
        let Some(asking) = self.asking.take() else { return ServerStep::Nothing };
        if let HttpResult::Claimed(ClaimEnd { unanswered: Some(claim), .. }) = &result {
            self.keep_unanswered(claim.clone());
        }
        ServerStep::Done(result, asking.since)
    }

    /// The call on the lane of the source ended.
    pub(crate) fn ended(&mut self, end: HttpEnd, boot: Duration) -> ServerStep {
        let asking = self.asking.as_mut();
        let result = asking.and_then(|asking| asking.exchange.ended(&mut self.health, end, boot));
        result.map_or(ServerStep::Nothing, |result| self.over(result))
    }

    /// What takes too long is over.
    pub(crate) fn overdue(&mut self, m: &Moment<'_>) -> ServerStep {
        let Some(asking) = &mut self.asking else { return ServerStep::Nothing };
        let result = match asking.until {
            Some(until) if m.boot >= until => Some(match asking.exchange.close(&mut self.health) {
                HttpResult::Claimed(end) => {
                    HttpResult::Claimed(ClaimEnd { lease: Err(m.late("the claim of a worker id")), ..end })
                }
                other => other,
            }),
            _ => asking.exchange.overdue(&mut self.health, m.boot),
        };
        result.map_or(ServerStep::Nothing, |result| self.over(result))
    }

    /// The result is not needed any more.
    pub(crate) fn give_up(&mut self) {
        if let Some(asking) = &mut self.asking {
            let result = asking.exchange.close(&mut self.health);
            self.over(result);
        }
    }

    /// The releases are not waited for any more.
    pub(crate) fn give_up_releases(&mut self) {
        for mut releasing in take(&mut self.releases) {
            releasing.exchange.close(&mut self.health);
        }
    }

    /// When to look again.
    pub(crate) fn due(&self) -> Option<Duration> {
        let ends = |asking: &Asking| earliest(&[asking.exchange.overdue_at(), asking.until]);
        let asking = self.asking.as_ref().and_then(ends);
        let releases = self.releases.iter().filter_map(|releasing| releasing.exchange.overdue_at());
        releases.chain(asking).min()
    }

    /// The leases that are being released.
    pub(crate) fn releases(&self) -> impl Iterator<Item = &LeaseKey> {
        self.releases.iter().map(|releasing| &releasing.lease)
    }

    /// The next call of a release, its place and its lease. What went wrong with others is logged.
    pub(crate) fn next_release(&mut self, m: &mut Moment<'_>) -> Option<(usize, LeaseKey, Box<HttpCall>)> {
        let mut at = 0;
        while at < self.releases.len() {
            match self.releases[at].exchange.poll(&mut self.health, m.boot) {
                ExchangeStep::Send(call) => return Some((at, self.releases[at].lease.clone(), call)),
                ExchangeStep::Sent => at += 1,
                ExchangeStep::Done(result) => self.released(at, &result, m),
            }
        }
        None
    }

    pub(crate) fn release_sent(&mut self, at: usize, id: CallId) {
        self.releases[at].call = Some(Aside(id));
    }

    /// A call of a release ended.
    pub(crate) fn release_ended(&mut self, id: CallId, end: HttpEnd, m: &mut Moment<'_>) {
        let is_of = |releasing: &Releasing| releasing.call.is_some_and(|call| call.0 == id);
        let Some(at) = self.releases.iter().position(is_of) else { return };
        if let Some(result) = self.releases[at].exchange.ended(&mut self.health, end, m.boot) {
            self.released(at, &result, m);
        }
    }

    /// Releases that take too long are over. Returns whether there were any.
    pub(crate) fn overdue_releases(&mut self, m: &mut Moment<'_>) -> bool {
        let before = self.releases.len();
        for at in (0..self.releases.len()).rev() {
            if let Some(result) = self.releases[at].exchange.overdue(&mut self.health, m.boot) {
                self.released(at, &result, m);
            }
        }
        self.releases.len() < before
    }

    fn released(&mut self, at: usize, result: &HttpResult, m: &mut Moment<'_>) {
        let (worker_id, _) = self.releases.remove(at).lease;
        if let HttpResult::Released(Err(error)) = result {
            m.tell_unreleased(worker_id, error);
        }
    }
}
