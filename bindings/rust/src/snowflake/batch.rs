//! Batches: many ids in one call.

use crate::Snowflake;
use crate::os;
use leafid_core::options::{check_n, no_memory};
use leafid_core::run::Waiting;
use leafid_core::{Result, Run, push_zeroes};
use smallvec::SmallVec;
use std::mem;
use std::time::{Duration, Instant};

/// How often a long batch calls `interrupted`.
const ASK: Duration = Duration::from_millis(50);

impl Snowflake {
    /// Issues `n` ids in increasing order, at most 2^24 of them.
    ///
    /// A batch that makes progress may last longer than `timeout_ms`. Errors: as [`Snowflake::next`], and
    /// `invalid_argument`; for `n` = 0 only `closed`.
    #[inline]
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.take_unless(n, &mut || false)
    }

    /// As [`Snowflake::take`], but returns `would_block` if `interrupted` returns true.
    #[doc(hidden)]
    #[inline]
    pub fn take_unless(&self, n: usize, interrupted: &mut dyn FnMut() -> bool) -> Result<Vec<i64>> {
        check_n(n)?;
        let mut ids: Vec<i64> = Vec::new();
        unforked(|| ids.try_reserve_exact(n)).map_err(|_| no_memory(n))?;
        push_zeroes(&mut ids, n);
        self.fill_unless(&mut ids, interrupted)?;
        Ok(ids)
    }

    /// Fills the slice with ids in increasing order, or writes none on an error. Errors: as [`Snowflake::take`].
    #[inline]
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        self.fill_unless(out, &mut || false)
    }

    /// As [`Snowflake::fill`], but returns `would_block` if `interrupted` returns true.
    #[doc(hidden)]
    // Inlined: the bindings are optimised for speed, the host for size.
    #[inline]
    pub fn fill_unless(&self, out: &mut [i64], interrupted: &mut dyn FnMut() -> bool) -> Result<()> {
        loop {
            let mut reserved = Reserved::default();
            self.reserve_all(out.len(), &mut reserved, interrupted)?;
            Run::write_all(&reserved.runs, out);
            // Checked again after the last id is written: after a fork in between, the child fills the slice again.
            if reserved.is_ours() {
                return Ok(());
            }
        }
    }

    /// Issues ids of one tick, at most `most` of them, as [`Snowflake::try_next`]. Errors: `invalid_argument`.
    #[doc(hidden)]
    pub fn try_run(&self, most: usize) -> Result<Option<Run>> {
        check_n(most)?;
        // The core reserves one at least.
        if most == 0 {
            return Ok(None);
        }
        Ok(self.at_hand(|core, now_ms| core.reserve(now_ms, most)))
    }

    fn reserve_all(
        &self,
        n: usize,
        reserved: &mut Reserved,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        check_n(n)?;
        reserved.generation = os::process::generation();
        if n == 0 {
            return self.check_open();
        }
        self.check_one_tick(n)?;
        let mut asked = Instant::now();
        let mut left = n;
        while left > 0 {
            let (run, generation) =
                self.step(interrupted, |generator, now_ms| generator.core.reserve(now_ms, left))?;
            if generation != reserved.generation {
                // A fork came in between: the runs reserved before it belong to the parent.
                reserved.runs.clear();
                reserved.generation = generation;
                left = n;
            }
            left -= run.count.min(left);
            reserved.push(run);
            if asked.elapsed() > ASK {
                asked = Instant::now();
                if interrupted() {
                    return Err(Waiting::interrupted());
                }
            }
        }
        Ok(())
    }

    /// Where a tick is longer than this thread may wait, a batch must fit into one tick; otherwise nothing is reserved.
    fn check_one_tick(&self, n: usize) -> Result<()> {
        if self.settings.max_wait.is_none() {
            return Ok(());
        }
        let generator = self.generator()?;
        let waiting = Waiting::new(self.settings.options.timeout, self.settings.max_wait);
        waiting.check_batch(&generator.core, n, generator.now_ms())
    }
}

/// Runs of ids, and the fork generation in which they were reserved.
#[derive(Default)]
struct Reserved {
    runs: SmallVec<[Run; 8]>,
    generation: u64,
}

impl Reserved {
    fn push(&mut self, run: Run) {
        if self.runs.len() == self.runs.capacity() {
            unforked(|| self.runs.reserve(64));
        }
        self.runs.push(run);
    }

    /// Whether they belong to this process.
    fn is_ours(&self) -> bool {
        self.generation == os::process::generation()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if self.runs.spilled() {
            unforked(|| drop(mem::take(&mut self.runs)));
        }
    }
}

/// Allocates or frees memory with signals blocked. Otherwise a signal handler may interrupt `malloc` and call the C
/// library's `fork`, which then waits for ever if the process has had a second thread.
fn unforked<T>(memory: impl FnOnce() -> T) -> T {
    os::without_signals(memory)
}
