//! The public handle of a generator.

use crate::Stats;
use crate::os::{self, PerProcess};
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::{existing_registry, registry};
use crate::snowflake::wait::Wait;
use crate::tasks::interrupt::Interrupted;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::{Action, Code, Error, Layout, Result, Run, Snowflake as Core};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst, fence,
};

/// A snowflake generator: unique 64-bit ids in nanoseconds, from any number of threads.
///
/// A clone is another handle of the same generator. The generator ends when its last handle is closed or dropped. In a
/// forked child, a handle claims its own worker id at its first use.
pub struct Snowflake {
    pub(crate) settings: Arc<SnowflakeSettings>,
    generator: PerProcess<Generator>,
    closed: AtomicBool,
    /// Whether `release` has already reported this handle as closed to the registry.
    released: AtomicBool,
}

impl Snowflake {
    pub(crate) fn open(settings: SnowflakeSettings, interrupted: Interrupted<'_>) -> Result<Snowflake> {
        let flake = Snowflake {
            settings: Arc::new(settings),
            generator: PerProcess::new(),
            closed: AtomicBool::new(false),
            released: AtomicBool::new(false),
        };
        if !flake.settings.options.lazy {
            flake.generator_unless(interrupted)?;
        }
        Ok(flake)
    }

    /// Issues one id. It is larger than every earlier id of this generator.
    ///
    /// When a tick is used up, it waits for the next tick. It also waits for a span that is not durable yet. It waits
    /// at most `timeout_ms`.
    ///
    /// Errors: `clock_backwards`, `before_epoch`, `time_exhausted`, `state_io`, `worker_lost`, `closed`; at the first
    /// call in a forked child, and where a lost lease cannot be claimed again, also those of
    /// [`SnowflakeBuilder::open`](crate::SnowflakeBuilder::open).
    #[inline]
    pub fn next(&self) -> Result<i64> {
        match self.try_next() {
            Some(id) => Ok(id),
            None => self.next_slowly(),
        }
    }

    /// Issues one id if that needs no wait, no new span and no claim. Otherwise returns `None`: then call
    /// [`Snowflake::next`].
    #[inline]
    pub fn try_next(&self) -> Option<i64> {
        self.at_hand(|core, now_ms| core.next(now_ms))
    }

    /// Runs one step of the core, if it needs no action.
    #[inline]
    pub(crate) fn at_hand<T>(
        &self,
        step: impl FnOnce(&Core, i64) -> std::result::Result<T, Action>,
    ) -> Option<T> {
        let (generator, generation) = self.generator.load()?;
        let watch = os::process::watch_generation()?;
        let made = step(&generator.core, generator.clock.now_ms()).ok()?;
        // Checked after the step: in a forked child the step changed a copy of the parent's generator.
        (watch.is_still(generation) && !self.closed.load(Relaxed)).then_some(made)
    }

