//! The reading of marks, without their locks: the mark of one tag, and the tags that were used lately.

use crate::call::{CallId, FileAction, FileAdvice, IoFailure, SharedFailure};
use crate::format::file_names::{checksum, file_name};
use crate::format::mark::Mark;
use crate::format::shared;
use crate::format::unused::DAY_MS;
use crate::quoted::Quoted;
use crate::sorted::sorted;
use crate::supply::memory_mark::MemoryMark;
use crate::{Code, Error, Result};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Display;

/// The largest number of tags that are fetched before their first use.
const MOST_RECENT: usize = 1_000;

/// Whose mark it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkKey {
    /// The name of the source.
    pub source: Arc<str>,
    /// The tag.
    pub tag: Arc<str>,
}

impl MarkKey {
    /// The name of its file in the directory of marks.
    pub fn file_name(&self) -> String {
        name_of(&self.source, &self.tag)
    }
}

fn name_of(source: &str, tag: &str) -> String {
    format!("{}{}.mark", prefix_of(source), file_name(tag))
}

/// What the names of all files of the source begin with.
fn prefix_of(source: &str) -> String {
    format!("segment-{}-", checksum(source))
}

/// The mark of a tag to read. A mark never goes back, so no lock is needed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkRead {
    call: CallId,
    key: MarkKey,
    /// What a user can do about the file; `None` if the mark is in memory.
    advice: Option<FileAdvice>,
}

/// How the reading of a mark ended. Only a [`MarkRead`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkFound {
    pub(crate) call: CallId,
    pub(crate) result: Result<i64>,
}

impl MarkFound {
    /// The mark: every id below it was given before. 0 for a new tag.
    pub fn into_result(self) -> Result<i64> {
        self.result
    }
}

impl MarkRead {
    /// A reading of this mark, in its file; without advice in memory.
    pub fn new(call: CallId, key: MarkKey, advice: Option<FileAdvice>) -> MarkRead {
        MarkRead { call, key, advice }
    }

    /// Whose mark it is.
    pub fn key(&self) -> &MarkKey {
        &self.key
    }

    /// The bytes of the file; `None` if there is none.
    pub fn end(self, found: Option<&[u8]>, path: impl Display) -> MarkFound {
        if self.advice.is_none() {
            return self.misplaced();
        }
        let read = |bytes: &[u8]| {
            let (found, ..) = shared::read::<Mark>(&path, bytes)?;
            found.content.check_whose(&self.key.source, &self.key.tag, &path)?;
            Ok(found.content.mark.0)
        };
        let result = found.map_or(Ok(0), read);
        MarkFound { call: self.call, result }
    }

    /// The mark in memory; `None` if there is none.
    pub fn end_in_memory(self, found: Option<&MemoryMark>) -> MarkFound {
        match self.advice {
            None => MarkFound { call: self.call, result: Ok(found.map_or(0, MemoryMark::mark)) },
            Some(_) => self.misplaced(),
        }
    }

    /// The file could not be read.
    pub fn failed(self, path: impl Display, failure: &SharedFailure) -> MarkFound {
        match self.advice {
            Some(advice) => self.refused(failure.error(path, advice)),
            None => self.misplaced(),
        }
    }

    /// It was read where it is not: another store may not know the last ids.
    fn misplaced(self) -> MarkFound {
        let error = misplaced(&self.key.tag);
        self.refused(error)
    }

    /// Another error came before.
    pub fn refused(self, error: Error) -> MarkFound {
        MarkFound { call: self.call, result: Err(error) }
    }
}

/// The end of a call for the mark of this tag came from a store where that mark is not.
pub(super) fn misplaced(tag: &str) -> Error {
    let message = format!("the mark of tag {} was used in another store; report this", Quoted(tag));
    Error::new(Code::Internal, message)
}

/// The tags of a source to list that were used within a day.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkList {
    call: CallId,
    source: Arc<str>,
    advice: FileAdvice,
    tags: Vec<(i64, String)>,
}

/// How a listing ended. Only a [`MarkList`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarksListed {
    pub(crate) call: CallId,
    pub(crate) result: Result<Vec<String>>,
}

impl MarksListed {
    /// The tags, at most 1,000, the latest first.
    pub fn into_result(self) -> Result<Vec<String>> {
        self.result
    }
}

impl MarkList {
    /// A listing of the tags of this source.
    pub fn new(call: CallId, source: Arc<str>, advice: FileAdvice) -> MarkList {
        MarkList { call, source, advice, tags: Vec::new() }
    }

    /// What the names of the source's files begin with.
    pub fn prefix(&self) -> String {
        prefix_of(&self.source)
    }

    /// A file with this name holds these bytes. What cannot be read is left out: it is reported when its tag is used.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        let Ok((found, ..)) = shared::read::<Mark>(name, bytes) else { return };
        let mark = found.content;
        // The file contains only the beginning of a long name.
        let is_its = mark.check_whose(&self.source, &mark.tag, name).is_ok()
            && name_of(&self.source, &mark.tag) == name;
        if is_its {
            self.tags.push((mark.fetched_ms, mark.tag));
        }
    }

    /// All files were added; the time is `now_ms`.
    pub fn end(self, now_ms: i64) -> MarksListed {
        let MarkList { call, tags, .. } = self;
        let is_recent = |fetched_ms: i64| now_ms.saturating_sub(fetched_ms).saturating_abs() <= DAY_MS;
        let tags = tags.into_iter().filter(|(fetched_ms, _)| is_recent(*fetched_ms));
        let tags = sorted(tags.map(|(fetched_ms, tag)| (Reverse(fetched_ms), tag)));
        let tags = tags.into_iter().take(MOST_RECENT).map(|(_, tag)| tag).collect();
        MarksListed { call, result: Ok(tags) }
    }

    /// The names in the directory could not be read.
    pub fn failed(self, path: impl Display, failure: &IoFailure) -> MarksListed {
        let error = failure.of_file(FileAction::Read, path, self.advice);
        self.refused(error)
    }

    /// Another error came before.
    pub fn refused(self, error: Error) -> MarksListed {
        MarksListed { call: self.call, result: Err(error) }
    }
}
