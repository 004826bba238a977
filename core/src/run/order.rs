//! What follows what in the life of a worker id's user.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | `Idle` | a need to open | `Claiming` |
//! | `Claiming` | its round won a worker id | `Held`: those who open wait until its lease is cached |
//! | `Claiming` | its round is undone, and its lease is released | `Failed`; `Claiming` again for those who asked meanwhile |
//! | `Claiming` | the last opener has left, or the disk does not answer | `Claiming`: the round is undone |
//! | `Claiming` | the disk still does not answer those who asked meanwhile | `Claiming`: they get that error as well |
//! | `Held` | the lease is lost, or is over; its record is lost | `Lost` |
//! | `Lost` | a claim is due, and nothing of the one before is left | `Lost`: a new round |
//! | `Lost` | its source said so | `Lost`: the generator is sealed, and its worker id is given back |
//! | `Lost` | the rest of its span is used up | the same |
//! | `Lost` | the round got a lease | `Lost`: the generator is sealed, and its worker id is given back |
//! | `Lost` | its round won a worker id | `Held`: another generator, above all ids so far |
//! | `Lost` | the round failed, or takes too long | `Lost`: it is undone, and the next one is due later |
//! | `Failed` | a need to open | `Claiming` |
//! | `Idle`, `Failed` | a need to close | `Closed` |
//! | `Claiming`, `Held`, `Lost` | a need to close | `Closing`: the generator is sealed, the round is undone |
//! | `Closing` | nothing is held any more, or its time is over | `Closed`: the source is given up |
//! | `Closed` | a call ends late | `Closed`: what it brought is undone, what is left is given back |
//!
//! If several things are due, the order is: the end of a closed generator, the claim, the span, the lease, the loss.

