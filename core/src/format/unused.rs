//! The unused segments of a tag, stored from a clean close to the next start.

use crate::Segment;
use crate::format::decimal::Triple;
use crate::format::shared;
use crate::json::{JsonResult, Object};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// A day in milliseconds: unused ids that are older are dropped.
pub const DAY_MS: i64 = 86_400_000;
/// The largest number of segments, which fit into a slot.
pub const MOST_SEGMENTS: usize = 8;

/// A start of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct MachineStart {
    /// The id of the machine.
    pub machine: String,
    /// The start.
    pub boot: String,
}

/// Unused segments and the facts that they depend on. A copy is another file, or a file of another machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct UnusedSegments {
    segments: Vec<Triple>,
    /// The time of the clock when the oldest of them were stored.
    kept_ms: i64,
    /// The time of the clock at the last write of the file.
    pub written_ms: i64,
    #[serde(flatten)]
    start: MachineStart,
    device: u64,
    inode: u64,
}

impl UnusedSegments {
    pub(crate) fn read(object: &Object<'_>) -> JsonResult<UnusedSegments> {
        Ok(UnusedSegments {
            segments: object
                .get("segments")?
                .list()?
                .into_iter()
                .map(Triple::read)
                .collect::<JsonResult<_>>()?,
            kept_ms: object.integer("kept_ms")?,
            written_ms: object.integer("written_ms")?,
            start: MachineStart { machine: object.text("machine")?, boot: object.text("boot")? },
            device: object.number("device")?,
            inode: object.number("inode")?,
        })
    }

    /// Joins the unused segments with `others`, which may still be used. Segments that do not fit are dropped. `file` is
    /// the device and the inode of the file.
    pub fn new(
        others: Option<UnusedSegments>,
        rest: &[Segment],
        start: MachineStart,
        file: (u64, u64),
        now_ms: i64,
    ) -> UnusedSegments {
        let kept_ms = others.as_ref().map_or(now_ms, |others| others.kept_ms);
        let mut segments = others.map(|others| others.segments).unwrap_or_default();
        segments.extend(rest.iter().copied().map(Triple));
        segments.truncate(MOST_SEGMENTS);
        UnusedSegments { segments, kept_ms, written_ms: now_ms, start, device: file.0, inode: file.1 }
    }

    /// Whether they were stored since this start of the machine.
    pub fn is_since(&self, start: &MachineStart) -> bool {
        self.start == *start
    }

    /// Returns itself if it may be used: in the same start of its machine, from its file, within a day, by a clock that
    /// did not go back.
    pub fn valid(self, start: &MachineStart, file: (u64, u64), now_ms: i64) -> Option<UnusedSegments> {
        let bound = self.is_since(start) && (self.device, self.inode) == file;
        let age_ms = now_ms.saturating_sub(self.kept_ms);
        (bound && (0..=DAY_MS).contains(&age_ms)).then_some(self)
    }

    /// Whether the kernel's time of the file's last change is the time of the write. A later copy, over the file or to
    /// its place, has another time.
    pub fn is_as_written(&self, changed_ms: i64) -> bool {
        shared::is_stamp_of(changed_ms, self.written_ms)
    }

    /// The segments.
    pub fn segments(&self) -> Vec<Segment> {
        self.segments.iter().map(|segment| segment.0).collect()
    }
}
