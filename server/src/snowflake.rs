//! The server's own snowflake: its worker id is leased from the store, or is one of this host alone.

mod blocking;
mod leased;
mod local;

use crate::holder::Holder;
use crate::ids::Ids;
use crate::leases::Leases;
use crate::options::Options;
use leafid_core::Result;
use leased::LeasedSnowflake;
use local::LocalSnowflake;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The snowflake of a server.
pub(crate) enum OwnSnowflake {
    Leased(Arc<LeasedSnowflake>),
    Local(LocalSnowflake),
}

impl OwnSnowflake {
    /// Takes a worker id of this host, or prepares to lease one. Errors: those of a worker id of this host.
    ///
    /// `holder`: who this server is.
    pub(crate) async fn open(options: &Options, leases: &Leases, holder: &Holder) -> Result<OwnSnowflake> {
        match &options.snowflake_local {
            Some(ids) => LocalSnowflake::open(options, ids, leases).await.map(OwnSnowflake::Local),
            None => Ok(OwnSnowflake::Leased(LeasedSnowflake::new(options, leases.clone(), holder.text()))),
        }
    }

    /// The worker id that it holds.
    pub(crate) fn worker_id(&self) -> Option<i64> {
        match self {
            OwnSnowflake::Leased(leased) => leased.worker_id(),
            OwnSnowflake::Local(local) => Some(local.worker_id()),
        }
    }

    /// Makes `n` ids. Errors: `clock_backwards`; `worker_lost` without a lease until the deadline; `state_io`.
    pub(crate) async fn take(&self, n: usize, limit: Duration) -> Result<Ids> {
        match self {
            OwnSnowflake::Leased(leased) => leased.take(n, limit).await,
            OwnSnowflake::Local(local) => local.take(n).await,
        }
    }

    /// Holds its worker id until `stop` says so.
    pub(crate) async fn run(&self, stop: watch::Receiver<bool>) {
        match self {
            OwnSnowflake::Leased(leased) => leased.run(stop).await,
            // The library holds it.
            OwnSnowflake::Local(_) => {}
        }
    }

    /// No further id is made.
    pub(crate) async fn close(&self) {
        if let OwnSnowflake::Local(local) = self {
            local.close().await;
        }
    }
}
