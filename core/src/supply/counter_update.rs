//! A fetch from a counter of `file:DIR`, which several processes of one host share: its steps, and what is durable
//! before the ids are used.
//!
//! A directory of counters is known by its marker. Nothing in it starts again by itself: a directory without its marker
//! is refused, and so is a new counter if an old one is missing.
//!
//! | State | The step that was carried out found | Next state |
//! | --- | --- | --- |
//! | asked | | looks at the marker |
//! | looks at the marker | none, or another directory's | decided: `unknown_tag`, `state_mismatch` |
//! | looks at the marker | this directory's | opens the counter |
//! | opens the counter | its content | writes |
//! | opens the counter | none, of a tag that the user did not name | lists tags for the message, then decided |
//! | opens the counter | none, of a tag that the user named | locks the marker |
//! | locks the marker | it is this directory's | counts the counters |
//! | counts the counters | a number | looks for the counter |
//! | looks for the counter | none, and fewer counters than were made | decided: `state_corrupt` |
//! | looks for the counter | any other | makes the counter |
//! | makes the counter | its content | counts again |
//! | counts again | the number in the marker | writes |
//! | counts again | another number | writes the marker, then writes |
//! | writes | the write, and another one is left | writes |
//! | writes | the last write | decided: the ids |
//! | any | a failure | decided: that error; a list of tags goes on without |
//!
//! A counter that is made or changed by hand goes from asked to locks the marker, and from there to makes the counter.

pub use super::counter_steps::{CounterDirectory, CounterInput, CounterStep, NamedCounter};
use super::fetch_texts::mixed_up;
use crate::call::{CallId, FileAdvice, Level};
use crate::format::counter::{Counter, Marker};
use crate::format::file_names::file_name;
use crate::format::file_steps::{FileStep, SlotWrites};
use crate::format::shared::{self, corrupt};
use crate::format::two_slots::{self, FILE_BYTES};
use crate::options::FileTag;
use crate::quoted::{Escaped, Quoted};
use crate::sorted::sorted;
use crate::{Code, Error, Fetched, Result};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Display;

/// The name of the file that identifies a directory of counters.
pub const MARKER: &str = "leafid-file.marker";
const PREFIX: &str = "tag-";
const SUFFIX: &str = ".counter";
/// How many tags a message names.
const SHOWN_TAGS: usize = 10;

/// A fetch from a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterUpdate {
    call: CallId,
    directory: Arc<CounterDirectory>,
    tag: Arc<str>,
    step: i64,
    after: i64,
    named: Option<NamedCounter>,
    /// It takes no ids.
    is_by_hand: bool,
    state: CounterState,
    notes: Vec<(Level, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CounterState {
    Asked,
    LooksAtMarker,
    OpensCounter,
    LocksMarker,
    Counts {
        marker: Box<LockedMarker>,
    },
    LooksForCounter {
        marker: Box<LockedMarker>,
        there: usize,
    },
    Makes {
        marker: Box<LockedMarker>,
    },
    CountsAgain {
        marker: Box<LockedMarker>,
        writes: Box<CounterWrites>,
    },
    WritesMarker {
        marker: Box<LockedMarker>,
        writes: Box<CounterWrites>,
    },
    Writes(Box<CounterWrites>),
    ListsTags,
    /// The files that are still to be read, the first one now.
    ReadsTags {
        names: VecDeque<String>,
        tags: Vec<String>,
    },
    Decided(Result<Brought>),
}

/// What an update brings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Brought {
    Ids(Fetched),
    Counter(Counter),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LockedMarker {
    content: Marker,
    writes: SlotWrites,
}

/// What is written to the counter, one after another, and what the fetch gets then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CounterWrites {
    writes: SlotWrites,
    contents: VecDeque<Counter>,
    result: Result<Brought>,
}

/// How a fetch from a counter ended. Only a [`CounterUpdate`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterUpdated {
    pub(crate) call: CallId,
    result: Result<Brought>,
    /// Lines for the log.
    pub(crate) notes: Vec<(Level, String)>,
}

