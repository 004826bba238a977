//! The close of a run: its generator is sealed, then its worker id is given back, then its lease is released.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Leaving` | a claim is undone, the exact end is written, and nothing is locked any more | `Renewing`, `Releasing`, `Gone` |
//! | `Renewing` | the renewal ended: the lease is released by its token | `Releasing` |
//! | `Renewing` | the renewal said that the lease is lost | `Gone` |
//! | `Releasing` | all releases ended | `Gone` |
//! | all of these | the time of the close is over | the close is reported, and what is left |
//! | `Gone` | | the close is reported |
//!
//! What ends after that is given back, too: with a closed run nothing is held.

use crate::run::farewell::Farewell;
use crate::run::lanes::{Asked, Lane};
use crate::run::leaving::Leaving;
use crate::run::moment::{Moment, earliest};
use crate::run::notices::RunNotice;
use crate::run::order::{Life, Progress, RunOrder, closed};
use crate::run::round::RoundEnd;
use crate::run::server_leases::ServerLeases;
use crate::run::waiting::Answer;
use crate::{Code, Error, Lease};
use alloc::format;

/// What a close waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseStage {
    /// The disk: a claim, or a held worker id.
    Leaving,
    /// The end of a renewal, whose token is the one to release.
    Renewing,
    /// The source.
    Releasing,
    Gone,
}

impl RunOrder {
    /// A lease that no generator used.
    pub(crate) fn release_unused(&mut self, lease: Lease, m: &Moment<'_>) {
        let from_ms = lease.from_ms;
        self.release(lease, from_ms, m);
    }

    fn release(&mut self, lease: Lease, until_ms: i64, m: &Moment<'_>) {
        let is_quiet = self.farewell.as_ref().is_some_and(|farewell| farewell.quietly);
        // Of servers it ends by itself.
        match &mut self.servers {
            Some(_) if is_quiet => {}
            Some(servers) => servers.release(&lease, until_ms, m),
            None => self.releases.push_back((lease, until_ms)),
        }
    }

    /// The worker ids that are being released.
    fn releasing(&self) -> impl Iterator<Item = i64> {
        let waiting = self.releases.iter().map(|(lease, _)| lease.worker_id);
        let of_callback = self.lanes.releases().filter(|_| self.servers.is_none());
        let of_servers = self.servers.iter().flat_map(ServerLeases::releases);
        waiting.chain(of_callback.chain(of_servers).map(|(worker_id, _)| *worker_id))
    }

    pub(crate) fn is_releasing(&self) -> bool {
        self.releasing().next().is_some()
    }

    pub(crate) fn close(&mut self, quietly: bool, waits_for_source: bool, m: &mut Moment<'_>) {
        let mut farewell = Farewell::new(quietly, waits_for_source, m.boot);
        let was_lost = self.life == Life::Lost;
        self.life = Life::Closing;
        let first_unused = self.generator.as_ref().and_then(|flake| flake.seal());
        if let (Some(mut seat), Some(first_unused)) = (self.seat.take(), first_unused) {
            let keeps_cache = quietly && m.settings.workers.are_of_servers();
            // A lost lease is not released, because another process may hold it.
            farewell.keep(seat.lease.take().filter(|_| !was_lost && !keeps_cache), first_unused);
            self.leaving = Some(Leaving::new(seat, first_unused, keeps_cache));
        }
        (self.farewell, self.undone) = (Some(farewell), None);
        if quietly && self.servers.is_some() {
            self.give_up_source(m);
        }
        self.undo_round(closed(), m);
        self.callers.answer_opens(Answer::Failed(closed()));
        self.callers.answer_spans(Answer::Look);
        m.notices.wake();
    }

    /// Gives back what a closed run holds, and tells once that it has ended.
    pub(crate) fn end(&mut self, m: &mut Moment<'_>) -> Progress {
        let is_free = self.lanes.is_free(Lane::Disk);
        if let Some(round) = &mut self.round {
            match round.poll(m, &self.lanes) {
                RoundEnd::Undone(_, lease) => {
                    self.round = None;
                    lease.into_iter().for_each(|lease| self.release_unused(lease, m));
                    return Progress::Again;
                }
                RoundEnd::None(_) | RoundEnd::Given | RoundEnd::Won(_) => {}
            }
        }
        self.leaving.iter_mut().for_each(|leaving| leaving.poll(m, is_free));
        let is_gone = self.round.is_none() && self.leaving.as_ref().is_none_or(Leaving::is_gone);
        let is_releasing = self.is_releasing();
        let Some(farewell) = &mut self.farewell else { return Progress::Waits(None) };
        let renews = self.lanes.any(Asked::Renew) || self.servers.as_ref().is_some_and(ServerLeases::renews);
        if self.leaving.as_ref().is_some_and(Leaving::leaves_cache) {
            // Another process may use it.
            farewell.keep(None, 0);
        }
        if is_gone
            && !renews
            && let Some((lease, until_ms)) = farewell.release(&m.settings.layout)
        {
            self.release(lease, until_ms, m);
            return Progress::Again;
        }
        let due = self.leaving.as_ref().and_then(Leaving::due);
        if self.life == Life::Closed {
            return Progress::Waits(due);
        }
        let stage = match is_gone {
            false => CloseStage::Leaving,
            true if farewell.keeps_lease() && farewell.waits_for_source => CloseStage::Renewing,
            true if is_releasing => CloseStage::Releasing,
            true => CloseStage::Gone,
        };
        if stage != CloseStage::Gone && m.boot < farewell.until {
            return Progress::Waits(earliest(&[due, Some(farewell.until)]));
        }
        let unreleased = farewell.keeps_lease().then_some(match renews {
            true => "a renewal is running",
            false => "the disk does not answer",
        });
        self.tell_end(is_gone, unreleased, m);
        Progress::Again
    }

    /// `unreleased`: why its lease is still kept.
    fn tell_end(&mut self, is_gone: bool, unreleased: Option<&str>, m: &mut Moment<'_>) {
        let result = match (&self.leaving, is_gone) {
            (Some(leaving), true) => leaving.result.clone(),
            (None, true) => Ok(()),
            (_, false) => Err(Error::new(
                Code::StateIo,
                "the disk did not answer in time; the record stays as it is, and the worker id is held until it does or the \
                 process ends",
            )),
        };
        if let (Some(why), Some(worker_id)) = (unreleased, self.worker_id) {
            m.notices.warn(format!("worker id {worker_id} is not released: {why}"));
        }
        for worker_id in self.releasing() {
            m.notices.warn(format!("the release of worker id {worker_id} did not answer in time"));
        }
        self.life = Life::Closed;
        self.give_up_source(m);
        self.give_up_releases(m);
        self.callers.answer_closes(result.clone().map_or_else(Answer::Failed, |()| Answer::Look));
        m.notices.push(RunNotice::Closed(result));
        m.notices.wake();
    }
}
