//! Which worker ids a generator may claim.

use crate::allowed;
use leafid_core::{Error, Layout, Result};
use std::ops::{Range, RangeInclusive};

/// Which worker ids a generator may claim, as the user said it: checked when the generator is opened.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worker {
    /// This id.
    Id(i64),
    /// Any id of the range that nobody holds, both ends included.
    Range {
        /// The least id.
        first: i64,
        /// The largest id.
        last: i64,
    },
    /// Text: `7` or `0-31`.
    Text(String),
}

impl From<u32> for Worker {
    fn from(id: u32) -> Worker {
        Worker::Id(id.into())
    }
}

impl From<RangeInclusive<u32>> for Worker {
    fn from(ids: RangeInclusive<u32>) -> Worker {
        Worker::Range { first: (*ids.start()).into(), last: (*ids.end()).into() }
    }
}

impl From<Range<u32>> for Worker {
    fn from(ids: Range<u32>) -> Worker {
        Worker::Range { first: ids.start.into(), last: i64::from(ids.end) - 1 }
    }
}

impl From<&str> for Worker {
    fn from(text: &str) -> Worker {
        Worker::Text(text.into())
    }
}

impl From<String> for Worker {
    fn from(text: String) -> Worker {
        Worker::Text(text)
    }
}

/// The worker ids a generator may claim, checked: `first..=last`, one when they are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkerIds {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl WorkerIds {
    /// `name`: what the user wrote it as, the option or the environment's variable.
    pub(crate) fn parse(name: &str, worker: &Worker, layout: &Layout) -> Result<WorkerIds> {
        let bad = |shown: String| Error::invalid(name, shown, allowed("worker"));
        let most = layout.max_worker_id();
        let (first, last, shown) = match worker {
            Worker::Id(id) => (*id, *id, id.to_string()),
            Worker::Range { first, last } => (*first, *last, format!("{first}-{last}")),
            Worker::Text(text) => {
                let (first, last) = parse_text(text).ok_or_else(|| bad(format!("{text:?}")))?;
                (first, last, format!("{text:?}"))
            }
        };
        if first > last {
            return Err(bad(format!("the empty range {shown}")));
        }
        match (u32::try_from(first), u32::try_from(last)) {
            (Ok(first), Ok(last)) if last <= most => Ok(WorkerIds { first, last }),
            _ => {
                let allowed = format!("{}, here 0 to {most} ({layout})", allowed("worker"));
                Err(Error::invalid(name, shown, &allowed))
            }
        }
    }

    pub(crate) fn is_range(&self) -> bool {
        self.first != self.last
    }
}

fn parse_text(text: &str) -> Option<(i64, i64)> {
    let number = |digits: &str| {
        let digits_only = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if digits_only { digits.parse::<i64>().ok() } else { None }
    };
    match text.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(text).map(|id| (id, id)),
    }
}
