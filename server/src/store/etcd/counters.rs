//! The counters of tags: a key for each.

use super::{Etcd, gateway};
use crate::store::alloc::{continue_at, out_of_ids};
use crate::store::tag_rows::{TagChange, TagRow};
use leafid_core::{Code, Error, Fetched, Result, Segment};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// Other servers may win this often in a row.
const MOST_TRIES: u32 = 100;

/// As a row of `leaf_alloc`.
#[derive(Clone, Serialize, Deserialize)]
struct Counter {
    max_id: i64,
    step: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
}

pub(crate) async fn take_range(
    etcd: &Etcd,
    tag: &str,
    step: Option<i64>,
    after: i64,
) -> Result<Option<Fetched>> {
    for _ in 0..MOST_TRIES {
        let read = etcd.read(&counter_key(etcd, tag)).await?;
        if read.revision == 0 {
            return Ok(None);
        }
        let counter: Counter = parse(tag, &read.value)?;
        let step = step.unwrap_or(counter.step);
        let start = if (0..after).contains(&counter.max_id) {
            continue_at(counter.max_id, after)?
        } else {
            counter.max_id
        };
        let end = start.checked_add(step).ok_or_else(|| out_of_ids(tag))?;
        let segment =
            Segment::new(start, end, 1).map_err(|error| error.context(format!("etcd, tag {tag:?}")))?;
        let next = (counter.step > 0).then_some(counter.step);
        let raised = Counter { max_id: end, ..counter };
        if etcd.write_if(&read, &[gateway::put(&read.key, &text(&raised)?)]).await? {
            return Ok(Some(Fetched { segment, step: next }));
        }
        pause().await;
    }
    Err(gateway::failed("other servers change the counter all the time"))
}

pub(crate) async fn change_tag(etcd: &Etcd, tag: &str, change: TagChange) -> Result<(TagRow, bool)> {
    let TagChange { step, first, description } = change;
    let changed = |found: Option<Counter>| {
        let new = Counter { max_id: 1, step: 1_000, description: String::new() };
        let mut counter = found.unwrap_or(new);
        counter.max_id = counter.max_id.max(first.unwrap_or(1));
        counter.step = step.unwrap_or(counter.step);
        counter.description = description.clone().unwrap_or(counter.description);
        Some(counter)
    };
    let (counter, is_new) = change_counter(etcd, tag, changed).await?;
    let counter = counter.ok_or_else(|| gateway::failed("no counter"))?;
    Ok((row(tag.to_owned(), counter), is_new))
}

pub(crate) async fn give_back(etcd: &Etcd, tag: &str, first: i64, end: i64) -> Result<()> {
    let lowered = |found: Option<Counter>| {
        found.filter(|counter| counter.max_id == end).map(|counter| Counter { max_id: first, ..counter })
    };
    change_counter(etcd, tag, lowered).await.map(drop)
}

pub(crate) async fn tag_rows(etcd: &Etcd, after: &str, most: usize) -> Result<Vec<TagRow>> {
    // The next key in order, and the first one behind all that begin with the prefix.
    let (from, end) = (counter_key(etcd, after) + "\0", format!("{}tag0", etcd.prefix));
    let request = json!({
        "key": gateway::encode(from.as_bytes()),
        "range_end": gateway::encode(end.as_bytes()),
        "limit": most.to_string(),
    });
    let prefix = counter_key(etcd, "");
    let reads = etcd.read_all(&request).await?;
    let rows = reads.iter().map(|read| {
        let tag = read.key.strip_prefix(&prefix).unwrap_or(&read.key);
        Ok(row(tag.to_owned(), parse(tag, &read.value)?))
    });
    rows.collect()
}

/// Stores what `change` makes of a counter, unless that is nothing. Returns it, and whether there was none before.
async fn change_counter(
    etcd: &Etcd,
    tag: &str,
    change: impl Fn(Option<Counter>) -> Option<Counter>,
) -> Result<(Option<Counter>, bool)> {
    for _ in 0..MOST_TRIES {
        let read = etcd.read(&counter_key(etcd, tag)).await?;
        let is_new = read.revision == 0;
        let found = if is_new { None } else { Some(parse(tag, &read.value)?) };
        let Some(changed) = change(found) else { return Ok((None, is_new)) };
        if etcd.write_if(&read, &[gateway::put(&read.key, &text(&changed)?)]).await? {
            return Ok((Some(changed), is_new));
        }
        pause().await;
    }
    Err(gateway::failed("other servers change the counter all the time"))
}

fn counter_key(etcd: &Etcd, tag: &str) -> String {
    format!("{}tag/{tag}", etcd.prefix)
}

/// etcd does not know when a key was changed.
fn row(tag: String, counter: Counter) -> TagRow {
    let Counter { max_id, step, description } = counter;
    TagRow { tag, max_id, step, description, update_time: String::new() }
}

/// Two servers that were in each other's way do not meet again.
pub(super) async fn pause() {
    tokio::time::sleep(Duration::from_millis(crate::clock::seed() % 8)).await;
}

pub(super) fn parse<'v, T: Deserialize<'v>>(name: &str, value: &'v [u8]) -> Result<T> {
    let wrong = |error: serde_json::Error| {
        Error::new(Code::SourceInvalid, format!("the value in etcd of {name:?}: {error}"))
    };
    serde_json::from_slice(value).map_err(wrong)
}

pub(super) fn text<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Error::new(Code::Internal, error.to_string()))
}
