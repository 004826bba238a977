//! The marks of sources without a state directory, in the memory of this process.

use crate::os::mutex::lock_signal_safe;
use crate::os::{self, PerProcess};
use leafid_core::IdOrder;
use leafid_core::supply::memory_mark::MemoryMark;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// By source and tag.
type Marks = BTreeMap<(String, String), MemoryMark>;

/// A forked child starts with none, because its parent may have been changing them.
static MEMORY: PerProcess<Memory> = PerProcess::new();

struct Memory {
    generation: u64,
    marks: Mutex<Marks>,
}

/// Uses a mark, which is made at its first use. `whose`: its source or file, and its tag.
pub(super) fn with_mark<R>(
    whose: (String, String),
    order: IdOrder,
    action: impl FnOnce(&mut MemoryMark) -> R,
) -> R {
    let mut action = Some(action);
    loop {
        let memory = MEMORY
            .get_or_install(|| Memory { generation: os::process::generation(), marks: Mutex::default() });
        let use_it = |marks: &mut Marks| {
            let mark = marks.entry(whose.clone()).or_insert_with(|| MemoryMark::new(order));
            action.take().map(|action| action(mark))
        };
        // `None` after a fork in between: then the child creates its own.
        if let Some(Some(done)) = lock_signal_safe(&memory.marks, memory.generation, use_it) {
            return done;
        }
    }
}
