//! A server that does what a test defines, byte by byte, with a thread for each connection.

use super::super::HttpOptions;
use crate::http::ServerPool;
use crate::segments::source::dialects;
use crate::segments::{FetchRequest, Fetched};
use leafid_core::Result;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The number of the connection, from 1.
    pub(super) connection: usize,
    /// The number of the request, from 1.
    pub(super) number: usize,
    pub(super) at: Instant,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: HashMap<String, String>,
    pub(super) headers: HashMap<String, String>,
    pub(super) form: String,
}

/// The response of the server.
pub(super) enum Reaction {
    Bytes(Vec<u8>),
    /// These bytes, then the end of the connection.
    Last(Vec<u8>),
    /// Nothing for this time, then these bytes.
    Late(Duration, Vec<u8>),
    /// These bytes, and the others after this time.
    Twice(Vec<u8>, Duration, Vec<u8>),
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
        let (seen, ended): (Arc<Mutex<Vec<Seen>>>, Arc<AtomicUsize>) = Default::default();
        let stop = Arc::new(AtomicBool::new(false));
        let fake_server = FakeServer {
            address: listener.local_addr().unwrap(),
            seen: Arc::clone(&seen),
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
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                let (seen, ended, react, tls) =
                    (Arc::clone(&seen), Arc::clone(&ended), Arc::clone(&react), tls.clone());
                std::thread::spawn(move || {
                    match tls {
                        None => converse(stream, connection, &seen, &*react),
                        Some(tls) => {
                            let tls = ServerConnection::new(tls).unwrap();
                            converse(StreamOwned::new(tls, stream), connection, &seen, &*react);
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
        let begun = Instant::now();
        while self.ended.load(SeqCst) < expected && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.ended.load(SeqCst)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

fn converse(stream: impl Read + Write, connection: usize, seen: &Mutex<Vec<Seen>>, react: &React) {
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
                std::thread::sleep(late);
                (bytes, true)
            }
            Reaction::Twice(first, later, second) => {
                if stream.get_mut().write_all(&first).is_err() {
                    return;
                }
                std::thread::sleep(later);
                (second, true)
            }
        };
        let sent = stream.get_mut().write_all(&bytes).and_then(|()| stream.get_mut().flush());
        if sent.is_err() || !goes_on {
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
    let at = Instant::now();
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
    let mut form = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut form).ok()?;
    let form = String::from_utf8(form).ok()?;
    Some(Seen { connection, number: 0, at, method, path: path.into(), query, headers, form })
}

/// Options for one server or several, with more time than a busy machine needs.
pub(super) fn options(servers: &[String]) -> HttpOptions {
    HttpOptions {
        option: "servers",
        servers: servers.to_vec(),
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(5),
        connections: 4,
    }
}

/// As `options`, with two seconds for a request and one for a connection.
pub(super) fn brisk(servers: &[String]) -> ServerPool {
    let (request_timeout, connect_timeout) = (Duration::from_secs(2), Duration::from_secs(1));
    ServerPool::new(HttpOptions { request_timeout, connect_timeout, ..options(servers) }).unwrap()
}

pub(super) fn source(servers: &[&FakeServer]) -> ServerPool {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    ServerPool::new(options(&urls)).unwrap()
}

/// A fetch that no caller waits for.
pub(super) fn fetch(source: &ServerPool, tag: &str) -> Result<Fetched> {
    let nonce = u128::from_ne_bytes(random());
    let request = FetchRequest { tag: tag.into(), step: 1_000, after: 900, urgent: false };
    dialects::range(source, true, &request, nonce)
}

fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

pub(super) fn start(fetched: Result<Fetched>) -> i64 {
    fetched.unwrap().segment.start()
}
