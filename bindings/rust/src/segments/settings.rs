//! Options, checked.

use super::builder::SegmentsBuilder;
use super::source::select::Origin;
use crate::config::allowed::allowed;
use crate::config::checks::{id_space, milliseconds};
use crate::config::state_dir;
use crate::os::env::Sharing;
use crate::storage::file_names::check_tag;
use leafid_core::{Error, LARGEST_STEP, Result, Stock};
use std::path::PathBuf;
use std::time::Duration;

/// What segments were opened with: valid, and complete but for the state of the world.
pub(crate) struct SegmentsSettings {
    pub(crate) name: String,
    /// The id space's sub-directory of the state directory; none where no marks are kept.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sharing: Sharing,
    pub(crate) origin: Origin,
    pub(crate) step: Option<i64>,
    pub(crate) adaptive: bool,
    pub(crate) prefetch: u32,
    pub(crate) timeout: Duration,
    /// The longest wait that this handle takes part in.
    pub(crate) max_wait: Option<Duration>,
    pub(crate) keep_unused: bool,
    pub(crate) prewarm: Prewarm,
}

/// Which tags are fetched at the opening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Prewarm {
    /// None.
    #[default]
    None,
    /// Those that were fetched within the last day, as the state directory tells: at most 1,000.
    LastDay,
    /// These: at most 1,000.
    Tags(Vec<String>),
}

/// The step that a source is asked for when neither the user nor it says one, as Leaf's tables commonly have it.
pub(crate) const STEP: i64 = 1_000;
/// Tags that are fetched at an opening.
pub(crate) const MOST_PREWARMED: usize = 1_000;

impl SegmentsSettings {
    /// Errors: `invalid_argument` for what is no tag of this source.
    pub(crate) fn check_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        self.origin.servers.as_ref().map_or(Ok(()), |servers| servers.check_tag(tag))
    }

    /// Of a source that gives ids one by one.
    pub(crate) fn stock(&self) -> Option<Stock> {
        self.origin.one_by_one.then(|| Stock {
            most: self.step.unwrap_or(STEP) as u64,
            adaptive: self.adaptive,
            prefetch: self.prefetch.into(),
        })
    }

    pub(crate) fn parse(builder: &SegmentsBuilder) -> Result<SegmentsSettings> {
        let name = id_space(builder.name.as_deref())?;
        let persist = builder.persist.unwrap_or(true);
        if builder.keep_unused && !persist {
            return Err(Error::invalid(
                "keep_unused",
                "true",
                "false with persist = false: nothing can be kept",
            ));
        }
        if let Some(step) = builder.step.filter(|step| !(1..=LARGEST_STEP).contains(step)) {
            return Err(Error::invalid("step", step, allowed("step")));
        }
        let prefetch = builder.prefetch.unwrap_or(10);
        let prefetch = u32::try_from(prefetch).ok().filter(|&percent| percent <= 100);
        let prefetch = prefetch
            .ok_or_else(|| Error::invalid("prefetch", builder.prefetch.unwrap_or(0), allowed("prefetch")))?;
        if let Prewarm::Tags(tags) = &builder.prewarm
            && tags.len() > MOST_PREWARMED
        {
            return Err(Error::invalid("prewarm", format!("{} tags", tags.len()), allowed("prewarm")));
        }
        let timeout = milliseconds("timeout_ms", builder.timeout_ms.unwrap_or(2_000), 1)?;
        let max_wait = builder.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?;
        let directory = match persist {
            true => Some(state_dir::state_dir(builder.state_dir.as_deref())?.0.join(&name)),
            false => None,
        };
        let settings = SegmentsSettings {
            name,
            directory,
            sharing: builder.sharing()?,
            origin: Origin::parse(builder)?,
            step: builder.step,
            adaptive: builder.adaptive.unwrap_or(true),
            prefetch,
            timeout,
            max_wait,
            keep_unused: builder.keep_unused,
            prewarm: builder.prewarm.clone(),
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
            SegmentsSettings::parse(&builder.prewarm(Prewarm::Tags(tags)))
        };
        assert!(parsed(MOST_PREWARMED).is_ok());
        let error = parsed(MOST_PREWARMED + 1).err().unwrap();
        assert!(error.message().starts_with("prewarm is 1001 tags"), "{error}");
    }
}
