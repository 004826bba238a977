//! Responses of sources and stored files of segments, for the fuzz targets.

#![allow(missing_docs)]

use super::builder::SegmentsBuilder;
use super::high_water::{self, HighWaterMarks};
use super::settings::SegmentsSettings;
use super::source::callback::{FetchRequest, Fetched};
use super::source::file::{self, FileSource};
use super::source::leaf::{LeafServers, Mode};
use super::source::range::{self, RangeSource};
use super::source::tinyid::{self, TinyidServers};
use crate::http::{HttpOptions, Response, Verdict};
use crate::os::env;
use leafid_core::{IdOrder, Result, Segment};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Range { ordered: bool },
    Leaf { block_size: i64 },
    LeafSnowflake,
    Tinyid,
}

impl Dialect {
    fn mode(self) -> Mode {
        match self {
            Dialect::Leaf { block_size } => Mode::Segment { block_size },
            _ => Mode::Snowflake,
        }
    }
}

/// The meaning of a response.
pub fn answer(dialect: Dialect, status: u16, body: &[u8], tag: &str, nonce: &str) -> Result<Fetched> {
    let reply = Response::of(status, body);
    let verdict = match dialect {
        Dialect::Range { .. } => range::read(&reply, tag, nonce),
        Dialect::Tinyid => tinyid::read(&reply, tag),
        Dialect::Leaf { .. } | Dialect::LeafSnowflake => match dialect.mode().read(&reply, tag) {
            Verdict::Answer(segment) => Verdict::Answer(segment.into()),
            Verdict::Refused(error)
            | Verdict::TryNext(error)
            | Verdict::BadServer(error)
            | Verdict::Denied(error) => Verdict::BadServer(error),
        },
    };
    match verdict {
        Verdict::Answer(fetched) => Ok(fetched),
        Verdict::Refused(error)
        | Verdict::TryNext(error)
        | Verdict::BadServer(error)
        | Verdict::Denied(error) => Err(error),
    }
}

/// Sends a request to a server, on its own connection.
pub fn ask(dialect: Dialect, url: &str, tag: &str, after: i64, nonce: u128) -> Result<Segment> {
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
    let request = FetchRequest { tag: tag.into(), step: 0, after, urgent: true };
    match dialect {
        Dialect::Range { ordered } => {
            RangeSource::new(options, ordered)?.fetch(&request, nonce).map(|fetched| fetched.segment)
        }
        Dialect::Tinyid => TinyidServers::new(options)?.fetch(&request, nonce).map(|batch| batch.segments[0]),
        _ => LeafServers::new(options, dialect.mode(), Arc::clone(env::of_process()))?.get(tag),
    }
}

/// Reads the file of a `mark`, a `counter` or a `marker` and writes its content. Returns whether a slot was damaged.
pub fn stored_of_segments(kind: &str, bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    if kind == "mark" { high_water::again(bytes) } else { file::again(kind == "marker", bytes) }
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
    SegmentsSettings::parse(builder).map(|options| (options.step, options.prefetch))
}
