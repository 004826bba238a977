//! Waits of a caller until an id can be issued: for the clock, for a span, or until the call times out.

use crate::os;
use crate::snowflake::generator::{Generator, Obtained};
use crate::tasks::interrupt::{self, Interrupted};
use crate::worker::settings::SnowflakeSettings;
use leafid_core::{Action, Code, Error, Result, Utc};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How late a sleep may end. The last part of a wait, of this length, is a busy loop.
const LATE: Duration = Duration::from_micros(150);
/// The longest sleep before the clock is read again, because the clock may be set during a sleep.
const SLICE: Duration = Duration::from_millis(20);
/// A wait that ends this long after its deadline was stopped with its process.
const STOPPED: Duration = Duration::from_secs(1);

/// The waits for one id, or for one step of a batch.
pub(crate) struct Wait<'a> {
    settings: &'a SnowflakeSettings,
    pub(crate) interrupted: Interrupted<'a>,
    pub(crate) deadline: Option<Instant>,
    refused: bool,
    was_stopped: bool,
    /// The start of the first wait, and the generator that was last waited for.
    waited: Option<(Instant, Arc<Generator>)>,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some((begun, generator)) = self.waited.take() {
            generator.waits.add(begun.elapsed());
        }
    }
}

impl<'a> Wait<'a> {
    pub(crate) fn new(settings: &'a SnowflakeSettings, interrupted: Interrupted<'a>) -> Wait<'a> {
        Wait { settings, interrupted, deadline: None, refused: false, was_stopped: false, waited: None }
    }

    /// Carries out the core's action; the caller then tries again. Errors: a refusal of the core, the error of the
    /// span, `would_block`, and at the timeout the reason of the wait.
    pub(crate) fn until_done(&mut self, generator: &Arc<Generator>, action: Action) -> Result<()> {
        let waited = self.wait(generator, action);
        match &waited {
            // Its time passed while this process did not run, and neither did what it waited for: once more.
            Err(error)
                if matches!(error.code(), Code::WorkerLost | Code::StateIo)
                    && !self.was_stopped
                    && self.deadline.is_some_and(|deadline| Instant::now() > deadline + STOPPED) =>
            {
                (self.was_stopped, self.deadline) = (true, None);
                Ok(())
            }
            _ => waited,
        }
    }

    fn wait(&mut self, generator: &Arc<Generator>, action: Action) -> Result<()> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.settings.timeout);
        let begun = self.waited.take().map_or_else(Instant::now, |(begun, _)| begun);
        self.waited = Some((begun, Arc::clone(generator)));
        if let Some(ms) = generator.begins_ms
            && action != Action::Sealed
            && generator.env.clock.filtered_ms() < ms
        {
            return self.until_begin(generator, ms, deadline);
        }
        if let Action::NeedSpan | Action::Sealed = action {
            os::check_may_wait()?;
        }
        match action {
            Action::WaitUntil(ms) => self.until(generator, ms, deadline),
            Action::NeedSpan => {
                match generator.obtain(deadline, self.settings.max_wait.is_none(), self.interrupted)? {
                    Obtained::Granted => Ok(()),
                    Obtained::NoRoom => {
                        let tick_ms = generator.core.layout().tick_ms();
                        self.until(generator, generator.env.clock.filtered_ms() + tick_ms, deadline)
                    }
                }
            }
            // Sealed, but not closed: its lease was lost.
            Action::Sealed => {
                generator.await_successor(deadline, self.settings.max_wait.is_none(), self.interrupted)
            }
            // The thread may have slept since it read the clock.
            Action::ClockBackwards { .. } if !self.refused => {
                self.refused = true;
                Ok(())
            }
            refused => Err(generator.core.error(refused)),
        }
    }

    /// As `until`, for a generator that found no record.
    fn until_begin(&mut self, generator: &Generator, ms: i64, deadline: Instant) -> Result<()> {
        let left_ms = ms - generator.env.clock.filtered_ms();
        let allowed = deadline.saturating_duration_since(Instant::now());
        if u128::try_from(left_ms).is_ok_and(|left_ms| left_ms > allowed.as_millis()) {
            let message = format!(
                "no record of worker id {} was found, so nothing is issued before {} (no_record_wait_ms): call again in \
                 {left_ms} ms, or raise timeout_ms ({})",
                generator.worker_id,
                Utc(ms),
                self.settings.timeout.as_millis()
            );
            return Err(Error::new(Code::ClockBackwards, message));
        }
        self.until(generator, ms, deadline)
    }

    fn until(&mut self, generator: &Generator, ms: i64, deadline: Instant) -> Result<()> {
        let clock = &generator.env.clock;
        let target_ns = ms.saturating_mul(1_000_000);
        // A time that has passed needs no wait.
        let left = Duration::from_nanos(target_ns.saturating_sub(clock.filtered_ns()).max(0) as u64);
        self.settings.check_wait(left)?;
        let allowed = deadline.saturating_duration_since(Instant::now());
        if left > allowed {
            let timeout = self.settings.timeout.as_millis();
            // Further away than the next tick: the clock is behind, and the tick is not used up.
            let behind = left.as_millis() as i64 > generator.core.layout().tick_ms();
            let (code, why) = match behind {
                true => (Code::ClockBackwards, "the clock is behind the ids issued"),
                false => (Code::WouldBlock, "the ids of this tick are used up"),
            };
            let message = format!(
                "{why}: the next id is available in {} ms, longer than timeout_ms ({timeout}) allows; call again then, \
                 or raise timeout_ms",
                left.as_millis() + 1
            );
            return Err(Error::new(code, message));
        }
        if left > LATE {
            clock.sleep((left - LATE).min(SLICE));
            if left > SLICE && (self.interrupted)() {
                return Err(interrupt::interrupted());
            }
        } else {
            // The rest of the wait is shorter than a sleep may be late.
            let begun = Instant::now();
            while clock.filtered_ns() < target_ns && begun.elapsed() < LATE {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }
}
