//! Leaf's table `leaf_alloc`: one row for each tag. `max_id` is the first id that was not given yet.

use super::dialect::Dialect;
use super::sql::Sql;
use super::stride::{Stride, out_of_ids};
use super::transaction::{Transaction, Value, integer};
use leafid_core::segment::MOST_JUMP;
use leafid_core::{Code, Error, Fetched, Result, Segment};

/// A row.
struct Allocated {
    first: i64,
    step: i64,
}

/// Takes a range of a tag, at or above `after`: `step` ids, or as many as the row says. `None`: there is no such tag.
///
/// The SELECT takes the lock of the row, as the UPDATE of a stock Leaf does, so both can share the table. The UPDATE
/// changes the row only if its counter is at what was read: whatever stands between this server and the database, and
/// whatever became of the lock, two UPDATEs never start at one id. In Leaf's MySQL table `update_time` changes by itself.
pub(super) async fn take_range(
    store: &Sql,
    tag: &str,
    step: Option<i64>,
    after: i64,
) -> Result<Option<Fetched>> {
    let (tag, stride, largest) = (tag.to_owned(), store.stride(), store.largest());
    let touch = if store.has_update_time() { store.dialect().touch } else { "" };
    store
        .transaction(move |tx| {
            Box::pin(async move {
                let Some(row) = locked(tx, &tag).await? else { return Ok(None) };
                let (segment, end) =
                    next_range(stride, "leaf_alloc", &tag, row.first, step.unwrap_or(row.step), after)?;
                if end > largest {
                    return Err(out_of_ids(&tag));
                }
                let raise =
                    format!("UPDATE leaf_alloc SET max_id = ?{touch} WHERE biz_tag = ? AND max_id = ?");
                tx.change_one(&raise, &[Value::Int(end), Value::Text(&tag), Value::Int(row.first)]).await?;
                Ok(Some(Fetched { segment, step: (row.step > 0).then_some(row.step) }))
            })
        })
        .await
}

/// Lowers a counter from `end` to `first`, if it is at `end`: then no range lies above these ids, and only the
/// caller had them.
pub(crate) async fn give_back(sql: &Sql, tag: &str, first: i64, end: i64) -> Result<()> {
    let tag = tag.to_owned();
    sql.transaction(move |tx| {
        Box::pin(async move {
            let lower = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id = ?";
            tx.execute(lower, &[Value::Int(first), Value::Text(&tag), Value::Int(end)]).await?;
            Ok(())
        })
    })
    .await
}

/// Errors: `segment_unavailable` for two rows of one tag: they are raised together, and ids of one come again from the
/// other.
pub(super) fn check_single(tag: &str, rows: usize) -> Result<()> {
    if rows <= 1 {
        return Ok(());
    }
    let message = format!(
        "leaf_alloc has {rows} rows of the tag {tag:?}; allowed: one. Delete those with a lower max_id, and add the \
         primary key on biz_tag"
    );
    Err(Error::new(Code::SegmentUnavailable, message))
}

/// The range that a counter at `first` gives at or above `after`, and where the counter goes. `whose`: what holds it.
/// Errors: `invalid_argument`, `source_invalid`.
pub(super) fn next_range(
    stride: Stride,
    whose: &str,
    tag: &str,
    first: i64,
    step: i64,
    after: i64,
) -> Result<(Segment, i64)> {
    let width = stride.width(step, tag)?;
    let start = if (0..after).contains(&first) { after } else { first };
    check_jump("after", first, start)?;
    let end = start.checked_add(width).ok_or_else(|| out_of_ids(tag))?;
    let segment = stride.segment(start, end);
    Ok((segment.map_err(|error| error.context(format!("{whose}, tag {tag:?}")))?, end))
}

/// No counter is raised by more than clients of leafid accept: one that is near 2^63 would be at its end. Errors:
/// `invalid_argument`.
pub(super) fn check_jump(option: &str, from: i64, to: i64) -> Result<()> {
    if to.saturating_sub(from) > MOST_JUMP {
        let allowed = format!("at most {MOST_JUMP} above the counter, which is at {from}");
        return Err(Error::invalid(option, to, &allowed));
    }
    Ok(())
}

/// The same for the first number of a new counter, which may begin anywhere else.
pub(super) fn check_first(first: i64) -> Result<()> {
    if first > i64::MAX - MOST_JUMP {
        return Err(Error::invalid("first", first, &format!("0 to {}", i64::MAX - MOST_JUMP)));
    }
    Ok(())
}

async fn locked(tx: &mut Transaction, tag: &str) -> Result<Option<Allocated>> {
    let Dialect { tag: named, for_update, .. } = tx.dialect();
    let select = format!("SELECT {named}, max_id, step FROM leaf_alloc WHERE biz_tag = ? {for_update}");
    let rows = match tx.rows(&select, &[Value::Text(tag)]).await {
        Ok(rows) => rows,
        // A name that the column cannot hold has no row.
        Err(error) if error.code() == Code::InvalidArgument => return Ok(None),
        Err(error) => return Err(error),
    };
    // A collation may have found the rows of other tags alone.
    let Some(row) = rows.iter().find(|row| row.text(0) == Some(tag)) else { return Ok(None) };
    check_single(tag, rows.len())?;
    Ok(Some(Allocated { first: integer(row, 1)?, step: integer(row, 2)? }))
}
