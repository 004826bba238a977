//! The content of the file that caches a worker id's lease, beside its record, and which cached lease a start without a
//! lease server may use.
//!
//! | The facts, in the order of the checks | The lease is used |
//! | --- | --- |
//! | the file is of another id space, worker id or list of servers, or holds no lease | no |
//! | one slot is damaged: it may have said that the lease was released | no |
//! | the machine was started again, or its start is unknown | no |
//! | the lease has ended by the boot time, or its span by the clock | no |
//! | the file is a copy, was moved or was changed since | no |
//! | another run wrote the record last | no |
//! | none of these | yes, and its time counts from before it was requested |
//!
//! The readings of the clocks must be taken under the locks of the record and the file. What was read without them is a
//! hint.

use crate::Lease;
use crate::format::shared::{Content, Found, is_stamp_of};
use crate::json::{JsonResult, JsonValue, Object};
use crate::sorted::sorted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::Serialize;

/// The largest size of the servers' URLs: with the longest token they fit into a slot.
const MOST_SERVERS_BYTES: usize = 1_200;

/// The content of a cache file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LeaseFile {
    /// The id space.
    pub name: String,
    /// The worker id.
    pub worker_id: u32,
    /// The URLs of the lease servers.
    pub servers: Vec<String>,
    /// The lease, if one is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<CachedLease>,
}

impl Content for LeaseFile {
    const KIND: &'static str = "lease";
    const ADVICE: &'static str = "Move it away by hand: then a start needs a lease server";

    fn read(slot: &Object<'_>) -> JsonResult<LeaseFile> {
        let held = slot.optional("held")?.map(JsonValue::object).transpose()?;
        Ok(LeaseFile {
            name: slot.text("name")?,
            worker_id: slot.number("worker_id")?,
            servers: slot
                .get("servers")?
                .list()?
                .into_iter()
                .map(JsonValue::text)
                .collect::<JsonResult<_>>()?,
            held: held.map(|held| CachedLease::read(&held)).transpose()?,
        })
    }
}

/// A lease and the facts that it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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

/// A start that looks for a cached lease, with its readings of the clocks.
#[derive(Clone, Copy, Debug)]
pub struct LeaseSeeker<'s> {
    /// The id space.
    pub name: &'s str,
    /// The URLs of the lease servers.
    pub servers: &'s [String],
    /// The start of the machine; empty if it is unknown.
    pub boot: &'s str,
    /// The time since then, in milliseconds.
    pub boot_time_ms: i64,
    /// The clock, Unix milliseconds.
    pub now_ms: i64,
}

impl LeaseSeeker<'_> {
    /// The end of a lease that seems usable, by a file that was read without its lock.
    pub fn hint(&self, file: &LeaseFile, worker_id: u32) -> Option<i64> {
        let held = file.of(self.name, worker_id, self.servers)?;
        held.is_now(self.boot, self.boot_time_ms, self.now_ms).then_some(held.ends_ms)
    }

    /// The lease in a locked file, if it has not ended. [`CachedLease::is_bound`] must hold too.
    pub fn still_held<'f>(&self, found: &'f Found<LeaseFile>, worker_id: u32) -> Option<&'f CachedLease> {
        // An unreadable slot may have said that the lease was released.
        let held = found.content.of(self.name, worker_id, self.servers).filter(|_| !found.damaged)?;
        held.is_now(self.boot, self.boot_time_ms, self.now_ms).then_some(held)
    }
}

/// The worker ids in the order in which they are claimed: the lease that ends last is the first.
pub fn latest_first(ends: impl Iterator<Item = (i64, u32)>) -> Vec<u32> {
    sorted(ends).into_iter().rev().map(|(_, worker_id)| worker_id).collect()
}

impl LeaseFile {
    /// The file without a lease. The error is a text to log: the URLs of the servers are too long to cache a lease.
    pub fn empty(name: &str, worker_id: u32, servers: &[String]) -> core::result::Result<LeaseFile, String> {
        let bytes: usize = servers.iter().map(String::len).sum();
        match bytes > MOST_SERVERS_BYTES {
            true => Err(format!(
                "the URLs of the lease servers have {bytes} bytes: a lease is not cached with them"
            )),
            false => Ok(LeaseFile { name: name.into(), worker_id, servers: servers.to_vec(), held: None }),
        }
    }

    /// Whether a file has to be written so that its lease is not used.
    pub fn needs_invalidation(found: &Found<LeaseFile>) -> bool {
        found.content.held.is_some() || found.damaged
    }

    /// The lease of these servers in this id space.
    fn of(&self, name: &str, worker_id: u32, servers: &[String]) -> Option<&CachedLease> {
        let theirs = self.name == name && self.worker_id == worker_id && self.servers == servers;
        self.held.as_ref().filter(|_| theirs)
    }
}

impl CachedLease {
    fn read(object: &Object<'_>) -> JsonResult<CachedLease> {
        Ok(CachedLease {
            from_ms: object.integer("from_ms")?,
            until_ms: object.integer("until_ms")?,
            lease_ms: object.integer("lease_ms")?,
            token: object.text("token")?,
            ends_ms: object.integer("ends_ms")?,
            boot: object.text("boot")?,
            owner: object.text("owner")?,
            written_ms: object.integer("written_ms")?,
            device: object.number("device")?,
            inode: object.number("inode")?,
        })
    }

    /// Whether this lease can be cached: it has an end and a token, and the start of the machine is known.
    pub fn is_cacheable(lease: &Lease, boot: &str) -> bool {
        lease.lease_ms.is_some() && lease.token.is_some() && !boot.is_empty()
    }

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
    fn is_now(&self, boot: &str, boot_time_ms: i64, now_ms: i64) -> bool {
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

    /// The lease of this worker id, and the boot time before it was requested. `None` for times that no lease has.
    pub fn lease(&self, worker_id: u32) -> Option<(Lease, Duration)> {
        let asked_ms = self.ends_ms.checked_sub(self.lease_ms)?;
        let asked = Duration::from_millis(u64::try_from(asked_ms).ok()?);
        let lease = Lease {
            worker_id: worker_id.into(),
            from_ms: self.from_ms,
            until_ms: self.until_ms,
            lease_ms: Some(self.lease_ms),
            token: Some(self.token.clone()),
            peer_times_ms: Vec::new(),
        };
        Some((lease, asked))
    }
}

fn hex(owner: u128) -> String {
    format!("{owner:032x}")
}
