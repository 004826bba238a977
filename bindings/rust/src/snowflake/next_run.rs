//! Runs of ids that the memory of another language issues one by one.

use crate::{ClockSource, Snowflake};
use leafid_core::{Result, Run, Snowflake as Core, TickRuns};
use std::ops::Range;
use std::sync::Arc;

/// Ids of one tick, of which the first one is issued. The others may be issued, in order, while [`TickRun::watch`] allows it.
#[doc(hidden)]
#[derive(Debug)]
pub struct TickRun {
    /// The ids.
    pub run: Run,
    /// The condition for more than one id.
    pub watch: Option<Watch>,
}

/// When the ids of a run may be issued: in this process, while the clock is in their tick, and while no other
/// caller has taken an id. Then they are above every other id, as those of [`Snowflake::next`] are.
#[doc(hidden)]
pub struct Watch {
    /// The milliseconds of the tick.
    pub tick_ms: Range<i64>,
    /// The value of the generator's position while no other caller has taken an id. A closed generator has another one.
    pub after: u64,
    generator: Arc<Core>,
}

impl Watch {
    /// The address of the generator's position, an atomic number. It is valid until `self` is dropped.
    pub fn position(&self) -> *const u64 {
        self.generator.position()
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("tick_ms", &self.tick_ms)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

impl Snowflake {
    /// Issues one id, as [`Snowflake::next`]. Takes more ids of its tick if `runs` wants them. `dropped` is the number of
    /// ids of the run before that are never issued. Errors: as [`Snowflake::next`].
    #[doc(hidden)]
    pub fn next_run(&self, runs: &mut TickRuns, dropped: usize) -> Result<TickRun> {
        let most = if dropped == 0 { runs.next() } else { 1 };
        // A run needs a read of the system's clock for each id, which costs more than a step by the coarse clock.
        if most == 1 || self.settings.options.clock_source == ClockSource::Coarse {
            let run = Run { first: self.next()?, stride: 1, count: 1 };
            runs.taken(run, dropped);
            return Ok(TickRun { run, watch: None });
        }
        let after = runs.after();
        let ((run, generator), _) = self.step(&mut || false, |generator, now_ms| {
            let run = generator.core.reserve_after(now_ms, after, most)?;
            Ok((run, Arc::clone(&generator.core)))
        })?;
        runs.taken(run, dropped);
        let layout = generator.layout();
        let (after, tick) = (runs.after(), layout.tick_of(run.first));
        let tick_ms = layout.tick_start_ms(tick)..layout.tick_start_ms(tick + 1);
        Ok(TickRun { run, watch: (run.count > 1).then_some(Watch { tick_ms, after, generator }) })
    }
}
