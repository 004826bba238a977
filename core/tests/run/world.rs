//! A world in memory: hosts, processes that each drive one `WorkerRun`, and lease servers. Its time is virtual.
//!
//! A world that is not kind ends calls late, twice, never or as failed, tears writes, kills processes, starts machines
//! again, moves clocks, and forgets leases. In a kind one calls end well and clocks run.

use super::calls::Flight;
use super::disk::Pid;
use super::hosts::Host;
use super::judge::Judge;
use super::lease_server::LeaseServer;
use super::seen::{Said, Seen, Wrong};
use super::users::User;
use crate::common::Random;
use leafid_core::call::Clocks;
use leafid_core::format::state::Writer;
use leafid_core::http::{HttpServer, HttpServers};
use leafid_core::place::Place;
use leafid_core::run::{self, ProcessLeases, RunSettings, WorkerRun};
use leafid_core::server::ServersHealth;
use leafid_core::{ClockFilter, Layout, OnClockBackwards, Rules, Snowflake};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Where worker ids come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workers {
    /// Each host has an id of its own.
    Fixed,
    /// Each host has a range of its own.
    Range,
    /// A function that leases nothing.
    Callback,
    /// A user's object.
    Leases,
    /// A user's object, without records.
    Unrecorded,
    /// Lease servers, with caches of leases.
    Servers,
}

impl Workers {
    pub(crate) fn are_leased(self) -> bool {
        matches!(self, Workers::Leases | Workers::Unrecorded | Workers::Servers)
    }
}

/// The number of worker ids of a host's range, and of the lease server.
pub(crate) const IDS: usize = 3;
/// How long a lease lasts without a renewal.
pub(crate) const LEASE_MS: i64 = 6_000;
/// Within this time of a kind world there are ids.
const SOON_MS: u64 = 30_000;

/// The number of lines that a failure shows.
const SHOWN: usize = 60;

pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) now: u64,
    pub(crate) workers: Workers,
    pub(crate) layout: Layout,
    pub(crate) rules: Rules,
    pub(crate) hosts: Vec<Host>,
    pub(crate) processes: BTreeMap<Pid, Process>,
    next_pid: Pid,
    pub(crate) flights: Vec<Flight>,
    pub(crate) server: LeaseServer,
    asks_peers: bool,
    /// The host that is cut off from the lease servers next.
    pub(crate) cuts_off: Option<usize>,
    pub(crate) judge: Judge,
    pub(crate) kind: bool,
    /// When the next fault happens, or a process starts or closes.
    pub(crate) mischief_at: u64,
    /// Of each record, at most this many slots are torn: each moves the ids ahead of the clock.
    pub(crate) torn_left: u32,
    shown: VecDeque<String>,
}

/// A process with its machine.
pub(crate) struct Process {
    pub(crate) host: usize,
    pub(crate) run: WorkerRun,
    leases: ProcessLeases,
    pub(crate) clock: Arc<ClockFilter>,
    pub(crate) user: User,
    /// The generator that its threads see.
    pub(crate) generator: Option<Arc<Snowflake>>,
    /// It is stopped until then: nothing of it runs.
    pub(crate) stopped_until: u64,
    /// What it asks for until then goes well.
    pub(crate) well_until: u64,
    pub(crate) seen: Seen,
    /// Of such a process no lease is released.
    pub(crate) is_quiet: bool,
}

impl Process {
    pub(crate) fn keeps(&self, pid: Pid, found: Result<(), Wrong>) {
        assert_eq!(found, Ok(()), "process {pid}: {:?}, {:?}", self.seen, self.run);
    }
}

/// It shows what happened last, if a test fails.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for line in &self.shown {
                eprintln!("{line}");
            }
        }
    }
}

impl World {
    pub(crate) fn new(seed: u64, workers: Workers) -> World {
        let mut random = Random(seed);
        let layout = if random.below(4) == 0 { Layout::SONYFLAKE } else { Layout::LEAF };
        let rules = match random.below(4) {
            0 => {
                Rules { on_clock_backwards: OnClockBackwards::Wait, max_backwards_ms: 5, ..Rules::default() }
            }
            _ => Rules::default(),
        };
        let (gives_more, asks_peers) = (random.below(2) == 0, random.below(2) == 0);
        // Those that are held on the host of another one's claim are left to end.
        let ids = if workers == Workers::Servers { 2 * IDS } else { IDS };
        let hosts = if workers.are_leased() { 2 } else { 1 };
        World {
            random,
            now: 0,
            workers,
            layout,
            rules,
            hosts: (0..hosts).map(|_| Host::new(0)).collect(),
            processes: BTreeMap::new(),
            next_pid: 0,
            flights: Vec::new(),
            server: LeaseServer::new(ids, LEASE_MS, 10_000, gives_more),
            asks_peers,
            cuts_off: None,
            judge: Judge::default(),
            kind: false,
            mischief_at: 0,
            torn_left: 3,
            shown: VecDeque::new(),
        }
    }

