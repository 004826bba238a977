//! The public handle of a tag, from which users take ids.

use super::shared::SharedSegments;
use super::stats::TagStats;
use super::supply_driver::SupplyDriver;
use crate::os::{self, PerProcess};
use leafid_core::supply::{TagId, closed};
use leafid_core::{DoubleBuffer, Error, Result, Run};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The ids of one tag, from any number of threads. A clone is cheap. Within one [`crate::Segments`], all handles of one
/// name share their ids.
///
/// A forked child issues no id that its parent had in memory. It fetches its own segments.
#[derive(Clone)]
pub struct Tag {
    pub(super) shared: Arc<SharedSegments>,
    name: Arc<str>,
    pub(super) process: Arc<PerProcess<(Arc<SupplyDriver>, TagOfProcess)>>,
}

/// A tag of the supply in this process.
#[derive(Clone)]
pub(crate) struct TagOfProcess {
    pub(crate) id: TagId,
    /// Ids are taken from it without the supply.
    pub(crate) buffer: Arc<DoubleBuffer>,
}

impl Tag {
    pub(crate) fn new(shared: Arc<SharedSegments>, name: Arc<str>) -> Tag {
        Tag { shared, name, process: Arc::new(PerProcess::new()) }
    }

    /// The name of the tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The statistics of the tag. Errors: `closed`.
    pub fn stats(&self) -> Result<TagStats> {
        let (driver, of_process) = self.process()?;
        match driver.tag_stats(of_process.id).filter(|_| !driver.is_closed()) {
            Some(stats) => Ok(stats.into()),
            None => Err(closed()),
        }
    }

    /// For bindings: the error of a call that has waited for this duration.
    #[doc(hidden)]
    pub fn late(&self, waited: Duration) -> Error {
        let late = self.process().map(|(driver, of_process)| {
            driver.with(|supply, clocks| supply.late(of_process.id, waited, clocks))
        });
        late.map_or_else(|error| error, |late| late.unwrap_or_else(closed))
    }

    /// For calls and bindings: the next id, if one is in memory. It waits for nothing.
    #[doc(hidden)]
    #[inline]
    pub fn next_in_memory(&self) -> Option<i64> {
        let ((_, of_process), generation) = self.process.load()?;
        let watch = os::process::watch_generation()?;
        let (id, wants_fetch) = of_process.buffer.take().ok()?;
        // Checked after the step: in a forked child the step changed a copy of the parent's buffer.
        if !watch.is_still(generation) {
            return None;
        }
        if wants_fetch {
            self.fetch_ahead();
        }
        Some(id)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fetch_ahead(&self) {
        // If this does not fetch, the next caller that finds the buffer empty does.
        if os::check_may_wait().is_ok()
            && let Ok((driver, of_process)) = self.process()
        {
            driver.with(|supply, clocks| supply.wants_more(of_process.id, clocks));
        }
    }

    /// Whether the segments of this tag were closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Puts back ids that were taken in the process of this generation and not issued. In a child of it they are the
    /// parent's.
    pub(super) fn put_back_runs(&self, runs: &[Run], generation: u64) {
        if let Some((driver, of_process)) = self.process.get()
            && driver.generation == generation
        {
            driver.with(|supply, clocks| supply.put_back(of_process.id, runs, clocks));
        }
    }

    /// The tag in this process. Errors: `closed`; at the first call in a forked child also those of opening.
    pub(crate) fn process(&self) -> Result<(Arc<SupplyDriver>, TagOfProcess)> {
        loop {
            if let Some((driver, of_process)) = self.process.get() {
                return Ok((Arc::clone(driver), of_process.clone()));
            }
            let generation = os::process::generation();
            let driver = self.shared.driver()?;
            // `None` with another generation: this is the child of a fork that came in between.
            if let Some(tag) = driver.tag(&self.name) {
                let (id, buffer) = tag?;
                let _ = self.process.install((driver, TagOfProcess { id, buffer }), generation);
            }
        }
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tag").field(&self.name).finish()
    }
}
