//! The names of tags, byte by byte. A collation finds `order` for `ORDER` or `order `, and its counter would have two
//! names.

use super::driver::Row;
use super::sql::Sql;
use super::transaction::{Value, integer, text};
use leafid_core::{Code, Error, Result};

/// The counter of a tag, if it has a row.
pub(super) async fn max_id(sql: &Sql, tag: &str) -> Result<Option<i64>> {
    let found = counters(sql, "biz_tag = ?", tag).await?;
    Ok(found.into_iter().find(|(found, _)| found == tag).map(|(_, max_id)| max_id))
}

/// The tags that begin with `start`, and their counters.
pub(super) async fn tags_of(sql: &Sql, start: &str) -> Result<Vec<(String, i64)>> {
    let condition = format!("SUBSTR({}, 1, {}) = ?", sql.dialect().tag, start.chars().count());
    let found = counters(sql, &condition, start).await?;
    Ok(found.into_iter().filter(|(tag, _)| tag.starts_with(start)).collect())
}

async fn counters(sql: &Sql, condition: &str, value: &str) -> Result<Vec<(String, i64)>> {
    let select = format!("SELECT {}, max_id FROM leaf_alloc WHERE {condition}", sql.dialect().tag);
    let value = value.to_owned();
    let rows = sql
        .transaction(move |tx| Box::pin(async move { tx.rows(&select, &[Value::Text(&value)]).await }))
        .await;
    let counter = |row: &Row| Ok((text(row, 0)?, integer(row, 1)?));
    match rows {
        Ok(rows) => rows.iter().map(counter).collect(),
        // A name that the column cannot hold has no row.
        Err(error) if error.code() == Code::InvalidArgument => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Errors: `invalid_argument` if the row that was found is another tag's.
pub(super) fn check_found(tag: &str, found: &str) -> Result<()> {
    match found == tag {
        true => Ok(()),
        false => Err(Error::invalid(
            "tag",
            format!("{tag:?}"),
            &format!(
                "{found:?}, which has the row that the column's collation finds, or a tag of other letters"
            ),
        )),
    }
}
