//! The tokens of tinyid's table `tiny_id_token`. They are read again each minute, as tinyid does, and for a token that is
//! not among them.

use crate::table_set::TableSet;
use leafid_core::Result;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// How long a token that was deleted may still be used.
const OLDEST: Duration = Duration::from_secs(60);

/// What was read last. Hashes are kept: how long a look-up takes says nothing about tokens.
pub(super) struct TinyidTokens(Arc<TableSet<[u8; 32]>>);

impl Default for TinyidTokens {
    fn default() -> TinyidTokens {
        TinyidTokens(Arc::new(TableSet::new(OLDEST)))
    }
}

impl TinyidTokens {
    /// Whether the table has this token for this bizType. `read` reads the pairs of bizType and token. Errors: those of
    /// `read`, if what was read before does not have the token.
    pub(super) async fn allow<F>(&self, tag: &str, token: &str, read: impl Fn() -> F) -> Result<bool>
    where
        F: Future<Output = Result<Vec<(String, String)>>> + Send + 'static,
    {
        let wanted = digest(tag, token);
        let digests = || {
            let pairs = read();
            async move {
                let pairs = pairs.await?;
                Ok(pairs.iter().map(|(tag, token)| digest(tag, token)).collect::<HashSet<_>>())
            }
        };
        self.0.has(|found| found.contains(&wanted), digests).await
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
    use crate::table_set::{PATIENCE, PAUSE};
    use leafid_core::{Code, Error};
    use tokio::time::{Instant, advance, sleep};

    type Table = Vec<(String, String)>;

    fn table(tokens: &[&str]) -> Result<Table> {
        Ok(tokens.iter().map(|token| ("order".to_owned(), (*token).to_owned())).collect())
    }

    fn away() -> Result<Table> {
        Err(Error::new(Code::SegmentUnavailable, "the store is away"))
    }

    /// The verdict on a token by a store that answers this, after a while.
    async fn asked(
        tokens: &TinyidTokens,
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
        let (tokens, short) = (TinyidTokens::default(), Duration::from_millis(10));
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
        let (tokens, short, hangs) =
            (TinyidTokens::default(), Duration::from_millis(10), Duration::from_secs(5));
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
