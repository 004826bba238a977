//! The statistics of segments and their tags.

use super::fetcher::Fetcher;
use super::tag_state::TagState;
use leafid_core::{DurationCounts, Segment};

/// The current state of segments in this process.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentsStats {
    /// The id space.
    pub name: String,
    /// The source of segments, such as `callback`.
    pub source: String,
    /// The servers in order of preference; empty for a source without servers.
    pub servers: Vec<ServerStats>,
    /// The directory of the marks, with the sub-directory of the id space; empty if no marks are stored.
    pub state_dir: String,
    /// Every tag that was used, sorted by name.
    pub tags: Vec<TagStats>,
}

/// The current state of a server.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStats {
    /// Its URL.
    pub url: String,
    /// The server's last error; `None` after a success.
    pub last_error: Option<String>,
}

/// The current state of a tag.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagStats {
    /// The tag.
    pub tag: String,
    /// The rest of the segment from which ids are issued.
    pub current: Option<Segment>,
    /// The segment after it.
    pub next: Option<Segment>,
    /// The number of ids in memory.
    pub left: u64,
    /// The step of the last fetch, or of the first fetch to come; 0 leaves it to the source.
    pub step: i64,
    /// Whether a fetch is running.
    pub fetching: bool,
    /// The number of fetches that have ended, with those that failed.
    pub fetches: u64,
    /// The number of fetches that failed.
    pub failures: u64,
    /// The number of ids that calls have taken, with those that a thread reserved for its next calls.
    pub ids: u64,
    /// The number of fetches that ended with each outcome: `ok`, or an error's code.
    pub(crate) outcomes: Vec<(&'static str, u64)>,
    /// How long calls waited, and how long the source took.
    pub(crate) wait_times: DurationCounts,
    pub(crate) fetch_times: DurationCounts,
    /// The number of calls that found no id in memory.
    pub waits: u64,
    /// The number of calls that wait now.
    pub waiting: usize,
    /// The error of the last fetch; `None` after a success.
    pub last_error: Option<String>,
}

impl TagStats {
    pub(crate) fn of(tag_state: &TagState) -> TagStats {
        let stats = tag_state.locked(|state| {
            let ids = tag_state.issued(state);
            let segments = tag_state.buffer.segments(&state.filler);
            let mut segments = segments.into_iter().chain(state.pending.iter());
            let (current, next) = (segments.next(), segments.next());
            TagStats {
                tag: tag_state.name.as_ref().into(),
                current,
                next,
                left: tag_state.left(state),
                step: tag_state.step(state),
                fetching: state.fetch.is_fetching(),
                fetches: state.fetch.ended(),
                failures: state.fetch.failures(),
                ids,
                outcomes: state.outcomes(),
                wait_times: tag_state.wait_times.counts(),
                fetch_times: tag_state.fetch_times.counts(),
                waits: state.waits,
                waiting: tag_state.waiting(state),
                last_error: state.fetch.error().map(|error| error.to_string()),
            }
        });
        // A forked child that has not used the tag yet.
        stats.unwrap_or_else(|| TagStats {
            tag: tag_state.name.as_ref().into(),
            current: None,
            next: None,
            left: 0,
            step: 0,
            fetching: false,
            fetches: 0,
            failures: 0,
            ids: 0,
            outcomes: Vec::new(),
            wait_times: DurationCounts::default(),
            fetch_times: DurationCounts::default(),
            waits: 0,
            waiting: 0,
            last_error: None,
        })
    }
}

impl SegmentsStats {
    pub(crate) fn of(fetcher: &Fetcher) -> SegmentsStats {
        let servers = fetcher.settings.source.servers.as_ref();
        let servers = servers.map(|servers| servers.last_errors()).unwrap_or_default();
        SegmentsStats {
            name: fetcher.settings.name.clone(),
            source: fetcher.settings.source.name.clone(),
            servers: servers
                .into_iter()
                .map(|(url, error)| ServerStats { url, last_error: error.map(|error| error.to_string()) })
                .collect(),
            state_dir: fetcher
                .settings
                .directory
                .as_ref()
                .map(|dir| dir.display().to_string())
                .unwrap_or_default(),
            tags: fetcher.tags().iter().map(|tag_state| TagStats::of(tag_state)).collect(),
        }
    }
}
