//! The opening of segments in a process.

use super::fetcher::Fetcher;
use super::high_water::HighWaterMarks;
use super::options::Prewarm;
use super::settings::SegmentsSettings;
use crate::os::env;
use crate::tasks::with_timeout;
use leafid_core::{Code, Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// The shortest time limit of an opening.
const LEAST: Duration = Duration::from_millis(100);

/// Creates the directory of the marks if it is missing. It fetches nothing yet.
pub(crate) fn open(settings: &Arc<SegmentsSettings>) -> Result<Arc<Fetcher>> {
    let env = Arc::clone(env::of_process());
    let marks = bounded(settings, {
        let (env, settings) = (Arc::clone(&env), Arc::clone(settings));
        move || {
            let source = match settings.directory {
                Some(_) => settings.origin.name.clone(),
                // A directory already belongs to an id space.
                None => format!("{} {}", settings.name, settings.origin.name),
            };
            let directory = settings.directory.as_deref();
            let marks = HighWaterMarks::new(
                Arc::clone(&env),
                directory,
                &source,
                settings.origin.order,
                settings.sharing,
            )?;
            let recent = match settings.prewarm {
                Prewarm::LastDay => marks.recent(env.clock.filtered_ms())?,
                _ => Vec::new(),
            };
            Ok((marks, recent))
        }
    });
    let (marks, recent) = marks?;
    let prewarm = match &settings.prewarm {
        Prewarm::None => Vec::new(),
        Prewarm::Tags(tags) => tags.clone(),
        Prewarm::LastDay => recent,
    };
    Ok(Fetcher::open(Arc::clone(settings), marks, env, prewarm))
}

/// Runs work that the disk may delay, within the time limit of a call.
fn bounded<T: Send + 'static>(
    settings: &SegmentsSettings,
    action: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let bound = settings.timeout.max(LEAST);
    with_timeout::run(bound, action).done().unwrap_or_else(|| {
        let message = format!(
            "the disk did not answer within {} ms; see state_dir, or raise timeout_ms",
            bound.as_millis()
        );
        Err(Error::new(Code::StateIo, message))
    })
}
