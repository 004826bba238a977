//! The client of servers that return ranges.

use super::dialect::Dialect;
use super::fetch_request::FetchRequest;
use crate::http::{HttpOptions, ServerPool};
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Fetched, Result};

/// Servers that return ranges.
pub(crate) struct RangeSource {
    http: ServerPool,
    /// Whether a range below earlier ones is refused.
    ordered: bool,
}

impl RangeSource {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, ordered: bool) -> Result<RangeSource> {
        Ok(RangeSource { http: ServerPool::new(options)?, ordered })
    }

    /// Fetches a range, on a thread of leafid. `nonce` is a new random number for each call.
    ///
    /// Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`; `invalid_argument` and
    /// `segment_regressed` if the server returns them.
    pub(crate) fn fetch(&self, request: &FetchRequest, nonce: u128) -> Result<Fetched> {
        let FetchRequest { tag, step, after, urgent } = request;
        let wire = RangeRequest { tag, step: *step, after: *after, ordered: self.ordered };
        self.http
            .ask(tag, *urgent, nonce, &|nonce| wire.request(nonce), &|nonce, reply| wire.judge(reply, nonce))
    }
}

impl Dialect for RangeSource {
    fn http(&self) -> &ServerPool {
        &self.http
    }
}
