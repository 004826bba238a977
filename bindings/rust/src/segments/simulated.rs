//! Segments for the simulation: opened in a simulated process, and as a fork copies them. And segments for tests: in a
//! process whose clock stands still.

use super::builder::SegmentsBuilder;
use super::fetcher::{FetchProgress, Fetcher};
use super::high_water::HighWaterMarks;
use super::settings::SegmentsSettings;
use super::shared::SharedSegments;
use super::source::callback::SegmentSource;
use super::source::completion::Completion;
use super::source::fetch_request::{FetchRequest, Fetched};
use super::tag::Tag;
use super::tag_state::TagState;
use crate::Answer;
use crate::os;
use crate::os::clock::{Clock, ClockReader};
use crate::os::env::{Env, Random};
use crate::os::mutex::lock;
use crate::os::simulated;
use leafid_core::ClockFilter;
use leafid_core::{IdOrder, Result};
use std::io;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The segments of a simulated process, with one tag.
pub(crate) struct Opened {
    shared: Arc<SharedSegments>,
    pub(crate) tag: Tag,
}

impl Opened {
    /// Opens them in the process that is played.
    pub(crate) fn new(builder: &SegmentsBuilder, env: &Arc<Env>) -> Result<Opened> {
        Opened::of(Arc::new(SegmentsSettings::parse(&builder.options)?), env)
    }

    fn of(settings: Arc<SegmentsSettings>, env: &Arc<Env>) -> Result<Opened> {
        let shared = Arc::new(SharedSegments::new(settings));
        let tag = Tag::new(Arc::clone(&shared), "forked".into());
        let opened = Opened { shared, tag };
        opened.begin(env)?;
        Ok(opened)
    }

    /// Creates the state of the process that is played, as its first call does.
    pub(crate) fn begin(&self, env: &Arc<Env>) -> Result<()> {
        let settings = &self.shared.settings;
        let (name, order) = (&settings.source.name, settings.source.order);
        let marks = HighWaterMarks::new(Arc::clone(env), settings.directory.as_deref(), name, order, false)?;
        let fetcher = Fetcher::open(Arc::clone(settings), marks, Arc::clone(env), Vec::new());
        let _ = self.shared.process.install(fetcher, os::process::generation());
        Ok(())
    }

    /// A copy as a fork makes it, with the ids in memory and the state of the parent, which is played.
    pub(crate) fn copy(&self, env: &Arc<Env>) -> Result<Opened> {
        let copy = Opened::of(Arc::clone(&self.shared.settings), env)?;
        let ((_, from), (_, to)) = (self.tag.process()?, copy.tag.process()?);
        let in_memory = from.locked(|state| {
            let segments = from.buffer.segments(&state.filler);
            segments.into_iter().chain(state.pending.iter()).collect::<Vec<_>>()
        });
        to.locked(|state| {
            in_memory.into_iter().flatten().for_each(|segment| state.pending.push_back(segment));
            to.refill(state);
        });
        Ok(copy)
    }
}

/// The first reading of that clock.
pub(super) const BEGIN_MS: i64 = 10_000;

struct Stands(AtomicI64);

impl ClockReader for Stands {
    fn now_ns(&self) -> i64 {
        self.0.load(SeqCst) * 1_000_000
    }
    fn boot_time(&self) -> Duration {
        Duration::from_millis(self.0.load(SeqCst) as u64)
    }
    fn sleep(&self, _: Duration) {
        unreachable!("nothing waits here")
    }
    fn boot_id(&self) -> String {
        "a start".into()
    }
}

/// Random numbers that shorten no back-off.
struct Zero;

impl Random for Zero {
    fn number(&self) -> io::Result<u128> {
        Ok(0)
    }
}

/// Segments of one process whose clock stands still and whose threads are the test's own.
pub(super) struct Play {
    pub(super) fetcher: Arc<Fetcher>,
    shared: Arc<SharedSegments>,
    clock: Arc<Stands>,
    pub(super) asked: Arc<Mutex<Vec<(FetchRequest, Completion)>>>,
}

impl Play {
    pub(super) fn open(builder: SegmentsBuilder, change: impl FnOnce(&mut SegmentsSettings)) -> Play {
        Play::prewarmed(builder, change, Vec::new())
    }

    pub(super) fn prewarmed(
        builder: SegmentsBuilder,
        change: impl FnOnce(&mut SegmentsSettings),
        tags: Vec<String>,
    ) -> Play {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        simulated::play(1);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let asks = Arc::clone(&asked);
        let source =
            SegmentSource::deferred(move |request, completion| lock(&asks).push((request, completion)));
        let mut settings = SegmentsSettings::parse(&builder.source(source).persist(false).options).unwrap();
        change(&mut settings);
        let clock = Arc::new(Stands(AtomicI64::new(BEGIN_MS)));
        let any: Arc<dyn ClockReader> = Arc::clone(&clock) as _;
        let clocks = Clock::Other(any, Arc::new(ClockFilter::new()));
        let env = Arc::new(Env { clock: clocks, random: Box::new(Zero), ..Env::system() });
        let name = format!("a fetcher of a test {}", NUMBER.fetch_add(1, SeqCst));
        let marks = HighWaterMarks::new(Arc::clone(&env), None, &name, IdOrder::Ascending, false).unwrap();
        let settings = Arc::new(settings);
        let fetcher = Fetcher::open(Arc::clone(&settings), marks, env, tags);
        let shared = Arc::new(SharedSegments::new(settings));
        let _ = shared.process.install(Arc::clone(&fetcher), os::process::generation());
        Play { fetcher, shared, clock, asked }
    }

    pub(super) fn tag(&self, name: &str) -> Arc<TagState> {
        self.fetcher.tag_state(&name.into()).unwrap().unwrap()
    }

    pub(super) fn handle(&self, name: &str) -> Tag {
        Tag::new(Arc::clone(&self.shared), name.into())
    }

    pub(super) fn set_clock(&self, ms: i64) {
        self.clock.0.store(ms, SeqCst);
    }

    /// Runs the jobs of the threads.
    pub(super) fn work(&self) {
        loop {
            let left = simulated::left();
            if left.is_empty() {
                break;
            }
            left.into_iter().for_each(|action| action());
        }
    }

    pub(super) fn want(&self, tag_state: &Arc<TagState>, need: Option<usize>) -> FetchProgress {
        self.fetcher.want(tag_state, need).unwrap()
    }

    /// The last request to the source for a tag that is wanted now.
    pub(super) fn asked(&self, tag_state: &Arc<TagState>, need: Option<usize>) -> (i64, bool) {
        self.want(tag_state, need);
        self.work();
        let asked = lock(&self.asked);
        let (request, _) = asked.last().unwrap();
        (request.step, request.urgent)
    }

    pub(super) fn tags_asked(&self) -> Vec<String> {
        lock(&self.asked).iter().map(|(request, _)| request.tag.clone()).collect()
    }

    /// Completes the oldest request.
    pub(super) fn answer(&self, answer: Answer<Option<Fetched>>) {
        let (_, completion) = lock(&self.asked).remove(0);
        completion.answer(answer);
        self.work();
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        let asked = std::mem::take(&mut *lock(&self.asked));
        drop(asked);
        simulated::left();
        simulated::play(0);
    }
}
