//! The clocks of peers, which a user callback returns.

use crate::tasks::user_calls::Answer;
use leafid_core::{PEERS_THRESHOLD_MS, Result, peers_agree};
use std::fmt;
use std::sync::Arc;

/// The user callback.
#[derive(Clone)]
pub(crate) struct PeerTimes(Arc<dyn Fn() -> Answer<Vec<i64>> + Send + Sync>);

impl PeerTimes {
    pub(crate) fn new(ask: impl Fn() -> Answer<Vec<i64>> + Send + Sync + 'static) -> PeerTimes {
        PeerTimes(Arc::new(ask))
    }

    /// Calls the callback and compares its clocks with this clock, which is read before and after the call.
    ///
    /// Errors: `clock_backwards`; `invalid_argument` if the callback returns it. Any other failure is logged:
    /// unreachable peers must not prevent a start.
    pub(crate) fn check(&self, now_ms: impl Fn() -> i64) -> Result<()> {
        let before_ms = now_ms();
        let samples_ms = match (self.0)() {
            Ok(samples_ms) => samples_ms,
            Err(error) => match error.downcast::<leafid_core::Error>() {
                Ok(error) if error.code() == leafid_core::Code::InvalidArgument => return Err(*error),
                Ok(error) => return warn(&*error),
                Err(error) => return warn(&*error),
            },
        };
        // Either reading may fit, because a slow callback is not a wrong clock.
        peers_agree(before_ms, &samples_ms, PEERS_THRESHOLD_MS)
            .or_else(|_| peers_agree(now_ms(), &samples_ms, PEERS_THRESHOLD_MS))
    }
}

fn warn(error: &dyn fmt::Display) -> Result<()> {
    log::warn!("leafid: the clocks of the peers are not known: {error}; the start continues without them");
    Ok(())
}

impl fmt::Debug for PeerTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerTimes")
    }
}
