//! One call for ids: what it took from memory, and its ticket of the supply for the others.
//!
//! Construct: [`PendingTake::new`]. Polls: [`PendingTake::try_step`], [`PendingTake::poll`], which is woken, and
//! [`PendingTake::complete`], which waits. Events: [`PendingTake::begin_with`], [`PendingTake::write`], its drop. Query:
//! [`PendingTake::is_late`].
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | short of all ids | it begins with ids that its caller had | short of ids |
//! | short of ids | a poll finds all of them in memory | complete |
//! | short of ids | a poll finds the memory empty | waits, with a ticket that has its ids so far |
//! | waits | a poll, and the ticket was served | complete |
//! | of no ids | a poll finds ids in memory, or the ticket was served | complete: it took none of them |
//! | waits | a poll, and the ticket has failed | ended by the error; its ids were put back |
//! | any | a poll in a forked child | short of all ids: those that it had belong to the parent |
//! | complete | it is written | ended |
//! | any | it is dropped | ended: the ids that it still has are put back |

use super::supply_driver::{Found, SupplyDriver, Waiter};
use super::tag::Tag;
use crate::os::sync::Instant;
use crate::os::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};
use crate::os::{self, futex};
use crate::tasks::fetch_pool;
use crate::tasks::interrupt::Interrupted;
use leafid_core::run::Waiting;
use leafid_core::supply::{Ticket, Wish, closed};
use leafid_core::{Code, Empty, Error, Result, Run, push_zeroes};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;

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
    began: Instant,
    waits: Option<(Arc<SupplyDriver>, Ticket)>,
    /// It is complete only once there are ids, although it takes none.
    awaits: bool,
}

/// How a caller is woken: made when it has to wait.
type MakeWaiter<'a> = &'a mut dyn FnMut() -> Option<Waiter>;

impl PendingTake {
    pub(crate) fn new(tag: Tag, count: usize, timeout: Duration) -> PendingTake {
        PendingTake {
            tag,
            generation: os::process::generation(),
            runs: SmallVec::new(),
            left: count,
            count,
            timeout,
            began: Instant::now(),
            waits: None,
            awaits: false,
        }
    }

    /// A call that waits until there are ids, and leaves them where they are.
    pub(super) fn of_none(tag: Tag, timeout: Duration) -> PendingTake {
        let mut pending = PendingTake::new(tag, 0, timeout);
        pending.awaits = true;
        pending
    }

    /// Before its first poll: ids that its caller had, fewer than it wants. From now on they are the call's first ones.
    pub(super) fn begin_with(&mut self, run: Run, generation: u64) {
        (self.left, self.generation) = (self.count.saturating_sub(run.count), generation);
        self.runs.push(run);
    }

    /// Whether it timed out.
    pub fn is_late(&self) -> bool {
        self.began.elapsed() >= self.timeout
    }

    /// Takes the ids in memory, and returns whether the call has all its ids. Otherwise it has a ticket. Errors:
    /// `closed`; a refusal of the source; of one that waits also that its time is over. `blocks_at_most`: how long its
    /// thread may wait.
    fn step(&mut self, blocks_at_most: Option<Duration>, waiter: MakeWaiter<'_>) -> Result<bool> {
        if self.count == 0 && self.tag.is_closed() {
            return Err(closed());
        }
        loop {
            let generation = os::process::generation();
            if generation != self.generation {
                // The ids that were taken belong to the parent, and so does its ticket.
                self.runs.clear();
                (self.left, self.generation) = (self.count, generation);
                std::mem::forget(self.waits.take());
            }
            if let Some((driver, ticket)) = &self.waits {
                let Some(found) = driver.look(*ticket, waiter) else { continue };
                return self.found(found.map(|found| (found, None)));
            }
            if self.left == 0 && !self.awaits {
                return Ok(true);
            }
            let (driver, of_process) = self.tag.process()?;
            let taken = of_process.buffer.take_many(self.left);
            if generation != os::process::generation() {
                continue;
            }
            match taken {
                Ok((run, wants_fetch)) => {
                    self.left -= run.count;
                    self.runs.push(run);
                    self.awaits = false;
                    if wants_fetch {
                        self.tag.fetch_ahead();
                    }
                }
                Err(Empty::Sealed) => return Err(closed()),
                Err(Empty::UsedUp) => {
                    may_fetch(self.tag.name())?;
                    let had = std::mem::take(&mut self.runs).into_vec();
                    let wish = Wish { count: self.left, had, timeout: self.timeout, blocks_at_most };
                    let Some(found) = driver.wait(of_process.id, wish, waiter) else { continue };
                    return self.found(found.map(|found| (found, Some(driver))));
                }
            }
        }
    }

