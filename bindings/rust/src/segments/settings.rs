//! The checked options of segments.

use super::options::SegmentsOptions;
use super::source::host_source::HostSource;
use crate::config::state_dir;
use crate::config::user_options::with_environment;
use crate::os::env::Sharing;
use leafid_core::Result;
use leafid_core::options::SupplyOptions;
use leafid_core::supply::Source;
use std::path::PathBuf;
use std::time::Duration;

/// The valid options of opened segments. Only what depends on the state of the system is checked later.
pub(crate) struct SegmentsSettings {
    pub(crate) options: SupplyOptions,
    /// The sub-directory of the id space in the state directory; `None` if no marks are stored.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sharing: Sharing,
    /// What carries out the calls to the source, and what the supply knows of it.
    pub(crate) host: HostSource,
    pub(crate) source: Source,
    /// The longest wait that a call of this handle accepts.
    pub(crate) max_wait: Option<Duration>,
}

impl SegmentsSettings {
    pub(crate) fn parse(set: &SegmentsOptions) -> Result<SegmentsSettings> {
        let options = with_environment("", |environment| SupplyOptions::parse(&set.values, environment))?;
        let max_wait = set.max_wait()?;
        let directory = match options.persist {
            true => Some(state_dir::state_dir(set.path("state_dir"))?.0.join(&options.name)),
            false => None,
        };
        let sharing = Sharing { fs: options.shared_fs, group: options.shared_group };
        let (host, source) = HostSource::open(&options, set, sharing)?;
        Ok(SegmentsSettings { options, directory, sharing, host, source, max_wait })
    }

    /// The number of requests beside each other.
    pub(crate) fn threads(&self) -> usize {
        match &self.source {
            Source::Servers { connections, .. } => *connections,
            Source::Callback { .. } | Source::File { .. } => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::{Prewarm, Segments, SegmentsBuilder};

    fn parsed(builder: SegmentsBuilder) -> Result<SegmentsSettings> {
        SegmentsSettings::parse(&builder.persist(false).options)
    }

    #[test]
    fn files_are_shared_as_the_options_say() {
        let builder = || Segments::builder().fetch(|_| Ok(None));
        let sharing = |builder: SegmentsBuilder| parsed(builder).unwrap().sharing;
        let (fs, group) = (builder().shared_fs(true), builder().shared_group(true));
        assert_eq!(sharing(fs.shared_group(false)), Sharing { fs: true, group: false });
        assert_eq!(sharing(group), Sharing { fs: false, group: true });
    }

    #[test]
    fn prewarm_of_nothing_is_none() {
        let builder = || Segments::builder().fetch(|_| Ok(None));
        for prewarm in [Prewarm::None, Prewarm::LastDay, Prewarm::Tags(vec!["order".into()])] {
            assert_eq!(parsed(builder().prewarm(prewarm.clone())).unwrap().options.prewarm, prewarm);
        }
        let none = builder().prewarm(Prewarm::LastDay).prewarm(Prewarm::None);
        assert_eq!(parsed(none).unwrap().options.prewarm, Prewarm::None);
    }
}
