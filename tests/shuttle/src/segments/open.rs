//! The opening of segments without a disk.

use super::high_water::HighWaterMarks;
use super::settings::SegmentsSettings;
use super::supply_driver::SupplyDriver;
use crate::os::env::{Clock, Env, Random};
use leafid_core::Result;
use std::sync::Arc;

pub(crate) fn open(settings: &Arc<SegmentsSettings>) -> Result<Arc<SupplyDriver>> {
    let env = Arc::new(Env { clock: Clock, random: Random });
    Ok(SupplyDriver::open(Arc::clone(settings), HighWaterMarks, env))
}
