//! The rows of `leaf_alloc` as an administrator sees and changes them.

use super::alloc::{check_first, check_jump, check_single};
use super::dialect::Dialect;
use super::driver::Row;
use super::sql::Sql;
use super::tag_name::check_found;
use super::transaction::{Transaction, Value, integer, text};
use leafid_core::{Code, Error, Result};

// CONCAT makes a text of each type in each database; in MySQL it is NULL for NULL.
const COLUMNS: &str = "max_id, step, COALESCE(description, ''), COALESCE(CONCAT(update_time, ''), '')";

/// A row.
pub(crate) struct TagRow {
    pub(crate) tag: String,
    /// The first id that was not given yet.
    pub(crate) max_id: i64,
    pub(crate) step: i64,
    pub(crate) description: String,
    /// As the database shows it.
    pub(crate) update_time: String,
}

/// What to set in a row; `None` leaves it as it is, and is the usual value in a new row.
pub(crate) struct TagChange {
    pub(crate) step: Option<i64>,
    /// The counter is raised to this. It is never set back.
    pub(crate) first: Option<i64>,
    pub(crate) description: Option<String>,
}

/// Makes a tag, or changes it. Returns the row, and whether it is new.
pub(crate) async fn change_tag(sql: &Sql, tag: &str, change: TagChange) -> Result<(TagRow, bool)> {
    let tag = tag.to_owned();
    sql.transaction(move |tx| Box::pin(async move { set(tx, &tag, &change).await })).await
}

async fn set(tx: &mut Transaction, tag: &str, change: &TagChange) -> Result<(TagRow, bool)> {
    let (insert, ignore) = tx.dialect().insert_new;
    let make = format!("{insert} leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?) {ignore}");
    let (first, step) = (change.first.unwrap_or(1), change.step.unwrap_or(1_000));
    let made = tx.execute(&make, &[Value::Text(tag), Value::Int(first), Value::Int(step)]).await?;
    if let Some(step) = change.step {
        let set = "UPDATE leaf_alloc SET step = ? WHERE biz_tag = ?";
        tx.execute(set, &[Value::Int(step), Value::Text(tag)]).await?;
    }
    if let Some(first) = change.first {
        match made {
            0 => raise(tx, tag, first).await?,
            _ => check_first(first)?,
        }
    }
    if let Some(description) = &change.description {
        let set = "UPDATE leaf_alloc SET description = ? WHERE biz_tag = ?";
        tx.execute(set, &[Value::Text(description), Value::Text(tag)]).await?;
    }
    let Dialect { tag: named, for_update, .. } = tx.dialect();
    let select = format!("SELECT {named}, {COLUMNS} FROM leaf_alloc WHERE biz_tag = ? {for_update}");
    let rows = tx.rows(&select, &[Value::Text(tag)]).await?;
    check_single(tag, rows.len())?;
    let row = rows
        .first()
        .ok_or_else(|| Error::new(Code::SegmentUnavailable, format!("the row of {tag:?} has vanished")))?;
    let row = tag_row(row)?;
    check_found(tag, &row.tag)?;
    Ok((row, made > 0))
}

/// Raises a counter that is below `first`. Errors: `invalid_argument`.
async fn raise(tx: &mut Transaction, tag: &str, first: i64) -> Result<()> {
    let select = format!("SELECT max_id FROM leaf_alloc WHERE biz_tag = ? {}", tx.dialect().for_update);
    for row in tx.rows(&select, &[Value::Text(tag)]).await? {
        check_jump("first", integer(&row, 0)?, first)?;
    }
    let raise = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id < ?";
    tx.execute(raise, &[Value::Int(first), Value::Text(tag), Value::Int(first)]).await?;
    Ok(())
}

/// The rows behind `after`, by tag, at most `most` of them.
pub(crate) async fn tag_rows(sql: &Sql, after: &str, most: usize) -> Result<Vec<TagRow>> {
    let columns = format!("{}, {COLUMNS}", sql.dialect().tag);
    rows_behind(sql, &columns, after, most).await?.iter().map(tag_row).collect()
}

/// The names of the tags behind `after`, in their order, at most `most` of them.
pub(crate) async fn tag_names(sql: &Sql, after: &str, most: usize) -> Result<Vec<String>> {
    let rows = rows_behind(sql, sql.dialect().tag, after, most).await?;
    rows.iter().map(|row| text(row, 0)).collect()
}

/// The first ones for `after = ""`, with a name that a collation takes for an empty one, such as a blank.
async fn rows_behind(sql: &Sql, columns: &str, after: &str, most: usize) -> Result<Vec<Row>> {
    let after = (!after.is_empty()).then(|| after.to_owned());
    let behind = after.as_ref().map_or("", |_| "WHERE biz_tag > ?");
    let select = format!("SELECT {columns} FROM leaf_alloc {behind} ORDER BY biz_tag LIMIT {most}");
    sql.transaction(move |tx| {
        Box::pin(async move {
            let values: Vec<_> = after.iter().map(|after| Value::Text(after)).collect();
            tx.rows(&select, &values).await
        })
    })
    .await
}

/// The tags whose rows were changed within the last day, the latest first, at most `most` of them; none if the rows do
/// not say.
pub(crate) async fn tags_of_a_day(sql: &Sql, most: usize) -> Result<Vec<String>> {
    if !sql.has_update_time() {
        return Ok(Vec::new());
    }
    let within = sql.dialect().within_a_day;
    let select =
        format!("SELECT biz_tag FROM leaf_alloc WHERE {within} ORDER BY update_time DESC LIMIT {most}");
    let rows = sql.transaction(move |tx| Box::pin(async move { tx.rows(&select, &[]).await })).await?;
    rows.iter().map(|row| text(row, 0)).collect()
}

/// The bizType and token of each row of tinyid's table, if there is such a table.
pub(crate) async fn tinyid_tokens(sql: &Sql) -> Result<Vec<(String, String)>> {
    if !sql.has("tiny_id_token").await? {
        return Ok(Vec::new());
    }
    let select = "SELECT biz_type, token FROM tiny_id_token";
    let rows = sql.transaction(move |tx| Box::pin(async move { tx.rows(select, &[]).await })).await?;
    rows.iter().map(|row| Ok((text(row, 0)?, text(row, 1)?))).collect()
}

fn tag_row(row: &Row) -> Result<TagRow> {
    Ok(TagRow {
        tag: text(row, 0)?,
        max_id: integer(row, 1)?,
        step: integer(row, 2)?,
        description: text(row, 3)?,
        update_time: text(row, 4)?,
    })
}
