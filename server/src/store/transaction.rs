//! A transaction on one connection.

use super::dialect::Dialect;
use crate::clock::FilteredClock;
use leafid_core::{Code, Error, Result};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{Any, Executor, Row};
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The future of what is done in a transaction.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// A parameter of a statement.
pub(crate) enum Value<'v> {
    Int(i64),
    Text(&'v str),
}

/// A transaction. Statements have `?` for each parameter.
pub(crate) struct Transaction {
    /// Empty once it was closed.
    connection: Option<PoolConnection<Any>>,
    dialect: &'static Dialect,
    clock: Arc<FilteredClock>,
}

impl Transaction {
    pub(super) fn new(
        connection: PoolConnection<Any>,
        dialect: &'static Dialect,
        clock: Arc<FilteredClock>,
    ) -> Transaction {
        Transaction { connection: Some(connection), dialect, clock }
    }

    /// Begins, works and commits. If the work refuses, nothing of it is kept.
    pub(super) async fn run<T, F>(&mut self, work: F) -> Result<T>
    where
        F: for<'c> FnOnce(&'c mut Transaction) -> Work<'c, T>,
    {
        self.command(self.dialect.begin).await?;
        let done = work(self).await;
        match &done {
            Ok(_) => self.command("COMMIT").await?,
            Err(error) if is_failure(error) => {}
            Err(_) => self.command("ROLLBACK").await?,
        }
        done
    }

    /// Ends the connection, and with it what was not committed.
    pub(super) fn close(&mut self) {
        drop(self.connection.take().map(PoolConnection::detach));
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Returns the number of rows that matched.
    pub(crate) async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let sql = self.sql(sql);
        let done = self.connection()?.execute(query(&sql, values)).await.map_err(failed)?;
        Ok(done.rows_affected())
    }

    pub(crate) async fn rows(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<AnyRow>> {
        let sql = self.sql(sql);
        self.connection()?.fetch_all(query(&sql, values)).await.map_err(failed)
    }

    /// The first row, if there is one.
    pub(crate) async fn row(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<AnyRow>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The only column of the only row.
    pub(crate) async fn number(&mut self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let row = self.row(sql, values).await?.ok_or_else(|| failed(sqlx::Error::RowNotFound))?;
        integer(&row, 0)
    }

    /// The same, of a text.
    pub(crate) async fn text(&mut self, sql: &str, values: &[Value<'_>]) -> Result<String> {
        let row = self.row(sql, values).await?.ok_or_else(|| failed(sqlx::Error::RowNotFound))?;
        text(&row, 0)
    }

    /// The database's clock, after the filter.
    pub(crate) async fn now_ms(&mut self) -> Result<i64> {
        let query = format!("SELECT {}", self.dialect.now_ms);
        let read_ms = self.number(&query, &[]).await?;
        Ok(self.clock.filtered_ms(read_ms))
    }

    async fn command(&mut self, sql: &'static str) -> Result<()> {
        self.connection()?.execute(sql).await.map_err(failed)?;
        Ok(())
    }

    fn connection(&mut self) -> Result<&mut PoolConnection<Any>> {
        self.connection.as_mut().ok_or_else(|| failed(sqlx::Error::PoolClosed))
    }

    /// The text as this database wants it.
    fn sql<'s>(&self, sql: &'s str) -> Cow<'s, str> {
        if self.dialect.numbered { Cow::Owned(numbered(sql)) } else { Cow::Borrowed(sql) }
    }
}

/// Every text is of this program; what came from outside is in `values`.
fn query<'q>(sql: &'q str, values: &[Value<'_>]) -> Query<'q, Any, AnyArguments<'q>> {
    values.iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Int(number) => query.bind(*number),
        Value::Text(text) => query.bind((*text).to_owned()),
    })
}

/// Replaces each `?` by `$1`, `$2` and so on.
fn numbered(sql: &str) -> String {
    let mut parts = sql.split('?');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.zip(1..).fold(first, |text, (part, number): (_, u32)| format!("{text}${number}{part}"))
}

/// A column that holds an integer. Errors: one that holds anything else, such as a sum that has left the integers.
pub(crate) fn integer(row: &AnyRow, column: usize) -> Result<i64> {
    row.try_get(column).map_err(failed)
}

pub(crate) fn text(row: &AnyRow, column: usize) -> Result<String> {
    row.try_get(column).map_err(failed)
}

/// Whether the database failed, and not what was asked of it.
pub(super) fn is_failure(error: &Error) -> bool {
    error.code() == Code::SegmentUnavailable
}

pub(super) fn failed(error: sqlx::Error) -> Error {
    if let sqlx::Error::Database(refused) = &error
        && lacks_characters(&**refused)
    {
        let allowed = "the characters of the column's character set; utf8mb4 has all";
        return Error::invalid("a text", "not of the database's characters", allowed);
    }
    let message = match error {
        sqlx::Error::PoolTimedOut => {
            "no connection in time: the database does not answer, or all connections are in use".to_owned()
        }
        error => format!("the database failed: {error}"),
    };
    Error::new(Code::SegmentUnavailable, message)
}

/// Whether a text has a character that its column, or the database, cannot hold.
fn lacks_characters(error: &dyn DatabaseError) -> bool {
    match error.try_downcast_ref::<MySqlDatabaseError>() {
        // An illegal mix of collations, a wrong value of a text, and what MySQL 8 says for the first.
        Some(error) => matches!(error.number(), 1267 | 1366 | 3988),
        // A character that the encoding of a PostgreSQL lacks.
        None => error.code().as_deref() == Some("22P05"),
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn parameters_are_numbered_in_their_order() {
        assert_eq!(numbered("a = ? AND b = ?"), "a = $1 AND b = $2");
        assert_eq!((numbered("?"), numbered("none")), ("$1".to_owned(), "none".to_owned()));
    }
}
