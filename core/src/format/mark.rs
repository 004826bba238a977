//! The content of a mark file: the mark of one tag of a source.

use crate::format::decimal::Decimal;
use crate::format::file_names::inside;
use crate::format::shared::{Content, corrupt};
use crate::format::span_text;
use crate::format::unused::UnusedSegments;
use crate::json::{JsonResult, JsonValue, Object};
use crate::quoted::{Escaped, Quoted};
use crate::segment::guard::{Guard, MOST_SPANS_IN_MEMORY};
use crate::{IdOrder, Result};
use alloc::format;
use alloc::string::String;
use core::fmt::Display;
use serde::Serialize;

/// The largest number of spans for a source with ascending ids. All but the last few are joined into one.
pub const MOST_SPANS: usize = 32;

/// The stored state of a tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Mark {
    /// The name of the source.
    pub source: String,
    /// The tag; only the beginning of a long one.
    pub tag: String,
    /// Every id below was given before.
    pub mark: Decimal,
    /// The spans that were given, in the form of [`span_text`].
    spans: String,
    /// The time of the clock at the last fetch.
    pub fetched_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The unused ids of a clean close.
    pub kept: Option<UnusedSegments>,
}

impl Content for Mark {
    const KIND: &'static str = "mark";
    const ADVICE: &'static str = "Put it back as it was, or move it away by hand: then a range that was given before is \
                                  no longer refused, so see first that the source's counter is above every id in use";

    fn read(slot: &Object<'_>) -> JsonResult<Mark> {
        let kept = slot.optional("kept")?.map(JsonValue::object).transpose()?;
        Ok(Mark {
            source: slot.text("source")?,
            tag: slot.text("tag")?,
            mark: Decimal::read(slot.get("mark")?)?,
            spans: slot.text("spans")?,
            fetched_ms: slot.integer("fetched_ms")?,
            kept: kept.map(|kept| UnusedSegments::read(&kept)).transpose()?,
        })
    }
}

impl Mark {
    /// The mark of a new tag.
    pub fn unused(source: &str, tag: &str) -> Mark {
        let (source, tag) = (inside(source), inside(tag));
        Mark { source, tag, mark: Decimal(0), spans: String::new(), fetched_ms: 0, kept: None }
    }

    /// Errors: `state_corrupt` for the mark of another source or tag.
    pub fn check_whose(&self, source: &str, tag: &str, path: impl Display) -> Result<()> {
        if self.source == inside(source) && self.tag == inside(tag) {
            return Ok(());
        }
        let whose = Escaped(&self.source);
        let what =
            format!("the mark of tag {} of {whose}, not of {} of {source}", Quoted(&self.tag), Quoted(tag));
        Err(corrupt::<Mark>(path, &what))
    }

    /// The guard of the tag, with the spans that were given. Errors: `state_corrupt`.
    pub fn guard(&self, order: IdOrder, path: impl Display) -> Result<Guard> {
        let most = if order == IdOrder::Ascending { MOST_SPANS } else { MOST_SPANS_IN_MEMORY };
        let spans = span_text::parse(&self.spans)
            .ok_or_else(|| corrupt::<Mark>(path, "without spans that can be read"))?;
        Ok(Guard::resume(order, self.mark.0, spans, most))
    }

    /// Stores what the guard knows, fetched at `now_ms`.
    pub fn remember(&mut self, guard: &Guard, order: IdOrder, now_ms: i64) {
        self.mark = Decimal(guard.mark());
        self.spans = span_text::shortened(guard, order);
        self.fetched_ms = now_ms;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Segment;
    use crate::format::unused::{MOST_SEGMENTS, MachineStart};
    use crate::format::{shared, two_slots};

    #[test]
    fn of_what_comes_in_no_order_more_is_remembered() {
        let spans = ["9,1"; 40].join(";");
        let mark = Mark { spans, ..Mark::unused("range:http://a", "order") };
        let remembered = |order| mark.guard(order, "x").unwrap().spans().len();
        let all = [IdOrder::Ascending, IdOrder::Ranges, IdOrder::Sparse].map(remembered);
        assert_eq!(all, [MOST_SPANS, 40, 40]);
    }

    #[test]
    fn the_largest_mark_fits_its_slot() {
        let high = |n: usize| Segment::new(i64::MAX - 9 - n as i64, i64::MAX, i64::MAX).unwrap();
        let file = (u64::MAX, u64::MAX);
        let start = MachineStart { machine: "f".repeat(32), boot: "f".repeat(36) };
        // As long as a name inside a file is.
        for name in ["\"".repeat(128), "é".repeat(128)] {
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
            mark.check_whose(&name, &name, "x").unwrap();
            let bytes = shared::seal(u64::MAX, &mark).unwrap();
            let text = two_slots::checked(&bytes).unwrap();
            assert_eq!(Mark::read(&Object::parse(text.as_bytes()).unwrap()), Ok(mark));
        }
    }
}
