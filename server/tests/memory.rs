//! What a tag keeps on the heap of a server. The server runs in this process, whose allocator counts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use sqlx::{Connection, Executor, SqliteConnection};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is not the tags' is there after these.
const WARM: usize = 50;
const TAGS: usize = 500;
/// More ranges without a neighbour than a guard keeps apart.
const RANGES: i64 = 20;
/// The goal, bytes.
const MOST: usize = 1024;

const PAUSE: Duration = Duration::from_millis(100);

/// A connection that is kept.
struct Client(BufReader<TcpStream>);

impl Client {
    /// The body of the answer, which has this status.
    fn ask(&mut self, method: &str, path: &str, status: u16) -> String {
        let (line, body) = self.answer(method, path);
        assert!(line.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {line}");
        body
    }

    /// The first line of the answer, and its body.
    fn answer(&mut self, method: &str, path: &str) -> (String, String) {
        let request = format!("{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: 0\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut first, mut length) = (String::new(), 0);
        self.0.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            if let Some(number) = line.strip_prefix("content-length: ") {
                length = number.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (first, String::from_utf8(body).unwrap())
    }

    /// Fills both segments of these tags, takes ranges far apart, and returns the bytes that are held then.
    fn use_tags(&mut self, tags: std::ops::Range<usize>) -> usize {
        let used = tags.end;
        for at in tags {
            let ids = self.ask("GET", &format!("/api/segment/get/tag-{at:06}?n=20"), 200);
            assert_eq!(ids.lines().count(), 20);
            for after in (1..=RANGES).map(|range| range * 1_000_000) {
                self.ask("POST", &format!("/api/segment/range/tag-{at:06}?step=10&after={after}"), 200);
            }
        }
        self.held(used)
    }

    /// Asks for names that no row has, and returns the bytes that are held then.
    fn use_names(&mut self, names: std::ops::Range<usize>) -> usize {
        for at in names {
            self.ask("GET", &format!("/api/segment/get/none-{at:06}"), 500);
            self.ask("POST", &format!("/api/segment/range/none-{at:06}?step=10"), 404);
        }
        self.held(WARM + TAGS)
    }

    /// The bytes that are held once no fetch of these tags is under way: each has two segments.
    fn held(&mut self, tags: usize) -> usize {
        while self.ask("GET", "/cache", 200).matches("<td>true</td><td>true</td>").count() < tags {
            thread::sleep(PAUSE);
        }
        let bytes = || {
            let counted = ALLOCATOR.stats();
            counted.bytes_allocated - counted.bytes_deallocated
        };
        // What the server does now and then ends, too.
        let mut last = bytes();
        loop {
            thread::sleep(PAUSE);
            match bytes() {
                found if found == last => return found,
                found => last = found,
            }
        }
    }
}

#[test]
fn a_tag_takes_a_kibibyte_at_most_and_a_name_without_a_row_nothing() {
    let file = common::memory().join(format!("leafid-server-memory-{}.db", std::process::id()));
    let store = file.to_string_lossy().into_owned();
    let program = env!("CARGO_BIN_EXE_leafid-server");
    assert!(Command::new(program).args(["--store", &store, "tag", "first"]).status().unwrap().success());
    let rows = format!(
        "WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < {}) INSERT INTO leaf_alloc \
         (biz_tag, max_id, step) SELECT printf('tag-%06d', at), 1, 100 FROM n",
        WARM + TAGS
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = SqliteConnection::connect(&format!("sqlite:{store}")).await.unwrap();
        connection.execute(&*rows).await.unwrap();
        connection.close().await.unwrap();
    });
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let options = format!(
        "leafid-server --listen {address} --no-snowflake --warm-tags 0 --timeout-ms 60000 --store-timeout-ms 60000 --store"
    );
    let words: Vec<_> = options.split(' ').chain([&*store]).map(Into::into).collect();
    thread::spawn(move || leafid_server::main(words));
    let stream = loop {
        thread::sleep(PAUSE);
        if let Ok(stream) = TcpStream::connect(address) {
            break stream;
        }
    };
    let mut client = Client(BufReader::new(stream));
    while !client.answer("GET", "/ready").0.contains(" 200 ") {
        thread::sleep(PAUSE);
    }
    let before = client.use_tags(0..WARM);
    let bytes = client.use_tags(WARM..WARM + TAGS).saturating_sub(before) / TAGS;
    println!("{bytes} bytes a tag");
    assert!((200..=MOST).contains(&bytes), "{bytes} bytes a tag");
    let before = client.use_names(0..WARM);
    let bytes = client.use_names(WARM..WARM + TAGS).saturating_sub(before) / TAGS;
    assert!(bytes < 20, "{bytes} bytes a name without a row");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{store}{end}"));
    }
}
