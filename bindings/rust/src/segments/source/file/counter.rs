//! The counter of a tag, and how ids are taken from it.

use crate::storage::shared_file::SharedFile;
use leafid_core::format::counter::{Counter, MOST_STEP};
use leafid_core::{Error, Result};
use std::path::PathBuf;

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

/// A counter whose lock is held.
pub(crate) struct LockedCounter {
    pub(crate) store: SharedFile<Counter>,
    pub(crate) path: PathBuf,
}

impl LockedCounter {
    /// Raises the counter to `start` if it is lower, sets the step if one is given, and returns the new content.
    pub(crate) fn change(mut self, start: i64, step: Option<i64>) -> Result<Counter> {
        let mut counter = self.known()?;
        counter.raise(start);
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
            let (from, until) = counter.skip();
            log::warn!(
                "leafid: one slot of {} is damaged, and may have held a later fetch: ids {from} to {until} are left out",
                self.path.display()
            );
            // In both slots: if the newer one is damaged later, the older one must not return its old value.
            self.store.write(&counter)?;
        }
        Ok(counter)
    }
}
