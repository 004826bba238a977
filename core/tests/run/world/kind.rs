//! What happens without further faults: there are ids soon, and all is given back at the end.

use super::clock::HostClock;
use super::disk::{File, Written};
use super::process::Process;
use super::seen::Wrong;
use super::setting::Ids;
use super::state::State;
use leafid_core::Code;
use leafid_core::run::RunState;

/// The clock of a host that is so far ahead, in ticks, finds that each lease is over.
const LEASE_TICKS: i64 = 3;

/// Within this time of a kind world there are ids, or within so many times what a lease and its span, or the way back of
/// a clock may last.
const SOON_MS: i64 = 30_000;
const SOON_TIMES: i64 = 4;

impl State {
    /// Whether it does.
    pub(crate) fn goes_on(&self) -> bool {
        let is_prompt =
            self.processes.iter().flatten().any(|its| its.flights.iter().any(|call| call.is_prompt));
        let is_well = || self.clone().is_well() && (0..2).all(|who| self.is_well_alone(who));
        is_prompt || self.wrong().is_some() || is_well()
    }

    /// Whether it does for this process, when the other one ends: both want one lease.
    fn is_well_alone(&self, who: usize) -> bool {
        let (mut state, other) = (self.clone(), 1 - who);
        let are_two = state.processes.iter().all(Option::is_some) && state.setting.leased_ids() == 1;
        state.processes[other] = None;
        state.host(other).drop_process(other);
        !are_two || state.is_well()
    }

    fn is_well(&mut self) -> bool {
        self.setting.speed = [2, 2];
        self.clocks.iter_mut().for_each(HostClock::runs);
        self.cut_off = [false; 2];
        self.end_all();
        if self.processes.iter().flatten().all(|its| its.closes) {
            let free = self.processes.iter().position(Option::is_none);
            free.into_iter().for_each(|who| self.open(who));
        }
        let wants: Vec<usize> =
            (0..2).filter(|who| self.processes[*who].as_ref().is_some_and(|its| !its.closes)).collect();
        let last = |state: &State, who: usize| state.processes[who].as_ref().and_then(|its| its.seen.last);
        let before = [last(self, 0), last(self, 1)];
        let has_ids = |state: &mut State| {
            for who in &wants {
                let _ = state.next_id(*who);
            }
            let has = |who: &usize| last(state, *who) > before[*who];
            // Two processes that want one id are not both served.
            match state.setting.room() < 2 {
                true => wants.is_empty() || wants.iter().any(has),
                false => wants.iter().all(has),
            }
        };
        let issues = self.within_time(has_ids, |state, is_late| state.is_helped(&wants, is_late));
        for who in 0..2 {
            let _ = self.close(who, false);
        }
        issues && self.within_time(|state| state.processes.iter().all(Option::is_none), |_, _| ())
    }

    /// `helps` is what an operator does: at once, and again when half of the time is over.
    fn within_time(
        &mut self,
        mut is_done: impl FnMut(&mut State) -> bool,
        helps: impl Fn(&mut State, bool),
    ) -> bool {
        let tick_ms = self.setting.tick_ms;
        let lasts_ms = match self.setting.leased_ids() {
            // A record may be so far ahead of a clock that is set right.
            0 => tick_ms + self.setting.rules.max_backwards_ms,
            _ => self.setting.lease_ticks.iter().sum::<i64>() * tick_ms,
        };
        let soon_ms = SOON_MS.max(SOON_TIMES * lasts_ms);
        let (half_ms, end_ms) = (self.passed_ms + soon_ms / 2, self.passed_ms + soon_ms);
        let mut was_late = false;
        loop {
            let is_late = self.passed_ms >= half_ms;
            helps(self, is_late && !was_late);
            was_late = is_late;
            let done = is_done(self);
            self.end_all();
            if done || self.wrong().is_some() || self.passed_ms >= end_ms {
                return done && self.wrong().is_none();
            }
            let wait_ms = (0..2).filter_map(|who| self.sleeps_ms(who)).min().unwrap_or(tick_ms);
            self.pass(wait_ms.clamp(tick_ms / 8, tick_ms / 4));
            self.poll_all();
        }
    }

    /// A record that is refused is reset, once. If this was not enough, and a clock is wrong, the machines start again with
    /// clocks that are right.
    fn is_helped(&mut self, wants: &[usize], is_late: bool) {
        if let Some(who) = self.is_refused().filter(|_| self.resets < u32::MAX) {
            self.resets = u32::MAX;
            let free = self.hosts[0].files.iter().filter(|(_, file)| file.is_free());
            for worker_id in free.map(|(id, _)| *id).collect::<Vec<u32>>() {
                let _ = self.reset(who, worker_id, Written::Whole);
            }
        }
        // The clocks of hosts with leases may be as far from the server's as they are.
        let off_ms = self.setting.off.map(|ticks| match self.setting.ids {
            Ids::Object(_) | Ids::Server(_) => ticks * self.setting.tick_ms,
            Ids::Fixed | Ids::Range(_) | Ids::Function => 0,
        });
        let (passed_ms, apart_ms) = (self.passed_ms, LEASE_TICKS * self.setting.tick_ms);
        if is_late
            && self.clocks.iter().zip(off_ms).any(|(clock, off_ms)| clock.is_off(off_ms, passed_ms, apart_ms))
        {
            self.clocks.iter_mut().for_each(|clock| clock.set_right(passed_ms));
            let fails = |its: &Process| matches!(its.run.state(), RunState::Failed(_) | RunState::Claiming);
            for who in wants {
                if !self.processes[*who].as_ref().is_some_and(fails) {
                    continue;
                }
                self.processes[*who] = None;
                self.host(*who).drop_process(*who);
                self.open(*who);
            }
        }
    }

    /// How long its machine wants to sleep.
    fn sleeps_ms(&self, who: usize) -> Option<i64> {
        let next = self.processes[who].as_ref()?.run.next_time()?;
        Some(next.saturating_sub(self.clocks(who).boot).as_millis() as i64)
    }

    /// The process that may not start, by its clock, with a record without a holder.
    fn is_refused(&self) -> Option<usize> {
        let is_free = self.hosts[0].files.values().any(File::is_free);
        let refused = |who: &usize| {
            let state = self.processes[*who].as_ref().map(|its| its.run.state());
            matches!(state, Some(RunState::Failed(why)) if why.code() == Code::ClockBackwards)
        };
        (0..2).filter(|_| is_free && self.setting.leased_ids() == 0).find(refused)
    }

    /// All calls end well.
    fn end_all(&mut self) {
        for _ in 0..100 {
            let first =
                (0..2).find(|who| self.processes[*who].as_ref().is_some_and(|its| !its.flights.is_empty()));
            match first {
                Some(who) => {
                    let _ = self.ends(who, 0);
                }
                None => return,
            }
        }
        self.check(Err(Wrong::Busy));
    }
}
