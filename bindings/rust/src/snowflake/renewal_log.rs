//! What a generator notes of its spans: for callers that wait, and for its statistics.

use crate::snowflake::generator::Generator;
use crate::snowflake::span_writer::Outcome;
use leafid_core::{Code, Error, Span};
use std::sync::atomic::Ordering::Release;

/// The spans of a generator, and how their renewals went.
#[derive(Clone, Default)]
pub(crate) struct Spans {
    /// The first span, durable since the opening, until the first id is asked for.
    pub(crate) first: Option<Span>,
    /// How the last renewal ended.
    pub(crate) outcome: Option<Outcome>,
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
    /// Notes how a renewal ended, and lets those go on who wait for it; `until`: the first tick outside what is durable.
    pub(crate) fn note(&self, renewed: Option<Outcome>, until: u64) {
        let failed = match &renewed {
            Some(Outcome::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        let granted = matches!(renewed, Some(Outcome::Granted));
        let told = self.locked(|spans| {
            spans.until = until;
            spans.renewals += u64::from(granted);
            spans.outcome = renewed.or(Some(Outcome::Granted));
            // Of a lease: counted and told where that failed.
            let leased = spans.lease_until_ms.is_some();
            let news = failed.as_ref().filter(|error| !(leased && error.code() == Code::WorkerLost));
            spans.failures += u64::from(news.is_some());
            let told = news.is_none() || spans.last_error == failed;
            if granted || news.is_some() {
                spans.last_error = failed.clone();
            }
            told
        });
        self.tried.fetch_add(1, Release);
        if let (Some(error), Some(false)) = (failed, told) {
            log::warn!("leafid: the span of worker id {} was not renewed: {error}", self.worker_id);
        }
    }

    /// Notes where the lease ends now, or why it was not renewed.
    pub(crate) fn note_lease(&self, until_ms: i64, failed: Option<Error>) {
        self.locked(|spans| {
            spans.lease_until_ms = Some(until_ms);
            spans.failures += u64::from(failed.is_some());
            spans.lease_error = failed;
        });
    }

    pub(crate) fn spans(&self) -> Spans {
        self.locked(|spans| spans.clone()).unwrap_or_default()
    }
}
