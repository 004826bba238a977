//! The drivers of the databases.
//!
//! A statement is one text, sent in one round trip. A prepared one has a name or a number that a connection counts, and
//! behind a pooler the statement of another client may have it.

use super::connection::DatabaseUrl;
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ColumnIndex, ConnectOptions, Database, Decode, Executor, MySql, Postgres, Sqlite};
use std::time::Duration;

/// How long a statement waits for the lock of another one.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// A pool of connections. Cloning shares it.
#[derive(Clone)]
pub(super) enum ConnectionPool {
    MySql(sqlx::MySqlPool),
    Postgres(sqlx::PgPool),
    Sqlite(sqlx::SqlitePool),
}

pub(super) enum Connection {
    MySql(PoolConnection<MySql>),
    Postgres(PoolConnection<Postgres>),
    Sqlite(PoolConnection<Sqlite>),
}

/// The same for each driver.
macro_rules! of_each {
    ($kind:ident, $value:ident, |$one:ident| $done:expr) => {
        match $value {
            $kind::MySql($one) => $done,
            $kind::Postgres($one) => $done,
            $kind::Sqlite($one) => $done,
        }
    };
}

/// A row: the texts of its columns.
pub(crate) struct Row(Vec<Option<String>>);

impl Row {
    /// `None`: NULL, or no such column.
    pub(super) fn text(&self, column: usize) -> Option<&str> {
        self.0.get(column)?.as_deref()
    }
}

impl ConnectionPool {
    /// No connection is made yet. Errors: an address that the driver does not understand.
    pub(super) fn new(
        target: &DatabaseUrl,
        connections: u32,
        limit: Duration,
    ) -> sqlx::Result<ConnectionPool> {
        Ok(match target {
            DatabaseUrl::MySql(url) => {
                // What others set in a session is no matter here, and a proxy may lose what is set.
                let options: MySqlConnectOptions = url.parse()?;
                let options = options.pipes_as_concat(false).no_engine_substitution(false);
                let pool: MySqlPoolOptions = pool_options(connections, limit);
                let pool = pool.after_connect(|connection, _| {
                    Box::pin(async move {
                        let wait = format!("SET SESSION innodb_lock_wait_timeout = {}", LOCK_WAIT.as_secs());
                        connection.execute(wait.as_str()).await.map(drop)
                    })
                });
                ConnectionPool::MySql(pool.connect_lazy_with(options.disable_statement_logging()))
            }
            DatabaseUrl::Postgres(url) => {
                let options: PgConnectOptions = url.parse()?;
                // PgBouncer refuses a start with it.
                let options = options.extra_float_digits(None).disable_statement_logging();
                ConnectionPool::Postgres(pool_options(connections, limit).connect_lazy_with(options))
            }
            DatabaseUrl::Sqlite(path) => {
                // FULL: a commit has reached the disk, also in WAL mode.
                let options = SqliteConnectOptions::new()
                    .filename(path)
                    .create_if_missing(true)
                    .busy_timeout(LOCK_WAIT)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .disable_statement_logging();
                // Its transactions come one after another. Those of several connections would wait by polling, the
                // last for seconds. A later connection would open what is at the path by then.
                let pool: SqlitePoolOptions = pool_options(1, limit);
                let pool = pool.max_lifetime(None).idle_timeout(None);
                ConnectionPool::Sqlite(pool.connect_lazy_with(options))
            }
        })
    }

    pub(super) async fn acquire(&self) -> sqlx::Result<Connection> {
        Ok(match self {
            ConnectionPool::MySql(pool) => Connection::MySql(pool.acquire().await?),
            ConnectionPool::Postgres(pool) => Connection::Postgres(pool.acquire().await?),
            ConnectionPool::Sqlite(pool) => Connection::Sqlite(pool.acquire().await?),
        })
    }

    pub(super) fn most_connections(&self) -> u32 {
        of_each!(ConnectionPool, self, |pool| pool.options().get_max_connections())
    }

    /// Closes the connections that are idle, and waits for the others.
    pub(super) async fn close(&self) {
        of_each!(ConnectionPool, self, |pool| pool.close().await);
    }
}

impl Connection {
    /// Returns the number of rows that matched.
    pub(super) async fn execute(&mut self, sql: &str) -> sqlx::Result<u64> {
        Ok(of_each!(Connection, self, |connection| connection.execute(sql).await?.rows_affected()))
    }

    pub(super) async fn rows(&mut self, sql: &str) -> sqlx::Result<Vec<Row>> {
        of_each!(Connection, self, |connection| texts(&connection.fetch_all(sql).await?))
    }

    /// Ends it, and with it what was not committed.
    pub(super) fn end(self) {
        of_each!(Connection, self, |connection| drop(connection.detach()));
    }
}

fn pool_options<D: Database>(connections: u32, limit: Duration) -> PoolOptions<D> {
    PoolOptions::new().max_connections(connections).acquire_timeout(limit)
}

fn texts<R>(rows: &[R]) -> sqlx::Result<Vec<Row>>
where
    R: sqlx::Row,
    usize: ColumnIndex<R>,
    Option<String>: for<'r> Decode<'r, R::Database>,
{
    let text =
        |row: &R| (0..row.len()).map(|column| row.try_get_unchecked(column)).collect::<sqlx::Result<_>>();
    rows.iter().map(|row| text(row).map(Row)).collect()
}
