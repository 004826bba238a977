//! What is seen of a process, by its host and its callers, and the rules that it must keep.

use super::disk::File;
use super::sources::{LeaseUse, lease_use};
use super::told::{BadUse, Leases};
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::record_write::RecordWrite;
use leafid_core::run::{Lane, ProcessLeases, RunCall, RunNotice, RunState, WorkerRun};
use leafid_core::{Layout, OnClockBackwards, Rules, Snowflake, Span};
use std::sync::Arc;
use std::time::Duration;

/// A clock that leaps so far ahead ends a run, or a reset would skip the ticks in between.
const LEAP_MS: i64 = 60_000;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrong {
    IssuedTwice,
    GoesBack,
    NotDurable,
    TooFarAhead,
    NotSealed,
    BelowItsOwn,
    /// A run goes on after a leap of the clock.
    OneRun,
    Lease(BadUse),
    Locks,
    OverTheNewest,
    OldNumber,
    OtherRecord,
    OwnRecordRefused,
    ClosedTwice,
    SleepsOver,
    Busy,
}

/// What a machine says when it is polled.
pub(crate) enum Said {
    Call(CallId, Lane, RunCall),
    Notice(RunNotice),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    pub(crate) leases: Leases,
    /// Its last id.
    pub(crate) last: Option<i64>,
    /// Whether its lease is lost, and no other one is held yet.
    is_lost: bool,
    pub(crate) closed: bool,
}

impl Seen {
    /// Polls the machine until it has nothing to say. `shown`: the generator that its threads saw last.
    pub(crate) fn poll(
        &mut self,
        run: &mut WorkerRun,
        shared: &mut ProcessLeases,
        mut shown: Option<Arc<Snowflake>>,
        clocks: Clocks,
        layout: Layout,
    ) -> Result<Vec<Said>, Wrong> {
        let mut said = Vec::new();
        for _ in 0..1_000 {
            self.see_loss(run);
            self.check_generator(shown.as_ref(), run.generator(), layout)?;
            shown = run.generator().cloned().or(shown);
            if let Some(notice) = run.next_notice(clocks) {
                self.hears(&notice)?;
                said.push(Said::Notice(notice));
            } else if let Some((id, lane, call)) = run.next_call(clocks, shared) {
                self.asks(&call, layout)?;
                said.push(Said::Call(id, lane, call));
            } else if run.next_time().is_none_or(|due| due > clocks.boot) {
                let sleeps_over =
                    run.next_call(clocks, shared).is_some() || run.next_notice(clocks).is_some();
                return if sleeps_over { Err(Wrong::SleepsOver) } else { Ok(said) };
            }
        }
        Err(Wrong::Busy)
    }

    fn hears(&mut self, notice: &RunNotice) -> Result<(), Wrong> {
        match notice {
            RunNotice::Closed(_) if std::mem::replace(&mut self.closed, true) => {
                return Err(Wrong::ClosedTwice);
            }
            RunNotice::Log(_, text) => self.leases.leave(text),
            _ => {}
        }
        Ok(())
    }

    fn asks(&mut self, call: &RunCall, layout: Layout) -> Result<(), Wrong> {
        let used = match lease_use(call) {
            None => Ok(()),
            Some(LeaseUse::Renewal { token }) => self.leases.renew(&token),
            Some(LeaseUse::Release { token, until_ms }) => self.leases.release(&token, until_ms, layout),
        };
        used.map_err(Wrong::Lease)
    }

    /// When it claims another worker id, because the lease is lost or over, another may have it by now.
    fn see_loss(&mut self, run: &WorkerRun) {
        let lost = match run.state() {
            RunState::Held { worker_id, lost: true } => Some(worker_id),
            _ => None,
        };
        if let Some(worker_id) = lost.filter(|_| !self.is_lost) {
            self.leases.give_up(worker_id);
        }
        self.is_lost = lost.is_some();
    }

