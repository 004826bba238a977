//! The counters of tags: a key for each.

use super::{Etcd, Read, gateway};
use crate::clock::filtered_ms;
use crate::store::alloc::{check_first, check_jump, next_range};
use crate::store::schema::made_anew;
use crate::store::settings::{Settings, format};
use crate::store::tag_rows::{TagChange, TagRow};
use leafid_core::{Code, Error, Fetched, Result, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// Other servers may win this often in a row.
const MOST_TRIES: u32 = 100;
const DAY_MS: i64 = 86_400_000;
const PAGE: usize = 1_000;

/// As a row of `leaf_alloc`.
#[derive(Clone, Serialize, Deserialize)]
struct Counter {
    max_id: i64,
    step: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    /// When it was changed, by the clock of the server that did it.
    #[serde(default)]
    changed_ms: i64,
}

pub(crate) async fn take_range(
    etcd: &Etcd,
    tag: &str,
    step: Option<i64>,
    after: i64,
) -> Result<Option<Fetched>> {
    let raised = |found: Option<Counter>| {
        let Some(counter) = found else { return Ok((None, None)) };
        let width = step.unwrap_or(counter.step);
        let (segment, end) = next_range(etcd.stride, "etcd", tag, counter.max_id, width, after)?;
        let step = (counter.step > 0).then_some(counter.step);
        let raised = Counter { max_id: end, changed_ms: filtered_ms(), ..counter };
        Ok((Some(raised), Some(Fetched { segment, step })))
    };
    change_counter(etcd, tag, raised).await
}

/// Stores the settings that are missing, or all of them to `change` them, and the format. Returns what is stored.
pub(crate) async fn agree(etcd: &Etcd, own: &Settings, change: bool) -> Result<Settings> {
    for _ in 0..MOST_TRIES {
        let read = etcd.read(&format!("{}settings", etcd.prefix)).await?;
        let found = parsed_settings(&read)?;
        let mut agreed = found.clone();
        for (name, value) in own {
            match agreed.iter_mut().find(|(known, _)| known == name) {
                Some(known) if change => known.1.clone_from(value),
                Some(_) => {}
                None => agreed.push((name.clone(), value.clone())),
            }
        }
        let (name, format, mut older) = format();
        match agreed.iter_mut().find(|(known, _)| known == name) {
            Some(known) if older.any(|older| older == known.1) => known.1 = format,
            Some(_) => {}
            None => agreed.push((name.to_owned(), format)),
        }
        if agreed == found || etcd.write_if(&read, &[gateway::put(&read.key, &text(&agreed)?)]).await? {
            if read.revision == 0 {
                log::warn!("{}", made_anew(&etcd.shown, "settings"));
            }
            return Ok(agreed);
        }
        pause().await;
    }
    Err(gateway::failed("other servers change the settings all the time"))
}

pub(crate) async fn settings(etcd: &Etcd) -> Result<Settings> {
    parsed_settings(&etcd.read(&format!("{}settings", etcd.prefix)).await?)
}

fn parsed_settings(read: &Read) -> Result<Settings> {
    if read.revision == 0 { Ok(Settings::new()) } else { parse("settings", &read.value) }
}

pub(crate) async fn max_id(etcd: &Etcd, tag: &str) -> Result<Option<i64>> {
    let read = etcd.read(&counter_key(etcd, tag)).await?;
    if read.revision == 0 {
        return Ok(None);
    }
    Ok(Some(parse::<Counter>(tag, &read.value)?.max_id))
}

pub(crate) async fn tags_of(etcd: &Etcd, start: &str) -> Result<Vec<(String, i64)>> {
    let (mut found, mut after) = (Vec::new(), start.to_owned());
    loop {
        let page = counters_behind(etcd, &after, PAGE).await?;
        let of_these = page.into_iter().take_while(|(tag, _)| tag.starts_with(start));
        let before = found.len();
        found.extend(of_these.map(|(tag, counter)| (tag, counter.max_id)));
        match found.last() {
            Some((last, _)) if found.len() == before + PAGE => after.clone_from(last),
            _ => return Ok(found),
        }
    }
}

pub(crate) async fn change_tag(etcd: &Etcd, tag: &str, change: TagChange) -> Result<(TagRow, bool)> {
    let TagChange { step, first, description } = change;
    let changed = |found: Option<Counter>| {
        let is_new = found.is_none();
        if let Some(first) = first {
            found
                .as_ref()
                .map_or_else(|| check_first(first), |found| check_jump("first", found.max_id, first))?;
        }
        let new = Counter { max_id: 1, step: 1_000, description: String::new(), changed_ms: 0 };
        let mut counter = found.unwrap_or(new);
        counter.max_id = counter.max_id.max(first.unwrap_or(1));
        counter.changed_ms = filtered_ms();
        counter.step = step.unwrap_or(counter.step);
        counter.description = description.clone().unwrap_or(counter.description);
        Ok((Some(counter.clone()), (row(tag.to_owned(), counter), is_new)))
    };
    change_counter(etcd, tag, changed).await
}

pub(crate) async fn give_back(etcd: &Etcd, tag: &str, first: i64, end: i64) -> Result<()> {
    let lowered = |found: Option<Counter>| {
        let at_end = found.filter(|counter| counter.max_id == end);
        Ok((at_end.map(|counter| Counter { max_id: first, ..counter }), ()))
    };
    change_counter(etcd, tag, lowered).await
}

pub(crate) async fn tag_rows(etcd: &Etcd, after: &str, most: usize) -> Result<Vec<TagRow>> {
    let counters = counters_behind(etcd, after, most).await?;
    Ok(counters.into_iter().map(|(tag, counter)| row(tag, counter)).collect())
}

pub(crate) async fn tag_names(etcd: &Etcd, after: &str, most: usize) -> Result<Vec<String>> {
    Ok(counters_behind(etcd, after, most).await?.into_iter().map(|(tag, _)| tag).collect())
}

pub(crate) async fn tags_of_a_day(etcd: &Etcd, most: usize) -> Result<Vec<String>> {
    let since_ms = filtered_ms() - DAY_MS;
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let counters = counters_behind(etcd, &after, PAGE).await?;
        let Some((last, _)) = counters.last() else { break };
        after.clone_from(last);
        found.extend(counters.into_iter().filter(|(_, counter)| counter.changed_ms > since_ms));
    }
    found.sort_unstable_by_key(|(_, counter)| std::cmp::Reverse(counter.changed_ms));
    Ok(found.into_iter().take(most).map(|(tag, _)| tag).collect())
}