    /// As [`Snowflake::next`], but returns `would_block` if `interrupted` returns true during a long wait.
    #[doc(hidden)]
    pub fn next_unless(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<i64> {
        self.step(interrupted, |generator, now_ms| generator.core.next(now_ms)).map(|(id, _)| id)
    }

    /// The statistics of the generator. Errors: `closed`; at the first call in a forked child also those of opening.
    pub fn stats(&self) -> Result<Stats> {
        let generator = self.generator()?;
        Ok(Stats::of(generator, registry().handles(&generator.driver)))
    }

    /// The worker id that is held. Errors: as [`Snowflake::stats`].
    pub fn worker_id(&self) -> Result<u32> {
        Ok(self.generator()?.worker_id())
    }

    /// Whether [`Snowflake::stats`] and [`Snowflake::worker_id`] claim a worker id first, for which they may wait.
    #[doc(hidden)]
    pub fn is_unclaimed(&self) -> bool {
        !self.is_closed() && self.generator.get().is_none()
    }

    /// For messages, without a claim: `worker_id=7`, `closed`, or `unclaimed`.
    #[doc(hidden)]
    pub fn held(&self) -> String {
        match self.generator.get().filter(|_| !self.is_closed()) {
            Some(generator) => format!("worker_id={}", generator.worker_id()),
            None => if self.is_closed() { "closed" } else { "unclaimed" }.into(),
        }
    }

    /// The id space.
    pub fn name(&self) -> &str {
        &self.settings.options.name
    }

    /// The layout of the ids.
    pub fn layout(&self) -> Layout {
        self.settings.options.layout
    }

    /// Closes this handle; a second call does nothing. The last handle stores the exact end of the ids and releases the
    /// worker id.
    ///
    /// Calls that run in other threads return `closed`. Errors: `state_io`, `worker_lost`. The handle is closed all the
    /// same, and the record covers more than was used. It stays open only in a child of vfork and on a thread with too
    /// little stack.
    pub fn close(&self) -> Result<()> {
        os::check_may_wait()?;
        self.closed.store(true, Relaxed);
        // Against another thread that stores a generator now: either it sees `closed`, or `release` sees the generator.
        fence(SeqCst);
        self.release()
    }

    /// Reports to the registry, once, that this handle is closed. A child that never used it has no generator to report
    /// to.
    #[cold]
    #[inline(never)]
    fn release(&self) -> Result<()> {
        match (self.generator.get(), existing_registry()) {
            (Some(generator), Some(registry)) if !self.released.swap(true, AcqRel) => {
                registry.close(&generator.driver)
            }
            _ => Ok(()),
        }
    }

    /// The generator of this process. If there is none yet, claims a worker id: at the opening, and in a forked child.
    pub(crate) fn generator(&self) -> Result<&Generator> {
        self.generator_unless(&mut || false)
    }

    /// As [`Snowflake::generator`], but returns `would_block` if `interrupted` returns true during the wait for a
    /// claim.
    pub(crate) fn generator_unless(&self, interrupted: Interrupted<'_>) -> Result<&Generator> {
        if self.closed.load(Acquire) {
            return Err(closed());
        }
        let generator = loop {
            if let Some(generator) = self.generator.get() {
                if generator.is_current() {
                    break generator;
                }
                // Its lease was lost, and another generator replaced it.
                Generator::of(&generator.driver).into_iter().for_each(|next| self.generator.replace(next));
                continue;
            }
            self.claim(interrupted)?;
        };
        fence(SeqCst);
        if self.closed.load(Acquire) {
            self.release()?;
            return Err(closed());
        }
        Ok(generator)
    }

    /// Claims a worker id. It needs more stack than a call for ids has.
    #[cold]
    #[inline(never)]
    fn claim(&self, interrupted: Interrupted<'_>) -> Result<()> {
        os::check_may_work()?;
        // The generator of an ancestor: this is a forked child.
        let parents = self.generator.load().map(|(generator, _)| generator.worker_id());
        let generation = os::process::generation();
        let opened =
            self.settings.for_claim().and_then(|settings| registry().open(&settings, parents, interrupted));
        if generation != os::process::generation() {
            // A fork came in between: what was opened, or failed, belongs to the parent. Leave it alone.
            std::mem::forget(opened);
            return Ok(());
        }
        if let Err(extra) = self.generator.install(opened?, generation) {
            registry().close(&extra.driver)?;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Errors: `closed`.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_closed() { Err(closed()) } else { Ok(()) }
    }

    /// Reserves 1 to `most` ids of one tick, and returns the fork generation in which they were reserved.
    pub(crate) fn reserve(&self, most: usize) -> Result<(Run, u64)> {
        self.step(&mut || false, |generator, now_ms| generator.core.reserve(now_ms, most))
    }

    #[cold]
    #[inline(never)]
    fn next_slowly(&self) -> Result<i64> {
        self.next_unless(&mut || false)
    }

    /// Runs one step of the core and, before it, the actions that the core requests. Also returns the fork generation.
    pub(crate) fn step<T>(
        &self,
        interrupted: Interrupted<'_>,
        mut step: impl FnMut(&Generator, i64) -> std::result::Result<T, Action>,
    ) -> Result<(T, u64)> {
        let mut wait = Wait::new(&self.settings, interrupted);
        loop {
            let generation = os::process::generation();
            let generator = self.generator_unless(wait.interrupted)?;
            let stepped = step(generator, generator.now_ms());
            let done = match stepped {
                Ok(made) => Ok(Some((made, generation))),
                Err(_) if self.closed.load(Relaxed) => Err(closed()),
                Err(Action::Sealed) if !generator.is_current() => Ok(None),
                Err(action) => wait.until_done(generator, action).map(|()| None),
            };
            // A fork came in between: neither the id nor the error belongs to this process.
            if generation != os::process::generation() {
                continue;
            }
            match done? {
                Some(_) if self.closed.load(Relaxed) => return Err(closed()),
                Some(made) => return Ok(made),
                None => {}
            }
        }
    }
}

fn closed() -> Error {
    Error::new(Code::Closed, "the snowflake was closed; open another one")
}

/// A panic, also of a user callback, leaves the state valid: each change is a single step.
impl UnwindSafe for Snowflake {}
impl RefUnwindSafe for Snowflake {}

/// Another handle of the same generator.
impl Clone for Snowflake {
    fn clone(&self) -> Snowflake {
        let flake = Snowflake {
            settings: Arc::clone(&self.settings),
            generator: PerProcess::new(),
            closed: AtomicBool::new(self.closed.load(Acquire)),
            released: AtomicBool::new(false),
        };
        // A lazy handle that was never used has no generator to attach to. An error is returned at the first use. In a
        // forked child this handle knows which worker id the parent held.
        if self.generator.load().is_some() && self.generator().is_ok() {
            let _ = flake.generator();
        }
        flake
    }
}

impl Drop for Snowflake {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::warn!("leafid: closing by drop: {error}");
        }
    }
}

impl fmt::Debug for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.settings.options;
        f.debug_struct("Snowflake")
            .field("name", &options.name)
            .field("layout", &options.layout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Snowflake {
        /// A handle of this generator, for the simulation.
        pub(crate) fn of(generator: Generator) -> Snowflake {
            let flake = Snowflake {
                settings: Arc::clone(&generator.driver.settings),
                generator: PerProcess::new(),
                closed: AtomicBool::new(false),
                released: AtomicBool::new(true),
            };
            let _ = flake.generator.install(generator, os::process::generation());
            flake
        }
    }
}
