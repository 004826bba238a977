//! One call for ids: the ids that it has so far, and its wait for the others.
//!
//! Construct: [`PendingTake::new`]. Polls: [`PendingTake::try_step`], [`PendingTake::poll`], which is woken, and
//! [`PendingTake::complete`], which waits. Events: [`PendingTake::write`], its drop. Query: [`PendingTake::is_late`].
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | short of ids | a poll finds all of them | complete |
//! | short of ids | a poll finds some, or none | short of ids: a fetch is wanted; with some its time begins anew |
//! | short of ids | other calls took the ids of a fetch, and it has waited for 50 ms | first: it gets ids before the buffer |
//! | short of ids, first | its time is over, the source refuses, or the tag is closed | ended by the error |
//! | any | a poll in a forked child | short of all ids: those that it had belong to the parent |
//! | complete | it is written | ended |
//! | any | it is dropped | ended: the ids that it still has are put back |

use super::fetch_errors::closed;
use super::fetcher::Fetcher;
use super::tag::Tag;
use super::tag_state::{TagState, Wake};
use crate::os;
use crate::tasks::fetch_pool::{self, TimerKey};
use crate::tasks::interrupt::{self, Interrupted};
use leafid_core::{Code, Empty, Error, Result, Run, push_zeroes};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of ids by which a list grows, 8 KiB.
const AT_ONCE: usize = 1024;

/// After this time a wait checks whether to give up, and whether there are threads to end the wait.
const SLICE: Duration = Duration::from_millis(50);

/// A running call for ids. If it is dropped before it is complete, it puts back its ids.
#[doc(hidden)]
pub struct PendingTake {
    tag: Tag,
    /// The fork generation in which its ids were taken.
    generation: u64,
    runs: SmallVec<[Run; 4]>,
    left: usize,
    count: usize,
    timeout: Duration,
    deadline: Instant,
    began: Instant,
    /// The number of fetches that had begun when its wait began. Their errors may be too old for it.
    ended: Option<u64>,
    /// The tag that wakes it, its number there, and its timer.
    subscribed: Option<Arc<TagState>>,
    number: Option<u64>,
    timer: Option<TimerKey>,
    /// Its number among the priority calls, and since when it waits.
    priority: Option<u64>,
    may_have_priority: bool,
    waits_since: Instant,
}

/// The wait of a call that does not have all its ids yet.
struct Waits {
    fetcher: Arc<Fetcher>,
    tag_state: Arc<TagState>,
    seen: u32,
}

impl PendingTake {
    pub(crate) fn new(tag: Tag, count: usize, timeout: Duration) -> PendingTake {
        let began = Instant::now();
        PendingTake {
            tag,
            generation: os::process::generation(),
            runs: SmallVec::new(),
            left: count,
            count,
            timeout,
            deadline: began + timeout,
            began,
            ended: None,
            subscribed: None,
            number: None,
            timer: None,
            priority: None,
            may_have_priority: true,
            waits_since: began,
        }
    }

    /// For the queue of a binding, which has other calls behind this one: it never gets priority.
    pub fn never_first(mut self) -> PendingTake {
        self.may_have_priority = false;
        self
    }

    /// Whether it timed out.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Takes the ids in memory; returns `None` if the call has all its ids. Errors: `closed`; a refusal of the source.
    fn step(&mut self) -> Result<Option<Waits>> {
        if self.count == 0 && self.tag.is_closed() {
            return Err(closed());
        }
        loop {
            let generation = os::process::generation();
            if generation != self.generation {
                // The ids that were taken belong to the parent.
                self.runs.clear();
                (self.left, self.generation, self.ended) = (self.count, generation, None);
                // Its number belongs to the parent's table.
                (self.number, self.timer, self.priority) = (None, None, None);
            }
            if self.left == 0 {
                return Ok(None);
            }
            let (fetcher, tag_state) = self.tag.process()?;
            let seen = tag_state.version();
            if let Some(number) = self.priority {
                self.receive(&tag_state, tag_state.take_served(number));
                if self.left == 0 {
                    continue;
                }
            }
            let taken = tag_state.buffer.take_many(self.left);
            if generation != os::process::generation() {
                continue;
            }
            match taken {
                Ok((run, wants_fetch)) => {
                    self.receive(&tag_state, [run]);
                    if wants_fetch {
                        self.tag.fetch_ahead();
                    }
                }
                Err(Empty::Sealed) => return Err(closed()),
                Err(Empty::UsedUp) => {
                    may_fetch(&tag_state.name)?;
                    let Some(progress) = fetcher.want(&tag_state, Some(self.left)) else { continue };
                    if progress.refilled {
                        continue;
                    }
                    let fresh = self.ended.is_some_and(|before| progress.ended > before);
                    match progress.refused {
                        Some(error) if fresh || !progress.awaited => return Err(error),
                        _ => {}
                    }
                    if self.ended.is_none() {
                        self.ended = Some(progress.begun);
                        self.waits_since = Instant::now();
                        tag_state.locked(|state| state.waits += 1);
                    } else if self.may_have_priority && fresh && self.waits_since.elapsed() >= SLICE {
                        // Other calls were faster than this one. From here on it has priority.
                        self.priority = tag_state.prioritize(self.priority, self.left);
                    }
                    return Ok(Some(Waits { fetcher, tag_state, seen }));
                }
            }
        }
    }

