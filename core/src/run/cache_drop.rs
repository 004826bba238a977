//! The cached lease is made invalid, durably, before its release is sent: the server may then lease the worker id to
//! another process.
//!
//! The host opens and locks the file if there is one, and carries out the steps: [`crate::format::file_steps`] has what
//! a step is.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | asked | `missing`, or `step` with a file that cannot be read: this run wrote none | an end; dropped |
//! | asked | `missing`, or `step` with another file: this run wrote one, which may come back | an end, dropped: that error |
//! | asked | `step`: no lease is in the file | dropped |
//! | asked | `step` | writes |
//! | writes | `step` | dropped |
//! | dropped | `end` | an end |
//! | asked, writes | `end` | an end: `internal` |
//! | any | `failed` | an end: that error. The lease may still be used |

use crate::aside::OfCall;
use crate::call::{FileAdvice, SharedFailure};
use crate::format::cached_lease::LeaseFile;
use crate::format::file_steps::{FileFacts, FileStep, SlotWrites};
use crate::format::shared;
use crate::{Code, Error, Result};
use alloc::boxed::Box;
use alloc::format;
use core::fmt::Display;

/// A cached lease to be made invalid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheDrop {
    empty: LeaseFile,
    /// The file that this run wrote.
    ours: Option<(u64, u64)>,
    state: DropState,
    pub(crate) of: OfCall,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum DropState {
    Asked,
    Writes(Box<SlotWrites>),
    Ended(Result<()>),
}

/// How it ended. Only a [`CacheDrop`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheDropped {
    pub(crate) worker_id: u32,
    result: Result<()>,
    pub(crate) of: OfCall,
}

impl CacheDropped {
    /// Whether no process can use the cached lease any more: only then may the lease be released.
    pub fn into_result(self) -> Result<()> {
        self.result
    }
}

impl CacheDrop {
    pub(crate) fn new(empty: &LeaseFile, ours: Option<(u64, u64)>) -> CacheDrop {
        CacheDrop { empty: empty.clone(), ours, state: DropState::Asked, of: OfCall::default() }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.empty.worker_id
    }

    /// There is no such file.
    pub fn missing(self, path: impl Display) -> CacheDropped {
        match self.ours {
            None => self.ends(Ok(())),
            Some(_) => self.ends(Err(lost(path))),
        }
    }

    /// The next step. `bytes` is all of the locked file as it is now.
    pub fn step(&mut self, bytes: &[u8], facts: FileFacts, path: impl Display) -> FileStep {
        match self.next(bytes, &facts, &path) {
            Ok(Some(step)) => step,
            Ok(None) => self.ended(Ok(())),
            Err(error) => self.ended(Err(error)),
        }
    }

    /// `None` if nothing is left to do.
    fn next(&mut self, bytes: &[u8], facts: &FileFacts, path: &dyn Display) -> Result<Option<FileStep>> {
        match &self.state {
            DropState::Ended(result) => result.clone().map(|()| None),
            DropState::Writes(writes) => writes.check(bytes, path).map(|()| None),
            DropState::Asked => {
                let (found, number, spare) = match shared::read::<LeaseFile>(path, bytes) {
                    // No process can use a corrupt file that this run did not write.
                    Err(error) if error.code() == Code::StateCorrupt && self.ours.is_none() => {
                        return Ok(None);
                    }
                    read => read?,
                };
                // A file that this run wrote, and that was moved away, may come back.
                if self.ours.is_some_and(|ours| ours != facts.id) {
                    return Err(lost(path));
                }
                if !LeaseFile::needs_invalidation(&found) {
                    return Ok(None);
                }
                let mut writes = SlotWrites::new(number, spare);
                let step = writes.write(&self.empty)?;
                self.state = DropState::Writes(Box::new(writes));
                Ok(Some(step))
            }
        }
    }

    fn ended(&mut self, result: Result<()>) -> FileStep {
        self.state = DropState::Ended(result);
        FileStep::Done
    }

    /// The steps are done, and the file is closed.
    pub fn end(self) -> CacheDropped {
        let result = match &self.state {
            DropState::Ended(result) => result.clone(),
            DropState::Asked | DropState::Writes(_) => {
                let message = format!(
                    "a step to drop the cached lease of worker id {} was left out; report this",
                    self.empty.worker_id
                );
                Err(Error::new(Code::Internal, message))
            }
        };
        self.ends(result)
    }

    fn ends(self, result: Result<()>) -> CacheDropped {
        CacheDropped { worker_id: self.empty.worker_id, result, of: self.of }
    }

    /// The steps could not be carried out.
    pub fn failed(self, path: impl Display, failure: &SharedFailure) -> CacheDropped {
        self.ends(Err(failure.error(path, FileAdvice::StateDir)))
    }

    /// Another error came in between.
    pub fn refused(self, error: Error) -> CacheDropped {
        self.ends(Err(error))
    }
}

fn lost(path: impl Display) -> Error {
    SharedFailure::Replaced.error(path, FileAdvice::StateDir)
}
