//! The builder of segments: one method for each option.

use super::handle::Segments;
use super::options::{Prewarm, Protocol, SegmentsOptions};
use super::settings::SegmentsSettings;
use super::source::callback::SegmentSource;
use super::source::fetch_request::{FetchRequest, Fetched};
use super::source::file::FileTag;
use crate::tasks::user_calls::Answer;
use leafid_core::Result;
use std::path::PathBuf;

/// The options of [`Segments`], from [`Segments::builder`].
///
/// `open` checks the values. `docs/OPTIONS.md` of the project describes every option in full.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SegmentsBuilder {
    pub(crate) options: SegmentsOptions,
}

impl Segments {
    /// Returns a builder with the default options.
    pub fn builder() -> SegmentsBuilder {
        SegmentsBuilder::default()
    }
}

impl SegmentsBuilder {
    /// The URLs of servers, such as `http://leaf-1:8080`. leafid prefers the first one and backs off from one that
    /// fails.
    ///
    /// Or `file:DIR` alone: a directory that the processes of one host share.
    pub fn servers<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.options.servers.0 = servers.into_iter().map(Into::into).collect();
        self
    }

    /// A callback instead of servers, for example for your own database: see [`SegmentSource::callback`].
    pub fn fetch(
        self,
        fetch: impl Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync + 'static,
    ) -> Self {
        self.source(SegmentSource::callback(fetch))
    }

    /// A source instead of servers, such as a callback. [`SegmentsBuilder::fetch`] is the short form.
    pub fn source(mut self, source: SegmentSource) -> Self {
        self.options.source = Some(source);
        self
    }

    /// The protocol of the servers. Default `Leaf`.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = Some(protocol);
        self
    }

    /// How many ids to ask for, 1 to 1,000,000. Default: the source's own; 1000 for a callback or a Leaf.
    ///
    /// A Leaf returns one id per request: there it is how many ids to keep in stock. Refused with tinyid, whose table
    /// sets it.
    pub fn step(mut self, step: i64) -> Self {
        self.options.step = Some(step);
        self
    }

    /// Whether the step follows the use, as in Leaf. Default `true`.
    ///
    /// The step doubles, up to 1,000,000, when a segment lasted less than 15 minutes. It halves when a segment lasted
    /// 30 or more, never below the first step. With a Leaf the stock starts with one id and grows up to `step`; `false`
    /// fills it at once.
    pub fn adaptive(mut self, adaptive: bool) -> Self {
        self.options.adaptive = Some(adaptive);
        self
    }

    /// The percentage of a segment, or of a Leaf's stock, 0 to 100. When more is used, the next segment is fetched.
    /// Default 10.
    pub fn prefetch(mut self, percent: i64) -> Self {
        self.options.prefetch = Some(percent);
        self
    }

    /// The longest wait of a call for its next id, in milliseconds, 1 to 3,600,000. Default 2000.
    ///
    /// A `take` that makes progress may last longer.
    pub fn timeout_ms(mut self, ms: i64) -> Self {
        self.options.timeout_ms = Some(ms);
        self
    }

    /// The longest duration of a request over all servers, in milliseconds, 1 to 3,600,000. Default 1000.
    pub fn request_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.request_timeout_ms = Some(ms);
        self
    }

    /// The longest duration of a connection to a server, in milliseconds, 1 to 3,600,000. Default 300.
    pub fn connect_timeout_ms(mut self, ms: i64) -> Self {
        self.options.access.connect_timeout_ms = Some(ms);
        self
    }

    /// The number of kept-alive connections to each server, 1 to 64. Default 4.
    ///
    /// With a Leaf it is also the number of concurrent requests, for all tags together.
    pub fn connections(mut self, connections: i64) -> Self {
        self.options.connections = Some(connections);
        self
    }

    /// The number of ids in a block, 2 to 1,000,000, only for `Leaf`. Default: one number of the Leaf is one id.
    ///
    /// Number n of the Leaf stands for the ids n × N to (n + 1) × N - 1. The tag must then be called `…-xN`, in Leaf's
    /// table too, and such a tag is refused without this option. So all users of the tag agree. With other sources, 1
    /// is your word that tags called so are no blocks of ids for anybody.
    pub fn block_size(mut self, ids: i64) -> Self {
        self.options.block_size = Some(ids);
        self
    }

    /// Sent to servers as `Authorization: Bearer …`, or to tinyid as its own `token`. Default none.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.options.access.token = Some(token.into());
        self
    }

    /// More headers that are sent to servers. Default none.
    pub fn headers<K: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.options.access.set_headers(headers);
        self
    }

    /// A PEM file of certificate authorities for servers, in addition to those of the system. Default none.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.access.ca_file = Some(path.into());
        self
    }

    /// The id space. Default "default".
    ///
    /// Within one, leafid refuses ids that a source returns twice for a tag. Two databases or two clusters need two id
    /// spaces.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = Some(name.into());
        self
    }

    /// The directory that stores, for each tag, the end of the ranges given, created if missing. Default: as for a
    /// snowflake.
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.state_dir = Some(dir.into());
        self
    }

    /// Whether the end of the ranges given is stored. Default `true`.
    ///
    /// With `false` only this process notices a source that repeats itself.
    pub fn persist(mut self, persist: bool) -> Self {
        self.options.persist = Some(persist);
        self
    }

    /// Whether `state_dir` and `file:DIR` may be on a network file system. Default `false`. Its locks must work between
    /// all hosts that use it.
    pub fn shared_fs(mut self, shared_fs: bool) -> Self {
        self.options.shared_fs = shared_fs;
        self
    }

    /// Whether the members of one group share `state_dir` and `file:DIR`. Default `LEAFID_SHARED_GROUP`, else `false`.
    ///
    /// `true`: files get mode 0660 whatever the umask, directories 2770. `false`: 0640 and 0750 less the umask.
    pub fn shared_group(mut self, shared_group: bool) -> Self {
        self.options.shared_group = Some(shared_group);
        self
    }

    /// The counters of `file:DIR`. Each is created with its first fetch if it is missing. Default none.
    ///
    /// An existing counter continues, with the step given here.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = (S, FileTag)>) -> Self {
        self.options.tags = tags.into_iter().map(|(name, tag)| (name.into(), tag)).collect();
        self
    }

    /// Whether `file:DIR` is created if it is missing. Default `false`, because a lost counter must not start again by
    /// itself.
    pub fn create(mut self, create: bool) -> Self {
        self.options.create = create;
        self
    }

    /// The tags that are fetched at the opening, in the background. Default none.
    pub fn prewarm(mut self, prewarm: Prewarm) -> Self {
        self.options.prewarm = prewarm;
        self
    }

    /// Whether a clean close stores the unused ids for the next opening. Default `false`: they are dropped.
    ///
    /// They are used only on this machine, within the same boot and a day.
    pub fn keep_unused(mut self, keep_unused: bool) -> Self {
        self.options.keep_unused = keep_unused;
        self
    }

    /// Whether a segment must lie above all earlier segments of its tag. Default `true`; `false` for a Leaf and tinyid.
    ///
    /// With `false` a segment may lie below earlier ones; one that overlaps a remembered one is still refused. It
    /// cannot be `true` for a Leaf.
    pub fn ordered_source(mut self, ordered: bool) -> Self {
        self.options.ordered_source = Some(ordered);
        self
    }

    /// For event loops: a longer wait than this number of milliseconds returns `would_block`.
    #[doc(hidden)]
    pub fn max_wait_ms(mut self, ms: i64) -> Self {
        self.options.max_wait_ms = Some(ms);
        self
    }

    /// Opens the segments. It sends no request yet.
    ///
    /// Errors: `invalid_argument`, `state_io`; with `file:DIR` also `unknown_tag`, `state_corrupt`.
    pub fn open(&self) -> Result<Segments> {
        Segments::open(SegmentsSettings::parse(&self.options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::http_options::RequestOptions;

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
        let text = "SegmentsBuilder { options: SegmentsOptions { servers: http://a, http://b, source: Some(SegmentSource::callback), \
            protocol: Some(Range), step: Some(2), adaptive: Some(false), prefetch: Some(3), timeout_ms: Some(4), \
            access: {\"token\", \"headers\", \"ca_file\", \"request_timeout_ms\", \"connect_timeout_ms\"}, \
            connections: Some(7), block_size: Some(8), name: Some(\"orders\"), state_dir: Some(\"state\"), \
            persist: Some(false), shared_fs: true, shared_group: Some(true), \
            tags: {\"order\": FileTag { start: 1, step: 10 }}, create: true, prewarm: LastDay, keep_unused: true, \
            ordered_source: Some(false), max_wait_ms: Some(9) } }";
        assert_eq!(format!("{builder:?}"), text);
        let RequestOptions { token, headers, ca_file, request_timeout_ms, connect_timeout_ms } =
            builder.options.access;
        assert_eq!((token.as_deref(), ca_file), (Some("secret"), Some("ca.pem".into())));
        assert_eq!(headers, [("x-one".to_owned(), "1".to_owned())]);
        assert_eq!((request_timeout_ms, connect_timeout_ms), (Some(5), Some(6)));
    }
}
