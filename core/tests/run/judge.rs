//! What may never happen in a world, and what has to have happened in the end.

use super::hosts::{Pid, StateFile};
use super::lease_server::Given;
use super::world::LEASE_MS;
use leafid_core::Layout;
use leafid_core::format::state::StoredRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// All ids, and all leases that a process was told of.
#[derive(Debug)]
pub(crate) struct Judge {
    layout: Layout,
    pub(crate) issued: BTreeSet<i64>,
    processes: BTreeMap<Pid, Told>,
}

/// What a process was told, and what it did with it.
#[derive(Debug, Default)]
struct Told {
    /// The last tick with an id.
    last_tick: Option<u64>,
    leases: Vec<ToldLease>,
}

/// A lease of which a process was told.
#[derive(Debug)]
struct ToldLease {
    worker_id: i64,
    from_ms: i64,
    until_ms: i64,
    /// The newest is the last.
    tokens: Vec<String>,
    /// The boot time from which on no further span is used.
    ends: Duration,
    /// The first tick above all its ids.
    first_unused: u64,
    end: Option<LeaseEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseEnd {
    /// By the word of its source, or because it ended without a renewal.
    Lost,
    Released,
}

impl Judge {
    pub(crate) fn new(layout: Layout) -> Judge {
        Judge { layout, issued: BTreeSet::new(), processes: BTreeMap::new() }
    }

    fn told(&mut self, pid: Pid) -> &mut Told {
        self.processes.entry(pid).or_default()
    }

    /// A process has an id from its generator. `file` is the record of its worker id, if records are kept; `leased`:
    /// whether its worker ids are leased.
    pub(crate) fn issued(&mut self, pid: Pid, id: i64, file: Option<&StateFile>, leased: bool) {
        let parts = self.layout.decode(id).expect("a generator's own");
        let (worker_id, tick) =
            (parts.worker_id, self.layout.tick_at(parts.timestamp_ms).expect("after the epoch"));
        assert!(self.issued.insert(id), "{id} of worker id {worker_id} comes twice, now from process {pid}");
        if let Some(file) = file {
            let run = file.newest().record.run;
            assert!(
                (run.from..run.until).contains(&tick),
                "process {pid} issues tick {tick} of worker id {worker_id}, and {run:?} is durable"
            );
        }
        let told = self.told(pid);
        assert!(told.last_tick.is_none_or(|last| last <= tick), "the ids of process {pid} go back to {tick}");
        told.last_tick = Some(tick);
        if leased {
            let ms = parts.timestamp_ms;
            let lease = told.leases.iter_mut().rev().find(|lease| {
                lease.worker_id == i64::from(worker_id) && (lease.from_ms..lease.until_ms).contains(&ms)
            });
            let lease = lease
                .unwrap_or_else(|| panic!("process {pid} issues {ms} ms of {worker_id} without a lease"));
            assert_ne!(
                lease.end,
                Some(LeaseEnd::Released),
                "process {pid} issues an id of a lease that it released"
            );
            lease.first_unused = tick + 1;
        }
    }

    /// Another generator takes the place of the last one, which was sealed.
    pub(crate) fn takes_over(&mut self, pid: Pid, first_unused: u64) {
        if let Some(last) = self.told(pid).last_tick {
            assert!(
                first_unused > last,
                "process {pid} goes on at tick {first_unused}, and it issued {last}"
            );
        }
    }

    /// The answer to a claim, which was asked first at this boot time.
    pub(crate) fn claimed(&mut self, pid: Pid, given: &Given, asked: Duration) {
        let told = self.told(pid);
        // A claim that was asked again is one lease.
        if told.leases.iter().all(|lease| !lease.tokens.contains(&given.token)) {
            told.leases.push(ToldLease {
                worker_id: given.worker_id,
                from_ms: given.from_ms,
                until_ms: given.until_ms,
                tokens: vec![given.token.clone()],
                ends: asked + Duration::from_millis(LEASE_MS as u64),
                first_unused: 0,
                end: None,
            });
        }
    }

    fn lease(&mut self, pid: Pid, token: &str) -> &mut ToldLease {
        let lease =
            self.told(pid).leases.iter_mut().find(|lease| lease.tokens.iter().any(|its| its == token));
        lease.unwrap_or_else(|| panic!("process {pid} was never told of the token {token}"))
    }

