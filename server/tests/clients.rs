//! Rust's client on real servers: segments by both protocols, and snowflakes by leases, while a server is killed. The
//! store is a new SQLite file, or what LEAFID_SERVER_TEST_STORE names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{PROGRAM, Server, Store};
use leafid::{Code, Protocol, Segments, Snowflake};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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
                    .timeout_ms(60_000)
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
        receiver.recv_timeout(Duration::from_secs(900)).unwrap();
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
        .timeout_ms(60_000)
        .open()
        .unwrap();
    let mut ids = flake.take(20_000).unwrap();
    for url in &urls {
        let own =
            Segments::builder().persist(false).name(format!("{name}-own")).protocol(Protocol::LeafSnowflake);
        let own = own.timeout_ms(60_000).servers([url]).open().unwrap();
        ids.extend(own.tag("any").unwrap().take(500).unwrap());
        own.close().unwrap();
    }
    servers[0].kill();
    ids.extend(flake.take(20_000).unwrap());
    flake.close().unwrap();
    assert_eq!(ids.len(), 41_000);
    assert_distinct(ids);
}

/// A folder of one test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes ca.pem, cert.pem and key.pem, for localhost.
fn make_certificates(folder: &Path) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.join("ca.pem"), issuer.pem()).unwrap();
    std::fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}

/// Writes tokens.toml with a token of this test's tag, and returns the token.
fn make_token(folder: &Path, tag: &str) -> String {
    let made = Command::new(PROGRAM).args(["token", "one", "--tag", tag]).output().unwrap();
    std::fs::write(folder.join("tokens.toml"), made.stdout).unwrap();
    let said = String::from_utf8(made.stderr).unwrap();
    said.split_whitespace().last().unwrap().to_owned()
}

#[test]
fn clients_send_their_token_and_trust_their_authority() {
    let store = Store::new("tokens");
    let folder = Folder(std::env::temp_dir().join(format!("leafid-server-{}", store.tag)));
    std::fs::create_dir_all(&folder.0).unwrap();
    make_certificates(&folder.0);
    let token = make_token(&folder.0, &store.tag);
    let path = |name: &str| folder.0.join(name).to_string_lossy().into_owned();
    let (tokens, cert, key) = (path("tokens.toml"), path("cert.pem"), path("key.pem"));
    let server = Server::with(&store.url, &["--tokens", &tokens, "--tls-cert", &cert, "--tls-key", &key]);
    let url = server.url.replace("http://127.0.0.1", "https://localhost");
    let mut ids = Vec::new();
    for (protocol, token) in [Protocol::Range, Protocol::Leaf].iter().flat_map(|protocol| {
        [(*protocol, Some(token.as_str())), (*protocol, Some("leafid_wrong")), (*protocol, None)]
    }) {
        let mut builder = Segments::builder()
            .persist(false)
            .name(format!("{}-{protocol:?}-{}", store.tag, token.map_or(0, str::len)))
            .protocol(protocol)
            .ca_file(path("ca.pem"))
            .timeout_ms(60_000)
            .servers([url.as_str()]);
        if let Some(token) = token {
            builder = builder.token(token);
        }
        let client = builder.open().unwrap();
        let tag = client.tag(&store.tag).unwrap();
        if token.is_some_and(|token| token.len() > 60) {
            ids.extend(tag.take(500).unwrap());
        } else {
            let error = tag.next().unwrap_err();
            assert_eq!(error.code(), Code::SourceInvalid);
            assert!(error.to_string().contains("401") && error.to_string().contains("token"), "{error}");
        }
    }
    assert_eq!(ids.len(), 1_000);
    assert_distinct(ids);
    let flake = || {
        let builder = Snowflake::builder().persist(false).name(&store.tag).worker(url.as_str());
        builder.ca_file(path("ca.pem")).timeout_ms(60_000).request_timeout_ms(60_000)
    };
    assert_distinct(flake().token(&token).open().unwrap().take(5_000).unwrap());
    let error = flake().token("leafid_wrong").open().unwrap_err();
    assert!(error.to_string().contains("unknown token"), "{error}");
}

#[test]
fn clients_of_tinyid_and_of_ranges_are_one_id_space() {
    let store = Store::new("tinyid");
    let folder = Folder(std::env::temp_dir().join(format!("leafid-server-{}", store.tag)));
    std::fs::create_dir_all(&folder.0).unwrap();
    let token = make_token(&folder.0, &store.tag);
    let tokens = folder.0.join("tokens.toml").to_string_lossy().into_owned();
    let mut servers = [0, 1].map(|_| Server::with(&store.url, &["--tokens", &tokens]));
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let open = |at: usize, protocol, token: &str| {
        Segments::builder()
            .persist(false)
            .name(format!("{}-{at}", store.tag))
            .protocol(protocol)
            .token(token)
            .timeout_ms(60_000)
            .servers(&urls)
            .open()
            .unwrap()
    };
    let clients: Vec<_> = [Protocol::Tinyid, Protocol::Range, Protocol::Tinyid]
        .into_iter()
        .enumerate()
        .map(|(at, protocol)| open(at, protocol, &token))
        .collect();
    let tags: Vec<_> = clients.iter().map(|client| client.tag(&store.tag).unwrap()).collect();
    let error = open(9, Protocol::Tinyid, "wrong").tag(&store.tag).unwrap().next().unwrap_err();
    assert!(error.to_string().contains("token"), "{error}");
    let error = clients[0].tag("another").unwrap().next().unwrap_err();
    assert!(error.to_string().contains("may not ask tinyid"), "{error}");
    let mut ids = Vec::new();
    for round in 0..40 {
        if round == 20 {
            servers[0].kill();
        }
        tags.iter().for_each(|tag| ids.extend(tag.take(50).unwrap()));
    }
    assert_eq!(ids.len(), 3 * 40 * 50);
    assert_distinct(ids);
}
