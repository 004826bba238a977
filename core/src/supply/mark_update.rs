//! A change of the mark of one tag: it stores what a source gave before any of its ids is used, stores the unused ids
//! of a clean close, or takes these at the next start.
//!
//! The host opens and locks the file, and makes a missing one with [`MarkUpdate::initial`]. Then it carries out the
//! steps: [`crate::format::file_steps`] has what a step is.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | asked | `recall`: what this process remembers refuses all segments | decided: that error |
//! | asked | `step`: the file is unreadable, of another tag, or refuses all segments | decided: that error |
//! | asked | `step`: nothing has to be changed | decided |
//! | asked | `step` | writes |
//! | writes | `step`: the write is not in the file | decided: `internal` |
//! | writes | `step`: unused ids, and the kernel's time of the write is another | writes again |
//! | writes | `step` | decided |
//! | asked | `step`, of an update in memory; `end_in_memory`, of an update of a file | decided, an end: `internal` |
//! | asked | `end_in_memory` | an end |
//! | asked | `missing` | an end: no ids are stored, and none were |
//! | writes, decided by a step | `begin_again` | asked |
//! | decided | `end`; `end_recalled`, which leaves out what this process remembers | an end |
//! | asked, writes | `end`, `end_recalled` | an end: `internal` |
//! | any | `failed` | an end: that error. The file may hold the change all the same |

use crate::call::{CallId, FileAdvice, Level, SharedFailure};
use crate::format::file_steps::{FileFacts, FileStep, SlotWrites};
use crate::format::mark::Mark;
use crate::format::shared::{self, Found};
use crate::format::two_slots::{self, FILE_BYTES};
use crate::format::unused::{MachineStart, UnusedSegments};
use crate::quoted::Quoted;
use crate::supply::mark_read::{MarkKey, misplaced};
use crate::supply::memory_mark::{Accepted, MemoryMark};
use crate::{Code, Error, IdOrder, Result, Segment};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

/// A change of the mark of one tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkUpdate {
    call: CallId,
    key: MarkKey,
    /// What a user can do about the file; `None` if the mark is in memory.
    advice: Option<FileAdvice>,
    change: MarkChange,
    state: UpdateState,
    notes: Vec<(Level, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum MarkChange {
    /// Segments that the source returned for `after`.
    Accept { order: IdOrder, after: i64, segments: Vec<Segment>, recalled: bool, refused: Option<Error> },
    /// Unused ids of an earlier clean close, to be used now.
    Take(MachineStart),
    /// Unused ids of this close.
    Keep(MachineStart, Vec<Segment>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum UpdateState {
    AskStep,
    Writes(Box<MarkWrites>),
    Decided(Result<MarkOutcome>),
    /// Decided, before any step.
    Refused(Error),
}

/// What is written, and what was done once that is durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MarkWrites {
    writes: SlotWrites,
    mark: Mark,
    outcome: MarkOutcome,
}

/// What a change did, durably.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MarkOutcome {
    Accepted(Accepted),
    /// They are gone from the file.
    Taken(Vec<Segment>),
    Kept,
}

/// How a change of a mark ended. Only a [`MarkUpdate`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkUpdated {
    pub(crate) call: CallId,
    pub(crate) result: Result<MarkOutcome>,
    /// Lines for the log.
    pub(crate) notes: Vec<(Level, String)>,
}

impl MarkUpdated {
    /// The segments whose ids may be used now, and why others may not. None for unused ids that were stored.
    pub fn into_segments(self) -> Result<(Vec<Segment>, Option<Error>)> {
        self.result.map(|outcome| match outcome {
            MarkOutcome::Accepted(accepted) => (accepted.segments, accepted.refused),
            MarkOutcome::Taken(segments) => (segments, None),
            MarkOutcome::Kept => (Vec::new(), None),
        })
    }

    /// Lines for the log.
    pub fn notes(&self) -> &[(Level, String)] {
        &self.notes
    }
}

impl MarkUpdate {
    fn new(call: CallId, key: MarkKey, advice: Option<FileAdvice>, change: MarkChange) -> MarkUpdate {
        MarkUpdate { call, key, advice, change, state: UpdateState::AskStep, notes: Vec::new() }
    }

    /// Stores segments that the source returned for `after`. No id of them may be used before the end. Without advice
    /// they are stored in memory alone: [`MarkUpdate::end_in_memory`] ends that.
    pub fn accept(
        call: CallId,
        key: MarkKey,
        advice: Option<FileAdvice>,
        order: IdOrder,
        after: i64,
        segments: Vec<Segment>,
    ) -> MarkUpdate {
        // In memory there is nothing else to remember.
        let recalled = advice.is_none();
        let change = MarkChange::Accept { order, after, segments, recalled, refused: None };
        MarkUpdate::new(call, key, advice, change)
    }

    /// Takes the unused ids that an earlier clean close in this start of the machine stored.
    pub fn take_unused(call: CallId, key: MarkKey, advice: FileAdvice, start: MachineStart) -> MarkUpdate {
        MarkUpdate::new(call, key, Some(advice), MarkChange::Take(start))
    }

