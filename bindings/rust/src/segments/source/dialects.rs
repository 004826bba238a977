//! One fetch in each protocol. The core's `wire` makes the requests and judges the responses.
//!
//! Each runs on a thread of leafid. `nonce` is a new random number for each call. Errors: `unknown_tag`,
//! `segment_unavailable`, `source_invalid`, `closed`.

use super::fetch_request::FetchRequest;
use crate::http::ServerPool;
use leafid_core::wire::Verdict;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::wire::tinyid::TinyidRequest;
use leafid_core::{Fetched, Result, Segment};
use std::cell::Cell;
use std::convert::Infallible;

/// One response of a Leaf: an id or a block of ids.
pub(crate) fn leaf(servers: &ServerPool, mode: LeafMode, tag: &str, nonce: u128) -> Result<Segment> {
    let ask = |nonce| mode.request(tag, nonce);
    // A caller may start to wait during the request.
    servers.ask(tag, true, nonce, &ask, &|_, reply| mode.judge(reply, tag))
}

/// A range, in leafid's own protocol. `ordered`: whether a range below earlier ones is refused.
///
/// More errors: `invalid_argument` and `segment_regressed` if the server returns them.
pub(crate) fn range(
    servers: &ServerPool,
    ordered: bool,
    request: &FetchRequest,
    nonce: u128,
) -> Result<Fetched> {
    let FetchRequest { tag, step, after, urgent } = request;
    let wire = RangeRequest { tag, step: *step, after: *after, ordered };
    servers.ask(tag, *urgent, nonce, &|nonce| wire.request(nonce), &|nonce, reply| wire.judge(reply, nonce))
}

/// A range of a tinyid. The token is tinyid's own, not a header.
pub(crate) fn tinyid(
    servers: &ServerPool,
    token: &str,
    request: &FetchRequest,
    nonce: u128,
) -> Result<Segment> {
    let FetchRequest { tag, urgent, .. } = request;
    let wire = TinyidRequest { tag, token };
    let is_empty = Cell::new(false);
    let fetched = servers.ask(tag, *urgent, nonce, &|nonce| wire.ids(nonce), &|_, reply| {
        let verdict = wire.judge_ids(reply);
        is_empty.set(matches!(verdict, Verdict::TryNext(_)));
        verdict
    });
    match fetched {
        // The other call returns the reason.
        Err(error) if is_empty.get() => {
            let (nonce, ask) = (nonce.wrapping_add(1 << 64), |nonce| wire.reason(nonce));
            let why = |_, reply: &_| wire.judge_reason(reply, &error);
            servers.ask::<Infallible>(tag, *urgent, nonce, &ask, &why).map(|never| match never {})
        }
        fetched => fetched,
    }
}
