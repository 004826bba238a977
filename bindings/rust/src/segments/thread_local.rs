//! Handles of a tag for one thread.

use super::reserved_run::ReservedRun;
use super::tag::Tag;
use leafid_core::segment::LONGEST_RUN;
use leafid_core::{Result, Run};

/// A handle reserves at most this part of a segment, so that a few handles do not hold all of a small segment.
const PARTS: u64 = 16;

impl Tag {
    /// Returns a handle for one thread. It reserves up to 256 ids at a time, at most a sixteenth of a segment, and so
    /// seldom contends with other threads.
    ///
    /// Its ids increase as those of [`Tag::next`] do, except for ids that were put back. Ids of different handles are
    /// in no order. No other thread can issue the ids that a handle reserved. When the handle is dropped, it puts its
    /// unused ids back, and other threads issue them. If the segments are closed before that, these ids are dropped. A
    /// forked child issues no id of a run that its parent reserved.
    pub fn local(&self) -> LocalTag {
        LocalTag {
            tag: self.clone(),
            reserved: ReservedRun { run: Run { first: 0, stride: 0, count: 0 }, generation: 0 },
        }
    }
}

/// A handle of a tag for one thread, from [`Tag::local`].
#[derive(Debug)]
pub struct LocalTag {
    tag: Tag,
    /// The unused ids of the run.
    reserved: ReservedRun,
}

impl LocalTag {
    /// Issues one id. Waits and errors: as [`Tag::next`].
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<i64> {
        let run = &mut self.reserved.run;
        if run.count == 0 || self.tag.is_closed() {
            return self.next_of_run();
        }
        let id = run.first;
        run.first = id.wrapping_add(run.stride);
        run.count -= 1;
        // Checked after the step, as for every id: in a forked child the run belongs to the parent.
        if self.reserved.is_ours() { Ok(id) } else { self.next_of_run() }
    }

    #[cold]
    #[inline(never)]
    fn next_of_run(&mut self) -> Result<i64> {
        self.reserved.run.count = 0;
        let Some(reserved) = self.tag.part_in_memory(LONGEST_RUN, PARTS) else { return self.tag.next() };
        self.reserved = reserved;
        Ok(self.reserved.run.take_first(1).first)
    }
}

impl Drop for LocalTag {
    fn drop(&mut self) {
        self.tag.put_back(self.reserved);
    }
}
