//! What all servers of a store must agree in, as the first of them has stored it.

use super::sql::Sql;
use super::transaction::{Value, text};
use leafid_core::Result;

/// Names and values.
pub(crate) type Settings = Vec<(String, String)>;

const TABLE: &str = "leafid_settings";

/// Stores those that are missing, or all of them to `change` them. Returns what is stored.
pub(super) async fn agree(sql: &Sql, own: Settings, change: bool) -> Result<Settings> {
    if !sql.has(TABLE).await? {
        let options = sql.dialect().table_options;
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {TABLE} (
                name varchar(64) NOT NULL,
                value varchar(255) NOT NULL,
                PRIMARY KEY (name)
            ) {options}"
        );
        let made = sql
            .transaction(move |tx| Box::pin(async move { tx.execute(&create, &[]).await.map(drop) }))
            .await;
        // PostgreSQL fails the second of two that make one table at once.
        if let Err(error) = made
            && !sql.has(TABLE).await?
        {
            log::warn!(
                "the settings of this store's servers are not compared, for {TABLE} cannot be made: {error}"
            );
            return Ok(own);
        }
    }
    sql.transaction(move |tx| {
        Box::pin(async move {
            let (insert, ignore) = tx.dialect().insert_new;
            let make = format!("{insert} {TABLE} (name, value) VALUES (?, ?) {ignore}");
            let set = format!("UPDATE {TABLE} SET value = ? WHERE name = ?");
            for (name, value) in &own {
                tx.execute(&make, &[Value::Text(name), Value::Text(value)]).await?;
                if change {
                    tx.execute(&set, &[Value::Text(value), Value::Text(name)]).await?;
                }
            }
            let rows = tx.rows(&format!("SELECT name, value FROM {TABLE}"), &[]).await?;
            rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
        })
    })
    .await
}

/// What is stored, without a change.
pub(super) async fn stored(sql: &Sql) -> Result<Settings> {
    if !sql.has(TABLE).await? {
        return Ok(Settings::new());
    }
    let select = format!("SELECT name, value FROM {TABLE}");
    let rows = sql.transaction(move |tx| Box::pin(async move { tx.rows(&select, &[]).await })).await?;
    rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
}