    /// A new process. `inherited`: the worker id of the process that it is a fork of.
    pub(crate) fn born(&mut self, host: usize, inherited: Option<u32>) -> Pid {
        let pid = self.next_pid;
        self.next_pid += 1;
        let clock = Arc::new(ClockFilter::new());
        let settings = RunSettings {
            name: "orders".into(),
            layout: self.layout,
            rules: self.rules,
            workers: match self.workers {
                Workers::Fixed => run::Workers::Within { first: 7, last: 7 },
                Workers::Range => run::Workers::Within { first: 0, last: IDS as u32 - 1 },
                Workers::Callback => run::Workers::Callback { leases: false },
                Workers::Leases | Workers::Unrecorded => run::Workers::Callback { leases: true },
                Workers::Servers => {
                    run::Workers::Servers { servers: servers(), health: ServersHealth::new(2) }
                }
            },
            persist: self.workers != Workers::Unrecorded,
            locks_host: self.workers != Workers::Unrecorded,
            start_after: 0,
            timeout: Duration::from_secs(2),
            lazy: false,
            peer_times: self.asks_peers,
            disk_needs_loop: false,
            leases_end: false,
        };
        let writer = Writer {
            pid: pid as i32,
            host: format!("host-{host}"),
            started: "today".into(),
            boot: self.hosts[host].boot_id(),
            counted_ms: 0,
            leap_ms: None,
        };
        let nowhere = Place::without_files(Arc::clone(&clock));
        let place = Place { writer, directory: "records".into(), inherited, ..nowhere };
        let run = WorkerRun::new(settings, place, self.random.next());
        let user = User::at(self.now);
        let process = Process {
            host,
            run,
            leases: ProcessLeases::new(),
            clock,
            user,
            generator: None,
            stopped_until: 0,
            well_until: 0,
            seen: Seen::default(),
            is_quiet: false,
        };
        self.processes.insert(pid, process);
        pid
    }

    pub(crate) fn clocks(&self, pid: Pid) -> Clocks {
        self.hosts[self.processes[&pid].host].clocks(self.now)
    }

