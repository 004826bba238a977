//! Worker ids: where they come from, and how a generator claims and holds one.

pub(crate) mod acquire;
pub(crate) mod claim;
pub(crate) mod grant;
pub(crate) mod lease_cache;
#[cfg(feature = "http")]
pub(crate) mod lease_client;
pub(crate) mod lease_servers;
pub(crate) mod leases;
pub(crate) mod offline_start;
pub(crate) mod options;
pub(crate) mod peer_clocks;
pub(crate) mod renewable_lease;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line resets"))]
pub(crate) mod reset;
pub(crate) mod settings;
pub(crate) mod source;
pub(crate) mod worker_ids;
