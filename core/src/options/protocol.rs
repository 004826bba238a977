//! The protocols of servers of segments.

use crate::words::words;
use crate::{Error, Result};
use core::str::FromStr;

/// The protocol of the servers.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// An unmodified Leaf server in segment mode, one id per request.
    #[default]
    Leaf,
    /// An unmodified Leaf server in snowflake mode, one id per request.
    LeafSnowflake,
    /// leafid's own protocol, which returns ranges.
    Range,
    /// The protocol of tinyid.
    Tinyid,
}

words! {
    Protocol of "protocol": "leaf" => Leaf, "leaf-snowflake" => LeafSnowflake, "range" => Range, or "tinyid" => Tinyid
}

impl FromStr for Protocol {
    type Err = Error;

    /// As [`Protocol::parse`].
    fn from_str(text: &str) -> Result<Protocol> {
        Protocol::parse(text)
    }
}
