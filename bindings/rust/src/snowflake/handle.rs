//! The handle that users hold.

use crate::Stats;
use crate::os::{self, PerProcess};
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::{existing_registry, registry};
use crate::snowflake::wait::Wait;
use crate::tasks::interrupt::Interrupted;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::{Action, Code, Error, Layout, Result, Run};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst, fence,
};

/// A snowflake generator: unique 64-bit ids in nanoseconds, from any number of threads.
///
/// A clone is another handle of the same generator; the generator ends when the last handle is closed or dropped. A
/// handle that a fork has copied claims a worker id of its own at its first use in the child.
pub struct Snowflake {
    pub(crate) settings: Arc<SnowflakeSettings>,
    generator: PerProcess<Arc<Generator>>,
    closed: AtomicBool,
    /// Whether this process's generator was told that the handle is gone.
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
        if !flake.settings.lazy {
            flake.generator_unless(interrupted)?;
        }
        Ok(flake)
    }

    /// A handle of this generator, for the simulation.
    #[cfg(test)]
    pub(crate) fn of(generator: &Arc<Generator>) -> Snowflake {
        let flake = Snowflake {
            settings: Arc::clone(&generator.settings),
            generator: PerProcess::new(),
            closed: AtomicBool::new(false),
            released: AtomicBool::new(true),
        };
        let _ = flake.generator.install(Arc::clone(generator), os::process::generation());
        flake
    }

    /// Issues one id, larger than every one before it from this generator.
    ///
    /// It waits, at most `timeout_ms`, for the next tick when one is used up and for a span to become durable.
    /// Errors: `clock_backwards`, `before_epoch`, `time_exhausted`, `state_io`, `worker_lost`, `closed`; in a forked
    /// child's first call those of opening, too.
    #[inline]
    pub fn next(&self) -> Result<i64> {
        match self.try_next() {
            Some(id) => Ok(id),
            None => self.next_slowly(),
        }
    }

    /// One id if it is to be had at once: without a wait, a span, a claim or an error. `None` says: call `next`.
    #[inline]
    pub fn try_next(&self) -> Option<i64> {
        let (generator, generation) = self.generator.load()?;
        let watch = os::process::watch_generation();
        let id = generator.core.next(generator.clock.now_ms()).ok()?;
        // After the step: in a forked child the step was made on a copy of the parent's generator.
        (watch.is_still(generation) && !self.closed.load(Relaxed)).then_some(id)
    }

    /// [`Snowflake::next`], given up with `would_block` when `interrupted` answers true during a long wait.
    #[doc(hidden)]
    pub fn next_unless(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<i64> {
        self.step(interrupted, |generator, now_ms| generator.core.next(now_ms)).map(|(id, _)| id)
    }

    /// What the generator tells of itself. Errors: `closed`; in a forked child's first call those of opening.
    pub fn stats(&self) -> Result<Stats> {
        let generator = self.generator()?;
        Ok(Stats::of(generator, registry().handles(generator)))
    }

    /// The worker id held. Errors: as [`Snowflake::stats`].
    pub fn worker_id(&self) -> Result<u32> {
        Ok(self.generator()?.worker_id)
    }

    /// The id space.
    pub fn name(&self) -> &str {
        &self.settings.key.space.name
    }

    /// The layout of the ids.
    pub fn layout(&self) -> Layout {
        self.settings.key.space.layout
    }

    /// Closes this handle; a second time does nothing. The last handle writes the exact mark and lets the worker id go.
    ///
    /// Calls under way in other threads end with `closed`. Errors: `state_io`, `worker_lost`: the handle is closed all
    /// the same, and the record says more than was used. But it stays open in a child of vfork, and on a thread with too
    /// little stack.
    pub fn close(&self) -> Result<()> {
        os::check_may_wait()?;
        self.closed.store(true, Relaxed);
        // Against an attaching in another thread: it sees this, or this sees what it attached.
        fence(SeqCst);
        self.release()
    }

    /// Tells the generator, once, that the handle is gone. In a child that never used it there is none to tell.
    fn release(&self) -> Result<()> {
        match (self.generator.get(), existing_registry()) {
            (Some(generator), Some(registry)) if !self.released.swap(true, AcqRel) => {
                registry.close(generator)
            }
            _ => Ok(()),
        }
    }

    /// This process's generator, claimed if it has none yet: at the opening, and in a forked child.
    pub(crate) fn generator(&self) -> Result<&Arc<Generator>> {
        self.generator_unless(&mut || false)
    }

    /// [`Snowflake::generator`], given up with `would_block` when `interrupted` answers true while a claim is waited for.
    pub(crate) fn generator_unless(&self, interrupted: Interrupted<'_>) -> Result<&Arc<Generator>> {
        if self.closed.load(Acquire) {
            return Err(closed());
        }
        let generator = loop {
            if let Some(generator) = self.generator.get() {
                if generator.successor.get().is_none() {
                    break generator;
                }
                // Its lease was lost, and another generator took its place.
                self.generator.replace(Arc::clone(generator.newest()));
                continue;
            }
            os::check_may_work()?;
            // An ancestor's: this is a forked child.
            let parents = self.generator.load().map(|(generator, _)| generator.worker_id);
            let generation = os::process::generation();
            let opened = registry().open(&self.settings, parents, interrupted);
            if generation != os::process::generation() {
                // A fork came between: what was attached, or failed, is the parent's. It is left alone.
                std::mem::forget(opened);
                continue;
            }
            if let Err(extra) = self.generator.install(opened?, generation) {
                registry().close(&extra)?;
            }
        };
        fence(SeqCst);
        if self.closed.load(Acquire) {
            self.release()?;
            return Err(closed());
        }
        Ok(generator)
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Errors: `closed`.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_closed() { Err(closed()) } else { Ok(()) }
    }

    /// Up to `most` ids of one tick, at least one, with the generation that they were taken in.
    pub(crate) fn reserve(&self, most: usize) -> Result<(Run, u64)> {
        self.step(&mut || false, |generator, now_ms| generator.core.reserve(now_ms, most))
    }

    #[cold]
    #[inline(never)]
    fn next_slowly(&self) -> Result<i64> {
        self.next_unless(&mut || false)
    }

    /// Has one step of the core made, doing what it asks for first; with the generation that it was made in.
    pub(crate) fn step<T>(
        &self,
        interrupted: Interrupted<'_>,
        mut step: impl FnMut(&Generator, i64) -> std::result::Result<T, Action>,
    ) -> Result<(T, u64)> {
        let mut wait = Wait::new(&self.settings, interrupted);
        loop {
            let generation = os::process::generation();
            let generator = self.generator_unless(wait.interrupted)?;
            let stepped = step(generator, generator.env.clock.filtered_ms());
            let done = match stepped {
                Ok(made) => Ok(Some((made, generation))),
                Err(_) if self.closed.load(Relaxed) => Err(closed()),
                Err(Action::Sealed) if generator.successor.get().is_some() => Ok(None),
                Err(action) => wait.until_done(generator, action).map(|()| None),
            };
            // After a fork meanwhile, neither an id nor an error is this process's.
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

/// A panic, of the user's code too, leaves it as it was: whatever it holds is changed in one step.
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
        // Not for a lazy one that was never used. An error shows at the first use. In a forked child it is this handle that
        // knows what its parent held.
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
        let key = &self.settings.key;
        f.debug_struct("Snowflake")
            .field("name", &key.space.name)
            .field("layout", &key.space.layout)
            .finish_non_exhaustive()
    }
}
