//! What all handles of segments share.

use super::open;
use super::settings::SegmentsSettings;
use super::supply_driver::SupplyDriver;
use crate::os::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::os::{self, PerProcess};
use leafid_core::Result;
use leafid_core::supply::closed;
use std::sync::Arc;

/// The state that all handles share, also across forks.
pub(crate) struct SharedSegments {
    pub(crate) settings: Arc<SegmentsSettings>,
    pub(crate) process: PerProcess<Arc<SupplyDriver>>,
    closed: AtomicBool,
}

impl SharedSegments {
    pub(crate) fn new(settings: Arc<SegmentsSettings>) -> SharedSegments {
        SharedSegments { settings, process: PerProcess::new(), closed: AtomicBool::new(false) }
    }

    /// The supply of this process. Errors: `closed`; at the first call in a forked child also those of opening.
    pub(crate) fn driver(&self) -> Result<Arc<SupplyDriver>> {
        loop {
            if self.is_closed() {
                return Err(closed());
            }
            if let Some(driver) = self.process.get() {
                return Ok(Arc::clone(driver));
            }
            os::check_may_work()?;
            let generation = os::process::generation();
            let driver = open::open(&self.settings);
            if generation != os::process::generation() {
                std::mem::forget(driver);
                continue;
            }
            let driver = driver?;
            match self.process.install(Arc::clone(&driver), generation) {
                Ok(()) => driver.begin(),
                // Another thread was faster.
                Err(extra) => extra.close_unused()?,
            }
            // Against a close in another thread: either it sees the installed one, or this thread sees the close.
            if self.is_closed() {
                self.close()?;
            }
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    pub(super) fn close(&self) -> Result<()> {
        os::check_may_wait()?;
        self.closed.store(true, SeqCst);
        match self.process.get() {
            Some(driver) => driver.close(),
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
