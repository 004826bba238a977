//! The connections to the store.

use super::connection::{self, Address, DatabaseUrl};
use super::dialect::{Dialect, Durable};
use super::driver::ConnectionPool;
use super::schema;
use super::sqlite_file::SqliteFile;
use super::stride::Stride;
use super::transaction::{Transaction, Value, Work, failed, is_failure, text};
use crate::clock::FilteredClock;
use leafid_core::{Code, Error, Result};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;

const POOLERS: &str = "one that keeps a transaction on a connection: pool_mode = transaction or session";

/// A pool of connections. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Sql {
    pool: ConnectionPool,
    dialect: &'static Dialect,
    limit: Duration,
    shown: String,
    /// That of SQLite.
    file: Option<Arc<SqliteFile>>,
    stride: Stride,
    counters: Arc<OnceLock<Counters>>,
    /// That of the database.
    clock: Arc<FilteredClock>,
}

/// What is known of `leaf_alloc` once the tables were made.
struct Counters {
    /// The largest number that `max_id` can hold.
    largest: i64,
    /// A table that was made by hand may lack the column.
    has_update_time: bool,
}

impl Sql {
    /// Prepares a pool. No connection is made yet. Errors: `invalid_argument`.
    pub(crate) fn new(url: &str, connections: u32, limit: Duration, stride: Stride) -> Result<Sql> {
        let Address { dialect, target, shown } = connection::parse(url)?;
        let file = match &target {
            DatabaseUrl::Sqlite(path) => Some(Arc::new(SqliteFile::new(path)?)),
            _ => None,
        };
        let pool = ConnectionPool::new(&target, connections, limit)
            .map_err(|error| Error::invalid("store", format!("{shown}: {error}"), connection::ALLOWED))?;
        let clock = Arc::new(FilteredClock::new("the store"));
        Ok(Sql { pool, dialect, limit, shown, file, stride, counters: Arc::default(), clock })
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
        let mut new = Vec::new();
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
            match made {
                Ok(()) => new.push(table),
                Err(_) if self.has(table).await? => {}
                Err(error) => return Err(error),
            }
        }
        if !new.is_empty() {
            log::warn!("{}", schema::made_anew(&self.shown, &format!("tables {}", new.join(", "))));
        }
        self.make_later().await?;
        self.check_tables().await?;
        let columns = self.columns("leaf_alloc").await?;
        let largest = match columns.iter().find(|(name, _)| name == "max_id") {
            Some((_, column_type)) => (self.dialect.largest)(column_type).ok_or_else(|| {
                Error::invalid("store", format!("a leaf_alloc whose max_id is {column_type}"), "bigint")
            })?,
            None => return Err(Error::invalid("store", "a leaf_alloc without max_id", "Leaf's table")),
        };
        let has_update_time = columns.iter().any(|(name, _)| name == "update_time");
        let _ = self.counters.set(Counters { largest, has_update_time });
        Ok(())
    }

    /// Makes what later versions than 0.1.0 have beside the tables of that one.
    async fn make_later(&self) -> Result<()> {
        if !self.has_holder().await? {
            self.later(schema::ADD_HOLDER.to_owned(), self.has_holder()).await?;
        }
        if !self.has(schema::SERVERS).await? {
            self.later(schema::server_table(self.dialect), self.has(schema::SERVERS)).await?;
        }
        Ok(())
    }

    /// Runs a statement, unless another server was first.
    async fn later(&self, statement: String, is_there: impl Future<Output = Result<bool>>) -> Result<()> {
        let shown = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let done =
            self.transaction(move |tx| Box::pin(async move { tx.execute(&statement, &[]).await })).await;
        match done {
            Ok(_) => log::info!("{}: {shown}", self.shown),
            Err(_) if is_there.await? => {}
            Err(error) => {
                return Err(error.context(format!("this user may not do it, so let another one run {shown}")));
            }
        }
        Ok(())
    }

    async fn has_holder(&self) -> Result<bool> {
        Ok(self.columns("leafid_worker").await?.iter().any(|(name, _)| name == schema::HOLDER))
    }

    /// Errors: `invalid_argument` for a table without transactions, where two servers would take one range.
    pub(crate) async fn check_tables(&self) -> Result<()> {
        let found = self.texts(self.dialect.untransacted).await?;
        if found.is_empty() {
            return Ok(());
        }
        let names = found.iter().filter_map(|table| table.split(' ').next());
        let mend: Vec<_> = names.map(|name| format!("ALTER TABLE {name} ENGINE = InnoDB")).collect();
        let found = format!("a database where {}, which has no transactions", found.join(" and "));
        Err(Error::invalid("store", found, &format!("tables of InnoDB: {}", mend.join("; "))))
    }

    /// Whether rows of `leaf_alloc` say when they were changed.
    pub(super) fn has_update_time(&self) -> bool {
        self.counters.get().is_some_and(|counters| counters.has_update_time)
    }

    /// The largest number that a counter can hold.
    pub(super) fn largest(&self) -> i64 {
        self.counters.get().map_or(0, |counters| counters.largest)
    }

    /// The tables and the columns that a start makes, and whether each is there. Errors: the database does not say.
    pub(crate) async fn tables(&self) -> Result<Vec<(String, bool)>> {
        let mut tables = Vec::new();
        for table in ["leaf_alloc", "leafid_space", "leafid_worker"] {
            tables.push((format!("table {table}"), self.has(table).await?));
        }
        tables.push((format!("column leafid_worker.{}", schema::HOLDER), self.has_holder().await?));
        tables.push((format!("table {}", schema::SERVERS), self.has(schema::SERVERS).await?));
        Ok(tables)
    }

    /// Whether a table is there. Errors: the database does not say.
    pub(crate) async fn has(&self, table: &'static str) -> Result<bool> {
        Ok(!self.columns(table).await?.is_empty())
    }

    /// Name and type of each column of a table; none if there is no such table.
    async fn columns(&self, table: &'static str) -> Result<Vec<(String, String)>> {
        let query = self.dialect.columns;
        let rows = self
            .transaction(move |tx| Box::pin(async move { tx.rows(query, &[Value::Text(table)]).await }))
            .await?;
        rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
    }

    /// What is no fault, but differs from the tables that are made here, and the statement that makes them alike.
    pub(crate) async fn differences(&self) -> Result<Vec<(String, String)>> {
        let found = self.texts(self.dialect.unlike).await?;
        let alike =
            |column: &str| self.dialect.collates.replace('?', column.split('.').next().unwrap_or_default());
        Ok(found.into_iter().map(|column| (column.clone(), alike(&column))).collect())
    }

    /// The schema whose tables are used, where it does not follow from the address.
    pub(crate) async fn schema(&self) -> Result<Option<String>> {
        Ok(self.texts(self.dialect.schema).await?.into_iter().next())
    }

    /// Tables that other users of this database take for those of the store.
    pub(crate) async fn elsewhere(&self) -> Result<Vec<String>> {
        self.texts(self.dialect.elsewhere).await
    }

    /// The first column of a query.
    async fn texts(&self, query: Option<&'static str>) -> Result<Vec<String>> {
        let Some(query) = query else { return Ok(Vec::new()) };
        let rows = self.transaction(move |tx| Box::pin(async move { tx.rows(query, &[]).await })).await?;
        rows.iter().map(|row| text(row, 0)).collect()
    }

    /// Whether a pooler shares connections between transactions, as far as it can be seen. Errors: `invalid_argument` for
    /// one that does not keep a transaction on one connection.
    pub(crate) async fn is_pooled(&self) -> Result<bool> {
        if self.dialect.backend.is_none() {
            return Ok(false);
        }
        let store = self.clone();
        let task = tokio::spawn(async move {
            let mut first = store.begin().await?;
            let mut found = vec![store.backend(&mut first).await?];
            // While there are two connections, a pooler that is idle has one backend for both.
            let is_shared = match store.pool.most_connections() {
                0 | 1 => false,
                _ => found.contains(&store.backend(&mut store.begin().await?).await?),
            };
            found.push(store.backend(&mut first).await?);
            Ok(is_shared || found.first() != found.last())
        });
        joined(task.await).map_err(|error| match error.message().contains("statement pooling mode") {
            true => Error::invalid("store", error.message(), POOLERS),
            false => error,
        })
    }

    /// What serves a transaction on this connection.
    async fn backend(&self, tx: &mut Transaction) -> Result<i64> {
        let query = self.dialect.backend.unwrap_or_default();
        let numbers = self.within(tx, move |tx| {
            Box::pin(async move { Ok((tx.number(query, &[]).await?, tx.number(query, &[]).await?)) })
        });
        match numbers.await? {
            (one, other) if one == other => Ok(one),
            _ => {
                Err(Error::invalid("store", "a pooler that spreads a transaction over connections", POOLERS))
            }
        }
    }

    /// The database's clock, Unix milliseconds. It is also how a server sees whether the store answers.
    pub(crate) async fn now_ms(&self) -> Result<i64> {
        self.transaction(|tx| Box::pin(async move { tx.now_ms().await })).await
    }

    /// What is set so that a committed row can be lost.
    pub(crate) async fn dangers(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for Durable { setting, query, good, or, mend } in self.dialect.durable {
            let values = self.texts(Some(*query)).await?;
            for value in values.iter().filter(|value| !good.contains(&value.as_str())) {
                let allowed = if good.is_empty() { "none".to_owned() } else { good.join(" or ") };
                let mend = mend.replace('?', value);
                found.push(format!("{setting} is {value}; allowed: {allowed}, or {or}: {mend}"));
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
        // In a box, as the calls of the tags: the task itself would leave gaps between them.
        let task = tokio::spawn(Box::pin(async move {
            let mut tx = store.begin().await?;
            store.within(&mut tx, work).await
        }));
        joined(task.await)
    }

    /// A connection for transactions.
    async fn begin(&self) -> Result<Transaction> {
        self.file.as_ref().map_or(Ok(()), |file| file.check_before())?;
        let connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        let mut tx = Transaction::new(connection, self.dialect, self.clock.clone());
        if let Err(error) = self.file.as_ref().map_or(Ok(()), |file| file.check()) {
            // It may have opened another file just now, and would be used once the right one is back.
            self.end(&mut tx);
            return Err(error);
        }
        Ok(tx)
    }

    async fn within<T, F>(&self, tx: &mut Transaction, work: F) -> Result<T>
    where
        F: for<'c> FnOnce(&'c mut Transaction) -> Work<'c, T>,
    {
        let done = match timeout(self.limit, tx.run(work)).await {
            Ok(done) => done,
            Err(_) => Err(Error::new(
                Code::SegmentUnavailable,
                format!("the transaction did not end within {} ms", self.limit.as_millis()),
            )),
        };
        // No other connection sees what was committed to a file that is gone.
        let check = |done| self.file.as_ref().map_or(Ok(()), |file| file.check_after()).map(|()| done);
        match done.and_then(check) {
            Err(error) if is_failure(&error) => {
                // It is unknown what this connection would answer to the next request.
                self.end(tx);
                Err(error.context(&self.shown))
            }
            done => done,
        }
    }

    fn end(&self, tx: &mut Transaction) {
        if let Some(file) = &self.file {
            file.closes();
        }
        tx.close();
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        failed(error).context(&self.shown)
    }

    /// Closes the connections that are idle, and waits for the others.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

fn joined<T>(ended: std::result::Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    ended.unwrap_or_else(|error| Err(Error::new(Code::Internal, format!("a transaction ended: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_that_does_not_answer_has_not_said_that_a_table_is_missing() -> Result<()> {
        let store =
            Sql::new("postgres://leaf@127.0.0.1:1/leaf", 2, Duration::from_millis(50), Stride::new(1, 0)?)?;
        assert_eq!(store.has("tiny_id_token").await.unwrap_err().code(), Code::SegmentUnavailable);
        Ok(())
    }
}
