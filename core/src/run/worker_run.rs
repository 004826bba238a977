//! The user of a worker id, from the claim to the release, over any number of lost leases: what its host sees.
//!
//! A host pulls calls ([`WorkerRun::next_call`]), carries them out, and reports each end ([`WorkerRun::done`]). After each
//! event it pulls calls and notices until there are none, and sleeps until [`WorkerRun::next_time`]. Needs and queries:
//! [`WorkerRun::want`], [`WorkerRun::give_up`], [`WorkerRun::answer`]. What follows what is in [`RunOrder`].

use crate::Snowflake;
use crate::aside::Aside;
use crate::call::{CallId, Clocks};
use crate::place::Place;
use crate::run::call_end::RunCallEnd;
use crate::run::lanes::{Lane, RunCall};
use crate::run::moment::Moment;
use crate::run::notices::{Notices, RunNotice};
use crate::run::order::{RunOrder, Settled};
use crate::run::process_leases::ProcessLeases;
use crate::run::run_callers::{Answered, Need, RunTicket};
use crate::run::run_state::RunState;
use crate::run::run_stats::RunStats;
use crate::run::settings::RunSettings;
use crate::run::waiting::Answer;
use alloc::sync::Arc;
use core::mem::take;
use core::time::Duration;

/// The machine. It is behind one lock that no id takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkerRun {
    settings: Arc<RunSettings>,
    place: Aside<Arc<Place>>,
    order: RunOrder,
    notices: Aside<Notices>,
    /// When to poll again.
    due: Aside<Option<Duration>>,
    /// The boot time of the last event, and whether it may have made a call ready that was not pulled yet.
    now: Aside<Duration>,
    changed: Aside<bool>,
}

impl WorkerRun {
    /// A run that is not opened yet. `seed` is for jitter alone.
    pub fn new(settings: RunSettings, place: Place, seed: u64) -> WorkerRun {
        let order = RunOrder::new(&settings, seed);
        let (settings, place) = (Arc::new(settings), Aside(Arc::new(place)));
        WorkerRun {
            settings,
            place,
            order,
            notices: Aside::default(),
            due: Aside(None),
            now: Aside::default(),
            changed: Aside(false),
        }
    }

    /// A caller needs something. Its answer comes with [`RunNotice::Wake`], or at once; then nothing is kept of it. A caller
    /// that stops waiting calls [`WorkerRun::give_up`].
    pub fn want(&mut self, need: Need, clocks: Clocks) -> RunTicket {
        self.changed = Aside(true);
        self.at(clocks, |order, m| order.want(need, m))
    }

    /// The caller stops waiting. If no other one waits for the opening, its claim is undone. One that was held just
    /// before stays so: whoever has no handle then closes it.
    pub fn give_up(&mut self, ticket: RunTicket, clocks: Clocks) {
        self.changed = Aside(true);
        self.at(clocks, |order, m| order.give_up(ticket, m));
    }

    /// The answer to a need.
    pub fn answer(&self, ticket: RunTicket) -> Answer {
        self.order.answer(ticket, &self.settings)
    }

    /// Which tickets are answered, for atomics that waiting threads read.
    pub fn answered(&self) -> Answered {
        self.order.answered()
    }

    /// The next call to carry out. Read the clocks directly before: they are the time before the call. `leases`: what the
    /// runs of this process share; who calls this holds its lock.
    pub fn next_call(
        &mut self,
        clocks: Clocks,
        leases: &mut ProcessLeases,
    ) -> Option<(CallId, Lane, RunCall)> {
        // What is due is done by the look for a call.
        (self.changed, self.due) = (Aside(false), Aside(None));
        let call = self.at(clocks, |order, m| order.next_call(m, leases));
        self.changed.0 |= call.is_some();
        call
    }

    /// A call ended. A call that ended before, or was never asked for, has no effect; nor has the end of another call.
    pub fn done(&mut self, call: CallId, end: RunCallEnd, clocks: Clocks) {
        if !end.is_of(call) {
            return;
        }
        self.changed = Aside(true);
        self.at(clocks, |order, m| order.ended(call, end.end, m));
    }

    /// The next thing to tell.
    pub fn next_notice(&mut self, clocks: Clocks) -> Option<RunNotice> {
        self.at(clocks, |_, _| {});
        self.notices.0.next()
    }

    /// When to pull calls and notices again if nothing else happens before: the boot time. As long as a notice waits, or a
    /// call may be ready, it is not later than the last event.
    pub fn next_time(&self) -> Option<Duration> {
        match self.changed.0 || self.notices.0.waits() {
            true => Some(self.now.0),
            false => self.due.0,
        }
    }

    /// The generator, which the host hands to those who need ids. After a lost lease it is another one.
    pub fn generator(&self) -> Option<&Arc<Snowflake>> {
        self.order.generator()
    }

    /// The generator issues no id before this time of the clock, because no record was found: callers wait until then.
    pub fn begins_ms(&self) -> Option<i64> {
        self.order.begins_ms()
    }

    /// How far it is.
    pub fn state(&self) -> RunState {
        self.order.state()
    }

    /// The statistics. `now_ms` is the clock after the filter.
    pub fn stats(&self, now_ms: i64) -> RunStats {
        let flake = self.order.generator().map(|flake| &**flake);
        RunStats::new(self.order.log(), flake, &self.settings.layout, now_ms)
    }

    /// Does something at this moment, then goes on as far as no call is needed.
    fn at<R>(&mut self, clocks: Clocks, action: impl FnOnce(&mut RunOrder, &mut Moment<'_>) -> R) -> R {
        let was_due = self.due.0.is_some_and(|due| clocks.boot >= due);
        let mut notices = take(&mut self.notices.0);
        let mut m = Moment::new(&self.settings, &self.place.0, &mut notices, clocks);
        let result = action(&mut self.order, &mut m);
        let Settled { due, changed } = self.order.settle(&mut m);
        (self.due, self.now, self.notices) = (Aside(due), Aside(clocks.boot), Aside(notices));
        self.changed.0 |= changed || was_due;
        result
    }
}
