//! The servers of a store, which each of them announces now and then: table `leafid_server`. It is shown, and decides
//! nothing.

use super::sql::Sql;
use super::transaction::{Value, text};
use crate::holder::Holder;
use leafid_core::Result;

/// A server that has announced itself within this time lives.
pub(crate) const LIVES_MS: i64 = 60_000;
/// The row of one that has not is taken over, so that the table does not grow with each container that ever ran.
const STALE_MS: i64 = 86_400_000;
const MOST: usize = 1_000;

/// Whatever the pid is: a server that was started again has the row of its last run.
pub(crate) fn key(who: &Holder) -> String {
    let mut key = format!("{} {}", who.host, who.url);
    key.retain(|found| found.is_ascii());
    key.truncate(255);
    key
}

/// Says that this server lives, or with `ends` that it has ended.
pub(super) async fn announce(sql: &Sql, who: &Holder, ends: bool) -> Result<()> {
    let (key, holder) = (key(who), who.text());
    sql.transaction(move |tx| {
        Box::pin(async move {
            let now_ms = tx.now_ms().await?;
            let seen_ms = if ends { 0 } else { now_ms };
            let values = [Value::Text(&holder), Value::Int(seen_ms), Value::Text(&key)];
            let set = "UPDATE leafid_server SET holder = ?, seen_ms = ? WHERE server = ?";
            if tx.execute(set, &values).await? > 0 || ends {
                return Ok(());
            }
            let stale = "SELECT server FROM leafid_server WHERE seen_ms < ? ORDER BY seen_ms LIMIT 1";
            if let Some(row) = tx.row(stale, &[Value::Int(now_ms - STALE_MS)]).await? {
                let take = "UPDATE leafid_server SET server = ?, holder = ?, seen_ms = ? WHERE server = ? AND seen_ms < ?";
                let old = text(&row, 0)?;
                let mine = [Value::Text(&key), Value::Text(&holder), Value::Int(seen_ms)];
                let its = [Value::Text(&old), Value::Int(now_ms - STALE_MS)];
                let values: Vec<_> = mine.into_iter().chain(its).collect();
                if tx.execute(take, &values).await? > 0 {
                    return Ok(());
                }
            }
            let make = "INSERT INTO leafid_server (holder, seen_ms, server) VALUES (?, ?, ?)";
            tx.execute(make, &values).await.map(drop)
        })
    })
    .await
}

/// Those that live, by host and address.
pub(super) async fn servers(sql: &Sql) -> Result<Vec<Holder>> {
    let select = format!("SELECT holder FROM leafid_server WHERE seen_ms > ? ORDER BY server LIMIT {MOST}");
    let rows = sql
        .transaction(move |tx| {
            Box::pin(async move {
                let now_ms = tx.now_ms().await?;
                tx.rows(&select, &[Value::Int(now_ms - LIVES_MS)]).await
            })
        })
        .await?;
    rows.iter().map(|row| Ok(Holder::parse(&text(row, 0)?))).collect()
}
