//! Segments from a callback: ids in order, fetched ahead, each once.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::untold::Untold;
use common::{PATIENT_MS, in_memory, unique_name, until};
use leafid::{Code, FetchRequest, Fetched, Segment, Segments, SegmentsBuilder};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A counter, as a database has one, and what it was asked.
#[derive(Default)]
struct Counter {
    next: AtomicI64,
    asked: Mutex<Vec<FetchRequest>>,
    now: AtomicUsize,
    most: AtomicUsize,
    takes_ms: u64,
}

impl Counter {
    fn slow(takes_ms: u64) -> Arc<Counter> {
        Arc::new(Counter { next: AtomicI64::new(1), takes_ms, ..Counter::default() })
    }

    fn give(&self, request: &FetchRequest) -> Option<Fetched> {
        let now = self.now.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(now, SeqCst);
        self.asked.lock().unwrap().push(request.clone());
        let start = self.next.fetch_add(request.step, SeqCst);
        std::thread::sleep(Duration::from_millis(self.takes_ms));
        self.now.fetch_sub(1, SeqCst);
        Some(Segment::new(start, start + request.step, 1).unwrap().into())
    }

    fn builder(self: &Arc<Self>) -> SegmentsBuilder {
        let counter = Arc::clone(self);
        let builder = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
        builder.fetch(move |request| Ok(counter.give(request)))
    }

    fn steps(&self) -> Vec<i64> {
        self.asked.lock().unwrap().iter().map(|request| request.step).collect()
    }
}

#[test]
fn a_burst_never_fails_that_the_source_can_serve() {
    let counter = Counter::slow(5);
    let ids = counter.builder().step(10).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    let all: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let order = order.clone();
                scope.spawn(move || (0..500).map(|_| order.next().unwrap()).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 4_000);
    assert_eq!(counter.most.load(SeqCst), 1, "one fetch at a time");
}

#[test]
fn no_ids_are_an_empty_batch_without_a_fetch() {
    let counter = Counter::slow(0);
    let ids = counter.builder().open().unwrap();
    let order = ids.tag("order").unwrap();
    assert!(order.take(0).unwrap().is_empty());
    order.fill(&mut []).unwrap();
    assert!(block_on(order.take_async(0)).unwrap().is_empty());
    assert!(counter.steps().is_empty());
    ids.close().unwrap();
    assert_eq!(order.take(0).unwrap_err().code(), Code::Closed);
    assert_eq!(order.fill(&mut []).unwrap_err().code(), Code::Closed);
    assert_eq!(block_on(order.take_async(0)).unwrap_err().code(), Code::Closed);
}

#[test]
fn an_error_has_its_own_text_and_code() {
    type Give = fn(&FetchRequest) -> leafid::Answer<Option<Fetched>>;
    let cases: [(Give, Code, &str); 5] = [
        (|_| Err("no such table".into()), Code::SegmentUnavailable, "no such table"),
        (|_| Ok(Some(Segment::new(7, 7, 1)?.into())), Code::SourceInvalid, "from 7 to 7"),
        (|_| panic!("as asked"), Code::SegmentUnavailable, "panicked"),
        (|_| Err(Untold.into()), Code::SegmentUnavailable, "panicked"),
        (
            |_| {
                std::thread::sleep(Duration::from_secs(20));
                Ok(None)
            },
            Code::SegmentUnavailable,
            "has not answered for",
        ),
    ];
    std::thread::scope(|scope| {
        for (give, code, text) in cases {
            scope.spawn(move || {
                let ids = Segments::builder().persist(false).name(unique_name()).timeout_ms(400).fetch(give);
                let order = ids.open().unwrap().tag("order").unwrap();
                // A panic that is printed with its backtrace takes long.
                let mut found = None;
                until(text, || {
                    let error = order.next().unwrap_err();
                    found = Some(error.code());
                    error.message().contains(text)
                });
                assert_eq!(found, Some(code), "{text}");
            });
        }
    });
}

/// Polls a future on this thread until it is done.
fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    loop {
        let mut context = std::task::Context::from_waker(&waker);
        match std::pin::Pin::new(&mut future).poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park_timeout(Duration::from_secs(20)),
        }
    }
}

