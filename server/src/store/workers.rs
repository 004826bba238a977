//! A change of the worker ids of one name, which every store makes as a whole.

use super::sql::Sql;
use super::workers_table::{WorkersTable, make_space};
use crate::lease_rules::{Pool, Space, Worker};
use leafid_core::Result;
use std::sync::Arc;

/// What a change stores.
#[derive(Default)]
pub(crate) struct Writes {
    /// Nothing is stored without it.
    pub(crate) space: Option<Space>,
    pub(crate) worker: Option<Worker>,
    /// No holder may renew.
    pub(crate) voids_tokens: bool,
}

/// Decides from what is stored, and the store's clock.
pub(crate) type Step<T> = Box<dyn FnOnce(&Space, &[Worker], i64) -> Result<(T, Writes)> + Send>;

/// The store's clock, and what is stored of a name and its worker ids.
pub(super) async fn workers(store: &Sql, name: &str) -> Result<(i64, Space, Vec<Worker>)> {
    let name = name.to_owned();
    store
        .transaction(move |tx| {
            Box::pin(async move {
                if let Some((mut table, space)) = WorkersTable::lock(tx, &name).await? {
                    return Ok((table.now_ms().await?, space, table.workers(None).await?));
                }
                Ok((tx.now_ms().await?, Space::default(), Vec::new()))
            })
        })
        .await
}

/// `None`: the name had no row, and has one now.
pub(super) async fn change_workers<T: Send + 'static>(
    store: &Sql,
    name: &str,
    only: Option<i64>,
    pool: &Arc<Pool>,
    step: Step<T>,
) -> Result<Option<T>> {
    let of = name.to_owned();
    let done = store
        .transaction(move |tx| {
            Box::pin(async move {
                let Some((mut table, space)) = WorkersTable::lock(tx, &of).await? else {
                    // Only a claim makes a row: a renewal of an unknown name is refused.
                    if only.is_some() {
                        step(&Space::default(), &[], tx.now_ms().await?)?;
                    }
                    return Ok(None);
                };
                let store_ms = table.now_ms().await?;
                let workers = table.workers(only).await?;
                let (value, writes) = step(&space, &workers, store_ms)?;
                if let Some(space) = writes.space {
                    table.put_space(&space).await?;
                }
                if writes.voids_tokens {
                    table.void_tokens().await?;
                }
                if let Some(worker) = writes.worker {
                    let is_new = workers.iter().all(|known| known.worker_id != worker.worker_id);
                    table.put(&worker, is_new).await?;
                }
                Ok(Some(value))
            })
        })
        .await?;
    if done.is_none() {
        make_space(store, name, pool.clone()).await?;
    }
    Ok(done)
}
