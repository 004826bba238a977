//! The options of segments as JavaScript passes them.

use crate::events::whole;
use crate::options::MAX_WAIT_MS;
use leafid::{FileTag, Prewarm, Result, SegmentSource, Segments, SegmentsBuilder};
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;
use std::collections::BTreeMap;

/// The options of segments; an absent one is the host's default.
#[napi(object, object_to_js = false)]
pub struct SegmentsOptions {
    /// Where segments come from, unless the user's code gives them.
    pub servers: Option<Vec<String>>,
    /// `leaf`, `leaf-snowflake`, `range` or `tinyid`.
    pub protocol: Option<String>,
    /// Ids a fetch.
    pub step: Option<i64>,
    /// Whether the step follows the use.
    pub adaptive: Option<bool>,
    /// When the next segment is fetched, percent.
    pub prefetch: Option<i64>,
    /// The bound of a call.
    pub timeout_ms: Option<i64>,
    /// The bound of a request.
    pub request_timeout_ms: Option<i64>,
    /// The bound of a connection's beginning.
    pub connect_timeout_ms: Option<i64>,
    /// Connections to each server.
    pub connections: Option<i64>,
    /// Ids that a number of a Leaf stands for.
    pub block_size: Option<i64>,
    /// What requests are authorized by.
    pub token: Option<String>,
    /// What requests carry besides.
    pub headers: Option<BTreeMap<String, String>>,
    /// Certificate authorities besides the system's.
    pub ca_file: Option<String>,
    /// The id space.
    pub name: Option<String>,
    /// Where the marks are kept.
    pub state_dir: Option<String>,
    /// Whether they are.
    pub persist: Option<bool>,
    /// Whether directories may be on a network file system.
    pub shared_fs: Option<bool>,
    /// Whether directories are shared by the members of one group.
    pub shared_group: Option<bool>,
    /// Tags that a directory is to have.
    pub tags: Option<Vec<FileTagObject>>,
    /// Whether the directory is made.
    pub create: Option<bool>,
    /// Tags that are fetched at once.
    pub prewarm: Option<Vec<String>>,
    /// Whether those of the last day are.
    pub prewarm_last_day: Option<bool>,
    /// Whether a close keeps what is left.
    pub keep_unused: Option<bool>,
    /// Whether each segment lies above those before.
    pub ordered_source: Option<bool>,
}

/// A tag of a directory.
#[napi(object, object_to_js = false)]
pub struct FileTagObject {
    /// Its name.
    pub name: String,
    /// Its first id.
    pub start: Option<BigInt>,
    /// Ids a fetch.
    pub step: Option<i64>,
}

impl SegmentsOptions {
    pub(crate) fn builder(self, source: Option<SegmentSource>) -> Result<SegmentsBuilder> {
        let mut builder = Segments::builder().max_wait_ms(MAX_WAIT_MS);
        if let Some(source) = source {
            builder = builder.source(source);
        }
        if let Some(servers) = self.servers {
            builder = builder.servers(servers);
        }
        if let Some(protocol) = self.protocol {
            builder = builder.protocol(protocol.parse()?);
        }
        if let Some(headers) = self.headers {
            builder = builder.headers(headers);
        }
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

fn set<T>(
    builder: SegmentsBuilder,
    value: Option<T>,
    setter: impl Fn(SegmentsBuilder, T) -> SegmentsBuilder,
) -> SegmentsBuilder {
    match value {
        Some(value) => setter(builder, value),
        None => builder,
    }
}

impl FileTagObject {
    fn named(self) -> (String, FileTag) {
        let default = FileTag::default();
        let start = self.start.map_or(default.start, |start| whole(&start));
        (self.name, FileTag { start, step: self.step.unwrap_or(default.step) })
    }
}
