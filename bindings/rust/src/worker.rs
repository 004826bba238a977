//! Worker ids: where they come from, and how a host carries out what a generator's machine asks for.

pub(crate) mod lease_cache;
#[cfg(feature = "http")]
pub(crate) mod lease_client;
pub(crate) mod lease_servers;
pub(crate) mod leases;
pub(crate) mod options;
pub(crate) mod peer_clocks;
pub(crate) mod place;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line resets"))]
pub(crate) mod reset;
pub(crate) mod run_calls;
pub(crate) mod settings;
pub(crate) mod source;
pub(crate) mod worker_ids;
pub(crate) mod worker_locks;
