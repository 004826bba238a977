//! The counter of a tag, changed by hand.

use crate::storage::shared_file::SharedFile;
use leafid_core::Result;
use leafid_core::format::counter::Counter;
use std::path::PathBuf;

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
