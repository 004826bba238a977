//! Runs a model.

use loom::model::Builder;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

thread_local! {
    static SEEN: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The claim of the model holds in every execution of its threads, whatever LOOM_* says in the environment; and in some
/// each of these was seen.
pub(super) fn holds(seen: &[&str], model: fn()) {
    holds_within(None, seen, model);
}

/// The claim holds in every execution with at most this many preemptions. `BOUNDS=small` takes those with at most four,
/// and `BOUNDS=smallest` with two, which are enough to notice each break.
pub(super) fn holds_within(most: Option<usize>, seen: &[&str], model: fn()) {
    SEEN.take();
    let bound = match std::env::var("BOUNDS").as_deref() {
        Ok("small") => Some(4),
        Ok("smallest") => Some(2),
        _ => None,
    };
    let preemptions = [most, bound].into_iter().flatten().min();
    let (ran, ms) = run(preemptions, model);
    let all = SEEN.take();
    seen.iter().for_each(|what| assert!(all.contains(what), "never seen: {what}"));
    let which = preemptions.map_or("all there are".into(), |most| format!("of at most {most} preemptions"));
    println!("{}: {ran} executions, {which}, in {ms} ms", name());
}

/// Says that this happened in an execution.
pub(super) fn saw(what: &'static str) {
    // loom's threads are all of one thread of the system.
    SEEN.with_borrow_mut(|seen| seen.insert(what));
}

fn run(preemptions: Option<usize>, model: fn()) -> (u64, u128) {
    let mut builder = Builder::new();
    builder.max_threads = 3;
    builder.max_branches = 10_000;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = preemptions;
    builder.checkpoint_file = None;
    let (ran, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let counter = Arc::clone(&ran);
    builder.check(move || {
        counter.fetch_add(1, Relaxed);
        model();
    });
    (ran.load(Relaxed), begun.elapsed().as_millis())
}

/// Of the test.
fn name() -> String {
    std::thread::current().name().unwrap_or("a model").to_string()
}
