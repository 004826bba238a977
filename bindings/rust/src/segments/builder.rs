//! The builder of segments: one method for each option.

use super::handle::Segments;
use super::options::{Prewarm, Protocol, SegmentsOptions};
use super::settings::SegmentsSettings;
use super::source::callback::SegmentSource;
use super::source::fetch_request::{FetchRequest, Fetched};
use crate::config::shared_setters::shared_setters;
use crate::tasks::user_calls::Answer;
use leafid_core::Result;
use leafid_core::options::{FileTag, OptionValue};
use std::collections::BTreeMap;
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
    shared_setters!();

    /// The URLs of servers, such as `http://leaf-1:8080`. leafid prefers the first one and backs off from one that
    /// fails.
    ///
    /// Or `file:DIR` alone: a directory that the processes of one host share.
    pub fn servers<S: Into<String>>(self, servers: impl IntoIterator<Item = S>) -> Self {
        self.set("servers", OptionValue::Texts(servers.into_iter().map(Into::into).collect()))
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
        self.options.code.source = Some(source);
        self.set("fetch", OptionValue::Callback)
    }

    /// The protocol of the servers. Default `Leaf`.
    pub fn protocol(self, protocol: Protocol) -> Self {
        self.set("protocol", OptionValue::Text(protocol.name().into()))
    }

    /// How many ids to ask for, 1 to 1,000,000. Default: the source's own; 1000 for a callback or a Leaf.
    ///
    /// A Leaf returns one id per request: there it is how many ids to keep in stock. Refused with tinyid, whose table
    /// sets it.
    pub fn step(self, step: i64) -> Self {
        self.set("step", OptionValue::Int(step))
    }

    /// Whether the step follows the use, as in Leaf. Default `true`.
    ///
    /// The step doubles, up to 1,000,000, when a segment lasted less than 15 minutes. It halves when a segment lasted
    /// 30 or more, never below the first step. With a Leaf the stock starts with one id and grows up to `step`; `false`
    /// fills it at once.
    pub fn adaptive(self, adaptive: bool) -> Self {
        self.set("adaptive", OptionValue::Flag(adaptive))
    }

    /// The percentage of a segment, or of a Leaf's stock, 0 to 100. When more is used, the next segment is fetched.
    /// Default 10.
    pub fn prefetch(self, percent: i64) -> Self {
        self.set("prefetch", OptionValue::Int(percent))
    }

    /// The number of kept-alive connections to each server, 1 to 64. Default 4.
    ///
    /// With a Leaf it is also the number of concurrent requests, for all tags together.
    pub fn connections(self, connections: i64) -> Self {
        self.set("connections", OptionValue::Int(connections))
    }

    /// The number of ids in a block, 2 to 1,000,000, only for `Leaf`. Default: one number of the Leaf is one id.
    ///
    /// Number n of the Leaf stands for the ids n × N to (n + 1) × N - 1. The tag must then be called `…-xN`, in Leaf's
    /// table too, and such a tag is refused without this option. So all users of the tag agree. With other sources, 1
    /// is your word that tags called so are no blocks of ids for anybody.
    pub fn block_size(self, ids: i64) -> Self {
        self.set("block_size", OptionValue::Int(ids))
    }

    /// The counters of `file:DIR`. Each is created with its first fetch if it is missing. Default none.
    ///
    /// An existing counter continues, with the step given here.
    pub fn tags<S: Into<String>>(self, tags: impl IntoIterator<Item = (S, FileTag)>) -> Self {
        let tags: BTreeMap<String, FileTag> =
            tags.into_iter().map(|(name, tag)| (name.into(), tag)).collect();
        self.set("tags", OptionValue::Tags(tags.into_iter().collect()))
    }

    /// Whether `file:DIR` is created if it is missing. Default `false`, because a lost counter must not start again by
    /// itself.
    pub fn create(self, create: bool) -> Self {
        self.set("create", OptionValue::Flag(create))
    }

    /// The tags that are fetched at the opening, in the background. Default none.
    pub fn prewarm(self, prewarm: Prewarm) -> Self {
        self.set("prewarm", prewarm.into())
    }

    /// Whether a clean close stores the unused ids for the next opening. Default `false`: they are dropped.
    ///
    /// They are used only on this machine, within the same boot and a day.
    pub fn keep_unused(self, keep_unused: bool) -> Self {
        self.set("keep_unused", OptionValue::Flag(keep_unused))
    }

    /// Whether a segment must lie above all earlier segments of its tag. Default `true`; `false` for a Leaf and tinyid.
    ///
    /// With `false` a segment may lie below earlier ones; one that overlaps a remembered one is still refused. It
    /// cannot be `true` for a Leaf.
    pub fn ordered_source(self, ordered: bool) -> Self {
        self.set("ordered_source", OptionValue::Flag(ordered))
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
        let text = "SegmentsBuilder { options: {\"fetch\": a callback, \"servers\": [http://a, http://b], \"protocol\": \"range\", \
            \"step\": 2, \"adaptive\": false, \"prefetch\": 3, \"timeout_ms\": 4, \"request_timeout_ms\": 5, \
            \"connect_timeout_ms\": 6, \"connections\": 7, \"block_size\": 8, \"token\": a value that is not shown, \
            \"headers\": a value that is not shown, \
            \"ca_file\": \"ca.pem\", \"name\": \"orders\", \"state_dir\": \"state\", \"persist\": false, \
            \"shared_fs\": true, \"shared_group\": true, \"tags\": tags, \"create\": true, \"prewarm\": \"last-day\", \
            \"keep_unused\": true, \"ordered_source\": false} }";
        assert_eq!(format!("{builder:?}"), text);
        let path = |name| builder.options.path(name).and_then(|path| path.to_str());
        assert_eq!((path("ca_file"), path("state_dir")), (Some("ca.pem"), Some("state")));
        assert_eq!(builder.options.max_wait_ms, Some(9));
    }
}