#[test]
fn futures_wait_without_a_thread_and_time_out() {
    let counter = Counter::slow(30);
    let ids = counter.builder().step(3).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    let all: Vec<i64> = (0..7).map(|_| block_on(order.next_async()).unwrap()).collect();
    assert_eq!(all, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(block_on(order.take_async(10)).unwrap().len(), 10);
    let ids = Segments::builder()
        .persist(false)
        .name(unique_name())
        .timeout_ms(150)
        .fetch(|_| Err("away".into()))
        .open()
        .unwrap();
    let begun = Instant::now();
    let error = block_on(ids.tag("order").unwrap().next_async()).unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(begun.elapsed() >= Duration::from_millis(140), "{:?}", begun.elapsed());
}

#[test]
fn ten_thousand_waiters_cause_one_request() {
    let (asked, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counts, opens) = (Arc::clone(&asked), Arc::clone(&open));
    let ids = Segments::builder()
        .persist(false)
        .name(unique_name())
        .timeout_ms(30_000)
        .fetch(move |_| {
            counts.fetch_add(1, SeqCst);
            while opens.load(SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(Some(Segment::new(1, 20_001, 1)?.into()))
        })
        .prefetch(100)
        .open()
        .unwrap();
    let order = ids.tag("order").unwrap();
    let mut waiting: Vec<_> = (0..10_000).map(|_| order.next_async()).collect();
    let woken = Arc::new(AtomicUsize::new(0));
    struct Count(Arc<AtomicUsize>);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let waker = Arc::new(Count(Arc::clone(&woken))).into();
    let mut context = std::task::Context::from_waker(&waker);
    for future in &mut waiting {
        assert!(std::pin::Pin::new(future).poll(&mut context).is_pending());
    }
    open.store(1, SeqCst);
    until("all are woken", || woken.load(SeqCst) == 10_000);
    let all: BTreeSet<i64> = waiting.into_iter().map(|future| block_on(future).unwrap()).collect();
    assert_eq!((all.len(), asked.load(SeqCst)), (10_000, 1));
}

#[test]
fn a_slow_tag_delays_no_other() {
    let served = Arc::new(AtomicUsize::new(0));
    let is_served = Arc::clone(&served);
    let ids = Segments::builder()
        .persist(false)
        .name(unique_name())
        .timeout_ms(PATIENT_MS)
        .fetch(move |request| {
            let is_slow = request.tag.starts_with("slow");
            until("the quick one", || !is_slow || is_served.load(SeqCst) == 1);
            Ok(Some(Segment::new(1, 1_001, 1)?.into()))
        })
        .open()
        .unwrap();
    for n in 0..8 {
        assert_eq!(ids.tag(&format!("slow{n}")).unwrap().try_next().unwrap(), None);
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(ids.tag("quick").unwrap().next().unwrap(), 1, "though more hang than there are threads");
    served.store(1, SeqCst);
}

#[test]
fn metrics_count_ids_waits_and_fetches_by_outcome() {
    let counter = Counter::slow(30);
    let fails = Arc::new(AtomicUsize::new(0));
    let failing = Arc::clone(&fails);
    let builder = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
    let builder = builder.fetch(move |request| match failing.fetch_add(1, SeqCst) {
        0 => Err("the database is away".into()),
        _ => Ok(counter.give(request)),
    });
    let ids = builder.open().unwrap();
    let tag = ids.tag("order").unwrap();
    let taken = tag.take(1_500).unwrap().len() + usize::from(tag.next().is_ok());
    let text = leafid::metrics();
    let value = |metric: &str, more: &str| -> f64 {
        let (start, label) = (format!("{metric}{{"), format!("name=\"{}\"", ids.name()));
        let found = text
            .lines()
            .find(|line| line.starts_with(&start) && line.contains(&label) && line.contains(more));
        found.unwrap_or_else(|| panic!("{metric} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(value("leafid_segment_ids_total", ""), taken as f64);
    assert_eq!(value("leafid_segment_fetch_outcomes_total", "outcome=\"segment_unavailable\""), 1.0);
    let ok = value("leafid_segment_fetch_outcomes_total", "outcome=\"ok\"");
    assert!(ok >= 1.0 && value("leafid_segment_fetches_total", "") == ok + 1.0, "{text}");
    assert_eq!(value("leafid_segment_fetch_seconds_count", ""), ok + 1.0);
    assert!(value("leafid_segment_fetch_seconds_sum", "") >= 0.03, "{text}");
    assert_eq!(value("leafid_segment_wait_seconds_count", ""), value("leafid_segment_waits_total", ""));
    assert!(value("leafid_segment_wait_seconds_sum", "") >= 0.03, "{text}");
    let mut local = tag.local();
    local.next().unwrap();
    // It puts back what it reserved.
    drop(local);
    assert_eq!(tag.stats().unwrap().ids, taken as u64 + 1);
}

#[test]
fn metrics_tell_of_each_tag() {
    let ids = Counter::slow(0).builder().open().unwrap();
    ids.tag("order").unwrap().take(5).unwrap();
    let labels = format!("{{name=\"{}\",source=\"callback\",state_dir=\"\",tag=\"order\"}}", ids.name());
    let text = leafid::metrics();
    for line in
        [format!("leafid_segment_left{labels} 995"), format!("leafid_segment_fetches_total{labels} 1")]
    {
        assert!(text.contains(&line), "{line} in {text}");
    }
    let other = Counter::slow(0).builder().open().unwrap();
    other.tag("order").unwrap().next().unwrap();
    ids.close().unwrap();
    let text = leafid::metrics();
    assert!(!text.contains(ids.name()) && text.contains(other.name()));
}

#[test]
fn a_run_that_is_held_can_be_put_back() {
    let counter = Counter::slow(50);
    let ids = counter.builder().step(100).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    assert!(order.take_run(8).unwrap().is_none(), "the fetch is begun");
    until("the fetch", || order.stats().unwrap().left == 100);
    let mut held = order.take_run(8).unwrap().unwrap();
    assert!(held.is_ours());
    assert_eq!((held.run.first, held.run.count), (1, 8));
    held.run.first += 3;
    held.run.count -= 3;
    order.put_back(held);
    let all: BTreeSet<i64> = order.take(197).unwrap().into_iter().collect();
    assert_eq!(all, (4..=200).collect());
}

fn counters(directory: &TempDir, step: i64) -> SegmentsBuilder {
    Segments::builder()
        .servers([format!("file:{}", directory.path().join("counters").display())])
        .state_dir(directory.path().join("state"))
        .tags([("order", leafid::FileTag { start: 1, step })])
        .timeout_ms(PATIENT_MS)
}

#[test]
fn a_directory_gives_segments_that_go_on_after_a_restart() {
    let directory = in_memory();
    let error = counters(&directory, 10).open().unwrap_err();
    assert_eq!(error.code(), Code::UnknownTag, "{error}");
    let ids = counters(&directory, 10).create(true).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.take(15).unwrap(), (1..=15).collect::<Vec<_>>());
    assert_eq!(ids.tag("other").unwrap().next().unwrap_err().code(), Code::UnknownTag);
    ids.close().unwrap();
    let again = counters(&directory, 10).open().unwrap();
    let first = again.tag("order").unwrap().next().unwrap();
    assert!(first >= 21, "{first}");
}

#[test]
fn what_is_left_is_kept_at_a_drop_and_left_alone_without_the_request() {
    let directory = in_memory();
    let ids = counters(&directory, 100).create(true).keep_unused(true).open().unwrap();
    assert_eq!(ids.tag("order").unwrap().take(5).unwrap(), [1, 2, 3, 4, 5]);
    drop(ids);
    let files = std::fs::read_dir(directory.path().join("state/default")).unwrap();
    let stored: String =
        files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok()).collect();
    assert!(stored.contains("\"kept\""), "{stored}");
    let others = counters(&directory, 100).open().unwrap();
    assert_eq!(others.tag("order").unwrap().next().unwrap(), 101);
}

#[test]
fn tags_of_the_last_day_are_fetched_at_the_opening() {
    let directory = in_memory();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let next = Arc::new(AtomicI64::new(1));
    let open = |prewarm| {
        let (asked, next) = (Arc::clone(&asked), Arc::clone(&next));
        Segments::builder()
            .state_dir(directory.path())
            .prewarm(prewarm)
            .timeout_ms(PATIENT_MS)
            .fetch(move |request| {
                asked.lock().unwrap().push(request.tag.clone());
                let start = next.fetch_add(request.step, SeqCst);
                Ok(Some(Segment::new(start, start + request.step, 1)?.into()))
            })
            .open()
            .unwrap()
    };
    let tags: Vec<String> = (0..20).map(|n| format!("t{n:02}")).collect();
    let first = open(leafid::Prewarm::Tags(tags.clone()));
    until("all are fetched", || asked.lock().unwrap().len() == 20);
    until("all are at hand", || first.stats().unwrap().tags.iter().filter(|tag| tag.left > 0).count() == 20);
    first.close().unwrap();
    asked.lock().unwrap().clear();
    let second = open(leafid::Prewarm::LastDay);
    until("all are fetched again", || asked.lock().unwrap().len() == 20);
    let mut again = asked.lock().unwrap().clone();
    again.sort();
    assert_eq!(again, tags);
    drop(second);
}

#[test]
fn a_source_that_hangs_keeps_no_other_from_its_ids() {
    let served = Arc::new(AtomicUsize::new(0));
    let is_served = Arc::clone(&served);
    let hangs = Segments::builder()
        .persist(false)
        .name(unique_name())
        .fetch(move |_| {
            until("the other", || is_served.load(SeqCst) == 1);
            Ok(None)
        })
        .open()
        .unwrap();
    for n in 0..60 {
        assert_eq!(hangs.tag(&format!("t{n}")).unwrap().try_next().unwrap(), None);
    }
    std::thread::sleep(Duration::from_millis(300));
    let ids = Counter::slow(0).builder().open().unwrap();
    assert_eq!(ids.tag("order").unwrap().next().unwrap(), 1);
    served.store(1, SeqCst);
    hangs.close().unwrap();
}

#[test]
fn no_caller_starves_beside_those_that_are_quicker() {
    let counter = Counter::slow(5);
    let ids = counter.builder().step(3).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut all = std::thread::scope(|scope| {
        // They are there before anybody who sleeps is.
        let greedy: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while !stop.load(SeqCst) {
                        mine.extend(order.try_next().unwrap());
                    }
                    mine
                })
            })
            .collect();
        let mut all: Vec<i64> = (0..5).map(|_| order.next().unwrap()).collect();
        all.extend(order.take(20).unwrap());
        all.push(block_on(order.next_async()).unwrap());
        stop.store(true, SeqCst);
        greedy.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
        all
    });
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "each once");
}
