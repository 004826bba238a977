//! The marks of supplies in the memory of the module, and the calls that need no host for that.

use crate::module::Single;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use leafid_core::IdOrder;
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{Call, CallEnd};

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
    pub(crate) fn with<R>(&self, tag: &str, action: impl FnOnce(&mut MemoryMark) -> R) -> R {
        // SAFETY: there is one thread, and no closure given here calls this.
        action(self.found(unsafe { &mut *MEMORY.get() }, tag))
    }

    #[inline(never)]
    fn found<'m>(&self, memory: &'m mut Vec<(String, MemoryMark)>, tag: &str) -> &'m mut MemoryMark {
        let key = format!("{}\n{tag}", self.whose);
        let at = memory.binary_search_by(|(known, _)| known.cmp(&key)).unwrap_or_else(|at| {
            memory.insert(at, (key, MemoryMark::new(self.order)));
            at
        });
        &mut memory[at].1
    }
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