    fn found(&mut self, found: Result<(Found, Option<Arc<SupplyDriver>>)>) -> Result<bool> {
        let has_all = match found {
            Ok((Found::Waits(ticket), driver)) => {
                self.waits = driver.map(|driver| (driver, ticket)).or(self.waits.take());
                return Ok(false);
            }
            Ok((Found::Ids(runs), _)) => {
                (self.runs, self.left, self.awaits) = (runs.into(), 0, false);
                Ok(true)
            }
            Err(error) => {
                // It begins again if it is polled once more.
                self.left = self.count;
                Err(error)
            }
        };
        self.waits = None;
        has_all
    }

    /// Takes the ids in memory, without a wait, and returns whether the call has all its ids. If not, they are fetched.
    pub(crate) fn try_step(&mut self) -> Result<bool> {
        match self.step(Some(Duration::ZERO), &mut || None) {
            Err(error) if error.code() == Code::WouldBlock => Ok(false),
            has_all => has_all,
        }
    }

    /// Waits until the call has all its ids. Returns `would_block` if `interrupted` returns true, and at once if the
    /// caller's thread may not wait that long.
    pub(crate) fn complete(&mut self, interrupted: Interrupted<'_>) -> Result<()> {
        let most = self.tag.shared.settings.max_wait;
        let looks_after = most.map_or(self.timeout, |most| most.min(self.timeout));
        let mut word: Option<Arc<AtomicU32>> = None;
        loop {
            let mut waiter = || {
                let word = Arc::clone(word.get_or_insert_default());
                // It was woken for a ticket of the parent, where a fork ended that wait.
                word.store(0, Release);
                let wake = move || {
                    word.store(1, Release);
                    futex::wake(&word, 1);
                };
                Some(Waiter { wake: Box::new(wake), looks_after: Some(looks_after) })
            };
            if self.step(most, &mut waiter)? {
                return Ok(());
            }
            if let Some(word) = &word {
                // At its end it looks at once; once its time has started again, less and less often.
                let left = looks_after.abs_diff(self.began.elapsed());
                futex::wait(word, 0, left.clamp(Duration::from_millis(1), SLICE));
            }
            if interrupted() {
                return Err(Waiting::interrupted());
            }
            if word.as_ref().is_none_or(|word| word.load(Acquire) == 0) {
                fetch_pool::ensure_threads(true);
            }
        }
    }

    /// Returns whether the call has all its ids. If not, `wake` is called once, when it is worth another poll. Errors:
    /// as for a call that waits.
    pub fn poll(&mut self, wake: impl FnOnce() + Send + 'static) -> Result<bool> {
        let mut wake = Some(wake);
        let mut waiter = || Some(Waiter { wake: Box::new(wake.take()?), looks_after: None });
        self.step(None, &mut waiter)
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
                let (begin, piece) = (ids.len(), left.take_first(AT_ONCE));
                push_zeroes(ids, piece.count);
                piece.write(ids.split_at_mut(begin).1);
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
        if self.generation != os::process::generation() {
            std::mem::forget(self.waits.take());
            return;
        }
        if let Some((driver, ticket)) = self.waits.take() {
            driver.cancel(ticket);
        }
        if !self.runs.is_empty() {
            self.tag.put_back_runs(&self.runs, self.generation);
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
