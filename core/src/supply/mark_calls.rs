//! The calls for the mark of a tag: what a source gave before, to this process or to another one of the same store.

use super::supply_call::{Accepted, CallEnd, Ended};
use crate::call::CallId;
use crate::format::mark::{MOST_SPANS, Mark};
use crate::format::shared;
use crate::format::two_slots::{FILE_BYTES, SLOT_BYTES, new_file};
use crate::{Code, Error, Guard, IdOrder, MOST_SPANS_IN_MEMORY, Result, Segment};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Display;

/// The mark of one tag in the memory of the process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryMark(Guard);

/// A read of a mark, without its lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkRead {
    /// The tag.
    pub tag: Arc<str>,
    pub(super) source: Arc<str>,
    pub(super) call: CallId,
}

/// Segments to store in a mark before their ids are used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkUpdate {
    /// The tag.
    pub tag: Arc<str>,
    pub(super) source: Arc<str>,
    pub(super) call: CallId,
    pub(super) order: IdOrder,
    pub(super) after: i64,
    pub(super) segments: Vec<Segment>,
    pub(super) accepted: Option<Result<Accepted>>,
    pub(super) is_done: bool,
}

/// The next step of an update, under the lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MarkStep {
    /// Write these bytes at this offset, durably, then call `step` again with the bytes of the file.
    Write(usize, Box<[u8; SLOT_BYTES]>),
    /// Unlock, and end the call.
    Done,
}

impl MarkRead {
    /// The bytes of the file; `None` if there is none.
    pub fn end(self, found: Result<Option<&[u8]>>, path: impl Display) -> CallEnd {
        let read = |bytes: &[u8]| {
            let (found, ..) = shared::read::<Mark>(&path, bytes)?;
            found.content.check_whose(&self.source, &self.tag, &path)?;
            Ok(found.content.mark.0)
        };
        let mark = found.and_then(|bytes| bytes.map_or(Ok(0), read));
        CallEnd { call: self.call, how: Ended::MarkRead(mark) }
    }

    /// The mark in memory; `None` if there is none.
    pub fn end_in_memory(self, mark: Option<&MemoryMark>) -> CallEnd {
        let mark = mark.map_or(0, |mark| mark.0.mark());
        CallEnd { call: self.call, how: Ended::MarkRead(Ok(mark)) }
    }
}

impl MarkUpdate {
    /// The bytes of a new file. Errors: `internal`.
    pub fn initial(&self) -> Result<[u8; FILE_BYTES]> {
        new_file(|number| shared::seal(number, &Mark::unused(&self.source, &self.tag)))
    }

    /// The next step for the bytes of the locked file.
    pub fn step(&mut self, bytes: &[u8], now_ms: i64, path: impl Display) -> MarkStep {
        if self.accepted.is_some() {
            self.is_done = true;
            return MarkStep::Done;
        }
        match self.change(bytes, now_ms, path) {
            Ok((accepted, offset, bytes)) => {
                self.accepted = Some(Ok(accepted));
                MarkStep::Write(offset, bytes)
            }
            Err(error) => {
                self.accepted = Some(Err(error));
                MarkStep::Done
            }
        }
    }

    fn change(
        &self,
        bytes: &[u8],
        now_ms: i64,
        path: impl Display,
    ) -> Result<(Accepted, usize, Box<[u8; SLOT_BYTES]>)> {
        let (found, number, spare) = shared::read::<Mark>(&path, bytes)?;
        let mut mark = found.content;
        mark.check_whose(&self.source, &self.tag, &path)?;
        let mut guard = mark.guard(self.order, &path)?;
        let accepted = self.accept(&mut guard)?;
        mark.remember(&guard, self.order, now_ms);
        mark.kept = mark.kept.filter(|_| !found.damaged);
        Ok((accepted, spare * SLOT_BYTES, Box::new(shared::seal(number + 1, &mark)?)))
    }

    fn accept(&self, guard: &mut Guard) -> Result<Accepted> {
        let mut accepted = Accepted { segments: Vec::new(), refused: None };
        for &segment in &self.segments {
            match guard.offer(segment, self.after) {
                Ok(()) => accepted.segments.push(segment),
                Err(error) => drop(accepted.refused.get_or_insert(error)),
            }
        }
        match accepted.refused {
            Some(error) if accepted.segments.is_empty() => Err(error),
            _ => Ok(accepted),
        }
    }

    /// The end of an update of a file. `failed`: what went wrong with the file.
    pub fn end(self, failed: Option<Error>) -> CallEnd {
        let unwritten = || Error::new(Code::Internal, "a mark was not written; report this");
        let is_done = self.is_done;
        let how = match (failed, self.accepted) {
            (Some(error), _) => Err(error),
            (None, Some(Ok(accepted))) if is_done => Ok(accepted),
            (None, Some(Err(error))) => Err(error),
            (None, _) => Err(unwritten()),
        };
        CallEnd { call: self.call, how: Ended::Accepted(how) }
    }

    /// Changes the mark in memory, which is made if there is none.
    pub fn end_in_memory(self, mark: &mut Option<MemoryMark>) -> CallEnd {
        let most = if self.order == IdOrder::Ascending { MOST_SPANS } else { MOST_SPANS_IN_MEMORY };
        let mark = mark.get_or_insert_with(|| MemoryMark(Guard::resume(self.order, 0, Vec::new(), most)));
        let how = self.accept(&mut mark.0);
        CallEnd { call: self.call, how: Ended::Accepted(how) }
    }

    /// The name of its file in the directory of marks.
    pub fn name(&self) -> String {
        name_of(&self.source, &self.tag)
    }
}

impl MarkRead {
    /// The name of its file in the directory of marks.
    pub fn name(&self) -> String {
        name_of(&self.source, &self.tag)
    }
}

fn name_of(source: &str, tag: &str) -> String {
    use crate::format::file_names::{checksum, file_name};
    alloc::format!("segment-{}-{}.mark", checksum(source), file_name(tag))
}