impl CounterUpdated {
    /// The ids, and the step of the counter. The counter above them is durable.
    pub fn into_result(self) -> Result<Fetched> {
        match self.result? {
            Brought::Ids(fetched) => Ok(fetched),
            Brought::Counter(_) => Err(mixed_up()),
        }
    }

    /// The counter that was made or changed by hand, durably.
    pub fn into_counter(self) -> Result<Counter> {
        match self.result? {
            Brought::Counter(counter) => Ok(counter),
            Brought::Ids(_) => Err(mixed_up()),
        }
    }

    /// Lines for the log.
    pub fn notes(&self) -> &[(Level, String)] {
        &self.notes
    }
}

/// The name of the file of a tag's counter.
pub fn counter_file_name(tag: &str) -> String {
    format!("{PREFIX}{}{SUFFIX}", file_name(tag))
}

fn counters(names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

impl CounterUpdate {
    /// A fetch of `step` ids, or of as many as the counter says if it is 0 or less. If the counter is below `after`, as
    /// after a restore, they begin at `after`. `named`: how a missing counter is made.
    pub fn new(
        call: CallId,
        directory: Arc<CounterDirectory>,
        tag: Arc<str>,
        step: i64,
        after: i64,
        named: Option<NamedCounter>,
    ) -> CounterUpdate {
        let (is_by_hand, state, notes) = (false, CounterState::Asked, Vec::new());
        CounterUpdate { call, directory, tag, step, after, named, is_by_hand, state, notes }
    }

    /// The counter of a tag by hand: it is made as `new` says, also if another one is missing. An existing one is raised
    /// to this start if it is lower, and gets `step` if one is given.
    pub fn by_hand(
        directory: Arc<CounterDirectory>,
        tag: Arc<str>,
        new: FileTag,
        step: Option<i64>,
    ) -> CounterUpdate {
        let named = NamedCounter { start: new.start, step: step.unwrap_or(new.step), told: step.is_none() };
        let update = CounterUpdate::new(CallId(1), directory, tag, 0, new.start, Some(named));
        CounterUpdate { is_by_hand: true, ..update }
    }

    /// The next step, after `input`. `path` is that of the last step's file, for messages.
    pub fn step(&mut self, input: CounterInput<'_>, path: impl Display) -> CounterStep {
        let state = core::mem::replace(&mut self.state, CounterState::Asked);
        let (step, state) = match self.next(state, input, &path) {
            Ok(next) => next,
            Err(error) => (CounterStep::Done, CounterState::Decided(Err(error))),
        };
        self.state = state;
        step
    }

    fn next(
        &mut self,
        state: CounterState,
        input: CounterInput<'_>,
        path: &dyn Display,
    ) -> Result<(CounterStep, CounterState)> {
        use CounterInput::{Begin, Failed, Names, Read};
        use CounterState as At;
        let file = counter_file_name(&self.tag);
        Ok(match (state, input) {
            (At::Decided(result), _) => (CounterStep::Done, At::Decided(result)),
            (At::ListsTags, Failed(failure)) => {
                let error = failure.error(path, FileAdvice::Counters);
                return Err(self.unknown(&format!("its counters cannot be listed ({error})")));
            }
            (At::ListsTags, Names(names)) => {
                self.reads_tags(counters(names).cloned().collect(), Vec::new())?
            }
            (At::ReadsTags { mut names, mut tags }, input) => {
                names.pop_front();
                if let Read(Some(bytes)) = input {
                    tags.extend(self.tag_in(bytes, path));
                }
                self.reads_tags(names, tags)?
            }
            (_, Failed(failure)) => return Err(failure.error(path, FileAdvice::Counters)),
            (At::Asked, Begin) if self.is_by_hand => {
                (CounterStep::Open(MARKER.into(), None), At::LocksMarker)
            }
            (At::Asked, Begin) => (CounterStep::Peek(MARKER.into()), At::LooksAtMarker),
            (At::LooksAtMarker, Read(found)) => {
                self.marker(found, path)?;
                (CounterStep::Open(file, None), At::OpensCounter)
            }
            (At::OpensCounter, Read(Some(bytes))) => {
                let writes = self.taken(bytes, path)?;
                self.writes(writes)?
            }
            (At::OpensCounter, Read(None)) if self.named.is_some() => {
                (CounterStep::Open(MARKER.into(), None), At::LocksMarker)
            }
            (At::OpensCounter, Read(None)) => (CounterStep::List, At::ListsTags),
            (At::LocksMarker, Read(found)) => {
                let marker = Box::new(self.marker(found, path)?);
                match self.is_by_hand {
                    true => self.makes(file, marker)?,
                    false => (CounterStep::List, At::Counts { marker }),
                }
            }
            (At::Counts { marker }, Names(names)) => {
                let there = counters(names).count();
                (CounterStep::Peek(file), At::LooksForCounter { marker, there })
            }
            (At::LooksForCounter { marker, there }, Read(found)) => {
                let was = marker.content.counters;
                if found.is_none() && was > there {
                    let what = format!(
                        "missing, or another counter of its directory is, which has {there} of the {was} that were \
                         made there: {} may be one that was lost",
                        Quoted(&self.tag)
                    );
                    return Err(corrupt::<Counter>(path, what));
                }
                self.makes(file, marker)?
            }
            (At::Makes { marker }, Read(Some(bytes))) => {
                let writes = Box::new(self.taken(bytes, path)?);
                (CounterStep::List, At::CountsAgain { marker, writes })
            }
            (At::CountsAgain { mut marker, writes }, Names(names)) => {
                let there = counters(names).count();
                if there == marker.content.counters {
                    return self.writes(*writes);
                }
                marker.content.counters = there;
                let step = in_file(MARKER.into(), marker.writes.write(&marker.content)?);
                (step, At::WritesMarker { marker, writes })
            }
            (At::WritesMarker { marker, writes }, Read(Some(bytes))) => {
                marker.writes.check(bytes, path)?;
                self.writes(*writes)?
            }
            (At::Writes(writes), Read(Some(bytes))) => {
                writes.writes.check(bytes, path)?;
                self.writes(*writes)?
            }
            _ => return Err(self.left_out()),
        })
    }

    /// The marker of this directory. Errors: `unknown_tag` without one, `state_mismatch` for another directory's.
    fn marker(&self, found: Option<&[u8]>, path: &dyn Display) -> Result<LockedMarker> {
        let CounterDirectory { path: directory, name, id, created } = &*self.directory;
        let Some(bytes) = found else {
            let message = format!(
                "{directory} is not a directory of leafid counters: it has no {MARKER}; see that its disk is mounted, \
                 or, for a new one: leafid file create {directory}"
            );
            return Err(Error::new(Code::UnknownTag, message));
        };
        let (found, number, spare) = shared::read::<Marker>(path, bytes)?;
        if found.content.id != *id {
            let message = format!(
                "{directory} is another directory than the one that was opened: file:{}, made {}, in the place of \
                 {name}, made {created}; close and open again if that is meant",
                Escaped(&found.content.id),
                Escaped(&found.content.created)
            );
            return Err(Error::new(Code::StateMismatch, message));
        }
        Ok(LockedMarker { content: found.content, writes: SlotWrites::new(number, spare) })
    }

    fn makes(&self, file: String, marker: Box<LockedMarker>) -> Result<(CounterStep, CounterState)> {
        let new = Box::new(self.initial()?);
        Ok((CounterStep::Open(file, Some(new)), CounterState::Makes { marker }))
    }

    /// The bytes of a new counter.
    fn initial(&self) -> Result<[u8; FILE_BYTES]> {
        let NamedCounter { start, step, .. } = self.named.ok_or_else(|| self.left_out())?;
        let counter = Counter::new(self.directory.id.clone(), &self.tag, start, step);
        two_slots::new_file(|number| shared::seal(number, &counter))
    }

    /// What this fetch writes to the counter, and gets.
    fn taken(&mut self, bytes: &[u8], path: &dyn Display) -> Result<CounterWrites> {
        let (found, number, spare) = shared::read::<Counter>(path, bytes)?;
        let mut counter = found.content;
        counter.check_whose(&self.directory.id, &self.tag, path)?;
        let mut contents = VecDeque::new();
        if found.damaged {
            let (from, until) = counter.skip();
            let text = format!(
                "one slot of {path} is damaged, and may have held a later fetch: ids {from} to {until} are left out"
            );
            self.notes.push((Level::Warn, text));
            // In both slots: if the newer one is damaged later, the older one must not return its old value.
            contents.push_back(counter.clone());
        }
        if let Some(named) = self.named.filter(|named| !named.told) {
            counter.step = named.step;
        }
        let raised = counter.raise(self.after);
        if self.is_by_hand {
            // In both slots, because a raise may be larger than the ids that are skipped when one slot is damaged.
            contents.extend([counter.clone(), counter.clone()]);
            let result = Ok(Brought::Counter(counter));
            return Ok(CounterWrites { writes: SlotWrites::new(number, spare), contents, result });
        }
        if let Some(stood) = raised {
            let text = format!(
                "{path} stood at {stood}, and ids below {} were given before: it was raised, as after a restore",
                self.after
            );
            self.notes.push((Level::Warn, text));
            contents.push_back(counter.clone());
        }
        let segment = counter.take(self.step, path);
        let step = Some(counter.step);
        if segment.is_ok() {
            contents.push_back(counter);
        }
        let result = segment.map(|segment| Brought::Ids(Fetched { segment, step }));
        Ok(CounterWrites { writes: SlotWrites::new(number, spare), contents, result })
    }

    /// The next write, or the end.
    fn writes(&self, mut writes: CounterWrites) -> Result<(CounterStep, CounterState)> {
        let Some(content) = writes.contents.pop_front() else {
            return Ok((CounterStep::Done, CounterState::Decided(writes.result)));
        };
        let step = in_file(counter_file_name(&self.tag), writes.writes.write(&content)?);
        Ok((step, CounterState::Writes(Box::new(writes))))
    }

    /// The tag of another counter of this directory.
    fn tag_in(&self, bytes: &[u8], path: &dyn Display) -> Option<String> {
        let (found, ..) = shared::read::<Counter>(path, bytes).ok()?;
        let tag = found.content.tag();
        found.content.check_whose(&self.directory.id, tag, path).ok()?;
        Some(tag.into())
    }

    /// Reads the next of these files, or fails with the tags of all.
    fn reads_tags(&self, names: VecDeque<String>, tags: Vec<String>) -> Result<(CounterStep, CounterState)> {
        if let Some(name) = names.front() {
            return Ok((CounterStep::Peek(name.clone()), CounterState::ReadsTags { names, tags }));
        }
        let tags = sorted(tags);
        let shown: Vec<String> = tags.iter().take(SHOWN_TAGS).map(|tag| format!("{}", Quoted(tag))).collect();
        let more = match tags.len().saturating_sub(SHOWN_TAGS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(self.unknown(&match tags.is_empty() {
            true => "it has none".into(),
            false => format!("it has {}{more}", shown.join(", ")),
        }))
    }

    fn unknown(&self, known: &str) -> Error {
        let path = &self.directory.path;
        let message = format!(
            "{path} has no counter of the tag {}; {known}. Name it in tags, or make it by: leafid file create {path} \
             --tag {}",
            Quoted(&self.tag),
            self.tag
        );
        Error::new(Code::UnknownTag, message)
    }

    /// The steps are done, and all files are closed.
    pub fn end(self) -> CounterUpdated {
        let result = match &self.state {
            CounterState::Decided(result) => result.clone(),
            _ => Err(self.left_out()),
        };
        CounterUpdated { call: self.call, result, notes: self.notes }
    }

    /// Another error came in between.
    pub fn refused(self, error: Error) -> CounterUpdated {
        CounterUpdated { call: self.call, result: Err(error), notes: self.notes }
    }

    fn left_out(&self) -> Error {
        let message =
            format!("a step for the counter of tag {} was left out; report this", Quoted(&self.tag));
        Error::new(Code::Internal, message)
    }
}

/// A step of one file, in a directory of several.
fn in_file(name: String, step: FileStep) -> CounterStep {
    match step {
        FileStep::Write { offset, bytes, syncs_name } => {
            CounterStep::Write { name, offset, bytes, syncs_name }
        }
        FileStep::Done => CounterStep::Done,
    }
}
