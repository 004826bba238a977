//! The worker ids that are held, as the monitor page shows them.

use super::sql::Sql;
use super::transaction::{Value, integer, text};
use crate::holder::Holder;
use leafid_core::Result;

const COLUMNS: &str = "name, worker_id, instance, ends_ms, clock_ahead_ms, holder";

/// A worker id that is held.
pub(crate) struct LeaseRow {
    /// The id space.
    pub(crate) name: String,
    pub(crate) worker_id: i64,
    /// That of the claim.
    pub(crate) instance: String,
    /// The end of the lease, by the clock that judges it.
    pub(crate) ends_ms: i64,
    /// How far the holder's clock was ahead of that clock at the claim.
    pub(crate) clock_ahead_ms: i64,
    /// Who made the claim.
    pub(crate) holder: Holder,
}

/// The rows by name and id, at most `most` of them, and the database's clock.
pub(super) async fn lease_rows(store: &Sql, most: usize) -> Result<(i64, Vec<LeaseRow>)> {
    let select = format!(
        "SELECT {COLUMNS} FROM leafid_worker WHERE token <> '' AND ends_ms > ? ORDER BY name, worker_id LIMIT {most}"
    );
    let (store_ms, rows) = store
        .transaction(move |tx| {
            Box::pin(async move {
                let store_ms = tx.now_ms().await?;
                Ok((store_ms, tx.rows(&select, &[Value::Int(store_ms)]).await?))
            })
        })
        .await?;
    let rows = rows.iter().map(|row| {
        Ok(LeaseRow {
            name: text(row, 0)?,
            worker_id: integer(row, 1)?,
            instance: text(row, 2)?,
            ends_ms: integer(row, 3)?,
            clock_ahead_ms: integer(row, 4)?,
            holder: Holder::parse(&text(row, 5)?),
        })
    });
    Ok((store_ms, rows.collect::<Result<_>>()?))
}
