//! The opening of segments in a process.

use super::fetcher::Fetcher;
use super::high_water::HighWaterMarks;
use super::options::Prewarm;
use super::settings::SegmentsSettings;
use crate::os::env;
use crate::tasks::with_timeout::{self, SHORTEST_DISK_WAIT};
use leafid_core::Result;
use std::sync::Arc;

/// Creates the directory of the marks if it is missing. It fetches nothing yet.
pub(crate) fn open(settings: &Arc<SegmentsSettings>) -> Result<Arc<Fetcher>> {
    let env = Arc::clone(env::of_process());
    let (its_env, its) = (Arc::clone(&env), Arc::clone(settings));
    let make = move || {
        let source = match its.directory {
            Some(_) => its.source.name.clone(),
            // A directory already belongs to an id space.
            None => format!("{} {}", its.name, its.source.name),
        };
        let directory = its.directory.as_deref();
        let marks =
            HighWaterMarks::new(Arc::clone(&its_env), directory, &source, its.source.order, its.sharing)?;
        let recent = match its.prewarm {
            Prewarm::LastDay => marks.recent(its_env.clock.filtered_ms())?,
            _ => Vec::new(),
        };
        Ok((marks, recent))
    };
    let (within, advice) = (settings.timeout.max(SHORTEST_DISK_WAIT), "see state_dir, or raise timeout_ms");
    let (marks, recent) = with_timeout::run_on_disk(within, "the disk", advice, make)?;
    let prewarm = match &settings.prewarm {
        Prewarm::None => Vec::new(),
        Prewarm::Tags(tags) => tags.clone(),
        Prewarm::LastDay => recent,
    };
    Ok(Fetcher::open(Arc::clone(settings), marks, env, prewarm))
}