use crate::aside::Aside;
use crate::run::farewell::Farewell;
use crate::run::flake::Flake;
use crate::run::id_claim::Won;
use crate::run::lanes::{Asked, Lane, Lanes};
use crate::run::leaving::Leaving;
use crate::run::loss::Loss;
use crate::run::moment::{Moment, earliest};
use crate::run::process_leases::Came;
use crate::run::round::{Round, RoundEnd};
use crate::run::run_callers::{Answered, Need, RunCallers, RunTicket};
use crate::run::run_log::RunLog;
use crate::run::run_state::RunState;
use crate::run::seat::{Seat, SpanEnd};
use crate::run::server_leases::ServerLeases;
use crate::run::settings::{RunSettings, Workers};
use crate::run::waiting::{Answer, Delay, DelayedBy, Waiting};
use crate::snowflake::lease_schedule::RenewalEnd;
use crate::{Code, Error, Lease, RenewalAnswer, Snowflake};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RunOrder {
    /// It makes random starts differ, and proves nothing.
    pub(crate) seed: u64,
    pub(crate) life: Life,
    pub(crate) callers: RunCallers,
    pub(crate) lanes: Lanes,
    pub(crate) log: Aside<RunLog>,
    pub(crate) generator: Option<Flake>,
    /// No id is issued before this time of the clock, because no record was found.
    pub(crate) begins_ms: Option<i64>,
    /// The worker id that it holds, or held last.
    pub(crate) worker_id: Option<u32>,
    pub(crate) round: Option<Round>,
    /// Why the first claim failed, and until when those who open wait for the release of its lease.
    pub(crate) undone: Option<(Error, Duration)>,
    /// Whether those who opened the round have their answer: who came since has a round of its own.
    pub(crate) is_told: bool,
    pub(crate) seat: Option<Seat>,
    pub(crate) loss: Option<Loss>,
    pub(crate) leaving: Option<Leaving>,
    pub(crate) farewell: Option<Farewell>,
    /// The leases to release, each with the time from which on no id was issued.
    pub(crate) releases: VecDeque<(Lease, i64)>,
    /// The lease servers, if these give the worker ids.
    pub(crate) servers: Option<ServerLeases>,
    /// The number of this run in its process; 0 before its first claim.
    pub(crate) number: Aside<u64>,
    /// What the claims brought.
    pub(crate) came: VecDeque<Came>,
    /// How many leases were lost one after another without a renewal in between, before this one.
    pub(crate) losses: u32,
    /// Whether this lease was renewed.
    pub(crate) is_kept: bool,
    /// Whether it is to be seen if the worker id is held under another name, too.
    pub(crate) asks_names: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Life {
    Idle,
    Claiming,
    Held,
    Lost,
    Failed(Error),
    Closing,
    Closed,
}

/// How far a poll came.
pub(crate) enum Progress {
    /// Something changed without a call: poll again.
    Again,
    /// Poll again at this time, or after the next event.
    Waits(Option<Duration>),
}

/// What is left once no more can be done without a call.
pub(crate) struct Settled {
    /// When to do it again.
    pub(crate) due: Option<Duration>,
    /// Whether anything was done: a call may have become ready by it.
    pub(crate) changed: bool,
}

impl RunOrder {
    pub(crate) fn new(settings: &RunSettings, seed: u64) -> RunOrder {
        let servers = match &settings.workers {
            Workers::Servers { servers, health } => {
                Some(ServerLeases::new(Arc::clone(servers), health.clone(), seed))
            }
            Workers::Within { .. } | Workers::Callback { .. } => None,
        };
        RunOrder {
            servers,
            seed,
            life: Life::Idle,
            callers: RunCallers::default(),
            lanes: Lanes::default(),
            log: Aside::default(),
            generator: None,
            begins_ms: None,
            worker_id: None,
            round: None,
            undone: None,
            is_told: false,
            seat: None,
            loss: None,
            leaving: None,
            farewell: None,
            releases: VecDeque::new(),
            number: Aside(0),
            came: VecDeque::new(),
            losses: 0,
            is_kept: false,
            asks_names: false,
        }
    }

    pub(crate) fn want(&mut self, need: Need, m: &mut Moment<'_>) -> RunTicket {
        let ticket = self.callers.want(need);
        let closed = || Answer::Failed(closed());
        match (need, &self.life) {
            (Need::Open { .. }, Life::Idle | Life::Failed(_)) => self.begin_claim(m),
            (Need::Open { .. }, Life::Claiming) => {
                self.round.iter_mut().for_each(|round| round.awaited(m));
            }
            // Once its lease is cached.
            (Need::Open { .. }, Life::Held) => {}
            (Need::Open { .. }, Life::Lost) => self.callers.answer_opens(Answer::Look),
            (Need::Open { .. }, Life::Closing | Life::Closed) => self.callers.answer_opens(closed()),
            (Need::Span, Life::Claiming | Life::Held) => {}
            (Need::Span, Life::Lost) => self.loss.iter_mut().for_each(Loss::press),
            (Need::Span, Life::Failed(error)) => self.callers.answer_spans(Answer::Failed(error.clone())),
            (Need::Span, Life::Idle | Life::Closing | Life::Closed) => self.callers.answer_spans(closed()),
            (Need::Close { .. }, Life::Closing) => {}
            (Need::Close { .. }, Life::Closed) => self.callers.answer_closes(Answer::Look),
            (Need::Close { quietly, waits_for_source }, _) => self.close(quietly, waits_for_source, m),
        }
        ticket
    }

    pub(crate) fn give_up(&mut self, ticket: RunTicket, m: &mut Moment<'_>) {
        self.callers.give_up(ticket);
        if self.life == Life::Claiming && !self.callers.opens() {
            self.is_told = true;
            self.undo_round(Waiting::interrupted(), m);
        }
    }

    pub(crate) fn answer(&self, ticket: RunTicket, settings: &RunSettings) -> Answer {
        self.callers.answer(ticket).unwrap_or_else(|| {
            let by = match self.waits_for_source() {
                true if settings.workers.are_of_servers() => DelayedBy::Servers,
                true => DelayedBy::Callback,
                false if settings.disk_needs_loop => DelayedBy::DiskOfLoop,
                false => DelayedBy::Disk,
            };
            let before = self.loss.as_ref().map(Loss::why).or(self.log.0.before()).cloned();
            Answer::Pending(Delay { by, before })
        })
    }

    pub(crate) fn answered(&self) -> Answered {
        self.callers.answered()
    }

    pub(crate) fn generator(&self) -> Option<&Arc<Snowflake>> {
        self.generator.as_ref().map(Flake::shared)
    }

    pub(crate) fn log(&self) -> &RunLog {
        &self.log.0
    }

    pub(crate) fn begins_ms(&self) -> Option<i64> {
        self.begins_ms
    }

    pub(crate) fn state(&self) -> RunState {
        let held = |lost| RunState::Held { worker_id: self.worker_id.unwrap_or(0), lost };
        match &self.life {
            Life::Idle => RunState::Idle,
            Life::Claiming => RunState::Claiming,
            Life::Held => held(false),
            Life::Lost => held(true),
            Life::Failed(error) => RunState::Failed(error.clone()),
            Life::Closing => RunState::Closing,
            Life::Closed => RunState::Closed,
        }
    }

    /// Whether callers wait for the source of worker ids.
    pub(crate) fn waits_for_source(&self) -> bool {
        match self.life {
            // Without a round its lease is released.
            Life::Claiming => self.round.as_ref().is_none_or(Round::waits_for_source),
            Life::Held => self.seat.as_ref().is_some_and(Seat::is_short),
            Life::Lost => true,
            Life::Closing => self.farewell.as_ref().is_some_and(Farewell::keeps_lease),
            Life::Idle | Life::Failed(_) | Life::Closed => false,
        }
    }

    /// Goes on as far as no call is needed.
    pub(crate) fn settle(&mut self, m: &mut Moment<'_>) -> Settled {
        let mut changed = self.abandon_overdue(m);
        loop {
            let progress = match self.life {
                Life::Idle | Life::Failed(_) => Progress::Waits(None),
                Life::Claiming => self.claim(m),
                Life::Held => self.hold(m),
                Life::Lost => self.recover(m),
                Life::Closing | Life::Closed => self.end(m),
            };
            if let Progress::Waits(due) = progress {
                let servers = self.servers.as_ref().and_then(ServerLeases::due);
                let due = earliest(&[due, self.lanes.next_until(), servers]);
                return Settled { due, changed };
            }
            changed = true;
        }
    }

    fn begin_claim(&mut self, m: &mut Moment<'_>) {
        let (longest, previous) = (self.callers.longest(), m.place.inherited);
        (self.life, self.is_told) = (Life::Claiming, false);
        self.round = Some(Round::new(0, previous, longest, m));
    }

    /// The round is given up: it undoes what it holds, and what a call that is under way will still get.
    pub(crate) fn undo_round(&mut self, error: Error, m: &mut Moment<'_>) {
        if self.round.as_ref().is_some_and(Round::waits_for_source) {
            self.give_up_source(m);
        }
        self.round.iter_mut().for_each(|round| round.give_up(error.clone()));
    }

    /// Goes on with the first claim.
    fn claim(&mut self, m: &mut Moment<'_>) -> Progress {
        let Some(round) = &mut self.round else { return self.tell_undone(m) };
        if let Some(error) = round.overdue(m) {
            // It is undone once the disk answers.
            self.is_told = true;
            self.callers.answer_opens(Answer::Failed(error));
            m.notices.wake();
        }
        match round.poll(m, &self.lanes) {
            RoundEnd::None(due) => return Progress::Waits(due),
            RoundEnd::Given => round.proceed(0, m),
            RoundEnd::Won(won) => self.take_seat(*won, m),
            RoundEnd::Undone(error, lease) => {
                self.round = None;
                lease.into_iter().for_each(|lease| self.release_unused(lease, m));
                self.undone = Some((error, m.boot.saturating_add(m.settings.timeout)));
            }
        }
        Progress::Again
    }

    /// The first claim failed, and nothing is locked any more. A process whose opening fails probably ends: its lease is
    /// released before.
    fn tell_undone(&mut self, m: &mut Moment<'_>) -> Progress {
        let waits = !self.is_told && self.is_releasing() && self.callers.opens_beside_loops();
        let Some((error, _)) = self.undone.take_if(|(_, until)| !waits || m.boot >= *until) else {
            return Progress::Waits(self.undone.as_ref().map(|(_, until)| *until));
        };
        if self.is_told && self.callers.opens() {
            self.begin_claim(m);
        } else {
            self.callers.answer_spans(Answer::Failed(error.clone()));
            self.callers.answer_opens(Answer::Failed(error.clone()));
            self.life = Life::Failed(error);
            m.notices.wake();
        }
        Progress::Again
    }

    /// A worker id is held, with its first span durable.
    pub(crate) fn take_seat(&mut self, won: Won, m: &mut Moment<'_>) {
        let record = won.file.record();
        self.log.0.reserved_until = record.run.until;
        let (layout, worker_id, from) = (record.layout, record.worker_id, won.first.from);
        let seed = self.seed.wrapping_add(self.log.0.claims.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.generator = Some(Flake::new(Snowflake::new(layout, m.rules(), worker_id, from, seed)));
        self.begins_ms = won.begins_ms;
        self.log.0.claims += 1;
        self.log.0.lease_until_ms = won.lease.as_ref().map(|held| held.lease().until_ms);
        self.asks_names = m.place.inherited.is_none() && self.worker_id != Some(worker_id);
        if let Some(lost) = self.worker_id.filter(|_| self.life == Life::Lost) {
            m.notices.info(format!("worker id {worker_id} took the place of the lost {lost}"));
        }
        self.worker_id = Some(worker_id);
        (self.seat, self.round, self.loss) = (Some(Seat::new(won, m)), None, None);
        self.life = Life::Held;
        self.callers.answer_spans(Answer::Look);
        m.notices.wake();
    }

    /// Those who open, the span, then the lease, then its loss.
    fn hold(&mut self, m: &mut Moment<'_>) -> Progress {
        let is_written = self.lanes.any(Asked::WriteCache);
        let opens_by = self.seat.as_ref().and_then(|seat| seat.opens_by(is_written, m));
        let opens_by = opens_by.filter(|_| self.callers.opens_beside_loops());
        if opens_by.is_none() && self.callers.opens() {
            self.callers.answer_opens(Answer::Look);
            m.notices.wake();
        }
        let (Some(seat), Some(flake)) = (&mut self.seat, &self.generator) else {
            return Progress::Waits(None);
        };
        let (is_waited_for, is_free) = (self.callers.waits_for_span(), self.lanes.is_free(Lane::Disk));
        if let Some(end) = seat.poll(flake, is_waited_for, is_free, m) {
            self.tell_span(end, m);
            return Progress::Again;
        }
        if let Some(error) = seat.lease_is_over(m) {
            self.lose(error, false, m);
            return Progress::Again;
        }
        Progress::Waits(earliest(&[seat.due(flake, is_free, m), opens_by]))
    }

    /// Tells callers what became of the span.
    pub(crate) fn tell_span(&mut self, end: SpanEnd, m: &mut Moment<'_>) {
        if let Some(seat) = &self.seat {
            self.log.0.reserved_until = seat.file.record().run.until;
        }
        self.note_span(&end, m);
        let answer = match end {
            SpanEnd::NotNeeded | SpanEnd::Granted => Answer::Look,
            SpanEnd::NoRoom => Answer::NoRoom,
            SpanEnd::Failed(error) => Answer::Failed(error),
            // Callers wait for the next lease.
            SpanEnd::Lost(_) if self.life == Life::Lost => return,
            SpanEnd::Lost(why) => return self.lose(why, false, m),
        };
        self.callers.answer_spans(answer);
        m.notices.wake();
    }

    pub(crate) fn note_span(&mut self, end: &SpanEnd, m: &mut Moment<'_>) {
        if let Some(error) = self.log.0.note(end) {
            let worker_id = self.worker_id.unwrap_or(0);
            m.notices.warn(format!("the span of worker id {worker_id} was not renewed: {error}"));
        }
    }

    pub(crate) fn take_renewal(&mut self, answer: RenewalAnswer, since: Duration, m: &mut Moment<'_>) {
        let Some(seat) = &mut self.seat else { return };
        let Some((end, until_ms)) = seat.renewed(answer, since, m) else { return };
        match end {
            RenewalEnd::Kept => {
                self.is_kept = true;
                self.log.0.note_lease(until_ms, None);
            }
            RenewalEnd::Failed(error) => {
                let worker_id = seat.worker_id;
                m.notices.warn(format!("the lease of worker id {worker_id} was not renewed: {error}"));
                self.log.0.note_lease(until_ms, Some(error));
            }
            RenewalEnd::Lost(error) => {
                seat.drops_cache = true;
                self.lose(error, true, m);
            }
        }
    }
}

/// The error of a generator that was closed.
pub fn closed() -> Error {
    Error::new(Code::Closed, "the generator was closed; open another one")
}
