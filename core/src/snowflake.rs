//! Snowflake ids: spans of ticks, the generator that issues ids within them, and their record.

pub(crate) mod action;
pub(crate) mod claim_errors;
pub(crate) mod claim_search;
pub(crate) mod extension;
pub(crate) mod generator;
pub(crate) mod history;
pub(crate) mod lease;
pub(crate) mod lease_claims;
pub(crate) mod lease_loss;
pub(crate) mod lease_schedule;
pub(crate) mod record;
pub(crate) mod rules;
pub(crate) mod span;
pub(crate) mod start;
pub(crate) mod tick_runs;

#[cfg(feature = "parts")]
pub use claim_errors::{HeldId, OfflineRefusal, unusable_lease};
pub use claim_search::{ClaimAction, ClaimSearch};
#[cfg(feature = "parts")]
pub use claim_search::{ClaimCandidates, ClaimPatience};
pub use lease::{PEERS_THRESHOLD_MS, peers_agree};
pub use lease_schedule::SPAN_WISH_MS;
#[cfg(feature = "parts")]
pub use record::{Admission, MOST_FORMER, MOST_SKIPPED};
pub use rules::LONGEST_SPAN_MS;
#[cfg(feature = "parts")]
pub use start::{Start, StartAction};
