//! The steps by which a locked file that processes share is changed.
//!
//! The host has the file open and locked. It calls `step` of an update with the bytes and the facts of the file,
//! carries out the step, and calls again, until the update is done:
//!
//! | Step | The host |
//! | --- | --- |
//! | `Write` | sees that the file is still the one at its path, writes in place, makes it durable, and reads again |
//! | `Done` | unlocks the file and ends the update |
//!
//! A content that is bound to the kernel's time of its write is written again until both times agree, at most five
//! times. If they never do, as with a faked clock, later readers ignore what depends on it.

use crate::format::shared::{Content, seal};
use crate::format::two_slots::{NUMBER_OF_NEW, SLOT_BYTES};
use crate::{Code, Error, Result};
use alloc::boxed::Box;
use alloc::format;
use core::fmt::Display;

/// How often a content is written that records the time of its write, if a busy machine takes too long for a write.
const STAMPED_WRITES: usize = 5;

/// What the host sees of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileFacts {
    /// The device and the inode. A copy has other ones.
    pub id: (u64, u64),
    /// The time of the last write or change by the kernel's clock, Unix milliseconds. A copy has another one, and
    /// no program can set it.
    pub changed_ms: i64,
    /// The time now, read again for each step, after the filter, Unix milliseconds.
    pub now_ms: i64,
}

impl FileFacts {
    /// Those of a store that has no files: nothing can be bound to them.
    pub const fn of_store(now_ms: i64) -> FileFacts {
        FileFacts { id: (0, 0), changed_ms: i64::MIN, now_ms }
    }
}

/// The next step of an update.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileStep {
    /// Write these bytes, durably.
    Write {
        /// Where, from the beginning of the file.
        offset: usize,
        /// What.
        bytes: Box<[u8; SLOT_BYTES]>,
        /// Whether the name of the file must be made durable too.
        syncs_name: bool,
    },
    /// Nothing more: unlock the file and end the update.
    Done,
}

/// The writes of one update, each to the older slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SlotWrites {
    number: u64,
    spare: usize,
    count: usize,
    /// What was to be written, and where.
    last: Option<(usize, Box<[u8; SLOT_BYTES]>)>,
}

impl SlotWrites {
    /// `number` is that of the newest slot, `spare` the other one.
    pub(crate) const fn new(number: u64, spare: usize) -> SlotWrites {
        SlotWrites { number, spare, count: 0, last: None }
    }

    /// The write of this content. Errors: `internal`.
    pub(crate) fn write<C: Content>(&mut self, content: &C) -> Result<FileStep> {
        let syncs_name = self.number <= NUMBER_OF_NEW;
        let bytes = Box::new(seal(self.number + 1, content)?);
        let offset = self.spare * SLOT_BYTES;
        self.last = Some((offset, bytes.clone()));
        self.number += 1;
        self.spare = 1 - self.spare;
        self.count += 1;
        Ok(FileStep::Write { offset, bytes, syncs_name })
    }

    /// Whether a content that records the time of its write is written again. `as_written`: the times agree.
    pub(crate) const fn again(&self, as_written: bool) -> bool {
        !as_written && self.count < STAMPED_WRITES
    }

    /// Checks that the last write is in the file. Errors: `internal`.
    pub(crate) fn check(&self, found: &[u8], path: impl Display) -> Result<()> {
        let Some((offset, bytes)) = &self.last else { return Ok(()) };
        match found.get(*offset..offset + SLOT_BYTES) == Some(&bytes[..]) {
            true => Ok(()),
            false => Err(Error::new(
                Code::Internal,
                format!("{path} was reported as written, and holds something else; report this"),
            )),
        }
    }
}
