//! The threads of a process that want ids.

use super::hosts::Pid;
use super::world::{Workers, World};
use leafid_core::run::{Answer, Need, RunNotice, RunState, RunTicket};
use leafid_core::{Action, Error};
use std::sync::Arc;

/// The callers of a process, as one.
#[derive(Debug, Default)]
pub(crate) struct User {
    pub(crate) acts_at: u64,
    opening: Option<RunTicket>,
    span: Option<RunTicket>,
    /// It wants to close, and no id any more.
    pub(crate) closes: bool,
    closing: Option<RunTicket>,
    /// The number of ids that it has.
    pub(crate) ids: u64,
    pub(crate) error: Option<Error>,
}

impl User {
    pub(crate) fn at(acts_at: u64) -> User {
        User { acts_at, ..User::default() }
    }
}

impl World {
    /// A process's callers do something, if it is time.
    pub(crate) fn act(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        if process.user.acts_at > self.now {
            return;
        }
        let pause = match self.random.below(if self.kind { 20 } else { 40 }) {
            0..20 => self.random.below(80) + 1,
            20..34 => self.random.below(500),
            34..38 => self.random.below(5_000),
            38 => self.random.below(20_000),
            _ => 60_000 + self.random.below(5_000),
        };
        process.user.acts_at = self.now + pause;
        let clocks = self.hosts[process.host].clocks(self.now);
        let (user, run) = (&mut process.user, &mut process.run);
        if process.closed {
            user.acts_at = u64::MAX;
        } else if user.closes {
            let quietly = self.workers == Workers::Servers && pid.is_multiple_of(3);
            if quietly {
                self.judge.closes_quietly(pid);
            }
            user.closing
                .get_or_insert_with(|| run.want(Need::Close { quietly, waits_for_source: true }, clocks));
        } else if let Some(ticket) = user.opening {
            match run.answer(ticket) {
                Answer::Pending(_) if !self.kind && self.random.below(30) == 0 => {
                    run.give_up(ticket, clocks);
                    user.opening = None;
                }
                Answer::Pending(_) => {}
                Answer::Look | Answer::NoRoom => user.opening = None,
                Answer::Failed(error) => (user.error, user.opening) = (Some(error), None),
            }
        } else if process.generator.is_none() {
            user.opening = Some(run.want(Need::Open { longest: None, loops: false }, clocks));
        }
        self.take(pid);
    }

    /// Takes some ids, or asks for a span.
    fn take(&mut self, pid: Pid) {
        let Some(generator) = self.process(pid).generator.clone() else { return };
        let now_ms = self.filtered_ms(pid);
        for _ in 0..self.random.below(12) + 1 {
            match generator.next(now_ms) {
                Ok(id) => self.issued(pid, id),
                Err(Action::NeedSpan | Action::Sealed) => return self.want_span(pid),
                Err(_) => return,
            }
        }
    }

    fn issued(&mut self, pid: Pid, id: i64) {
        let process = self.processes.get_mut(&pid).expect("it lives");
        assert!(!process.closed, "process {pid} issues {id} after it was closed");
        process.user.ids += 1;
        let worker_id = self.layout.decode(id).expect("a generator's own").worker_id;
        let host = &self.hosts[process.host];
        let locked = if self.workers == Workers::Unrecorded { None } else { host.record_of(pid) };
        if self.workers != Workers::Unrecorded {
            assert_eq!(
                locked,
                Some(worker_id),
                "process {pid} issues an id of {worker_id}, and it holds another record"
            );
        }
        self.judge.issued(pid, id, locked.map(|id| &host.files[&id]), self.workers.are_leased());
    }

    fn want_span(&mut self, pid: Pid) {
        let process = self.processes.get_mut(&pid).expect("it lives");
        let clocks = self.hosts[process.host].clocks(self.now);
        let (user, run) = (&mut process.user, &mut process.run);
        if user.closes {
            return;
        }
        match user.span.map(|ticket| run.answer(ticket)) {
            Some(Answer::Pending(_)) if !self.kind && self.random.below(30) == 0 => {
                run.give_up(user.span.take().expect("it waits"), clocks);
            }
            Some(Answer::Pending(_)) => {}
            // Its caller asks again later.
            Some(Answer::Failed(error)) => (user.error, user.span) = (Some(error), None),
            Some(Answer::NoRoom) => user.span = None,
            Some(Answer::Look) | None => user.span = Some(run.want(Need::Span, clocks)),
        }
    }

    pub(crate) fn notice(&mut self, pid: Pid, notice: RunNotice) {
        let process = self.processes.get_mut(&pid).expect("it lives");
        match notice {
            // Those who wait look.
            RunNotice::Wake => process.user.acts_at = process.user.acts_at.min(self.now),
            RunNotice::Closed(ended) => {
                assert!(!process.closed, "process {pid} is closed twice");
                process.closed = true;
                let sealed =
                    process.generator.as_ref().is_none_or(|generator| generator.first_unused().is_none());
                assert!(sealed, "process {pid} is closed, and its generator goes on");
                self.tell(|| format!("{pid} is closed: {ended:?}"));
            }
            RunNotice::Log(level, text) => {
                self.judge.logged(pid, &text);
                self.tell(|| format!("{pid} {level:?}: {text}"));
            }
            RunNotice::Abandon(call) => {
                self.tell(|| format!("{pid} abandons {call:?}"));
                self.abandon(pid, call);
            }
        }
    }

    /// Shows a process's threads the generator that its machine has now.
    pub(crate) fn see_generator(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let lost = match process.run.state() {
            RunState::Held { worker_id, lost: true } => Some(worker_id),
            _ => None,
        };
        if let Some(worker_id) = lost.filter(|_| !process.is_lost) {
            self.judge.gives_up(pid, worker_id);
        }
        process.is_lost = lost.is_some();
        let Some(now) = process.run.generator() else { return };
        if process.generator.as_ref().is_some_and(|before| Arc::ptr_eq(before, now)) {
            return;
        }
        let now = Arc::clone(now);
        if let Some(before) = process.generator.replace(Arc::clone(&now)) {
            assert_eq!(
                before.first_unused(),
                None,
                "process {pid} has another generator, and the last one goes on"
            );
        }
        let first = now.first_unused();
        self.tell(|| format!("{pid} has a generator from {first:?}"));
        if let Some(first) = first {
            self.judge.takes_over(pid, first);
        }
    }
}
