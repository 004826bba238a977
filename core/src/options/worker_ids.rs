//! The worker ids that a generator may claim, from what the user wrote.

use crate::options::allowed::allowed;
use crate::options::checks::digits;
use crate::quoted::Quoted;
use crate::secrets::shown_url;
use crate::{Error, Layout, Result};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Worker ids as the user wrote them.
#[derive(Clone, Copy, Debug)]
pub enum WorkerOption<'t> {
    /// This worker id.
    Id(i64),
    /// The smallest and the largest id.
    Range(i64, i64),
    /// Text: `7`, `0-31`, `hostname:orders` or `hostname:orders*8`.
    Text(&'t str),
}

/// The worker ids that a generator may claim; a single id if both ends are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerRange {
    /// The smallest id.
    pub first: u32,
    /// The largest id.
    pub last: u32,
    /// Whether the host's name selects the ids, so that other hosts have other ids.
    pub by_hostname: bool,
}

impl WorkerRange {
    /// Parses the option or the environment variable `name`, on a host called `host`. Errors: `invalid_argument`.
    pub fn parse(name: &str, option: WorkerOption<'_>, layout: &Layout, host: &str) -> Result<WorkerRange> {
        let bad = |shown: String| Error::invalid(name, shown, allowed("worker"));
        let most = layout.max_worker_id();
        let mut by_hostname = false;
        let (first, last, shown) = match option {
            WorkerOption::Id(id) => (id, id, id.to_string()),
            WorkerOption::Range(first, last) => (first, last, format!("{first}-{last}")),
            WorkerOption::Text(text) => match text.strip_prefix("hostname:") {
                Some(wanted) => {
                    by_hostname = true;
                    let shown = format!("{} on a host called {}", Quoted(text), Quoted(host));
                    let (first, last) = of_hostname(wanted, host)
                        .map_err(|allowed| Error::invalid(name, &shown, &allowed))?;
                    (first, last, format!("{shown}, {first}-{last}"))
                }
                None => {
                    let (first, last) =
                        parse_text(text).ok_or_else(|| bad(Quoted(&shown_url(text)).to_string()))?;
                    (first, last, Quoted(text).to_string())
                }
            },
        };
        if first > last {
            return Err(bad(format!("the empty range {shown}")));
        }
        match (u32::try_from(first), u32::try_from(last)) {
            (Ok(first), Ok(last)) if last <= most => Ok(WorkerRange { first, last, by_hostname }),
            _ => Err(Error::out_of_range(name, shown, most)),
        }
    }
}

/// The URLs of a text that starts with one, separated by commas. They are not checked.
pub fn server_urls(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme));
    let is_url = begins("http://") || begins("https://");
    is_url.then(|| text.split(',').map(|url| url.trim().to_owned()).collect())
}

fn parse_text(text: &str) -> Option<(i64, i64)> {
    match text.split_once('-') {
        Some((first, last)) => Some((digits(first)?, digits(last)?)),
        None => digits(text).map(|id| (id, id)),
    }
}

/// The first and the last id of a host for `orders` or `orders*8`, as a StatefulSet numbers its pods. The error says
/// what is allowed.
pub fn of_hostname(wanted: &str, host: &str) -> core::result::Result<(i64, i64), String> {
    let form = || {
        "hostname:NAME on hosts called NAME-0, NAME-1, …, or hostname:NAME*8 for eight ids a host".to_owned()
    };
    let (prefix, each) = match wanted.rsplit_once('*') {
        Some((prefix, each)) => (prefix, digits(each).filter(|&each| each > 0).ok_or_else(form)?),
        None => (wanted, 1),
    };
    if prefix.is_empty() {
        return Err(form());
    }
    // In a fully qualified name, the host is the first part.
    let host = host.split('.').next().unwrap_or(host);
    let ordinal = host.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    // orders-3 and orders-03 are two hosts: only one of them may have the number.
    let ordinal = ordinal.filter(|number| *number == "0" || !number.starts_with('0')).and_then(digits);
    let first = ordinal.and_then(|ordinal| ordinal.checked_mul(each));
    first.and_then(|first| Some((first, first.checked_add(each - 1)?))).ok_or_else(form)
}

#[cfg(test)]
mod tests {
    use super::{WorkerOption, WorkerRange, of_hostname, server_urls};
    use crate::Layout;
    use crate::secrets::shown_url;

    #[test]
    fn a_worker_id_past_the_layout_is_refused_with_its_bound() {
        for (option, layout, said) in [
            (WorkerOption::Id(5000), Layout::LEAF, "worker is 5000; allowed: 0 to 1023"),
            (WorkerOption::Range(0, 8), Layout::JS_SAFE, "worker is 0-8; allowed: 0 to 7"),
        ] {
            let error = WorkerRange::parse("worker", option, &layout, "here").unwrap_err();
            assert_eq!(error.message(), said);
        }
    }

    #[test]
    fn a_password_with_a_comma_is_not_shown_in_parts() {
        for url in server_urls("https://leaf:s3,cret@ids").unwrap_or_default() {
            assert!(!shown_url(&url).contains("s3") && !shown_url(&url).contains("cret"), "{url}");
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

    #[test]
    fn urls_are_recognised_by_their_beginning() {
        for (worker, urls) in [
            ("http://ids", Some("http://ids")),
            (" HTTPS://a:1/x , http://b ", Some("HTTPS://a:1/x|http://b")),
            // Any list that starts with a URL: the URLs are checked later.
            ("http://a,,b", Some("http://a||b")),
            ("httpx://a", None),
            ("hostname:http", None),
            ("7", None),
        ] {
            assert_eq!(server_urls(worker).map(|urls| urls.join("|")).as_deref(), urls, "{worker}");
        }
    }
}
