//! A server that does what a test defines, byte by byte, with a thread for each connection.

use super::super::HttpOptions;
use crate::hang::HANG;
use crate::http::ServerPool;
use leafid_core::http::{Exchange, ExchangeStep, HttpResult, HttpServers, LateEnd};
use leafid_core::options::ServerOptions;
use leafid_core::server::ServersHealth;
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Error, Fetched, Result};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The number of the connection, from 1.
    pub(super) connection: usize,
    /// The number of the request, from 1.
    pub(super) number: usize,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: HashMap<String, String>,
    pub(super) headers: HashMap<String, String>,
}

/// The response of the server.
pub(super) enum Reaction {
    Bytes(Vec<u8>),
    /// These bytes, then the end of the connection.
    Last(Vec<u8>),
    /// Nothing until the test is there too, then these bytes.
    Late(Arc<Barrier>, Vec<u8>),
    /// These bytes, and the others when the test is there too.
    Twice(Vec<u8>, Arc<Barrier>, Vec<u8>),
    /// These bytes, and each of the others after this time.
    Drops(Vec<u8>, Duration, Vec<u8>),
    /// Never anything.
    Nothing,
}

impl Seen {
    pub(super) fn tag(&self) -> &str {
        self.path.rsplit('/').next().unwrap()
    }

    /// The body of a correct response: a thousand ids, other ones for each request.
    pub(super) fn body(&self) -> String {
        let start = self.number * 1_000;
        format!(
            r#"{{"tag":"{}","start":"{start}","end":"{}","stride":1,"step":1000,"nonce":"{}"}}"#,
            self.tag(),
            start + 1_000,
            self.query["nonce"]
        )
    }

    pub(super) fn right(&self) -> Reaction {
        Reaction::Bytes(http("200 OK", "", &self.body()))
    }
}

