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
    /// Text: `7`, `0-31`, `local`, or `hostname:` and a pattern.
    Text(&'t str),
}

/// What chose the worker ids of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChosenBy {
    /// The user.
    User,
    /// The host's name, so that other hosts have other ids.
    HostName,
    /// `local`: any of the layout, on this machine alone.
    Local,
}

/// The worker ids that a generator may claim; a single id if both ends are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerRange {
    /// The smallest id.
    pub first: u32,
    /// The largest id.
    pub last: u32,
    /// What chose them.
    pub chosen_by: ChosenBy,
}

/// The largest worker id of `local`, if the layout has more: each opening looks at the records of all.
const LAST_LOCAL: u32 = 255;

impl WorkerRange {
    /// Parses the option or the environment variable `name`, on a host called `host`. Errors: `invalid_argument`.
    pub fn parse(name: &str, option: WorkerOption<'_>, layout: &Layout, host: &str) -> Result<WorkerRange> {
        let bad = |shown: String| Error::invalid(name, shown, allowed("worker"));
        let most = layout.max_worker_id();
        let mut chosen_by = ChosenBy::User;
        let (first, last, shown) = match option {
            WorkerOption::Id(id) => (id, id, id.to_string()),
            WorkerOption::Range(first, last) => (first, last, format!("{first}-{last}")),
            WorkerOption::Text("local") => {
                let last = most.min(LAST_LOCAL);
                return Ok(WorkerRange { first: 0, last, chosen_by: ChosenBy::Local });
            }
            WorkerOption::Text(text) => match text.strip_prefix("hostname:") {
                Some(wanted) => {
                    chosen_by = ChosenBy::HostName;
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
            (Ok(first), Ok(last)) if last <= most => Ok(WorkerRange { first, last, chosen_by }),
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

/// The first and the last id of a host, by a pattern such as `orders*8` or `web{00}+64*8-127`. The error says what is
/// allowed.
pub fn of_hostname(wanted: &str, host: &str) -> core::result::Result<(i64, i64), String> {
    let pattern = HostPattern::parse(wanted).ok_or(HostPattern::FORM)?;
    // In a fully qualified name, the host is the first part.
    let host = host.split('.').next().unwrap_or(host);
    let ids =
        pattern.ordinal(host).and_then(|ordinal| pattern.ids(ordinal)).ok_or_else(|| pattern.hosts())?;
    match pattern.last {
        Some(last) if ids.1 > last => {
            Err(format!("ids up to {last}, and those of this host are {}", shown(ids)))
        }
        _ => Ok(ids),
    }
}

/// How hosts are called, with a number in the name, and which ids each of them has.
struct HostPattern<'t> {
    /// What is before the number, and what is after it.
    around: (&'t str, &'t str),
    /// Between the name and its number.
    joint: &'static str,
    /// The least digits of the number, filled up with zeros. So each number has one name.
    digits: usize,
    /// The first id of host 0.
    first: i64,
    /// The ids of each host.
    each: i64,
    /// The largest id of all.
    last: Option<i64>,
}

impl<'t> HostPattern<'t> {
    const FORM: &'static str = "hostname:NAME on hosts called NAME-0, NAME-1, …; NAME{00} if they are called NAME00, NAME01, …; \
                                then +64 to begin at 64, *8 for eight ids a host, -127 for the last id, in this order";

    /// `NAME`, with the number at its end or as `{0}` in it; then `+FIRST`, `*EACH` and `-LAST`, of which `-LAST` stands
    /// behind another one, because a name has dashes.
    fn parse(wanted: &'t str) -> Option<HostPattern<'t>> {
        let (name, mut rest) = wanted.split_at(wanted.find(['+', '*']).unwrap_or(wanted.len()));
        let first = number(&mut rest, '+')?.unwrap_or(0);
        let each = number(&mut rest, '*')?.unwrap_or(1);
        let last = number(&mut rest, '-')?;
        let (around, joint, digits) = match name.split_once('{') {
            None => ((name, ""), "-", 1),
            Some((before, behind)) => {
                let (zeros, after) = behind.split_once('}')?;
                let is_number = zeros.bytes().all(|byte| byte == b'0') && !after.contains(['{', '}']);
                ((before, after), "", if is_number { zeros.len() } else { 0 })
            }
        };
        let is_whole = !name.is_empty() && rest.is_empty() && each > 0 && (1..=MOST_DIGITS).contains(&digits);
        is_whole.then_some(HostPattern { around, joint, digits, first, each, last })
    }

    /// The name of a host.
    fn name(&self, ordinal: i64) -> String {
        let ((before, after), joint, digits) = (self.around, self.joint, self.digits);
        format!("{before}{joint}{ordinal:0digits$}{after}")
    }

    /// The number of a host. orders-3 and orders-03 are two hosts: only one of them may have the number.
    fn ordinal(&self, host: &str) -> Option<i64> {
        let (before, after) = self.around;
        let number = host.strip_prefix(before)?.strip_prefix(self.joint)?.strip_suffix(after)?;
        digits(number).filter(|&ordinal| self.name(ordinal) == host)
    }

    /// The first and the last id of a host.
    fn ids(&self, ordinal: i64) -> Option<(i64, i64)> {
        let first = ordinal.checked_mul(self.each)?.checked_add(self.first)?;
        Some((first, first.checked_add(self.each - 1)?))
    }

    /// Which hosts it is for.
    fn hosts(&self) -> String {
        let ids = |ordinal| self.ids(ordinal).map(shown).unwrap_or_default();
        let (first, second) = (self.name(0), self.name(1));
        format!("hosts called {} with {}, {} with {}, …", Quoted(&first), ids(0), Quoted(&second), ids(1))
    }
}

/// The most digits of a host's number.
const MOST_DIGITS: usize = 9;

fn shown((first, last): (i64, i64)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The number behind `sign`, if that is next; `None` if no number is behind it.
fn number(rest: &mut &str, sign: char) -> Option<Option<i64>> {
    let Some(behind) = rest.strip_prefix(sign) else { return Some(None) };
    let end = behind.find(|other: char| !other.is_ascii_digit()).unwrap_or(behind.len());
    let (number, after) = behind.split_at(end);
    *rest = after;
    digits(number).map(Some)
}

#[cfg(test)]
mod tests {
    use super::{ChosenBy, WorkerOption, WorkerRange, of_hostname, server_urls};
    use crate::Layout;
    use crate::secrets::shown_url;
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

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
            ("billing+64*8", "billing-3", (88, 95)),
            ("billing+64*8-127", "billing-7", (120, 127)),
            ("billing+64-127", "billing-63", (127, 127)),
            ("billing*8-127", "billing-15", (120, 127)),
            ("orders-12", "orders-12-3", (3, 3)),
            ("web{00}", "web01", (1, 1)),
            ("web{00}", "web100", (100, 100)),
            ("web-{00}*4", "web-10.example.org", (40, 43)),
            ("web{0}", "web7", (7, 7)),
            ("ip-10-0-3-{0}", "ip-10-0-3-17", (17, 17)),
            ("web{000}-eu+8", "web012-eu", (20, 20)),
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
            ("orders+", "orders-7"),
            ("orders+1x", "orders-7"),
            ("orders*8+64", "orders-7"),
            ("orders*8-", "orders-7"),
            ("orders+9223372036854775807", "orders-7"),
            ("web{00}", "web1"),
            ("web{00}", "web001"),
            ("web{0}", "web07"),
            ("web{0}", "web"),
            ("web{0}-eu", "web7"),
            ("web{}", "web7"),
            ("web{01}", "web7"),
            ("web{0", "web7"),
            ("web{0}{0}", "web77"),
            ("web{0000000000}", "web0000000007"),
            ("", "-7"),
            ("*8", "-7"),
        ] {
            assert!(of_hostname(wanted, host).is_err(), "{wanted} {host}");
        }
    }

    #[test]
    fn a_pattern_says_for_which_hosts_it_is() {
        let refusal = |wanted, host| of_hostname(wanted, host).unwrap_err();
        assert_eq!(
            refusal("billing+64*8", "web-1"),
            "hosts called \"billing-0\" with 64-71, \"billing-1\" with 72-79, …"
        );
        assert_eq!(refusal("web{00}", "web1"), "hosts called \"web00\" with 0, \"web01\" with 1, …");
        assert_eq!(
            refusal("billing+64*8-127", "billing-8"),
            "ids up to 127, and those of this host are 128-135"
        );
        assert!(refusal("web{}", "web1").starts_with("hostname:NAME on hosts called NAME-0"));
    }

    #[test]
    fn two_hosts_have_no_id_in_common() {
        let hosts: Vec<String> = (0..300)
            .flat_map(|n| [format!("web{n}"), format!("web{n:02}"), format!("web{n:03}"), format!("web-{n}")])
            .collect();
        for wanted in ["web", "web{0}", "web{00}*2", "web{000}+7", "web-{00}", "web{0}*3-500"] {
            let mut taken = BTreeMap::new();
            for host in &hosts {
                let Ok((first, last)) = of_hostname(wanted, host) else { continue };
                for id in first..=last {
                    let before = taken.insert(id, host);
                    assert!(before.is_none_or(|before| before == host), "{wanted}: {before:?} and {host}");
                }
            }
            assert!(taken.len() >= 100, "{wanted}");
        }
    }

    #[test]
    fn local_has_all_ids_of_a_layout_but_no_more_than_a_directory_holds() {
        for (layout, last) in [(Layout::LEAF, 255), (Layout::JS_SAFE, 7)] {
            let local = WorkerRange::parse("worker", WorkerOption::Text("local"), &layout, "here");
            assert_eq!(local, Ok(WorkerRange { first: 0, last, chosen_by: ChosenBy::Local }));
        }
        for text in ["Local", "local ", "local-3"] {
            assert!(WorkerRange::parse("worker", WorkerOption::Text(text), &Layout::LEAF, "here").is_err());
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
