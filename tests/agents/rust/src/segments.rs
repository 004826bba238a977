//! The segments that `key=value` arguments describe, and the callback that counts by itself.

use crate::options::Options;
use leafid::{
    FetchRequest, Fetched, FileTag, OptionOf, Protocol, Segment, SegmentSource, Segments, SegmentsBuilder,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Arguments: `servers=A,B` (else a callback: `delay_ms`), `protocol` (range), `step`, `adaptive=no`, `timeout_ms`,
/// `request_timeout_ms`, `connect_timeout_ms`, `connections`, `block_size`, `token`, `dir`, `name`, `keep`, `create`,
/// `tags=order:1:1000,…` (name, start, step).
pub fn builder(options: &Options) -> SegmentsBuilder {
    let builder = match options.text("servers") {
        Some(servers) => {
            let builder = Segments::builder().servers(servers.split(','));
            let protocol = options.text("protocol").unwrap_or("range").parse().unwrap_or(Protocol::Range);
            if servers.starts_with("file:") { builder } else { builder.protocol(protocol) }
        }
        None => Segments::builder().source(Counting::new(options.number("delay_ms", 0)).source()),
    };
    describe(options, builder)
}

/// The options besides the source.
pub fn describe(options: &Options, mut builder: SegmentsBuilder) -> SegmentsBuilder {
    for (name, value) in options.of(OptionOf::Segments).filter(|(name, _)| *name != "protocol") {
        builder.set_value(name, value).expect("a value of its kind");
    }
    if let Some(tags) = options.text("tags") {
        builder = builder.tags(tags.split(',').map(|tag| {
            let mut words = tag.split(':');
            let name = words.next().unwrap_or_default().to_owned();
            let mut number = |default| words.next().and_then(|word| word.parse().ok()).unwrap_or(default);
            (name, FileTag { start: number(1), step: number(1_000) })
        }));
    }
    builder
        .adaptive(options.text("adaptive") != Some("no"))
        .keep_unused(options.text("keep").is_some())
        .create(options.text("create").is_some())
}

/// A source that gives each tag what comes next, and watches how it is called.
#[derive(Default)]
pub struct Counting {
    delay: Duration,
    next: Mutex<HashMap<String, i64>>,
    /// How many calls there were.
    pub calls: AtomicUsize,
    now: AtomicUsize,
    /// The most calls at once.
    pub most: AtomicUsize,
}

impl Counting {
    /// One that takes this long.
    pub fn new(delay_ms: u64) -> Arc<Counting> {
        Arc::new(Counting { delay: Duration::from_millis(delay_ms), ..Counting::default() })
    }

    /// To be given to a builder.
    pub fn source(self: &Arc<Counting>) -> SegmentSource {
        let counting = Arc::clone(self);
        SegmentSource::callback(move |request| counting.answer(request))
    }

    fn answer(&self, request: &FetchRequest) -> leafid::Answer<Option<Fetched>> {
        self.calls.fetch_add(1, SeqCst);
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        std::thread::sleep(self.delay);
        let mut next = self.next.lock().map_err(|_| "a callback panicked")?;
        let next = next.entry(request.tag.clone()).or_insert(1);
        // A child of a fork is another process of the same source, which heeds what others were given.
        let start = (*next).max(request.after);
        *next = start + request.step;
        self.now.fetch_sub(1, SeqCst);
        Ok(Some(Segment::new(start, *next, 1)?.into()))
    }
}
