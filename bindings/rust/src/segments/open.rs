//! The opening of segments in a process.

use super::high_water::HighWaterMarks;
use super::settings::SegmentsSettings;
use super::supply_driver::SupplyDriver;
use crate::os::env;
use crate::tasks::with_timeout;
use leafid_core::Result;
use leafid_core::call::disk_bound;
use leafid_core::options::Named;
use std::sync::Arc;

/// Creates the directory of the marks if it is missing. It fetches nothing yet.
pub(crate) fn open(settings: &Arc<SegmentsSettings>) -> Result<Arc<SupplyDriver>> {
    let env = Arc::clone(env::of_process());
    let (its_env, its) = (Arc::clone(&env), Arc::clone(settings));
    let make = move || HighWaterMarks::new(its_env, its.directory.as_deref(), its.options.order, its.sharing);
    let within = disk_bound(settings.options.timeout);
    let advice = with_timeout::see_or_wait_longer(&Named("state_dir").to_string());
    let marks = with_timeout::run_on_disk(within, "the disk", &advice, make)?;
    Ok(SupplyDriver::open(Arc::clone(settings), marks, env))
}
