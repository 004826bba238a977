//! The source of worker ids that are leased from servers, for URLs in `worker`.

#[cfg(feature = "http")]
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

#[cfg(feature = "http")]
use super::lease_client::LeaseClient;
use crate::WorkerSource;
#[cfg(feature = "http")]
use crate::config::http_options::{certificates, opened};
#[cfg(feature = "http")]
use crate::http::HttpOptions;
use leafid_core::Result;
use leafid_core::options::ServerOptions;
use std::path::PathBuf;

#[cfg(not(feature = "http"))]
pub(crate) fn source(servers: &ServerOptions, _: &str, _: Option<PathBuf>) -> Result<WorkerSource> {
    let allowed = "a worker id, a range or a source: this leafid was built without the feature http";
    Err(leafid_core::Error::invalid(servers.said, leafid_core::options::shown_urls(&servers.urls), allowed))
}

/// The source of worker ids for these servers. `name`: the id space. It sends no request yet.
///
/// Errors: `invalid_argument`; `state_io` when the disk does not return the certificates in time.
#[cfg(feature = "http")]
pub(crate) fn source(servers: &ServerOptions, name: &str, ca_file: Option<PathBuf>) -> Result<WorkerSource> {
    // Only one call runs at a time.
    let options = HttpOptions { servers: ServerOptions { connections: 1, ..servers.clone() }, ca_file };
    let name = name.to_owned();
    let open = move || LeaseClient::new(options, name);
    let leases = opened(&certificates(), open)?;
    Ok(WorkerSource::servers(leases))
}
