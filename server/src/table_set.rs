//! What a table of the store has, as far as requests make it be read: again each while, and for what is not among it.
//!
//! Only a table that was read says that it lacks something. While the store does not answer, what was read before stays,
//! and of all else it is not known.

use leafid_core::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How often what is missing can make the table be read, and how often a store is tried that does not answer.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);
/// How long a request for what was there waits for a store that is slow.
pub(crate) const PATIENCE: Duration = Duration::from_millis(300);

/// What was read last.
pub(crate) struct TableSet<K> {
    /// How long what was read is good.
    oldest: Duration,
    state: Mutex<Readings<K>>,
    /// A reading has ended.
    read: Notify,
}

struct Readings<K> {
    /// When the reading ended, and what it found.
    known: Option<(Instant, HashSet<K>)>,
    /// When the last reading failed, and why.
    failed: Option<(Instant, Error)>,
    /// When the reading began that is under way.
    reading: Option<Instant>,
}

/// Ends a reading, whatever becomes of it.
struct Reading<K>(Arc<TableSet<K>>);

impl<K> Drop for Reading<K> {
    fn drop(&mut self) {
        self.0.state.lock().reading = None;
        self.0.read.notify_waiters();
    }
}

impl<K: Send + 'static> TableSet<K> {
    pub(crate) fn new(oldest: Duration) -> TableSet<K> {
        let state = Mutex::new(Readings { known: None, failed: None, reading: None });
        TableSet { oldest, state, read: Notify::new() }
    }

    /// Whether the table is as wanted, which `read` reads. Errors: those of `read`, if what was read before is not as
    /// wanted.
    pub(crate) async fn has<F>(
        self: &Arc<Self>,
        is_wanted: impl Fn(&HashSet<K>) -> bool,
        read: impl Fn() -> F,
    ) -> Result<bool>
    where
        F: Future<Output = Result<HashSet<K>>> + Send + 'static,
    {
        loop {
            // Before the state is looked at: a reading that ends in between is not missed.
            let mut ended = pin!(self.read.notified());
            ended.as_mut().enable();
            let deadline = {
                let mut state = self.state.lock();
                let has = state.known.as_ref().is_some_and(|(_, found)| is_wanted(found));
                if let Some(verdict) = state.verdict(has, self.oldest) {
                    return verdict;
                }
                if state.reading.is_none() {
                    state.reading = Some(Instant::now());
                    tokio::spawn(read_now(Reading(self.clone()), read()));
                }
                state.reading.filter(|_| has).map(|begun| begun + PATIENCE)
            };
            match deadline {
                None => ended.await,
                Some(deadline) if timeout_at(deadline, ended).await.is_err() => return Ok(true),
                Some(_) => {}
            }
        }
    }
}

/// In a task of its own: a request that gives up does not end it.
async fn read_now<K>(reading: Reading<K>, read: impl Future<Output = Result<HashSet<K>>>) {
    let found = read.await;
    let mut state = reading.0.state.lock();
    match found {
        Ok(found) => {
            state.known = Some((Instant::now(), found));
            state.failed = None;
        }
        Err(error) => state.failed = Some((Instant::now(), error)),
    }
}

impl<K> Readings<K> {
    /// What is known well enough; `None`: the table has to be read.
    fn verdict(&self, has: bool, oldest: Duration) -> Option<Result<bool>> {
        let limit = if has { oldest } else { PAUSE };
        if self.known.as_ref().is_some_and(|(at, _)| at.elapsed() < limit) {
            return Some(Ok(has));
        }
        let (_, error) = self.failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE)?;
        Some(if has { Ok(true) } else { Err(error.clone()) })
    }
}
