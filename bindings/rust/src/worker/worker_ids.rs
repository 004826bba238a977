//! The worker ids that a generator may claim.

use crate::WorkerSource;
use leafid_core::options::{OptionValue, shown_url, shown_urls};
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
    /// Text: `7`, `0-31`, `local` for this machine alone, `hostname:orders` for a host called orders-N,
    /// `hostname:orders*8` for eight ids per host, or the URLs of lease servers with commas, such as
    /// `https://ids-1:8443`.
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
    /// As the core checks it.
    pub(crate) fn value(&self) -> OptionValue {
        match self {
            Worker::Id(id) => OptionValue::Int(*id),
            Worker::Range { first, last } => OptionValue::Range(*first, *last),
            Worker::Text(text) => OptionValue::Text(text.clone()),
            Worker::Servers(servers) => OptionValue::Texts(servers.clone()),
            Worker::Source(source) if source.leases_spans() => OptionValue::Leases,
            Worker::Source(_) => OptionValue::Callback,
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
