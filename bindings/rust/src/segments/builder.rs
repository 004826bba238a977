//! The options of segments.

use super::handle::Segments;
use super::settings::{Prewarm, SegmentsSettings};
use super::source::callback::{FetchRequest, Fetched, SegmentSource};
use super::source::file::FileTag;
use crate::config::http_options::{RequestOptions, SHARED_GROUP, flag};
use crate::os::env::Sharing;
use crate::tasks::user_calls::Answer;
use leafid_core::{Error, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// The options of [`Segments`]; made by [`Segments::builder`]. Values are checked by `open`.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SegmentsBuilder {
    pub(crate) servers: Vec<String>,
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

/// What servers speak.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// An unmodified Leaf server's: its segment mode, one id a request.
    #[default]
    Leaf,
    /// Likewise its snowflake mode.
    LeafSnowflake,
    /// Leafid's own.
    Range,
    /// tinyid's.
    Tinyid,
}

impl FromStr for Protocol {
    type Err = Error;

    /// Reads `leaf`, `leaf-snowflake`, `range` or `tinyid`. Errors: `invalid_argument`.
    fn from_str(text: &str) -> Result<Protocol> {
        match text {
            "leaf" => Ok(Protocol::Leaf),
            "leaf-snowflake" => Ok(Protocol::LeafSnowflake),
            "range" => Ok(Protocol::Range),
            "tinyid" => Ok(Protocol::Tinyid),
            _ => Err(Error::invalid(
                "protocol",
                format!("{text:?}"),
                crate::config::allowed::allowed("protocol"),
            )),
        }
    }
}

impl Protocol {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Leaf => "leaf",
            Protocol::LeafSnowflake => "leaf-snowflake",
            Protocol::Range => "range",
            Protocol::Tinyid => "tinyid",
        }
    }
}

impl Segments {
    /// The options, to be opened.
    pub fn builder() -> SegmentsBuilder {
        SegmentsBuilder::default()
    }
}

