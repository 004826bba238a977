//! What came of the renewals of spans and leases, for messages and statistics.

use crate::run::seat::SpanEnd;
use crate::{Code, Error};

#[derive(Clone, Debug, Default)]
pub(crate) struct RunLog {
    pub(crate) renewals: u64,
    pub(crate) failures: u64,
    /// The number of claims of a worker id, with the first one.
    pub(crate) claims: u64,
    pub(crate) last_error: Option<Error>,
    /// The error of the last renewal of the lease.
    pub(crate) lease_error: Option<Error>,
    /// The first tick that was not durable when a span was last granted.
    pub(crate) reserved_until: u64,
    /// The end of the lease, Unix milliseconds.
    pub(crate) lease_until_ms: Option<i64>,
}

impl RunLog {
    /// Records what became of a span. Returns a new error, to be logged.
    pub(crate) fn note(&mut self, end: &SpanEnd) -> Option<Error> {
        let granted = *end == SpanEnd::Granted;
        self.renewals += u64::from(granted);
        let failed = match end {
            SpanEnd::Failed(error) => Some(error.clone()),
            _ => None,
        };
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

    /// The last error of a renewal, for messages.
    pub(crate) fn before(&self) -> Option<&Error> {
        self.lease_error.as_ref().or(self.last_error.as_ref())
    }
}