    /// Stores unused ids for the next start, at most eight segments. This process must not have issued them, must not
    /// issue them later, and may not be a forked child of the one that fetched them.
    pub fn keep_unused(
        call: CallId,
        key: MarkKey,
        advice: FileAdvice,
        start: MachineStart,
        rest: Vec<Segment>,
    ) -> MarkUpdate {
        MarkUpdate::new(call, key, Some(advice), MarkChange::Keep(start, rest))
    }

    /// Whose mark it is.
    pub fn key(&self) -> &MarkKey {
        &self.key
    }

    /// The bytes of a new file, if a missing one is to be made. Errors: `internal`.
    pub fn initial(&self) -> Result<Option<[u8; FILE_BYTES]>> {
        match self.change {
            MarkChange::Accept { .. } => self.unused_file().map(Some),
            MarkChange::Take(_) | MarkChange::Keep(..) => Ok(None),
        }
    }

    fn unused_file(&self) -> Result<[u8; FILE_BYTES]> {
        let unused = Mark::unused(&self.key.source, &self.key.tag);
        two_slots::new_file(|number| shared::seal(number, &unused))
    }

    /// Whether [`MarkUpdate::recall`] comes before the first step: of ids in no order a file holds few spans, and this
    /// process remembers more.
    pub fn needs_memory(&self) -> bool {
        matches!(self.change, MarkChange::Accept { order: IdOrder::Sparse, recalled: false, .. })
    }

    /// Leaves out the segments that this process remembers.
    pub fn recall(&mut self, memory: &mut MemoryMark) {
        let MarkChange::Accept { after, segments, recalled: recalled @ false, refused, .. } =
            &mut self.change
        else {
            return;
        };
        *recalled = true;
        match memory.accept(segments, *after) {
            Ok(accepted) => (*segments, *refused) = (accepted.segments, accepted.refused),
            Err(error) => self.state = UpdateState::Refused(error),
        }
    }

    /// What the steps did is undone, and they begin again: a store may try a transaction more than once.
    pub fn begin_again(&mut self) {
        self.notes.clear();
        if !matches!(self.state, UpdateState::Refused(_)) {
            self.state = UpdateState::AskStep;
        }
    }

    /// The next step. `bytes` is all of the locked file as it is now.
    pub fn step(&mut self, bytes: &[u8], facts: FileFacts, path: impl Display) -> FileStep {
        let state = match core::mem::replace(&mut self.state, UpdateState::AskStep) {
            UpdateState::AskStep => self.changed(bytes, &facts, &path),
            UpdateState::Writes(under_way) => match under_way.writes.check(bytes, &path) {
                Ok(()) if under_way.writes.again(is_as_written(&under_way.mark, facts.changed_ms)) => {
                    Ok(UpdateState::Writes(under_way))
                }
                Ok(()) => Ok(UpdateState::Decided(Ok(under_way.outcome))),
                Err(error) => Err(error),
            },
            decided => Ok(decided),
        };
        let (step, state) = match state.and_then(|state| state.next_step(facts.now_ms)) {
            Ok((step, state)) => (step, state),
            Err(error) => (FileStep::Done, UpdateState::Decided(Err(error))),
        };
        self.state = state;
        step
    }

    /// What the file is to hold.
    fn changed(&mut self, bytes: &[u8], facts: &FileFacts, path: &dyn Display) -> Result<UpdateState> {
        if self.needs_memory() {
            return Err(self.left_out());
        }
        if self.advice.is_none() {
            return Err(misplaced(&self.key.tag));
        }
        let (found, number, spare) = shared::read::<Mark>(path, bytes)?;
        let mut mark = self.known(found, facts, path)?;
        let outcome = match &self.change {
            MarkChange::Accept { order, after, segments, refused, .. } => {
                let mut guard = mark.guard(*order, path)?;
                let accepted = Accepted::of(&mut guard, segments, *after)?;
                mark.remember(&guard, *order, facts.now_ms);
                let refused = accepted.refused.or_else(|| refused.clone());
                MarkOutcome::Accepted(Accepted { refused, ..accepted })
            }
            MarkChange::Take(start) => {
                let Some(kept) = mark.kept.take() else {
                    return Ok(UpdateState::Decided(Ok(MarkOutcome::Taken(Vec::new()))));
                };
                if !kept.is_since(start) {
                    let text = format!(
                        "the stored ids of {} are left out: the machine was restarted since, or is another one",
                        Quoted(&self.key.tag)
                    );
                    self.notes.push((Level::Info, text));
                }
                let valid = kept.valid(start, facts.id, facts.now_ms);
                MarkOutcome::Taken(valid.map(|kept| kept.segments()).unwrap_or_default())
            }
            MarkChange::Keep(_, rest) if rest.is_empty() => {
                return Ok(UpdateState::Decided(Ok(MarkOutcome::Kept)));
            }
            MarkChange::Keep(start, rest) => {
                // Another process of the directory may have closed just before.
                let others = mark.kept.take().and_then(|kept| kept.valid(start, facts.id, facts.now_ms));
                let kept = UnusedSegments::new(others, rest, start.clone(), facts.id, facts.now_ms);
                mark.kept = Some(kept);
                MarkOutcome::Kept
            }
        };
        Ok(UpdateState::Writes(Box::new(MarkWrites {
            writes: SlotWrites::new(number, spare),
            mark,
            outcome,
        })))
    }

