//! The opening of segments in a process.

use super::HighWaterMarks;
use super::fetcher::Fetcher;
use super::settings::{Options, Prewarm};
use crate::snowflake::registry::registry;
use crate::tasks::with_timeout;
use leafid_core::{Code, Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// An opening is given as long, whatever a call is.
const LEAST: Duration = Duration::from_millis(100);

/// Makes the directory of the marks if it is missing. Nothing is fetched yet.
pub(crate) fn open(options: &Arc<Options>) -> Result<Arc<Fetcher>> {
    let env = Arc::clone(registry().env());
    let marks = bounded(options, {
        let (env, options) = (Arc::clone(&env), Arc::clone(options));
        move || {
            let source = match options.directory {
                Some(_) => options.origin.name.clone(),
                // A directory is of an id space already.
                None => format!("{} {}", options.name, options.origin.name),
            };
            let directory = options.directory.as_deref();
            let marks = HighWaterMarks::new(
                Arc::clone(&env),
                directory,
                &source,
                options.origin.order,
                options.sharing,
            )?;
            let recent = match options.prewarm {
                Prewarm::LastDay => marks.recent(env.clock.filtered_ms())?,
                _ => Vec::new(),
            };
            Ok((marks, recent))
        }
    });
    let (marks, recent) = marks?;
    let prewarm = match &options.prewarm {
        Prewarm::None => Vec::new(),
        Prewarm::Tags(tags) => tags.clone(),
        Prewarm::LastDay => recent,
    };
    Ok(Fetcher::open(Arc::clone(options), marks, env, prewarm))
}

/// Runs what the disk may hold up, within the time of a call.
fn bounded<T: Send + 'static>(
    options: &Options,
    action: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let bound = options.timeout.max(LEAST);
    with_timeout::run(bound, action).done().unwrap_or_else(|| {
        let message = format!(
            "the disk did not answer within {} ms; see state_dir, or raise timeout_ms",
            bound.as_millis()
        );
        Err(Error::new(Code::StateIo, message))
    })
}
