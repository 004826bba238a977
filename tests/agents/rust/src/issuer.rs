//! What words describe: a generator of snowflakes or segments, and where ids come from.

use crate::options::Options;
use crate::segments;
use leafid::{Result, Segments, Snowflake, Tag};

/// What stands behind `open`.
pub enum Opened {
    Flake(Snowflake),
    Segments(Segments),
}

impl Opened {
    /// A snowflake where a worker is given, otherwise segments.
    pub fn open(options: &Options) -> Result<Opened> {
        match options.text("worker") {
            Some(_) => options.open().map(Opened::Flake),
            None => segments::builder(options).open().map(Opened::Segments),
        }
    }

    /// The worker id, if it has one.
    pub fn worker_id(&self) -> Result<Option<u32>> {
        match self {
            Opened::Flake(flake) => flake.worker_id().map(Some),
            Opened::Segments(_) => Ok(None),
        }
    }

    /// The tag of this name; of a snowflake, itself.
    pub fn issuer(&self, tag: &str) -> Result<Issuer> {
        match self {
            Opened::Flake(flake) => Ok(Issuer::Flake(flake.clone())),
            Opened::Segments(segments) => segments.tag(tag).map(Issuer::Tag),
        }
    }

    pub fn close(&self) -> Result<()> {
        match self {
            Opened::Flake(flake) => flake.close(),
            Opened::Segments(segments) => segments.close(),
        }
    }
}

/// Gives ids, from any thread.
#[derive(Clone)]
pub enum Issuer {
    Flake(Snowflake),
    Tag(Tag),
}

impl Issuer {
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

    /// Fills a batch by `next`, `take` or `fill`.
    pub fn issue(&self, method: &str, batch: &mut [i64]) -> Result<()> {
        match method {
            "fill" => self.fill(batch)?,
            "take" => batch.copy_from_slice(&self.take(batch.len())?),
            _ => {
                for id in batch {
                    *id = self.next()?;
                }
            }
        }
        Ok(())
    }

    /// As the runner reads them.
    pub fn stats(&self) -> Result<String> {
        Ok(match self {
            Issuer::Flake(flake) => {
                let stats = flake.stats()?;
                let (failures, error) = (stats.renewal_failures, stats.last_error.unwrap_or_default());
                format!("{} {} {} {failures} {error}", stats.reserved_until_ms, stats.lead_ms, stats.renewals)
            }
            Issuer::Tag(tag) => {
                let stats = tag.stats()?;
                let (step, error) = (stats.step, stats.last_error.unwrap_or_default());
                format!("{} {} {} {} {step} {error}", stats.left, stats.fetches, stats.failures, stats.waits)
            }
        })
    }
}

/// An error as the runner reads it.
pub fn text(error: leafid::Error) -> String {
    error.to_string()
}
