//! One write of a worker id's record, which the host carries out.
//!
//! The host reads what is there, calls [`RecordWrite::check`], writes [`RecordWrite::bytes`] into the slot, and makes
//! that durable: with the lock of the file held, or all in one transaction of a store. Then it ends the write.
//!
//! | The value | Event | Next |
//! | --- | --- | --- |
//! | asked for | `check`: the file is gone, or another run wrote it | the error; it can end with an error alone |
//! | asked for | `check`: it is ours | checked |
//! | checked | `bytes` | handed out |
//! | handed out | `end` with success | [`RecordWritten`], which the file takes as its record |
//! | any | `end` with an error, `failed` | [`RecordWritten`] with the error: the record before stays |
//! | asked for, checked | `end` with success | `internal`: the host left out a step |

use crate::aside::OfCall;
use crate::call::{FileAction, FileAdvice, IoFailure};
use crate::format::state::{self, SlotPair, StoredRecord};
use crate::format::two_slots::SLOT_BYTES;
use crate::{Code, Error, Result};
use alloc::boxed::Box;
use alloc::format;
use core::ops::RangeInclusive;

/// A record to be made durable, and what must be in the file before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordWrite {
    stored: StoredRecord,
    /// The slot that does not hold the record before.
    slot: usize,
    /// The run whose record must be there.
    owner: u128,
    /// The numbers that it may have: the last record's, and those of writes that were reported as failed.
    numbers: RangeInclusive<u64>,
    syncs_name: bool,
    path: Box<str>,
    advice: FileAdvice,
    /// Whether the host draws the number of the run, because it is the run's first record.
    draws_owner: bool,
    checked: bool,
    handed_out: bool,
    pub(crate) of: OfCall,
}

/// How a write ended. Only a [`RecordWrite`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordWritten {
    pub(crate) stored: StoredRecord,
    pub(crate) slot: usize,
    pub(crate) result: Result<()>,
    pub(crate) of: OfCall,
}

impl RecordWrite {
    /// A write over the record `before`, of which `tried` is the highest number that was tried.
    pub(crate) fn new(
        stored: StoredRecord,
        before: &StoredRecord,
        tried: u64,
        slot: usize,
        file: (&str, FileAdvice),
    ) -> RecordWrite {
        RecordWrite {
            slot,
            owner: before.record.owner,
            numbers: before.number..=tried,
            // Its creator may have been killed before the name was durable.
            syncs_name: before.number <= crate::format::two_slots::NUMBER_OF_NEW,
            stored,
            path: file.0.into(),
            advice: file.1,
            draws_owner: false,
            checked: false,
            handed_out: false,
            of: OfCall::default(),
        }
    }

    /// As the first record of a run.
    pub(crate) fn of_new_owner(self) -> RecordWrite {
        RecordWrite { draws_owner: true, ..self }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.stored.record.worker_id
    }

    /// The slot to write: 0 or 1.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Where the slot begins in the file, in bytes.
    pub fn offset(&self) -> usize {
        self.slot * SLOT_BYTES
    }

    /// Whether the name of the file must be made durable too, before the write ends.
    pub fn syncs_name(&self) -> bool {
        self.syncs_name
    }

    /// Checks that the file still holds what this run read or wrote last. `found` is all its bytes; `None` if the file
    /// that is locked is no longer the one at its path. Errors: `worker_lost`.
    pub fn check(&mut self, found: Option<&[u8]>) -> Result<()> {
        match found {
            None => self.check_slots(None),
            Some(bytes) => match state::read_file(&self.path, bytes) {
                Ok(slots) => self.check_slots(Some(&slots)),
                Err(_) => Err(self.lost("was overwritten")),
            },
        }
    }

    /// As [`RecordWrite::check`], for a store that keeps records as values.
    pub fn check_slots(&mut self, found: Option<&SlotPair>) -> Result<()> {
        let Some(SlotPair { newest, .. }) = found else {
            return Err(self.lost("was deleted, moved or replaced"));
        };
        self.checked = newest.record.owner == self.owner && self.numbers.contains(&newest.number);
        if self.checked { Ok(()) } else { Err(self.lost("was overwritten")) }
    }

    /// The bytes of the slot. `random` is drawn from the system now: by it, a run knows its own records from those of a
    /// copy of its process. Errors: `internal`.
    pub fn bytes(&mut self, random: u128) -> Result<[u8; SLOT_BYTES]> {
        self.record(random).to_bytes()
    }

    /// As [`RecordWrite::bytes`], for a store that keeps records as values.
    pub fn record(&mut self, random: u128) -> &StoredRecord {
        if self.draws_owner && !self.handed_out {
            self.stored.record.owner = random;
        }
        self.handed_out = true;
        &self.stored
    }

    /// The record is durable, or an error came before: of [`RecordWrite::check`], or of a store.
    pub fn end(self, ended: Result<()>) -> RecordWritten {
        let whole = self.checked && self.handed_out;
        let result = ended.and_then(|()| if whole { Ok(()) } else { Err(self.left_out()) });
        RecordWritten { stored: self.stored, slot: self.slot, result, of: self.of }
    }

    /// An operation failed. The record may be in the file all the same.
    pub fn failed(self, action: FileAction, failure: &IoFailure) -> RecordWritten {
        let error = failure.of_file(action, &self.path, self.advice);
        self.end(Err(error))
    }

    fn left_out(&self) -> Error {
        let step = if self.checked { "its bytes were never taken" } else { "what is there was not checked" };
        let message = format!("{} was reported as written, but {step}; report this", self.path);
        Error::new(Code::Internal, message)
    }

    fn lost(&self, what: &str) -> Error {
        let message = format!(
            "{} {what} while worker id {} was in use: find out what changed the file",
            self.path, self.stored.record.worker_id
        );
        Error::new(Code::WorkerLost, message)
    }
}
