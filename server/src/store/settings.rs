//! What all servers of a store must agree in, as the first of them has stored it.

use super::sql::Sql;
use super::transaction::{Value, text};
use leafid_core::{Error, Result};

/// Names and values.
pub(crate) type Settings = Vec<(String, String)>;

const TABLE: &str = "leafid_settings";

/// The setting that says what the rows of a store may mean.
const NAME_OF_FORMAT: &str = "format";
/// That of this server. It goes up with each meaning that an older server would not see, as what `worker free` skips.
const FORMAT: u32 = 1;

/// Errors: `invalid_argument` for a store in which a newer server may have stored what this one would misread, and then
/// give out twice.
pub(crate) fn check_format(stored: &Settings) -> Result<()> {
    match stored.iter().find(|(name, _)| name == NAME_OF_FORMAT) {
        Some((_, format)) if !format.parse().is_ok_and(|format: u32| format <= FORMAT) => {
            let allowed = format!(
                "at most {FORMAT} in leafid-server {}: a newer one wrote this store; start that version, or a later one",
                env!("CARGO_PKG_VERSION")
            );
            Err(Error::invalid("the format of the store", format, &allowed))
        }
        _ => Ok(()),
    }
}

/// The setting of this server, and those of older ones, which it replaces.
pub(super) fn format() -> (&'static str, String, impl Iterator<Item = String>) {
    (NAME_OF_FORMAT, FORMAT.to_string(), (0..FORMAT).map(|older| older.to_string()))
}

/// Stores those that are missing, or all of them to `change` them, and the format. Returns what is stored.
pub(super) async fn agree(sql: &Sql, own: &Settings, change: bool) -> Result<Settings> {
    let own = own.clone();
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
            let (name, format, older) = format();
            tx.execute(&make, &[Value::Text(name), Value::Text(&format)]).await?;
            let raise = format!("{set} AND value = ?");
            for older in older {
                tx.execute(&raise, &[Value::Text(&format), Value::Text(name), Value::Text(&older)]).await?;
            }
            let rows = tx.rows(&format!("SELECT name, value FROM {TABLE}"), &[]).await?;
            rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
        })
    })
    .await
}

/// What is stored, without a change.
pub(super) async fn settings(sql: &Sql) -> Result<Settings> {
    if !sql.has(TABLE).await? {
        return Ok(Settings::new());
    }
    let select = format!("SELECT name, value FROM {TABLE}");
    let rows = sql.transaction(move |tx| Box::pin(async move { tx.rows(&select, &[]).await })).await?;
    rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
}
