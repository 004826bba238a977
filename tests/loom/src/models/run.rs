//! Runs a model.

use loom::model::Builder;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Once};
use std::time::Instant;

thread_local! {
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
    static SEEN: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The claim of the model holds in every execution of its threads, whatever LOOM_* says in the environment; and in some
/// each of these was seen. `BOUNDS=small` takes those with at most four preemptions.
pub(super) fn holds(seen: &[&str], model: fn()) {
    let small = std::env::var("BOUNDS").is_ok_and(|bounds| bounds == "small");
    holds_within(small.then_some(4), seen, model);
}

/// The claim holds in every execution with at most this many preemptions.
pub(super) fn holds_within(preemptions: Option<usize>, seen: &[&str], model: fn()) {
    SEEN.take();
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

/// The model, of a mutant, fails with this claim; two preemptions are enough for each of them.
pub(super) fn breaks(claim: &str, model: fn()) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                hook(panic);
            }
        }));
    });
    EXPECTED.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| run(Some(2), model)));
    EXPECTED.set(false);
    let Err(panic) = ended else { panic!("the model does not notice the mutant") };
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default();
    assert!(text.contains(claim), "the model failed for another reason than {claim:?}: {text}");
    println!("{}: caught: {text}", name());
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
