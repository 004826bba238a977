//! The cache of a worker id's lease, beside its record: a start without a reachable server uses a span that is still
//! held.
//!
//! A process may use the cached lease if it holds the lock of the worker's record and core `format/cached_lease.rs`
//! allows it.
//! Before a release is sent, the cached lease is made invalid, durably and under that lock, because the server may then
//! lease the id to another process.

use crate::os::env::{Env, FileAccess, FileId};
use crate::storage::shared_file::{self, SharedFile, Stored};
use crate::storage::state_file::{self, IdSpace};
use crate::worker::settings::{Key, SnowflakeSettings};
use leafid_core::format::cached_lease::{CachedLease, LeaseBinding, LeaseFile, LeaseSeeker, latest_first};
use leafid_core::{Code, Lease, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

impl Stored for LeaseFile {}

fn path_of(directory: &Path, worker_id: u32) -> PathBuf {
    directory.join(format!("worker-{worker_id}.lease"))
}

/// The cache of one run's lease.
pub(crate) struct LeaseCache {
    env: Arc<Env>,
    path: PathBuf,
    empty: LeaseFile,
    owner: u128,
    /// The identity of the file, once it was written.
    file: Option<FileId>,
    /// Whether it was already logged that others may open the file.
    warned: bool,
}

impl LeaseCache {
    /// `owner` is the run, by its record. `None` where leases are not cached: leases without servers or without a
    /// record, and directories where a copy of a file can have its identity.
    pub(crate) fn new(
        env: &Arc<Env>,
        settings: &SnowflakeSettings,
        worker_id: u32,
        owner: u128,
    ) -> Option<LeaseCache> {
        let Key { space: IdSpace { name, .. }, workers, persist, .. } = &settings.key;
        let (_, servers) = workers.source()?.as_servers().filter(|_| *persist)?;
        let empty = LeaseFile::empty(name, worker_id, servers);
        let empty = empty.inspect_err(|text| log::warn!("leafid: {text}")).ok()?;
        let path = path_of(&settings.directory, worker_id);
        Some(LeaseCache { env: Arc::clone(env), path, empty, owner, file: None, warned: false })
    }

    /// Makes the held lease durable. `ends` is its end, by the boot time. Errors: `state_io`, `state_corrupt`,
    /// `state_mismatch`; `segment_unavailable` when other processes hold the file's lock too long.
    pub(crate) fn store(&mut self, lease: &Lease, ends: Duration) -> Result<()> {
        let boot = self.env.clock.boot_id();
        if !CachedLease::is_cacheable(lease, &boot) || !tells_copies(&self.env, &self.path) {
            return Ok(());
        }
        // A process with the token can renew and release the lease.
        let mut store = SharedFile::open(&self.env, self.path.clone(), &self.empty, FileAccess::Private)?;
        let id = store.id()?;
        if self.file != Some(id) && self.is_open_to_others(&store)? {
            return Ok(());
        }
        let bound = LeaseBinding { boot: &boot, owner: self.owner, file: id };
        let stamp = |file: &mut LeaseFile| {
            file.held = CachedLease::new(lease, ends, &bound, self.env.clock.filtered_ms());
        };
        let is_stamp = |file: &LeaseFile, changed_ms| {
            file.held.as_ref().is_some_and(|held| held.is_as_written(changed_ms))
        };
        // After an error the file may hold the old or the new content.
        self.file = Some(id);
        store.write_stamped(&mut self.empty.clone(), stamp, is_stamp)
    }

    /// Whether the file may be open to other users, such as a restored one or one with a changed mode. To make it
    /// private now would close no descriptor of theirs. Logged once.
    fn is_open_to_others(&mut self, store: &SharedFile<LeaseFile>) -> Result<bool> {
        let others = store.others_bits()?;
        if others != 0 && !self.warned {
            self.warned = true;
            log::warn!(
                "leafid: {} may be opened by other users of the host (its mode ends in {others:03o}), so the lease of \
                 worker id {} is not cached; delete the file, or see that the file system keeps the mode 0600",
                self.path.display(),
                self.empty.worker_id
            );
        }
        Ok(others != 0)
    }

    /// Makes the cached lease invalid, durably. After an error it may still be used. Errors: as [`LeaseCache::store`].
    pub(crate) fn invalidate(&self) -> Result<()> {
        let lost = || {
            let error = io::Error::other("it was deleted, moved or replaced meanwhile");
            Err(state_file::failed("write", &self.path, &error))
        };
        let mut store = match SharedFile::<LeaseFile>::open_existing(&self.env, self.path.clone()) {
            Ok(Some(store)) => store,
            Ok(None) if self.file.is_none() => return Ok(()),
            Ok(None) => return lost(),
            // Nobody can use a corrupt file that this run did not write.
            Err(error) if error.code() == Code::StateCorrupt && self.file.is_none() => return Ok(()),
            Err(error) => return Err(error),
        };
        // A file that this run wrote, and that was moved away, may come back.
        if self.file.is_some() && self.file != Some(store.id()?) {
            return lost();
        }
        match LeaseFile::needs_invalidation(store.found()) {
            true => store.write(&self.empty),
            false => Ok(()),
        }
    }
}

/// The worker ids of this directory whose cached leases of these servers seem usable, with the latest end first. It is
/// a hint: each must be checked again under the lock of its record.
pub(crate) fn candidates(env: &Env, settings: &SnowflakeSettings, servers: &[String]) -> Vec<u32> {
    let Ok(names) = env.disk.list(&settings.directory) else { return Vec::new() };
    let boot = env.clock.boot_id();
    let seeker = seeker(env, settings, servers, &boot);
    latest_first(names.iter().filter_map(|name| {
        let id: u32 = name.to_str()?.strip_prefix("worker-")?.strip_suffix(".lease")?.parse().ok()?;
        let found = shared_file::peek::<LeaseFile>(env, &path_of(&settings.directory, id)).ok()??;
        Some((seeker.hint(&found.content, id)?, id))
    }))
}

/// The usable lease of a worker id, and the boot time before it was requested. The caller holds the lock of the record;
/// `owner` wrote the record last. Errors: as [`LeaseCache::store`].
pub(crate) fn find_cached(
    env: &Env,
    settings: &SnowflakeSettings,
    servers: &[String],
    worker_id: u32,
    owner: u128,
) -> Result<Option<(Lease, Duration)>> {
    let path = path_of(&settings.directory, worker_id);
    let Some(store) = SharedFile::<LeaseFile>::open_existing(env, path.clone())? else { return Ok(None) };
    // The clocks are read only now, under the locks: the wait for them may have lasted longer than the lease.
    let boot = env.clock.boot_id();
    let held = seeker(env, settings, servers, &boot).still_held(store.found(), worker_id);
    let Some(held) = held.filter(|_| tells_copies(env, &path)) else { return Ok(None) };
    match held.is_bound(store.id()?, owner, store.changed_ms()?) {
        true => Ok(held.lease(worker_id)),
        false => Ok(None),
    }
}

#[cfg(fuzzing)]
pub(crate) fn rewrite(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    shared_file::rewrite::<LeaseFile>(bytes)
}

/// A start that looks for a cached lease now. `boot` is the start of the machine.
fn seeker<'s>(
    env: &Env,
    settings: &'s SnowflakeSettings,
    servers: &'s [String],
    boot: &'s str,
) -> LeaseSeeker<'s> {
    let boot_time_ms = env.clock.boot_time().as_millis() as i64;
    LeaseSeeker {
        name: &settings.key.space.name,
        servers,
        boot,
        boot_time_ms,
        now_ms: env.clock.filtered_ms(),
    }
}

/// Whether a copy of a file in this directory can be detected.
fn tells_copies(env: &Env, path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| env.disk.directory(directory, FileAccess::Own).ok());
    directory.is_some_and(|(_, fs)| fs.tells_copies())
}
