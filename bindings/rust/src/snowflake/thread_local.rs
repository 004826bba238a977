//! Handles of one thread's, and ids one after another.

use crate::Snowflake;
use crate::os;
use leafid_core::{Result, Run};

/// How many ids a handle of one thread's takes at a time.
const RUN: usize = 128;
/// A run that was taken longer ago is given up: its ids say when they were taken.
const STALE_MS: i64 = 20;

impl Snowflake {
    /// Ids without end; each is a [`Snowflake::next`].
    pub fn iter(&self) -> Ids<'_> {
        Ids { flake: self }
    }

    /// A handle for one thread, which takes ids 128 at a time and so seldom meets other threads.
    ///
    /// Its own ids increase; against those of other handles they may be out of order by as many as 20 ms. What is left
    /// of a run is given up after that time, or when the handle is dropped. In a forked child nothing of a run taken
    /// before is issued.
    pub fn local(&self) -> Local {
        Local { flake: self.clone(), run: Run { first: 0, stride: 0, count: 0 }, taken: (0, 0) }
    }
}

/// Ids without end, of [`Snowflake::iter`].
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    flake: &'a Snowflake,
}

impl Iterator for Ids<'_> {
    type Item = Result<i64>;

    #[inline]
    fn next(&mut self) -> Option<Result<i64>> {
        Some(self.flake.next())
    }
}

impl<'a> IntoIterator for &'a Snowflake {
    type Item = Result<i64>;
    type IntoIter = Ids<'a>;

    fn into_iter(self) -> Ids<'a> {
        self.iter()
    }
}

/// One thread's handle of a snowflake, of [`Snowflake::local`].
#[derive(Debug)]
pub struct Local {
    flake: Snowflake,
    /// What is left of the ids taken.
    run: Run,
    /// The process that took them, and when, by the coarse clock.
    taken: (u64, i64),
}

impl Local {
    /// Issues one id, larger than every one before it from this handle. Errors: as [`Snowflake::next`].
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<i64> {
        let (process, taken_ms) = self.taken;
        let fresh = (crate::os::clock::coarse_ms() - taken_ms).unsigned_abs() <= STALE_MS as u64;
        if self.run.count == 0 || !fresh || self.flake.is_closed() {
            return self.take_run();
        }
        let id = self.run.first;
        self.run.first = id.wrapping_add(self.run.stride);
        self.run.count -= 1;
        // After the step, as for every id: in a forked child the run is the parent's.
        if process == os::process::generation() { Ok(id) } else { self.take_run() }
    }

    #[cold]
    fn take_run(&mut self) -> Result<i64> {
        self.run.count = 0;
        let taken_ms = crate::os::clock::coarse_ms();
        let (run, process) = self.flake.reserve(RUN)?;
        self.taken = (process, taken_ms);
        self.run = Run { first: run.first.wrapping_add(run.stride), count: run.count - 1, ..run };
        Ok(run.first)
    }
}
