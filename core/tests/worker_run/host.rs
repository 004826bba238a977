//! A host in memory: one machine, whose calls end at once and well unless a test says otherwise.

use crate::common::{NOW_MS, PLAIN};
use leafid_core::call::{CallId, Clocks, FileAdvice, Level};
use leafid_core::format::state::Writer;
use leafid_core::place::Place;
use leafid_core::run::{
    Answer, Claimed, Holder, Need, ProcessLeases, RunCall, RunCallEnd, RunNotice, RunSettings, RunTicket,
    SourceFailure, WorkerRun, Workers,
};
use leafid_core::{ClockFilter, Layout, Lease, Renewal, Result};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub(super) const SEED: u64 = 7;

/// The settings of one worker id, or of several.
pub(super) fn settings(workers: Workers) -> RunSettings {
    RunSettings {
        name: "orders".into(),
        layout: Layout::LEAF,
        rules: PLAIN,
        workers,
        persist: true,
        locks_host: true,
        start_after: 0,
        timeout: Duration::from_secs(2),
        lazy: false,
        peer_times: false,
        disk_needs_loop: false,
        leases_end: false,
    }
}

pub(super) const OPEN: Need = Need::Open { longest: None, loops: true };
pub(super) const CLOSE: Need = Need::Close { quietly: false, waits_for_source: true };

/// What survives a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) files: BTreeMap<u32, Vec<u8>>,
    /// Those that others hold.
    pub(super) host_locks: BTreeSet<u32>,
    pub(super) record_locks: BTreeSet<u32>,
}

/// A source of leases. Each claim gets the next worker id, and each answer another token.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) worker_ids: Vec<i64>,
    pub(super) lease_ms: i64,
    pub(super) is_down: bool,
    pub(super) has_lost: bool,
    tokens: u32,
    /// What was held before, by each claim.
    pub(super) previous: Vec<Option<u32>>,
    /// Each release: the worker id, the token, and the time.
    pub(super) released: Vec<(i64, String, i64)>,
}

impl Source {
    pub(super) fn lease(&mut self, now_ms: i64) -> Lease {
        self.tokens += 1;
        Lease {
            worker_id: self.worker_ids.remove(0),
            from_ms: now_ms,
            until_ms: now_ms + 60_000,
            lease_ms: Some(self.lease_ms),
            token: Some(format!("t{}", self.tokens)),
            peer_times_ms: Vec::new(),
        }
    }

    /// The next lease has the token of the first one.
    pub(super) fn forget_tokens(&mut self) {
        self.tokens = 0;
    }

    pub(super) fn renewal(&mut self, until_ms: i64) -> Renewal {
        self.tokens += 1;
        let token = Some(format!("t{}", self.tokens));
        Renewal { worker_id: None, until_ms, lease_ms: Some(self.lease_ms), token }
    }
}

pub(super) struct Host {
    pub(super) run: WorkerRun,
    /// Runs of one process share it.
    pub(super) leases: Rc<RefCell<ProcessLeases>>,
    pub(super) disk: Disk,
    pub(super) source: Source,
    pub(super) clocks: Clocks,
    /// The calls that were carried out.
    pub(super) calls: Vec<String>,
    pub(super) log: Vec<(Level, String)>,
    pub(super) closed: Option<Result<()>>,
    pub(super) abandoned: Vec<CallId>,
    random: u128,
}

impl Host {
    pub(super) fn new(settings: RunSettings) -> Host {
        let writer = Writer { pid: 42, host: "here".into(), boot: "boot".into(), ..Writer::default() };
        let place = Place {
            clock: Arc::new(ClockFilter::new()),
            writer,
            directory: "/state/orders".into(),
            advice: FileAdvice::StateDir,
            forgets: false,
            moves: false,
            no_record_wait_ms: 0,
            inherited: None,
            machine_start: None,
        };
        Host {
            run: WorkerRun::new(settings, place, SEED),
            leases: Rc::default(),
            disk: Disk::default(),
            source: Source { lease_ms: 10_000, ..Source::default() },
            clocks: Clocks { wall_ms: NOW_MS, boot: Duration::from_secs(1_000) },
            calls: Vec::new(),
            log: Vec::new(),
            closed: None,
            abandoned: Vec::new(),
            random: 0,
        }
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.clocks.wall_ms += ms as i64;
        self.clocks.boot += Duration::from_millis(ms);
    }

    pub(super) fn want(&mut self, need: Need) -> RunTicket {
        self.run.want(need, self.clocks)
    }

    /// The answer once nothing is left to do now.
    pub(super) fn asked(&mut self, need: Need) -> Answer {
        let ticket = self.want(need);
        self.drive();
        self.run.answer(ticket)
    }

    /// Pulls notices and calls and carries these out, until it may sleep.
    pub(super) fn drive(&mut self) {
        for _ in 0..1_000 {
            if let Some((id, call)) = self.pull() {
                let end = self.carry_out(call);
                self.done(id, end);
            } else if self.sleeps() {
                return;
            }
        }
        panic!("it has always something to do: {:?}", self.run);
    }

    /// Whether there is nothing to pull before some time has passed.
    pub(super) fn sleeps(&self) -> bool {
        self.run.next_time().is_none_or(|due| due > self.clocks.boot)
    }

    /// Drives until the clocks have passed this time.
    pub(super) fn drive_for(&mut self, ms: u64) {
        let until = self.clocks.boot + Duration::from_millis(ms);
        self.drive();
        while let Some(due) = self.run.next_time().filter(|due| *due < until) {
            self.pass((due.saturating_sub(self.clocks.boot).as_millis() as u64).max(1));
            self.drive();
        }
        self.pass(until.saturating_sub(self.clocks.boot).as_millis() as u64);
        self.drive();
    }