    fn receive(&mut self, tag_state: &TagState, runs: impl IntoIterator<Item = Run>) {
        for run in runs {
            self.end_wait(tag_state);
            self.left -= run.count;
            self.runs.push(run);
            self.priority = None;
            self.deadline = Instant::now() + self.timeout;
        }
    }

    /// Records the time of a wait, if there was one.
    fn end_wait(&mut self, tag_state: &TagState) {
        if self.ended.take().is_some() {
            tag_state.wait_times.add(self.waits_since.elapsed());
        }
    }

    /// Takes the ids in memory, without a wait, and returns whether the call has all its ids.
    pub(crate) fn try_step(&mut self) -> Result<bool> {
        Ok(match self.step()? {
            // Ids may have been put back.
            Some(waits) if waits.tag_state.version() != waits.seen => self.step()?.is_none(),
            waits => waits.is_none(),
        })
    }

    /// Waits until the call has all its ids. Returns `would_block` if `interrupted` returns true, and at once if the
    /// caller's thread may not wait that long.
    pub(crate) fn complete(&mut self, interrupted: Interrupted<'_>) -> Result<()> {
        while let Some(Waits { fetcher, tag_state, seen }) = self.step()? {
            let mut deadline = self.deadline;
            if let Some(most) = fetcher.settings.max_wait {
                if fetcher.is_deferred() || self.began.elapsed() >= most {
                    return Err(would_block(&fetcher, &tag_state));
                }
                deadline = deadline.min(self.began + most);
            } else if Instant::now() >= deadline {
                return Err(fetcher.late(&tag_state, self.timeout));
            }
            tag_state.wait(seen, deadline.saturating_duration_since(Instant::now()).min(SLICE));
            if interrupted() {
                return Err(interrupt::interrupted());
            }
        }
        Ok(())
    }

    /// Returns whether the call has all its ids. If not, `wake` is called once, when it is worth another poll. Errors:
    /// as for a call that waits.
    pub fn poll(&mut self, wake: impl FnOnce() + Send + 'static) -> Result<bool> {
        self.unsubscribe();
        let mut wake: Wake = Box::new(wake);
        while let Some(Waits { fetcher, tag_state, seen }) = self.step()? {
            let subscribed = tag_state.subscribe(seen, self.number, wake);
            // Checked last: its timer may have ended before this, and woken nobody.
            if self.is_late() {
                if let Ok(number) = subscribed {
                    tag_state.unsubscribe(number);
                }
                return Err(fetcher.late(&tag_state, self.timeout));
            }
            match subscribed {
                Ok(number) => {
                    self.number = Some(number);
                    if self.timer.map(|(time, _)| time) != Some(self.deadline) {
                        self.take_timer_back();
                        let tag_state = Arc::downgrade(&tag_state);
                        let wake = move || {
                            if let Some(tag_state) = tag_state.upgrade() {
                                tag_state.wake(number);
                            }
                        };
                        self.timer = Some(fetch_pool::schedule(self.deadline, Box::new(wake)));
                    }
                    self.subscribed = Some(tag_state);
                    return Ok(false);
                }
                // Something changed in between.
                Err(back) => wake = back,
            }
        }
        Ok(true)
    }

