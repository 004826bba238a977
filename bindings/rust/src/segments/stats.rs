//! Statistics of segments and their tags.

use super::fetcher::Fetcher;
use super::tag_state::TagState;
use leafid_core::Segment;

/// Segments as they stand in this process.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentsStats {
    /// The id space.
    pub name: String,
    /// Where segments come from, as in `callback`.
    pub source: String,
    /// The servers, as they are preferred; none of a source that has none.
    pub servers: Vec<ServerStats>,
    /// The directory of the marks, with the id space's sub-directory; empty where none are kept.
    pub state_dir: String,
    /// Every tag that was used, by name.
    pub tags: Vec<TagStats>,
}

/// A server as it stands.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStats {
    /// Its URL.
    pub url: String,
    /// What it failed with last, none after a success.
    pub last_error: Option<String>,
}

/// A tag as it stands.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagStats {
    /// The tag.
    pub tag: String,
    /// What is left of the segment that is issued.
    pub current: Option<Segment>,
    /// The segment after it.
    pub next: Option<Segment>,
    /// Ids at hand.
    pub left: u64,
    /// The step of the last fetch, or the one that is asked for first: 0 leaves it to the source.
    pub step: i64,
    /// Whether a fetch is under way.
    pub fetching: bool,
    /// Fetches that have ended, and those of them that failed.
    pub fetches: u64,
    /// Fetches that failed.
    pub failures: u64,
    /// Calls that found nothing at hand.
    pub waits: u64,
    /// Calls that wait now.
    pub waiting: usize,
    /// The last fetch's error, none after a success.
    pub last_error: Option<String>,
}

impl TagStats {
    pub(crate) fn of(tag_state: &TagState) -> TagStats {
        let stats = tag_state.locked(|state| {
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
                waits: state.waits,
                waiting: tag_state.waiting(state),
                last_error: state.fetch.error().map(|error| error.to_string()),
            }
        });
        // A forked child that has not used it yet.
        stats.unwrap_or_else(|| TagStats {
            tag: tag_state.name.as_ref().into(),
            current: None,
            next: None,
            left: 0,
            step: 0,
            fetching: false,
            fetches: 0,
            failures: 0,
            waits: 0,
            waiting: 0,
            last_error: None,
        })
    }
}

impl SegmentsStats {
    pub(crate) fn of(fetcher: &Fetcher) -> SegmentsStats {
        let servers = fetcher.settings.origin.servers.as_ref();
        let servers = servers.map(|servers| servers.last_errors()).unwrap_or_default();
        SegmentsStats {
            name: fetcher.settings.name.clone(),
            source: fetcher.settings.origin.name.clone(),
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
