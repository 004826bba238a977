//! The calls of host locks, and those of records that carry nothing.

use crate::Error;
use crate::aside::OfCall;
use crate::run::call_end::{End, Holder, RunCallEnd};
use crate::run::record_open::recorded_ids;
use alloc::string::String;
use alloc::vec::Vec;

/// Take the host lock of a worker id: all of leafid on this host takes it, whatever its state directory is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostLockCall {
    pub(crate) name: String,
    pub(crate) worker_id: u32,
    pub(crate) of: OfCall,
}

impl HostLockCall {
    /// The id space.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// The lock was taken. It stays until [`HostUnlockCall`].
    pub fn taken(self) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::HostLocked(Ok(true)) }
    }

    /// Another process or generator holds it.
    pub fn held(self) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::HostLocked(Ok(false)) }
    }

    /// It could not be taken, because of this error. Nothing is locked.
    pub fn failed(self, error: Error) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::HostLocked(Err(error)) }
    }
}

/// Give the host lock back. The record was closed before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostUnlockCall {
    pub(crate) worker_id: u32,
    pub(crate) of: OfCall,
}

impl HostUnlockCall {
    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// It is given back. This cannot fail: what cannot be unlocked ends with the process.
    pub fn end(self) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::HostUnlocked }
    }
}

/// Say who holds a worker id on this host. It is asked for only where a message needs it, because it costs system calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HolderCall {
    pub(crate) name: String,
    pub(crate) worker_id: u32,
    pub(crate) wants_name: bool,
    pub(crate) of: OfCall,
}

impl HolderCall {
    /// The id space.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// Whether the message names the holder. Otherwise [`Holder::stranger`] is enough.
    pub fn wants_name(&self) -> bool {
        self.wants_name
    }

    /// What is known.
    pub fn end(self, holder: Holder) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::Holder(holder) }
    }
}

/// Say under which other names a worker id that this run holds is held on this host, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamesCall {
    pub(crate) worker_id: u32,
    pub(crate) of: OfCall,
}

impl NamesCall {
    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// The id spaces under which it is held.
    pub fn end(self, names: Vec<String>) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::Names(self.worker_id, names) }
    }
}

/// List the names of the files in the directory of the records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordsCall {
    pub(crate) of: OfCall,
}

impl RecordsCall {
    /// The names; none if there is no such directory, or if it cannot be read.
    pub fn end<'n>(self, names: impl Iterator<Item = &'n str>) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::Recorded(recorded_ids(names)) }
    }
}

/// Close the record, which unlocks it. What was being written has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordCloseCall {
    pub(crate) worker_id: u32,
    pub(crate) of: OfCall,
}

impl RecordCloseCall {
    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// It is closed. This cannot fail: what cannot be closed ends with the process.
    pub fn end(self) -> RunCallEnd {
        RunCallEnd { of: self.of, end: End::RecordClosed }
    }
}
