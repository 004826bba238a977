//! What is reported of a supply and its tags: nothing is decided by it.

use super::fetches::Fetches;
use super::tag_supply::TagSupply;
use super::work::FetchStage;
use crate::segment::stock::Stock;
use crate::sorted::sorted;
use crate::{DurationCounts, Error, Segment};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// The current state of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagStats {
    /// The tag.
    pub tag: Arc<str>,
    /// What its fetch does.
    pub stage: FetchStage,
    /// The rest of the segment from which ids are issued.
    pub current: Option<Segment>,
    /// The segment after it.
    pub next: Option<Segment>,
    /// Where each of the two began, if the supply holds the marks.
    pub starts: Vec<i64>,
    /// The number of ids in memory.
    pub left: u64,
    /// The step of the last fetch, or of the first fetch to come; 0 leaves it to the source.
    pub step: i64,
    /// Whether a fetch is queued or running.
    pub fetching: bool,
    /// The number of fetches that have ended, with those that failed.
    pub fetches: u64,
    /// The number of fetches that failed.
    pub failures: u64,
    /// The number of ids that calls have taken.
    pub ids: u64,
    /// The number of ids that went out in ranges, past the buffer.
    pub ranged: u64,
    /// The number of fetches that ended with each outcome: `ok`, or an error's code.
    pub outcomes: Vec<(&'static str, u64)>,
    /// How long calls waited.
    pub wait_times: DurationCounts,
    /// How long the source took.
    pub fetch_times: DurationCounts,
    /// How long it took the last time, if the supply holds the marks. It counts no durations and no waits then.
    pub last_fetch: Option<Duration>,
    /// The number of calls that found no id in memory.
    pub waits: u64,
    /// The number of calls that wait now.
    pub waiting: usize,
    /// The error of the last fetch; `None` after a success.
    pub last_error: Option<Error>,
}

/// The current state of a supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupplyStats {
    /// The URL and the last error of each server; empty for a source without servers.
    pub servers: Vec<(String, Option<Error>)>,
    /// The number of tags whose turn at the source has not come yet.
    pub queued: usize,
    /// Whether the source is down.
    pub is_down: bool,
}

impl TagStats {
    pub(super) fn of(tag: &TagSupply, stock: Option<Stock>) -> TagStats {
        let segments = tag.buffer.segments(&tag.filler);
        let mut segments = segments.into_iter().chain(tag.pending.iter());
        let (current, next) = (segments.next(), segments.next());
        let there = usize::from(current.is_some()) + usize::from(next.is_some());
        let (counts, held, ended) = (tag.counts.as_deref(), tag.held.as_deref(), tag.fetch.ended());
        let failures = counts.into_iter().flat_map(|counts| &counts.failures);
        let mut outcomes = sorted(failures.map(|(code, count)| (code.name(), *count)));
        let ok = ended.saturating_sub(outcomes.iter().map(|(_, count)| count).sum());
        outcomes.extend((ok > 0).then_some(("ok", ok)));
        TagStats {
            tag: Arc::clone(&tag.name),
            stage: tag.stage(),
            current,
            next,
            // The last range is used up last.
            starts: held.map_or_else(Vec::new, |held| held.starts[2 - there..].to_vec()),
            left: tag.left(),
            step: match stock {
                Some(stock) => stock.target(tag.taken()) as i64,
                None => tag.fetch.step().step(),
            },
            fetching: tag.fetch.is_fetching(),
            fetches: ended,
            failures: tag.fetch.failures(),
            ids: tag.issued(),
            ranged: held.map_or(0, |held| held.ranged),
            outcomes,
            wait_times: counts.map(|counts| counts.wait_times.counts()).unwrap_or_default(),
            fetch_times: counts.map(|counts| counts.fetch_times.counts()).unwrap_or_default(),
            last_fetch: held.and_then(|held| held.last_fetch),
            waits: counts.map_or(0, |counts| counts.waits),
            waiting: tag.waiting(),
            last_error: tag.fetch.error().cloned(),
        }
    }
}

impl SupplyStats {
    pub(super) fn of(fetches: &Fetches) -> SupplyStats {
        let servers = fetches.servers.iter().flat_map(|servers| servers.last_errors());
        SupplyStats {
            servers: servers.map(|(url, error)| (url.into(), error.cloned())).collect(),
            queued: fetches.needs.agenda.ready(),
            is_down: fetches.needs.breaker.is_down(),
        }
    }
}
