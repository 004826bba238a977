//! Each model says what it claims. tests/mutations/breaks-threads.toml says which model must notice what.
//!
//! loom runs the orders of the threads' steps, and gives each value that a load may see under the C11 memory model. What it
//! leaves out: a store that runs ahead of an earlier load of its own thread, an exchange that fails for no reason, and now
//! and then an order of a load and another thread's later store. So a model names what must have been seen in some
//! execution, and the breaks tell what it notices.

mod buffer;
mod process;
mod run;
mod snowflake;

use loom::thread::{self, JoinHandle};
use run::saw;

fn spawn<T: 'static>(action: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    thread::spawn(action)
}

fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("no panic")
}

/// No id twice, in whatever order.
fn distinct(ids: &[i64]) {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "an id came twice: {ids:?}");
}

/// In the order that one thread had them in.
fn ascending(ids: &[i64]) {
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "a thread's ids do not increase: {ids:?}");
}
