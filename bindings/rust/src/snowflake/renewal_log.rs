//! The renewals of a generator's spans and lease: for callers that wait, and for its statistics.

use crate::snowflake::span_writer::SpanResult;
use leafid_core::{Code, Error, Span};

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

impl RenewalLog {
    /// Takes the result of a renewal; `until`: the first tick that is not durable. Returns an error that was not there
    /// before, to be logged.
    pub(crate) fn note(&mut self, renewed: Option<SpanResult>, until: u64) -> Option<Error> {
        let failed = match &renewed {
            Some(SpanResult::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        let granted = matches!(renewed, Some(SpanResult::Granted));
        self.until = until;
        self.renewals += u64::from(granted);
        self.outcome = renewed.or(Some(SpanResult::Granted));
        // The failure of a lease is counted and logged by `note_lease`.
        let leased = self.lease_until_ms.is_some();
        let news = failed.as_ref().filter(|error| !(leased && error.code() == Code::WorkerLost));
        self.failures += u64::from(news.is_some());
        let logged = news.is_none() || self.last_error == failed;
        if granted || news.is_some() {
            self.last_error = failed.clone();
        }
        failed.filter(|_| !logged)
    }

    /// Takes where the lease ends now, or why it was not renewed.
    pub(crate) fn note_lease(&mut self, until_ms: i64, failed: Option<Error>) {
        self.lease_until_ms = Some(until_ms);
        self.failures += u64::from(failed.is_some());
        self.lease_error = failed;
    }
}
