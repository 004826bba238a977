//! A chosen source and its properties.

use super::callback::SegmentSource;
use super::file::FileSource;
#[cfg(feature = "http")]
use crate::http::ServerPool;
use leafid_core::IdOrder;
use leafid_core::supply::Source;
#[cfg(feature = "http")]
use std::sync::Arc;

/// A source and its properties.
pub(crate) struct SourceProperties {
    /// What the host has of it.
    pub(crate) host: HostSource,
    /// What the supply knows of it.
    pub(crate) of_supply: Source,
    /// The order of its ids.
    pub(crate) order: IdOrder,
    /// The number of concurrent requests.
    pub(crate) threads: usize,
}

/// What carries out the calls to a source.
pub(crate) enum HostSource {
    Callback(SegmentSource),
    Counters(FileSource),
    #[cfg(feature = "http")]
    Servers(Arc<ServerPool>),
}

impl HostSource {
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
