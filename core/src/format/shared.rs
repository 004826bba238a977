//! The format of a file that processes share: a head with its kind, and a content of that kind.

use crate::format::two_slots::{self, Newest, SLOT_BYTES};
use crate::quoted::Quoted;
use crate::{Code, Error, Result};
use alloc::format;
use core::fmt::Display;
use core::ops::RangeInclusive;
use serde::Serialize;

pub use crate::json::{JsonResult, Object};

const FORMAT: i64 = 1;

/// The kernel's time of a write minus the clock: earlier by one tick of its timer, or a little later.
const STAMP_TOLERANCE_MS: RangeInclusive<i64> = -10..=3;

/// Whether the kernel's time of a file's last change is the time of the write that its content records.
///
/// Within the tolerance no program can have copied the file, used its content and put the copy back.
pub fn is_stamp_of(changed_ms: i64, written_ms: i64) -> bool {
    STAMP_TOLERANCE_MS.contains(&changed_ms.saturating_sub(written_ms))
}

/// The content of a shared file. Every value fits into a slot.
pub trait Content: Serialize + Sized {
    /// The name of this kind of file, in its slots and in messages.
    const KIND: &'static str;
    /// What to do when the file is damaged.
    const ADVICE: &'static str;

    /// Reads its fields. What else a slot has is ignored.
    fn read(slot: &Object<'_>) -> JsonResult<Self>;
}

/// The content that was read from a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found<C> {
    /// What the newest slot holds.
    pub content: C,
    /// Whether the other slot is unreadable. It may have held a later write.
    pub damaged: bool,
}

#[derive(Serialize)]
struct SlotContent<'c, C> {
    leafid: &'static str,
    format: i64,
    number: u64,
    #[serde(flatten)]
    content: &'c C,
}

/// The bytes of a slot. Errors: `internal` for a content that does not fit.
pub fn seal<C: Content>(number: u64, content: &C) -> Result<[u8; SLOT_BYTES]> {
    two_slots::seal(&SlotContent { leafid: C::KIND, format: FORMAT, number, content })
}

/// Reads the bytes of the file at `path`: its content, the number of the newest slot, and the slot to write next.
///
/// Errors: `state_corrupt`, also for another kind of file; `state_mismatch` for another format.
pub fn read<C: Content>(path: impl Display, bytes: &[u8]) -> Result<(Found<C>, u64, usize)> {
    let Newest { number, slot, spare, damaged } =
        two_slots::newest(bytes, C::KIND).map_err(|what| corrupt::<C>(&path, what))?;
    let foreign = |why| corrupt::<C>(&path, format_args!("not as it was written: {why}"));
    let leafid = slot.text("leafid").map_err(foreign)?;
    let format = slot.integer("format").map_err(foreign)?;
    if leafid != C::KIND {
        return Err(corrupt::<C>(
            &path,
            format_args!("a leafid {} file, not a {} file", Quoted(&leafid), C::KIND),
        ));
    }
    if format != FORMAT {
        let message = format!(
            "{path} was written in format {format}, this leafid reads {FORMAT}; use the version that wrote it"
        );
        return Err(Error::new(Code::StateMismatch, message));
    }
    let content = C::read(&slot).map_err(foreign)?;
    Ok((Found { content, damaged }, number, spare))
}

/// `state_corrupt` with the damage and what to do.
pub fn corrupt<C: Content>(path: impl Display, what: impl Display) -> Error {
    Error::new(Code::StateCorrupt, format!("{path} is {what}; nothing was changed. {}", C::ADVICE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_clock_has_are_no_stamp() {
        for (changed_ms, written_ms) in [(1_800_000_000_000, i64::MIN), (-1, i64::MAX), (i64::MIN, i64::MAX)]
        {
            assert!(!is_stamp_of(changed_ms, written_ms));
        }
        assert!(is_stamp_of(1_000, 1_000) && is_stamp_of(1_003, 1_000) && !is_stamp_of(1_004, 1_000));
    }
}
