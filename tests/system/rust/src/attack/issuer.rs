//! What is attacked: a generator of snowflakes, or a tag of segments.

use crate::options::Options;
use crate::segments;
use leafid::{Result, Snowflake, Tag};

/// Gives ids, from any thread.
#[derive(Clone)]
pub enum Issuer {
    Flake(Snowflake),
    Tag(Tag),
}

impl Issuer {
    /// A tag where `of=segments` is said, a generator else.
    pub fn open(options: &Options) -> std::result::Result<Issuer, String> {
        if options.text("of") != Some("segments") {
            return Ok(Issuer::Flake(options.open()?));
        }
        let opened = segments::builder(options).open().and_then(|segments| segments.tag("order"));
        opened.map(Issuer::Tag).map_err(|error| error.to_string())
    }

    pub fn next(&self) -> Result<i64> {
        match self {
            Issuer::Flake(flake) => flake.next(),
            Issuer::Tag(tag) => tag.next(),
        }
    }

    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        match self {
            Issuer::Flake(flake) => flake.take(n),
            Issuer::Tag(tag) => tag.take(n),
        }
    }

    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        match self {
            Issuer::Flake(flake) => flake.fill(out),
            Issuer::Tag(tag) => tag.fill(out),
        }
    }
}
