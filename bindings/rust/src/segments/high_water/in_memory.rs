//! The marks of sources without a state directory, in the memory of this process.

use super::Accepted;
use crate::os::mutex::lock_signal_safe;
use crate::os::{self, PerProcess};
use leafid_core::format::mark::MOST_SPANS;
use leafid_core::{Guard, IdOrder, MOST_SPANS_IN_MEMORY, Result, Segment};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// By source name and by tag.
type Guards = BTreeMap<String, BTreeMap<Box<str>, Guard>>;

/// A forked child starts with none, because its parent may have been changing them.
static MEMORY: PerProcess<Memory> = PerProcess::new();

struct Memory {
    generation: u64,
    guards: Mutex<Guards>,
}

/// As [`super::HighWaterMarks::after`].
pub(crate) fn after(source: &str, tag: &str) -> i64 {
    with_guards(|guards| guards.get(source).and_then(|guards| guards.get(tag)).map_or(0, Guard::mark))
}

/// As [`super::HighWaterMarks::accept`], but nothing survives the process.
pub(crate) fn accept(
    source: &str,
    tag: &str,
    order: IdOrder,
    segments: &[Segment],
    after: i64,
) -> Result<Accepted> {
    with_guards(|guards| {
        // With ascending ids the mark alone holds most of it. 10,000 idle tags must need little memory.
        let most = if order == IdOrder::Ascending { MOST_SPANS } else { MOST_SPANS_IN_MEMORY };
        let guard = guards.entry(source.to_owned()).or_default().entry(tag.into());
        let guard = guard.or_insert_with(|| Guard::resume(order, 0, Vec::new(), most));
        Accepted::of(guard, segments, after)
    })
}

fn with_guards<R>(mut action: impl FnMut(&mut Guards) -> R) -> R {
    loop {
        let memory = MEMORY
            .get_or_install(|| Memory { generation: os::process::generation(), guards: Mutex::default() });
        // `None` after a fork in between: then the child creates its own.
        if let Some(done) = lock_signal_safe(&memory.guards, memory.generation, &mut action) {
            return done;
        }
    }
}
