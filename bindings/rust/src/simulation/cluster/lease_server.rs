//! A server that leases worker ids to all machines, as in docs/LEASES.md, and its faults. Both sides exchange bytes.

use super::machine::{Draw, Machine, Machines};
use super::network::{Answer as Reply, Asked, Network};
use crate::os::mutex::lock;
use crate::{Answer, ClaimRequest, Lease, Renewal, WorkerLeases};
use leafid_core::wire::{Request, Response, Verdict, lease_server};
use leafid_core::{Code, Error, RenewalAnswer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub(crate) const FIRST: i64 = 100;
const IDS: usize = 8;
const LEASE_MS: i64 = 6_000;
/// How far a client's clock may be ahead.
const THRESHOLD_MS: i64 = 10_000;

#[derive(Clone, Default)]
struct Row {
    /// Lowered only by a release.
    until_ms: i64,
    from_ms: i64,
    ends_ms: i64,
    token: Option<String>,
    /// The claim that got the row, and its response.
    claim: Option<(String, Vec<u8>)>,
}

pub(crate) struct LeaseServer {
    machines: Machines,
    /// The machine whose clock it uses.
    machine: Arc<Machine>,
    state: Mutex<State>,
    network: Mutex<Network>,
}

struct State {
    rows: Vec<Row>,
    draw: Draw,
    down: bool,
    faults: BTreeMap<&'static str, u64>,
}

impl LeaseServer {
    pub(crate) fn new(machines: &Machines, machine: &Arc<Machine>, seed: u64) -> Arc<LeaseServer> {
        let (rows, draw) = (vec![Row::default(); IDS], Draw::new(seed));
        let state = Mutex::new(State { rows, draw, down: false, faults: BTreeMap::new() });
        let (machines, machine) = (machines.clone(), Arc::clone(machine));
        Arc::new(LeaseServer { machines, machine, state, network: Mutex::default() })
    }

    pub(crate) fn set_down(&self, down: bool) {
        lock(&self.state).down = down;
    }

    /// How long until one of its leases or spans ends, by the server's clock.
    pub(crate) fn until_boundary(&self, draw: &mut Draw) -> i64 {
        let state = lock(&self.state);
        let row = &state.rows[draw.below(IDS as i64) as usize];
        draw.of(&[row.ends_ms, row.until_ms]) - self.machine.now_ms()
    }

    pub(crate) fn faults(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.state).faults.clone()
    }

    /// The faults of a request.
    fn asked(&self, asked: &Asked) -> Option<Reply> {
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
            return None;
        }
        fault(&mut state, "lease request late", 20, 4_000);
        let mut draw = Draw::new(state.draw.number());
        let mut met = Vec::new();
        let answer = lock(&self.network).carry(
            asked,
            &mut |asked| state.serve(asked, self.machine.now_ms()),
            &mut draw,
            &mut |kind| met.push(kind),
        );
        met.into_iter().for_each(|kind| *state.faults.entry(kind).or_default() += 1);
        fault(&mut state, "lease answer late", 20, 9_000);
        answer
    }
}

impl State {
    fn token(&mut self) -> String {
        format!("{:016x}", self.draw.number())
    }

    /// Handles one request in one transaction.
    fn serve(&mut self, asked: &Asked, now_ms: i64) -> Reply {
        let Ok(body) = serde_json::from_slice::<Value>(&asked.body) else {
            return refusal(400, "invalid_argument");
        };
        match asked.path.as_str() {
            "/api/worker/claim" => self.claim(&body, now_ms),
            "/api/worker/renew" => self.renew(&body, now_ms),
            "/api/worker/release" => self.release(&body, now_ms),
            _ => refusal(404, "invalid_argument"),
        }
    }

    fn claim(&mut self, body: &Value, now_ms: i64) -> Reply {
        let (Some(instance), Some(wished_ms)) = (body["instance"].as_str(), body["until"].as_i64()) else {
            return refusal(400, "invalid_argument");
        };
        let again = self.rows.iter().find_map(|row| row.claim.as_ref().filter(|(of, _)| of == instance));
        if let Some((_, answer)) = again {
            return (200, answer.clone());
        }
        let free = |row: &Row| row.ends_ms <= now_ms && row.until_ms <= now_ms;
        let Some(at) = self.rows.iter().position(free) else { return refusal(409, "worker_in_use") };
        let token = self.token();
        let row = &mut self.rows[at];
        row.from_ms = row.until_ms;
        row.until_ms = wished_ms.min(now_ms + LEASE_MS + THRESHOLD_MS).max(row.from_ms + 1);
        row.ends_ms = now_ms + LEASE_MS;
        let answer = json!({
            "instance": instance, "worker_id": FIRST + at as i64, "from": row.from_ms, "until": row.until_ms,
            "lease_ms": LEASE_MS, "server_time": now_ms, "peer_times": [], "token": token,
        });
        let answer = answer.to_string().into_bytes();
        (row.token, row.claim) = (Some(token), Some((instance.to_owned(), answer.clone())));
        (200, answer)
    }

