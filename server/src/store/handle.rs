//! What the server asks of a store, whatever it is.

use super::alloc;
use super::etcd::server_keys;
use super::etcd::{Etcd, counters, worker_keys};
use super::lease_rows;
use super::lease_rows::LeaseRow;
use super::servers;
use super::settings;
use super::settings::{Settings, check_format};
use super::sql::Sql;
use super::stride::Stride;
use super::tag_name;
use super::tag_rows;
use super::tag_rows::{TagChange, TagRow};
use super::workers;
use super::workers::Step;
use crate::holder::Holder;
use crate::lease_rules::{Pool, Space, Worker};
use crate::traces::in_store;
use leafid_core::{Fetched, Result};
use std::sync::Arc;
use std::time::Duration;

/// The rows that are read at a time.
const PAGE: usize = 1_000;

/// A store. Cloning shares it.
#[derive(Clone)]
pub(crate) enum Store {
    Sql(Sql),
    Etcd(Etcd),
}

/// Does a call by the function of its name, which is in a module for databases and in one for etcd.
macro_rules! either {
    ($store:ident, $sql:ident, $etcd:ident, $call:ident, $($word:ident),*) => {{
        let done = async {
            match $store {
                Store::Sql(sql) => $sql::$call(sql $(, $word)*).await,
                // It is large. Without the box a fetch on SQL is as large, and leaves gaps between the tags on the heap.
                Store::Etcd(etcd) => Box::pin($etcd::$call(etcd $(, $word)*)).await,
            }
        };
        in_store($store.name(), stringify!($call), done).await
    }};
}

/// Calls that each store has, with the modules that have them.
macro_rules! calls {
    ($($(#[$doc:meta])* $sql:ident $etcd:ident $call:ident($($word:ident: $kind:ty),*) -> $found:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) async fn $call(&self $(, $word: $kind)*) -> Result<$found> {
            either!(self, $sql, $etcd, $call, $($word),*)
        }
    )*};
}

/// Calls that only databases have. Of etcd there is nothing to say.
macro_rules! calls_of_databases {
    ($($(#[$doc:meta])* $sql:ident $call:ident() -> $found:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) async fn $call(&self) -> Result<$found> {
            match self {
                Store::Sql(sql) => in_store(self.name(), stringify!($call), $sql::$call(sql)).await,
                Store::Etcd(_) => Ok(Default::default()),
            }
        }
    )*};
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

    pub(crate) async fn close(&self) {
        if let Store::Sql(sql) = self {
            sql.close().await;
        }
    }

    calls_of_databases! {
        /// Errors: `invalid_argument` for tables by which ids would come twice.
        Sql check_tables() -> ();
        /// The tables and the columns that a start makes, and whether each is there. Errors: the store does not answer.
        Sql tables() -> Vec<(String, bool)>;
        /// What is no fault of the tables, but differs from those that are made here.
        Sql differences() -> Vec<(String, String)>;
        /// Whether a pooler shares connections between transactions, as far as it can be seen. Errors: `invalid_argument`
        /// for one behind which transactions do not hold.
        Sql is_pooled() -> bool;
        /// What is set so that a committed change can be lost. etcd always writes to the disk before it answers, unless it
        /// was started with --unsafe-no-fsync.
        Sql dangers() -> Vec<String>;
        /// The schema whose tables are used, where it does not follow from the address.
        Sql schema() -> Option<String>;
        /// Tables that other users of this database take for those of the store.
        Sql elsewhere() -> Vec<String>;
        /// The bizType and token of each row of tinyid's table, if there is such a table.
        tag_rows tinyid_tokens() -> Vec<(String, String)>;
    }

    calls! {
        /// The clock that judges leases, Unix milliseconds. It is also how a server sees whether the store answers.
        Sql Etcd now_ms() -> i64;
        /// Stores what all servers must agree in, unless others have. Returns what is stored.
        settings counters agree(own: &Settings, change: bool) -> Settings;
        /// What was stored by [`Store::agree`].
        settings counters settings() -> Settings;
        /// The counter of a tag, if it has a row.
        tag_name counters max_id(tag: &str) -> Option<i64>;
        /// The tags that begin with `start`, and their counters.
        tag_name counters tags_of(start: &str) -> Vec<(String, i64)>;
        /// Takes a range of a tag, at or above `after`: `step` ids, or as many as the tag says. `None`: no such tag.
        alloc counters take_range(tag: &str, step: Option<i64>, after: i64) -> Option<Fetched>;
        /// Makes a tag, or changes it. A counter is never set back. Returns the row, and whether it is new.
        tag_rows counters change_tag(tag: &str, change: TagChange) -> (TagRow, bool);
        /// The rows behind `after`, by tag, at most `most` of them.
        tag_rows counters tag_rows(after: &str, most: usize) -> Vec<TagRow>;
        /// The names of the tags behind `after`, in their order, at most `most` of them.
        tag_rows counters tag_names(after: &str, most: usize) -> Vec<String>;
        /// The tags that were used or changed within the last day, the latest first, at most `most` of them.
        tag_rows counters tags_of_a_day(most: usize) -> Vec<String>;
        /// Lowers a counter from `end` to `first`, if it is at `end`: then no range lies above these ids, and only
        /// the caller had them.
        alloc counters give_back(tag: &str, first: i64, end: i64) -> ();
        /// The worker ids that are held, by name and id, at most `most` of them, and the clock that judges leases. It
        /// locks nothing, and is to be shown only.
        lease_rows worker_keys lease_rows(most: usize) -> (i64, Vec<LeaseRow>);
        /// Says to all who look that this server lives, or that it `ends`.
        servers server_keys announce(who: &Holder, ends: bool) -> ();
        /// The servers that live.
        servers server_keys servers() -> Vec<Holder>;
        /// The store's clock, and what is stored of a name and its worker ids.
        workers worker_keys workers(name: &str) -> (i64, Space, Vec<Worker>);
    }

    /// The rows of all tags, by tag.
    pub(crate) async fn all_tag_rows(&self) -> Result<Vec<TagRow>> {
        let mut found: Vec<TagRow> = Vec::new();
        loop {
            let after = found.last().map_or("", |row| &row.tag).to_owned();
            let rows = self.tag_rows(&after, PAGE).await?;
            let is_last = rows.len() < PAGE;
            found.extend(rows);
            if is_last {
                return Ok(found);
            }
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
        either!(self, workers, worker_keys, change_workers, name, only, pool, step)
    }
}
