//! A transaction on one connection.

use super::dialect::Dialect;
use super::driver::{Connection, Row};
use crate::clock::FilteredClock;
use leafid_core::{Code, Error, Result};
use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;
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
    connection: Option<Connection>,
    dialect: &'static Dialect,
    clock: Arc<FilteredClock>,
}

impl Transaction {
    pub(super) fn new(
        connection: Connection,
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
        if let Some(connection) = self.connection.take() {
            connection.end();
        }
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Returns the number of rows that matched.
    pub(crate) async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let sql = statement(sql, values, self.dialect);
        self.connection()?.execute(&sql).await.map_err(failed)
    }

    /// Changes the one row that is still as it was read. Errors: `segment_unavailable` if it is not: then the rows were not
    /// read where they are changed, or without a lock.
    pub(super) async fn change_one(&mut self, sql: &str, values: &[Value<'_>]) -> Result<()> {
        if self.execute(sql, values).await? == 1 {
            return Ok(());
        }
        let message = "a row was not as it had been read in the same transaction, so nothing was taken: see that no proxy \
                       sends SELECT to another database than UPDATE";
        Err(Error::new(Code::SegmentUnavailable, message.to_owned()))
    }

    pub(crate) async fn rows(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let sql = statement(sql, values, self.dialect);
        self.connection()?.rows(&sql).await.map_err(failed)
    }

    /// The first row, if there is one.
    pub(crate) async fn row(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The only column of the only row.
    pub(crate) async fn number(&mut self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let row = self.row(sql, values).await?.ok_or_else(|| failed(sqlx::Error::RowNotFound))?;
        integer(&row, 0)
    }

    /// The database's clock, after the filter.
    pub(crate) async fn now_ms(&mut self) -> Result<i64> {
        let query = format!("SELECT {}", self.dialect.now_ms);
        self.filtered_ms(&query, &[]).await
    }

    /// The clock that a statement reads, after the filter.
    pub(super) async fn filtered_ms(&mut self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let read_ms = self.number(sql, values).await?;
        Ok(self.clock.filtered_ms(read_ms))
    }

    async fn command(&mut self, sql: &'static str) -> Result<()> {
        self.connection()?.execute(sql).await.map(drop).map_err(failed)
    }

    fn connection(&mut self) -> Result<&mut Connection> {
        self.connection.as_mut().ok_or_else(|| failed(sqlx::Error::PoolClosed))
    }
}

/// Puts the values for each `?`. What came from outside is there as hexadecimal digits, whatever it holds.
fn statement(sql: &str, values: &[Value<'_>], dialect: &Dialect) -> String {
    let mut parts = sql.split('?');
    let mut statement = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        match value {
            Value::Int(number) => statement += &number.to_string(),
            Value::Text(text) => {
                statement += dialect.text.0;
                statement += &hex::encode(text);
                statement += dialect.text.1;
            }
        }
        statement += part;
    }
    statement
}

/// A column that holds an integer. Errors: one that holds anything else, such as a sum that has left the integers.
pub(crate) fn integer(row: &Row, column: usize) -> Result<i64> {
    let found = text(row, column)?;
    let wrong = |_| {
        Error::new(
            Code::SegmentUnavailable,
            format!("the database failed: {found:?} is no integer of 64 bits"),
        )
    };
    found.parse().map_err(wrong)
}

pub(crate) fn text(row: &Row, column: usize) -> Result<String> {
    row.text(column).map(ToOwned::to_owned).ok_or_else(|| {
        Error::new(Code::SegmentUnavailable, format!("the database failed: column {} is NULL", column + 1))
    })
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
        // Mixes of two, three and more collations; a wrong value of a text; a conversion that MariaDB and MySQL 8 refuse.
        Some(error) => matches!(error.number(), 1267 | 1270 | 1271 | 1366 | 1977 | 3854 | 3988),
        // A character that the encoding of a PostgreSQL lacks, or knows as another one.
        None => matches!(error.code().as_deref(), Some("22P05" | "22021")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{mysql, postgres, sqlite};
    use super::{Value, statement};

    #[test]
    fn a_text_is_hexadecimal_digits_whatever_it_holds() {
        let values = [Value::Int(-7), Value::Text("it's ä?")];
        for (dialect, expected) in [
            (&mysql::DIALECT, "a = -7 AND b = _utf8mb4 x'6974277320c3a43f' AND c"),
            (
                &postgres::DIALECT,
                "a = -7 AND b = convert_from(decode('6974277320c3a43f', 'hex'), 'UTF8') AND c",
            ),
            (&sqlite::DIALECT, "a = -7 AND b = CAST(x'6974277320c3a43f' AS TEXT) AND c"),
        ] {
            assert_eq!(statement("a = ? AND b = ? AND c", &values, dialect), expected);
        }
        assert_eq!(statement("none", &[], &sqlite::DIALECT), "none");
    }
}
