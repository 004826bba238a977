//! What the host has of a source: what carries out the calls to it.

use super::callback::SegmentSource;
use super::file::FileSource;
#[cfg(feature = "http")]
use crate::config::http_options::certificates;
use crate::config::http_options::opened;
#[cfg(feature = "http")]
use crate::http::{HttpOptions, ServerPool};
use crate::os::env::{self, Sharing};
use crate::segments::options::SegmentsOptions;
#[cfg(feature = "http")]
use leafid_core::options::ServerOptions;
use leafid_core::options::{SupplyFrom, SupplyOptions};
use leafid_core::supply::Source;
use leafid_core::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// A source as it was opened.
pub(crate) enum HostSource {
    Callback(SegmentSource),
    Counters(FileSource),
    #[cfg(feature = "http")]
    Servers(Arc<ServerPool>),
}

impl HostSource {
    /// The source that the options name, and what the supply knows of it. It reads files and the environment.
    ///
    /// Errors: `invalid_argument`; those of opening the source.
    pub(crate) fn open(
        options: &SupplyOptions,
        set: &SegmentsOptions,
        sharing: Sharing,
    ) -> Result<(HostSource, Source)> {
        if let Some(source) = &set.code.source {
            let of_supply = Source::Callback { is_deferred: source.is_deferred() };
            return Ok((HostSource::Callback(source.clone()), of_supply));
        }
        if let SupplyFrom::File { path, create, tags } = &options.from {
            let (env, path) = (Arc::clone(env::of_process()), PathBuf::from(path));
            let (create, tags) = (*create, tags.clone());
            let open = move || FileSource::open(env, &path, create, &tags, sharing);
            let source = opened("the directory of the counters", open)?;
            let of_supply = source.of_supply();
            return Ok((HostSource::Counters(source), of_supply));
        }
        #[cfg(feature = "http")]
        if let Some(servers) = options.from.servers() {
            let token = options.from.header_token().map(Into::into);
            let http = HttpOptions {
                servers: ServerOptions { token, ..servers.clone() },
                ca_file: set.path_or_variable("ca_file"),
            };
            let open = move || ServerPool::new(http);
            let servers = opened(&certificates(), open)?;
            if let Some(of_supply) = Source::of_servers(options, servers.servers()) {
                return Ok((HostSource::Servers(Arc::new(servers)), of_supply));
            }
        }
        let urls = options.from.servers().map(|servers| &servers.urls[..]).unwrap_or_default();
        let allowed = "file:DIR: this leafid was built without the feature http";
        Err(Error::invalid("servers", leafid_core::options::shown_urls(urls), allowed))
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_idle(&self) {
        #[cfg(feature = "http")]
        if let HostSource::Servers(servers) = self {
            servers.close_idle();
        }
    }

    /// Ends the running requests; later ones are refused.
    pub(crate) fn close(&self) {
        #[cfg(feature = "http")]
        if let HostSource::Servers(servers) = self {
            servers.close();
        }
    }
}
