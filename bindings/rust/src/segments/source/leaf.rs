//! The client of unmodified Leaf servers.

use super::callback::SegmentSource;
use super::dialect::Dialect;
use super::single_ids::Singles;
use crate::http::{HttpOptions, ServerPool};
use crate::os::env::Env;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{Result, Segment};
use std::sync::Arc;

/// The servers of one Leaf.
pub(crate) struct LeafServers {
    http: ServerPool,
    mode: LeafMode,
    env: Arc<Env>,
}

impl LeafServers {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, mode: LeafMode, env: Arc<Env>) -> Result<LeafServers> {
        Ok(LeafServers { http: ServerPool::new(options)?, mode, env })
    }

    /// The source for these servers: single ids, fetched over this number of connections.
    pub(crate) fn source(self: &Arc<Self>, connections: usize) -> SegmentSource {
        let servers = Arc::clone(self);
        let each = self.mode.each() as u64;
        SegmentSource::later(Singles::new(each, connections, move |tag| servers.get(tag)))
    }

    /// Sends one request. Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`.
    pub(crate) fn get(&self, tag: &str) -> Result<Segment> {
        let ask = |nonce| self.mode.request(tag, nonce);
        // A caller may start to wait during the request.
        self.http.ask(tag, true, self.env.number()?, &ask, &|_, reply| self.mode.judge(reply, tag))
    }
}

impl Dialect for LeafServers {
    fn http(&self) -> &ServerPool {
        &self.http
    }

    fn check_tag(&self, tag: &str) -> Result<()> {
        self.mode.check_tag(tag)
    }
}
