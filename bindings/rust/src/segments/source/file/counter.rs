//! The counter of a tag, and how ids are taken from it.

use super::directory::failed;
use crate::config::checks::MOST_IDS;
use crate::segments::{FetchRequest, Fetched};
use crate::storage::decimal::Decimal;
use crate::storage::file_names::inside;
use crate::storage::shared_file::{Content, SharedFile, corrupt};
use leafid_core::{Code, Error, Result, Segment};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The largest number of ids of one fetch. If the latest fetch is unreadable, this number of ids is skipped.
const MOST_STEP: i64 = MOST_IDS as i64;

/// The start and the step of a counter of `file:DIR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTag {
    /// The first id, 0 to 2^63 - 2. Default 1.
    pub start: i64,
    /// How many ids a fetch gets if it requests no number, 1 to 2^24. Default 1000. A changed step takes effect without
    /// a restart.
    pub step: i64,
}

impl Default for FileTag {
    fn default() -> FileTag {
        FileTag { start: 1, step: 1_000 }
    }
}

impl FileTag {
    /// Errors: `invalid_argument`.
    pub(crate) fn check(&self, tag: &str) -> Result<()> {
        let of = |what| format!("the {what} of the tag {tag:?}");
        if !(0..i64::MAX).contains(&self.start) {
            return Err(Error::invalid(&of("start"), self.start, "0 to 9223372036854775806"));
        }
        if !(1..=MOST_STEP).contains(&self.step) {
            return Err(Error::invalid(&of("step"), self.step, &format!("1 to {MOST_STEP}")));
        }
        Ok(())
    }
}

/// The content of a counter's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// The id of the directory in which it was created.
    directory: String,
    tag: String,
    /// Every id below was given.
    pub(crate) next: Decimal,
    pub(crate) step: i64,
}

impl Content for Counter {
    const KIND: &'static str = "counter";
    const ADVICE: &'static str = "Put it back as it was, or move it away by hand and make it anew by: leafid file create DIR --tag TAG --start \
         N, where N is above every id in use";

    fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
        failed(doing, path, error)
    }
}

impl Counter {
    pub(crate) fn new(directory: &str, tag: &str, how: &FileTag) -> Counter {
        Counter {
            directory: directory.to_owned(),
            tag: inside(tag),
            next: Decimal(how.start),
            step: how.step,
        }
    }

    /// The tag of the counter; only the beginning of a long tag.
    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    /// Errors: `state_corrupt` for the counter of another tag or of another directory.
    pub(crate) fn check_whose(&self, directory: &str, tag: &str, path: &Path) -> Result<()> {
        if self.directory == directory && self.tag == inside(tag) {
            return Ok(());
        }
        let what = format!(
            "the counter of tag {:?} of file:{}, not of {tag:?} of file:{directory}",
            self.tag,
            self.directory.escape_debug()
        );
        Err(corrupt::<Counter>(path, &what))
    }
}

/// A counter whose lock is held.
pub(crate) struct LockedCounter {
    pub(crate) store: SharedFile<Counter>,
    pub(crate) path: PathBuf,
}

impl LockedCounter {
    /// Takes ids. They are durable when this returns. `step` is the new step of the counter, if it changes. Errors: as
    /// [`super::FileSource::fetch`].
    pub(crate) fn take(mut self, request: &FetchRequest, step: Option<i64>) -> Result<Fetched> {
        let mut counter = self.known()?;
        counter.step = step.unwrap_or(counter.step);
        if request.after > counter.next.0 {
            log::warn!(
                "leafid: {} stood at {}, and ids below {} were given before: it was raised, as after a restore",
                self.path.display(),
                counter.next.0,
                request.after
            );
            counter.next = Decimal(request.after);
            self.store.write(&counter)?;
        }
        let start = counter.next.0;
        if start == i64::MAX {
            let message = format!(
                "{} is used up: it stands at {start}, the end of all ids; use another tag",
                self.path.display()
            );
            return Err(Error::new(Code::SegmentUnavailable, message));
        }
        let wished = if request.step > 0 { request.step } else { counter.step };
        let end = start.saturating_add(wished.clamp(1, MOST_STEP));
        let segment = Segment::new(start, end, 1)?;
        counter.next = Decimal(end);
        self.store.write(&counter)?;
        Ok(Fetched { segment, step: Some(counter.step) })
    }

    /// Raises the counter to `start` if it is lower, sets the step if one is given, and returns the new content.
    pub(crate) fn change(mut self, start: i64, step: Option<i64>) -> Result<Counter> {
        let mut counter = self.known()?;
        counter.next = Decimal(counter.next.0.max(start));
        counter.step = step.unwrap_or(counter.step);
        // In both slots, because a raise may be larger than the ids that are skipped when one slot is damaged.
        self.store.write(&counter)?;
        self.store.write(&counter)?;
        Ok(counter)
    }

    /// The content of the counter, above every id that it gave.
    fn known(&mut self) -> Result<Counter> {
        let found = self.store.found();
        let mut counter = found.content.clone();
        if found.damaged {
            let skipped = counter.next.0.saturating_add(MOST_STEP);
            log::warn!(
                "leafid: one slot of {} is damaged, and may have held a later fetch: ids {} to {skipped} are left out",
                self.path.display(),
                counter.next.0
            );
            counter.next = Decimal(skipped);
            // In both slots: if the newer one is damaged later, the older one must not return its old value.
            self.store.write(&counter)?;
        }
        Ok(counter)
    }
}