impl SegmentsBuilder {
    /// Where segments come from: the URLs of servers, of which the first is preferred and one that fails rests, as in
    /// `http://leaf-1:8080`; or `file:DIR` alone, a directory that processes of one host share.
    pub fn servers<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.servers = servers.into_iter().map(Into::into).collect();
        self
    }

    /// Segments from a callback instead, on your own database for example: see [`SegmentSource::callback`].
    pub fn fetch(
        self,
        fetch: impl Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync + 'static,
    ) -> Self {
        self.source(SegmentSource::callback(fetch))
    }

    /// As [`SegmentsBuilder::fetch`].
    pub fn source(mut self, source: SegmentSource) -> Self {
        self.source = Some(source);
        self
    }

    /// What the servers speak. Default `Leaf`.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// How many ids to ask for at a time, 1 to 1,000,000. Default: the source's own; 1000 of a callback. Of a Leaf, which
    /// gives one id a request, as many are kept in stock, 1000 by default; tinyid decides itself, and takes none.
    pub fn step(mut self, step: i64) -> Self {
        self.step = Some(step);
        self
    }

    /// Whether the step follows the use, as Leaf's does: doubled, up to 1,000,000, when a segment lasted less than 15
    /// minutes, halved when it lasted more than 30, never below the first. Default `true`. The stock of a Leaf starts
    /// with one id, and grows to `step` with the use; `false` fills it at once.
    pub fn adaptive(mut self, adaptive: bool) -> Self {
        self.adaptive = Some(adaptive);
        self
    }

    /// Of how much of a segment, in percent, more must be used before the next one is fetched, 0 to 100. Default 10.
    pub fn prefetch(mut self, percent: i64) -> Self {
        self.prefetch = Some(percent);
        self
    }

    /// How long a call waits at most for its next id, milliseconds. Default 2000. A `take` that makes progress goes on.
    pub fn timeout_ms(mut self, ms: i64) -> Self {
        self.timeout_ms = Some(ms);
        self
    }

    /// How long a request to a server may last, milliseconds. Default 1000.
    pub fn request_timeout_ms(mut self, ms: i64) -> Self {
        self.access.request_timeout_ms = Some(ms);
        self
    }

    /// How long a server may take to accept a connection, milliseconds. Default 300.
    pub fn connect_timeout_ms(mut self, ms: i64) -> Self {
        self.access.connect_timeout_ms = Some(ms);
        self
    }

    /// How many connections to each server are kept alive, 1 to 64; of a Leaf also how many requests are under way at
    /// a time, for all tags together. Default 4.
    pub fn connections(mut self, connections: i64) -> Self {
        self.connections = Some(connections);
        self
    }

    /// Ids that one number of a Leaf stands for, 2 to 1,000,000: number n for n * N to (n + 1) * N - 1. Each tag must be
    /// called `…-xN` then, in Leaf's table too, and is not used otherwise, so that all who read it agree. Default: a number
    /// is an id.
    pub fn block_size(mut self, ids: i64) -> Self {
        self.block_size = Some(ids);
        self
    }

    /// Sent to servers as `Authorization: Bearer …`; to tinyid as its own `token`.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.access.token = Some(token.into());
        self
    }

    /// Sent to servers with each request, besides.
    pub fn headers<K: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.access.set_headers(headers);
        self
    }

    /// A PEM file of certificate authorities that servers may be signed by, besides the system's own.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.access.ca_file = Some(path.into());
        self
    }

    /// The id space: what a source gives a tag of it twice is refused. Segments of two databases, or two clusters, are
    /// two id spaces. Default "default".
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where it is kept how far each tag was given; made if missing. Default as for a snowflake.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(dir.into());
        self
    }

    /// Whether it is kept how far each tag was given. Default `true`. `false` has a source that repeats itself noticed by
    /// this process alone.
    pub fn persist(mut self, persist: bool) -> Self {
        self.persist = Some(persist);
        self
    }

    /// Whether `state_dir`, and `file:DIR`, may lie on a network file system: its locks must work between all hosts that
    /// use it. Default `false`.
    pub fn shared_fs(mut self, shared_fs: bool) -> Self {
        self.shared_fs = shared_fs;
        self
    }

    /// Whether `state_dir`, and `file:DIR`, is shared by the members of one group: files are born for them to write, 0660
    /// whatever umask says, and directories 2770, so that what is made in them is the group's. Default
    /// `LEAFID_SHARED_GROUP`, else `false`: 0640 and 0750 less umask.
    pub fn shared_group(mut self, shared_group: bool) -> Self {
        self.shared_group = Some(shared_group);
        self
    }

    /// Tags of a `file:` source, made if it has them not yet; one that is there goes on, with the step that is said here.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = (S, FileTag)>) -> Self {
        self.tags = tags.into_iter().map(|(name, tag)| (name.into(), tag)).collect();
        self
    }

    /// Whether the directory of a `file:` source is made if it is missing. Default `false`: a counter that is lost must not
    /// begin anew by itself.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Tags to be fetched at once, before their first use, in the background. Default none.
    pub fn prewarm(mut self, prewarm: Prewarm) -> Self {
        self.prewarm = prewarm;
        self
    }

    /// Whether a clean close keeps what is left for the next opening on this machine, for a day at most. Default
    /// `false`: it is given up.
    pub fn keep_unused(mut self, keep_unused: bool) -> Self {
        self.keep_unused = keep_unused;
        self
    }

    /// Whether the source gives every segment of a tag above all that it gave before, so that one below is refused.
    /// Default `true`; `false` of a Leaf, whose nodes interleave, and of tinyid. Segments that cross one of those remembered, the last ones, are refused either way.
    pub fn ordered_source(mut self, ordered: bool) -> Self {
        self.ordered_source = Some(ordered);
        self
    }

    /// For event loops: a wait of more than this many milliseconds is `would_block` instead.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.max_wait_ms = Some(ms);
        self
    }

    /// Opens the segments. No server is asked yet.
    ///
    /// Errors: `invalid_argument`, `state_io`; of a `file:` source `unknown_tag`, `state_corrupt`.
    pub fn open(&self) -> Result<Segments> {
        Segments::open(SegmentsSettings::parse(self)?)
    }

    /// Which of the options are set that only servers know.
    pub(crate) fn set_for_servers(&self) -> Vec<(&'static str, bool)> {
        let own = [
            ("protocol", self.protocol.is_some()),
            ("connections", self.connections.is_some()),
            ("block_size", self.block_size.is_some()),
        ];
        own.into_iter().chain(self.access.set()).collect()
    }

    /// Likewise those of `file:DIR`.
    pub(crate) fn set_for_file(&self) -> [(&'static str, bool); 2] {
        [("create", self.create), ("tags", !self.tags.is_empty())]
    }

    /// Errors: `invalid_argument` for the environment.
    pub(crate) fn sharing(&self) -> Result<Sharing> {
        Ok(Sharing { fs: self.shared_fs, group: flag(self.shared_group, SHARED_GROUP)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn each_option_is_kept_beside_those_that_were_set_before() {
        let source = SegmentSource::callback(|_| Ok(None));
        let builder = Segments::builder()
            .source(source)
            .servers(["http://a", "http://b"])
            .protocol(Protocol::Range)
            .step(2)
            .adaptive(false)
            .prefetch(3)
            .timeout_ms(4)
            .request_timeout_ms(5)
            .connect_timeout_ms(6)
            .connections(7)
            .block_size(8)
            .token("secret")
            .headers([("x-one", "1")])
            .ca_file("ca.pem")
            .name("orders")
            .state_dir("state")
            .persist(false)
            .shared_fs(true)
            .shared_group(true)
            .tags([("order", FileTag { start: 1, step: 10 })])
            .create(true)
            .prewarm(Prewarm::LastDay)
            .keep_unused(true)
            .ordered_source(false)
            .max_wait_ms(9);
        let text = "SegmentsBuilder { servers: [\"http://a\", \"http://b\"], source: Some(SegmentSource::callback), \
            protocol: Some(Range), step: Some(2), adaptive: Some(false), prefetch: Some(3), timeout_ms: Some(4), \
            access: {\"token\", \"headers\", \"ca_file\", \"request_timeout_ms\", \"connect_timeout_ms\"}, \
            connections: Some(7), block_size: Some(8), name: Some(\"orders\"), state_dir: Some(\"state\"), \
            persist: Some(false), shared_fs: true, shared_group: Some(true), \
            tags: {\"order\": FileTag { start: 1, step: 10 }}, create: true, prewarm: LastDay, keep_unused: true, \
            ordered_source: Some(false), max_wait_ms: Some(9) }";
        assert_eq!(format!("{builder:?}"), text);
        let RequestOptions { token, headers, ca_file, request_timeout_ms, connect_timeout_ms } =
            builder.access;
        assert_eq!((token.as_deref(), ca_file), (Some("secret"), Some("ca.pem".into())));
        assert_eq!(headers, [("x-one".to_owned(), "1".to_owned())]);
        assert_eq!((request_timeout_ms, connect_timeout_ms), (Some(5), Some(6)));
    }

    #[test]
    fn files_are_shared_as_the_options_say() {
        let sharing = |builder: SegmentsBuilder| builder.sharing().unwrap();
        let (fs, group) = (Segments::builder().shared_fs(true), Segments::builder().shared_group(true));
        assert_eq!(sharing(fs.shared_group(false)), Sharing { fs: true, group: false });
        assert_eq!(sharing(group), Sharing { fs: false, group: true });
    }
}
