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
    use crate::segments::{FileTag, Prewarm, Protocol, Segments, SegmentsBuilder};
    use leafid_core::supply::Dialect;
    use leafid_core::{Code, IdOrder};

    fn parsed(builder: SegmentsBuilder) -> Result<SegmentsSettings> {
        SegmentsSettings::parse(&builder.persist(false).options)
    }

    #[track_caller]
    fn refused(builder: SegmentsBuilder, says: &str) {
        let error = parsed(builder).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().starts_with(says), "{error}");
    }

    #[test]
    fn options_of_another_source_are_refused() {
        let callback = || Segments::builder().fetch(|_| Ok(None));
        let file = || Segments::builder().servers(["file:/nowhere"]);
        let servers = || Segments::builder().servers(["http://127.0.0.1:1"]);
        for of in [callback, file] {
            refused(of().protocol(Protocol::Range), "protocol is");
            refused(of().connections(1), "connections is");
            refused(of().block_size(2), "block_size is");
            refused(of().token("secret"), "token is");
        }
        for of in [callback, servers] {
            refused(of().create(true), "create is");
            refused(of().tags([("order", FileTag { start: 1, step: 1 })]), "tags is");
        }
    }

    #[test]
    fn a_counter_that_cannot_be_is_refused() {
        let order = FileTag::default();
        for (tag, how, says) in [
            ("", order, "tag is \"\""),
            ("a\nb", order, "tag is"),
            ("a", FileTag { start: -1, step: 1 }, "the start of the tag \"a\" is -1"),
            ("a", FileTag { start: i64::MAX, step: 1 }, "the start"),
            ("a", FileTag { start: 1, step: 0 }, "the step of the tag \"a\" is 0"),
            ("a", FileTag { start: 1, step: (1 << 24) + 1 }, "the step"),
        ] {
            refused(Segments::builder().servers(["file:/nowhere"]).tags([(tag, how)]), says);
        }
    }

    #[cfg(feature = "http")]
    #[test]
    fn each_protocol_gives_ids_in_its_own_way() {
        let cases = [
            (Protocol::Leaf, None, IdOrder::Ranges),
            (Protocol::LeafSnowflake, None, IdOrder::Sparse),
            (Protocol::Range, None, IdOrder::Ascending),
            (Protocol::Range, Some(false), IdOrder::Ranges),
            (Protocol::Tinyid, None, IdOrder::Ranges),
            (Protocol::Tinyid, Some(true), IdOrder::Ascending),
        ];
        for (protocol, ordered, order) in cases {
            let builder =
                Segments::builder().servers(["http://127.0.0.1:1"]).protocol(protocol).token("secret");
            let builder = ordered.into_iter().fold(builder, SegmentsBuilder::ordered_source);
            let settings = parsed(builder).unwrap();
            assert_eq!((settings.options.order, settings.threads()), (order, 4), "{protocol:?}");
            let Source::Servers { servers, dialect, .. } = settings.source else { panic!() };
            assert_eq!(
                (servers.servers.len(), settings.options.from.header_token().is_some()),
                (1, protocol != Protocol::Tinyid)
            );
            assert!(match dialect {
                Dialect::Leaf(_) => matches!(protocol, Protocol::Leaf | Protocol::LeafSnowflake),
                Dialect::Range { ordered } =>
                    protocol == Protocol::Range && ordered == (order == IdOrder::Ascending),
                Dialect::Tinyid { token } => protocol == Protocol::Tinyid && token == "secret",
            });
        }
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
