//! The calls of a supply, as a host carries them out: [`HostCall`](crate::host_call::HostCall).

use crate::call_terms::{Answers, FileSeen, Found, HostEnd, HostKind};
use crate::module::{Result, Single};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use leafid_core::call::SharedFailure;
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{Call, CallEnd};
use leafid_core::{Code, Error, Fetched, IdOrder};

/// What this module remembers of what sources gave, in the order of their place, id space and tag: a store may be cleared.
static MEMORY: Single<Vec<(String, MemoryMark)>> = Single::new(Vec::new());

/// The marks of a supply.
pub(crate) struct Marks {
    /// Where they are, the id space, and the source.
    pub(crate) whose: String,
    pub(crate) order: IdOrder,
    /// Whether a store has them too.
    pub(crate) is_stored: bool,
}

impl Marks {
    /// What is remembered of a tag.
    fn with<R>(&self, tag: &str, action: impl FnOnce(&mut MemoryMark) -> R) -> R {
        // SAFETY: there is one thread, and no closure given here calls this.
        let memory = unsafe { &mut *MEMORY.get() };
        let key = format!("{}\n{tag}", self.whose);
        let at = memory.binary_search_by(|(known, _)| known.cmp(&key)).unwrap_or_else(|at| {
            memory.insert(at, (key, MemoryMark::new(self.order)));
            at
        });
        action(&mut memory[at].1)
    }
}

/// A call of a supply.
pub(crate) struct SupplyCall {
    call: Call,
    marks: Arc<Marks>,
    /// When a listing saw its last file.
    seen_ms: i64,
}

/// The end of a call for a mark in memory; or else the call.
pub(crate) fn without_host(call: Call, marks: &Marks) -> core::result::Result<CallEnd, Call> {
    let mut call = match call {
        Call::ReadMark(read) if !marks.is_stored => {
            let tag = Arc::clone(&read.key().tag);
            return Ok(marks.with(&tag, |mark| read.end_in_memory(Some(mark))).into());
        }
        Call::UpdateMark(update) if !marks.is_stored => {
            let tag = Arc::clone(&update.key().tag);
            return Ok(marks.with(&tag, |mark| update.end_in_memory(mark)).into());
        }
        other => other,
    };
    if let Call::UpdateMark(update) = &mut call
        && update.needs_memory()
    {
        let tag = Arc::clone(&update.key().tag);
        marks.with(&tag, |mark| update.recall(mark));
    }
    Err(call)
}

impl SupplyCall {
    pub(crate) fn new(call: Call, marks: &Arc<Marks>) -> SupplyCall {
        SupplyCall { call, marks: Arc::clone(marks), seen_ms: 0 }
    }

    /// What it asks for.
    pub(crate) fn request(&self, to: &mut Answers) -> HostKind {
        let (kind, text) = match &self.call {
            Call::Fetch(fetch) => {
                to.numbers.push(fetch.step as f64);
                to.texts.push(Some(fetch.after.to_string()));
                (HostKind::Fetch, fetch.tag.to_string())
            }
            Call::ReadMark(read) => (HostKind::Read, read.key().file_name()),
            Call::UpdateMark(update) => (HostKind::Update, update.key().file_name()),
            Call::ListMarks(list) => (HostKind::List, list.prefix()),
            // It is sent as a request; and the others are of other hosts.
            Call::Http(_) | Call::UpdateCounter(_) | Call::GiveBack(_) => (HostKind::Close, String::new()),
        };
        to.texts.push(Some(text));
        kind
    }

    /// The content of a new file.
    pub(crate) fn initial(&self) -> Result<Vec<u8>> {
        let initial = match &self.call {
            Call::UpdateMark(update) => update.initial()?,
            _ => None,
        };
        Ok(initial.map(Vec::from).unwrap_or_default())
    }

    /// The next step of a file. `is_first`: what was done before is undone.
    pub(crate) fn step(&mut self, seen: FileSeen, is_first: bool, found: &mut Found) -> FileStep {
        let Call::UpdateMark(update) = &mut self.call else {
            found.file = Some(seen);
            return FileStep::Done;
        };
        if is_first {
            update.begin_again();
        }
        update.step(&seen.bytes.unwrap_or_default(), FileFacts::of_store(seen.now_ms), seen.path)
    }

    /// A listing found a file.
    pub(crate) fn found(&mut self, name: &str, bytes: &[u8], now_ms: i64) {
        if let Call::ListMarks(list) = &mut self.call {
            list.add(name, bytes);
        }
        self.seen_ms = now_ms;
    }

    /// How it ended, in the host's words.
    pub(crate) fn end(self, how: HostEnd, found: Found) -> CallEnd {
        let SupplyCall { call, marks, seen_ms } = self;
        match (call, how) {
            (Call::Fetch(fetch), HostEnd::Fetched(segment)) => {
                fetch.end(segment.map(Fetched::from).map(Some)).into()
            }
            (Call::Fetch(fetch), HostEnd::No) => fetch.end(Ok(None)).into(),
            (Call::Fetch(fetch), HostEnd::Text(text)) => fetch.failed(&text).into(),
            (Call::ReadMark(read), HostEnd::Done) if found.file.is_some() => {
                let (bytes, path) = found.file.map(|file| (file.bytes, file.path)).unwrap_or_default();
                read.end(bytes.as_deref(), path).into()
            }
            (Call::ReadMark(read), HostEnd::Io(action, path, failure)) => {
                read.failed(path, &SharedFailure::Io(action, failure)).into()
            }
            (Call::UpdateMark(update), HostEnd::Done) => {
                let tag = Arc::clone(&update.key().tag);
                marks.with(&tag, |mark| update.end_recalled(mark)).into()
            }
            (Call::UpdateMark(update), HostEnd::Io(action, path, failure)) => {
                update.failed(path, &SharedFailure::Io(action, failure)).into()
            }
            (Call::ListMarks(list), HostEnd::Done) => list.end(seen_ms).into(),
            (Call::ListMarks(list), HostEnd::Io(_, path, failure)) => list.failed(path, &failure).into(),
            (call, HostEnd::Error(error)) => call.refused(error),
            (call, _) => {
                let message = "a call ended as one of another kind; report this";
                call.refused(Error::new(Code::Internal, message))
            }
        }
    }
}
