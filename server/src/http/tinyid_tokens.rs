//! The tokens of tinyid's table `tiny_id_token`. They are read again each minute, as tinyid does, and for a token that is
//! not among them.

use crate::store::Store;
use leafid_core::Result;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a token that was deleted may still be used.
const OLDEST: Duration = Duration::from_secs(60);
/// How often wrong tokens can make the table be read.
const PAUSE: Duration = Duration::from_secs(1);

/// What was read last. Hashes are kept: how long a look-up takes says nothing about tokens.
#[derive(Default)]
pub(super) struct TinyidTokens {
    known: Mutex<Option<(Instant, HashSet<[u8; 32]>)>>,
}

impl TinyidTokens {
    /// Whether the table has this token for this bizType. Errors: those of the store, if nothing was read before.
    pub(super) async fn allow(&self, store: &Store, tag: &str, token: &str) -> Result<bool> {
        let wanted = digest(tag, token);
        let mut known = self.known.lock().await;
        if let Some((read_at, pairs)) = &*known {
            let (age, is_known) = (read_at.elapsed(), pairs.contains(&wanted));
            if is_known && age < OLDEST || !is_known && age < PAUSE {
                return Ok(is_known);
            }
        }
        match store.tinyid_tokens().await {
            Ok(pairs) => {
                let pairs: HashSet<_> = pairs.iter().map(|(tag, token)| digest(tag, token)).collect();
                let is_known = pairs.contains(&wanted);
                *known = Some((Instant::now(), pairs));
                Ok(is_known)
            }
            // Ids in the buffers are served while the store is down.
            Err(error) => match &*known {
                Some((_, pairs)) => Ok(pairs.contains(&wanted)),
                None => Err(error),
            },
        }
    }
}

fn digest(tag: &str, token: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update((tag.len() as u64).to_be_bytes());
    hasher.update(tag);
    hasher.update(token);
    hasher.finalize().into()
}
