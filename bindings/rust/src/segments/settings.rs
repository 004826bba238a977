//! The checked options of segments.

use super::options::{Prewarm, SegmentsOptions};
use super::source::select;
use super::source::source_properties::SourceProperties;
use crate::config::state_dir;
use crate::os::env::Sharing;
use leafid_core::Result;
use leafid_core::options::{
    DEFAULT_TIMEOUT_MS, check_keep_unused, check_prewarm, check_step, check_tag_of_ids, id_space,
    milliseconds, prefetch,
};
use leafid_core::supply::{Dialect, Source};
use std::path::PathBuf;
use std::time::Duration;

/// The valid options of opened segments. Only what depends on the state of the system is checked later.
pub(crate) struct SegmentsSettings {
    pub(crate) name: String,
    /// The sub-directory of the id space in the state directory; `None` if no marks are stored.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sharing: Sharing,
    pub(crate) source: SourceProperties,
    pub(crate) block_size: Option<i64>,
    pub(crate) step: Option<i64>,
    pub(crate) adaptive: bool,
    pub(crate) prefetch: u32,
    pub(crate) timeout: Duration,
    /// The longest wait that a call of this handle accepts.
    pub(crate) max_wait: Option<Duration>,
    pub(crate) keep_unused: bool,
    pub(crate) prewarm: Prewarm,
}

impl SegmentsSettings {
    /// Errors: `invalid_argument` for a name that this source does not accept as a tag.
    pub(crate) fn check_tag(&self, tag: &str) -> Result<()> {
        self.source.of_supply.check_tag(tag)?;
        match self.source.of_supply {
            Source::Servers { dialect: Dialect::Leaf(_), .. } => Ok(()),
            _ => check_tag_of_ids(tag, self.block_size),
        }
    }

    pub(crate) fn parse(options: &SegmentsOptions) -> Result<SegmentsSettings> {
        let name = id_space(options.name.as_deref())?;
        let persist = options.persist.unwrap_or(true);
        check_keep_unused(options.keep_unused, persist)?;
        check_step(options.step)?;
        let prefetch = prefetch(options.prefetch)?;
        if let Prewarm::Tags(tags) = &options.prewarm {
            check_prewarm(tags.len())?;
        }
        let timeout = milliseconds("timeout_ms", options.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS), 1)?;
        let max_wait = options.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?;
        let directory = match persist {
            true => Some(state_dir::state_dir(options.state_dir.as_deref())?.0.join(&name)),
            false => None,
        };
        let settings = SegmentsSettings {
            name,
            directory,
            sharing: options.sharing()?,
            source: select::source(options)?,
            block_size: options.block_size,
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
    use leafid_core::options::MOST_PREWARMED;

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
