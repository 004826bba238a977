//! What a caller does that got no id: waits for the clock or for a span, within its bound.

use crate::live::{Live, Obtained};
use crate::settings::Settings;
use leafid_core::{Code, Deed, Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A sleep ends up to this much late: the rest is spun.
const LATE: Duration = Duration::from_micros(150);
/// A clock may be set while one sleeps: it is read again after this.
const SLICE: Duration = Duration::from_millis(20);

/// The waits of one id, or of one step of a batch.
pub(crate) struct Wait<'a> {
    settings: &'a Settings,
    deadline: Option<Instant>,
    refused: bool,
}

impl<'a> Wait<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Wait<'a> {
        Wait { settings, deadline: None, refused: false }
    }

    /// Does what the core asks for; afterwards it is to be asked again. Errors: what the core refuses, the span's
    /// error, `would_block`, and what was waited for when the time is up.
    pub(crate) fn until_done(&mut self, live: &Arc<Live>, deed: Deed) -> Result<()> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.settings.timeout);
        match deed {
            Deed::WaitUntil(ms) => self.until(live, ms, deadline),
            Deed::NeedSpan => match live.obtain(deadline)? {
                Obtained::Granted => Ok(()),
                Obtained::NoRoom => {
                    let tick_ms = live.core.layout().tick_ms();
                    self.until(live, live.env.clock.now_ms() + tick_ms, deadline)
                }
            },
            // The thread may have slept since it read the clock.
            Deed::ClockBackwards { .. } if !self.refused => {
                self.refused = true;
                Ok(())
            }
            refused => Err(live.core.error(refused)),
        }
    }

    fn until(&self, live: &Live, ms: i64, deadline: Instant) -> Result<()> {
        let clock = &live.env.clock;
        let target_ns = i128::from(ms) * 1_000_000;
        // At most a few years: fits u64. A time that has passed is no wait.
        let left = Duration::from_nanos((target_ns - clock.now_ns()).clamp(0, i128::from(i64::MAX)) as u64);
        if let Some(most) = self.settings.max_wait
            && left > most
        {
            let message = format!(
                "the next id is to be had in {} ms, more than this thread may wait; ask again then",
                left.as_millis() + 1
            );
            return Err(Error::new(Code::WouldBlock, message));
        }
        let allowed = deadline.saturating_duration_since(Instant::now());
        if left > allowed {
            let timeout = self.settings.timeout.as_millis();
            // Further off than the next tick: the clock is behind, not the tick used up.
            let behind = left.as_millis() as i64 > live.core.layout().tick_ms();
            let (code, why) = match behind {
                true => (Code::ClockBackwards, "the clock is behind the ids issued"),
                false => (Code::WouldBlock, "the ids of this tick are used up"),
            };
            let message = format!(
                "{why}: the next id is to be had in {} ms, longer than timeout_ms ({timeout}) allows; ask again then, \
                 or raise timeout_ms",
                left.as_millis() + 1
            );
            return Err(Error::new(code, message));
        }
        if left > LATE {
            clock.sleep((left - LATE).min(SLICE));
        } else {
            // The last stretch, shorter than a sleep would be late.
            let begun = Instant::now();
            while clock.now_ns() < target_ns && begun.elapsed() < LATE {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }
}
