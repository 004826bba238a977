//! Connections of sources and stored files of segments, for the fuzz targets.

#![allow(missing_docs)]

use super::builder::SegmentsBuilder;
use super::high_water::{self, HighWaterMarks};
use super::settings::SegmentsSettings;
use super::source::dialects;
use super::source::fetch_request::FetchRequest;
use super::source::file::{self, FileSource};
use crate::http::{HttpOptions, ServerPool};
use crate::os::env;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{IdOrder, Result, Segment};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Sends a request for the tag `order` to a Leaf, or to a tinyid, on its own connection.
pub fn ask(leaf: Option<LeafMode>, url: &str) -> Result<Segment> {
    let options = HttpOptions {
        option: "servers",
        servers: vec![url.into()],
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        connections: 1,
    };
    let servers = ServerPool::new(options)?;
    let request = FetchRequest { tag: "order".into(), step: 0, after: 0, urgent: true };
    match leaf {
        Some(mode) => dialects::leaf(&servers, mode, &request.tag, env::of_process().number()?),
        None => dialects::tinyid(&servers, "", &request, 0),
    }
}

/// Reads the file of a `mark`, a `counter` or a `marker` and writes its content. Returns whether a slot was damaged.
pub fn stored_of_segments(kind: &str, bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    if kind == "mark" { high_water::rewrite(bytes) } else { file::rewrite(kind == "marker", bytes) }
}

/// Those of the segments that the marks of a directory accept.
pub fn accept(directory: &Path, order: IdOrder, tag: &str, segments: &[Segment]) -> Result<Vec<Segment>> {
    let marks = HighWaterMarks::new(Arc::clone(env::of_process()), Some(directory), "fuzz", order, false)?;
    let after = marks.after(tag)?;
    Ok(marks.accept(tag, segments, after)?.segments.to_vec())
}

/// Takes ids from a counter of a `file:` source. `create`: creates the directory and the counter.
pub fn take(directory: &Path, create: bool, tag: &str, step: i64, after: i64) -> Result<Segment> {
    let tags = match create {
        true => BTreeMap::from([(tag.to_owned(), file::FileTag::default())]),
        false => BTreeMap::new(),
    };
    let source = FileSource::open(Arc::clone(env::of_process()), directory, create, &tags, false)?;
    let request = FetchRequest { tag: tag.into(), step, after, urgent: false };
    source.fetch(&request).map(|fetched| fetched.segment)
}

/// Checks options. Opens a `file:` source, sends no request. Returns the step and the percentage.
pub fn segments_options(builder: &SegmentsBuilder) -> Result<(Option<i64>, u32)> {
    SegmentsSettings::parse(&builder.options).map(|options| (options.step, options.prefetch))
}
