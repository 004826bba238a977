//! The cache of a worker id's lease, beside its record: a start without a reachable server uses a span that is still
//! held.
//!
//! A process may use the cached lease if it holds the lock of the worker's record and all of this is true: the run of
//! the lease wrote the record last, in the same start of the machine; the file is the same; the lease has not ended.
//! Before a release is sent, the cached lease is made invalid, durably and under that lock, because the server may then
//! lease the id to another process.

use crate::os::env::{Env, FileAccess, FileId};
use crate::os::filesystem_kind::FilesystemKind;
use crate::storage::shared_file::{self, Content, SharedFile};
use crate::storage::state_file::{self, IdSpace};
use crate::worker::settings::{Key, SnowflakeSettings};
use leafid_core::{Code, Error, Lease, Result};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The content of a cache file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CacheFile {
    name: String,
    worker_id: u32,
    servers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<CachedLease>,
}

/// A lease and the facts that it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CachedLease {
    from_ms: i64,
    until_ms: i64,
    lease_ms: i64,
    token: String,
    /// The end of the lease, by the boot time of this start of the machine.
    ends_ms: i64,
    boot: String,
    /// The run that holds it, by its record.
    owner: String,
    /// The time of the clock at the write.
    written_ms: i64,
    device: u64,
    inode: u64,
}

impl Content for CacheFile {
    const KIND: &'static str = "lease";
    const ADVICE: &'static str = "Move it away by hand: then a start needs a lease server";

    fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
        state_file::failed(doing, path, error)
    }
}

/// The largest size of the servers' URLs: with the longest token they fit into a slot.
const MOST_SERVERS_BYTES: usize = 1_200;
/// How often it is written if a busy machine takes too long for a write.
const SAVES: usize = 5;

fn path_of(directory: &Path, worker_id: u32) -> PathBuf {
    directory.join(format!("worker-{worker_id}.lease"))
}