    /// The row of a lease, if its token matches.
    fn of(&self, body: &Value) -> Option<usize> {
        let at = usize::try_from(body["worker_id"].as_i64()? - FIRST).ok()?;
        let token = self.rows.get(at)?.token.as_deref()?;
        (Some(token) == body["token"].as_str()).then_some(at)
    }

    fn renew(&mut self, body: &Value, now_ms: i64) -> Reply {
        if self.draw.one_in(40) {
            // As after the loss of the server's table: no token is valid any more.
            *self.faults.entry("lease lost").or_default() += 1;
            return refusal(409, "worker_lost");
        }
        let (Some(at), Some(until_ms)) = (self.of(body), body["until"].as_i64()) else {
            return refusal(409, "worker_lost");
        };
        let token = self.token();
        let row = &mut self.rows[at];
        row.until_ms = until_ms.min(now_ms + LEASE_MS + THRESHOLD_MS).max(row.until_ms);
        row.ends_ms = now_ms + LEASE_MS;
        (row.token, row.claim) = (Some(token.clone()), None);
        let (until, nonce) = (row.until_ms, &body["nonce"]);
        let answer = json!({"nonce": nonce, "until": until, "lease_ms": LEASE_MS, "token": token});
        (200, answer.to_string().into_bytes())
    }

    fn release(&mut self, body: &Value, now_ms: i64) -> Reply {
        let (Some(at), Some(until_ms)) = (self.of(body), body["until"].as_i64()) else {
            return refusal(409, "worker_lost");
        };
        let row = &mut self.rows[at];
        row.until_ms = until_ms.max(row.from_ms).min(row.until_ms);
        (row.ends_ms, row.token, row.claim) = (now_ms, None, None);
        (204, Vec::new())
    }
}

fn refusal(status: u16, name: &str) -> Reply {
    (status, json!({"error": name, "message": "it says so"}).to_string().into_bytes())
}

/// The client of a process, over the simulated network: leafid's own requests and judgements.
pub(crate) struct Client {
    server: Arc<LeaseServer>,
    /// The number of its machine.
    from: usize,
}

impl Client {
    /// A client on the machine with this number.
    pub(crate) fn new(lease_server: &Arc<LeaseServer>, from: usize) -> Client {
        Client { server: Arc::clone(lease_server), from }
    }

    fn ask<T>(&self, ask: &Request, judge: impl FnOnce(&Response) -> Verdict<T>) -> leafid_core::Result<T> {
        let body = ask.body.as_ref().map(|body| body.text.clone().into_bytes()).unwrap_or_default();
        let answer = self.server.asked(&Asked { from: self.from, path: ask.path.clone(), body });
        let lost = || Error::new(Code::SegmentUnavailable, "no answer came");
        let (status, body) = answer.ok_or_else(lost)?;
        judge(&Response::new("http://127.0.0.1", status, &body, "worker")).into_result()
    }
}

impl WorkerLeases for Client {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let ClaimRequest { name, instance, now_ms, until_ms, .. } = request;
        let claim = lease_server::claim(name, instance, *now_ms, *until_ms);
        Ok(Some(self.ask(&claim, |reply| lease_server::judge_claim(reply, name, instance))?))
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let nonce = format!("{:032x}", lock(&self.server.state).draw.number());
        let renewal = lease_server::renewal("default", lease, until_ms, &nonce);
        match self.ask(&renewal, |reply| lease_server::judge_renewal(reply, &nonce))? {
            RenewalAnswer::Renewed(renewal) => Ok(Some(renewal)),
            RenewalAnswer::NotHeld => Ok(None),
            RenewalAnswer::Lost(error) => Err(error.into()),
            RenewalAnswer::Failed(error) => Err(error.message().into()),
        }
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        let release = lease_server::release("default", lease, until_ms);
        Ok(self.ask(&release, lease_server::judge_release)?)
    }

    /// The simulation runs all left actions before a close.
    fn runs_on_callers_thread(&self) -> bool {
        true
    }
}