/// The counters of the tags behind `after`, by tag.
async fn counters_behind(etcd: &Etcd, after: &str, most: usize) -> Result<Vec<(String, Counter)>> {
    let mut request = etcd.all("tag");
    // The next key in order.
    request["key"] = json!(gateway::encode((counter_key(etcd, after) + "\0").as_bytes()));
    request["limit"] = json!(most.to_string());
    let prefix = counter_key(etcd, "");
    let reads = etcd.read_all(&request).await?;
    let counters = reads.iter().map(|read| {
        let tag = read.key.strip_prefix(&prefix).unwrap_or(&read.key);
        Ok((tag.to_owned(), parse(tag, &read.value)?))
    });
    counters.collect()
}

/// Stores what `change` makes of a counter, unless that is nothing, and returns what goes with it. Where another server was
/// first, it reads again.
async fn change_counter<T>(
    etcd: &Etcd,
    tag: &str,
    change: impl Fn(Option<Counter>) -> Result<(Option<Counter>, T)>,
) -> Result<T> {
    for _ in 0..MOST_TRIES {
        let read = etcd.read(&counter_key(etcd, tag)).await?;
        let found = if read.revision == 0 { None } else { Some(parse(tag, &read.value)?) };
        let (changed, done) = change(found)?;
        let Some(changed) = changed else { return Ok(done) };
        if etcd.write_if(&read, &[gateway::put(&read.key, &text(&changed)?)]).await? {
            return Ok(done);
        }
        pause().await;
    }
    Err(gateway::failed("other servers change the counter all the time"))
}

fn counter_key(etcd: &Etcd, tag: &str) -> String {
    format!("{}tag/{tag}", etcd.prefix)
}

fn row(tag: String, counter: Counter) -> TagRow {
    let Counter { max_id, step, description, changed_ms } = counter;
    TagRow { tag, max_id, step, description, update_time: Utc(changed_ms).to_string() }
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
