//! The opening of segments without a disk.

use super::high_water::HighWaterMarks;
use super::fetcher::Fetcher;
use super::settings::Options;
use crate::os::env::{Clock, Env, Random};
use leafid_core::Result;
use std::sync::Arc;

pub(crate) fn open(options: &Arc<Options>) -> Result<Arc<Fetcher>> {
    let env = Arc::new(Env { clock: Clock, random: Random });
    Ok(Fetcher::open(Arc::clone(options), HighWaterMarks, env, Vec::new()))
}
