//! Names whose row this server has not seen. A few a second are asked of the store by themselves, so that a new row is
//! served at once. Beyond these, as when somebody tries names, the names of all rows are read once a second: then any
//! number of names that no row has costs the store the same.

use crate::table_set::{PAUSE, TableSet};
use leafid_core::Result;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// So many names a second are asked for by themselves.
const DIRECT: u32 = 50;

pub(super) struct UnseenNames {
    /// Hashes of the names of all rows: one that is wrong only makes the store be asked.
    names: Arc<TableSet<u64>>,
    hasher: RandomState,
    /// Of more rows than these nothing is remembered.
    most: usize,
    /// When this second began, and the names that were asked for in it.
    asked: Mutex<(Option<Instant>, u32)>,
}

impl UnseenNames {
    pub(super) fn new(most: usize) -> UnseenNames {
        UnseenNames {
            names: Arc::new(TableSet::new(Duration::MAX)),
            hasher: RandomState::new(),
            most,
            asked: Mutex::default(),
        }
    }

    /// Whether the store has to be asked for this name. `read` reads the names of the rows, so many at most. Errors:
    /// those of `read`.
    pub(super) async fn may_exist<F>(&self, name: &str, read: impl Fn(usize) -> F) -> Result<bool>
    where
        F: Future<Output = Result<Vec<String>>> + Send + 'static,
    {
        if self.asks() {
            return Ok(true);
        }
        let (wanted, most) = (self.hasher.hash_one(name), self.most);
        let hashes = || {
            let (names, hasher) = (read(most + 1), self.hasher.clone());
            async move {
                let names = names.await?;
                Ok(names.iter().map(|name| hasher.hash_one(name.as_str())).collect::<HashSet<_>>())
            }
        };
        self.names.has(|names| names.contains(&wanted) || names.len() > most, hashes).await
    }

    fn asks(&self) -> bool {
        let (now, mut asked) = (Instant::now(), self.asked.lock());
        if asked.0.is_none_or(|begun| now.duration_since(begun) >= PAUSE) {
            *asked = (Some(now), 0);
        }
        asked.1 = asked.1.saturating_add(1);
        asked.1 <= DIRECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::time::advance;

    /// Rows, and how often they were read.
    struct Rows(Mutex<Vec<String>>, AtomicUsize);

    async fn asked(unseen: &UnseenNames, rows: &Rows, name: &str) -> bool {
        let read = |most| {
            rows.1.fetch_add(1, Relaxed);
            let found: Vec<String> = rows.0.lock().iter().take(most).cloned().collect();
            async move { Ok(found) }
        };
        unseen.may_exist(name, read).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_million_names_without_a_row_cost_the_store_as_much_as_a_few() {
        let (unseen, rows) = (UnseenNames::new(1000), Rows(Mutex::default(), AtomicUsize::new(0)));
        rows.0.lock().push("order".to_owned());
        let mut direct = 0;
        for second in 0..100 {
            for at in 0..10_000 {
                direct += usize::from(asked(&unseen, &rows, &format!("none-{second}-{at}")).await);
            }
            assert!(asked(&unseen, &rows, "order").await);
            assert!(second == 0 || asked(&unseen, &rows, &format!("new-{}", second - 1)).await, "{second}");
            rows.0.lock().push(format!("new-{second}"));
            advance(PAUSE).await;
        }
        assert_eq!((direct, rows.1.load(Relaxed)), (100 * DIRECT as usize, 100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_names_and_a_table_of_too_many_rows_are_asked_of_the_store() {
        let (unseen, rows) = (UnseenNames::new(1), Rows(Mutex::default(), AtomicUsize::new(0)));
        for at in 0..2 * DIRECT {
            assert_eq!(asked(&unseen, &rows, &format!("none-{at}")).await, at < DIRECT, "{at}");
        }
        rows.0.lock().extend(["one".to_owned(), "other".to_owned()]);
        advance(PAUSE).await;
        for at in 0..2 * DIRECT {
            assert!(asked(&unseen, &rows, &format!("none-{at}")).await);
        }
        assert_eq!(rows.1.load(Relaxed), 2);
    }
}
