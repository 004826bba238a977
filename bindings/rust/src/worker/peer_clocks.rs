//! The clocks of peers, which a user callback returns.

use crate::tasks::user_calls::{Answer, guarded};
use leafid_core::run::{PeersCall, RunCallEnd};
use std::fmt;
use std::sync::Arc;

/// The user callback.
#[derive(Clone)]
pub(crate) struct PeerTimes(Arc<dyn Fn() -> Answer<Vec<i64>> + Send + Sync>);

impl PeerTimes {
    pub(crate) fn new(ask: impl Fn() -> Answer<Vec<i64>> + Send + Sync + 'static) -> PeerTimes {
        PeerTimes(Arc::new(ask))
    }

    pub(crate) fn ask(&self, call: PeersCall) -> RunCallEnd {
        call.end(guarded(|| (self.0)()))
    }
}

impl fmt::Debug for PeerTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerTimes")
    }
}
