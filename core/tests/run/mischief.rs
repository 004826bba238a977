//! What happens in a world that nobody asked for.

use super::hosts::Pid;
use super::world::{Process, World};

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
                let user = &mut self.process(pid).user;
                (user.closes, user.acts_at) = (true, now);
            }
            (76..82, Some(pid)) => {
                let held = self.hosts[self.processes[&pid].host].host_lock_of(pid);
                self.tell(|| format!("{pid} forks"));
                self.spawn(self.processes[&pid].host, held);
            }
            (82..90, _) => {
                let worker_id = self.random.below(self.server.ids() as u64) as usize;
                self.tell(|| format!("the server forgets who has {worker_id}"));
                self.server.forget(worker_id);
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
        let Some(ends) = self.judge.next_end(pid) else { return };
        let at = self.hosts[self.processes[&pid].host].time_at(ends) + self.random.below(3);
        if at > self.now {
            self.process(pid).user.acts_at = at - 1;
        }
    }

    fn kill(&mut self, pid: Pid) {
        self.tell(|| format!("{pid} is killed"));
        self.end_calls_of(pid);
        let process = self.processes.remove(&pid).expect("it lives");
        self.hosts[process.host].drop_process(pid);
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
