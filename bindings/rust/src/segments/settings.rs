//! The checked options of segments.

use super::options::{Prewarm, SegmentsOptions};
use super::source::origin::Origin;
use super::source::select;
use crate::config::state_dir;
use crate::os::env::Sharing;
use crate::storage::file_names::check_tag;
use leafid_core::options::{allowed, id_space, milliseconds};
use leafid_core::{Error, LARGEST_STEP, Result, Stock};
use std::path::PathBuf;
use std::time::Duration;

/// The valid options of opened segments. Only what depends on the state of the system is checked later.
pub(crate) struct SegmentsSettings {
    pub(crate) name: String,
    /// The sub-directory of the id space in the state directory; `None` if no marks are stored.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sharing: Sharing,
    pub(crate) origin: Origin,
    pub(crate) step: Option<i64>,
    pub(crate) adaptive: bool,
    pub(crate) prefetch: u32,
    pub(crate) timeout: Duration,
    /// The longest wait that a call of this handle accepts.
    pub(crate) max_wait: Option<Duration>,
    pub(crate) keep_unused: bool,
    pub(crate) prewarm: Prewarm,
}

/// The step if neither the user nor the source sets one: a common value in Leaf's tables.
pub(crate) const STEP: i64 = 1_000;
/// The largest number of tags that are fetched at an opening.
pub(crate) const MOST_PREWARMED: usize = 1_000;

impl SegmentsSettings {
    /// Errors: `invalid_argument` for a name that this source does not accept as a tag.
    pub(crate) fn check_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        self.origin.check_tag.as_ref().map_or(Ok(()), |check| check(tag))
    }

    /// The size and rules of the stock, for a source that returns ids one by one.
    pub(crate) fn stock(&self) -> Option<Stock> {
        self.origin.one_by_one.then(|| Stock {
            most: self.step.unwrap_or(STEP) as u64,
            adaptive: self.adaptive,
            prefetch: self.prefetch.into(),
        })
    }

    pub(crate) fn parse(options: &SegmentsOptions) -> Result<SegmentsSettings> {
        let name = id_space(options.name.as_deref())?;
        let persist = options.persist.unwrap_or(true);
        if options.keep_unused && !persist {
            return Err(Error::invalid(
                "keep_unused",
                "true",
                "false with persist = false: nothing can be kept",
            ));
        }
        if let Some(step) = options.step.filter(|step| !(1..=LARGEST_STEP).contains(step)) {
            return Err(Error::invalid("step", step, allowed("step")));
        }
        let prefetch = options.prefetch.unwrap_or(10);
        let prefetch = u32::try_from(prefetch).ok().filter(|&percent| percent <= 100);
        let prefetch = prefetch
            .ok_or_else(|| Error::invalid("prefetch", options.prefetch.unwrap_or(0), allowed("prefetch")))?;
        if let Prewarm::Tags(tags) = &options.prewarm
            && tags.len() > MOST_PREWARMED
        {
            return Err(Error::invalid("prewarm", format!("{} tags", tags.len()), allowed("prewarm")));
        }
        let timeout = milliseconds("timeout_ms", options.timeout_ms.unwrap_or(2_000), 1)?;
        let max_wait = options.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?;
        let directory = match persist {
            true => Some(state_dir::state_dir(options.state_dir.as_deref())?.0.join(&name)),
            false => None,
        };
        let settings = SegmentsSettings {
            name,
            directory,
            sharing: options.sharing()?,
            origin: select::origin(options)?,
            step: options.step,
            adaptive: options.adaptive.unwrap_or(true),
            prefetch,
            timeout,
            max_wait,
            keep_unused: options.keep_unused,
            prewarm: options.prewarm.clone(),
        };
        if let Prewarm::Tags(tags) = &settings.prewarm {
            tags.iter().try_for_each(|tag| settings.check_tag(tag))?;
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::Segments;

    #[test]
    fn a_thousand_tags_may_be_fetched_at_the_opening() {
        let parsed = |count| {
            let tags = (0..count).map(|n| format!("t{n}")).collect();
            let builder = Segments::builder().persist(false).fetch(|_| Ok(None));
            SegmentsSettings::parse(&builder.prewarm(Prewarm::Tags(tags)).options)
        };
        assert!(parsed(MOST_PREWARMED).is_ok());
        let error = parsed(MOST_PREWARMED + 1).err().unwrap();
        assert!(error.message().starts_with("prewarm is 1001 tags"), "{error}");
    }
}
