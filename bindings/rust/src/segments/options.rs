//! The options of segments as the user set them.

use super::source::callback::SegmentSource;
use super::source::file::FileTag;
use crate::config::http_options::{RequestOptions, SHARED_GROUP, Urls, flag};
use crate::os::env::Sharing;
use leafid_core::options::{allowed, has_blocks, id_order};
use leafid_core::{Error, IdOrder, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// The unchecked values of [`crate::SegmentsBuilder`]; `None` for options that the user did not set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentsOptions {
    pub(crate) servers: Urls,
    pub(crate) source: Option<SegmentSource>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) step: Option<i64>,
    pub(crate) adaptive: Option<bool>,
    pub(crate) prefetch: Option<i64>,
    pub(crate) timeout_ms: Option<i64>,
    pub(crate) access: RequestOptions,
    pub(crate) connections: Option<i64>,
    pub(crate) block_size: Option<i64>,
    pub(crate) name: Option<String>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) persist: Option<bool>,
    pub(crate) shared_fs: bool,
    pub(crate) shared_group: Option<bool>,
    pub(crate) tags: BTreeMap<String, FileTag>,
    pub(crate) create: bool,
    pub(crate) prewarm: Prewarm,
    pub(crate) keep_unused: bool,
    pub(crate) ordered_source: Option<bool>,
    pub(crate) max_wait_ms: Option<i64>,
}

impl SegmentsOptions {
    /// The options that only servers have, and whether each is set.
    pub(crate) fn set_for_servers(&self) -> Vec<(&'static str, bool)> {
        let own = [
            ("protocol", self.protocol.is_some()),
            ("connections", self.connections.is_some()),
            ("block_size", has_blocks(self.block_size)),
        ];
        own.into_iter().chain(self.access.set()).collect()
    }

    /// The options that only `file:DIR` has, and whether each is set.
    pub(crate) fn set_for_file(&self) -> [(&'static str, bool); 2] {
        [("create", self.create), ("tags", !self.tags.is_empty())]
    }

    /// The order of the ids of a source. `ascending`: by default each lies above the earlier ones.
    pub(crate) fn order(&self, ascending: bool) -> IdOrder {
        id_order(self.ordered_source, ascending)
    }

    /// Errors: `invalid_argument` for a value of the environment.
    pub(crate) fn sharing(&self) -> Result<Sharing> {
        Ok(Sharing { fs: self.shared_fs, group: flag(self.shared_group, SHARED_GROUP)? })
    }
}

/// The protocol of the servers.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// An unmodified Leaf server in segment mode, one id per request.
    #[default]
    Leaf,
    /// An unmodified Leaf server in snowflake mode, one id per request.
    LeafSnowflake,
    /// leafid's own protocol, which returns ranges.
    Range,
    /// The protocol of tinyid.
    Tinyid,
}

impl FromStr for Protocol {
    type Err = Error;

    /// Parses `leaf`, `leaf-snowflake`, `range` or `tinyid`. Errors: `invalid_argument`.
    fn from_str(text: &str) -> Result<Protocol> {
        match text {
            "leaf" => Ok(Protocol::Leaf),
            "leaf-snowflake" => Ok(Protocol::LeafSnowflake),
            "range" => Ok(Protocol::Range),
            "tinyid" => Ok(Protocol::Tinyid),
            _ => Err(Error::invalid("protocol", format!("{text:?}"), allowed("protocol"))),
        }
    }
}

impl Protocol {
    /// The name that [`Protocol::from_str`] parses.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Leaf => "leaf",
            Protocol::LeafSnowflake => "leaf-snowflake",
            Protocol::Range => "range",
            Protocol::Tinyid => "tinyid",
        }
    }
}

pub use leafid_core::supply::Prewarm;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::{Segments, SegmentsBuilder};
    use leafid_core::Code;

    #[test]
    fn protocols_are_read_as_they_are_written() {
        let all = [
            (Protocol::Leaf, "leaf"),
            (Protocol::LeafSnowflake, "leaf-snowflake"),
            (Protocol::Range, "range"),
            (Protocol::Tinyid, "tinyid"),
        ];
        for (protocol, name) in all {
            assert_eq!((protocol.name(), name.parse().unwrap()), (name, protocol));
        }
        assert_eq!("Leaf".parse::<Protocol>().unwrap_err().code(), Code::InvalidArgument);
    }

    #[test]
    fn files_are_shared_as_the_options_say() {
        let sharing = |builder: SegmentsBuilder| builder.options.sharing().unwrap();
        let (fs, group) = (Segments::builder().shared_fs(true), Segments::builder().shared_group(true));
        assert_eq!(sharing(fs.shared_group(false)), Sharing { fs: true, group: false });
        assert_eq!(sharing(group), Sharing { fs: false, group: true });
    }
}
