//! Runs of ids that are reserved in advance and issued one by one outside the buffer.

use super::call::may_fetch;
use super::fetch_errors::closed;
use super::tag::Tag;
use crate::os;
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
        let mut waited = false;
        loop {
            let generation = os::process::generation();
            let (fetcher, tag_state) = self.process()?;
            let seen = tag_state.version();
            let taken = tag_state.buffer.take_run(most);
            if generation != os::process::generation() {
                continue;
            }
            match taken {
                Ok((run, wants_fetch)) => {
                    if wants_fetch && os::check_may_wait().is_ok() {
                        fetcher.want(&tag_state, None);
                    }
                    return Ok(Some(ReservedRun { run, generation }));
                }
                Err(Empty::Sealed) => return Err(closed()),
                Err(Empty::UsedUp) if waited => return Ok(None),
                Err(Empty::UsedUp) => {
                    may_fetch(&tag_state.name)?;
                    let Some(progress) = fetcher.want(&tag_state, Some(need)) else { continue };
                    if let Some(error) = progress.refused.filter(|_| !progress.awaited) {
                        return Err(error);
                    }
                    // Ids may have been put back.
                    waited = true;
                    if tag_state.version() == seen {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// As [`Tag::take_run_for`], with a run of the length that the thread's use of the tag asks for.
    #[doc(hidden)]
    pub fn take_next_run(&self, length: &mut RunLength, need: usize) -> Result<Option<ReservedRun>> {
        let taken = self.take_run_for(length.next(), need)?;
        if let Some(reserved) = taken
            && let Some(((fetcher, _), _)) = self.process.load()
        {
            length.taken(reserved.run.count, fetcher.now_ms());
        }
        Ok(taken)
    }

    /// Ids from memory for a handle of one thread: at most `most`, and at most one of `parts` parts of their segment.
    pub(super) fn part_in_memory(&self, most: usize, parts: u64) -> Option<ReservedRun> {
        let ((_, tag_state), generation) = self.process.load()?;
        let (run, wants_fetch) = tag_state.buffer.take_part(most, parts).ok()?;
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
        if reserved.run.count > 0
            && reserved.is_ours()
            && let Ok((_, tag_state)) = self.process()
        {
            tag_state.put_back(&[reserved.run]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::segments::Segments;
    use crate::segments::simulated::Play;
    use leafid_core::{Code, Segment};

    #[test]
    fn ids_that_found_no_room_before_are_taken_at_once() {
        let play = Play::open(Segments::builder().step(10).adaptive(false), |_| {});
        let ids = Segment::new(1, 11, 1).unwrap();
        play.tag("order").locked(|state| state.pending.push_back(ids)).unwrap();
        let run = play.handle("order").take_run(5).unwrap().unwrap().run;
        assert_eq!((run.first, run.count), (1, 2), "those before the one that asks for more");
    }

    #[test]
    fn one_that_is_unknown_is_an_error_once_the_source_has_said_so() {
        let play = Play::open(Segments::builder().step(10).adaptive(false), |_| {});
        let order = play.handle("order");
        assert!(order.take_run(5).unwrap().is_none());
        play.work();
        assert!(order.take_run(5).unwrap().is_none(), "the source is asked");
        play.answer(Ok(None));
        assert_eq!(order.take_run(5).err().unwrap().code(), Code::UnknownTag);
    }
}
