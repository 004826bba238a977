//! The log of a generator's renewals of spans and lease, for waiting callers and for its statistics.

use crate::snowflake::span_writer::SpanResult;
use leafid_core::{Code, Error, Span};

/// The span of a generator, and the results of its renewals.
#[derive(Clone, Default)]
pub(crate) struct RenewalLog {
    /// The first span, durable since the opening. Taken by the first id.
    pub(crate) first: Option<Span>,
    /// The result of the last renewal.
    pub(crate) outcome: Option<SpanResult>,
    pub(crate) renewals: u64,
    pub(crate) failures: u64,
    /// The number of claims of a worker id, with the first one.
    pub(crate) claims: u64,
    pub(crate) last_error: Option<Error>,
    /// The error of the last renewal of the lease.
    pub(crate) lease_error: Option<Error>,
    /// The first tick that is not durable.
    pub(crate) until: u64,
    /// The end of the lease, Unix milliseconds.
    pub(crate) lease_until_ms: Option<i64>,
}

impl RenewalLog {
    /// Records the result of a renewal. `until` is the first tick that is not durable. Returns a new error, to be
    /// logged.
    pub(crate) fn note(&mut self, renewed: Option<SpanResult>, until: u64) -> Option<Error> {
        let failed = match &renewed {
            Some(SpanResult::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        let granted = matches!(renewed, Some(SpanResult::Granted));
        self.until = until;
        self.renewals += u64::from(granted);
        self.outcome = renewed.or(Some(SpanResult::Granted));
        // `note_lease` counts and logs the failure of a lease.
        let leased = self.lease_until_ms.is_some();
        let news = failed.as_ref().filter(|error| !(leased && error.code() == Code::WorkerLost));
        self.failures += u64::from(news.is_some());
        let logged = news.is_none() || self.last_error == failed;
        if granted || news.is_some() {
            self.last_error = failed.clone();
        }
        failed.filter(|_| !logged)
    }

    /// Records the end of the lease, or why it was not renewed.
    pub(crate) fn note_lease(&mut self, until_ms: i64, failed: Option<Error>) {
        self.lease_until_ms = Some(until_ms);
        self.failures += u64::from(failed.is_some());
        self.lease_error = failed;
    }
}
