//! The names of tags, byte by byte. A collation finds `order` for `ORDER` or `order `, and its counter would have two
//! names.

use super::sql::Sql;
use super::transaction::{Transaction, Value, text};
use leafid_core::{Code, Error, Result};

/// Whether a tag has a row.
pub(super) async fn has_tag(sql: &Sql, tag: &str) -> Result<bool> {
    let tag = tag.to_owned();
    sql.transaction(move |tx| Box::pin(async move { has_row(tx, &tag).await })).await
}

/// The same, in a transaction.
pub(super) async fn has_row(tx: &mut Transaction, tag: &str) -> Result<bool> {
    let select = format!("SELECT {} FROM leaf_alloc WHERE biz_tag = ?", tx.dialect().tag);
    match tx.rows(&select, &[Value::Text(tag)]).await {
        Ok(rows) => rows.iter().try_fold(false, |has, row| Ok(has || text(row, 0)? == tag)),
        // A name that the column cannot hold has no row.
        Err(error) if error.code() == Code::InvalidArgument => Ok(false),
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
