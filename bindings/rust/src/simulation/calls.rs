//! Calls for ids of segments, polled by hand. The tests control the responses of the source and the time.

use super::opened::Opened;
use super::*;
use crate::SegmentsBuilder;
use crate::os::simulated;
use crate::segments::{Completion, PendingTake, SegmentSource, Tag};
use leafid_core::Segment;
use std::sync::atomic::AtomicU64;

const HOUR: Duration = Duration::from_secs(3_600);

/// While it exists, this thread plays another process.
struct Played;

impl Drop for Played {
    fn drop(&mut self) {
        simulated::play(0);
        drop(simulated::left());
    }
}

/// The segments of such a process.
struct Calls {
    opened: Opened,
    replies: Arc<Mutex<Vec<Completion>>>,
    world: World,
    _played: Played,
}

impl Calls {
    /// For a source that completes later and is asked for three ids at a time.
    fn new() -> Calls {
        Calls::with(|builder, source| builder.source(source))
    }

    fn with(options: impl FnOnce(SegmentsBuilder, SegmentSource) -> SegmentsBuilder) -> Calls {
        static NUMBER: AtomicU64 = AtomicU64::new(1 << 48);
        simulated::play(NUMBER.fetch_add(1, SeqCst));
        let (world, replies) = (World::new(), Arc::<Mutex<Vec<Completion>>>::default());
        let asked = Arc::clone(&replies);
        let source = SegmentSource::deferred(move |_, reply| lock(&asked).push(reply));
        let builder = SegmentsBuilder::default().state_dir("/simulated").step(3).adaptive(false);
        let opened = Opened::new(&options(builder, source), &Arc::new(world.env())).unwrap();
        Calls { opened, replies, world, _played: Played }
    }

    fn tag(&self) -> &Tag {
        &self.opened.tag
    }

    fn call(&self, ids: usize) -> PendingTake {
        PendingTake::new(self.tag().clone(), ids, HOUR)
    }

    /// Runs the actions that were left for threads, and completes the source's fetch with three ids. `None`: the source
    /// does not know the tag.
    fn answer(&self, first: Option<i64>) {
        run();
        let reply = lock(&self.replies).pop().unwrap();
        reply.answer(Ok(first.map(|first| Segment::new(first, first + 3, 1).unwrap().into())));
        run();
    }

    /// The ids that another call takes.
    fn taken(&self) -> Vec<i64> {
        std::iter::from_fn(|| self.tag().try_next().unwrap()).collect()
    }
}

/// Runs the actions that were left for threads, and those that they leave.
fn run() {
    loop {
        let left = simulated::left();
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(|action| action());
    }
}

fn polled(call: &mut PendingTake) -> std::result::Result<bool, Code> {
    call.poll(|| ()).map_err(|error| error.code())
}

#[test]
fn a_call_gets_what_was_found_out_since_it_began_and_nothing_older() {
    let calls = Calls::new();
    let mut first = calls.call(1);
    assert_eq!(polled(&mut first), Ok(false));
    assert_eq!(calls.tag().stats().unwrap().waits, 1);
    run();
    // The source is asked when the second call begins.
    let mut second = calls.call(1);
    assert_eq!(polled(&mut second), Ok(false));
    calls.answer(None);
    assert_eq!(polled(&mut first), Err(Code::UnknownTag), "it was asked for this one");
    assert_eq!(polled(&mut second), Err(Code::UnknownTag), "it is not asked before it has rested");
    assert_eq!(polled(&mut calls.call(1)), Err(Code::UnknownTag));
    calls.world.pass(1_000);
    assert_eq!(polled(&mut second), Ok(false), "it is asked again");
    calls.answer(None);
    assert_eq!(polled(&mut second), Err(Code::UnknownTag));
}

