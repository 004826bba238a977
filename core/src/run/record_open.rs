//! The reading of a worker id's record: with its lock, to use it, or without, as a hint.
//!
//! | The file | `RecordOpen` | `RecordPeek` |
//! | --- | --- | --- |
//! | missing | the host makes it with [`RecordOpen::initial`], and reads that | none |
//! | locked by another process | held | as if it were not |
//! | of another worker id or id space | `state_corrupt` | it is read |
//! | of another layout | `state_mismatch` | `state_mismatch` |
//! | damaged in both slots, or no record | `state_corrupt` | `state_corrupt` |
//! | with spans that no rules write | `state_corrupt`, unless it is to be reset | it is read |
//! | damaged in one slot | the other one; then [`RecordFound::into_file`] goes above what was lost | the other one |

use crate::aside::OfCall;
use crate::call::{FileAction, FileAdvice, IoFailure};
use crate::format::state::{self, SlotPair, StoredRecord};
use crate::format::two_slots::FILE_BYTES;
use crate::quoted::Quoted;
use crate::run::record_file::{RecordFound, unused};
use crate::sorted::sorted;
use crate::spelling::name::{EPOCH_MS, TICK_MS};
use crate::{Code, Error, Layout, Record, Result};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

/// The record to open and lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordOpen {
    name: String,
    worker_id: u32,
    layout: Layout,
    advice: FileAdvice,
    /// Whether it may hold spans that no rules write.
    any_values: bool,
    pub(crate) of: OfCall,
}

/// How an opening ended. Only a [`RecordOpen`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordOpened {
    result: Result<Option<RecordFound>>,
    is_locked: bool,
    pub(crate) of: OfCall,
}

impl RecordOpened {
    /// The record; `None` if another process holds its lock.
    pub fn into_result(self) -> Result<Option<RecordFound>> {
        self.result
    }

    /// Whether the host holds the lock: of a record that was read, whatever is in it.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }
}

impl RecordOpen {
    /// The record of this worker id in the id space `name`.
    pub fn new(name: &str, worker_id: u32, layout: Layout, advice: FileAdvice) -> RecordOpen {
        let of = OfCall::default();
        RecordOpen { name: name.into(), worker_id, layout, advice, any_values: false, of }
    }

    /// Also if it holds spans that no rules write: to be reset.
    pub fn of_any_values(self) -> RecordOpen {
        RecordOpen { any_values: true, ..self }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// The bytes of a new file. Errors: `internal`.
    pub fn initial(&self) -> Result<[u8; FILE_BYTES]> {
        state::unused_file(unused(&self.name, self.worker_id, self.layout))
    }

    /// Another process holds the lock.
    pub fn held(self) -> RecordOpened {
        self.ended(Ok(None), false)
    }

    /// The file is locked, and these are its bytes.
    pub fn read(self, bytes: &[u8], path: impl Display) -> RecordOpened {
        match state::read_file(&path, bytes) {
            Ok(slots) => self.read_slots(slots, path),
            Err(error) => self.ended(Err(error), true),
        }
    }

    /// As [`RecordOpen::read`], for a store that keeps records as values.
    pub fn read_slots(self, slots: SlotPair, path: impl Display) -> RecordOpened {
        let result = self.judged(slots, path).map(Some);
        self.ended(result, true)
    }

    /// An operation failed, and the file is closed again.
    pub fn failed(self, action: FileAction, path: impl Display, failure: &IoFailure) -> RecordOpened {
        let error = failure.of_file(action, path, self.advice);
        self.refused(error)
    }

    /// Another error came before, such as one of [`RecordOpen::initial`], and the file is closed again.
    pub fn refused(self, error: Error) -> RecordOpened {
        self.ended(Err(error), false)
    }

    fn ended(self, result: Result<Option<RecordFound>>, is_locked: bool) -> RecordOpened {
        RecordOpened { result, is_locked, of: self.of }
    }

    fn judged(&self, slots: SlotPair, path: impl Display) -> Result<RecordFound> {
        let SlotPair { newest, spare, damaged } = slots;
        if newest.name != self.name || newest.record.worker_id != self.worker_id {
            let message = format!(
                "{path} is the record of worker id {} of {}, not of {} of {}: it was moved or copied here; nothing was \
                 changed, put it back",
                newest.record.worker_id,
                Quoted(&newest.name),
                self.worker_id,
                Quoted(&self.name)
            );
            return Err(Error::new(Code::StateCorrupt, message));
        }
        check_layout(&newest.record, &self.layout, &path)?;
        if !self.any_values {
            newest.record.check().map_err(|error| error.context(&path))?;
        }
        Ok(RecordFound { newest, spare, damaged, path: format!("{path}").into(), advice: self.advice })
    }
}

/// The record to read without its lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordPeek {
    worker_id: u32,
    layout: Layout,
    advice: FileAdvice,
    pub(crate) of: OfCall,
}

