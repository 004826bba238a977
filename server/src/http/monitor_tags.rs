//! The tags as the monitor page shows them: a page of those that were searched for.

use crate::access::Grant;
use crate::clock::running;
use crate::tags::{Rate, Rates, TagStats, Tags};
use parking_lot::Mutex;
use serde::Serialize;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// Within this time all viewers share one look.
const FRESH: Duration = Duration::from_millis(900);
/// The tags of a page.
const MOST: usize = 20;

/// The last look at all tags.
#[derive(Default)]
pub(super) struct TagLooks(Mutex<TagLook>);

#[derive(Default)]
struct TagLook {
    at: Option<Duration>,
    rates: Rates,
    tags: Arc<Vec<(TagStats, Rate)>>,
}

/// What a viewer wants to see.
pub(super) struct Wanted {
    /// A part of the name, in small letters.
    pub(super) search: String,
    pub(super) order: Order,
    /// From 0.
    pub(super) page: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Order {
    /// The most ids a second first.
    Busiest,
    /// Failing tags first, then those that are empty soonest.
    Urgent,
    Name,
}

#[derive(Serialize)]
pub(super) struct TagsView {
    /// Of all tags that the viewer may see, as the two numbers below.
    ids_per_second: Option<f64>,
    tags_held: usize,
    tags_failing: usize,
    /// By the search.
    tags_found: usize,
    page: usize,
    pages: usize,
    tags: Vec<TagFigures>,
}

#[derive(Serialize)]
struct TagFigures {
    tag: String,
    /// The segment that ids come from, and the next one.
    segments: Vec<SegmentFigures>,
    left: u64,
    step: i64,
    ids_per_second: Option<f64>,
    range_ids_per_second: Option<f64>,
    /// Until the buffer is empty, if no segment comes.
    seconds_left: Option<f64>,
    /// How long the last fetch took.
    fetch_ms: Option<f64>,
    error: Option<String>,
}

/// Ids are texts: JavaScript rounds large numbers.
#[derive(Serialize)]
struct SegmentFigures {
    from: String,
    position: String,
    end: String,
}

impl TagLooks {
    /// A page of the tags that the viewer may see.
    pub(super) fn view(&self, tags: &Tags, grant: &Grant, wanted: &Wanted) -> TagsView {
        let all = self.look(tags);
        let seen: Vec<_> = all.iter().filter(|(tag, _)| grant.check_tag(&tag.name).is_ok()).collect();
        let sums = seen.iter().filter_map(|(_, rate)| sum(rate));
        let ids_per_second = sums.reduce(|one, other| one + other).map(|sum| rounded(sum, 10.0));
        let mut found: Vec<_> = seen
            .iter()
            .filter(|(tag, _)| wanted.search.is_empty() || tag.name.to_lowercase().contains(&wanted.search))
            .copied()
            .collect();
        // They come by name, and a sort that is stable keeps that among equals.
        match wanted.order {
            Order::Busiest => found.sort_by(|one, other| busier(&one.1, &other.1)),
            Order::Urgent => found.sort_by(|one, other| urgency(one).total_cmp(&urgency(other))),
            Order::Name => {}
        }
        let pages = found.len().div_ceil(MOST).max(1);
        let page = wanted.page.min(pages - 1);
        TagsView {
            ids_per_second,
            tags_held: seen.len(),
            tags_failing: seen.iter().filter(|(tag, _)| tag.error.is_some()).count(),
            tags_found: found.len(),
            page,
            pages,
            tags: found.iter().skip(page * MOST).take(MOST).map(|(tag, rate)| shown(tag, rate)).collect(),
        }
    }

    fn look(&self, tags: &Tags) -> Arc<Vec<(TagStats, Rate)>> {
        let mut last = self.0.lock();
        let now = running();
        if last.at.is_none_or(|at| now.saturating_sub(at) >= FRESH) {
            let stats = tags.stats();
            let rates = last.rates.measure(&stats, now);
            last.tags = Arc::new(stats.into_iter().zip(rates).collect());
            last.at = Some(now);
        }
        last.tags.clone()
    }
}

/// Ids a second, whichever way they go.
fn sum(rate: &Rate) -> Option<f64> {
    Some(rate.ids? + rate.ranges.unwrap_or(0.0))
}

/// By two digits, so that equals do not change places all the time.
fn busier(one: &Rate, other: &Rate) -> Ordering {
    let rough = |rate: &Rate| {
        let rate = sum(rate).unwrap_or(0.0).max(0.1);
        let digits = 10_f64.powf(rate.log10().floor() - 1.0);
        (rate / digits).round() * digits
    };
    rough(other).total_cmp(&rough(one))
}

/// The smallest comes first.
fn urgency((tag, rate): &(TagStats, Rate)) -> f64 {
    let seconds = seconds_left(tag, rate).unwrap_or(f64::INFINITY);
    if tag.error.is_some() { seconds.min(1e9) - 1e12 } else { seconds.round() }
}

fn seconds_left(tag: &TagStats, rate: &Rate) -> Option<f64> {
    rate.ids.filter(|rate| *rate >= 0.01).map(|rate| tag.left as f64 / rate)
}

fn shown(tag: &TagStats, rate: &Rate) -> TagFigures {
    let rates = [rate.ids, rate.ranges].map(|rate| rate.map(|rate| rounded(rate, 10.0)));
    let [ids_per_second, range_ids_per_second] = rates;
    TagFigures {
        tag: tag.name.to_string(),
        segments: tag
            .segments
            .iter()
            .zip(&tag.starts)
            .map(|(rest, from)| SegmentFigures {
                from: from.to_string(),
                position: rest.start().to_string(),
                end: rest.end().to_string(),
            })
            .collect(),
        left: tag.left,
        step: tag.step,
        ids_per_second,
        range_ids_per_second,
        seconds_left: seconds_left(tag, rate).map(|seconds| rounded(seconds, 10.0)),
        fetch_ms: tag.fetch_time.map(|time| rounded(time.as_secs_f64() * 1e3, 100.0)),
        error: tag.error.clone(),
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
