//! The content of the file that caches a worker id's lease, beside its record.

use crate::Lease;
use crate::format::shared::{Content, is_stamp_of};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// The largest size of the servers' URLs: with the longest token they fit into a slot.
pub const MOST_SERVERS_BYTES: usize = 1_200;

/// The content of a cache file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseFile {
    /// The id space.
    pub name: String,
    /// The worker id.
    pub worker_id: u32,
    /// The URLs of the lease servers.
    pub servers: Vec<String>,
    /// The lease, if one is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<CachedLease>,
}

impl Content for LeaseFile {
    const KIND: &'static str = "lease";
    const ADVICE: &'static str = "Move it away by hand: then a start needs a lease server";
}

/// A lease and the facts that it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedLease {
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

/// What a cached lease is bound to.
#[derive(Clone, Copy, Debug)]
pub struct LeaseBinding<'b> {
    /// The start of the machine; empty if it is unknown.
    pub boot: &'b str,
    /// The run that holds the lease, by its record.
    pub owner: u128,
    /// The device and the inode of the file.
    pub file: (u64, u64),
}

impl LeaseFile {
    /// The lease of these servers in this id space.
    pub fn of(&self, name: &str, worker_id: u32, servers: &[String]) -> Option<&CachedLease> {
        let theirs = self.name == name && self.worker_id == worker_id && self.servers == servers;
        self.held.as_ref().filter(|_| theirs)
    }
}

impl CachedLease {
    /// A lease that ends at the boot time `ends`, written at `written_ms` by the clock. `None` for one without an end or
    /// a token.
    pub fn new(
        lease: &Lease,
        ends: Duration,
        bound: &LeaseBinding<'_>,
        written_ms: i64,
    ) -> Option<CachedLease> {
        Some(CachedLease {
            from_ms: lease.from_ms,
            until_ms: lease.until_ms,
            lease_ms: lease.lease_ms?,
            token: lease.token.clone()?,
            ends_ms: ends.as_millis() as i64,
            boot: bound.boot.into(),
            owner: hex(bound.owner),
            written_ms,
            device: bound.file.0,
            inode: bound.file.1,
        })
    }

    /// Whether the lease has not ended, by either clock: `boot_time_ms` is the time since this start of the machine.
    pub fn is_now(&self, boot: &str, boot_time_ms: i64, now_ms: i64) -> bool {
        let same_start = !self.boot.is_empty() && self.boot == boot;
        same_start && boot_time_ms < self.ends_ms && now_ms < self.until_ms
    }

    /// Whether this file is the one that `owner` wrote; `changed_ms` is the kernel's time of its last change.
    pub fn is_bound(&self, file: (u64, u64), owner: u128, changed_ms: i64) -> bool {
        self.is_as_written(changed_ms) && file == (self.device, self.inode) && self.owner == hex(owner)
    }

    /// Whether the kernel's time of the file's last change is that of the write.
    pub fn is_as_written(&self, changed_ms: i64) -> bool {
        is_stamp_of(changed_ms, self.written_ms)
    }

    /// The end of the lease, by the boot time in milliseconds.
    pub fn ends_ms(&self) -> i64 {
        self.ends_ms
    }

    /// The boot time before the lease was requested.
    pub fn asked(&self) -> Option<Duration> {
        let asked_ms = self.ends_ms.checked_sub(self.lease_ms)?;
        u64::try_from(asked_ms).ok().map(Duration::from_millis)
    }

    /// The lease of this worker id.
    pub fn lease(&self, worker_id: u32) -> Lease {
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

fn hex(owner: u128) -> String {
    format!("{owner:032x}")
}
