//! The settings of a run, all checked.

use crate::http::{HttpProxy, HttpServers};
use crate::options::{RunOptions, WorkerFrom};
use crate::server::ServersHealth;
use crate::snowflake::claim_errors::unusable_lease;
use crate::{Error, Layout, Rules};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The settings of a run. They do not change while it lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunSettings {
    /// The id space.
    pub name: String,
    /// The layout and epoch of its ids.
    pub layout: Layout,
    /// The rules as the user set them.
    pub rules: Rules,
    /// Which worker ids it may take.
    pub workers: Workers,
    /// Whether records are kept. Without them no call of a record is made.
    pub persist: bool,
    /// Whether the host lock of a worker id is taken. A host whose other generators cannot see it has none.
    pub locks_host: bool,
    /// The first tick above the user's `start_after`; 0 without one.
    pub start_after: u64,
    /// `timeout_ms`.
    pub timeout: Duration,
    /// Whether it is opened by its first id.
    pub lazy: bool,
    /// Whether the clocks of peers are asked for before each claim.
    pub peer_times: bool,
    /// Whether a write of a record ends on the event loop of the thread that asks for ids.
    pub disk_needs_loop: bool,
    /// Whether the leases of a callback end by themselves, as those of lease servers do. Then one whose worker id is held
    /// on this host is left to end, and another one is claimed: released, the same id would be leased again at once.
    pub leases_end: bool,
}

/// Which worker ids a run may take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Workers {
    /// Any id from the first to the last, both included; one id if they are equal.
    Within {
        /// The smallest id.
        first: u32,
        /// The largest id.
        last: u32,
    },
    /// What a callback of the user's returns: a worker id alone, or one with a lease.
    Callback {
        /// Whether worker ids come with leases, which are renewed and released.
        leases: bool,
    },
    /// What lease servers give.
    Servers {
        /// The servers.
        servers: Arc<HttpServers>,
        /// What is known of them: of a run before this one, or nothing.
        health: ServersHealth,
    },
}

impl RunSettings {
    /// The settings that these options mean. `proxy`: the proxy to a URL, if there is one. A host that takes no host locks,
    /// or writes on an event loop, says so in the settings afterwards.
    pub fn of(options: &RunOptions, proxy: impl FnMut(&str) -> Option<HttpProxy>) -> RunSettings {
        let workers = match &options.worker {
            WorkerFrom::Ids(ids) => Workers::Within { first: ids.first, last: ids.last },
            // Options of a claim never have `Later`: a host that claimed with them has no callback, and fails.
            WorkerFrom::Callback | WorkerFrom::Later => Workers::Callback { leases: false },
            WorkerFrom::Leases => Workers::Callback { leases: true },
            WorkerFrom::Servers(servers) => {
                let servers = HttpServers::of(servers, proxy);
                let health = ServersHealth::new(servers.servers.len());
                Workers::Servers { servers: Arc::new(servers), health }
            }
        };
        RunSettings {
            name: options.name.clone(),
            layout: options.layout,
            rules: options.rules,
            workers,
            persist: options.persist,
            locks_host: true,
            start_after: options.start,
            timeout: options.timeout,
            lazy: options.lazy,
            peer_times: options.asks_peer_times,
            disk_needs_loop: false,
            leases_end: false,
        }
    }
}

impl Workers {
    /// Whether a source gives the id, with each claim another one.
    pub(crate) fn of_source(&self) -> bool {
        !matches!(self, Workers::Within { .. })
    }

    /// The URLs of the servers that lease the ids; `None` for another source.
    pub(crate) fn urls(&self) -> Option<Vec<String>> {
        match self {
            Workers::Servers { servers, .. } => {
                Some(servers.servers.iter().map(|server| server.url.clone()).collect())
            }
            Workers::Within { .. } | Workers::Callback { .. } => None,
        }
    }

    /// Whether lease servers give the id.
    pub(crate) fn are_of_servers(&self) -> bool {
        matches!(self, Workers::Servers { .. })
    }

    /// The error for a lease that cannot be used.
    pub(crate) fn unusable(&self, error: Error) -> Error {
        match self.urls() {
            Some(urls) => unusable_lease(error, &urls),
            None => error,
        }
    }

    /// Whether ids come with leases, whose spans stay valid after this machine fails.
    pub(crate) fn leases(&self) -> bool {
        match self {
            Workers::Within { .. } => false,
            Workers::Callback { leases } => *leases,
            Workers::Servers { .. } => true,
        }
    }
}
