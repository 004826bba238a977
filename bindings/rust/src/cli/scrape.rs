//! The metrics that an application of leafid serves, as `watch` and `check` read them.

#[cfg(feature = "http")]
use crate::shown_url;
use std::collections::BTreeMap;
#[cfg(feature = "http")]
use ureq::{
    Agent,
    unversioned::{resolver::DefaultResolver, transport::TcpConnector},
};

/// A larger page is not read.
#[cfg(feature = "http")]
const LARGEST: u64 = 16 * 1024 * 1024;
#[cfg(feature = "http")]
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// One value of leafid's metrics.
#[derive(Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

impl Sample {
    /// A label's value, empty if there is none.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// Asks an http:// URL. A page of metrics is on this host or near it: without TLS and proxies.
#[cfg(feature = "http")]
pub(super) fn get(url: &str) -> Result<String, String> {
    let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).proxy(None).build();
    let agent = Agent::with_parts(config, TcpConnector::default(), DefaultResolver::default());
    // It repeats what is no URL, and with it a password.
    let said = |error: ureq::Error| error.to_string().replace(url, &shown_url(url));
    let mut response = agent.get(url).call().map_err(said)?;
    response.body_mut().with_config().limit(LARGEST).read_to_string().map_err(said)
}

#[cfg(not(feature = "http"))]
pub(super) fn get(_: &str) -> Result<String, String> {
    Err("this program was built without HTTP".into())
}

/// The samples of leafid in a page of metrics. Lines that are not such a sample are left out.
pub(super) fn samples(page: &str) -> Vec<Sample> {
    page.lines().filter(|line| line.starts_with("leafid_")).filter_map(sample).collect()
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"")?;
            let (value, after) = quoted(after)?;
            labels.insert(label.trim_start_matches(',').to_owned(), value);
            rest = after;
        }
        rest = rest.strip_prefix('}')?;
    }
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// A label's value up to its closing quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    loop {
        match characters.next()? {
            (at, '"') => return Some((value, &text[at + 1..])),
            (_, '\\') => value.push(match characters.next()? {
                (_, 'n') => '\n',
                (_, other) => other,
            }),
            (_, other) => value.push(other),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_with_their_labels() {
        let page = "# TYPE leafid_segment_left gauge\n\
            leafid_segment_left{name=\"a\\\"b\\\\\",tag=\"x,\\ny}\"} 12\n\
            leafid_build_info{version=\"1\"} 1 1700000000\nother 7\nleafid_cut{name=\"a\n\
            leafid_plain 2.5\nleafid_odd{a=\"b\"} many\n";
        let found = samples(page);
        let names: Vec<_> = found.iter().map(|sample| (sample.name.as_str(), sample.value)).collect();
        assert_eq!(names, [("leafid_segment_left", 12.0), ("leafid_build_info", 1.0), ("leafid_plain", 2.5)]);
        assert_eq!((found[0].label("name"), found[0].label("tag")), ("a\"b\\", "x,\ny}"));
        assert_eq!(found[2].label("name"), "");
    }
}
