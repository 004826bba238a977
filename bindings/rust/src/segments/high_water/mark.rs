//! The content of a mark file: the mark of one tag of a source.

use super::span_text;
use super::unused::UnusedSegments;
use crate::storage::decimal::Decimal;
use crate::storage::file_names::inside;
use crate::storage::shared_file::{Content, corrupt};
use crate::storage::state_file;
use leafid_core::{Error, Guard, IdOrder, MOST_REMEMBERED, Result};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The largest number of spans for a source with ascending ids. All but the last few are joined into one.
pub(crate) const MOST_SPANS: usize = 32;

/// The stored state of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) source: String,
    pub(crate) tag: String,
    /// Every id below was given before.
    pub(crate) mark: Decimal,
    /// The spans that were given, in the form of [`span_text`].
    spans: String,
    /// The time of the clock at the last fetch.
    pub(crate) fetched_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<UnusedSegments>,
}

impl Content for Mark {
    const KIND: &'static str = "mark";
    const ADVICE: &'static str = "Put it back as it was, or move it away by hand: then a range that was given before is \
                                  no longer refused, so see first that the source's counter is above every id in use";

    fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
        state_file::failed(doing, path, error)
    }
}

impl Mark {
    /// The mark of a new tag.
    pub(crate) fn unused(source: &str, tag: &str) -> Mark {
        Mark {
            source: inside(source),
            tag: inside(tag),
            mark: Decimal(0),
            spans: String::new(),
            fetched_ms: 0,
            kept: None,
        }
    }

    /// Errors: `state_corrupt` for the mark of another source or tag.
    pub(crate) fn check_whose(&self, source: &str, tag: &str, path: &Path) -> Result<()> {
        if self.source == inside(source) && self.tag == inside(tag) {
            return Ok(());
        }
        let whose = self.source.escape_debug();
        let what = format!("the mark of tag {:?} of {whose}, not of {tag:?} of {source}", self.tag);
        Err(corrupt::<Mark>(path, &what))
    }

    /// Errors: `state_corrupt`.
    pub(crate) fn guard(&self, order: IdOrder, path: &Path) -> Result<Guard> {
        let most = if order == IdOrder::Ascending { MOST_SPANS } else { MOST_REMEMBERED };
        let spans = span_text::parse(&self.spans)
            .ok_or_else(|| corrupt::<Mark>(path, "without spans that can be read"))?;
        Ok(Guard::resume(order, self.mark.0, spans, most))
    }

    pub(crate) fn remember(&mut self, guard: &Guard, order: IdOrder, now_ms: i64) {
        self.mark = Decimal(guard.mark());
        self.spans = span_text::shortened(guard, order);
        self.fetched_ms = now_ms;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::segments::high_water::unused::{MOST_SEGMENTS, MachineStart};
    use crate::storage::two_slots;
    use leafid_core::Segment;

    #[test]
    fn of_what_comes_in_no_order_more_is_remembered() {
        let spans = ["9,1"; 40].join(";");
        let mark = Mark { spans, ..Mark::unused("range:http://a", "order") };
        let remembered = |order| mark.guard(order, Path::new("x")).unwrap().spans().len();
        let all = [IdOrder::Ascending, IdOrder::Ranges, IdOrder::Sparse].map(remembered);
        assert_eq!(all, [MOST_SPANS, 40, 40]);
    }

    #[test]
    fn the_largest_mark_fits_its_slot() {
        let high = |n: usize| Segment::new(i64::MAX - 9 - n as i64, i64::MAX, i64::MAX).unwrap();
        let file = (u64::MAX, u64::MAX);
        let start = MachineStart { machine: "f".repeat(32), boot: "f".repeat(36) };
        for name in ["\"".repeat(128), "\u{1}".repeat(5_000), "é".repeat(64)] {
            let mark = Mark {
                mark: Decimal(i64::MAX),
                spans: "7".repeat(span_text::MOST_BYTES),
                fetched_ms: i64::MIN,
                kept: Some(UnusedSegments::new(
                    None,
                    &[high(0); MOST_SEGMENTS + 1],
                    start.clone(),
                    file,
                    i64::MIN,
                )),
                ..Mark::unused(&name, &name)
            };
            mark.check_whose(&name, &name, Path::new("x")).unwrap();
            let bytes = crate::storage::shared_file::seal(u64::MAX, &mark).unwrap();
            let text = two_slots::checked(&bytes).unwrap();
            assert_eq!(serde_json::from_str::<Mark>(text).unwrap(), mark);
        }
    }
}
