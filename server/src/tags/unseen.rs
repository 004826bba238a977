//! Names whose row this server has not seen. A few a second are asked of the store by themselves, so that a new row is
//! served at once. Beyond these, as when somebody tries names, the names of all rows are read once a second: then any
//! number of names that no row has costs the store the same.

use crate::table_set::{PAUSE, TableSet};
use leafid_core::Result;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// So many names a second are asked for by themselves.
const DIRECT: u32 = 50;
/// The names that are read at a time. All at once they would take several times the memory of what is kept of them, and it
/// would stay with the process.
const PAGE: usize = 10_000;

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

    /// Whether the store has to be asked for this name. `read` reads the names of the rows behind one, in their order, so
    /// many at most. Errors: those of `read`.
    pub(super) async fn may_exist<R, F>(&self, name: &str, read: R) -> Result<bool>
    where
        R: Fn(String, usize) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Vec<String>>> + Send + 'static,
    {
        if self.asks() {
            return Ok(true);
        }
        let (wanted, most) = (self.hasher.hash_one(name), self.most);
        let hashes = || hashes_of(read.clone(), self.hasher.clone(), most + 1);
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

/// Of the names of the rows, so many at most.
async fn hashes_of<F>(
    read: impl Fn(String, usize) -> F,
    hasher: RandomState,
    most: usize,
) -> Result<HashSet<u64>>
where
    F: Future<Output = Result<Vec<String>>>,
{
    let (mut hashes, mut after, mut left) = (HashSet::new(), String::new(), most);
    loop {
        let asked = left.min(PAGE);
        let mut names = read(take(&mut after), asked).await?;
        hashes.extend(names.iter().map(|name| hasher.hash_one(name.as_str())));
        left -= names.len().min(asked);
        match names.pop() {
            Some(last) if names.len() + 1 == asked && left > 0 => after = last,
            _ => return Ok(hashes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::MutexGuard;
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::time::advance;

    /// Rows, and how often some were read.
    #[derive(Clone, Default)]
    struct Rows(Arc<(Mutex<BTreeSet<String>>, AtomicUsize)>);

    async fn asked(unseen: &UnseenNames, Rows(rows): &Rows, name: &str) -> bool {
        let rows = rows.clone();
        let read = move |after: String, most| {
            rows.1.fetch_add(1, Relaxed);
            assert!(most <= PAGE);
            let names = rows.0.lock();
            let found: Vec<String> = names.iter().filter(|name| **name > after).take(most).cloned().collect();
            async move { Ok(found) }
        };
        unseen.may_exist(name, read).await.unwrap()
    }

    fn names(rows: &Rows) -> MutexGuard<'_, BTreeSet<String>> {
        rows.0.0.lock()
    }

    fn reads(rows: &Rows) -> usize {
        rows.0.1.load(Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn a_million_names_without_a_row_cost_the_store_as_much_as_a_few() {
        let (unseen, rows) = (UnseenNames::new(1000), Rows::default());
        names(&rows).insert("order".to_owned());
        let mut direct = 0;
        for second in 0..100 {
            for at in 0..10_000 {
                direct += usize::from(asked(&unseen, &rows, &format!("none-{second}-{at}")).await);
            }
            assert!(asked(&unseen, &rows, "order").await);
            assert!(second == 0 || asked(&unseen, &rows, &format!("new-{}", second - 1)).await, "{second}");
            names(&rows).insert(format!("new-{second}"));
            advance(PAUSE).await;
        }
        assert_eq!((direct, reads(&rows)), (100 * DIRECT as usize, 100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_names_and_a_table_of_too_many_rows_are_asked_of_the_store() {
        let (unseen, rows) = (UnseenNames::new(1), Rows::default());
        for at in 0..2 * DIRECT {
            assert_eq!(asked(&unseen, &rows, &format!("none-{at}")).await, at < DIRECT, "{at}");
        }
        names(&rows).extend(["one".to_owned(), "other".to_owned()]);
        advance(PAUSE).await;
        for at in 0..2 * DIRECT {
            assert!(asked(&unseen, &rows, &format!("none-{at}")).await);
        }
        assert_eq!(reads(&rows), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_names_of_many_rows_are_read_page_by_page() {
        for count in [PAGE - 1, PAGE, 2 * PAGE, 2 * PAGE + 7] {
            let (unseen, rows) = (UnseenNames::new(2 * PAGE + 7), Rows::default());
            names(&rows).extend((0..count).map(|at| format!("tag-{at}")));
            for at in 0..DIRECT {
                assert!(asked(&unseen, &rows, &format!("none-{at}")).await);
            }
            for at in 0..count {
                assert!(asked(&unseen, &rows, &format!("tag-{at}")).await, "{at} of {count}");
            }
            assert!(!asked(&unseen, &rows, "none").await);
            assert_eq!(reads(&rows), count / PAGE + 1);
        }
    }
}