/// The cache of one run's lease.
pub(crate) struct LeaseCache {
    env: Arc<Env>,
    path: PathBuf,
    empty: CacheFile,
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
        let bytes: usize = servers.iter().map(String::len).sum();
        if bytes > MOST_SERVERS_BYTES {
            log::warn!(
                "leafid: the URLs of the lease servers have {bytes} bytes: a lease is not remembered with them"
            );
            return None;
        }
        let servers = servers.to_vec();
        let empty = CacheFile { name: name.clone(), worker_id, servers, held: None };
        let path = path_of(&settings.directory, worker_id);
        Some(LeaseCache { env: Arc::clone(env), path, empty, owner, file: None, warned: false })
    }

    /// Makes the held lease durable. `ends` is its end, by the boot time. Errors: `state_io`, `state_corrupt`,
    /// `state_mismatch`; `segment_unavailable` when other processes hold the file's lock too long.
    pub(crate) fn store(&mut self, lease: &Lease, ends: Duration) -> Result<()> {
        let boot = self.env.clock.boot_id();
        let (Some(lease_ms), Some(token)) = (lease.lease_ms, lease.token.clone()) else { return Ok(()) };
        if boot.is_empty() || !tells_copies(&self.env, &self.path) {
            return Ok(());
        }
        // A process with the token can renew and release the lease.
        let mut store = SharedFile::open(&self.env, self.path.clone(), &self.empty, FileAccess::Private)?;
        let id = store.id()?;
        if self.file != Some(id) && self.is_open_to_others(&store)? {
            return Ok(());
        }
        for _ in 0..SAVES {
            let held = CachedLease {
                from_ms: lease.from_ms,
                until_ms: lease.until_ms,
                lease_ms,
                token: token.clone(),
                ends_ms: ends.as_millis() as i64,
                boot: boot.clone(),
                owner: hex(self.owner),
                written_ms: self.env.clock.filtered_ms(),
                device: id.0,
                inode: id.1,
            };
            let written_ms = held.written_ms;
            // After an error the file may hold the old or the new content.
            self.file = Some(id);
            store.write(&CacheFile { held: Some(held), ..self.empty.clone() })?;
            // If the times never agree, such as with a faked clock, a later reader ignores the file.
            if shared_file::is_stamp_of(store.changed_ms()?, written_ms) {
                break;
            }
        }
        Ok(())
    }

    /// Whether the file may be open to other users, such as a restored one or one with a changed mode. To make it
    /// private now would close no descriptor of theirs. Logged once.
    fn is_open_to_others(&mut self, store: &SharedFile<CacheFile>) -> Result<bool> {
        let others = store.others_bits()?;
        if others != 0 && !self.warned {
            self.warned = true;
            log::warn!(
                "leafid: {} may be opened by other users of the host (its mode ends in {others:03o}), so the lease of \
                 worker id {} is not remembered; delete the file, or see that the file system keeps the mode 0600",
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
        let mut store = match SharedFile::<CacheFile>::open_existing(&self.env, self.path.clone()) {
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
        match &store.found().content.held {
            None if !store.found().damaged => Ok(()),
            _ => store.write(&self.empty),
        }
    }
}

/// The worker ids of this directory whose cached leases of these servers seem usable, with the latest end first. It is
/// a hint: each must be checked again under the lock of its record.
pub(crate) fn candidates(env: &Env, settings: &SnowflakeSettings, servers: &[String]) -> Vec<u32> {
    let Ok(names) = env.disk.list(&settings.directory) else { return Vec::new() };
    let ids = names.iter().filter_map(|name| {
        let id: u32 = name.to_str()?.strip_prefix("worker-")?.strip_suffix(".lease")?.parse().ok()?;
        let found = shared_file::peek::<CacheFile>(env, &path_of(&settings.directory, id)).ok()??;
        let held = found.content.of(&settings.key.space.name, id, servers)?;
        held.is_now(env).then_some((held.ends_ms, id))
    });
    let mut ids: Vec<(i64, u32)> = ids.collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.into_iter().map(|(_, id)| id).collect()
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
    let Some(store) = SharedFile::<CacheFile>::open_existing(env, path.clone())? else { return Ok(None) };
    let found = store.found();
    let bound = |held: &CachedLease| {
        let file = (held.device, held.inode);
        let untouched = shared_file::is_stamp_of(store.changed_ms()?, held.written_ms);
        Ok::<_, Error>(untouched && file == store.id()? && held.owner == hex(owner))
    };
    // An unreadable slot may have said that the lease was released.
    let held = found.content.of(&settings.key.space.name, worker_id, servers).filter(|_| !found.damaged);
    let Some(held) = held.filter(|held| held.is_now(env) && tells_copies(env, &path)) else {
        return Ok(None);
    };
    if !bound(held)? {
        return Ok(None);
    }
    Ok(held.asked().map(|asked| (held.lease(worker_id), asked)))
}

#[cfg(fuzzing)]
pub(crate) fn again(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    shared_file::rewrite::<CacheFile>(bytes)
}

impl CacheFile {
    /// The lease of these servers in this id space.
    fn of(&self, name: &str, worker_id: u32, servers: &[String]) -> Option<&CachedLease> {
        let theirs = self.name == name && self.worker_id == worker_id && self.servers == servers;
        self.held.as_ref().filter(|_| theirs)
    }
}

impl CachedLease {
    /// Whether the lease has not ended, by either clock.
    fn is_now(&self, env: &Env) -> bool {
        let same_start = !self.boot.is_empty() && self.boot == env.clock.boot_id();
        let counted_ms = env.clock.boot_time().as_millis() as i64;
        same_start && counted_ms < self.ends_ms && env.clock.filtered_ms() < self.until_ms
    }

    fn asked(&self) -> Option<Duration> {
        let asked_ms = self.ends_ms.checked_sub(self.lease_ms)?;
        u64::try_from(asked_ms).ok().map(Duration::from_millis)
    }

    fn lease(&self, worker_id: u32) -> Lease {
        Lease {
            worker_id: worker_id.into(),
            from_ms: self.from_ms,
            until_ms: self.until_ms,
            lease_ms: Some(self.lease_ms),
            token: Some(self.token.clone()),
            peer_times_ms: Vec::new(),
        }
    }
}

/// Whether a copy of a file in this directory can be detected. In the layers of a container a copy can have its
/// identity. On a network, the kernel's times are those of another machine.
fn tells_copies(env: &Env, path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| env.disk.directory(directory, FileAccess::Own).ok());
    directory.is_some_and(|(_, fs)| fs.kind == FilesystemKind::Local || fs.name == "tmpfs")
}

fn hex(owner: u128) -> String {
    format!("{owner:032x}")
}