    /// A generator that another one took the place of issues nothing more, and the other one nothing below.
    fn check_generator(
        &self,
        before: Option<&Arc<Snowflake>>,
        now: Option<&Arc<Snowflake>>,
        layout: Layout,
    ) -> Result<(), Wrong> {
        let is_other = before.map(Arc::as_ptr) != now.map(Arc::as_ptr);
        let goes_on = now.and_then(|now| now.first_unused());
        if (is_other && before.is_some_and(|before| before.first_unused().is_some()))
            || (self.closed && goes_on.is_some())
        {
            return Err(Wrong::NotSealed);
        }
        let last = self.last.and_then(|id| tick_of(layout, id));
        match goes_on.filter(|_| is_other).zip(last) {
            Some((first, last)) if first <= last => Err(Wrong::BelowItsOwn),
            _ => Ok(()),
        }
    }

    /// It issues an id at this time. `file`: of its worker id, where records are kept; `leased`: whether worker ids are.
    pub(crate) fn issues(
        &mut self,
        id: i64,
        now_ms: i64,
        (layout, rules): (Layout, Rules),
        file: Option<&File>,
        leased: bool,
    ) -> Result<(), Wrong> {
        let parts = layout.decode(id).expect("a generator's own");
        let ms = parts.timestamp_ms;
        let tick = layout.tick_at(ms).unwrap_or(0);
        if self.closed {
            return Err(Wrong::NotSealed);
        } else if ms - now_ms > most_ahead_ms(&rules) {
            return Err(Wrong::TooFarAhead);
        }
        if let Some(file) = file {
            let record = file.slots().newest.record;
            let holds = |span: &Span| (span.from..span.until).contains(&tick);
            let is_durable = holds(&record.run) || record.former.iter().any(holds);
            if record.worker_id != parts.worker_id || !is_durable {
                return Err(Wrong::NotDurable);
            }
        }
        if self.last.is_some_and(|last| last >= id) {
            return Err(Wrong::GoesBack);
        }
        self.last = Some(id);
        match leased {
            true => self.leases.issue(parts.worker_id, ms, tick).map_err(Wrong::Lease),
            false => Ok(()),
        }
    }

    /// A write of the record that it holds is asked for.
    pub(crate) fn writes(
        &self,
        write: &RecordWrite,
        file: Option<&File>,
        now_ms: i64,
        boot: Duration,
        layout: Layout,
    ) -> Result<(), Wrong> {
        let (mut write, file) = (write.clone(), file.ok_or(Wrong::Locks)?);
        let (newest, stored) = (file.slots().newest, write.record(u128::MAX).clone());
        let (before, after) = (&newest.record, &stored.record);
        let is_own = after.owner == before.owner;
        let last = self.last.and_then(|id| tick_of(layout, id));
        if write.slot() == file.kept {
            return Err(Wrong::OverTheNewest);
        } else if stored.number <= file.largest_number() {
            return Err(Wrong::OldNumber);
        } else if (before.worker_id, newest.name) != (after.worker_id, stored.name) {
            return Err(Wrong::OtherRecord);
        } else if !is_own && after.run.from < before.run.until {
            return Err(Wrong::IssuedTwice);
        } else if is_own && last.is_some_and(|last| after.run.until <= last) {
            return Err(Wrong::BelowItsOwn);
        }
        let extends = is_own && after.run.until > before.run.until;
        let gap = layout.tick_at(now_ms).unwrap_or(0).saturating_sub(before.run.until);
        let gap_ms = gap as i64 * layout.tick_ms();
        if extends && !before.run.is_empty() && gap_ms >= LEAP_MS && after.run.from == before.run.from {
            return Err(Wrong::OneRun);
        }
        match extends {
            true => self.leases.extend(after.worker_id, after.run.until, boot, layout).map_err(Wrong::Lease),
            false => Ok(()),
        }
    }
}

fn tick_of(layout: Layout, id: i64) -> Option<u64> {
    layout.tick_at(layout.decode(id).expect("a generator's own").timestamp_ms)
}

/// How far ahead of the clock an id may be.
fn most_ahead_ms(rules: &Rules) -> i64 {
    match rules.on_clock_backwards {
        OnClockBackwards::Continue => rules.max_backwards_ms,
        OnClockBackwards::Wait => 0,
    }
}