#[test]
fn a_fetch_that_is_never_answered_has_failed() {
    let calls = Calls::new();
    assert_eq!(polled(&mut calls.call(1)), Ok(false));
    run();
    drop(lock(&calls.replies).pop().unwrap());
    run();
    let stats = calls.tag().stats().unwrap();
    assert_eq!((stats.fetching, stats.failures), (false, 1));
    assert!(stats.last_error.unwrap().contains("without an answer"));
}

#[test]
fn a_call_that_waits_is_served_before_those_that_are_quicker() {
    let calls = Calls::new();
    let mut call = calls.call(5);
    assert_eq!(polled(&mut call), Ok(false));
    calls.answer(Some(1));
    assert!(calls.taken().is_empty());
    assert_eq!(polled(&mut call), Ok(false));
    calls.answer(Some(4));
    assert_eq!(polled(&mut call), Ok(true));
    let mut ids = [0; 5];
    assert!(call.write(&mut ids));
    assert_eq!((ids, calls.taken()), ([1, 2, 3, 4, 5], vec![6]));
}

#[test]
fn what_a_call_that_is_given_up_was_served_is_others() {
    let calls = Calls::new();
    let mut call = calls.call(5);
    assert_eq!(polled(&mut call), Ok(false));
    calls.answer(Some(4));
    assert!(calls.taken().is_empty());
    drop(call);
    assert_eq!((calls.taken(), calls.tag().stats().unwrap().waiting), (vec![4, 5, 6], 0));
}

#[test]
fn a_run_of_an_unknown_tag_is_an_error_once_the_source_has_said_so() {
    let calls = Calls::new();
    assert!(calls.tag().take_run(5).unwrap().is_none());
    run();
    assert!(calls.tag().take_run(5).unwrap().is_none(), "the source is asked");
    calls.answer(None);
    assert_eq!(calls.tag().take_run(5).err().unwrap().code(), Code::UnknownTag);
}

#[test]
fn a_call_whose_time_is_over_waits_no_longer() {
    let calls = Calls::new();
    let mut late = PendingTake::new(calls.tag().clone(), 1, Duration::ZERO);
    assert!(late.is_late() && !calls.call(1).is_late());
    assert_eq!(polled(&mut late), Err(Code::SegmentUnavailable));
    let mut turns = 0;
    let ended = late.complete(&mut || {
        turns += 1;
        true
    });
    assert_eq!((ended.unwrap_err().code(), turns), (Code::SegmentUnavailable, 0));
    assert_eq!(calls.call(1).complete(&mut || true).unwrap_err().code(), Code::WouldBlock, "interrupted");
    let mut waits = calls.call(1);
    assert_eq!((polled(&mut waits), calls.tag().stats().unwrap().waiting), (Ok(false), 1));
    drop(waits);
    assert_eq!(calls.tag().stats().unwrap().waiting, 0);
}

#[test]
fn an_event_loop_s_thread_waits_as_long_as_it_may_and_not_for_itself() {
    for deferred in [true, false] {
        let calls = Calls::with(|builder, later| {
            let builder = builder.max_wait_ms(if deferred { 60_000 } else { 200 });
            builder.source(if deferred { later } else { SegmentSource::callback(|_| Ok(None)) })
        });
        let mut turns = 0;
        let ended = calls.call(1).complete(&mut || {
            calls.world.pass(50);
            turns += 1;
            turns == 1_000
        });
        let error = ended.unwrap_err();
        assert_eq!(error.code(), Code::WouldBlock);
        assert!(error.message().contains("no id of the tag"), "{error}");
        assert!(if deferred { turns == 0 } else { turns > 0 }, "{turns}");
    }
}

#[test]
fn a_fetch_ends_also_if_code_of_leafid_panics() {
    let calls = Calls::new();
    calls.world.machine.panicking.store(true, SeqCst);
    assert_eq!(polled(&mut calls.call(1)), Ok(false));
    run();
    let stats = calls.tag().stats().unwrap();
    assert_eq!((stats.fetching, stats.failures), (false, 1));
    assert!(stats.last_error.unwrap().contains("panicked"));
}
