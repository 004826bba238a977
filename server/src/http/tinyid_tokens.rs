//! The tokens of tinyid's table `tiny_id_token`. They are read again each minute, as tinyid does, and for a token that is
//! not among them.
//!
//! Only a table that was read says that a token is wrong. While the store does not answer, tokens that were read before
//! are valid, and of all others it is not known.

use leafid_core::{Error, Result};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How long a token that was deleted may still be used.
const OLDEST: Duration = Duration::from_secs(60);
/// How often wrong tokens can make the table be read, and how often a store is tried that does not answer.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a token that was valid waits for a store that is slow.
const PATIENCE: Duration = Duration::from_millis(300);

/// What was read last.
#[derive(Default)]
pub(super) struct TinyidTokens {
    state: Mutex<Readings>,
    /// A reading has ended.
    read: Notify,
}

#[derive(Default)]
struct Readings {
    /// When the reading ended, and what it found. Hashes are kept: how long a look-up takes says nothing about tokens.
    known: Option<(Instant, HashSet<[u8; 32]>)>,
    /// When the last reading failed, and why.
    failed: Option<(Instant, Error)>,
    /// When the reading began that is under way.
    reading: Option<Instant>,
}

/// Ends a reading, whatever becomes of it.
struct Reading(Arc<TinyidTokens>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.state.lock().reading = None;
        self.0.read.notify_waiters();
    }
}

impl TinyidTokens {
    /// Whether the table has this token for this bizType. `read` reads the pairs of bizType and token. Errors: those of
    /// `read`, if what was read before does not have the token.
    pub(super) async fn allow<F>(
        self: &Arc<Self>,
        tag: &str,
        token: &str,
        read: impl Fn() -> F,
    ) -> Result<bool>
    where
        F: Future<Output = Result<Vec<(String, String)>>> + Send + 'static,
    {
        let wanted = digest(tag, token);
        loop {
            // Before the state is looked at: a reading that ends in between is not missed.
            let mut ended = pin!(self.read.notified());
            ended.as_mut().enable();
            let deadline = {
                let mut state = self.state.lock();
                if let Some(verdict) = state.verdict(&wanted) {
                    return verdict;
                }
                if state.reading.is_none() {
                    state.reading = Some(Instant::now());
                    tokio::spawn(read_now(Reading(self.clone()), read()));
                }
                state.reading.filter(|_| state.has(&wanted)).map(|begun| begun + PATIENCE)
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
async fn read_now(reading: Reading, read: impl Future<Output = Result<Vec<(String, String)>>>) {
    let found = read.await;
    let mut state = reading.0.state.lock();
    match found {
        Ok(pairs) => {
            state.known =
                Some((Instant::now(), pairs.iter().map(|(tag, token)| digest(tag, token)).collect()));
            state.failed = None;
        }
        Err(error) => state.failed = Some((Instant::now(), error)),
    }
}

impl Readings {
    fn has(&self, wanted: &[u8; 32]) -> bool {
        self.known.as_ref().is_some_and(|(_, pairs)| pairs.contains(wanted))
    }

    /// What is known well enough; `None`: the table has to be read.
    fn verdict(&self, wanted: &[u8; 32]) -> Option<Result<bool>> {
        let has = self.has(wanted);
        let limit = if has { OLDEST } else { PAUSE };
        if self.known.as_ref().is_some_and(|(at, _)| at.elapsed() < limit) {
            return Some(Ok(has));
        }
        let (_, error) = self.failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE)?;
        Some(if has { Ok(true) } else { Err(error.clone()) })
    }
}

fn digest(tag: &str, token: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update((tag.len() as u64).to_be_bytes());
    hasher.update(tag);
    hasher.update(token);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafid_core::Code;
    use tokio::time::{advance, sleep};

    type Table = Vec<(String, String)>;

    fn table(tokens: &[&str]) -> Result<Table> {
        Ok(tokens.iter().map(|token| ("order".to_owned(), (*token).to_owned())).collect())
    }

    fn away() -> Result<Table> {
        Err(Error::new(Code::SegmentUnavailable, "the store is away"))
    }

    /// The verdict on a token by a store that answers this, after a while.
    async fn asked(
        tokens: &Arc<TinyidTokens>,
        token: &str,
        answer: Result<Table>,
        takes: Duration,
    ) -> Result<bool> {
        let read = || {
            let answer = answer.clone();
            async move {
                sleep(takes).await;
                answer
            }
        };
        tokens.allow("order", token, read).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_away_is_no_verdict_on_a_token() {
        let (tokens, short) = (Arc::default(), Duration::from_millis(10));
        assert_eq!(asked(&tokens, "good", away(), short).await, away().map(|_| false), "nothing was read");
        advance(PAUSE).await;
        assert_eq!(asked(&tokens, "good", table(&["good"]), short).await, Ok(true));
        assert_eq!(asked(&tokens, "wrong", table(&["good"]), short).await, Ok(false));
        for rest in [PAUSE, OLDEST, 10 * OLDEST] {
            advance(rest).await;
            // A wrong token makes the table be read, and its error is no verdict on any token.
            assert_eq!(asked(&tokens, "wrong", away(), short).await, away().map(|_| false));
            assert_eq!(asked(&tokens, "good", away(), short).await, Ok(true), "after {rest:?}");
            assert_eq!(asked(&tokens, "wrong", away(), short).await, away().map(|_| false));
        }
        advance(PAUSE).await;
        assert_eq!(asked(&tokens, "new", table(&["new"]), short).await, Ok(true));
        assert_eq!(asked(&tokens, "good", table(&["new"]), short).await, Ok(false), "it was deleted");
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_hangs_delays_no_token_that_was_valid() {
        let (tokens, short, hangs) = (Arc::default(), Duration::from_millis(10), Duration::from_secs(5));
        assert_eq!(asked(&tokens, "good", table(&["good"]), short).await, Ok(true));
        advance(OLDEST).await;
        let begun = Instant::now();
        assert_eq!(asked(&tokens, "good", away(), hangs).await, Ok(true));
        assert_eq!(asked(&tokens, "good", away(), hangs).await, Ok(true));
        assert_eq!(begun.elapsed(), PATIENCE, "the second one did not wait at all");
        assert_eq!(asked(&tokens, "wrong", away(), hangs).await, away().map(|_| false));
        assert_eq!(begun.elapsed(), hangs, "it waited for the reading that was under way");
    }
}
