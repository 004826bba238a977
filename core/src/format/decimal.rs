//! Ids in JSON, as decimal text, because many JSON readers have no 64-bit integers.

use crate::json::{JsonResult, JsonValue};
use crate::{Segment, parse_id};
use alloc::string::ToString;
use serde::ser::{Serialize, Serializer};

/// An id or a bound of ids, written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal(
    /// The number.
    pub i64,
);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl Decimal {
    pub(crate) fn read(value: JsonValue<'_>) -> JsonResult<Decimal> {
        parse_id(&value.text()?).map(Decimal).map_err(|error| error.to_string())
    }
}

/// A segment: start, end and stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Triple(
    /// The segment.
    pub Segment,
);

impl Serialize for Triple {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        [self.0.start(), self.0.end(), self.0.stride()].map(Decimal).serialize(to)
    }
}

impl Triple {
    pub(crate) fn read(value: JsonValue<'_>) -> JsonResult<Triple> {
        match value.list()?[..] {
            [start, end, stride] => {
                let [start, end, stride] =
                    [Decimal::read(start)?, Decimal::read(end)?, Decimal::read(stride)?];
                Segment::new(start.0, end.0, stride.0).map(Triple).map_err(|error| error.to_string())
            }
            _ => Err("not a start, an end and a stride".into()),
        }
    }
}
