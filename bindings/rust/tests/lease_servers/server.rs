//! A lease server on loopback that keeps the rules, and answers otherwise where a test says so.

use crate::common::HANG;
use crate::request::{Reaction, Seen, read};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

type React = dyn Fn(&Seen) -> Reaction + Send + Sync;

/// What is known of a worker id.
#[derive(Clone, Debug)]
struct Row {
    token: String,
    until_ms: i64,
    ends: Instant,
    instance: String,
}

#[derive(Default)]
struct Table {
    rows: BTreeMap<i64, Row>,
    tokens: u64,
    /// Every span that was given.
    given: Vec<(i64, i64, i64)>,
}

struct State {
    lease_ms: i64,
    pool: i64,
    table: Mutex<Table>,
    react: Mutex<Arc<React>>,
    seen: Mutex<Vec<Seen>>,
    /// The first right answer to each kind of call.
    first: Mutex<BTreeMap<String, (u16, Value)>>,
    /// Hanging requests whose other side closed.
    given_up: AtomicBool,
    down: AtomicBool,
    ended: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Gives 4 worker ids, each for this long.
    pub(crate) fn new(lease_ms: i64) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            lease_ms,
            pool: 4,
            table: Mutex::default(),
            react: Mutex::new(Arc::new(|_| Reaction::Right)),
            seen: Mutex::default(),
            first: Mutex::default(),
            given_up: AtomicBool::new(false),
            down: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let theirs = Arc::clone(&state);
        std::thread::spawn(move || theirs.serve(address, Some(listener)));
        Server { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How requests are answered from now on.
    pub(crate) fn reacts(&self, react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) {
        *self.state.react.lock().unwrap() = Arc::new(react);
    }

    /// Refuses connections, or takes them again.
    pub(crate) fn down(&self, down: bool) {
        self.state.down.store(down, SeqCst);
        for connection in self.state.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(std::net::Shutdown::Both);
        }
        while TcpStream::connect(self.address).is_ok() == down {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn seen(&self, call: &str) -> Vec<Seen> {
        self.state.seen.lock().unwrap().iter().filter(|seen| seen.call == call).cloned().collect()
    }

    /// Whether a client has closed what hung.
    pub(crate) fn was_given_up(&self) -> bool {
        self.state.given_up.load(SeqCst)
    }

    /// Whether an id of Leaf's layout lies in a span that was given.
    pub(crate) fn covers(&self, id: i64) -> bool {
        let parts = leafid::Layout::LEAF.decode(id).unwrap();
        let worker_id = i64::from(parts.worker_id);
        let table = self.state.table.lock().unwrap();
        table
            .given
            .iter()
            .any(|(id, from, until)| *id == worker_id && (*from..*until).contains(&parts.timestamp_ms))
    }

    /// The token of a worker id.
    pub(crate) fn token(&self, worker_id: i64) -> String {
        self.state.table.lock().unwrap().rows[&worker_id].token.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.ended.store(true, SeqCst);
    }
}

impl State {
    fn serve(self: &Arc<Self>, address: SocketAddr, mut listener: Option<TcpListener>) {
        while !self.ended.load(SeqCst) {
            if self.down.load(SeqCst) {
                listener = None;
            } else if listener.is_none() {
                listener = TcpListener::bind(address).ok();
            }
            let accepted = listener.as_ref().and_then(|listener| {
                listener.set_nonblocking(true).unwrap();
                listener.accept().ok()
            });
            let Some((stream, _)) = accepted else {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(2 * HANG)).unwrap();
            let end = stream.try_clone().unwrap();
            self.connections.lock().unwrap().push(stream.try_clone().unwrap());
            let state = Arc::clone(self);
            std::thread::spawn(move || {
                state.converse(stream);
                // The others are copies of it.
                let _ = end.shutdown(std::net::Shutdown::Both);
            });
        }
    }

    fn converse(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read(&mut stream) {
            self.seen.lock().unwrap().push(seen.clone());
            let react = Arc::clone(&self.react.lock().unwrap());
            let (status, body) = match react(&seen) {
                Reaction::Right => self.right(&seen),
                Reaction::Again => {
                    let first = self.first.lock().unwrap().get(&seen.call).cloned();
                    first.unwrap_or_else(|| self.right(&seen))
                }
                Reaction::Say(status, text) => (status, Value::String(text)),
                Reaction::Lost => {
                    self.right(&seen);
                    return;
                }
                Reaction::Hang => {
                    let ended = stream.read(&mut [0; 1]);
                    self.given_up.store(matches!(ended, Ok(0)), SeqCst);
                    return;
                }
            };
            let body = match body {
                Value::Null => String::new(),
                Value::String(text) => text,
                body => body.to_string(),
            };
            let length =
                if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
            let bytes = format!("HTTP/1.1 {status} So\r\n{length}\r\n{body}");
            if stream.get_mut().write_all(bytes.as_bytes()).and_then(|()| stream.get_mut().flush()).is_err() {
                return;
            }
        }
    }

    /// As a server of leases answers.
    fn right(&self, seen: &Seen) -> (u16, Value) {
        let answer = self.answer(seen);
        self.first.lock().unwrap().entry(seen.call.clone()).or_insert_with(|| answer.clone());
        answer
    }

    fn answer(&self, seen: &Seen) -> (u16, Value) {
        let mut table = self.table.lock().unwrap();
        let now = now_ms();
        let text = |name: &str| seen.body[name].as_str().unwrap().to_owned();
        let wished = seen.body["until"].as_i64().unwrap().min(now + self.lease_ms + 10_000);
        table.tokens += 1;
        let token = format!("token-{}", table.tokens);
        let ends = Instant::now() + Duration::from_millis(self.lease_ms as u64);
        if seen.call == "claim" {
            let instance = text("instance");
            let again = table.rows.iter().find(|(_, row)| row.instance == instance).map(|(id, _)| *id);
            let is_free = |id: &i64| {
                table.rows.get(id).is_none_or(|row| row.ends <= Instant::now() && row.until_ms <= now)
            };
            let Some(worker_id) = again.or_else(|| (0..self.pool).find(is_free)) else {
                let message = "all 4 worker ids are held";
                return (409, json!({"error": "worker_in_use", "message": message}));
            };
            let from = table.rows.get(&worker_id).filter(|_| again.is_none()).map_or(0, |row| row.until_ms);
            let until = wished.min(now + self.lease_ms).max(from);
            let row = Row { token: token.clone(), until_ms: until, ends, instance: instance.clone() };
            table.rows.insert(worker_id, row);
            table.given.push((worker_id, from, until));
            let answer = json!({
                "worker_id": worker_id, "from": from, "until": until, "lease_ms": self.lease_ms,
                "server_time": now, "peer_times": [now], "token": token, "instance": instance,
                "of a later version": {},
            });
            return (200, answer);
        }
        let worker_id = seen.body["worker_id"].as_i64().unwrap();
        let lost = json!({"error": "worker_lost", "message": "another one has renewed it"});
        let Some(row) = table.rows.get_mut(&worker_id).filter(|row| row.token == text("token")) else {
            return (409, lost);
        };
        if seen.call == "release" {
            (row.until_ms, row.ends) = (seen.body["until"].as_i64().unwrap(), Instant::now());
            return (204, Value::Null);
        }
        let from = row.until_ms;
        (row.token, row.until_ms, row.ends) = (token.clone(), wished.max(from), ends);
        let until = row.until_ms;
        table.given.push((worker_id, from, until));
        (200, json!({"until": until, "lease_ms": self.lease_ms, "token": token, "nonce": text("nonce")}))
    }
}
