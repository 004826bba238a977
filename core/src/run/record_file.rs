//! The file of a worker id's record, as its holder knows it: what it holds, and which slot is written next.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | found | `into_file` | open; above what a damaged slot may have granted |
//! | open | `ask` | a write is under way, with a higher number than any before |
//! | a write is under way | `written` with success | open with the new record; the other slot is next |
//! | open with a record that ends more than a span above the other slot's | `ask_other` | a write of the same record |
//! | a write is under way | `written` with an error | open with the record before; the same slot is next |
//! | open, of a record that is not stored | `ask` | open with the new record |

use crate::call::FileAdvice;
use crate::format::state::{StoredRecord, Writer};
use crate::run::record_write::{RecordWrite, RecordWritten};
use crate::{Code, Error, Layout, Record, Result, Rules, Utc};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// A record that was read, with the lock of its file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordFound {
    pub(crate) newest: StoredRecord,
    pub(crate) spare: usize,
    pub(crate) damaged: bool,
    pub(crate) path: Box<str>,
    pub(crate) advice: FileAdvice,
}

impl RecordFound {
    /// What was read: the clock filter observes its clocks first, because [`RecordFound::into_file`] needs the time
    /// after the filter.
    pub fn stored(&self) -> &StoredRecord {
        &self.newest
    }

    /// The file at the time `now_ms` after the filter, and a warning if one slot is damaged.
    pub fn into_file(self, rules: &Rules, now_ms: i64) -> (RecordFile, Option<String>) {
        let RecordFound { mut newest, spare, damaged, path, advice } = self;
        let kept_until = newest.record.run.until;
        let warning = damaged.then(|| {
            newest.record = newest.record.clone().with_lost_slot(rules, now_ms);
            let until_ms = newest.record.layout.tick_start_ms(newest.record.run.until);
            format!(
                "one slot of {path} is damaged; the other one is used, and ids continue at {}",
                Utc(until_ms)
            )
        });
        let tried = newest.number;
        let place = Some((path, advice));
        (RecordFile { place, stored: newest, spare, kept_until, lags: false, tried }, warning)
    }
}

/// A record whose lock is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordFile {
    /// The path for messages; `None` if the record is not stored.
    place: Option<(Box<str>, FileAdvice)>,
    /// The record that this run read or wrote last.
    stored: StoredRecord,
    /// The slot to write next: never the one that holds `stored`.
    spare: usize,
    /// The end of the run in the slot that holds `stored`, which was raised if the other one was damaged.
    kept_until: u64,
    /// Whether the spare slot would not do if the one that holds `stored` were lost.
    lags: bool,
    /// The highest number that was tried. A failed write may have reached the disk all the same.
    tried: u64,
}

impl RecordFile {
    /// The record of an unused worker id, which is not stored: there is nothing to write.
    pub fn not_stored(name: &str, worker_id: u32, layout: Layout) -> RecordFile {
        let stored = unused(name, worker_id, layout);
        RecordFile { place: None, stored, spare: 0, kept_until: 0, lags: false, tried: 0 }
    }

    /// The record that this run read or wrote last.
    pub fn record(&self) -> &Record {
        &self.stored.record
    }

    /// The process that wrote it, and when.
    pub fn writer(&self) -> &Writer {
        &self.stored.writer
    }

    /// The path, for messages; `None` if the record is not stored.
    pub fn path(&self) -> Option<&str> {
        self.place.as_ref().map(|(path, _)| &**path)
    }

    /// Asks for the record that starts at the clock again although this one is ahead of it. Errors: those of
    /// [`Record::reset`].
    pub fn reset(&mut self, now_ms: i64, writer: Writer) -> Result<Option<RecordWrite>> {
        Ok(self.ask(self.record().reset(now_ms)?, writer))
    }

    /// Asks for a record to be written.
    #[cfg(feature = "parts")]
    pub fn write(&mut self, record: Record, writer: Writer) -> Option<RecordWrite> {
        self.ask(record, writer)
    }

    /// As `write`, in the order that a machine holds. No other write may be under way. `None` if records are not
    /// stored: then it is this file's record at once.
    pub(crate) fn ask(&mut self, record: Record, writer: Writer) -> Option<RecordWrite> {
        let Some((path, advice)) = &self.place else {
            self.stored.record = record;
            return None;
        };
        let before = self.tried;
        self.tried += 1;
        let stored = StoredRecord { number: self.tried, name: self.stored.name.clone(), record, writer };
        Some(RecordWrite::new(stored, &self.stored, before, self.spare, (path, *advice)))
    }

    /// For the first record of a run, whose owner the host draws.
    pub(crate) fn ask_begun(&mut self, record: Record, writer: Writer) -> Option<RecordWrite> {
        self.ask(record, writer).map(RecordWrite::of_new_owner)
    }

    /// Whether the record must be written once more before its span is used, into the other slot: after a gap in time one
    /// slot alone would hold the span, and be lost with it.
    pub(crate) fn lags(&self) -> bool {
        self.lags
    }

    /// The same record for the other slot.
    pub(crate) fn ask_other(&mut self, writer: Writer) -> Option<RecordWrite> {
        self.ask(self.stored.record.clone(), writer)
    }

    /// A write ended. After an error the record before stays; if the write began a run, the file must be opened again,
    /// because it may hold another run than this file knows. Errors: the write's; `internal` for the end of another
    /// write than the last.
    pub fn written(&mut self, end: RecordWritten) -> Result<()> {
        end.result?;
        if end.stored.number != self.tried {
            let message = format!(
                "write {} of the record of worker id {} ended after write {} was asked for; report this",
                end.stored.number, self.stored.record.worker_id, self.tried
            );
            return Err(Error::new(Code::Internal, message));
        }
        let until = end.stored.record.run.until;
        self.lags = until > end.stored.record.latest_after(self.kept_until);
        self.kept_until = until;
        self.spare = 1 - end.slot;
        self.stored = end.stored;
        Ok(())
    }
}

/// The record of a worker id that was never used.
pub(crate) fn unused(name: &str, worker_id: u32, layout: Layout) -> StoredRecord {
    let record = Record::unused(worker_id, layout);
    StoredRecord { number: 0, name: name.into(), record, writer: Writer::default() }
}
