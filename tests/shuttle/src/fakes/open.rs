//! The opening of segments without a disk.

use super::high_water::HighWaterMarks;
use super::fetcher::Fetcher;
use super::settings::SegmentsSettings;
use crate::os::env::{Clock, Env, Random};
use leafid_core::Result;
use std::sync::Arc;

pub(crate) fn open(settings: &Arc<SegmentsSettings>) -> Result<Arc<Fetcher>> {
    let env = Arc::new(Env { clock: Clock, random: Random });
    Ok(Fetcher::open(Arc::clone(settings), HighWaterMarks, env, Vec::new()))
}
