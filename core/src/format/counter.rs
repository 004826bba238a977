//! The contents of a counter's file and of its directory's marker, and how ids are taken from it.

use crate::format::decimal::Decimal;
use crate::format::file_names::inside;
use crate::format::shared::{Content, corrupt};
use crate::json::{JsonResult, Object};
use crate::quoted::{Escaped, Quoted};
use crate::{Code, Error, Result, Segment};
use alloc::format;
use alloc::string::String;
use core::fmt::Display;
use serde::Serialize;

/// The largest number of ids of one fetch. If the latest fetch is unreadable, this number of ids is skipped.
pub const MOST_STEP: i64 = 1 << 24;

/// The counter of one tag of `file:DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Counter {
    /// The id of the directory in which it was created.
    directory: String,
    tag: String,
    /// Every id below was given.
    next: Decimal,
    /// How many ids a fetch gets if it asks for no number.
    pub step: i64,
}

impl Content for Counter {
    const KIND: &'static str = "counter";
    const ADVICE: &'static str = "Put it back as it was, or move it away by hand and create it again by: leafid file create DIR --tag TAG --start \
         N, where N is above every id in use";

    fn read(slot: &Object<'_>) -> JsonResult<Counter> {
        Ok(Counter {
            directory: slot.text("directory")?,
            tag: slot.text("tag")?,
            next: Decimal::read(slot.get("next")?)?,
            step: slot.integer("step")?,
        })
    }
}

/// The content of the file that identifies a directory of counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Marker {
    /// The id of the directory.
    pub id: String,
    /// When it was created, as text.
    pub created: String,
    /// The number of counters that were created. There may be more if a process was killed in between.
    pub counters: usize,
}

impl Content for Marker {
    const KIND: &'static str = "marker";
    const ADVICE: &'static str =
        "Put it back as it was, or use another directory, with counters above every id in use";

    fn read(slot: &Object<'_>) -> JsonResult<Marker> {
        Ok(Marker {
            id: slot.text("id")?,
            created: slot.text("created")?,
            counters: slot.number("counters")?,
        })
    }
}

impl Counter {
    /// A counter that gave nothing below `next`.
    pub fn new(directory: String, tag: &str, next: i64, step: i64) -> Counter {
        Counter { directory, tag: inside(tag), next: Decimal(next), step }
    }

    /// Takes at most `wished` ids, or as many as the step if it is 0 or less. The caller makes the counter durable
    /// before it uses them.
    ///
    /// Errors: `segment_unavailable` if the counter of the file at `path` is used up.
    pub fn take(&mut self, wished: i64, path: impl Display) -> Result<Segment> {
        let start = self.next.0;
        if start == i64::MAX {
            let message =
                format!("{path} is used up: it stands at {start}, the end of all ids; use another tag");
            return Err(Error::new(Code::SegmentUnavailable, message));
        }
        let wished = if wished > 0 { wished } else { self.step };
        let end = start.saturating_add(wished.clamp(1, MOST_STEP));
        self.next = Decimal(end);
        Segment::new(start, end, 1)
    }

    /// Raises it to `next` if it is lower; returns where it stood then.
    pub fn raise(&mut self, next: i64) -> Option<i64> {
        let before = self.next.0;
        self.next = Decimal(before.max(next));
        (next > before).then_some(before)
    }

    /// Skips the ids that an unreadable slot may have given; returns the bounds of those.
    pub fn skip(&mut self) -> (i64, i64) {
        let before = self.next.0;
        self.next = Decimal(before.saturating_add(MOST_STEP));
        (before, self.next.0)
    }

    /// Every id below was given.
    pub fn next(&self) -> i64 {
        self.next.0
    }

    /// The tag of the counter; only the beginning of a long tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Errors: `state_corrupt` for the counter of another tag or of another directory.
    pub fn check_whose(&self, directory: &str, tag: &str, path: impl Display) -> Result<()> {
        if self.directory == directory && self.tag == inside(tag) {
            return Ok(());
        }
        let what = format!(
            "the counter of tag {} of file:{}, not of {} of file:{directory}",
            Quoted(&self.tag),
            Escaped(&self.directory),
            Quoted(tag)
        );
        Err(corrupt::<Counter>(path, what))
    }
}
