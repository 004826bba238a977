//! The wait of one caller for ids of a run: the rules of [`Waiting`], and its wish for a span.
//!
//! Construct: [`RunWait::new`]. Event: [`RunWait::wish`], after the pause `Want`, and again when there may be an
//! answer. While [`RunWait::wished`] says so, the generator is not asked. At its end: [`RunWait::leave`].
//!
//! | Its wish | Event | Next |
//! | --- | --- | --- |
//! | none | `wish` | the run gets it, and may answer at once |
//! | waits | `wish` | as the answer says; once there is one, none |
//! | waits | `leave` | none: the host gives it up, or another caller takes it over |
//! | none | `take_over` of one that waits or has failed | waits |

use crate::Snowflake;
use crate::call::Clocks;
use crate::run::run_callers::{Need, RunTicket};
use crate::run::waiting::{Answer, Pause, Waiting};
use crate::run::worker_run::WorkerRun;
use core::time::Duration;

/// The wait of one caller. It belongs to the caller, and only its wish needs the lock of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunWait {
    /// For what needs no run: its steps, and that there was progress.
    pub waiting: Waiting,
    wish: Option<RunTicket>,
}

impl RunWait {
    /// A caller without a wish.
    pub const fn new(waiting: Waiting) -> RunWait {
        RunWait { waiting, wish: None }
    }

    /// Its wish, while there is no answer to it.
    pub const fn wished(&self) -> Option<RunTicket> {
        self.wish
    }

    /// Wishes for a span, or looks whether there is an answer to that. `now_ms` and `boot`: as for [`Waiting::step`].
    /// Never returns `Want`.
    pub fn wish(
        &mut self,
        run: &mut WorkerRun,
        clocks: Clocks,
        flake: &Snowflake,
        now_ms: i64,
        boot: Duration,
    ) -> Pause {
        let wish = self.wish.unwrap_or_else(|| run.want(Need::Span, clocks));
        let answer = run.answer(wish);
        self.wish = matches!(answer, Answer::Pending(_)).then_some(wish);
        self.waiting.answered(flake, answer, now_ms, boot)
    }

    /// The caller does not wait any more. Its wish is given up by [`WorkerRun::give_up`], or left to the next caller.
    pub fn leave(&mut self) -> Option<RunTicket> {
        self.wish.take()
    }

    /// A wish that another caller left, if its answer concerns this one too: it is still to come, or it is an error.
    pub fn take_over(&mut self, left: Option<RunTicket>, run: &WorkerRun) {
        let concerns = |wish: &RunTicket| matches!(run.answer(*wish), Answer::Pending(_) | Answer::Failed(_));
        self.wish = self.wish.or(left.filter(concerns));
    }
}
