//! The bound of every wait of a test.

use std::time::Duration;

/// Far longer than anything takes on a busy machine: only what never comes lasts so long.
pub(crate) const HANG: Duration = Duration::from_secs(900);

/// `timeout_ms` of calls that are to succeed: a disk that many others use takes seconds for a write.
#[allow(dead_code)]
pub(crate) const PATIENT_MS: i64 = 60_000;
