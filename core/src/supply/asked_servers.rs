//! The servers of a source: what is asked of them, and when a host that does not report the end of a call is given up.

use super::agenda::{Agenda, Timer};
use super::settings::{Dialect, Source};
use super::supply_call::Call;
use crate::aside::Aside;
use crate::call::CallId;
use crate::http::{Exchange, ExchangeStep, HttpResult, HttpServers};
use crate::server::ServersHealth;
use crate::server::circuit_breaker::ServersReadiness;
use crate::wire::range::RangeRequest;
use crate::{Error, Fetched, Result};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::num::NonZeroU64;
use core::time::Duration;

/// The servers of a source, and their health.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AskedServers {
    servers: Arc<HttpServers>,
    dialect: Dialect,
    health: ServersHealth,
}

/// The next step of a request over the servers.
pub(super) enum AskStep {
    /// Have the host carry this out.
    Call(Call),
    /// It is over.
    Over(Result<Fetched>),
}

impl AskedServers {
    /// `None` for a source without servers.
    pub(super) fn of(source: &Source) -> Option<AskedServers> {
        let Source::Servers { servers, dialect, .. } = source else { return None };
        let health = ServersHealth::new(servers.servers.len());
        Some(AskedServers { servers: Arc::clone(servers), dialect: dialect.clone(), health })
    }

    /// A request for ids of a tag, above `after`.
    pub(super) fn exchange(
        &self,
        tag: &str,
        step: i64,
        after: i64,
        seed: u64,
        now: Duration,
    ) -> Box<Exchange> {
        let servers = &self.servers;
        Box::new(match &self.dialect {
            Dialect::Range { ordered } => {
                let wish = RangeRequest { tag, step, after, ordered: *ordered };
                Exchange::range(servers, wish, seed, now)
            }
            Dialect::Tinyid { token } => Exchange::tinyid(servers, tag, token, seed, now),
            Dialect::Leaf(mode) => Exchange::leaf(servers, *mode, tag, seed, now),
        })
    }

    /// The next call of a request, with this number. It is timed, in case its end is never reported.
    pub(super) fn ask(
        &mut self,
        exchange: &mut Exchange,
        call: CallId,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Option<AskStep> {
        match exchange.poll(&mut self.health, now) {
            ExchangeStep::Send(mut http) => {
                // Requests of one tag run beside each other: each end is of its own call, and of no other.
                http.of = Aside(NonZeroU64::new(call.0));
                exchange.overdue_at().into_iter().for_each(|at| agenda.set(at, Timer::Call(call)));
                Some(AskStep::Call(Call::Http(http)))
            }
            ExchangeStep::Sent => None,
            ExchangeStep::Done(result) => Some(AskStep::Over(ids(result))),
        }
    }

    /// A call of a request has ended. `None`: the request goes on.
    pub(super) fn ended(
        &mut self,
        exchange: &mut Exchange,
        call: CallId,
        end: crate::http::HttpEnd,
        agenda: &mut Agenda,
        now: Duration,
    ) -> Option<Result<Fetched>> {
        exchange.overdue_at().into_iter().for_each(|at| agenda.unset(at, Timer::Call(call)));
        exchange.ended(&mut self.health, end, now).map(ids)
    }

    /// The end of a call was not reported in time.
    pub(super) fn overdue(&mut self, exchange: &mut Exchange, now: Duration) -> Option<Result<Fetched>> {
        exchange.overdue(&mut self.health, now).map(ids)
    }

    /// Whether all servers back off.
    pub(super) fn readiness(&self, now_ms: i64) -> ServersReadiness {
        self.health.back_off_ms(now_ms, true).map_or(ServersReadiness::Ready, ServersReadiness::BackOff)
    }

    /// Whether each server denies this tag, until somebody changes the server or the options.
    pub(super) fn denies(&self, tag: &str) -> bool {
        self.health.denies(tag)
    }

    /// This tag is unused now.
    pub(super) fn forget(&mut self, tag: &str) {
        self.health.forget(tag);
    }

    /// The URL and the last error of each server.
    pub(super) fn last_errors(&self) -> impl Iterator<Item = (&str, Option<&Error>)> {
        self.servers.servers.iter().map(|server| server.url.as_str()).zip(self.health.last_errors())
    }
}

fn ids(result: HttpResult) -> Result<Fetched> {
    match result {
        HttpResult::Ids(fetched) => fetched,
        HttpResult::Claimed(_) | HttpResult::Renewed(_) | HttpResult::Released(_) => {
            Err(Error::new(crate::Code::Internal, "a request for ids ended as another one; report this"))
        }
    }
}
