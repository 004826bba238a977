//! The public handle of a tag, from which users take ids.

use super::fetch_errors::closed;
use super::fetcher::Fetcher;
use super::shared::SharedSegments;
use super::stats::TagStats;
use super::tag_state::TagState;
use crate::os::{self, PerProcess};
use leafid_core::{Error, Result};
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
    pub(super) process: Arc<PerProcess<(Arc<Fetcher>, Arc<TagState>)>>,
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
        let (fetcher, tag_state) = self.process()?;
        match fetcher.is_closed() {
            true => Err(closed()),
            false => Ok(TagStats::of(&tag_state)),
        }
    }

    /// For bindings: the error of a call that has waited for this duration.
    #[doc(hidden)]
    pub fn late(&self, waited: Duration) -> Error {
        match self.process() {
            Ok((fetcher, tag_state)) => fetcher.late(&tag_state, waited),
            Err(error) => error,
        }
    }

    /// For calls and bindings: the next id, if one is in memory. It waits for nothing.
    #[doc(hidden)]
    #[inline]
    pub fn next_in_memory(&self) -> Option<i64> {
        let ((_, tag_state), generation) = self.process.load()?;
        let watch = os::process::watch_generation()?;
        let (id, wants_fetch) = tag_state.buffer.take().ok()?;
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
            && let Ok((fetcher, tag_state)) = self.process()
        {
            fetcher.want(&tag_state, None);
        }
    }

    /// Whether the segments of this tag were closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// The tag's state in this process. Errors: `closed`; at the first call in a forked child also those of opening.
    pub(crate) fn process(&self) -> Result<(Arc<Fetcher>, Arc<TagState>)> {
        loop {
            if let Some((fetcher, tag_state)) = self.process.get() {
                return Ok((Arc::clone(fetcher), Arc::clone(tag_state)));
            }
            let generation = os::process::generation();
            let fetcher = self.shared.fetcher()?;
            // `None` with another generation: this is the child of a fork that came in between.
            if let Some(tag_state) = fetcher.tag_state(&self.name) {
                let _ = self.process.install((fetcher, tag_state?), generation);
            }
        }
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tag").field(&self.name).finish()
    }
}
