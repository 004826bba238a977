//! Leaf's table `leaf_alloc`: one row for each tag. `max_id` is the first id that was not given yet.

use super::pool::Store;
use super::transaction::{Transaction, Value, integer};
use leafid_core::{Code, Error, Fetched, Result, Segment};

/// `after` may raise a counter by no more than this. A wrong one near 2^63 would end the tag.
const MOST_JUMP: i64 = 1 << 48;

/// A row.
pub(crate) struct Allocated {
    end: i64,
    step: i64,
}

/// Takes a range of a tag, at or above `after`: `step` ids, or as many as the row says. `None`: there is no such tag.
///
/// It is Leaf's own transaction, so that stock servers can share the table. The UPDATE comes first and takes the lock
/// of the row, so the SELECT reads what this UPDATE has stored.
pub(crate) async fn take_range(
    store: &Store,
    tag: &str,
    step: Option<i64>,
    after: i64,
) -> Result<Option<Fetched>> {
    let tag = tag.to_owned();
    store.transaction(move |tx| Box::pin(async move { take(tx, &tag, step, after).await })).await
}

/// Makes a tag, or sets the step of one that exists. A counter is never set back.
pub(crate) async fn set_tag(store: &Store, tag: &str, step: i64, first: i64) -> Result<()> {
    let tag = tag.to_owned();
    store
        .transaction(move |tx| {
            Box::pin(async move {
                let (insert, ignore) = tx.dialect().insert_new;
                let make = format!("{insert} leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?) {ignore}");
                tx.execute(&make, &[Value::Text(&tag), Value::Int(first), Value::Int(step)]).await?;
                let set = "UPDATE leaf_alloc SET step = ? WHERE biz_tag = ?";
                tx.execute(set, &[Value::Int(step), Value::Text(&tag)]).await?;
                let raise = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id < ?";
                tx.execute(raise, &[Value::Int(first), Value::Text(&tag), Value::Int(first)]).await?;
                Ok(())
            })
        })
        .await
}

/// Lowers a counter from `end` to `first`, if it is at `end`: then no range lies above these ids, and nobody but the
/// caller had them.
pub(crate) async fn give_back(store: &Store, tag: &str, first: i64, end: i64) -> Result<()> {
    let tag = tag.to_owned();
    store
        .transaction(move |tx| {
            Box::pin(async move {
                let lower = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id = ?";
                tx.execute(lower, &[Value::Int(first), Value::Text(&tag), Value::Int(end)]).await?;
                Ok(())
            })
        })
        .await
}

async fn take(tx: &mut Transaction, tag: &str, step: Option<i64>, after: i64) -> Result<Option<Fetched>> {
    let raised = match step {
        None => {
            let raise = "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?";
            tx.execute(raise, &[Value::Text(tag)]).await?
        }
        Some(step) => {
            let raise = "UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ?";
            tx.execute(raise, &[Value::Int(step), Value::Text(tag)]).await?
        }
    };
    if raised == 0 {
        return Ok(None);
    }
    let row = allocated(tx, tag).await?;
    let step = step.unwrap_or(row.step);
    let start = row.end.checked_sub(step).ok_or_else(|| out_of_ids(tag))?;
    let (start, end) = if (0..after).contains(&start) {
        continue_at(tx, tag, start, after, step).await?
    } else {
        (start, row.end)
    };
    let segment =
        Segment::new(start, end, 1).map_err(|error| error.context(format!("leaf_alloc, tag {tag:?}")))?;
    Ok(Some(Fetched { segment, step: (row.step > 0).then_some(row.step) }))
}

/// The range above `after`, which this transaction's lock still protects.
async fn continue_at(
    tx: &mut Transaction,
    tag: &str,
    start: i64,
    after: i64,
    step: i64,
) -> Result<(i64, i64)> {
    if after - start > MOST_JUMP {
        let allowed = format!("at most {MOST_JUMP} above the counter, which is at {start}");
        return Err(Error::invalid("after", after, &allowed));
    }
    let end = after.checked_add(step).ok_or_else(|| out_of_ids(tag))?;
    let raise = "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ?";
    tx.execute(raise, &[Value::Int(end), Value::Text(tag)]).await?;
    Ok((after, end))
}

async fn allocated(tx: &mut Transaction, tag: &str) -> Result<Allocated> {
    let select = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";
    let row = tx.row(select, &[Value::Text(tag)]).await?;
    // The UPDATE has found it, and holds its lock.
    let row =
        row.ok_or_else(|| Error::new(Code::SegmentUnavailable, format!("the row of {tag:?} has vanished")))?;
    Ok(Allocated { end: integer(&row, 0)?, step: integer(&row, 1)? })
}

fn out_of_ids(tag: &str) -> Error {
    Error::new(
        Code::SourceInvalid,
        format!("the counter of {tag:?} is at the end of 63 bits; use another tag"),
    )
}