    /// The content of the file, as far as it is valid.
    fn known(&mut self, found: Found<Mark>, facts: &FileFacts, path: &dyn Display) -> Result<Mark> {
        let mut mark = found.content;
        mark.check_whose(&self.key.source, &self.key.tag, path)?;
        mark.kept = mark.kept.filter(|kept| kept.is_as_written(facts.changed_ms));
        if found.damaged {
            // The unreadable slot may have said that the unused ids were taken.
            mark.kept = None;
            let text = format!(
                "one slot of {path} is damaged; the other one is used, and may not know the last segment"
            );
            self.notes.push((Level::Warn, text));
        }
        Ok(mark)
    }

    /// There is no such file, and none was to be made.
    pub fn missing(self) -> MarkUpdated {
        let result = match self.change {
            MarkChange::Take(_) => Ok(MarkOutcome::Taken(Vec::new())),
            MarkChange::Keep(..) => Ok(MarkOutcome::Kept),
            MarkChange::Accept { .. } => Err(self.left_out()),
        };
        self.ended(result)
    }

    /// The steps are done, and the file is closed.
    pub fn end(mut self) -> MarkUpdated {
        let result = match core::mem::replace(&mut self.state, UpdateState::AskStep) {
            UpdateState::Decided(result) => result,
            UpdateState::Refused(error) => Err(error),
            UpdateState::AskStep | UpdateState::Writes(_) => Err(self.left_out()),
        };
        self.ended(result)
    }

    /// As [`MarkUpdate::end`], for a store that may be cleared: leaves out what this process remembers, too. What was not
    /// stored is not remembered: its source may give it again.
    pub fn end_recalled(self, memory: &mut MemoryMark) -> MarkUpdated {
        let after = match self.change {
            MarkChange::Accept { after, recalled: false, .. } => after,
            _ => return self.end(),
        };
        let ended = self.end();
        let result = ended.result.and_then(|outcome| match outcome {
            MarkOutcome::Accepted(Accepted { segments, refused }) => {
                let known = memory.accept(&segments, after)?;
                let refused = refused.or(known.refused);
                Ok(MarkOutcome::Accepted(Accepted { refused, ..known }))
            }
            other => Ok(other),
        });
        MarkUpdated { result, ..ended }
    }

    /// Changes a mark in memory alone. Of an update of a file nothing is stored, and nothing may be used.
    pub fn end_in_memory(self, memory: &mut MemoryMark) -> MarkUpdated {
        let result = match &self.change {
            MarkChange::Accept { after, segments, .. } if self.advice.is_none() => {
                memory.accept(segments, *after).map(MarkOutcome::Accepted)
            }
            MarkChange::Accept { .. } | MarkChange::Take(_) | MarkChange::Keep(..) => {
                Err(misplaced(&self.key.tag))
            }
        };
        self.ended(result)
    }

    /// The steps could not be carried out.
    pub fn failed(self, path: impl Display, failure: &SharedFailure) -> MarkUpdated {
        let failed = self.advice.map(|advice| failure.error(path, advice));
        let error = failed.unwrap_or_else(|| misplaced(&self.key.tag));
        self.refused(error)
    }

    /// Another error came in between.
    pub fn refused(self, error: Error) -> MarkUpdated {
        self.ended(Err(error))
    }

    fn ended(self, result: Result<MarkOutcome>) -> MarkUpdated {
        MarkUpdated { call: self.call, result, notes: self.notes }
    }

    fn left_out(&self) -> Error {
        let message =
            format!("a step for the mark of tag {} was left out; report this", Quoted(&self.key.tag));
        Error::new(Code::Internal, message)
    }
}

impl UpdateState {
    /// The step to carry out, and the state afterwards.
    fn next_step(self, now_ms: i64) -> Result<(FileStep, UpdateState)> {
        let UpdateState::Writes(mut under_way) = self else { return Ok((FileStep::Done, self)) };
        if let Some(kept) = &mut under_way.mark.kept {
            kept.written_ms = now_ms;
        }
        let step = under_way.writes.write(&under_way.mark)?;
        Ok((step, UpdateState::Writes(under_way)))
    }
}

/// Whether the kernel's time of the last write is the recorded one. A mark without unused ids records none.
fn is_as_written(mark: &Mark, changed_ms: i64) -> bool {
    mark.kept.as_ref().is_none_or(|kept| kept.is_as_written(changed_ms))
}
