//! The cache of one run's lease, as its holder knows it.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | no file | `written`: its write may have begun | a file of this run's |
//! | any | `written`: other users may open the file | the same; warned of once |
//!
//! Before a release is sent, [`LeaseCache::drop_lease`] ends with success.

use crate::format::cached_lease::{CachedLease, LeaseFile};
use crate::run::cache_drop::CacheDrop;
use crate::run::cache_write::{CacheOutcome, CacheWrite, CacheWritten};
use crate::{Lease, Result};
use alloc::format;
use alloc::string::String;
use core::time::Duration;

/// The cache of one run's lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseCache {
    empty: LeaseFile,
    owner: u128,
    /// The identity of the file, once it was written.
    file: Option<(u64, u64)>,
    /// Whether it was already logged that others may open the file.
    warned: bool,
}

impl LeaseCache {
    /// `owner` is the run, by its record. The error is a text to log: with these servers no lease is cached.
    pub fn new(
        name: &str,
        worker_id: u32,
        servers: &[String],
        owner: u128,
    ) -> core::result::Result<LeaseCache, String> {
        let empty = LeaseFile::empty(name, worker_id, servers)?;
        Ok(LeaseCache { empty, owner, file: None, warned: false })
    }

    /// Asks for the held lease to be made durable. `ends` is its end by the boot time, `boot` the start of the machine.
    /// `None` for a lease that cannot be cached. No other call for this file may be under way.
    pub fn write(&self, lease: &Lease, ends: Duration, boot: &str) -> Option<CacheWrite> {
        CachedLease::is_cacheable(lease, boot)
            .then(|| CacheWrite::new(&self.empty, (lease, ends), boot, self.owner, self.file))
    }

    /// A write ended. Returns a text to log, as a warning. Errors: the write's; the lease may be cached all the same.
    pub fn written(&mut self, end: CacheWritten) -> Result<Option<String>> {
        self.file = end.file.or(self.file);
        let CacheOutcome::OpenToOthers(bits) = end.result? else { return Ok(None) };
        let warns = !self.warned;
        self.warned = true;
        Ok(warns.then(|| {
            format!(
                "{} may be opened by other users of the host (its mode ends in {bits:03o}), so the lease of worker id \
                 {} is not cached; delete the file, or see that the file system keeps the mode 0600",
                end.path, self.empty.worker_id
            )
        }))
    }

    /// Asks for the cached lease to be made invalid.
    pub fn drop_lease(&self) -> CacheDrop {
        CacheDrop::new(&self.empty, self.file)
    }
}
