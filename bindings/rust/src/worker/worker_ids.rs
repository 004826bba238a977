//! The worker ids that a generator may claim.

use crate::WorkerSource;
use crate::config::allowed::allowed;
use leafid_core::{Error, Layout, Result};
use std::ops::{Range, RangeInclusive};

/// The worker ids that a generator may claim. They are checked when the generator is opened.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let is_url = |text: &str| {
            let begins =
                |scheme: &str| text.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme));
            begins("http://") || begins("https://")
        };
        match self {
            Worker::Servers(servers) => Some(servers.clone()),
            Worker::Text(text) if is_url(text.trim()) => {
                Some(text.split(',').map(|url| url.trim().to_owned()).collect())
            }
            _ => None,
        }
    }
}

/// The checked worker ids that a generator may claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerIds {
    /// Both ends included; a single id if they are equal.
    Within {
        first: u32,
        last: u32,
        /// Whether the host's name selects the ids, so that other hosts have other ids.
        by_hostname: bool,
    },
    /// The id that this source returns.
    FromSource(WorkerSource),
}

impl WorkerIds {
    /// `name` is the option or the environment variable that the user set.
    pub(crate) fn parse(name: &str, worker: &Worker, layout: &Layout) -> Result<WorkerIds> {
        let bad = |shown: String| Error::invalid(name, shown, allowed("worker"));
        let most = layout.max_worker_id();
        let mut by_hostname = false;
        let (first, last, shown) = match worker {
            Worker::Source(source) => return Ok(WorkerIds::FromSource(source.clone())),
            // URLs were accepted before this.
            Worker::Servers(servers) => return Err(bad(servers.join(", "))),
            Worker::Id(id) => (*id, *id, id.to_string()),
            Worker::Range { first, last } => (*first, *last, format!("{first}-{last}")),
            Worker::Text(text) => match text.strip_prefix("hostname:") {
                Some(wanted) => {
                    by_hostname = true;
                    let host = crate::os::hostname::hostname();
                    let (first, last) = of_hostname(wanted, &host).map_err(|allowed| {
                        Error::invalid(name, format!("{text:?} on a host called {host:?}"), &allowed)
                    })?;
                    (first, last, format!("{text:?} on a host called {host:?}, {first}-{last}"))
                }
                None => {
                    let (first, last) = parse_text(text).ok_or_else(|| bad(format!("{text:?}")))?;
                    (first, last, format!("{text:?}"))
                }
            },
        };
        if first > last {
            return Err(bad(format!("the empty range {shown}")));
        }
        match (u32::try_from(first), u32::try_from(last)) {
            (Ok(first), Ok(last)) if last <= most => Ok(WorkerIds::Within { first, last, by_hostname }),
            _ => {
                let allowed = format!("{}, here 0 to {most} ({layout})", allowed("worker"));
                Err(Error::invalid(name, shown, &allowed))
            }
        }
    }

    /// The source of the id, if there is one.
    pub(crate) fn source(&self) -> Option<&WorkerSource> {
        match self {
            WorkerIds::FromSource(source) => Some(source),
            WorkerIds::Within { .. } => None,
        }
    }

    /// Whether several processes may have one id each.
    pub(crate) fn is_range(&self) -> bool {
        matches!(self, WorkerIds::Within { first, last, .. } if first != last)
    }
}

fn number(digits: &str) -> Option<i64> {
    let digits_only = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if digits_only { digits.parse::<i64>().ok() } else { None }
}

fn parse_text(text: &str) -> Option<(i64, i64)> {
    match text.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|id| (id, id)),
    }
}

/// The ids of this host for `orders` or `orders*8`, as a StatefulSet numbers its pods. The error says what is allowed.
pub(crate) fn of_hostname(wanted: &str, host: &str) -> std::result::Result<(i64, i64), String> {
    let form = || {
        "hostname:NAME on hosts called NAME-0, NAME-1, …, or hostname:NAME*8 for eight ids a host".to_owned()
    };
    let (prefix, each) = match wanted.rsplit_once('*') {
        Some((prefix, each)) => (prefix, number(each).filter(|&each| each > 0).ok_or_else(form)?),
        None => (wanted, 1),
    };
    if prefix.is_empty() {
        return Err(form());
    }
    // In a fully qualified name, the host is the first part.
    let host = host.split('.').next().unwrap_or(host);
    let ordinal = host.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    // orders-3 and orders-03 are two hosts: only one of them may have the number.
    let ordinal = ordinal.filter(|digits| *digits == "0" || !digits.starts_with('0')).and_then(number);
    let first = ordinal.and_then(|ordinal| ordinal.checked_mul(each));
    first.and_then(|first| Some((first, first.checked_add(each - 1)?))).ok_or_else(form)
}

#[cfg(test)]
mod tests {
    use super::{Worker, of_hostname};

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

    #[test]
    fn a_host_is_numbered_by_its_name() {
        for (wanted, host, ids) in [
            ("orders", "orders-7", (7, 7)),
            ("orders", "orders-0.orders.default.svc.cluster.local", (0, 0)),
            ("orders*8", "orders-3", (24, 31)),
            ("eu-orders*2", "eu-orders-12", (24, 25)),
        ] {
            assert_eq!(of_hostname(wanted, host), Ok(ids), "{wanted} {host}");
        }
        for (wanted, host) in [
            ("orders", "orders"),
            ("orders", "orders-"),
            ("orders", "orders-07"),
            ("orders", "orders-7a"),
            ("orders", "orders--7"),
            ("orders", "other-7"),
            ("orders", "my-orders-7"),
            ("orders*0", "orders-7"),
            ("orders*", "orders-7"),
            ("orders*x", "orders-7"),
            ("orders*9223372036854775807", "orders-7"),
            ("", "-7"),
            ("*8", "-7"),
        ] {
            assert!(of_hostname(wanted, host).is_err(), "{wanted} {host}");
        }
    }
}
