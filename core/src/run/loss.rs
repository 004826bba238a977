//! A lost lease: when the next claim begins, and when it is given up. A round begins only when nothing is left of the one
//! before: a late end of the old one would otherwise seat the new one on another's lock.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Waiting` | a claim is due | `Due` |
//! | `Waiting` | a caller comes | `Waiting`: one claim is due sooner, those after it are not, however long it waits |
//! | `Due` | nothing is left of the round before | `UnderWay` |
//! | `Due`, `UnderWay` | it takes too long | `Waiting`; a round that is under way is undone |
//! | `UnderWay` | its claim failed | `Waiting` |
//! | `UnderWay` | its claim got a lease, and won the worker id | another generator takes over |

use crate::Error;
use crate::run::moment::Moment;
use crate::snowflake::lease_loss::{LeaseLoss, LossAction};
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loss {
    schedule: LeaseLoss,
    is_told: bool,
    stage: LossStage,
    /// Whether a caller came since the last claim.
    is_pressed: bool,
}

/// `until`: when the round is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LossStage {
    Waiting,
    Due { round: u64, until: Duration },
    UnderWay { until: Duration },
}

/// What follows.
pub(crate) enum LossStep {
    /// Poll again at this time.
    Wait(Duration),
    /// Callers get this error. Poll again at this time.
    Failed(Error, Duration),
    /// Begin this round, if nothing is left of the one before; or else poll again at this time.
    Begin(u64, Duration),
}

impl Loss {
    /// `is_told`: by the word of its source. `losses`: how many leases were lost before this one without a renewal in
    /// between.
    pub(crate) fn new(worker_id: u32, why: Error, is_told: bool, losses: u32, m: &Moment<'_>) -> Loss {
        let schedule = LeaseLoss::new(worker_id, why, losses, m.boot, m.settings.timeout);
        Loss { schedule, is_told, stage: LossStage::Waiting, is_pressed: false }
    }

    /// Whether the source has said that the lease is lost.
    pub(crate) fn is_told(&self) -> bool {
        self.is_told
    }

    /// A caller comes. Who comes during a claim waits for that one.
    pub(crate) fn press(&mut self) {
        self.is_pressed = !self.schedule.is_claiming();
    }

    /// What to do next. `is_waited_for`: a caller waits for a span.
    pub(crate) fn poll(&mut self, is_waited_for: bool, m: &Moment<'_>) -> LossStep {
        if self.schedule.is_claiming() {
            match self.stage {
                LossStage::Due { round, until } if m.boot < until => return LossStep::Begin(round, until),
                LossStage::UnderWay { until } if m.boot < until => return LossStep::Wait(until),
                _ => {}
            }
        }
        self.stage = LossStage::Waiting;
        let patience = m.round_bound();
        self.is_pressed &= is_waited_for;
        match self.schedule.poll(m.boot, patience, self.is_pressed) {
            LossAction::Claim(round) => {
                let until = m.boot.saturating_add(patience);
                (self.stage, self.is_pressed) = (LossStage::Due { round, until }, false);
                LossStep::Begin(round, until)
            }
            LossAction::Wait(again) => LossStep::Wait(m.boot.saturating_add(again)),
            LossAction::Failed(why, again) => LossStep::Failed(why, m.boot.saturating_add(again)),
        }
    }

    /// The round that was due is under way.
    pub(crate) fn begun(&mut self) {
        if let LossStage::Due { until, .. } = self.stage {
            self.stage = LossStage::UnderWay { until };
        }
    }

    /// Whether this round was not given up.
    pub(crate) fn wants(&self, round: u64) -> bool {
        self.schedule.is_claiming() && self.schedule.is_current(round)
    }

    /// The claim of this round failed.
    pub(crate) fn claim_failed(&mut self, round: u64, error: &Error, m: &Moment<'_>) {
        self.schedule.claim_failed(round, error, m.boot);
    }

    /// The claim of this round got a lease. Returns the first tick that the next generator may use. `seal` seals the
    /// generator, and returns its first unused tick, the first time.
    pub(crate) fn take_over(&mut self, round: u64, seal: impl FnOnce() -> Option<u64>) -> Option<u64> {
        self.schedule.take_over(round, seal)
    }

    /// The generator was sealed before any claim got a lease: its first unused tick.
    pub(crate) fn sealed(&mut self, first_unused: u64) {
        self.schedule.sealed(first_unused);
    }

    /// The error for callers.
    pub(crate) fn why(&self) -> &Error {
        self.schedule.why()
    }
}
