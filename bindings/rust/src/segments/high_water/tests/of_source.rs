//! The marks of one source, for tests that carry out the calls for them one by one.

use super::super::HighWaterMarks;
use crate::os::env::{Env, Sharing};
use leafid_core::call::{CallId, FileAdvice};
use leafid_core::format::unused::MachineStart;
use leafid_core::supply::MarkStore;
use leafid_core::supply::mark_read::{MarkKey, MarkList, MarkRead};
use leafid_core::supply::mark_update::MarkUpdate;
use leafid_core::{IdOrder, Result, Segment};
use std::path::Path;
use std::sync::Arc;

const CALL: CallId = CallId(1);
const ADVICE: FileAdvice = FileAdvice::StateDir;

/// The marks of the tags of one source.
pub(crate) struct MarksOfSource {
    marks: HighWaterMarks,
    source: Arc<str>,
}

impl MarksOfSource {
    pub(crate) fn new(
        env: Arc<Env>,
        directory: Option<&Path>,
        source: &str,
        order: IdOrder,
        sharing: impl Into<Sharing>,
    ) -> Result<MarksOfSource> {
        Ok(MarksOfSource {
            marks: HighWaterMarks::new(env, directory, order, sharing)?,
            source: source.into(),
        })
    }

    fn key(&self, tag: &str) -> MarkKey {
        MarkKey { source: Arc::clone(&self.source), tag: tag.into() }
    }

    fn advice(&self) -> Option<FileAdvice> {
        (self.marks.store() == MarkStore::Files).then_some(ADVICE)
    }

    /// The mark of a tag.
    pub(crate) fn after(&self, tag: &str) -> Result<i64> {
        let read = MarkRead::new(CALL, self.key(tag), self.advice());
        self.marks.read(read).into_result()
    }

    /// Stores what came for `after`. Returns the segments that were not given before.
    pub(crate) fn accept(&self, tag: &str, segments: &[Segment], after: i64) -> Result<Vec<Segment>> {
        let (key, order) = (self.key(tag), self.marks.order);
        let update = MarkUpdate::accept(CALL, key, self.advice(), order, after, segments.into());
        Ok(self.marks.update(update).into_segments()?.0)
    }

    /// As on a machine of this name with its own disk, because the machine of the tests may have no name.
    pub(crate) fn on_machine(mut self, machine: &str) -> MarksOfSource {
        if let Some(files) = &mut self.marks.files {
            files.start = Some(MachineStart { machine: machine.into(), boot: "one".into() });
        }
        self
    }

    /// Stores unused ids, where they can be.
    pub(crate) fn keep_unused(&self, tag: &str, rest: &[Segment]) -> Result<()> {
        let Some(start) = self.marks.machine_start() else { return Ok(()) };
        let update = MarkUpdate::keep_unused(CALL, self.key(tag), ADVICE, start, rest.into());
        self.marks.update(update).into_segments().map(drop)
    }

    /// Takes the stored unused ids of a tag.
    pub(crate) fn take_unused(&self, tag: &str) -> Result<Vec<Segment>> {
        let Some(start) = self.marks.machine_start() else { return Ok(Vec::new()) };
        let update = MarkUpdate::take_unused(CALL, self.key(tag), ADVICE, start);
        Ok(self.marks.update(update).into_segments()?.0)
    }

    /// The tags that were fetched lately.
    pub(crate) fn recent(&self) -> Result<Vec<String>> {
        self.marks.list(MarkList::new(CALL, Arc::clone(&self.source), ADVICE)).into_result()
    }
}
