//! What may never happen in a world, and what has to have happened in the end.

use super::hosts::{Pid, StateFile};
use super::sources::LeaseUse;
use super::told::{BadUse, Leases, Told};
use super::world::LEASE_MS;
use leafid_core::Layout;
use leafid_core::format::state::StoredRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// All ids, and all leases that a process knew of.
#[derive(Debug)]
pub(crate) struct Judge {
    layout: Layout,
    pub(crate) issued: BTreeSet<i64>,
    /// Who has ids of a tick of a worker id: no other process has.
    ticks: BTreeMap<(u32, u64), Pid>,
    processes: BTreeMap<Pid, Process>,
    /// The number of leases of caches.
    pub(crate) cached: u64,
}

#[derive(Debug, Default)]
struct Process {
    /// The last tick with an id.
    last_tick: Option<u64>,
    leases: Leases,
    /// Its lease ends by itself.
    is_quiet: bool,
}

impl Judge {
    pub(crate) fn new(layout: Layout) -> Judge {
        let (issued, ticks, processes) = Default::default();
        Judge { layout, issued, ticks, processes, cached: 0 }
    }

    fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.entry(pid).or_default()
    }

    /// What a process does with its leases.
    fn uses<R: std::fmt::Debug>(
        &mut self,
        pid: Pid,
        what: R,
        its: impl FnOnce(&mut Leases, &R) -> Result<(), BadUse>,
    ) {
        let leases = &mut self.process(pid).leases;
        let found = its(leases, &what);
        assert_eq!(found, Ok(()), "process {pid}: {what:?}, {leases:?}");
    }

    /// A process has an id from its generator. `file` is the record of its worker id, if records are kept; `leased`:
    /// whether its worker ids are leased.
    pub(crate) fn issued(&mut self, pid: Pid, id: i64, file: Option<&StateFile>, leased: bool) {
        let parts = self.layout.decode(id).expect("a generator's own");
        let (worker_id, ms) = (parts.worker_id, parts.timestamp_ms);
        let tick = self.layout.tick_at(ms).expect("after the epoch");
        assert!(self.issued.insert(id), "{id} of worker id {worker_id} comes twice, now from process {pid}");
        let by = *self.ticks.entry((worker_id, tick)).or_insert(pid);
        assert_eq!(by, pid, "tick {tick} of worker id {worker_id} has ids of two processes");
        if let Some(file) = file {
            let run = file.newest().record.run;
            assert!(
                (run.from..run.until).contains(&tick),
                "process {pid} issues tick {tick} of worker id {worker_id}, and {run:?} is durable"
            );
        }
        let last_tick = &mut self.process(pid).last_tick;
        assert!(last_tick.is_none_or(|last| last <= tick), "the ids of process {pid} go back to {tick}");
        *last_tick = Some(tick);
        if leased {
            self.uses(pid, parts, |leases, _| leases.issue(worker_id, ms, tick));
        }
    }

    /// Another generator takes the place of the last one, which was sealed.
    pub(crate) fn takes_over(&mut self, pid: Pid, first_unused: u64) {
        if let Some(last) = self.process(pid).last_tick {
            assert!(
                first_unused > last,
                "process {pid} goes on at tick {first_unused}, and it issued {last}"
            );
        }
    }

    /// The end of a call, which was asked for at this boot time.
    pub(crate) fn told(&mut self, pid: Pid, told: &Told, asked: Duration) {
        self.cached += u64::from(matches!(told, Told::Cached(..)));
        self.uses(pid, told, |leases, told| leases.learn(told, asked, LEASE_MS));
    }

    /// A renewal or a release is asked for.
    pub(crate) fn asked(&mut self, pid: Pid, lease_use: LeaseUse) {
        let layout = self.layout;
        self.uses(pid, lease_use, |leases, lease_use| match lease_use {
            LeaseUse::Renewal { token } => leases.renew(token),
            LeaseUse::Release { token, until_ms } => leases.release(token, *until_ms, layout),
        });
    }

    /// The process claims another worker id, because the lease of this one is lost or over.
    pub(crate) fn gives_up(&mut self, pid: Pid, worker_id: u32) {
        self.process(pid).leases.give_up(worker_id);
    }

    /// A line of the log of a process.
    pub(crate) fn logged(&mut self, pid: Pid, text: &str) {
        self.process(pid).leases.leave(text);
    }

    /// Others hold this worker id on the process's host: its lease may be left to end.
    pub(crate) fn may_end(&mut self, pid: Pid, worker_id: u32) {
        self.process(pid).leases.may_end(worker_id);
    }

    /// Of such a process no lease is released.
    pub(crate) fn closes_quietly(&mut self, pid: Pid) {
        self.process(pid).is_quiet = true;
    }

    /// A write is asked for. `file` is the record that it goes to.
    pub(crate) fn writes(
        &mut self,
        pid: Pid,
        file: &StateFile,
        stored: &StoredRecord,
        slot: usize,
        boot: Duration,
    ) {
        let newest = file.newest();
        assert_ne!(slot, file.kept(), "process {pid} writes over the record that it relies on: {newest:?}");
        assert!(
            stored.number > file.largest_number(),
            "process {pid} writes number {}, and {} is there",
            stored.number,
            file.largest_number()
        );
        let (before, after) = (&newest.record, &stored.record);
        assert_eq!((before.worker_id, &newest.name), (after.worker_id, &stored.name), "of another record");
        if after.owner != before.owner {
            assert!(after.run.from >= before.run.until, "{:?} begins within {:?}", after.run, before.run);
        }
        if let Some(last) = self.process(pid).last_tick.filter(|_| after.owner == before.owner) {
            assert!(after.run.until > last, "process {pid} writes {:?}, and it issued {last}", after.run);
        }
        if after.owner == before.owner && after.run.until > before.run.until {
            let (layout, until) = (self.layout, after.run.until);
            self.uses(pid, (until, boot), |leases, _| leases.extend(after.worker_id, until, boot, layout));
        }
    }

    /// The boot time at which a process's newest lease ends.
    pub(crate) fn next_end(&self, pid: Pid) -> Option<Duration> {
        self.processes.get(&pid)?.leases.next_end()
    }

    /// No lease of a process that ended well is left.
    pub(crate) fn nothing_is_kept(&mut self, pid: Pid) {
        if !self.process(pid).is_quiet {
            self.uses(pid, "has ended", |leases, _| leases.none_is_kept());
        }
    }
}
