//! Handles of one thread's.

use super::reserved_run::ReservedRun;
use super::tag::Tag;
use leafid_core::{Result, Run};

/// How many ids a handle takes at a time, at most; and of a segment one of so many parts, so that a few handles do not
/// hold a small one.
const MOST: usize = 256;
const PARTS: u64 = 16;

impl Tag {
    /// A handle for one thread, which takes up to 256 ids at a time, at most a sixteenth of a segment, and so seldom meets
    /// other threads.
    ///
    /// Its own ids rise, as those of [`Tag::next`] do: but for ids that were put back. Against those of other handles they
    /// are in no order: what a handle took is issued whenever its thread asks for it, and no other thread can have it
    /// meanwhile. What is left is put back, and issued by others, when the handle is dropped; it is given up when the
    /// segments are closed before that. In a forked child nothing of a run taken before is issued.
    pub fn local(&self) -> LocalTag {
        LocalTag {
            tag: self.clone(),
            reserved: ReservedRun { run: Run { first: 0, stride: 0, count: 0 }, generation: 0 },
        }
    }
}

/// One thread's handle of a tag, of [`Tag::local`].
#[derive(Debug)]
pub struct LocalTag {
    tag: Tag,
    /// What is left of the ids taken.
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
        // After the step, as for every id: in a forked child the run is the parent's.
        if self.reserved.is_ours() { Ok(id) } else { self.next_of_run() }
    }

    #[cold]
    #[inline(never)]
    fn next_of_run(&mut self) -> Result<i64> {
        self.reserved.run.count = 0;
        let Some(ReservedRun { run, generation }) = self.tag.part_at_hand(MOST, PARTS) else {
            return self.tag.next();
        };
        let rest = Run { first: run.first.wrapping_add(run.stride), count: run.count - 1, ..run };
        self.reserved = ReservedRun { run: rest, generation };
        Ok(run.first)
    }
}

impl Drop for LocalTag {
    fn drop(&mut self) {
        self.tag.put_back(self.reserved);
    }
}
