//! A worker id of this host, which the files and locks of the library guard: leafid's own generator.

use crate::clock::filtered_ms;
use crate::ids::Ids;
use crate::leases::Leases;
use crate::options::{Options, ids as shown};
use crate::snowflake::blocking::blocking;
use leafid::Snowflake;
use leafid_core::Result;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The generator of one of this host's worker ids.
pub(crate) struct LocalSnowflake {
    flake: Arc<Snowflake>,
    worker_id: i64,
}

impl LocalSnowflake {
    /// Takes a worker id that no other process of this host has, and that the store has not leased.
    ///
    /// Errors: `worker_in_use`; those of the library's opening; `segment_unavailable` if the store does not answer.
    pub(super) async fn open(
        options: &Options,
        ids: &RangeInclusive<i64>,
        leases: &Leases,
    ) -> Result<LocalSnowflake> {
        leases.check_unleased(&options.snowflake_name, ids, filtered_ms()).await?;
        let timeout_ms = i64::try_from(options.timeout_ms).unwrap_or(i64::MAX);
        let builder = Snowflake::builder().worker(shown(ids)).name(&options.snowflake_name);
        let mut builder = builder.timeout_ms(timeout_ms);
        if let Some(folder) = &options.state_dir {
            builder = builder.state_dir(folder);
        }
        let (flake, worker_id) = blocking(move || {
            let flake = builder.open()?;
            let worker_id = flake.worker_id()?;
            Ok((flake, worker_id))
        })
        .await?;
        let name = &options.snowflake_name;
        log::info!("this server's own snowflakes have worker id {worker_id} of {name:?}, of this host alone");
        Ok(LocalSnowflake { flake: Arc::new(flake), worker_id: worker_id.into() })
    }

    pub(super) fn worker_id(&self) -> i64 {
        self.worker_id
    }

    /// Makes `n` ids. Errors: those of the library.
    pub(super) async fn take(&self, n: usize) -> Result<Ids> {
        let mut ids = Vec::with_capacity(n);
        ids.extend(std::iter::from_fn(|| self.flake.try_next()).take(n));
        let rest = n - ids.len();
        if rest > 0 {
            // It waits for the next tick, or for the disk.
            let flake = self.flake.clone();
            ids.extend(blocking(move || flake.take(rest)).await?);
        }
        Ok(ids.into_iter().collect())
    }

    pub(super) async fn close(&self) {
        let flake = self.flake.clone();
        if let Err(error) = blocking(move || flake.close()).await {
            log::warn!("the worker id {} was not closed: {error}", self.worker_id);
        }
    }
}
