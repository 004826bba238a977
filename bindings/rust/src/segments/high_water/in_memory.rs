//! The marks of sources without a state directory, in the memory of this process.

use crate::os::mutex::lock_signal_safe;
use crate::os::{self, PerProcess};
use leafid_core::IdOrder;
use leafid_core::supply::mark_read::{MarkFound, MarkKey, MarkRead};
use leafid_core::supply::mark_update::{MarkUpdate, MarkUpdated};
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

/// As [`super::HighWaterMarks::read`].
pub(super) fn read(read: MarkRead) -> MarkFound {
    let whose = whose(read.key());
    let mut read = Some(read);
    with_marks(|marks| read.take().map(|read| read.end_in_memory(marks.get(&whose))))
}

/// As [`super::HighWaterMarks::update`], but nothing survives the process.
pub(super) fn update(update: MarkUpdate, order: IdOrder) -> MarkUpdated {
    let whose = whose(update.key());
    let mut update = Some(update);
    with_marks(|marks| {
        let mark = marks.entry(whose.clone()).or_insert_with(|| MemoryMark::new(order));
        update.take().map(|update| update.end_in_memory(mark))
    })
}

/// Uses a mark.
pub(super) fn with_mark<R>(
    whose: &(String, String),
    order: IdOrder,
    mut action: impl FnMut(&mut MemoryMark) -> R,
) -> R {
    with_marks(|marks| Some(action(marks.entry(whose.clone()).or_insert_with(|| MemoryMark::new(order)))))
}

fn whose(key: &MarkKey) -> (String, String) {
    (key.source.to_string(), key.tag.to_string())
}

fn with_marks<R>(mut action: impl FnMut(&mut Marks) -> Option<R>) -> R {
    loop {
        let memory = MEMORY
            .get_or_install(|| Memory { generation: os::process::generation(), marks: Mutex::default() });
        // `None` after a fork in between: then the child creates its own.
        if let Some(Some(done)) = lock_signal_safe(&memory.marks, memory.generation, &mut action) {
            return done;
        }
    }
}
