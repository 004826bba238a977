//! Segments that are opened in a simulated process, and as a fork copies them.

use crate::os;
use crate::os::env::Env;
use crate::segments::high_water::HighWaterMarks;
use crate::segments::settings::SegmentsSettings;
use crate::segments::shared::SharedSegments;
use crate::segments::supply_driver::SupplyDriver;
use crate::{SegmentsBuilder, Tag};
use leafid_core::Result;
use leafid_core::supply::closed;
use std::sync::Arc;

/// The segments of a simulated process, with one tag.
pub(crate) struct Opened {
    shared: Arc<SharedSegments>,
    pub(crate) tag: Tag,
}

impl Opened {
    /// Opens them in the process that is played.
    pub(crate) fn new(builder: &SegmentsBuilder, env: &Arc<Env>) -> Result<Opened> {
        let opened = Opened::of(Arc::new(SegmentsSettings::parse(&builder.options)?));
        opened.begin(env)?;
        Ok(opened)
    }

    fn of(settings: Arc<SegmentsSettings>) -> Opened {
        let shared = Arc::new(SharedSegments::new(settings));
        let tag = Tag::new(Arc::clone(&shared), "forked".into());
        Opened { shared, tag }
    }

    fn marks(&self, env: &Arc<Env>) -> Result<HighWaterMarks> {
        let settings = &self.shared.settings;
        HighWaterMarks::new(Arc::clone(env), settings.directory.as_deref(), settings.options.order, false)
    }

    /// Creates the state of the process that is played, as its first call does.
    pub(crate) fn begin(&self, env: &Arc<Env>) -> Result<()> {
        let (settings, marks) = (Arc::clone(&self.shared.settings), self.marks(env)?);
        self.install(SupplyDriver::open(settings, marks, Arc::clone(env)));
        Ok(())
    }

    fn install(&self, driver: Arc<SupplyDriver>) {
        let _ = self.shared.process.install(driver, os::process::generation());
    }

    /// A copy as a fork makes it, with the ids in memory and the state of the parent, which is played.
    pub(crate) fn copy(&self, env: &Arc<Env>) -> Result<Opened> {
        let copy = Opened::of(Arc::clone(&self.shared.settings));
        let driver = self.shared.driver()?.copy(self.marks(env)?, Arc::clone(env));
        copy.install(driver.ok_or_else(closed)?);
        Ok(copy)
    }
}
