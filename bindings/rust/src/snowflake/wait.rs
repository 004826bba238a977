//! Waits of a caller until an id can be issued: for the clock, for a span, or until the call times out.

use crate::os;
use crate::os::mutex::PollSleep;
use crate::snowflake::driver::Driver;
use crate::snowflake::generator::Generator;
use crate::tasks::interrupt::Interrupted;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::run::{Pause, RunWait, Waiting};
use leafid_core::{Action, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How late a sleep may end. The last part of a wait, of this length, is a busy loop.
const LATE: Duration = Duration::from_micros(150);
/// The longest sleep before the clock is read again, because the clock may be set during a sleep.
const SLICE: Duration = Duration::from_millis(20);
/// After this wait a caller checks whether it can get the span without the background thread.
const STUCK: Duration = Duration::from_millis(100);

/// The waits for one id, or for one step of a batch.
pub(crate) struct Wait<'a> {
    pub(crate) interrupted: Interrupted<'a>,
    wait: RunWait,
    /// Deadlines count from here, by a clock that does not count while the machine sleeps.
    begun: Instant,
    /// The start of the first wait, and what was last waited for.
    waited: Option<(Instant, Arc<Driver>)>,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some((begun, driver)) = self.waited.take() {
            driver.waits.add(begun.elapsed());
        }
    }
}

impl<'a> Wait<'a> {
    pub(crate) fn new(settings: &SnowflakeSettings, interrupted: Interrupted<'a>) -> Wait<'a> {
        let wait = RunWait::new(Waiting::new(settings.options.timeout, settings.max_wait));
        Wait { interrupted, wait, begun: Instant::now(), waited: None }
    }

    /// Carries out the core's action; the caller then tries again. Errors: those of the core's wait.
    pub(crate) fn until_done(&mut self, generator: &Generator, action: Action) -> Result<()> {
        let begun = self.waited.take().map_or_else(Instant::now, |(begun, _)| begun);
        self.waited = Some((begun, Arc::clone(&generator.driver)));
        let (core, begins_ms, waited) = (&generator.core, generator.begins_ms, self.begun.elapsed());
        match self.wait.waiting.step(core, begins_ms, action, generator.now_ms(), waited) {
            Pause::Want => self.span(generator),
            pause => self.pause(generator, pause).map(drop),
        }
    }

    /// Wishes for a span, and waits for the answer.
    fn span(&mut self, generator: &Generator) -> Result<()> {
        os::check_may_wait()?;
        let waited = self.answer(generator);
        if let Some(ticket) = self.wait.leave() {
            generator.driver.give_up(ticket);
        }
        waited
    }

    fn answer(&mut self, generator: &Generator) -> Result<()> {
        let (driver, mut looked) = (&generator.driver, Instant::now());
        let (mut sleep, mut helped) = (PollSleep::new(), false);
        loop {
            let (now_ms, waited) = (generator.now_ms(), self.begun.elapsed());
            // In a forked child nothing renews this generator: the caller notices that.
            let pause = driver.wish(&mut self.wait, &generator.core, now_ms, waited);
            let (Some(pause), ticket) = (pause, self.wait.wished()) else { return Ok(()) };
            let Some(left) = self.pause(generator, pause)? else { return Ok(()) };
            let has_answer = || ticket.is_none_or(|ticket| driver.has_span_answer(ticket));
            let until = Instant::now() + left;
            while !has_answer() && looked.elapsed() <= STUCK && sleep.until(until) {
                if !driver.is_ours() {
                    return Ok(());
                }
            }
            if looked.elapsed() > STUCK {
                looked = Instant::now();
                if (self.interrupted)() {
                    return Err(Waiting::interrupted());
                }
                if !helped && !has_answer() {
                    helped = driver.help(until.saturating_duration_since(Instant::now()));
                }
            }
        }
    }

    /// Returns how long to wait for an answer, if that is what comes next.
    fn pause(&mut self, generator: &Generator, pause: Pause) -> Result<Option<Duration>> {
        match pause {
            Pause::Again | Pause::Want => Ok(None),
            Pause::Until(ms) => self.until(generator, ms).map(|()| None),
            Pause::Sleep(left) => Ok(Some(left)),
            Pause::Failed(error) => Err(error),
        }
    }

    fn until(&mut self, generator: &Generator, ms: i64) -> Result<()> {
        let clock = &generator.driver.env.clock;
        let target_ns = ms.saturating_mul(1_000_000);
        let left = Duration::from_nanos(target_ns.saturating_sub(clock.filtered_ns()).max(0) as u64);
        if left > LATE {
            clock.sleep((left - LATE).min(SLICE));
            if left > SLICE && (self.interrupted)() {
                return Err(Waiting::interrupted());
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
