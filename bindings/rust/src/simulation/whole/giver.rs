//! A server that leases worker ids to all machines, as docs/LEASES.md says, and what may go wrong with it.

use super::machine::{Draw, Machine, Machines};
use crate::sync::lock;
use crate::{Answer, ClaimRequest, Lease, Renewal, WorkerLeases};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub(super) const FIRST: i64 = 100;
const IDS: usize = 8;
const LEASE_MS: i64 = 6_000;
/// How far a client's clock may be ahead.
const THRESHOLD_MS: i64 = 10_000;

#[derive(Clone)]
struct Row {
    /// Never lowered but by a release.
    until_ms: i64,
    from_ms: i64,
    ends_ms: i64,
    token: Option<String>,
}

pub(super) struct Giver {
    machines: Machines,
    /// Whose clock it has.
    machine: Arc<Machine>,
    state: Mutex<State>,
}

struct State {
    rows: Vec<Row>,
    draw: Draw,
    down: bool,
    faults: BTreeMap<&'static str, u64>,
}

impl Giver {
    pub(super) fn new(machines: &Machines, machine: &Arc<Machine>, seed: u64) -> Arc<Giver> {
        let row = Row { until_ms: 0, from_ms: 0, ends_ms: 0, token: None };
        let (rows, draw) = (vec![row; IDS], Draw::new(seed));
        let state = Mutex::new(State { rows, draw, down: false, faults: BTreeMap::new() });
        Arc::new(Giver { machines: machines.clone(), machine: Arc::clone(machine), state })
    }

    pub(super) fn set_down(&self, down: bool) {
        lock(&self.state).down = down;
    }

    /// How long it is, by the server's clock, until one of its leases or spans ends.
    pub(super) fn until_boundary(&self, draw: &mut Draw) -> i64 {
        let state = lock(&self.state);
        let row = &state.rows[draw.below(IDS as i64) as usize];
        draw.of(&[row.ends_ms, row.until_ms]) - self.machine.now_ms()
    }

    pub(super) fn faults(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.state).faults.clone()
    }

    /// What goes wrong around a deed, which is one transaction.
    fn answer<T>(&self, deed: impl FnOnce(&mut State, i64) -> T) -> Answer<T> {
        let mut state = lock(&self.state);
        let fault = |state: &mut State, kind, one_in, most_ms| {
            if !state.draw.one_in(one_in) {
                return false;
            }
            *state.faults.entry(kind).or_default() += 1;
            self.machines.pass(state.draw.amount(most_ms));
            true
        };
        if state.down || fault(&mut state, "lease server fails", 30, 1) {
            return Err("the server is away".into());
        }
        fault(&mut state, "lease request late", 20, 4_000);
        let done = deed(&mut state, self.machine.now_ms());
        fault(&mut state, "lease answer late", 20, 9_000);
        if fault(&mut state, "lease answer lost", 30, 1_000) {
            return Err("the answer was lost".into());
        }
        Ok(done)
    }
}

impl State {
    fn token(&mut self) -> String {
        format!("{:016x}", self.draw.number())
    }

    /// The row of a lease, if that is its token.
    fn of(&mut self, lease: &Lease) -> Option<usize> {
        let at = (lease.worker_id - FIRST) as usize;
        (self.rows[at].token.is_some() && self.rows[at].token == lease.token).then_some(at)
    }
}

pub(super) struct Client(pub(super) Arc<Giver>);

impl WorkerLeases for Client {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        self.0.answer(|state, now_ms| {
            let free = |row: &Row| row.ends_ms <= now_ms && row.until_ms <= now_ms;
            let at = state.rows.iter().position(free)?;
            let token = state.token();
            let row = &mut state.rows[at];
            row.from_ms = row.until_ms;
            let most_ms = now_ms + LEASE_MS + THRESHOLD_MS;
            row.until_ms = request.until_ms.min(most_ms).max(row.from_ms + 1);
            row.ends_ms = now_ms + LEASE_MS;
            row.token = Some(token);
            Some(Lease {
                worker_id: FIRST + at as i64,
                from_ms: row.from_ms,
                until_ms: row.until_ms,
                lease_ms: Some(LEASE_MS),
                token: row.token.clone(),
                peer_times_ms: Vec::new(),
            })
        })
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        self.0.answer(|state, now_ms| {
            if state.draw.one_in(40) {
                // As after the server's table was lost: no token is good any more.
                *state.faults.entry("lease lost").or_default() += 1;
                return None;
            }
            let at = state.of(lease)?;
            let token = state.token();
            let row = &mut state.rows[at];
            row.until_ms = until_ms.min(now_ms + LEASE_MS + THRESHOLD_MS).max(row.until_ms);
            row.ends_ms = now_ms + LEASE_MS;
            row.token = Some(token.clone());
            Some(Renewal {
                worker_id: None,
                until_ms: row.until_ms,
                lease_ms: Some(LEASE_MS),
                token: Some(token),
            })
        })
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.0.answer(|state, now_ms| {
            if let Some(at) = state.of(lease) {
                let row = &mut state.rows[at];
                row.until_ms = until_ms.max(row.from_ms).min(row.until_ms);
                (row.ends_ms, row.token) = (now_ms, None);
            }
        })
    }

    /// What was left to the simulation is done before a close.
    fn runs_on_callers_thread(&self) -> bool {
        true
    }
}
