//! The worker ids that a generator may claim.

use crate::WorkerSource;
use crate::os::hostname::hostname;
use leafid_core::options::{WorkerOption, WorkerRange, allowed, server_urls, shown_url, shown_urls};
use leafid_core::{Error, Layout, Result};
use std::fmt;
use std::ops::{Range, RangeInclusive};

/// The worker ids that a generator may claim. They are checked when the generator is opened.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub enum Worker {
    /// This worker id.
    Id(i64),
    /// Any free id of the range, both ends included.
    Range {
        /// The smallest id.
        first: i64,
        /// The largest id.
        last: i64,
    },
    /// Text: `7`, `0-31`, `hostname:orders` for a host called orders-N, `hostname:orders*8` for eight ids per host, or
    /// the URLs of lease servers with commas, such as `https://ids-1:8443`.
    Text(String),
    /// The URLs of lease servers. leafid prefers the first one and backs off from one that fails.
    Servers(Vec<String>),
    /// A callback, or an object that leases ids.
    Source(WorkerSource),
}

impl From<u32> for Worker {
    fn from(id: u32) -> Worker {
        Worker::Id(id.into())
    }
}

impl From<RangeInclusive<u32>> for Worker {
    fn from(ids: RangeInclusive<u32>) -> Worker {
        Worker::Range { first: (*ids.start()).into(), last: (*ids.end()).into() }
    }
}

impl From<Range<u32>> for Worker {
    fn from(ids: Range<u32>) -> Worker {
        Worker::Range { first: ids.start.into(), last: i64::from(ids.end) - 1 }
    }
}

impl From<&str> for Worker {
    fn from(text: &str) -> Worker {
        Worker::Text(text.into())
    }
}

impl From<String> for Worker {
    fn from(text: String) -> Worker {
        Worker::Text(text)
    }
}

impl From<Vec<String>> for Worker {
    fn from(servers: Vec<String>) -> Worker {
        Worker::Servers(servers)
    }
}

impl From<Vec<&str>> for Worker {
    fn from(servers: Vec<&str>) -> Worker {
        Worker::Servers(servers.into_iter().map(Into::into).collect())
    }
}

impl<const N: usize> From<[&str; N]> for Worker {
    fn from(servers: [&str; N]) -> Worker {
        Worker::from(servers.to_vec())
    }
}

impl From<WorkerSource> for Worker {
    fn from(source: WorkerSource) -> Worker {
        Worker::Source(source)
    }
}

impl Worker {
    /// The URLs of lease servers as they were written, if the value names some.
    pub(crate) fn servers(&self) -> Option<Vec<String>> {
        match self {
            Worker::Servers(servers) => Some(servers.clone()),
            Worker::Text(text) => server_urls(text),
            _ => None,
        }
    }
}

/// Without the passwords of URLs.
impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Worker::Id(id) => f.debug_tuple("Id").field(id).finish(),
            Worker::Range { first, last } => {
                f.debug_struct("Range").field("first", first).field("last", last).finish()
            }
            Worker::Text(text) => f.debug_tuple("Text").field(&shown_url(text)).finish(),
            Worker::Servers(urls) => f.debug_tuple("Servers").field(&shown_urls(urls)).finish(),
            Worker::Source(source) => f.debug_tuple("Source").field(source).finish(),
        }
    }
}

/// The checked worker ids that a generator may claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerIds {
    /// These ids.
    Within(WorkerRange),
    /// The id that this source returns.
    FromSource(WorkerSource),
}

impl WorkerIds {
    /// `name` is the option or the environment variable that the user set.
    pub(crate) fn parse(name: &str, worker: &Worker, layout: &Layout) -> Result<WorkerIds> {
        let option = match worker {
            Worker::Source(source) => return Ok(WorkerIds::FromSource(source.clone())),
            // URLs were accepted before this.
            Worker::Servers(servers) => {
                return Err(Error::invalid(name, shown_urls(servers), allowed("worker")));
            }
            Worker::Id(id) => WorkerOption::Id(*id),
            Worker::Range { first, last } => WorkerOption::Range(*first, *last),
            Worker::Text(text) => WorkerOption::Text(text),
        };
        WorkerRange::parse(name, option, layout, &hostname()).map(WorkerIds::Within)
    }

    /// The ids, unless a source gives one.
    pub(crate) fn range(&self) -> Option<&WorkerRange> {
        match self {
            WorkerIds::Within(range) => Some(range),
            WorkerIds::FromSource(_) => None,
        }
    }

    /// The source of the id, if there is one.
    pub(crate) fn source(&self) -> Option<&WorkerSource> {
        match self {
            WorkerIds::FromSource(source) => Some(source),
            WorkerIds::Within(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Worker;

    #[test]
    fn urls_are_told_by_their_beginning() {
        for (worker, urls) in [
            (Worker::from("http://ids"), Some(vec!["http://ids"])),
            (" HTTPS://a:1/x , http://b ".into(), Some(vec!["HTTPS://a:1/x", "http://b"])),
            // Any list that starts with a URL: the URLs are checked later.
            ("http://a,,b".into(), Some(vec!["http://a", "", "b"])),
            (vec!["7"].into(), Some(vec!["7"])),
            (["http://a", "http://b"].into(), Some(vec!["http://a", "http://b"])),
            (vec!["http://a".to_owned()].into(), Some(vec!["http://a"])),
            ("httpx://a".into(), None),
            ("hostname:http".into(), None),
            ("7".into(), None),
            (7.into(), None),
        ] {
            let urls = urls.map(|urls| urls.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(worker.servers(), urls, "{worker:?}");
        }
    }
}
