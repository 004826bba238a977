//! The reading of cached leases, for a start while no lease server is reachable: which worker ids have one, as a hint,
//! and the lease of the one whose record was locked.
//!
//! | The file, read under the locks of the record and its own | The lease is used |
//! | --- | --- |
//! | missing, or of a place where copies cannot be recognised | no |
//! | refused by the table of [`crate::format::cached_lease`] | no |
//! | any other | yes, and its time counts from before it was requested |

use crate::aside::OfCall;
use crate::call::{FileAdvice, SharedFailure};
use crate::format::cached_lease::{LeaseFile, LeaseSeeker, latest_first};
use crate::format::file_steps::FileFacts;
use crate::format::shared;
use crate::{Error, Lease, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use core::time::Duration;

/// The name of the file of a worker id's cached lease.
pub fn lease_file_name(worker_id: u32) -> String {
    format!("worker-{worker_id}.lease")
}

/// Whose cached leases a start may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheSeeker {
    /// The id space.
    pub name: String,
    /// The URLs of the lease servers.
    pub servers: Vec<String>,
    /// The start of the machine; empty if it is unknown.
    pub boot: String,
}

impl CacheSeeker {
    fn at(&self, boot: Duration, now_ms: i64) -> LeaseSeeker<'_> {
        let CacheSeeker { name, servers, boot: start } = self;
        LeaseSeeker { name, servers, boot: start, boot_time_ms: boot.as_millis() as i64, now_ms }
    }
}

/// The cached lease of one worker id to read. The lock of its record is held until the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheRead {
    seeker: Box<CacheSeeker>,
    worker_id: u32,
    /// The run that wrote the record last.
    owner: u128,
    pub(crate) of: OfCall,
}

/// How it ended. Only a [`CacheRead`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheFound {
    result: Result<Option<(Lease, Duration)>>,
    pub(crate) of: OfCall,
}

impl CacheFound {
    /// The lease, and the boot time before it was requested; `None` if none can be used.
    pub fn into_result(self) -> Result<Option<(Lease, Duration)>> {
        self.result
    }
}

impl CacheRead {
    /// The lease of a worker id whose record is locked; `owner` wrote the record last.
    pub fn new(seeker: CacheSeeker, worker_id: u32, owner: u128) -> CacheRead {
        CacheRead { seeker: Box::new(seeker), worker_id, owner, of: OfCall::default() }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// There is no such file.
    pub fn missing(self) -> CacheFound {
        self.ended(Ok(None))
    }

    /// The file is locked, and these are its bytes. Its facts and the time since the start of the machine are read
    /// after the lock was taken: the wait for it may have lasted longer than the lease. `tells_copies` is as of
    /// [`super::cache_write::CacheWrite::initial`].
    pub fn end(
        self,
        bytes: &[u8],
        facts: FileFacts,
        boot: Duration,
        tells_copies: bool,
        path: impl Display,
    ) -> CacheFound {
        let read = shared::read::<LeaseFile>(path, bytes);
        let result = read.map(|(found, ..)| {
            let seeker = self.seeker.at(boot, facts.now_ms);
            let held = seeker.still_held(&found, self.worker_id).filter(|_| tells_copies)?;
            let bound = held.is_bound(facts.id, self.owner, facts.changed_ms);
            if bound { held.lease(self.worker_id) } else { None }
        });
        self.ended(result)
    }

    /// The file could not be opened or read.
    pub fn failed(self, path: impl Display, failure: &SharedFailure) -> CacheFound {
        self.ended(Err(failure.error(path, FileAdvice::StateDir)))
    }

    /// Another error came in between.
    pub fn refused(self, error: Error) -> CacheFound {
        self.ended(Err(error))
    }

    fn ended(self, result: Result<Option<(Lease, Duration)>>) -> CacheFound {
        CacheFound { result, of: self.of }
    }
}

/// The worker ids to list whose cached leases seem usable. Each is read again under its locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheList {
    seeker: CacheSeeker,
    found: Vec<(u32, LeaseFile)>,
    pub(crate) of: OfCall,
}

/// How a listing ended. Only a [`CacheList`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CachesListed {
    worker_ids: Vec<u32>,
    pub(crate) of: OfCall,
}

impl CachesListed {
    /// The worker ids; the lease that ends last is the first.
    pub fn into_worker_ids(self) -> Vec<u32> {
        self.worker_ids
    }
}

impl CacheList {
    /// A listing of these.
    pub fn new(seeker: CacheSeeker) -> CacheList {
        CacheList { seeker, found: Vec::new(), of: OfCall::default() }
    }

    /// Whether the file of this name is to be read.
    pub fn wants(name: &str) -> bool {
        worker_id_of(name).is_some()
    }

    /// A file with this name holds these bytes. What cannot be read is left out.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        if let Some(worker_id) = worker_id_of(name)
            && let Ok((found, ..)) = shared::read::<LeaseFile>(name, bytes)
        {
            self.found.push((worker_id, found.content));
        }
    }

    /// All files were added, or the directory cannot be read. `boot` is the time since the start of the machine, and
    /// `now_ms` the time after the filter.
    pub fn end(self, boot: Duration, now_ms: i64) -> CachesListed {
        let seeker = self.seeker.at(boot, now_ms);
        let ends = self.found.iter().filter_map(|(id, file)| Some((seeker.hint(file, *id)?, *id)));
        CachesListed { worker_ids: latest_first(ends), of: self.of }
    }
}

fn worker_id_of(name: &str) -> Option<u32> {
    let worker_id = name.strip_prefix("worker-")?.strip_suffix(".lease")?.parse().ok()?;
    // Not worker-007.lease, which belongs to no worker id.
    (lease_file_name(worker_id) == name).then_some(worker_id)
}
