//! Statistics as texts, in the order in which Java reads them.

use leafid::{Segment, SegmentsStats, Stats, TagStats};

pub(crate) fn of_snowflake(stats: Stats) -> Vec<Option<String>> {
    vec![
        Some(stats.name.clone()),
        Some(stats.worker_id.to_string()),
        Some(stats.state_dir.clone()),
        Some(stats.layout.clone()),
        Some(stats.epoch_ms.to_string()),
        Some(stats.expires_at_ms.to_string()),
        Some(stats.reserved_until_ms.to_string()),
        Some(stats.lead_ms.to_string()),
        Some(stats.clock_lag_ms.to_string()),
        stats.lease_until_ms.map(|ms| ms.to_string()),
        Some(stats.ids.to_string()),
        Some(stats.claims.to_string()),
        Some(stats.handles.to_string()),
        Some(stats.renewals.to_string()),
        Some(stats.renewal_failures.to_string()),
        stats.last_error.clone(),
    ]
}

pub(crate) fn of_tag(stats: TagStats) -> Vec<Option<String>> {
    let text = |segment: Option<Segment>| {
        segment.map(|segment| format!("{} {} {}", segment.start(), segment.end(), segment.stride()))
    };
    vec![
        Some(stats.tag),
        text(stats.current),
        text(stats.next),
        Some(stats.left.to_string()),
        Some(stats.ids.to_string()),
        Some(stats.step.to_string()),
        Some(stats.fetching.to_string()),
        Some(stats.fetches.to_string()),
        Some(stats.failures.to_string()),
        Some(stats.waits.to_string()),
        Some(stats.waiting.to_string()),
        stats.last_error,
    ]
}

/// The name, source and directory; then each server and its last error.
pub(crate) fn of_segments(stats: SegmentsStats) -> Vec<Option<String>> {
    let mut texts = vec![Some(stats.name), Some(stats.source), Some(stats.state_dir)];
    texts.extend(stats.servers.into_iter().flat_map(|server| [Some(server.url), server.last_error]));
    texts
}
