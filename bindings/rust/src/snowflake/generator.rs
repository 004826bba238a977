//! The generator of one worker id, as a handle reads it.

use crate::os::clock::Clock;
use crate::snowflake::driver::Driver;
use leafid_core::Snowflake as Core;
use std::sync::Arc;

/// A generator, and who renews its spans. After a lost lease the driver has another one.
#[derive(Clone)]
pub(crate) struct Generator {
    pub(crate) core: Arc<Core>,
    /// The clock that is read for each id.
    pub(crate) clock: Clock,
    /// No id is issued before this time of the clock, because no record was found.
    pub(crate) begins_ms: Option<i64>,
    /// Its number among those of the driver.
    pub(crate) number: u64,
    pub(crate) driver: Arc<Driver>,
}

impl Generator {
    /// The generator that the driver has now; `None` if it has none, or belongs to the parent of this process.
    pub(crate) fn of(driver: &Arc<Driver>) -> Option<Generator> {
        let (core, begins_ms, number) = driver.now()?;
        Some(Generator { core, clock: driver.clock.clone(), begins_ms, number, driver: Arc::clone(driver) })
    }

    /// Whether no other one has taken its place.
    pub(crate) fn is_current(&self) -> bool {
        self.driver.generators() == self.number
    }

    pub(crate) fn worker_id(&self) -> u32 {
        self.core.worker_id()
    }

    /// The time after the filter.
    pub(crate) fn now_ms(&self) -> i64 {
        self.driver.env.clock.filtered_ms()
    }
}
