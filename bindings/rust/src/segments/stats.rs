//! The statistics of segments and their tags.

use super::supply_driver::SupplyDriver;
use leafid_core::supply;
use leafid_core::{DurationCounts, Segment};
use std::path::PathBuf;

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

impl From<supply::TagStats> for TagStats {
    fn from(stats: supply::TagStats) -> TagStats {
        TagStats {
            tag: stats.tag.as_ref().into(),
            current: stats.current,
            next: stats.next,
            left: stats.left,
            step: stats.step,
            fetching: stats.fetching,
            fetches: stats.fetches,
            failures: stats.failures,
            ids: stats.ids,
            outcomes: stats.outcomes,
            wait_times: stats.wait_times,
            fetch_times: stats.fetch_times,
            waits: stats.waits,
            waiting: stats.waiting,
            last_error: stats.last_error.map(|error| error.to_string()),
        }
    }
}

impl SegmentsStats {
    pub(crate) fn of(driver: &SupplyDriver) -> SegmentsStats {
        let settings = &driver.settings;
        // A forked child has none until it uses them.
        let (servers, tags) =
            driver.stats().map_or_else(Default::default, |(stats, tags)| (stats.servers, tags));
        let servers = servers.into_iter();
        let shown = |dir: &PathBuf| dir.display().to_string();
        SegmentsStats {
            name: settings.options.name.clone(),
            source: settings.source.name().to_owned(),
            servers: servers
                .map(|(url, error)| ServerStats { url, last_error: error.map(|error| error.to_string()) })
                .collect(),
            state_dir: settings.directory.as_ref().map(shown).unwrap_or_default(),
            tags: tags.into_iter().map(TagStats::from).collect(),
        }
    }
}
