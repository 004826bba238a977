//! The client of tinyid servers.

use super::dialect::Dialect;
use super::fetch_request::FetchRequest;
use crate::http::{HttpOptions, ServerPool};
use leafid_core::wire::Verdict;
use leafid_core::wire::tinyid::TinyidRequest;
use leafid_core::{Result, Segment};
use std::cell::Cell;
use std::convert::Infallible;

/// The servers of one tinyid.
pub(crate) struct TinyidServers {
    http: ServerPool,
    token: String,
}

impl TinyidServers {
    /// Reads files and the environment. The token is tinyid's own, not a header. Errors: `invalid_argument`.
    pub(crate) fn new(mut options: HttpOptions) -> Result<TinyidServers> {
        let token = options.token.take().unwrap_or_default();
        Ok(TinyidServers { http: ServerPool::new(options)?, token })
    }

    /// Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`.
    pub(crate) fn fetch(&self, request: &FetchRequest, nonce: u128) -> Result<Segment> {
        let FetchRequest { tag, urgent, .. } = request;
        let wire = TinyidRequest { tag, token: &self.token };
        let is_empty = Cell::new(false);
        let fetched = self.http.ask(tag, *urgent, nonce, &|nonce| wire.ids(nonce), &|_, reply| {
            let verdict = wire.judge_ids(reply);
            is_empty.set(matches!(verdict, Verdict::TryNext(_)));
            verdict
        });
        match fetched {
            // The other call returns the reason.
            Err(error) if is_empty.get() => {
                let nonce = nonce.wrapping_add(1 << 64);
                self.http
                    .ask::<Infallible>(tag, *urgent, nonce, &|nonce| wire.reason(nonce), &|_, reply| {
                        wire.judge_reason(reply, &error)
                    })
                    .map(|never| match never {})
            }
            fetched => fetched,
        }
    }
}

impl Dialect for TinyidServers {
    fn http(&self) -> &ServerPool {
        &self.http
    }
}
