//! The threads of a process that want ids.

use super::disk::Pid;
use super::world::{Workers, World};
use leafid_core::run::{Answer, Need, RunNotice, RunTicket};
use leafid_core::{Action, Error};

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
        if process.seen.closed {
            user.acts_at = u64::MAX;
        } else if user.closes {
            let quietly = self.workers == Workers::Servers && pid.is_multiple_of(3);
            if quietly {
                process.is_quiet = true;
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
                Ok(id) => self.issued(pid, id, now_ms),
                Err(Action::NeedSpan | Action::Sealed) => return self.want_span(pid),
                Err(_) => return,
            }
        }
    }

    fn issued(&mut self, pid: Pid, id: i64, now_ms: i64) {
        let (layout, rules, workers) = (self.layout, self.rules, self.workers);
        self.judge.issued(pid, id, layout);
        let process = self.processes.get_mut(&pid).expect("it lives");
        process.user.ids += 1;
        let file = self.hosts[process.host].disk.held(pid);
        assert!(
            workers == Workers::Unrecorded || file.is_some(),
            "process {pid} issues {id} without a record"
        );
        let found = process.seen.issues(id, now_ms, (layout, rules), file, workers.are_leased());
        process.keeps(pid, found);
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
        match notice {
            // Those who wait look.
            RunNotice::Wake => {
                let now = self.now;
                let user = &mut self.process(pid).user;
                user.acts_at = user.acts_at.min(now);
            }
            RunNotice::Closed(ended) => self.tell(|| format!("{pid} is closed: {ended:?}")),
            RunNotice::Log(level, text) => self.tell(|| format!("{pid} {level:?}: {text}")),
            RunNotice::Abandon(call) => {
                self.tell(|| format!("{pid} abandons {call:?}"));
                self.abandon(pid, call);
            }
        }
    }
}
