//! The end of a held worker id whose generator was sealed: the exact end is written, then the record is closed, then the
//! host lock is given back.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Writing` | an earlier write ended | `Writing` |
//! | `Writing` | the end is written, or could not be, or no record is kept | `Unlocking` |
//! | `Unlocking` | nothing is locked any more | `Gone` |

use crate::Result;
use crate::run::call_end::End;
use crate::run::lanes::Call;
use crate::run::locks::Locks;
use crate::run::moment::Moment;
use crate::run::record_file::RecordFile;
use crate::run::record_write::{RecordWrite, RecordWritten};
use crate::run::seat::Seat;
use alloc::boxed::Box;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leaving {
    pub(crate) worker_id: u32,
    /// The first tick without an id.
    first_unused: u64,
    file: RecordFile,
    locks: Locks,
    /// Whether the end was asked to be written.
    is_asked: bool,
    stage: LeavingStage,
    /// Whether the end is written.
    pub(crate) result: Result<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LeavingStage {
    Writing,
    Unlocking,
    Gone,
}

impl Leaving {
    /// The generator was sealed: `first_unused` is its first tick without an id.
    pub(crate) fn new(seat: Seat, first_unused: u64) -> Leaving {
        let Seat { worker_id, file, locks, .. } = seat;
        let stage = LeavingStage::Writing;
        Leaving { worker_id, first_unused, file, locks, is_asked: false, stage, result: Ok(()) }
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_gone(&self) -> bool {
        self.stage == LeavingStage::Gone
    }

    /// Goes on as far as no call is needed.
    pub(crate) fn poll(&mut self, m: &Moment<'_>, is_disk_free: bool) {
        if self.stage == LeavingStage::Writing && !m.settings.persist {
            self.write(m);
            self.stage = LeavingStage::Unlocking;
        }
        if self.stage == LeavingStage::Unlocking && is_disk_free && self.locks.are_free() {
            self.stage = LeavingStage::Gone;
        }
    }

    /// The next call, on the lane of the disk, which is free.
    pub(crate) fn next_call(&mut self, m: &Moment<'_>) -> Option<Call> {
        match self.stage {
            LeavingStage::Writing => {
                self.is_asked = true;
                self.write(m).map(|write| Call::WriteRecord(Box::new(write)))
            }
            LeavingStage::Unlocking => self.locks.unlock(),
            LeavingStage::Gone => None,
        }
    }

    fn write(&mut self, m: &Moment<'_>) -> Option<RecordWrite> {
        let record = self.file.record();
        let closed = record.clone().closed(self.first_unused, m.now_ms);
        // Not after a step back, which the next start must detect.
        let writer =
            if closed.granted_at_ms > record.granted_at_ms { m.writer() } else { self.file.writer().clone() };
        self.file.write(closed, writer)
    }

    /// A write ended: of the end, or of a span that was being written when the generator was sealed.
    pub(crate) fn written(&mut self, end: RecordWritten) {
        // After an error the record covers more than was used, which is safe.
        let result = self.file.written(end);
        if self.is_asked {
            (self.result, self.stage) = (result, LeavingStage::Unlocking);
        }
    }

    /// A lock was given back.
    pub(crate) fn ended(&mut self, end: End) {
        match end {
            End::RecordClosed => self.locks.record_closed(),
            End::HostUnlocked => self.locks.host_given_back(),
            _ => {}
        }
    }
}
