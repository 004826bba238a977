//! The opening of what servers need.

use crate::tasks::with_timeout;
use leafid_core::Result;
#[cfg(feature = "http")]
use leafid_core::options::Named;
use std::time::Duration;

/// How long the disk may take to open a directory or to read certificates.
const OPENS_WITHIN: Duration = Duration::from_secs(2);

/// What [`opened`] calls the certificates for servers.
#[cfg(feature = "http")]
pub(crate) fn certificates() -> String {
    format!("the certificates of {}, or of the system,", Named("ca_file"))
}

/// Opens on its own thread something that the disk may delay.
pub(crate) fn opened<T: Send + 'static>(
    what: &str,
    open: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    with_timeout::run_on_disk(OPENS_WITHIN, what, "see the disk, then try again", open)
}