    /// A renewal is asked for.
    pub(crate) fn renews(&mut self, pid: Pid, token: &str) {
        let lease = self.lease(pid, token);
        assert_eq!(
            lease.tokens.last().map(String::as_str),
            Some(token),
            "a renewal by an old token: {lease:?}"
        );
        assert_ne!(lease.end, Some(LeaseEnd::Released), "process {pid} renews what it released: {lease:?}");
    }

    /// The answer to a renewal by this token, which was asked at this boot time.
    pub(crate) fn renewed(&mut self, pid: Pid, token: &str, given: &Given, asked: Duration) {
        let lease = self.lease(pid, token);
        lease.until_ms = lease.until_ms.max(given.until_ms);
        lease.ends = asked + Duration::from_millis(LEASE_MS as u64);
        lease.tokens.push(given.token.clone());
    }

    /// The source says that this token holds nothing: it may be another's, or a renewal after this one made another token.
    pub(crate) fn lost(&mut self, pid: Pid, token: &str) {
        let lease = self.lease(pid, token);
        if lease.end.is_none() && lease.tokens.last().is_some_and(|newest| newest == token) {
            lease.end = Some(LeaseEnd::Lost);
        }
    }

    /// The process claims another worker id, because the lease of this one is lost or over: another may have it by now.
    pub(crate) fn gives_up(&mut self, pid: Pid, worker_id: u32) {
        let its = self.told(pid).leases.iter_mut().filter(|lease| lease.worker_id == i64::from(worker_id));
        its.filter(|lease| lease.end.is_none()).for_each(|lease| lease.end = Some(LeaseEnd::Lost));
    }

    /// A release is asked for: no id at or after `until_ms` was or will be issued.
    pub(crate) fn releases(&mut self, pid: Pid, worker_id: i64, token: &str, until_ms: i64) {
        let layout = self.layout;
        let lease = self.lease(pid, token);
        assert_eq!(lease.worker_id, worker_id, "{lease:?}");
        assert_eq!(
            lease.tokens.last().map(String::as_str),
            Some(token),
            "released by an old token: {lease:?}"
        );
        assert_eq!(lease.end, None, "process {pid} releases what it has not any more: {lease:?}");
        let unused_ms =
            if lease.first_unused == 0 { lease.from_ms } else { layout.tick_start_ms(lease.first_unused) };
        assert!(until_ms >= unused_ms, "released down to {until_ms}, with ids up to {unused_ms}: {lease:?}");
        lease.end = Some(LeaseEnd::Released);
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
        if let Some(last) = self.told(pid).last_tick.filter(|_| after.owner == before.owner) {
            assert!(after.run.until > last, "process {pid} writes {:?}, and it issued {last}", after.run);
        }
        let extends = after.owner == before.owner && after.run.until > before.run.until;
        let layout = self.layout;
        let leases =
            self.told(pid).leases.iter().filter(|lease| lease.worker_id == i64::from(after.worker_id));
        let bounds: Vec<_> = leases.map(|lease| (lease.ends, layout.tick_from(lease.until_ms))).collect();
        if extends && !bounds.is_empty() {
            let within =
                |(ends, until): &(Duration, Option<u64>)| boot < *ends && Some(after.run.until) <= *until;
            assert!(
                bounds.iter().any(within),
                "process {pid} extends to {} at {boot:?}, and its leases end at {bounds:?}",
                after.run.until
            );
        }
    }

    /// The boot time at which a process's newest lease ends.
    pub(crate) fn next_end(&self, pid: Pid) -> Option<Duration> {
        let lease = self.processes.get(&pid)?.leases.iter().rfind(|lease| lease.end.is_none())?;
        Some(lease.ends)
    }

    /// No lease of a process that ended well is left: each was released, or lost, or may be left to end.
    pub(crate) fn nothing_is_kept(&self, pid: Pid) {
        let Some(told) = self.processes.get(&pid) else { return };
        for lease in &told.leases {
            assert!(lease.end.is_some(), "process {pid} has ended, and keeps {lease:?}");
        }
    }
}
