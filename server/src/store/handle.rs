//! What the server asks of a store, whatever it is.

use super::alloc;
use super::etcd::{Etcd, counters, worker_keys};
use super::lease_rows;
use super::lease_rows::LeaseRow;
use super::settings;
use super::settings::{Settings, check_format};
use super::sql::Sql;
use super::stride::Stride;
use super::tag_name;
use super::tag_rows;
use super::tag_rows::{TagChange, TagRow};
use super::workers;
use super::workers::{Step, Tried};
use super::workers_table;
use crate::lease_rules::{Pool, Space, Worker};
use crate::traces::in_store;
use leafid_core::{Fetched, Result};
use std::sync::Arc;
use std::time::Duration;

/// A store. Cloning shares it.
#[derive(Clone)]
pub(crate) enum Store {
    Sql(Sql),
    Etcd(Etcd),
}

impl Store {
    /// No connection is made yet. Errors: `invalid_argument`.
    pub(crate) fn new(url: &str, connections: u32, limit: Duration, stride: Stride) -> Result<Store> {
        match url.strip_prefix("etcd://") {
            Some(address) => Etcd::new(address, limit, stride).map(Store::Etcd),
            None => Sql::new(url, connections, limit, stride).map(Store::Sql),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Store::Sql(sql) => sql.dialect().name,
            Store::Etcd(_) => "etcd",
        }
    }