    fn take_timer_back(&mut self) {
        if let Some(due) = self.timer.take().filter(|_| self.generation == os::process::generation()) {
            fetch_pool::cancel(due);
        }
    }

    fn unsubscribe(&mut self) {
        if let (Some(tag_state), Some(number)) = (self.subscribed.take(), self.number) {
            tag_state.unsubscribe(number);
        }
    }

    /// Writes the ids of a complete call. Afterwards it checks the fork generation: in the child of a fork in between
    /// it returns false, and the ids must be taken again.
    #[must_use]
    #[inline]
    pub fn write(&mut self, out: &mut [i64]) -> bool {
        Run::write_all(&self.runs, out);
        self.is_ours()
    }

    /// As [`PendingTake::write`], at the end of a list. New memory is zeroed in pieces that stay in the cache until the
    /// ids are written; as a whole it would be written twice.
    #[must_use]
    #[inline]
    pub(super) fn append(&mut self, ids: &mut Vec<i64>) -> bool {
        for run in &self.runs {
            let mut left = *run;
            while left.count > 0 {
                let (begin, count) = (ids.len(), left.count.min(AT_ONCE));
                push_zeroes(ids, count);
                left.write(ids.split_at_mut(begin).1);
                // It wraps only behind the last id.
                left.first = left.first.wrapping_add(left.stride.wrapping_mul(count as i64));
                left.count -= count;
            }
        }
        self.is_ours()
    }

    fn is_ours(&mut self) -> bool {
        let ours = self.left == 0 && self.generation == os::process::generation();
        if ours {
            self.runs.clear();
        }
        ours
    }
}

impl Drop for PendingTake {
    fn drop(&mut self) {
        self.unsubscribe();
        self.take_timer_back();
        if let Some(number) = self.priority.filter(|_| self.generation == os::process::generation())
            && let Ok((_, tag_state)) = self.tag.process()
        {
            let runs = tag_state.take_served(number);
            self.receive(&tag_state, runs);
        }
        if (!self.runs.is_empty() || self.ended.is_some())
            && self.generation == os::process::generation()
            && let Ok((_, tag_state)) = self.tag.process()
        {
            self.end_wait(&tag_state);
            if !self.runs.is_empty() {
                tag_state.put_back(&self.runs);
            }
        }
    }
}

/// Whether this process and thread can have a source asked. Errors: `state_io`, because such a call would wait for
/// ever.
pub(super) fn may_fetch(name: &str) -> Result<()> {
    os::check_may_wait()?;
    match os::process::why_no_threads() {
        Some(why) => {
            Err(Error::new(Code::StateIo, format!("no id of the tag {name:?} is at hand, and {why}")))
        }
        None => Ok(()),
    }
}

/// For event loops: the error of a thread that may not wait.
fn would_block(fetcher: &Fetcher, tag_state: &TagState) -> Error {
    let why = match fetcher.is_deferred() {
        true => "its fetch needs this thread's event loop: return to it and call again, or await next",
        false => "its fetch is running: call again, or await next",
    };
    Error::new(Code::WouldBlock, format!("no id of the tag {:?} is at hand, and {why}", tag_state.name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::segments::SegmentsBuilder;
    use crate::segments::source::callback::SegmentSource;
    use std::sync::Mutex;

    #[test]
    fn a_call_has_one_timer_and_takes_it_along() {
        let replies = Mutex::<Vec<_>>::default();
        let source = SegmentSource::deferred(move |_, reply| crate::os::mutex::lock(&replies).push(reply));
        let ids = SegmentsBuilder::default().persist(false).name("timers").source(source).open().unwrap();
        let mut call = PendingTake::new(ids.tag("order").unwrap(), 1, Duration::from_secs(3_600));
        assert!(!call.poll(|| ()).unwrap());
        let due = call.timer.unwrap();
        assert!(fetch_pool::is_scheduled(due) && due.0 == call.deadline);
        assert!(!call.poll(|| ()).unwrap());
        assert_eq!(call.timer, Some(due), "it is the same");
        call.deadline += Duration::from_secs(1);
        assert!(!call.poll(|| ()).unwrap());
        let later = call.timer.unwrap();
        assert!(fetch_pool::is_scheduled(later) && !fetch_pool::is_scheduled(due));
        drop(call);
        assert!(!fetch_pool::is_scheduled(later));
    }
}
