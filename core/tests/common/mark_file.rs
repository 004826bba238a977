//! A mark file in memory, and the part of a host that carries out its updates.

use leafid_core::call::{CallId, FileAdvice};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::format::unused::MachineStart;
use leafid_core::supply::mark_read::{MarkKey, MarkRead};
use leafid_core::supply::mark_update::{MarkUpdate, MarkUpdated};
use leafid_core::{IdOrder, Result, Segment};

pub(crate) const PATH: &str = "/marks/m";
pub(crate) const NOW_MS: i64 = 1_800_000_000_000;
pub(crate) const ID: CallId = CallId(1);

pub(crate) fn key() -> MarkKey {
    MarkKey { source: "range:http://a".into(), tag: "order".into() }
}

pub(crate) fn segment(start: i64, end: i64) -> Segment {
    Segment::new(start, end, 1).unwrap()
}

pub(crate) fn start() -> MachineStart {
    MachineStart { machine: "this one".into(), boot: "this start".into() }
}

pub(crate) fn accept_of(order: IdOrder, after: i64, segments: &[Segment]) -> MarkUpdate {
    MarkUpdate::accept(ID, key(), Some(FileAdvice::StateDir), order, after, segments.to_vec())
}

pub(crate) fn accept(after: i64, start: i64, end: i64) -> MarkUpdate {
    accept_of(IdOrder::Ascending, after, &[segment(start, end)])
}

pub(crate) fn keep(rest: &[Segment]) -> MarkUpdate {
    MarkUpdate::keep_unused(ID, key(), FileAdvice::StateDir, start(), rest.to_vec())
}

pub(crate) fn take_in(start: MachineStart) -> MarkUpdate {
    MarkUpdate::take_unused(ID, key(), FileAdvice::StateDir, start)
}

pub(crate) fn take() -> MarkUpdate {
    take_in(start())
}

/// A file, and the clocks of its system.
#[derive(Clone)]
pub(crate) struct MarkFile {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) facts: FileFacts,
    /// The kernel's time of a write minus the clock, for each of the next writes; then 0.
    pub(crate) lags: Vec<i64>,
    /// The time that passes with each write.
    pub(crate) write_ms: i64,
    pub(crate) writes: usize,
    pub(crate) names: usize,
}

impl MarkFile {
    pub(crate) fn new() -> MarkFile {
        let facts = FileFacts { id: (1, 2), changed_ms: 0, now_ms: NOW_MS };
        MarkFile { bytes: None, facts, lags: Vec::new(), write_ms: 0, writes: 0, names: 0 }
    }

    /// Carries out an update as a host does.
    pub(crate) fn update(&mut self, mut update: MarkUpdate) -> MarkUpdated {
        if self.bytes.is_none() {
            let Some(initial) = update.initial().unwrap() else { return update.missing() };
            self.bytes = Some(initial.to_vec());
        }
        while self.step(&mut update) {}
        update.end()
    }

    /// Carries out one step; whether it was a write.
    pub(crate) fn step(&mut self, update: &mut MarkUpdate) -> bool {
        let file = self.bytes.as_mut().unwrap();
        let FileStep::Write { offset, bytes, syncs_name } = update.step(file, self.facts, PATH) else {
            return false;
        };
        file[offset..offset + SLOT_BYTES].copy_from_slice(&bytes[..]);
        let lag = if self.lags.is_empty() { 0 } else { self.lags.remove(0) };
        self.facts.changed_ms = self.facts.now_ms + lag;
        self.facts.now_ms += self.write_ms;
        self.writes += 1;
        self.names += usize::from(syncs_name);
        true
    }

    pub(crate) fn segments(&mut self, update: MarkUpdate) -> Result<Vec<Segment>> {
        Ok(self.update(update).into_segments()?.0)
    }

    pub(crate) fn mark(&self) -> i64 {
        let read = MarkRead::new(ID, key(), Some(FileAdvice::StateDir));
        read.end(self.bytes.as_deref(), PATH).into_result().unwrap()
    }

    /// The numbers of both slots.
    pub(crate) fn numbers(&self) -> [u64; 2] {
        [0, 1].map(|slot: usize| {
            let bytes = &self.bytes.as_ref().unwrap()[slot * SLOT_BYTES..][..SLOT_BYTES];
            let json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            json["number"].as_u64().unwrap()
        })
    }

    pub(crate) fn newest_slot(&self) -> usize {
        let [first, second] = self.numbers();
        usize::from(second > first)
    }

    pub(crate) fn damage(&mut self, slot: usize) {
        self.bytes.as_mut().unwrap()[slot * SLOT_BYTES + 30] ^= 1;
    }
}

/// A file of which 1 to 100 were accepted, and 61 to 100 stored at a close.
pub(crate) fn closed() -> MarkFile {
    let mut file = MarkFile::new();
    file.update(accept(0, 1, 101)).into_segments().unwrap();
    file.update(keep(&[segment(61, 101)])).into_segments().unwrap();
    file
}
