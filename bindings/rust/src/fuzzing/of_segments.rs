//! Connections of sources and stored files of segments, for the fuzz targets.

#![allow(missing_docs)]

use crate::SegmentsBuilder;
use crate::http::{HttpOptions, ServerPool};
use crate::os::env;
use crate::segments::high_water::HighWaterMarks;
use crate::segments::settings::SegmentsSettings;
use crate::segments::source::file::FileSource;
use crate::storage::shared_file::rewrite;
use leafid_core::call::{CallId, FileAdvice};
use leafid_core::format::counter::{Counter, Marker};
use leafid_core::format::mark::Mark;
use leafid_core::http::{Exchange, ExchangeStep, HttpResult};
use leafid_core::options::{FileTag, ServerOptions};
use leafid_core::server::ServersHealth;
use leafid_core::supply::Source;
use leafid_core::supply::counter_update::CounterUpdate;
use leafid_core::supply::mark_read::{MarkKey, MarkRead};
use leafid_core::supply::mark_update::MarkUpdate;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{IdOrder, Result, Segment};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sends a request for the tag `order` to a Leaf, or to a tinyid, on its own connection.
pub fn ask(leaf: Option<LeafMode>, url: &str) -> Result<Segment> {
    let servers = ServerOptions {
        said: "servers",
        urls: vec![url.into()],
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        connections: 1,
    };
    let servers = ServerPool::new(HttpOptions { servers, ca_file: None })?;
    let (known, mut health) = (Arc::new(servers.servers()), ServersHealth::new(1));
    let begun = Instant::now();
    let mut exchange = match leaf {
        Some(mode) => Exchange::leaf(&known, mode, "order", 0, Duration::ZERO),
        None => Exchange::tinyid(&known, "order", "", 0, Duration::ZERO),
    };
    loop {
        match exchange.poll(&mut health, begun.elapsed()) {
            ExchangeStep::Send(call) => {
                let end = servers.carry_out(*call, env::of_process().number()?);
                if let Some(HttpResult::Ids(fetched)) = exchange.ended(&mut health, end, begun.elapsed()) {
                    return fetched.map(|fetched| fetched.segment);
                }
            }
            ExchangeStep::Done(HttpResult::Ids(fetched)) => return fetched.map(|fetched| fetched.segment),
            ExchangeStep::Sent | ExchangeStep::Done(_) => unreachable!("one call for ids at a time"),
        }
    }
}

/// Reads the file of a `mark`, a `counter` or a `marker` and writes its content. Returns whether a slot was damaged.
pub fn stored_of_segments(kind: &str, bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    match kind {
        "mark" => rewrite::<Mark>(bytes),
        "marker" => rewrite::<Marker>(bytes),
        _ => rewrite::<Counter>(bytes),
    }
}

/// Those of the segments that the marks of a directory accept.
pub fn accept(directory: &Path, order: IdOrder, tag: &str, segments: &[Segment]) -> Result<Vec<Segment>> {
    let marks = HighWaterMarks::new(Arc::clone(env::of_process()), Some(directory), order, false)?;
    let (key, advice) = (MarkKey { source: "fuzz".into(), tag: tag.into() }, Some(FileAdvice::StateDir));
    let after = marks.read(MarkRead::new(CallId(1), key.clone(), advice)).into_result()?;
    let update = MarkUpdate::accept(CallId(1), key, advice, order, after, segments.into());
    Ok(marks.update(update).into_segments()?.0)
}

/// Takes ids from a counter of a `file:` source. `create`: creates the directory and the counter.
pub fn take(directory: &Path, create: bool, tag: &str, step: i64, after: i64) -> Result<Segment> {
    let tags: Vec<_> = create.then(|| (tag.to_owned(), FileTag::default())).into_iter().collect();
    let source = FileSource::open(Arc::clone(env::of_process()), directory, create, &tags, false)?;
    let Source::File { directory, tags } = source.of_supply() else { unreachable!("it is one of files") };
    let named = tags.into_iter().find_map(|(named, how)| (named == tag).then_some(how));
    let update = CounterUpdate::new(CallId(1), directory, tag.into(), step, after, named);
    Ok(source.update(update).into_result()?.segment)
}

/// Checks options. Opens a `file:` source, sends no request. Returns the step and the percentage.
pub fn segments_options(builder: &SegmentsBuilder) -> Result<(Option<i64>, u32)> {
    let settings = SegmentsSettings::parse(&builder.options)?;
    Ok((settings.options.step, settings.options.prefetch))
}
