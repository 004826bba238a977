//! The world turns kind: every call ends, and ends well. Time passes only as far as the machines ask to be polled, so that
//! one that forgets a timer waits for ever.

use crate::host::Fate;
use crate::process::Half;
use crate::world::{SOON, World};
use leafid_core::supply::Ticket;
use std::time::Duration;

/// How long a call takes in a kind world.
const CALL: Duration = Duration::from_millis(3);

impl World {
    /// From here on nothing goes wrong: asserts that all callers have an end, that each process gets ids, and that those
    /// that close are closed.
    pub(crate) fn turns_kind(&mut self) {
        self.counters.raise();
        self.scenario.faults = 0;
        for who in 0..self.processes.len() {
            self.processes[who].halves.clear();
            let until = self.boot + SOON;
            self.run_until(
                who,
                until,
                |world, who| world.processes[who].waits.is_empty(),
                "its callers wait",
            );
            if self.processes[who].is_closing {
                let is_closed = |world: &World, who: usize| world.processes[who].closed == 1;
                self.run_until(who, until, is_closed, "it does not close");
                continue;
            }
            for &tag in self.scenario.tags {
                self.gets_an_id(who, tag, until);
            }
        }
    }

    fn gets_an_id(&mut self, who: usize, tag: &str, until: Duration) {
        loop {
            // It waits for as long as it takes: no other caller comes in between.
            let half = Half { timeout: SOON, ..self.ask(who, tag, 1) };
            let Some(ticket) = self.go_on(who, half) else { return };
            let before = self.judge.ids;
            let has_ended = |world: &World, who: usize| !world.processes[who].waits.contains_key(&ticket);
            self.run_until(who, until, has_ended, "a new caller waits");
            if self.judge.ids > before {
                return;
            }
            // It was refused: a caller tries again.
            self.pass(Duration::from_millis(100));
            assert!(
                self.boot < until,
                "process {} gets no id of {tag} for 30 s: {:#?}",
                self.processes[who].number,
                self.processes[who]
            );
        }
    }

    /// Lets all calls end, and time pass, until something is so.
    fn run_until(&mut self, who: usize, until: Duration, is_so: impl Fn(&World, usize) -> bool, what: &str) {
        loop {
            self.drive_all(who);
            if is_so(self, who) {
                return;
            }
            let next = self.processes[who].supply.next_time();
            let next = next.unwrap_or_else(|| {
                panic!(
                    "process {}: {what}, without a timer: {:#?}",
                    self.processes[who].number, self.processes[who]
                )
            });
            assert!(
                next <= until,
                "process {}: {what} after 30 s: {:#?}",
                self.processes[who].number,
                self.processes[who]
            );
            let time = next.saturating_sub(self.boot).max(Duration::from_millis(1));
            self.pass(time);
        }
    }

    /// All that can happen without a timer.
    fn drive_all(&mut self, who: usize) {
        for _ in 0..10_000 {
            self.listen(who);
            let tickets: Vec<Ticket> = self.processes[who]
                .waits
                .iter()
                .filter(|(_, waits)| waits.is_woken)
                .map(|(ticket, _)| *ticket)
                .collect();
            for &ticket in &tickets {
                assert!(self.collect(who, ticket).is_some(), "{ticket:?} was woken and waits");
            }
            let pulled = self.pull(who);
            let has_calls = !self.processes[who].calls.is_empty();
            if has_calls {
                self.pass(CALL);
                let holds_lock = |at: &usize| self.may_go_on(who, *at);
                let at = (0..self.processes[who].calls.len()).find(holds_lock);
                match at {
                    Some(at) => self.carry_on(who, at, Fate::Well),
                    None => self.others_unlock(who),
                }
            }
            if !pulled && !has_calls && tickets.is_empty() {
                return;
            }
        }
        panic!("process {} never rests: {:#?}", self.processes[who].number, self.processes[who]);
    }

    /// Whether a call does not wait for a lock that another process holds.
    fn may_go_on(&self, who: usize, at: usize) -> bool {
        let (process, call) = (&self.processes[who], &self.processes[who].calls[at]);
        let Some(name) = call.file() else { return true };
        let locked = self.disk.file(&name).and_then(|file| file.locked);
        locked.is_none_or(|holder| holder == (process.number, call.id.0))
    }

    /// Each process that holds a lock ends its call.
    fn others_unlock(&mut self, who: usize) {
        for other in (0..self.processes.len()).filter(|other| *other != who) {
            while let Some(at) = (0..self.processes[other].calls.len()).find(|at| self.may_go_on(other, *at))
            {
                self.carry_on(other, at, Fate::Well);
            }
        }
    }
}
