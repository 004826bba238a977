//! Ids in JSON, as decimal text, because many JSON readers have no 64-bit integers.

use crate::{Segment, parse_id};
use alloc::string::String;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

/// An id or a bound of ids, written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal(
    /// The number.
    pub i64,
);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Decimal, D::Error> {
        let text = String::deserialize(from)?;
        parse_id(&text).map(Decimal).map_err(D::Error::custom)
    }
}

/// A segment: start, end and stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple(
    /// The segment.
    pub Segment,
);

impl Serialize for Triple {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        [self.0.start(), self.0.end(), self.0.stride()].map(Decimal).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Triple {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Triple, D::Error> {
        let [start, end, stride] = <[Decimal; 3]>::deserialize(from)?;
        Segment::new(start.0, end.0, stride.0).map(Triple).map_err(D::Error::custom)
    }
}
