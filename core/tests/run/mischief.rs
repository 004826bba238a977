//! What happens in a world at random: faults, starts and closes.

use super::disk::Pid;
use super::world::{IDS, Process, Workers, World};

/// The clock of a host is at most this far from the true time, so that its rules bridge each step.
const MOST_OFF_MS: i64 = 2_000;
/// The most processes of a host.
const MOST: usize = 3;

impl World {
    pub(crate) fn mischief(&mut self) {
        self.mischief_at = self.now + 50 + self.random.below(2_500);
        let at = self.random.below(self.hosts.len() as u64) as usize;
        let pids: Vec<Pid> = self.processes.keys().copied().collect();
        let pid = if pids.is_empty() { None } else { Some(self.random.pick(&pids)) };
        if let Some(host) = self.cuts_off.take() {
            return self.cut_off(host, None);
        }
        match (self.random.below(100), pid) {
            (0..18, _) => self.spawn(at, None),
            (18..34, Some(pid)) => self.kill(pid),
            (34..38, _) => self.start_machine_again(at),
            (38..52, _) => self.step_clock(at),
            (52..60, _) => self.stop_clock(at),
            (60..68, Some(pid)) => {
                let until = self.now + self.random.below(15_000);
                self.tell(|| format!("{pid} is stopped until {until}"));
                self.process(pid).stopped_until = until;
            }
            (68..76, Some(pid)) => {
                self.tell(|| format!("{pid} is to close"));
                let now = self.now;
                let Process { user, host, .. } = self.process(pid);
                (user.closes, user.acts_at) = (true, now);
                let host = *host;
                if self.random.below(2) == 0 {
                    // A moment later, when it has closed, its successor is cut off.
                    self.mischief_at = now + 100 + self.random.below(1_000);
                    self.cuts_off = Some(host);
                }
            }
            (76..88, pid) if self.workers == Workers::Servers => self.cut_off(at, pid),
            (76..82, Some(pid)) => {
                let held = self.hosts[self.processes[&pid].host].disk.host_lock_of(pid);
                self.tell(|| format!("{pid} forks"));
                self.spawn(self.processes[&pid].host, held);
            }
            (82..90, _) => {
                let worker_id = self.random.below(IDS as u64) as usize;
                self.tell(|| format!("the server forgets who has {worker_id}"));
                self.server.forget(worker_id);
            }
            (90..92, _) if self.workers == Workers::Servers => {
                let wall_ms = self.hosts[at].clocks(self.now).wall_ms;
                self.hosts[at].caches.copy(wall_ms);
            }
            (90..100, Some(pid)) => self.look_at_the_end_of_a_lease(pid),
            _ => {}
        }
    }

    pub(crate) fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.get_mut(&pid).expect("it lives")
    }

    /// A caller comes at the very moment in which a lease ends.
    fn look_at_the_end_of_a_lease(&mut self, pid: Pid) {
        let Some(ends) = self.processes[&pid].seen.leases.next_end() else { return };
        let at = self.hosts[self.processes[&pid].host].time_at(ends) + self.random.below(3);
        if at > self.now {
            self.process(pid).user.acts_at = at - 1;
        }
    }

    /// A host does not reach one of the lease servers for a while, or none, just when another process begins. Often that
    /// one comes after one that was killed, or has closed.
    fn cut_off(&mut self, at: usize, pid: Option<Pid>) {
        let until = self.now + 3_000 + self.random.below(12_000);
        let which = self.random.below(6) as usize;
        self.tell(|| format!("host {at} does not reach server {which} until {until}"));
        match self.hosts[at].reaches_from.get_mut(which) {
            Some(one) => *one = until,
            None => self.hosts[at].reaches_from = [until; 2],
        }
        pid.filter(|pid| self.processes[pid].host == at).into_iter().for_each(|pid| self.kill(pid));
        self.spawn(at, None);
        // Its calls go well, or the lease that it may find in a cache would end before.
        if let Some(process) = self.processes.values_mut().next_back() {
            process.well_until = self.now + 3_000;
        }
    }

    fn kill(&mut self, pid: Pid) {
        self.tell(|| format!("{pid} is killed"));
        self.end_calls_of(pid);
        let process = self.processes.remove(&pid).expect("it lives");
        self.hosts[process.host].disk.drop_process(pid);
    }

    fn start_machine_again(&mut self, at: usize) {
        let its: Vec<Pid> =
            self.processes.iter().filter(|(_, its)| its.host == at).map(|(pid, _)| *pid).collect();
        for pid in its {
            self.kill(pid);
        }
        self.tell(|| format!("host {at} is started again"));
        self.hosts[at].boot(self.now);
    }

    fn step_clock(&mut self, at: usize) {
        let to = self.random.between(-MOST_OFF_MS, MOST_OFF_MS);
        self.tell(|| format!("the clock of host {at} is set to {to}"));
        let host = &mut self.hosts[at];
        (host.off_ms, host.stands_since) = (to, None);
    }

    /// A clock that stands goes on later from where it stands, or is set right.
    fn stop_clock(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        match host.stands_since.take() {
            Some(since) => {
                let behind = host.off_ms - (self.now - since) as i64;
                host.off_ms = behind.max(-MOST_OFF_MS);
            }
            None => host.stands_since = Some(self.now),
        }
        self.tell(|| format!("the clock of host {at} stops, or goes on"));
    }

    /// Of a host whose clock stands, so that it is never further off than the rules bridge.
    pub(crate) fn clocks_run(&mut self) {
        for at in 0..self.hosts.len() {
            if self.hosts[at].stands_since.is_some() {
                self.stop_clock(at);
            }
        }
    }

    fn spawn(&mut self, at: usize, inherited: Option<u32>) {
        if self.processes.values().filter(|its| its.host == at).count() < MOST {
            let pid = self.born(at, inherited);
            self.tell(|| format!("{pid} begins on host {at}"));
        }
    }
}