/// How a reading without the lock ended. Only a [`RecordPeek`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordPeeked {
    result: Result<Option<StoredRecord>>,
    pub(crate) of: OfCall,
}

impl RecordPeeked {
    /// The record; `None` if there is no file.
    pub fn into_result(self) -> Result<Option<StoredRecord>> {
        self.result
    }
}

impl RecordPeek {
    /// The record of this worker id.
    pub fn new(worker_id: u32, layout: Layout, advice: FileAdvice) -> RecordPeek {
        RecordPeek { worker_id, layout, advice, of: OfCall::default() }
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        self.worker_id
    }

    /// There is no such file.
    pub fn missing(self) -> RecordPeeked {
        self.ended(Ok(None))
    }

    /// These are its bytes.
    pub fn read(self, bytes: &[u8], path: impl Display) -> RecordPeeked {
        match state::read_file(&path, bytes) {
            Ok(slots) => self.read_slots(slots, path),
            Err(error) => self.ended(Err(error)),
        }
    }

    /// As [`RecordPeek::read`], for a store that keeps records as values.
    pub fn read_slots(self, slots: SlotPair, path: impl Display) -> RecordPeeked {
        let checked = check_layout(&slots.newest.record, &self.layout, path);
        self.ended(checked.map(|()| Some(slots.newest)))
    }

    /// An operation failed.
    pub fn failed(self, path: impl Display, failure: &IoFailure) -> RecordPeeked {
        let error = failure.of_file(FileAction::Read, path, self.advice);
        self.ended(Err(error))
    }

    fn ended(self, result: Result<Option<StoredRecord>>) -> RecordPeeked {
        RecordPeeked { result, of: self.of }
    }
}

/// The name of the file of a worker id's record.
pub fn record_file_name(worker_id: u32) -> String {
    format!("worker-{worker_id}.state")
}

/// The worker ids whose records these names are, in order.
pub fn recorded_ids<'n>(names: impl Iterator<Item = &'n str>) -> Vec<u32> {
    let id_of = |name: &str| {
        let id = name.strip_prefix("worker-")?.strip_suffix(".state")?.parse().ok()?;
        // Not worker-007.state, which belongs to no worker id.
        (record_file_name(id) == name).then_some(id)
    };
    sorted(names.filter_map(id_of))
}

/// Errors: `state_mismatch` if the record has another layout or epoch: ids of two layouts in one id space can be equal.
pub fn check_layout(record: &Record, layout: &Layout, path: impl Display) -> Result<()> {
    if record.layout == *layout {
        return Ok(());
    }
    let told = |layout: &Layout| {
        format!("{layout} with {EPOCH_MS} {} and {TICK_MS} {}", layout.epoch_ms(), layout.tick_ms())
    };
    let message = format!(
        "{path} has the layout {}, not {}; use the layout it has, or another name",
        told(&record.layout),
        told(layout)
    );
    Err(Error::new(Code::StateMismatch, message))
}
