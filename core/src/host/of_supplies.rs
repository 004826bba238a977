//! The calls of a supply in the words of a host.

use super::host_terms::{FileSeen, HostEnd, HostFound, HostKind, HostRequest, of_another_kind};
use crate::call::SharedFailure;
use crate::format::file_steps::{FileFacts, FileStep};
use crate::supply::memory_mark::MemoryMark;
use crate::supply::{Call, CallEnd};
use crate::{Fetched, Result};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What it asks for.
pub(super) fn request(call: &Call, to: &mut HostRequest) {
    let (kind, text) = match call {
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
    to.kind = kind;
    to.texts.push(Some(text));
}

/// The content of a new file.
pub(super) fn initial(call: &Call) -> Result<Vec<u8>> {
    let initial = match call {
        Call::UpdateMark(update) => update.initial()?,
        _ => None,
    };
    Ok(initial.map(Vec::from).unwrap_or_default())
}

/// The next step of a file. `is_first`: what was done before is undone.
pub(super) fn step(call: &mut Call, seen: FileSeen, is_first: bool, found: &mut HostFound) -> FileStep {
    let Call::UpdateMark(update) = call else {
        found.file = Some(seen);
        return FileStep::Done;
    };
    if is_first {
        update.begin_again();
    }
    update.step(&seen.bytes.unwrap_or_default(), FileFacts::of_store(seen.now_ms), seen.path)
}

/// How it ended, in the host's words. `memory`: what the host remembers of the tag whose mark was changed.
pub(super) fn end(call: Call, how: HostEnd, found: HostFound, memory: Option<&mut MemoryMark>) -> CallEnd {
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
        (Call::UpdateMark(update), HostEnd::Done) => match memory {
            Some(memory) => update.end_recalled(memory).into(),
            None => update.end().into(),
        },
        (Call::UpdateMark(update), HostEnd::Io(action, path, failure)) => {
            update.failed(path, &SharedFailure::Io(action, failure)).into()
        }
        (Call::ListMarks(list), HostEnd::Done) => list.end(found.seen_ms).into(),
        (Call::ListMarks(list), HostEnd::Io(_, path, failure)) => list.failed(path, &failure).into(),
        (call, HostEnd::Error(error)) => call.refused(error),
        (call, _) => call.refused(of_another_kind()),
    }
}
