//! The source of worker ids that are leased from servers, for URLs in `worker`.

#[cfg(feature = "http")]
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

#[cfg(feature = "http")]
use super::lease_client::LeaseClient;
use crate::WorkerSource;
#[cfg(feature = "http")]
use crate::config::http_options::opened;
use crate::worker::options::SnowflakeOptions;
use leafid_core::Result;

#[cfg(not(feature = "http"))]
pub(crate) fn source(
    said: &'static str,
    urls: Vec<String>,
    _: &str,
    _: &SnowflakeOptions,
) -> Result<WorkerSource> {
    let allowed = "a worker id, a range or a source: this leafid was built without the feature http";
    Err(leafid_core::Error::invalid(said, leafid_core::options::shown_urls(&urls), allowed))
}

/// The source of worker ids for these URLs and their options. `said` is the option or the environment variable with the
/// URLs, `name` the id space. It sends no request yet.
///
/// Errors: `invalid_argument`; `state_io` when the disk does not return the certificates in time.
#[cfg(feature = "http")]
pub(crate) fn source(
    said: &'static str,
    urls: Vec<String>,
    name: &str,
    options: &SnowflakeOptions,
) -> Result<WorkerSource> {
    // Only one call runs at a time.
    let requests = options.access.to(said, urls, 1)?;
    let name = name.to_owned();
    let open = move || LeaseClient::new(requests, name);
    let leases = opened("the certificates of ca_file, or of the system,", open)?;
    Ok(WorkerSource::servers(leases))
}
