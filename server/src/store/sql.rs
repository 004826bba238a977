//! The connections to the store.

use super::connection::{self, Address};
use super::dialect::Dialect;
use super::schema;
use super::sqlite_file::SqliteFile;
use super::stride::Stride;
use super::transaction::{Transaction, Value, Work, failed, is_failure, text};
use crate::clock::FilteredClock;
use leafid_core::{Code, Error, Result};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyPool, Executor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::timeout;

/// A pool of connections. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Sql {
    pool: AnyPool,
    dialect: &'static Dialect,
    limit: Duration,
    shown: String,
    /// That of SQLite.
    file: Option<Arc<SqliteFile>>,
    stride: Stride,
    /// Whether `leaf_alloc` has the column: a table that was made by hand may lack it.
    has_update_time: Arc<AtomicBool>,
    /// That of the database.
    clock: Arc<FilteredClock>,
}

impl Sql {
    /// Prepares a pool. No connection is made yet. Errors: `invalid_argument`.
    pub(crate) fn new(url: &str, connections: u32, limit: Duration, stride: Stride) -> Result<Sql> {
        sqlx::any::install_default_drivers();
        let Address { dialect, url, shown, path } = connection::parse(url)?;
        let file = path.as_deref().map(SqliteFile::new).transpose()?.map(Arc::new);
        let options: AnyConnectOptions = url
            .parse()
            .map_err(|error| Error::invalid("store", format!("{shown}: {error}"), connection::ALLOWED))?;
        let mut pool = AnyPoolOptions::new();
        if file.is_some() {
            // A later connection would open what is at the path by then.
            pool = pool.max_lifetime(None).idle_timeout(None);
        }
        let pool = pool
            .max_connections(connections.min(dialect.most_connections))
            .acquire_timeout(limit)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    for statement in dialect.session {
                        connection.execute(*statement).await?;
                    }
                    Ok(())
                })
            })
            .connect_lazy_with(options);
        let clock = Arc::new(FilteredClock::new("the store"));
        Ok(Sql { pool, dialect, limit, shown, file, stride, has_update_time: Arc::default(), clock })
    }

    /// The store's address, without a password.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Which ids of the counters it gives.
    pub(super) fn stride(&self) -> Stride {
        self.stride
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Makes what is missing of the tables. What is there is not changed.
    pub(crate) async fn make_tables(&self) -> Result<()> {
        let dialect = self.dialect;
        let leases = schema::lease_tables(dialect);
        let tables = [("leaf_alloc", dialect.leaf_alloc.to_owned())].into_iter().chain(leases);
        for (table, create) in tables {
            // A user without the right to make tables may have them.
            if self.has(table).await? {
                continue;
            }
            let made = self
                .transaction(move |tx| {
                    Box::pin(async move {
                        tx.execute(&create, &[]).await?;
                        Ok(())
                    })
                })
                .await;
            // PostgreSQL fails the second of two that make one table at once.
            if made.is_err() && !self.has(table).await? {
                return made;
            }
        }
        if !self.has_column("leafid_worker", "history").await? {
            let added = self
                .transaction(|tx| {
                    Box::pin(async move { tx.execute(schema::ADD_HISTORY, &[]).await.map(drop) })
                })
                .await;
            // Another server may have been first.
            if let Err(error) = added
                && !self.has_column("leafid_worker", "history").await?
            {
                return Err(
                    error.context(format!("make the column once as another user: {}", schema::ADD_HISTORY))
                );
            }
        }
        self.check_tables().await?;
        let has_update_time = self.has_column("leaf_alloc", "update_time").await?;
        self.has_update_time.store(has_update_time, Relaxed);
        Ok(())
    }

    /// Errors: `invalid_argument` for a table without transactions, where two servers would take one range.
    pub(crate) async fn check_tables(&self) -> Result<()> {
        let Some(query) = self.dialect.untransacted else { return Ok(()) };
        let rows = self.transaction(move |tx| Box::pin(async move { tx.rows(query, &[]).await })).await?;
        let found = rows.iter().map(|row| text(row, 0)).collect::<Result<Vec<_>>>()?;
        if found.is_empty() {
            return Ok(());
        }
        let found = format!("a database where {}, which has no transactions", found.join(" and "));
        Err(Error::invalid("store", found, "tables of InnoDB: ALTER TABLE … ENGINE = InnoDB"))
    }

    /// Whether rows of `leaf_alloc` say when they were changed.
    pub(super) fn has_update_time(&self) -> bool {
        self.has_update_time.load(Relaxed)
    }

    /// Whether a table is there. Errors: the store does not answer, which says nothing of the table.
    pub(crate) async fn has(&self, table: &'static str) -> Result<bool> {
        let key = match table {
            "leaf_alloc" => "biz_tag",
            "tiny_id_token" => "token",
            _ => "name",
        };
        self.has_column(table, key).await
    }

    async fn has_column(&self, table: &'static str, column: &'static str) -> Result<bool> {
        let query = self.dialect.column;
        let values = [Value::Text(table), Value::Text(column)];
        let found =
            self.transaction(move |tx| Box::pin(async move { tx.number(query, &values).await })).await?;
        Ok(found > 0)
    }

    /// The database's clock, Unix milliseconds. It is also how a server sees whether the store answers.
    pub(crate) async fn now_ms(&self) -> Result<i64> {
        self.transaction(|tx| Box::pin(async move { tx.now_ms().await })).await
    }

    /// What is set so that a committed row can be lost.
    pub(crate) async fn dangers(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for (query, good, advice) in self.dialect.durable {
            let value =
                self.transaction(move |tx| Box::pin(async move { tx.text(query, &[]).await })).await?;
            if !good.contains(&value.as_str()) {
                found.push(format!("{query} is {value:?}: {advice}"));
            }
        }
        Ok(found)
    }

    /// Runs `work` in one transaction and commits it. It runs to its end whatever becomes of the caller. After an error
    /// nothing of it counts, even if the database has committed it.
    ///
    /// Errors: those of `work`; `segment_unavailable` if the database does not answer in time.
    pub(crate) async fn transaction<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Transaction) -> Work<'c, T> + Send + 'static,
    {
        let store = self.clone();
        let task = tokio::spawn(async move { store.run(work).await });
        task.await
            .unwrap_or_else(|error| Err(Error::new(Code::Internal, format!("a transaction ended: {error}"))))
    }

    async fn run<T, F>(&self, work: F) -> Result<T>
    where
        F: for<'c> FnOnce(&'c mut Transaction) -> Work<'c, T>,
    {
        self.file.as_ref().map_or(Ok(()), |file| file.check_before())?;
        let connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        let mut tx = Transaction::new(connection, self.dialect, self.clock.clone());
        if let Err(error) = self.file.as_ref().map_or(Ok(()), |file| file.check()) {
            // It may have opened another file just now, and would be used once the right one is back.
            tx.close();
            return Err(error);
        }
        let done = match timeout(self.limit, tx.run(work)).await {
            Ok(done) => done,
            Err(_) => Err(Error::new(
                Code::SegmentUnavailable,
                format!("the transaction did not end within {} ms", self.limit.as_millis()),
            )),
        };
        match done {
            Err(error) if is_failure(&error) => {
                // Nobody knows what this connection would answer to the next request.
                tx.close();
                Err(error.context(&self.shown))
            }
            done => done,
        }
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        failed(error).context(&self.shown)
    }

    /// Closes the connections that are idle, and waits for the others.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}
