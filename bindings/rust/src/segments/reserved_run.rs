//! Runs of ids that are reserved in advance and issued one by one outside the buffer.

use super::call::may_fetch;
use super::tag::Tag;
use crate::os;
use leafid_core::supply::{Supply, closed};
use leafid_core::{Empty, Result, Run, RunLength};

/// Ids that were taken from the buffer and are issued later.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ReservedRun {
    /// The ids.
    pub run: Run,
    pub(super) generation: u64,
}

impl ReservedRun {
    /// Whether this process took it. If not, none of its ids may be issued.
    #[inline]
    pub fn is_ours(&self) -> bool {
        self.generation == os::process::generation()
    }
}

impl Tag {
    /// For bindings: up to `most` ids from memory, to be issued one by one. If there are none, returns `None` and
    /// starts a fetch. Errors: `closed`, `unknown_tag`.
    #[doc(hidden)]
    pub fn take_run(&self, most: usize) -> Result<Option<ReservedRun>> {
        self.take_run_for(most, 1)
    }

    /// As [`Tag::take_run`], for callers that wait for `need` ids.
    #[doc(hidden)]
    pub fn take_run_for(&self, most: usize, need: usize) -> Result<Option<ReservedRun>> {
        loop {
            let generation = os::process::generation();
            let (driver, of_process) = self.process()?;
            let taken = of_process.buffer.take_run(most);
            if generation != os::process::generation() {
                continue;
            }
            match taken {
                Ok((run, wants_fetch)) => {
                    if wants_fetch {
                        self.fetch_ahead();
                    }
                    return Ok(Some(ReservedRun { run, generation }));
                }
                Err(Empty::Sealed) => return Err(closed()),
                Err(Empty::UsedUp) => {
                    may_fetch(self.name())?;
                    let at_hand =
                        |supply: &mut Supply, clocks| supply.run_at_hand(of_process.id, most, need, clocks);
                    let Some(taken) = driver.with(at_hand) else { continue };
                    return Ok(taken?.map(|run| ReservedRun { run, generation }));
                }
            }
        }
    }

    /// As [`Tag::take_run_for`], with a run of the length that the thread's use of the tag asks for.
    #[doc(hidden)]
    pub fn take_next_run(&self, length: &mut RunLength, need: usize) -> Result<Option<ReservedRun>> {
        let taken = self.take_run_for(length.next(), need)?;
        if let Some(reserved) = taken
            && let Some(((driver, _), _)) = self.process.load()
        {
            length.taken(reserved.run.count, driver.now_ms());
        }
        Ok(taken)
    }

    /// Ids from memory for a handle of one thread: at most `most`, and at most one of `parts` parts of their segment.
    pub(super) fn part_in_memory(&self, most: usize, parts: u64) -> Option<ReservedRun> {
        let ((_, of_process), generation) = self.process.load()?;
        let (run, wants_fetch) = of_process.buffer.take_part(most, parts).ok()?;
        let reserved = ReservedRun { run, generation };
        if !reserved.is_ours() {
            return None;
        }
        if wants_fetch {
            self.fetch_ahead();
        }
        Some(reserved)
    }

    /// For bindings: puts back the unused ids of a run. In a forked child they belong to the parent.
    #[doc(hidden)]
    pub fn put_back(&self, reserved: ReservedRun) {
        if reserved.run.count > 0 {
            self.put_back_runs(&[reserved.run], reserved.generation);
        }
    }
}