    /// Pulls calls and carries them out, until one of this name is next.
    pub(super) fn drive_to(&mut self, wanted: &str) -> (CallId, RunCall) {
        loop {
            let (id, call) = self.pull().unwrap_or_else(|| panic!("no {wanted}: {:?}", self.calls));
            if name(&call) == wanted {
                return (id, call);
            }
            let end = self.carry_out(call);
            self.done(id, end);
        }
    }

    /// As [`Host::drive_to`], and lets time pass until then.
    pub(super) fn drive_until(&mut self, wanted: &str) -> (CallId, RunCall) {
        loop {
            match self.pull() {
                Some((id, call)) if name(&call) == wanted => return (id, call),
                Some((id, call)) => {
                    let end = self.carry_out(call);
                    self.done(id, end);
                }
                None => {
                    let due = self.run.next_time().unwrap_or_else(|| panic!("no {wanted}: {:?}", self.calls));
                    self.pass(due.saturating_sub(self.clocks.boot).as_millis() as u64);
                }
            }
        }
    }

    /// The next id, with a span if one is needed.
    pub(super) fn id(&mut self) -> i64 {
        for _ in 0..3 {
            if let Ok(id) = self.run.generator().unwrap().next(self.clocks.wall_ms) {
                return id;
            }
            self.asked(Need::Span);
        }
        panic!("no id: {:?}", self.log)
    }

    pub(super) fn done(&mut self, id: CallId, end: RunCallEnd) {
        self.run.done(id, end, self.clocks);
        self.notices();
    }

    pub(super) fn pull(&mut self) -> Option<(CallId, RunCall)> {
        self.notices();
        let (id, lane, call) = self.run.next_call(self.clocks, &mut self.leases.borrow_mut())?;
        self.notices();
        self.calls.push(format!("{lane:?} {}", name(&call)));
        Some((id, call))
    }

    pub(super) fn notices(&mut self) {
        while let Some(notice) = self.run.next_notice(self.clocks) {
            match notice {
                RunNotice::Abandon(id) => self.abandoned.push(id),
                RunNotice::Wake => {}
                RunNotice::Log(level, text) => self.log.push((level, text)),
                RunNotice::Closed(result) => {
                    assert!(self.closed.is_none(), "it is told once");
                    self.closed = Some(result);
                }
            }
        }
    }

    /// As a host that has no trouble.
    pub(super) fn carry_out(&mut self, call: RunCall) -> RunCallEnd {
        self.random += 1;
        match call {
            RunCall::LockHost(call) if self.disk.host_locks.contains(&call.worker_id()) => call.held(),
            RunCall::LockHost(call) => call.taken(),
            RunCall::UnlockHost(call) => call.end(),
            RunCall::Holder(call) => call.end(Holder::default()),
            RunCall::Names(call) => call.end(Vec::new()),
            RunCall::ListRecords(call) => {
                let names: Vec<_> = self.disk.files.keys().map(|id| format!("worker-{id}.state")).collect();
                call.end(names.iter().map(String::as_str))
            }
            RunCall::PeekRecord(call) => match self.disk.files.get(&call.worker_id()) {
                None => call.missing().into(),
                Some(bytes) => {
                    let path = path(call.worker_id());
                    call.read(bytes, path).into()
                }
            },
            RunCall::OpenRecord(call) if self.disk.record_locks.contains(&call.worker_id()) => {
                call.held().into()
            }
            RunCall::OpenRecord(call) => {
                let id = call.worker_id();
                let new = call.initial().unwrap();
                let bytes = self.disk.files.entry(id).or_insert_with(|| new.to_vec());
                call.read(bytes, path(id)).into()
            }
            RunCall::WriteRecord(mut write) => {
                let worker_id = write.record(self.random).record.worker_id;
                let file = self.disk.files.get_mut(&worker_id).unwrap();
                let mut put = || {
                    write.check(Some(file))?;
                    let bytes = write.bytes(self.random)?;
                    file[write.offset()..][..bytes.len()].copy_from_slice(&bytes);
                    Ok(())
                };
                let result = put();
                write.end(result).into()
            }
            RunCall::CloseRecord(call) => call.end(),
            RunCall::PeerTimes(call) => call.end(Ok(vec![])),
            RunCall::Claim(call) => {
                let request = call.request(self.random);
                self.source.previous.push(request.previous);
                if self.source.is_down {
                    return call.end(Err(SourceFailure::Text("down".into())));
                }
                let lease = self.source.lease(request.now_ms);
                call.end(Ok(Some(Claimed::Lease(lease, Duration::ZERO))))
            }
            RunCall::Renew(call) if self.source.has_lost => call.end(Ok(None)),
            RunCall::Renew(call) if self.source.is_down => call.end(Err(SourceFailure::Text("down".into()))),
            RunCall::Renew(call) => {
                let until_ms = call.request().wish_ms;
                let renewal = self.source.renewal(until_ms);
                call.end(Ok(Some(renewal)))
            }
            RunCall::Release(call) => {
                let lease = call.lease();
                let token = lease.token.clone().unwrap();
                self.source.released.push((lease.worker_id, token, call.until_ms()));
                call.end(Ok(()))
            }
            other => panic!("the test carries this out: {other:?}"),
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.clocks.wall_ms
    }
}

pub(super) fn path(worker_id: u32) -> String {
    format!("/state/orders/worker-{worker_id}.state")
}

fn name(call: &RunCall) -> String {
    let text = format!("{call:?}");
    text.split('(').next().unwrap().into()
}
