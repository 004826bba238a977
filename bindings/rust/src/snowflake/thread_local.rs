//! Handles for one thread, and the iterator of ids.

use crate::Snowflake;
use crate::os;
use leafid_core::{Result, Run};

/// The number of ids that a handle of one thread reserves at a time.
const RUN: usize = 128;
/// The age at which a run is dropped, because its ids contain the time of the reservation.
const STALE_MS: i64 = 20;

impl Snowflake {
    /// Returns an endless iterator of ids. Each item is the result of a [`Snowflake::next`].
    pub fn iter(&self) -> Ids<'_> {
        Ids { flake: self }
    }

    /// Returns a handle for one thread. It reserves 128 ids at a time and so seldom contends with other threads.
    ///
    /// Its ids increase. Ids of different handles may be out of order by up to 20 ms. Unused ids of a run are dropped
    /// after 20 ms, and when the handle is dropped. A forked child issues no id of a run that its parent reserved.
    pub fn local(&self) -> Local {
        Local { flake: self.clone(), run: Run { first: 0, stride: 0, count: 0 }, taken: (0, 0) }
    }
}

/// The endless iterator of [`Snowflake::iter`].
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

/// A handle of a snowflake for one thread, from [`Snowflake::local`].
#[derive(Debug)]
pub struct Local {
    flake: Snowflake,
    /// The unused ids of the run.
    run: Run,
    /// The fork generation of the process that reserved them, and the time by the coarse clock.
    taken: (u64, i64),
}

impl Local {
    /// Issues one id. It is larger than every earlier id of this handle. Errors: as [`Snowflake::next`].
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
        // Checked after the step, as for every id: in a forked child the run belongs to the parent.
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