    /// The clock of a process after its filter.
    pub(crate) fn filtered_ms(&self, pid: Pid) -> i64 {
        let clocks = self.clocks(pid);
        let (wall_ns, boot_ns) = (clocks.wall_ms * 1_000_000, clocks.boot.as_nanos() as i64);
        self.processes[&pid].clock.filter(wall_ns, boot_ns).0.div_euclid(1_000_000)
    }

    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.shown.len() == SHOWN {
            self.shown.pop_front();
        }
        self.shown.push_back(format!("{:>7} {}", self.now, line()));
    }

    /// Lets this time pass.
    pub(crate) fn pass(&mut self, ms: u64) {
        let end = self.now + ms;
        let mut polls = 0;
        while self.now < end {
            let next = self.next_moment().clamp(self.now, end);
            polls = if next == self.now { polls + 1 } else { 0 };
            if polls > 2_000 {
                let busy = self.processes.iter().find(|(pid, _)| self.due(**pid) <= self.now);
                panic!("no time passes: {:?}", busy.map(|(pid, its)| (pid, &its.run, &its.user)));
            }
            self.now = next;
            if !self.kind && self.now >= self.mischief_at {
                self.mischief();
            }
            self.fly();
            let due: Vec<Pid> =
                self.processes.keys().copied().filter(|pid| self.due(*pid) <= self.now).collect();
            for pid in due {
                self.act(pid);
                self.drive(pid);
            }
        }
    }

    fn next_moment(&self) -> u64 {
        let flights = self.flights.iter().filter_map(Flight::next);
        let processes = self.processes.keys().map(|pid| self.due(*pid));
        let mischief = if self.kind { u64::MAX } else { self.mischief_at };
        flights.chain(processes).min().unwrap_or(u64::MAX).min(mischief)
    }

    /// When something of a process is next to be done.
    fn due(&self, pid: Pid) -> u64 {
        let process = &self.processes[&pid];
        let polled = process.run.next_time().map_or(u64::MAX, |boot| self.hosts[process.host].time_at(boot));
        polled.min(process.user.acts_at).max(process.stopped_until)
    }

    /// Polls a machine until it has nothing to say.
    pub(crate) fn drive(&mut self, pid: Pid) {
        let (clocks, layout) = (self.clocks(pid), self.layout);
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let shown = process.generator.clone();
        let said = process.seen.poll(&mut process.run, &mut process.leases, shown, clocks, layout);
        process.keeps(pid, said.as_ref().map(|_| ()).map_err(|wrong| *wrong));
        let now = process.run.generator().cloned();
        process.generator = now.or(process.generator.take());
        for said in said.into_iter().flatten() {
            match said {
                Said::Call(id, lane, call) => self.start(pid, id, lane, call),
                Said::Notice(notice) => self.notice(pid, notice),
            }
        }
    }

    /// What a user's function returns, which has the id from elsewhere.
    pub(crate) fn callback_id(&self, pid: Pid) -> i64 {
        11 + self.processes.get(&pid).map_or(0, |process| process.host as i64)
    }

    /// No two are equal.
    pub(crate) fn random_number(&mut self) -> u128 {
        u128::from(self.random.next()) << 64 | u128::from(self.random.next())
    }

    /// The clock of the lease server.
    pub(crate) fn server_ms(&self) -> i64 {
        crate::common::NOW_MS + self.now as i64
    }

    /// From now on calls end well, and clocks run. Soon there are ids.
    pub(crate) fn turn_kind(&mut self) {
        self.kind = true;
        self.tell(|| "the world turns kind".into());
        self.clocks_run();
        let now = self.now;
        self.hosts.iter_mut().for_each(|host| host.reaches_from = [now; 2]);
        self.flights.iter_mut().for_each(|flight| flight.ends_well(now));
        for at in 0..self.hosts.len() {
            if self.processes.values().all(|process| process.host != at || process.user.closes) {
                self.born(at, None);
            }
        }
        for process in self.processes.values_mut() {
            (process.stopped_until, process.user.acts_at) = (now, now);
        }
        let before: BTreeMap<Pid, u64> =
            self.processes.iter().map(|(pid, its)| (*pid, its.user.ids)).collect();
        // A lease that is left to end keeps its worker id for 16 s.
        let soon_ms = if self.workers == Workers::Servers { 2 * SOON_MS } else { SOON_MS };
        self.pass(soon_ms);
        let wanted = self.processes.values().filter(|its| !its.user.closes).count();
        let issue = |(pid, its): &(&Pid, &Process)| its.user.ids > before.get(pid).copied().unwrap_or(0);
        let have: Vec<Pid> = self.processes.iter().filter(issue).map(|(pid, _)| *pid).collect();
        let room = match self.workers {
            Workers::Fixed | Workers::Callback => 1,
            Workers::Range | Workers::Leases | Workers::Unrecorded | Workers::Servers => IDS,
        };
        let told: Vec<_> =
            self.processes.iter().map(|(pid, its)| (pid, its.run.state(), &its.user)).collect();
        assert!(
            have.len() >= wanted.min(room),
            "in {soon_ms} ms of a kind world only {have:?} have ids: {told:#?}"
        );
        let unclosed = self.processes.iter().find(|(_, its)| its.user.closes && !its.seen.closed);
        assert!(unclosed.is_none(), "{:?} is not closed", unclosed.map(|(pid, its)| (pid, its.run.state())));
        self.bury();
    }

    /// From now on it is not kind any more.
    pub(crate) fn turn_unkind(&mut self) {
        self.tell(|| "the world is not kind any more".into());
        (self.kind, self.mischief_at) = (false, self.now);
    }

    /// All processes close, and nothing is left of them.
    pub(crate) fn end(&mut self) {
        assert!(self.kind, "calls end");
        let now = self.now;
        for process in self.processes.values_mut() {
            (process.user.closes, process.user.acts_at) = (true, now);
        }
        self.pass(SOON_MS);
        let unclosed = self.processes.iter().find(|(_, its)| !its.seen.closed);
        assert!(unclosed.is_none(), "{:?} is not closed", unclosed.map(|(pid, its)| (pid, its.run.state())));
        self.bury();
        assert!(self.processes.is_empty(), "calls of closed processes never end");
    }

    /// Closed processes whose calls have all ended are gone.
    fn bury(&mut self) {
        let closed: Vec<Pid> =
            self.processes.iter().filter(|(_, its)| its.seen.closed).map(|(pid, _)| *pid).collect();
        for pid in closed {
            let process = &self.processes[&pid];
            assert!(self.hosts[process.host].disk.is_free_of(pid), "process {pid} is closed");
            // A call that never ends may hold what it would bring.
            if !process.is_quiet && self.flights.iter().all(|flight| flight.pid != pid) {
                process.keeps(pid, process.seen.leases.none_is_kept().map_err(Wrong::Lease));
            }
            self.flights.retain(|flight| flight.pid != pid);
            self.processes.remove(&pid);
        }
    }
}

fn servers() -> Arc<HttpServers> {
    let server = |url: &str| HttpServer { url: url.into(), proxy: None };
    Arc::new(HttpServers {
        option: "worker",
        servers: vec![server("http://one"), server("http://two")],
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_millis(300),
    })
}
