//! Rust's client on real servers: segments by both protocols, and snowflakes by leases, while a server is killed. The
//! store is a new SQLite file, or what LEAFID_SERVER_TEST_STORE names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use leafid::{Protocol, Segments, Snowflake};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_leafid-server");

/// A server on a free port. It is killed when dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn new(store: &str) -> Server {
        Server::with(store, &[])
    }

    fn with(store: &str, options: &[&str]) -> Server {
        let mut process = Command::new(PROGRAM)
            .args(["--store", store, "--listen", "127.0.0.1:0"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.contains("listens on")).unwrap();
        let address = line.split("listens on ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        let url = format!("http://{address}");
        thread::spawn(move || lines.for_each(drop));
        Server { process, url }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A store with this tag.
struct Store {
    url: String,
    tag: String,
    file: Option<PathBuf>,
}

impl Store {
    fn new(test: &str) -> Store {
        let own = format!("{test}-{}", std::process::id());
        let file = std::env::temp_dir().join(format!("leafid-server-{own}.db"));
        let given = std::env::var("LEAFID_SERVER_TEST_STORE").ok();
        let url = given.clone().unwrap_or_else(|| file.to_string_lossy().into_owned());
        let made =
            Command::new(PROGRAM).args(["--store", &url, "tag", &own, "--step", "100"]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        Store { url, tag: own, file: given.is_none().then_some(file) }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for file in self.file.iter() {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", file.display()));
            }
        }
    }
}

fn assert_distinct(mut ids: Vec<i64>) {
    ids.sort_unstable();
    let twice = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(twice, 0, "duplicates of {} ids", ids.len());
}

#[test]
fn segments_of_both_protocols_are_one_id_space() {
    let store = Store::new("segments");
    let mut servers = [Server::new(&store.url), Server::new(&store.url)];
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let (sender, receiver) = mpsc::channel();
    let clients: Vec<_> = [Protocol::Range, Protocol::Leaf, Protocol::Range, Protocol::Leaf]
        .into_iter()
        .enumerate()
        .map(|(at, protocol)| {
            let (tag, sender) = (store.tag.clone(), sender.clone());
            // Each prefers another server.
            let urls: Vec<String> = urls.iter().cycle().skip(at / 2).take(2).cloned().collect();
            thread::spawn(move || {
                let client = Segments::builder()
                    .persist(false)
                    .name(format!("{tag}-{at}"))
                    .protocol(protocol)
                    .timeout_ms(20_000)
                    .servers(urls)
                    .open()
                    .unwrap();
                let tag = client.tag(&tag).unwrap();
                let mut ids = Vec::new();
                for _ in 0..40 {
                    ids.extend(tag.take(50).unwrap());
                    sender.send(()).unwrap();
                }
                ids
            })
        })
        .collect();
    for _ in 0..40 {
        receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    servers[0].kill();
    let ids: Vec<i64> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    assert_eq!(ids.len(), 4 * 40 * 50);
    assert_distinct(ids);
}

#[test]
fn leased_worker_ids_and_the_servers_own_are_one_id_space() {
    let store = Store::new("snowflakes");
    let name = store.tag.clone();
    let mut servers = [0, 1].map(|_| Server::with(&store.url, &["--snowflake-name", &name]));
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let flake = Snowflake::builder()
        .persist(false)
        .name(&name)
        .worker(urls.join(","))
        .timeout_ms(20_000)
        .open()
        .unwrap();
    let mut ids = flake.take(20_000).unwrap();
    for url in &urls {
        let own =
            Segments::builder().persist(false).name(format!("{name}-own")).protocol(Protocol::LeafSnowflake);
        let own = own.timeout_ms(20_000).servers([url]).open().unwrap();
        ids.extend(own.tag("any").unwrap().take(500).unwrap());
        own.close().unwrap();
    }
    servers[0].kill();
    ids.extend(flake.take(20_000).unwrap());
    flake.close().unwrap();
    assert_eq!(ids.len(), 41_000);
    assert_distinct(ids);
}
