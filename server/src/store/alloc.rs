//! Leaf's table `leaf_alloc`: one row for each tag. `max_id` is the first id that was not given yet.

use super::sql::Sql;
use super::stride::{Stride, out_of_ids};
use super::tag_name::has_row;
use super::transaction::{Transaction, Value, integer};
use leafid_core::{Code, Error, Fetched, MOST_JUMP, Result};

/// A row.
pub(crate) struct Allocated {
    end: i64,
    step: i64,
}

/// Takes a range of a tag, at or above `after`: `step` ids, or as many as the row says. `None`: there is no such tag.
///
/// It is Leaf's own transaction, so that stock servers can share the table. The UPDATE comes first and takes the lock
/// of the row, so the SELECT reads what this UPDATE has stored. In Leaf's MySQL table `update_time` changes by itself.
pub(super) async fn take_range(
    store: &Sql,
    tag: &str,
    step: Option<i64>,
    after: i64,
) -> Result<Option<Fetched>> {
    let tag = tag.to_owned();
    let stride = store.stride();
    let touch = if store.has_update_time() { store.dialect().touch } else { "" };
    store
        .transaction(move |tx| {
            Box::pin(async move {
                if !has_row(tx, &tag).await? {
                    return Ok(None);
                }
                take(tx, &tag, step, after, touch, stride).await
            })
        })
        .await
}

/// Lowers a counter from `end` to `first`, if it is at `end`: then no range lies above these ids, and nobody but the
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

async fn take(
    tx: &mut Transaction,
    tag: &str,
    step: Option<i64>,
    after: i64,
    touch: &str,
    stride: Stride,
) -> Result<Option<Fetched>> {
    let raised = match step {
        None => {
            let raise = format!("UPDATE leaf_alloc SET max_id = max_id + step * ?{touch} WHERE biz_tag = ?");
            tx.execute(&raise, &[Value::Int(stride.stride()), Value::Text(tag)]).await?
        }
        Some(step) => {
            let raise = format!("UPDATE leaf_alloc SET max_id = max_id + ?{touch} WHERE biz_tag = ?");
            tx.execute(&raise, &[Value::Int(stride.width(step, tag)?), Value::Text(tag)]).await?
        }
    };
    if raised == 0 {
        return Ok(None);
    }
    check_single(tag, raised)?;
    let row = allocated(tx, tag).await?;
    let width = stride.width(step.unwrap_or(row.step), tag)?;
    let start = row.end.checked_sub(width).ok_or_else(|| out_of_ids(tag))?;
    let (start, end) = if (0..after).contains(&start) {
        raise_to(tx, tag, continue_at(start, after)?, width).await?
    } else {
        (start, row.end)
    };
    let segment =
        stride.segment(start, end).map_err(|error| error.context(format!("leaf_alloc, tag {tag:?}")))?;
    Ok(Some(Fetched { segment, step: (row.step > 0).then_some(row.step) }))
}

/// Errors: `segment_unavailable` for two rows of one tag: they are raised together, and ids of one come again from the
/// other.
pub(super) fn check_single(tag: &str, rows: u64) -> Result<()> {
    if rows <= 1 {
        return Ok(());
    }
    let message = format!(
        "leaf_alloc has {rows} rows of the tag {tag:?}; allowed: one. Delete those with a lower max_id, and add the \
         primary key on biz_tag"
    );
    Err(Error::new(Code::SegmentUnavailable, message))
}

/// Where a range above `after` starts. Errors: `invalid_argument`.
pub(super) fn continue_at(start: i64, after: i64) -> Result<i64> {
    check_jump("after", start, after).map(|()| after)
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

/// Raises the counter above the range, while this transaction's lock still protects it.
async fn raise_to(tx: &mut Transaction, tag: &str, start: i64, width: i64) -> Result<(i64, i64)> {
    let end = start.checked_add(width).ok_or_else(|| out_of_ids(tag))?;
    let raise = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ?";
    tx.execute(raise, &[Value::Int(end), Value::Text(tag)]).await?;
    Ok((start, end))
}

async fn allocated(tx: &mut Transaction, tag: &str) -> Result<Allocated> {
    let select = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";
    let row = tx.row(select, &[Value::Text(tag)]).await?;
    // The UPDATE has found it, and holds its lock.
    let row =
        row.ok_or_else(|| Error::new(Code::SegmentUnavailable, format!("the row of {tag:?} has vanished")))?;
    Ok(Allocated { end: integer(&row, 0)?, step: integer(&row, 1)? })
}