    /// The store's address, without a password.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Store::Sql(sql) => sql.shown(),
            Store::Etcd(etcd) => etcd.shown(),
        }
    }

    /// Makes the tables that are missing. Errors: `invalid_argument` for a store of a newer server; the store does not
    /// answer.
    pub(crate) async fn make_tables(&self) -> Result<()> {
        check_format(&self.settings().await?)?;
        match self {
            Store::Sql(sql) => sql.make_tables().await,
            Store::Etcd(etcd) => etcd.now_ms().await.map(drop),
        }
    }

    /// Errors: `invalid_argument` for tables by which ids would come twice.
    pub(crate) async fn check_tables(&self) -> Result<()> {
        match self {
            Store::Sql(sql) => sql.check_tables().await,
            Store::Etcd(_) => Ok(()),
        }
    }

    /// The tables, and whether each is there. Errors: the store does not answer.
    pub(crate) async fn tables(&self) -> Result<Vec<(&'static str, bool)>> {
        let mut tables = Vec::new();
        if let Store::Sql(sql) = self {
            for table in ["leaf_alloc", "leafid_space", "leafid_worker"] {
                tables.push((table, sql.has(table).await?));
            }
        }
        Ok(tables)
    }

    /// What is no fault of the tables, but differs from those that are made here.
    pub(crate) async fn differences(&self) -> Result<Vec<String>> {
        match self {
            Store::Sql(sql) => sql.differences().await,
            Store::Etcd(_) => Ok(Vec::new()),
        }
    }

    /// Whether a pooler shares connections between transactions, as far as it can be seen. Errors: `invalid_argument` for
    /// one behind which transactions do not hold.
    pub(crate) async fn is_pooled(&self) -> Result<bool> {
        match self {
            Store::Sql(sql) => sql.is_pooled().await,
            Store::Etcd(_) => Ok(false),
        }
    }

    /// The clock that judges leases, Unix milliseconds. It is also how a server sees whether the store answers.
    pub(crate) async fn now_ms(&self) -> Result<i64> {
        match self {
            Store::Sql(sql) => sql.now_ms().await,
            Store::Etcd(etcd) => etcd.now_ms().await,
        }
    }

    /// What is set so that a committed change can be lost.
    pub(crate) async fn dangers(&self) -> Result<Vec<String>> {
        match self {
            Store::Sql(sql) => sql.dangers().await,
            // It always writes to the disk before it answers, unless it was started with --unsafe-no-fsync.
            Store::Etcd(_) => Ok(Vec::new()),
        }
    }

    /// The schema whose tables are used, where it does not follow from the address.
    pub(crate) async fn schema(&self) -> Result<Option<String>> {
        match self {
            Store::Sql(sql) => sql.schema().await,
            Store::Etcd(_) => Ok(None),
        }
    }

    /// Tables that other users of this database take for those of the store.
    pub(crate) async fn elsewhere(&self) -> Result<Vec<String>> {
        match self {
            Store::Sql(sql) => sql.elsewhere().await,
            Store::Etcd(_) => Ok(Vec::new()),
        }
    }

    pub(crate) async fn close(&self) {
        if let Store::Sql(sql) = self {
            sql.close().await;
        }
    }

    /// Stores what all servers must agree in, unless others have. Returns what is stored.
    pub(crate) async fn agree(&self, own: &Settings, change: bool) -> Result<Settings> {
        match self {
            Store::Sql(sql) => settings::agree(sql, own.clone(), change).await,
            Store::Etcd(etcd) => counters::agree(etcd, own, change).await,
        }
    }

    /// What was stored by [`Store::agree`].
    pub(crate) async fn settings(&self) -> Result<Settings> {
        match self {
            Store::Sql(sql) => settings::stored(sql).await,
            Store::Etcd(etcd) => counters::stored_settings(etcd).await,
        }
    }

    /// The counter of a tag, if it has a row.
    pub(crate) async fn max_id(&self, tag: &str) -> Result<Option<i64>> {
        match self {
            Store::Sql(sql) => tag_name::max_id(sql, tag).await,
            Store::Etcd(etcd) => counters::max_id(etcd, tag).await,
        }
    }

    /// The tags that begin with `start`, and their counters.
    pub(crate) async fn tags_of(&self, start: &str) -> Result<Vec<(String, i64)>> {
        match self {
            Store::Sql(sql) => tag_name::tags_of(sql, start).await,
            Store::Etcd(etcd) => counters::tags_of(etcd, start).await,
        }
    }

    /// Takes a range of a tag, at or above `after`: `step` ids, or as many as the tag says. `None`: no such tag.
    pub(crate) async fn take_range(
        &self,
        tag: &str,
        step: Option<i64>,
        after: i64,
    ) -> Result<Option<Fetched>> {
        let done = async {
            match self {
                Store::Sql(sql) => alloc::take_range(sql, tag, step, after).await,
                // It is large. Without the box a fetch on SQL is as large, and leaves gaps between the tags on the heap.
                Store::Etcd(etcd) => Box::pin(counters::take_range(etcd, tag, step, after)).await,
            }
        };
        in_store(self.name(), "take_range", done).await
    }

    /// Makes a tag, or changes it. A counter is never set back. Returns the row, and whether it is new.
    pub(crate) async fn change_tag(&self, tag: &str, change: TagChange) -> Result<(TagRow, bool)> {
        let done = async {
            match self {
                Store::Sql(sql) => tag_rows::change_tag(sql, tag, change).await,
                Store::Etcd(etcd) => counters::change_tag(etcd, tag, change).await,
            }
        };
        in_store(self.name(), "change_tag", done).await
    }

    /// The rows behind `after`, by tag, at most `most` of them.
    pub(crate) async fn tag_rows(&self, after: &str, most: usize) -> Result<Vec<TagRow>> {
        let done = async {
            match self {
                Store::Sql(sql) => tag_rows::tag_rows(sql, after, most).await,
                Store::Etcd(etcd) => counters::tag_rows(etcd, after, most).await,
            }
        };
        in_store(self.name(), "tag_rows", done).await
    }

    /// The tags that were used or changed within the last day, the latest first, at most `most` of them.
    pub(crate) async fn tags_of_a_day(&self, most: usize) -> Result<Vec<String>> {
        match self {
            Store::Sql(sql) => tag_rows::tags_of_a_day(sql, most).await,
            Store::Etcd(etcd) => counters::tags_of_a_day(etcd, most).await,
        }
    }

    /// Lowers a counter from `end` to `first`, if it is at `end`: then no range lies above these ids, and nobody but the
    /// caller had them.
    pub(crate) async fn give_back(&self, tag: &str, first: i64, end: i64) -> Result<()> {
        match self {
            Store::Sql(sql) => alloc::give_back(sql, tag, first, end).await,
            Store::Etcd(etcd) => counters::give_back(etcd, tag, first, end).await,
        }
    }

    /// The bizType and token of each row of tinyid's table, if there is such a table.
    pub(crate) async fn tinyid_tokens(&self) -> Result<Vec<(String, String)>> {
        let done = async {
            match self {
                Store::Sql(sql) => tag_rows::tinyid_tokens(sql).await,
                Store::Etcd(_) => Ok(Vec::new()),
            }
        };
        in_store(self.name(), "tinyid_tokens", done).await
    }

    /// The worker ids that are held, by name and id, at most `most` of them, and the clock that judges leases. It locks
    /// nothing, and is to be shown only.
    pub(crate) async fn lease_rows(&self, most: usize) -> Result<(i64, Vec<LeaseRow>)> {
        match self {
            Store::Sql(sql) => lease_rows::lease_rows(sql, most).await,
            Store::Etcd(etcd) => worker_keys::lease_rows(etcd, most).await,
        }
    }

    /// The store's clock, and what is stored of a name and its worker ids.
    pub(crate) async fn workers(&self, name: &str) -> Result<(i64, Space, Vec<Worker>)> {
        match self {
            Store::Sql(sql) => workers::read(sql, name).await,
            Store::Etcd(etcd) => worker_keys::read_workers(etcd, name).await,
        }
    }

    /// Reads the worker ids of a name, decides and stores, as a whole. `None`: nothing was stored, try again.
    pub(crate) async fn change_workers<T: Send + 'static>(
        &self,
        name: &str,
        only: Option<i64>,
        pool: &Arc<Pool>,
        step: Step<T>,
    ) -> Result<Option<T>> {
        let change = async {
            match self {
                Store::Sql(sql) => workers::change(sql, name, only, step).await.map(Some),
                Store::Etcd(etcd) => worker_keys::change_workers(etcd, name, only, pool, step).await,
            }
        };
        let tried = in_store(self.name(), "change_workers", change).await?;
        match (tried, self) {
            (Some(Tried::Done(value)), _) => Ok(Some(value)),
            (Some(Tried::NoSpace), Store::Sql(sql)) => {
                workers_table::make_space(sql, name, pool.clone()).await.map(|()| None)
            }
            _ => Ok(None),
        }
    }
}
