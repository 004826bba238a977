//! The bound of every wait of a test.

use std::time::Duration;

/// Far longer than anything takes on a busy machine: only what never comes lasts so long.
pub(crate) const HANG: Duration = Duration::from_secs(900);
