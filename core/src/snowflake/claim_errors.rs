//! The errors of a claim of a worker id.

use crate::quoted::Quoted;
use crate::{Code, Error};
use alloc::format;
use alloc::string::String;

/// Why a start without a reachable lease server has no worker id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfflineRefusal {
    /// Leases are not cached, because records are not kept.
    NotPersisted,
    /// No cached lease is still held.
    NoneHeld,
    /// The ids with cached leases are held by other processes.
    InUse,
}

impl OfflineRefusal {
    /// `worker_lost`, with the reason why no server was reachable.
    pub fn error(self, why: &Error) -> Error {
        let held = match self {
            OfflineRefusal::NotPersisted => "and with persist = false no lease is cached",
            OfflineRefusal::NoneHeld => "and no cached lease is still valid here",
            OfflineRefusal::InUse => "and other processes hold the cached leases",
        };
        let message = format!("no lease server can be reached, {held}: {}", why.message());
        Error::new(Code::WorkerLost, message)
    }
}

/// What is known about a worker id that is held.
#[derive(Clone, Debug)]
pub struct HeldId<'h> {
    /// The id space.
    pub space: &'h str,
    /// The worker id.
    pub worker_id: u32,
    /// The path of its record; `None` where none is kept.
    pub record: Option<String>,
    /// The holder, if it is known.
    pub holder: Option<String>,
    /// Whether the holder is a generator of this process.
    pub is_ours: bool,
    /// Whether a user who cannot open the record holds the host lock.
    pub is_strangers: bool,
    /// Whether servers leased the id.
    pub is_leased: bool,
}

impl HeldId<'_> {
    /// `worker_in_use`, with the holder and what to do.
    pub fn error(self) -> Error {
        let HeldId { space, worker_id, is_ours, .. } = self;
        let holder = self.holder.unwrap_or_else(|| "another process of this host".into());
        let record = self.record.map_or_else(String::new, |path| format!(" ({path})"));
        let no_holder = match self.is_strangers {
            true => ", which cannot open this record, but may have one in another directory",
            false => "",
        };
        let advice = match is_ours {
            _ if self.is_leased => {
                "its lease has ended, as the server says: end that process, or let it continue"
            }
            true => "close that generator, or give this one the same options",
            false => "end that process, or use a range such as 0-31, which has an id for each process",
        };
        let message = format!(
            "worker id {worker_id} of {}{record} is held by {holder}{no_holder}; {advice}",
            Quoted(space)
        );
        Error::new(Code::WorkerInUse, message)
    }
}

/// The error for a lease of these servers that cannot be used. It is never an invalid argument of the user.
pub fn unusable_lease(error: Error, servers: &[String]) -> Error {
    if error.code() != Code::InvalidArgument {
        return error;
    }
    let message = format!(
        "{} returned a lease that cannot be used: {}; see the server",
        servers.join(", "),
        error.message()
    );
    Error::new(Code::WorkerLost, message)
}
