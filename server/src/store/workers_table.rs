//! The tables of worker ids: `leafid_space` has one row for each name, whose lock orders all that happens to its ids, and
//! `leafid_worker` one row for each id that was ever granted.

use super::dialect::Dialect;
use super::sql::Sql;
use super::transaction::{Transaction, Value, integer, text};
use crate::lease_rules::{Pool, Space, Worker};
use leafid_core::Result;
use std::sync::Arc;

const SPACE: &str = "floor_ms, latest_ms, longest_ms, revision";
const WORKER: &str = "worker_id, begins_ms, until_ms, ends_ms, token, released, instance, renewals, clock_ahead_ms, history, holder";

/// The worker ids of one name, in a transaction that has locked them.
pub(crate) struct WorkersTable<'t> {
    tx: &'t mut Transaction,
    name: &'t str,
    /// That of the row which was locked.
    revision: i64,
}

impl<'t> WorkersTable<'t> {
    /// Locks the name. `None`: it has no row yet.
    pub(crate) async fn lock(
        tx: &'t mut Transaction,
        name: &'t str,
    ) -> Result<Option<(WorkersTable<'t>, Space)>> {
        let for_update = tx.dialect().for_update;
        let select = format!("SELECT {SPACE} FROM leafid_space WHERE name = ? {for_update}");
        let Some(row) = tx.row(&select, &[Value::Text(name)]).await? else { return Ok(None) };
        let space = Space {
            floor_ms: integer(&row, 0)?,
            latest_ms: integer(&row, 1)?,
            longest_ms: integer(&row, 2)?,
            revision: integer(&row, 3)?,
        };
        Ok(Some((WorkersTable { tx, name, revision: space.revision }, space)))
    }

    /// The clock of the database that has the lock, read while it is held.
    pub(crate) async fn now_ms(&mut self) -> Result<i64> {
        let Dialect { now_ms, for_update, .. } = self.tx.dialect();
        let select = format!("SELECT {now_ms} FROM leafid_space WHERE name = ? {for_update}");
        self.tx.filtered_ms(&select, &[Value::Text(self.name)]).await
    }

    /// The rows, by worker id; with `only` the one of this id. It is a locking read: a snapshot may be older than the
    /// lock.
    pub(crate) async fn workers(&mut self, only: Option<i64>) -> Result<Vec<Worker>> {
        let for_update = self.tx.dialect().for_update;
        let (least, most) = only.map_or((0, i64::MAX), |id| (id, id));
        let select = format!(
            "SELECT {WORKER} FROM leafid_worker WHERE name = ? AND worker_id BETWEEN ? AND ? ORDER BY worker_id {for_update}"
        );
        let values = [Value::Text(self.name), Value::Int(least), Value::Int(most)];
        let rows = self.tx.rows(&select, &values).await?;
        rows.iter()
            .map(|row| {
                Ok(Worker {
                    worker_id: integer(row, 0)?,
                    begins_ms: integer(row, 1)?,
                    until_ms: integer(row, 2)?,
                    ends_ms: integer(row, 3)?,
                    token: text(row, 4)?,
                    released: text(row, 5)?,
                    instance: text(row, 6)?,
                    renewals: integer(row, 7)?,
                    clock_ahead_ms: integer(row, 8)?,
                    history: text(row, 9)?,
                    holder: text(row, 10)?,
                })
            })
            .collect()
    }

    /// Stores a row. `is_new`: the id was never granted before.
    pub(crate) async fn put(&mut self, worker: &Worker, is_new: bool) -> Result<()> {
        let put = if is_new {
            "INSERT INTO leafid_worker (begins_ms, until_ms, ends_ms, token, released, instance, renewals, \
             clock_ahead_ms, history, holder, name, worker_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        } else {
            "UPDATE leafid_worker SET begins_ms = ?, until_ms = ?, ends_ms = ?, token = ?, released = ?, instance = ?, \
             renewals = ?, clock_ahead_ms = ?, history = ?, holder = ? WHERE name = ? AND worker_id = ?"
        };
        let values = [
            Value::Int(worker.begins_ms),
            Value::Int(worker.until_ms),
            Value::Int(worker.ends_ms),
            Value::Text(&worker.token),
            Value::Text(&worker.released),
            Value::Text(&worker.instance),
            Value::Int(worker.renewals),
            Value::Int(worker.clock_ahead_ms),
            Value::Text(&worker.history),
            Value::Text(&worker.holder),
            Value::Text(self.name),
            Value::Int(worker.worker_id),
        ];
        self.tx.change_one(put, &values).await
    }

    /// To be called before any other row is changed: of two that decided by one revision, the second is refused.
    pub(crate) async fn put_space(&mut self, space: &Space) -> Result<()> {
        let put = "UPDATE leafid_space SET floor_ms = ?, latest_ms = ?, longest_ms = ?, revision = ? \
                   WHERE name = ? AND revision = ?";
        let values = [
            Value::Int(space.floor_ms),
            Value::Int(space.latest_ms),
            Value::Int(space.longest_ms),
            Value::Int(space.revision),
            Value::Text(self.name),
            Value::Int(self.revision),
        ];
        self.tx.change_one(put, &values).await
    }

    /// Ends all tokens: no holder may renew.
    pub(crate) async fn void_tokens(&mut self) -> Result<()> {
        let void = "UPDATE leafid_worker SET token = '', released = '', instance = '', holder = '', ends_ms = 0 \
                    WHERE name = ?";
        self.tx.execute(void, &[Value::Text(self.name)]).await?;
        Ok(())
    }
}

/// Makes the row of a name, unless it is there. Errors: too many names.
pub(super) async fn make_space(store: &Sql, name: &str, pool: Arc<Pool>) -> Result<()> {
    let name = name.to_owned();
    store
        .transaction(move |tx| {
            Box::pin(async move {
                pool.check_names(tx.number("SELECT COUNT(*) FROM leafid_space", &[]).await?)?;
                let (insert, ignore) = tx.dialect().insert_new;
                let make = format!("{insert} leafid_space (name, {SPACE}) VALUES (?, 0, 0, 0, 0) {ignore}");
                tx.execute(&make, &[Value::Text(&name)]).await?;
                Ok(())
            })
        })
        .await
}
