//! A write of a held lease to the file beside the record, for a start while no lease server is reachable.
//!
//! The host says first whether a copy of the file can be recognised. It then opens and locks the file, which
//! it makes private if it is missing, and carries out the steps: [`crate::format::file_steps`] has what a step is.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | asked | `initial`: copies cannot be recognised | not cached |
//! | asked | `initial` | to be opened |
//! | to be opened | `step`: other users may open a file that this run did not write | not cached, with a warning |
//! | to be opened | `step` | writes |
//! | writes | `step`: the kernel's time of the write is another | writes again, at most five times |
//! | writes | `step` | cached |
//! | not cached, cached | `end` | an end |
//! | asked, to be opened, writes | `end` | an end: `internal` |
//! | any | `failed` | an end: that error. From `writes` on, the file may hold the old or the new lease |

use crate::aside::OfCall;
use crate::call::{FileAdvice, SharedFailure};
use crate::format::cached_lease::{CachedLease, LeaseBinding, LeaseFile};
use crate::format::file_steps::{FileFacts, FileStep, SlotWrites};
use crate::format::shared;
use crate::format::two_slots::{self, FILE_BYTES};
use crate::{Code, Error, Lease, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt::Display;
use core::time::Duration;

/// A lease to be cached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheWrite {
    /// The file with the last lease that was tried.
    content: LeaseFile,
    lease: Lease,
    ends: Duration,
    boot: String,
    owner: u128,
    /// The file that this run wrote before.
    ours: Option<(u64, u64)>,
    state: CacheState,
    /// The file, once its write may have begun.
    file: Option<(u64, u64)>,
    pub(crate) of: OfCall,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CacheState {
    Asked,
    ToBeOpened,
    Writes(Box<SlotWrites>),
    Ended(Result<CacheOutcome>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CacheOutcome {
    Cached,
    /// A copy of the file could not be distinguished from it.
    NoPlace,
    /// Other users may open the file, by these bits of its mode.
    OpenToOthers(u32),
}

/// How the write of a lease ended. Only a [`CacheWrite`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheWritten {
    pub(crate) worker_id: u32,
    pub(crate) result: Result<CacheOutcome>,
    pub(crate) file: Option<(u64, u64)>,
    pub(crate) path: String,
    pub(crate) of: OfCall,
}

impl CacheWrite {
    pub(crate) fn new(
        empty: &LeaseFile,
        (lease, ends): (&Lease, Duration),
        boot: &str,
        owner: u128,
        ours: Option<(u64, u64)>,
    ) -> CacheWrite {
        let (content, lease, boot) = (empty.clone(), lease.clone(), boot.into());
        let (state, of) = (CacheState::Asked, OfCall::default());
        CacheWrite { content, lease, ends, boot, owner, ours, state, file: None, of }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.content.worker_id
    }

    /// The bytes of a new file, which only the user of the process may open; `None` if the lease is not cached here,
    /// and the call ends. `tells_copies`: a copy of a file has another identity and other times, and they are of this
    /// machine: so not in the layers of a container, and not on a network.
    pub fn initial(&mut self, tells_copies: bool) -> Result<Option<[u8; FILE_BYTES]>> {
        if !tells_copies {
            self.state = CacheState::Ended(Ok(CacheOutcome::NoPlace));
            return Ok(None);
        }
        self.state = CacheState::ToBeOpened;
        two_slots::new_file(|number| shared::seal(number, &self.content)).map(Some)
    }

    /// The next step. `bytes` is all of the locked file as it is now; `others_bits` are the bits of its mode for other
    /// users, 0 if only the owner may open it.
    pub fn step(&mut self, bytes: &[u8], facts: FileFacts, others_bits: u32, path: impl Display) -> FileStep {
        match self.next(bytes, &facts, others_bits, &path) {
            Ok(step) => step,
            Err(error) => self.ended(Err(error)),
        }
    }

    fn next(
        &mut self,
        bytes: &[u8],
        facts: &FileFacts,
        others_bits: u32,
        path: &dyn Display,
    ) -> Result<FileStep> {
        let mut writes = match &self.state {
            CacheState::Asked => return Err(self.left_out()),
            CacheState::Ended(_) => return Ok(FileStep::Done),
            CacheState::ToBeOpened => {
                let (_, number, spare) = shared::read::<LeaseFile>(path, bytes)?;
                // To make it private now would close no descriptor of theirs.
                if others_bits != 0 && self.ours != Some(facts.id) {
                    return Ok(self.ended(Ok(CacheOutcome::OpenToOthers(others_bits))));
                }
                // After an error the file may hold the old or the new content.
                self.file = Some(facts.id);
                Box::new(SlotWrites::new(number, spare))
            }
            CacheState::Writes(writes) => {
                writes.check(bytes, path)?;
                let held = self.content.held.as_ref();
                if !writes.again(held.is_some_and(|held| held.is_as_written(facts.changed_ms))) {
                    return Ok(self.ended(Ok(CacheOutcome::Cached)));
                }
                writes.clone()
            }
        };
        let bound = LeaseBinding { boot: &self.boot, owner: self.owner, file: facts.id };
        self.content.held = CachedLease::new(&self.lease, self.ends, &bound, facts.now_ms);
        let step = writes.write(&self.content)?;
        self.state = CacheState::Writes(writes);
        Ok(step)
    }

    fn ended(&mut self, result: Result<CacheOutcome>) -> FileStep {
        self.state = CacheState::Ended(result);
        FileStep::Done
    }

    /// The steps are done, and the file is closed.
    pub fn end(self, path: impl Display) -> CacheWritten {
        let result = match &self.state {
            CacheState::Ended(result) => result.clone(),
            CacheState::Asked | CacheState::ToBeOpened | CacheState::Writes(_) => Err(self.left_out()),
        };
        self.ends(result, path)
    }

    /// The steps could not be carried out.
    pub fn failed(self, path: impl Display, failure: &SharedFailure) -> CacheWritten {
        let error = failure.error(&path, FileAdvice::StateDir);
        self.refused(path, error)
    }

    /// Another error came in between.
    pub fn refused(self, path: impl Display, error: Error) -> CacheWritten {
        self.ends(Err(error), path)
    }

    fn ends(self, result: Result<CacheOutcome>, path: impl Display) -> CacheWritten {
        let (worker_id, file, of) = (self.worker_id(), self.file, self.of);
        CacheWritten { worker_id, result, file, path: format!("{path}"), of }
    }

    fn left_out(&self) -> Error {
        let message = format!(
            "a step for the cached lease of worker id {} was left out; report this",
            self.content.worker_id
        );
        Error::new(Code::Internal, message)
    }
}
