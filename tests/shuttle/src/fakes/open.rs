//! The opening of segments without a disk.

use super::marks::Marks;
use super::office::Office;
use super::options::Options;
use crate::env::{Clock, Env, Random};
use leafid_core::Result;
use std::sync::Arc;

pub(crate) fn open(options: &Arc<Options>) -> Result<Arc<Office>> {
    let env = Arc::new(Env { clock: Clock, random: Random });
    Ok(Office::open(Arc::clone(options), Marks, env, Vec::new()))
}