/// A response with its length; each of `headers` ends with a line break.
pub(super) fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(super) struct FakeServer {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// How many responses were sent.
    sent: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

type React = dyn Fn(&Seen) -> Reaction + Send + Sync;

impl FakeServer {
    pub(super) fn new(react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) -> FakeServer {
        FakeServer::with_tls(None, react)
    }

    pub(super) fn with_tls(
        tls: Option<Arc<ServerConfig>>,
        react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
    ) -> FakeServer {
        FakeServer::at(TcpListener::bind("127.0.0.1:0").unwrap(), tls, react)
    }

    pub(super) fn at(
        listener: TcpListener,
        tls: Option<Arc<ServerConfig>>,
        react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
    ) -> FakeServer {
        let (seen, sent, ended): (Arc<Mutex<Vec<Seen>>>, Arc<AtomicUsize>, Arc<AtomicUsize>) =
            Default::default();
        let stop = Arc::new(AtomicBool::new(false));
        let fake_server = FakeServer {
            address: listener.local_addr().unwrap(),
            seen: Arc::clone(&seen),
            sent: Arc::clone(&sent),
            ended: Arc::clone(&ended),
            stop: Arc::clone(&stop),
        };
        let react: Arc<React> = Arc::new(react);
        std::thread::spawn(move || {
            for connection in 1.. {
                let Ok((stream, _)) = listener.accept() else { return };
                if stop.load(SeqCst) {
                    return;
                }
                stream.set_read_timeout(Some(HANG)).unwrap();
                let (seen, sent, ended) = (Arc::clone(&seen), Arc::clone(&sent), Arc::clone(&ended));
                let (react, tls) = (Arc::clone(&react), tls.clone());
                std::thread::spawn(move || {
                    match tls {
                        None => converse(stream, connection, &seen, &sent, &*react),
                        Some(tls) => {
                            let tls = ServerConnection::new(tls).unwrap();
                            converse(StreamOwned::new(tls, stream), connection, &seen, &sent, &*react);
                        }
                    }
                    ended.fetch_add(1, SeqCst);
                });
            }
        });
        fake_server
    }

    /// A server with correct responses.
    pub(super) fn right() -> FakeServer {
        FakeServer::new(Seen::right)
    }

    /// A server that always returns these bytes.
    pub(super) fn saying(bytes: Vec<u8>) -> FakeServer {
        FakeServer::new(move |_| Reaction::Bytes(bytes.clone()))
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The number of connections that have ended. Waits until there are as many as expected.
    pub(super) fn ended(&self, expected: usize) -> usize {
        reached(&self.ended, expected)
    }

    /// The number of responses that were sent. Waits until there are as many as expected.
    pub(super) fn sent(&self, expected: usize) -> usize {
        reached(&self.sent, expected)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

fn reached(count: &AtomicUsize, expected: usize) -> usize {
    let begun = Instant::now();
    while count.load(SeqCst) < expected && begun.elapsed() < HANG {
        std::thread::sleep(Duration::from_millis(2));
    }
    count.load(SeqCst)
}

fn converse(
    stream: impl Read + Write,
    connection: usize,
    seen: &Mutex<Vec<Seen>>,
    sent: &AtomicUsize,
    react: &React,
) {
    let mut stream = BufReader::new(stream);
    while let Some(mut request) = read(&mut stream, connection) {
        {
            let mut seen = seen.lock().unwrap();
            request.number = seen.len() + 1;
            seen.push(request.clone());
        }
        let (bytes, goes_on) = match react(&request) {
            Reaction::Bytes(bytes) => (bytes, true),
            Reaction::Last(bytes) => (bytes, false),
            Reaction::Late(late, bytes) => {
                late.wait();
                (bytes, true)
            }
            Reaction::Twice(first, later, second) => {
                if stream.get_mut().write_all(&first).is_err() {
                    return;
                }
                later.wait();
                (second, true)
            }
            Reaction::Drops(first, pause, drops) => {
                let begun = stream.get_mut().write_all(&first);
                let dropped = drops.iter().try_fold(begun, |_, drop| {
                    std::thread::sleep(pause);
                    stream.get_mut().write_all(&[*drop]).map(Ok)
                });
                if dropped.is_err() {
                    return;
                }
                (Vec::new(), true)
            }
            Reaction::Nothing => {
                std::thread::sleep(2 * HANG);
                return;
            }
        };
        let is_sent = stream.get_mut().write_all(&bytes).and_then(|()| stream.get_mut().flush()).is_ok();
        sent.fetch_add(1, SeqCst);
        if !is_sent || !goes_on {
            return;
        }
    }
}

fn read(stream: &mut impl BufRead, connection: usize) -> Option<Seen> {
    let line = |stream: &mut dyn BufRead| {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|&length| length > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line(stream)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut headers = HashMap::new();
    loop {
        let line = line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some(Seen { connection, number: 0, method, path: path.into(), query, headers })
}

/// Options for one server or several, with all the time of a test.
pub(super) fn options(servers: &[String]) -> HttpOptions {
    let servers = ServerOptions {
        said: "servers",
        urls: servers.to_vec(),
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: HANG,
        connect_timeout: HANG,
        connections: 4,
    };
    HttpOptions { servers, ca_file: None }
}

/// As `options`, with two seconds for a request and one for a connection.
pub(super) fn brisk(servers: &[String]) -> ManualPool {
    let mut options = options(servers);
    options.servers.request_timeout = Duration::from_secs(2);
    options.servers.connect_timeout = Duration::from_secs(1);
    ManualPool::new(options)
}

pub(super) fn source(servers: &[&FakeServer]) -> ManualPool {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    ManualPool::new(options(&urls))
}

/// Servers that are asked by exchanges whose clock only the test moves.
pub(super) struct ManualPool {
    servers: ServerPool,
    health: Mutex<ServersHealth>,
    now_ms: AtomicI64,
}

impl ManualPool {
    pub(super) fn new(options: HttpOptions) -> ManualPool {
        ManualPool::open(options).unwrap()
    }

    pub(super) fn open(options: HttpOptions) -> Result<ManualPool> {
        let servers = ServerPool::new(options)?;
        let health = Mutex::new(ServersHealth::new(servers.servers().servers.len()));
        Ok(ManualPool { servers, health, now_ms: AtomicI64::new(0) })
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms.load(SeqCst)
    }

    pub(super) fn advance(&self, ms: i64) {
        self.now_ms.fetch_add(ms, SeqCst);
    }

    fn known(&self) -> Arc<HttpServers> {
        Arc::new(self.servers.servers())
    }

    fn boot(&self) -> Duration {
        Duration::from_millis(self.now_ms() as u64)
    }

    /// The last error of each server.
    pub(super) fn last_errors(&self) -> Vec<Option<Error>> {
        self.health.lock().unwrap().last_errors().map(|error| error.cloned()).collect()
    }

    /// What is left of a claim after its first call.
    pub(super) fn claim(&self) -> LateEnd {
        let mut exchange = Exchange::claim(&self.known(), "shop", None, (0, 30_000), 1, self.boot());
        let step = exchange.poll(&mut self.health.lock().unwrap(), self.boot());
        let ExchangeStep::Send(call) = step else { unreachable!() };
        self.servers.carry_out(*call, 1).late()
    }

    /// Carries out an exchange to its end. Each request has its own random number, `nonce` and the next ones.
    fn ask(&self, mut exchange: Exchange, mut nonce: u128) -> Result<Fetched> {
        loop {
            let step = exchange.poll(&mut self.health.lock().unwrap(), self.boot());
            let result = match step {
                ExchangeStep::Send(call) => {
                    let end = self.servers.carry_out(*call, nonce);
                    nonce = nonce.wrapping_add(1);
                    exchange.ended(&mut self.health.lock().unwrap(), end, self.boot())
                }
                ExchangeStep::Sent => unreachable!("its end was given"),
                ExchangeStep::Done(result) => Some(result),
            };
            if let Some(HttpResult::Ids(fetched)) = result {
                return fetched;
            }
        }
    }

    /// Asks for a range.
    pub(super) fn range(
        &self,
        ordered: bool,
        (tag, step, after): (&str, i64, i64),
        nonce: u128,
    ) -> Result<Fetched> {
        let wish = RangeRequest { tag, step, after, ordered };
        self.ask(Exchange::range(&self.known(), wish, nonce as u64, self.boot()), nonce)
    }
}

impl Deref for ManualPool {
    type Target = ServerPool;

    fn deref(&self) -> &ServerPool {
        &self.servers
    }
}

impl DerefMut for ManualPool {
    fn deref_mut(&mut self) -> &mut ServerPool {
        &mut self.servers
    }
}

/// A fetch of a thousand ids.
pub(super) fn fetch(source: &ManualPool, tag: &str) -> Result<Fetched> {
    source.range(true, (tag, 1_000, 900), u128::from_ne_bytes(random()))
}

fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

pub(super) fn start(fetched: Result<Fetched>) -> i64 {
    fetched.unwrap().segment.start()
}
