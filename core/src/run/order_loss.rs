//! A lost lease: the end of its generator, and the claims of another one.

use crate::Error;
use crate::run::lanes::Lane;
use crate::run::leaving::Leaving;
use crate::run::loss::{Loss, LossStep};
use crate::run::moment::{Moment, earliest};
use crate::run::order::{Life, Progress, RunOrder};
use crate::run::round::{Round, RoundEnd};
use crate::run::seat::SpanEnd;
use crate::run::waiting::Answer;
use alloc::format;

impl RunOrder {
    /// The lease is lost: another one is claimed. `is_told`: by the word of its source.
    pub(crate) fn lose(&mut self, why: Error, is_told: bool, m: &mut Moment<'_>) {
        m.notices.warn(format!("{why}"));
        // Its renewal says nothing about the next lease.
        self.give_up_source(m);
        self.lanes.forget_renewals();
        let until_ms = self.log.0.lease_until_ms.unwrap_or(0);
        self.log.0.note_lease(until_ms, Some(why.clone()));
        // If leases are lost one after another without a renewal, the time between the claims grows.
        if self.is_kept {
            self.losses = 0;
        }
        self.is_kept = false;
        let worker_id = self.worker_id.unwrap_or(0);
        self.loss = Some(Loss::new(worker_id, why, is_told, self.losses, m));
        self.losses = self.losses.saturating_add(1);
        self.life = Life::Lost;
        self.callers.answer_opens(Answer::Look);
        m.notices.wake();
    }

    /// Claims again after a loss: first what is left of the round before is undone, then the next one begins.
    pub(crate) fn recover(&mut self, m: &mut Moment<'_>) -> Progress {
        let Progress::Waits(used_up) = self.leave_used_up(m) else { return Progress::Again };
        let is_waited_for = self.callers.waits_for_span();
        if is_waited_for
            && let (Some(seat), Some(flake)) = (&mut self.seat, &self.generator)
            && seat.grant_first(flake)
        {
            self.tell_span(SpanEnd::NotNeeded, m);
            return Progress::Again;
        }
        let Some(loss) = &mut self.loss else { return Progress::Waits(None) };
        let step = loss.poll(is_waited_for, m);
        let given_up = self.round.as_ref().is_some_and(|round| !loss.wants(round.number()));
        let why = loss.why().clone();
        let due = match step {
            LossStep::Wait(due) => due,
            LossStep::Failed(error, due) => {
                if is_waited_for {
                    self.callers.answer_spans(Answer::Failed(error));
                    m.notices.wake();
                }
                due
            }
            LossStep::Begin(number, due) => {
                if self.round.is_none() && self.leaving.is_none() {
                    loss.begun();
                    self.round = Some(Round::new(number, self.worker_id, None, m));
                }
                due
            }
        };
        if given_up {
            self.undo_round(why, m);
        }
        let Progress::Waits(again) = self.go_on(m) else { return Progress::Again };
        Progress::Waits(earliest(&[again, used_up, Some(due)]))
    }

    /// After a loss, a span that is used up gives no ids any more. Its worker id is given back before another lease is held:
    /// a process of this host that got it meanwhile would find it locked, and its lease would end unused.
    fn leave_used_up(&mut self, m: &Moment<'_>) -> Progress {
        let (Some(seat), Some(flake), Some(loss)) = (&self.seat, &self.generator, &mut self.loss) else {
            return Progress::Waits(None);
        };
        // A source that says so has given the lease to another process, which may be a clone of this one: it has the same
        // span. Or it has lost what it knew of the span.
        if !loss.is_told() {
            if !self.lanes.is_free(Lane::Disk) {
                return Progress::Waits(None);
            }
            let used_up = seat.used_up(flake, m);
            if used_up > m.boot {
                return Progress::Waits(Some(used_up));
            }
        }
        // Sealed already, it has an end of its own.
        let Some(first_unused) = flake.seal() else { return Progress::Waits(None) };
        loss.sealed(first_unused);
        self.leaving = self.seat.take().map(|seat| Leaving::new(seat, first_unused, false));
        Progress::Again
    }

    /// Goes on with the round after a loss, and with the end of the generator that lost its lease.
    fn go_on(&mut self, m: &mut Moment<'_>) -> Progress {
        let is_free = self.lanes.is_free(Lane::Disk);
        if let Some(leaving) = &mut self.leaving {
            leaving.poll(m, is_free);
            if !leaving.is_gone() {
                return Progress::Waits(leaving.due());
            }
            if let Leaving { worker_id, result: Err(error), .. } = leaving {
                m.notices.warn(format!("the record of worker id {worker_id} was not closed: {error}"));
            }
            self.leaving = None;
        }
        let (Some(round), Some(loss)) = (&mut self.round, &mut self.loss) else {
            return Progress::Waits(None);
        };
        match round.poll(m, &self.lanes) {
            RoundEnd::None(due) => return Progress::Waits(due),
            RoundEnd::Given => {
                let flake = self.generator.as_ref();
                let floor = loss.take_over(round.number(), || flake.and_then(|flake| flake.seal()));
                match (floor, self.seat.take()) {
                    (None, seat) => {
                        self.seat = seat;
                        round.give_up(loss.why().clone());
                    }
                    // Without its lease, which is lost.
                    (Some(floor), Some(seat)) => self.leaving = Some(Leaving::new(seat, floor, false)),
                    (Some(floor), None) => round.proceed(floor, m),
                }
            }
            RoundEnd::Won(won) => self.take_seat(*won, m),
            RoundEnd::Undone(error, lease) => {
                // One that was given up has failed before.
                let why = loss.wants(round.number()).then(|| {
                    loss.claim_failed(round.number(), &error, m);
                    loss.why().clone()
                });
                self.round = None;
                why.into_iter().for_each(|why| self.note_span(&SpanEnd::Failed(why), m));
                lease.into_iter().for_each(|lease| self.release_unused(lease, m));
            }
        }
        Progress::Again
    }
}
