//! The renewals of a generator's spans and lease: for callers that wait, and for its statistics.

use crate::snowflake::generator::Generator;
use crate::snowflake::span_writer::SpanResult;
use leafid_core::{Code, Error, Span};
use std::sync::atomic::Ordering::Release;

/// The span of a generator, and the results of its renewals.
#[derive(Clone, Default)]
pub(crate) struct RenewalLog {
    /// The first span, durable since the opening, until the first id is asked for.
    pub(crate) first: Option<Span>,
    /// How the last renewal ended.
    pub(crate) outcome: Option<SpanResult>,
    pub(crate) renewals: u64,
    pub(crate) failures: u64,
    /// Worker ids claimed, the first one included.
    pub(crate) claims: u64,
    pub(crate) last_error: Option<Error>,
    /// Of the last renewal of the lease.
    pub(crate) lease_error: Option<Error>,
    /// First tick outside what is durable.
    pub(crate) until: u64,
    /// Where the lease ends, Unix milliseconds.
    pub(crate) lease_until_ms: Option<i64>,
}

impl Generator {
    /// Logs the result of a renewal, and lets the callers that wait for it continue; `until`: the first tick that is not
    /// durable.
    pub(crate) fn note(&self, renewed: Option<SpanResult>, until: u64) {
        let failed = match &renewed {
            Some(SpanResult::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        let granted = matches!(renewed, Some(SpanResult::Granted));
        let logged = self.locked(|log| {
            log.until = until;
            log.renewals += u64::from(granted);
            log.outcome = renewed.or(Some(SpanResult::Granted));
            // The failure of a lease is counted and logged by `note_lease`.
            let leased = log.lease_until_ms.is_some();
            let news = failed.as_ref().filter(|error| !(leased && error.code() == Code::WorkerLost));
            log.failures += u64::from(news.is_some());
            let logged = news.is_none() || log.last_error == failed;
            if granted || news.is_some() {
                log.last_error = failed.clone();
            }
            logged
        });
        self.tried.fetch_add(1, Release);
        if let (Some(error), Some(false)) = (failed, logged) {
            log::warn!("leafid: the span of worker id {} was not renewed: {error}", self.worker_id);
        }
    }

    /// Logs where the lease ends now, or why it was not renewed.
    pub(crate) fn note_lease(&self, until_ms: i64, failed: Option<Error>) {
        self.locked(|log| {
            log.lease_until_ms = Some(until_ms);
            log.failures += u64::from(failed.is_some());
            log.lease_error = failed;
        });
    }

    pub(crate) fn renewal_log(&self) -> RenewalLog {
        self.locked(|log| log.clone()).unwrap_or_default()
    }
}
