//! The lease of a worker id, cached beside its record: a start while no server can be reached uses a span that is still
//! held.
//!
//! The cached lease is used by the process that holds the lock of the worker's record, if the same run wrote the record
//! last, since the same start of the machine, in the same file, and before the lease ends. It is made invalid, durably and
//! under that lock, before a release is sent: after that the server may lease the id to another.

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

/// A lease, and what it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CachedLease {
    from_ms: i64,
    until_ms: i64,
    lease_ms: i64,
    token: String,
    /// When it ends, by the suspend-counting clock, which counts from this start of the machine.
    ends_ms: i64,
    boot: String,
    /// The run that holds it, as its record says.
    owner: String,
    /// The clock when this was written.
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

/// The URLs of servers fit a slot, together with the longest token.
const MOST_SERVERS_BYTES: usize = 1_200;
/// So often it is written, on a machine that is too busy to do it at once.
const SAVES: usize = 5;

fn path_of(directory: &Path, worker_id: u32) -> PathBuf {
    directory.join(format!("worker-{worker_id}.lease"))
}

/// Where the lease of one run is cached.
pub(crate) struct LeaseCache {
    env: Arc<Env>,
    path: PathBuf,
    empty: CacheFile,
    owner: u128,
    /// The file, once it was written.
    file: Option<FileId>,
    /// That others may open the file was logged.
    warned: bool,
}

impl LeaseCache {
    /// `owner`: the run, as its record says. None where leases are not cached: those that come from no server, those without
    /// a record, and where a copy of a file can have its identity.
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

    /// Makes durable what is held; `ends`: when, by the suspend-counting clock. Errors: `state_io`, `state_corrupt`,
    /// `state_mismatch`, `segment_unavailable` when others hold the file's lock too long.
    pub(crate) fn store(&mut self, lease: &Lease, ends: Duration) -> Result<()> {
        let boot = self.env.clock.boot_id();
        let (Some(lease_ms), Some(token)) = (lease.lease_ms, lease.token.clone()) else { return Ok(()) };
        if boot.is_empty() || !tells_copies(&self.env, &self.path) {
            return Ok(());
        }
        // Whoever has the token can renew and release the lease.
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
            // After an error either may stand.
            self.file = Some(id);
            store.write(&CacheFile { held: Some(held), ..self.empty.clone() })?;
            // If it never is, as where this process is told another time, whoever finds it leaves it alone.
            if shared_file::is_stamp_of(store.changed_ms()?, written_ms) {
                break;
            }
        }
        Ok(())
    }

    /// Whether the file may be open to other users, as one that was restored or whose mode was changed: making it private
    /// now takes no descriptor from anybody. Logged once.
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

    /// Makes the cached lease invalid, durably. Errors: as [`LeaseCache::store`]; then it may still be used.
    pub(crate) fn invalidate(&self) -> Result<()> {
        let lost = || {
            let error = io::Error::other("it was deleted, moved or replaced meanwhile");
            Err(state_file::failed("write", &self.path, &error))
        };
        let mut store = match SharedFile::<CacheFile>::open_existing(&self.env, self.path.clone()) {
            Ok(Some(store)) => store,
            Ok(None) if self.file.is_none() => return Ok(()),
            Ok(None) => return lost(),
            // As nobody can use it.
            Err(error) if error.code() == Code::StateCorrupt && self.file.is_none() => return Ok(()),
            Err(error) => return Err(error),
        };
        // What this run wrote may come back from where it was moved.
        if self.file.is_some() && self.file != Some(store.id()?) {
            return lost();
        }
        match &store.found().content.held {
            None if !store.found().damaged => Ok(()),
            _ => store.write(&self.empty),
        }
    }
}

/// The worker ids of this directory whose remembered leases of these servers look as if they could be used: a hint, to be
/// seen again under the lock of each record. Those that end last come first.
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

/// The lease of a worker id that may be gone on with, and the suspend-counting clock before it was asked for. The lock of
/// the record is held; `owner`: who wrote that last. Errors: as [`LeaseCache::store`].
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
    // A slot that cannot be read may have said that the lease was given back.
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
    /// What is held of these servers' in this id space.
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

/// Whether a copy of a file in this directory can be told from it: in the layers of a container it can have its identity,
/// and on a network the kernel's stamps are another machine's.
fn tells_copies(env: &Env, path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| env.disk.directory(directory, FileAccess::Own).ok());
    directory.is_some_and(|(_, fs)| fs.kind == FilesystemKind::Local || fs.name == "tmpfs")
}

fn hex(owner: u128) -> String {
    format!("{owner:032x}")
}
