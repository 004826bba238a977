//! The options of segments in the form of JavaScript.

use crate::events::whole;
use crate::options::{MAX_WAIT_MS, set};
use leafid::{FileTag, Prewarm, Result, SegmentSource, Segments, SegmentsBuilder};
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;
use std::collections::BTreeMap;

/// The options of segments. A missing option has the host's default.
#[napi(object, object_to_js = false)]
pub struct SegmentsOptions {
    /// The servers, unless a user callback returns the segments.
    pub servers: Option<Vec<String>>,
    /// `leaf`, `leaf-snowflake`, `range` or `tinyid`.
    pub protocol: Option<String>,
    /// The number of ids of a fetch.
    pub step: Option<i64>,
    /// Whether the step follows the use.
    pub adaptive: Option<bool>,
    /// The percentage of a segment after which the next one is fetched.
    pub prefetch: Option<i64>,
    /// The longest wait of a call.
    pub timeout_ms: Option<i64>,
    /// The longest duration of a request.
    pub request_timeout_ms: Option<i64>,
    /// The longest duration of a connection.
    pub connect_timeout_ms: Option<i64>,
    /// Connections to each server.
    pub connections: Option<i64>,
    /// The number of ids for which one number of a Leaf stands.
    pub block_size: Option<i64>,
    /// The token for servers.
    pub token: Option<String>,
    /// More headers for servers.
    pub headers: Option<BTreeMap<String, String>>,
    /// Certificate authorities in addition to the system's.
    pub ca_file: Option<String>,
    /// The id space.
    pub name: Option<String>,
    /// The directory of the marks.
    pub state_dir: Option<String>,
    /// Whether the marks are stored.
    pub persist: Option<bool>,
    /// Whether directories may be on a network file system.
    pub shared_fs: Option<bool>,
    /// Whether the members of one group share the directories.
    pub shared_group: Option<bool>,
    /// The counters of a directory.
    pub tags: Option<Vec<FileTagObject>>,
    /// Whether the directory is created.
    pub create: Option<bool>,
    /// The tags that are fetched at the opening.
    pub prewarm: Option<Vec<String>>,
    /// Whether the tags of the last day are fetched.
    pub prewarm_last_day: Option<bool>,
    /// Whether a close stores the unused ids.
    pub keep_unused: Option<bool>,
    /// Whether each segment must be above all before it.
    pub ordered_source: Option<bool>,
}

/// A counter of a directory.
#[napi(object, object_to_js = false)]
pub struct FileTagObject {
    /// Its name.
    pub name: String,
    /// Its first id.
    pub start: Option<BigInt>,
    /// The number of ids of a fetch.
    pub step: Option<i64>,
}

impl SegmentsOptions {
    pub(crate) fn builder(self, source: Option<SegmentSource>) -> Result<SegmentsBuilder> {
        let mut builder = Segments::builder().max_wait_ms(MAX_WAIT_MS);
        builder = set(builder, source, SegmentsBuilder::source);
        builder = set(builder, self.servers, SegmentsBuilder::servers);
        if let Some(protocol) = self.protocol {
            builder = builder.protocol(protocol.parse()?);
        }
        builder = set(builder, self.headers, SegmentsBuilder::headers);
        if let Some(tags) = self.tags {
            builder = builder.tags(tags.into_iter().map(FileTagObject::named));
        }
        if let Some(tags) = self.prewarm {
            builder = builder.prewarm(Prewarm::Tags(tags));
        }
        if self.prewarm_last_day == Some(true) {
            builder = builder.prewarm(Prewarm::LastDay);
        }
        builder = set(builder, self.step, SegmentsBuilder::step);
        builder = set(builder, self.adaptive, SegmentsBuilder::adaptive);
        builder = set(builder, self.prefetch, SegmentsBuilder::prefetch);
        builder = set(builder, self.timeout_ms, SegmentsBuilder::timeout_ms);
        builder = set(builder, self.request_timeout_ms, SegmentsBuilder::request_timeout_ms);
        builder = set(builder, self.connect_timeout_ms, SegmentsBuilder::connect_timeout_ms);
        builder = set(builder, self.connections, SegmentsBuilder::connections);
        builder = set(builder, self.block_size, SegmentsBuilder::block_size);
        builder = set(builder, self.token, SegmentsBuilder::token);
        builder = set(builder, self.ca_file, SegmentsBuilder::ca_file);
        builder = set(builder, self.name, SegmentsBuilder::name);
        builder = set(builder, self.state_dir, SegmentsBuilder::state_dir);
        builder = set(builder, self.persist, SegmentsBuilder::persist);
        builder = set(builder, self.shared_fs, SegmentsBuilder::shared_fs);
        builder = set(builder, self.shared_group, SegmentsBuilder::shared_group);
        builder = set(builder, self.create, SegmentsBuilder::create);
        builder = set(builder, self.keep_unused, SegmentsBuilder::keep_unused);
        Ok(set(builder, self.ordered_source, SegmentsBuilder::ordered_source))
    }
}

impl FileTagObject {
    fn named(self) -> (String, FileTag) {
        let default = FileTag::default();
        let start = self.start.map_or(default.start, |start| whole(&start));
        (self.name, FileTag { start, step: self.step.unwrap_or(default.step) })
    }
}
