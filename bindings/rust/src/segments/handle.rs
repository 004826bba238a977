//! The handle that users hold.

use super::fetcher::{Fetcher, closed};
use super::open;
use super::settings::SegmentsSettings;
use super::stats::SegmentsStats;
use super::tag::Tag;
use crate::os::{self, PerProcess};
use leafid_core::Result;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Ids from segments: ranges of counters, one counter a tag, leased from a source.
///
/// Each tag has two segments at hand, so that a source may be slow, or gone for a while, without a call that waits. A
/// clone is the same segments; they are closed by [`Segments::close`], or when the last clone and the last tag are dropped.
#[derive(Clone)]
pub struct Segments {
    shared: Arc<SharedSegments>,
}

/// What all handles share, across forks too.
pub(crate) struct SharedSegments {
    pub(crate) settings: Arc<SegmentsSettings>,
    pub(super) process: PerProcess<Arc<Fetcher>>,
    closed: AtomicBool,
}

impl Segments {
    pub(crate) fn open(settings: SegmentsSettings) -> Result<Segments> {
        let shared = SharedSegments::new(Arc::new(settings));
        shared.fetcher()?;
        Ok(Segments { shared: Arc::new(shared) })
    }

    /// The tag of this name: 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet.
    /// Errors: `invalid_argument`, `closed`.
    pub fn tag(&self, name: &str) -> Result<Tag> {
        self.shared.settings.check_tag(name)?;
        if self.shared.is_closed() {
            return Err(closed());
        }
        Ok(Tag::new(Arc::clone(&self.shared), name.into()))
    }

    /// How every tag stands that this process has used, by name. Errors: `closed`.
    pub fn stats(&self) -> Result<SegmentsStats> {
        Ok(SegmentsStats::of(&*self.shared.fetcher()?))
    }

    /// The id space.
    pub fn name(&self) -> &str {
        &self.shared.settings.name
    }

    /// Ends all tags; a second time does nothing. Calls that wait end with `closed`. With `keep_unused` what is left is
    /// kept for the next opening. Errors: `state_io`: it is closed all the same, and some of what was left is lost. But it
    /// stays open in a child of vfork, and on a thread with too little stack.
    pub fn close(&self) -> Result<()> {
        self.shared.close()
    }
}

impl SharedSegments {
    pub(super) fn new(settings: Arc<SegmentsSettings>) -> SharedSegments {
        SharedSegments { settings, process: PerProcess::new(), closed: AtomicBool::new(false) }
    }

    /// What this process has. Errors: `closed`; those of opening in a forked child's first call.
    pub(crate) fn fetcher(&self) -> Result<Arc<Fetcher>> {
        loop {
            if self.is_closed() {
                return Err(closed());
            }
            if let Some(fetcher) = self.process.get() {
                return Ok(Arc::clone(fetcher));
            }
            os::check_may_work()?;
            let generation = os::process::generation();
            let fetcher = open::open(&self.settings);
            if generation != os::process::generation() {
                std::mem::forget(fetcher);
                continue;
            }
            let fetcher = fetcher?;
            match self.process.install(Arc::clone(&fetcher), generation) {
                Ok(()) => fetcher.begin(),
                // Another thread was quicker.
                Err(extra) => extra.close_unused()?,
            }
            // Against a close meanwhile: it sees what was installed, or this sees it.
            if self.is_closed() {
                self.close()?;
            }
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    fn close(&self) -> Result<()> {
        os::check_may_wait()?;
        self.closed.store(true, SeqCst);
        match self.process.get() {
            Some(fetcher) => fetcher.close(),
            None => Ok(()),
        }
    }
}

impl Drop for SharedSegments {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::warn!("leafid: closing by drop: {error}");
        }
    }
}

/// A panic, of the user's code too, leaves it as it was: whatever it holds is changed in one step.
impl UnwindSafe for Segments {}
impl RefUnwindSafe for Segments {}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments").field("name", &self.shared.settings.name).finish_non_exhaustive()
    }
}
